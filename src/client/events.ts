import type { z } from 'zod'
import type { Api } from '../kinds/all.ts'
import type { AnswerOf } from '../pure/shapes.ts'
import type { EventFrame, EventView, FollowOutput } from '../views/events/shapes.ts'
import { backoffMs, wait } from './backoff.ts'
import { isPassing, NoAnswer } from './problems.ts'
import { open, type Server } from './request.ts'

/** Reads server-sent events from a body, as its bytes arrive. */

interface Message {
  event: string
  data: string
}

/** Comments are heartbeats: they count as bytes, and are no messages. */
async function* messagesIn(
  read: () => Promise<{ value?: Uint8Array | undefined }>,
): AsyncGenerator<Message, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value } = await read()
    if (!value) return
    // What is not ended by an empty line has not arrived in full.
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const message = messageIn(block)
      if (message) yield message
    }
  }
}

function messageIn(block: string): Message | null {
  const fields = new Map(
    block.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^[^:]*: ?/, '')]),
  )
  const data = fields.get('data')
  return data === undefined ? null : { event: fields.get('event') ?? 'message', data }
}

/** Follows the log over connections that end. */

export type BatonEvent = AnswerOf<typeof EventView>
/** What the WebSocket `/events/ws` sends. */
export type SocketFrame = AnswerOf<typeof EventFrame>
/** What may be sent over it. */
export type SocketMessage = z.input<typeof FollowOutput>
/** Its query. */
export type SocketQuery = z.input<Api['GET']['/events/ws']['query']>

type Filter = Omit<z.input<Api['GET']['/events/stream']['query']>, 'after'>

export interface EventOptions extends Filter {
  /** The number of the last event that is known; 0: from the first one on. */
  after: number
  signal?: AbortSignal | undefined
}

/** The server sends something every 15 s. A connection without two of these is lost. */
const LONGEST_SILENCE_MS = 40_000

/**
 * Each event after `after` that matches, once and in order, until the signal is aborted. A lost connection is opened again where it
 * ended. A refusal, such as that of a revoked key, is thrown.
 */
export async function* followEvents(
  server: Server,
  { after, signal, ...filter }: EventOptions,
  longestSilenceMs = LONGEST_SILENCE_MS,
): AsyncGenerator<BatonEvent, void, void> {
  const place = { seq: after, failures: 0 }
  while (!signal?.aborted) {
    try {
      yield* connectionFrom(place, server, { filter, signal, longestSilenceMs })
      throw new NoAnswer('The stream of events ended.')
    } catch (error) {
      if (signal?.aborted) return
      if (!isPassing(error)) throw error
      place.failures += 1
      await wait(backoffMs(place.failures, error), signal).catch(() => undefined)
    }
  }
}

interface Following {
  filter: Filter
  signal: AbortSignal | undefined
  longestSilenceMs: number
}

/** What one connection brings. `place` is where the next one begins. */
async function* connectionFrom(
  place: { seq: number; failures: number },
  server: Server,
  { filter, signal, longestSilenceMs }: Following,
): AsyncGenerator<BatonEvent, void, void> {
  const closing = new AbortController()
  const over = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
  const heard = async <T>(something: Promise<T>): Promise<T> => {
    const silent = () => closing.abort(new NoAnswer('The stream of events is silent.'))
    const timer = setTimeout(silent, longestSilenceMs)
    return something.finally(() => clearTimeout(timer))
  }
  try {
    const query = { ...filter, after: place.seq }
    const request = { method: 'GET', path: '/events/stream', query, signal: over } as const
    const reader = readerOf(await heard(open(server, request, 'text/event-stream')))
    place.failures = 0
    for await (const { event, data } of messagesIn(() => heard(reader.read().catch(cutOff)))) {
      if (over.aborted) return
      if (event === 'looked') place.seq = Math.max(place.seq, (JSON.parse(data) as { upTo: number }).upTo)
      else {
        const said = JSON.parse(data) as BatonEvent
        if (said.seq <= place.seq) continue
        place.seq = said.seq
        yield said
      }
    }
  } finally {
    closing.abort()
  }
}

function readerOf({ body, headers }: Response) {
  if (!body || !headers.get('content-type')?.startsWith('text/event-stream'))
    throw new NoAnswer('The answer is not a stream of events.')
  return body.getReader()
}

function cutOff(error: unknown): never {
  throw new NoAnswer('The stream of events was cut off.', { cause: error })
}
