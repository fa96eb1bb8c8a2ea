import type { LookupFunction } from 'node:net'
import { z } from 'zod'
import type { CallbackMessage } from '../core/shapes/callbacks.ts'
import type { Callbacks, Expected } from './callbacks.ts'
import { askingSettings, configOf, failed } from './config.ts'
import { Deadline } from './deadline.ts'
import { quietHooks } from './hooks.ts'
import { namesForbiddenAddress } from './http-addresses.ts'
import { failureIn, type Made, madeIn } from './http-answers.ts'
import { exchange } from './http-exchange.ts'
import type {
  AdapterHooks,
  AdapterInvokeInput,
  AdapterInvokeResult,
  AgentRunAdapter,
  TokenUsage,
} from './protocol.ts'
import { PROTOCOL_VERSION } from './protocol.ts'
import { dollarsIn, sessionIn } from './reported.ts'

/** Agents behind an address: they answer at once (200), or take the work (202) and say by callbacks how it goes. */

const OURS = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'expect',
  'upgrade',
])
const HeaderName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is no name of a header')
  .refine((name) => !OURS.has(name.toLowerCase()), 'is not yours to set')
const HeaderValue = z
  .string()
  .max(8_192)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has characters that no header may have')

const Url = z
  .string()
  .max(4_096)
  .refine((text) => /^https?:$/.test(urlOf(text)?.protocol ?? ''), 'must be a whole http or https address')
  .refine(
    (text) => !urlOf(text)?.username && !urlOf(text)?.password,
    'must not have a password in it: use headers',
  )
  .refine((text) => {
    const url = urlOf(text)
    return !url || !namesForbiddenAddress(url)
  }, 'must not be a link-local address or a metadata service')

const config = configOf(
  'http',
  z.strictObject({
    ...askingSettings,
    url: Url,
    method: z.enum(['POST', 'PUT']).default('POST'),
    headers: z.record(HeaderName, HeaderValue).default({}),
    /** How long an agent that took the work may be silent. */
    heartbeatTimeoutSec: z.int().min(1).max(86_400).default(300),
  }),
)
type HttpSettings = Extract<ReturnType<typeof config.read>, { ok: true }>['settings']

/** To tell the other side that its work is not wanted any more is a courtesy: nobody waits long for it. */
const LONGEST_FAREWELL_MS = 5_000

/** `lookup`: how names become addresses, if not as the system does it. */
export function httpAdapter(callbacks: Callbacks, lookup?: LookupFunction): AgentRunAdapter {
  return {
    type: 'http',
    protocolVersion: PROTOCOL_VERSION,
    usesFolder: false,
    capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
    configSchema: config.schema,
    validateConfig: config.validate,
    async invoke(input, hooks, signal) {
      const read = config.read(input.adapterConfig)
      if (!read.ok) return read.result
      // Before it is asked: its result may be here before its 202 is.
      const expected = callbacks.expect(input.runId)
      const deadline = new Deadline(signal, input.timeoutSec * 1_000)
      try {
        return await new Visit(input, read.settings, hooks, deadline, lookup).make(expected)
      } finally {
        deadline.close()
        expected.close()
      }
    },
  }
}

/** One asking of an agent, to the end of what it does. */
class Visit {
  readonly #input: AdapterInvokeInput
  readonly #settings: HttpSettings
  readonly #hooks: Required<AdapterHooks>
  readonly #deadline: Deadline
  readonly #url: URL
  readonly #lookup: LookupFunction | undefined
  /** Said on the way. */
  #usage: TokenUsage | null = null
  #sessionId: string | null

  constructor(
    input: AdapterInvokeInput,
    settings: HttpSettings,
    hooks: AdapterHooks,
    deadline: Deadline,
    lookup: LookupFunction | undefined,
  ) {
    this.#input = input
    this.#settings = settings
    this.#hooks = quietHooks(hooks)
    this.#deadline = deadline
    this.#url = new URL(settings.url)
    this.#lookup = lookup
    this.#sessionId = sessionIn(input.runtimeState.sessionId)
  }

  async make(expected: Expected): Promise<AdapterInvokeResult> {
    const { method, headers } = this.#settings
    const { signal } = this.#deadline
    const { origin, pathname } = this.#url
    // Only so much of the address: what follows may hold a secret.
    await this.#say(`${method} ${origin}${pathname}`)
    const body = JSON.stringify(askOf(this.#input, this.#sessionId))
    const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json' }
    const answer = await exchange({
      ...{ url: this.#url, method, headers: sent, body, signal },
      lookup: this.#lookup,
    })
    if (this.#deadline.stopped) return this.#stopped(this.#deadline.stopped)
    if (answer.kind === 'answer' && answer.body !== '')
      await this.#hooks.log({ stream: 'stdout', chunk: `${answer.body}\n` })
    const failure = failureIn(answer, Date.now())
    if (failure || answer.kind !== 'answer') return this.#with(failure!)
    if (answer.status === 202) return this.#later(expected, answer.headers.location)
    const made = madeIn(answer.status === 204 ? '{}' : answer.body)
    if (!made)
      return this.#with(
        failed('output_parse_error', `The agent answered ${answer.status}, but not a JSON object.`),
      )
    return this.#done(made)
  }

  async #later(expected: Expected, location: string | undefined): Promise<AdapterInvokeResult> {
    if (!this.#input.callback)
      return this.#with(failed('adapter_error', 'The agent answers later, but was not told where to.'))
    const { heartbeatTimeoutSec } = this.#settings
    await this.#say('It took the work and will say how it goes.')
    for (;;) {
      const message = await expected.next(heartbeatTimeoutSec * 1_000, this.#deadline.signal)
      if (message?.kind === 'heartbeat') await this.#hear(message)
      else if (message?.kind === 'result') return this.#done(madeOf(message))
      else if (message?.kind === 'failure') return this.#failed(message)
      else {
        await this.#sayFarewell(location)
        if (this.#deadline.stopped) return this.#stopped(this.#deadline.stopped)
        const silence = `The agent took the work and was silent for ${heartbeatTimeoutSec} seconds.`
        return this.#with(failed('timeout', silence))
      }
    }
  }

  async #hear(beat: Extract<CallbackMessage, { kind: 'heartbeat' }>): Promise<void> {
    const { progress, status, usage, checkpoint, sessionId } = beat
    const { event } = this.#hooks
    // Somebody who watches for silence hears it by this; it is no progress.
    await event('heartbeat', {})
    if (progress) await event('progress', progress)
    if (status) await this.#hooks.status(status)
    if (checkpoint !== undefined) await event('checkpoint', { data: checkpoint })
    if (usage) {
      this.#usage = usage
      await this.#hooks.usage(usage)
    }
    if (sessionId && sessionId !== this.#sessionId) {
      this.#sessionId = sessionId
      await event('session', { sessionId })
    }
  }

  #done({ usage, sessionId, ...made }: Made): AdapterInvokeResult {
    this.#sessionId = sessionId ?? this.#sessionId
    const reported = usage ?? this.#usage
    const basis = reported ? ('reported' as const) : null
    return {
      ...this.#with({ outcome: 'succeeded', exitCode: null, ...made }),
      usage: reported,
      usageBasis: basis,
    }
  }

  #failed({ code = 'nonzero_exit', message, retryAt, usage }: Extract<CallbackMessage, { kind: 'failure' }>) {
    this.#usage = usage ?? this.#usage
    return this.#with({
      ...failed(code, message),
      ...(code === 'rate_limited' && { retryAt: retryAt ?? null }),
    })
  }

  #stopped(why: 'timeout' | 'aborted'): AdapterInvokeResult {
    return this.#with(
      why === 'timeout'
        ? { ...failed('timeout', 'The agent took longer than it may.'), outcome: 'timed_out' }
        : { ...failed('cancelled', 'The agent was not waited for any longer.'), outcome: 'cancelled' },
    )
  }

  /** What is known beside how it ended. */
  #with(result: AdapterInvokeResult): AdapterInvokeResult {
    const [usage, sessionId] = [this.#usage, this.#sessionId]
    return {
      ...result,
      usage,
      usageBasis: usage ? 'partial' : null,
      sessionId,
      ...(sessionId !== null && { runtimeStatePatch: { sessionId } }),
    }
  }

  /** Only where it was asked: the headers hold secrets that are for nobody else. */
  async #sayFarewell(location: string | undefined): Promise<void> {
    const url = location === undefined ? null : urlOf(location, this.#url)
    if (url?.origin !== this.#url.origin) return
    const { headers, graceSec } = this.#settings
    const farewell = new Deadline(NEVER, Math.min(graceSec * 1_000, LONGEST_FAREWELL_MS) || 1)
    const { signal } = farewell
    const answer = await exchange({ url, method: 'DELETE', headers, signal, lookup: this.#lookup })
    farewell.close()
    const isTold = answer.kind === 'answer' || answer.kind === 'too_large'
    await this.#say(isTold ? 'It was told to stop.' : 'It could not be told to stop.')
  }

  #say = (sentence: string) => this.#hooks.log({ stream: 'system', chunk: `${sentence}\n` })
}

const NEVER = new AbortController().signal

/** What the agent is told. Nothing of its settings or its environment: these are Baton's, not the other side's. */
const askOf = (input: AdapterInvokeInput, sessionId: string | null) => ({
  protocolVersion: input.protocolVersion,
  runId: input.runId,
  agentId: input.agentId,
  companyId: input.companyId,
  wakeupSource: input.wakeupSource,
  triggerDetail: input.triggerDetail ?? null,
  prompt: input.prompt,
  task: input.task ?? null,
  sessionId,
  timeoutSec: input.timeoutSec,
  callback: input.callback ?? null,
})

const madeOf = (message: Extract<CallbackMessage, { kind: 'result' }>): Made => ({
  summary: message.summary ?? null,
  usage: message.usage ?? null,
  wantsMore: message.continue ?? false,
  sessionId: message.sessionId ?? null,
  costUsd: dollarsIn(message.costUsd),
  ...(message.result !== undefined && { result: message.result }),
})

function urlOf(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
