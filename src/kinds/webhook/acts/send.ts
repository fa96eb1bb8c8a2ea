import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Webhook } from 'standardwebhooks'
import type { Exchange } from '../../../outgoing/exchange.ts'
import { exchange } from '../../../outgoing/exchange.ts'
import type { Outgoing } from '../../../outgoing/outgoing.ts'
import type { Format, WebhookSecrets } from '../record.ts'
import { withoutTokens } from '../rules/address.ts'
import type { Message } from '../rules/messages.ts'
import { retryAfterIn } from '../rules/schedule.ts'
import type { Attempt } from '../rules/turn.ts'

/** Sends signed messages to one receiver, over connections that are used again. */

const TIMEOUT_MS = 15_000
/** Read of an answer, so that its connection can be used again. */
const READ_BYTES = 16 * 1024
const SHOWN_CHARACTERS = 500
/** At once, to one receiver. */
export const CONNECTIONS = 8

const GONE = 410
const ASKS_TO_WAIT = [429, 503]

/** What a webhook is reached by. */
export interface Receiving {
  secrets: WebhookSecrets
  format: Format
}

export class Sender {
  readonly #url: URL
  readonly #secrets: WebhookSecrets
  readonly #format: Format
  readonly #signers: readonly Webhook[]
  readonly #outgoing: Outgoing
  readonly #agent: HttpAgent

  constructor({ secrets, format }: Receiving, outgoing: Outgoing) {
    this.#url = new URL(secrets.url)
    this.#secrets = secrets
    this.#format = format
    const { signing, former } = secrets
    // Whether the former one still counts is seen with each message.
    this.#signers = [signing, ...(former ? [former.signing] : [])].map((secret) => new Webhook(secret))
    this.#outgoing = outgoing
    const options = { keepAlive: true, maxSockets: CONNECTIONS }
    this.#agent = this.#url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  /** Null: it was stopped before it ended. */
  async send(id: string, message: Message, stopping: AbortSignal): Promise<Attempt | null> {
    const at = Date.now()
    const began = performance.now()
    const answer = await this.#exchange(id, message, at, stopping)
    if (stopping.aborted && answer.kind !== 'answer') return null
    return { ...this.#judged(answer), durationMs: Math.round(performance.now() - began), at }
  }

  async #exchange(id: string, message: Message, at: number, stopping: AbortSignal): Promise<Exchange> {
    const { contentType, body, headers } = message
    const asked = {
      ...{ url: this.#url, method: 'POST', body, agent: this.#agent, cutAtBytes: READ_BYTES },
      ...{ rule: this.#outgoing.rule, lookup: this.#outgoing.lookup },
      headers: {
        ...headers,
        'content-type': contentType,
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'Baton',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / 1000)),
        'webhook-signature': this.#signatures(id, at, body),
      },
    }
    const once = () => withDeadline(stopping, (signal) => exchange({ ...asked, signal }))
    const answer = await once()
    // A connection that the receiver had closed by the time it was used again: it has seen nothing.
    return answer.kind === 'broken' && answer.wasReused ? once() : answer
  }

  #signatures(id: string, at: number, body: string): string {
    const { former } = this.#secrets
    const signers = former && former.until > at ? this.#signers : this.#signers.slice(0, 1)
    return signers.map((signer) => signer.sign(id, new Date(at), body)).join(' ')
  }

  #judged(answer: Exchange): Omit<Attempt, 'durationMs' | 'at'> {
    const failed = { isDelivered: false, httpStatus: null, answer: null, isGone: false, holdMs: null }
    if (answer.kind === 'forbidden') return { ...failed, error: answer.message }
    if (answer.kind === 'broken') return { ...failed, error: this.#shown(withReason(answer.message)) }
    if (answer.kind === 'too_large')
      return { ...failed, httpStatus: answer.status, error: 'The answer is too large.' }
    const { status: httpStatus, headers, body } = answer
    const shown = body === '' ? null : this.#shown(body)
    const isDelivered = httpStatus >= 200 && httpStatus < 300
    if (isDelivered) return { ...failed, isDelivered, httpStatus, answer: shown, error: null }
    const isRedirect = httpStatus >= 300 && httpStatus < 400
    return {
      ...{ ...failed, httpStatus, answer: shown, isGone: httpStatus === GONE },
      holdMs: ASKS_TO_WAIT.includes(httpStatus) ? retryAfterIn(headers['retry-after'], Date.now()) : null,
      error: isRedirect
        ? `The receiver answered ${httpStatus}: redirects are not followed.`
        : `The receiver answered ${httpStatus}.`,
    }
  }

  /** The beginning, without what nobody may see. A database holds no zero character. */
  #shown = (text: string) =>
    withoutSecrets(
      withoutTokens(text.replaceAll('\0', '�'), this.#secrets.url, this.#format),
      this.#secrets,
    ).slice(0, SHOWN_CHARACTERS)

  close(): void {
    this.#agent.destroy()
  }
}

/** What is left of it ends with the request: thousands of them are sent in the time of one deadline. */
async function withDeadline<T>(stopping: AbortSignal, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, TIMEOUT_MS)
  stopping.addEventListener('abort', end, { once: true })
  if (stopping.aborted) end()
  try {
    return await act(ending.signal)
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', end)
  }
}

const withoutSecrets = (text: string, { signing, former }: WebhookSecrets) =>
  [signing, ...(former ? [former.signing] : [])].reduce(
    (left, secret) => left.replaceAll(secret, '…').replaceAll(secret.slice('whsec_'.length), '…'),
    text,
  )

const withReason = (message: string) =>
  message === 'The operation was aborted'
    ? `No answer within ${TIMEOUT_MS / 1000} seconds.`
    : `The receiver could not be reached: ${message}.`
