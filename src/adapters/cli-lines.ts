import { createHash } from 'node:crypto'
import type { AdapterInvokeResult, RunErrorCode, StatusColor } from './protocol.ts'
import { isObject, type Json } from './reported.ts'

/**
 * What the readers of agent programs' output have in common. A reader takes line after line and knows at any moment what they
 * tell; it asks nobody, changes nothing outside itself, and takes nonsense for what it is.
 */

/** What somebody should hear of while the run goes on. */
export type Happening =
  | { kind: 'session'; sessionId: string }
  | { kind: 'call'; signature: string; isError: boolean }
  | { kind: 'activity' }
  | { kind: 'usage'; usage: Tokens }
  | { kind: 'rate_limit'; until: string | null }
  | { kind: 'status'; message: string; color: StatusColor }

export interface Exit {
  code: number | null
  stderrTail: string
}

/** How a program ended that nobody stopped. */
export type Verdict =
  | { kind: 'done'; text: string | null; structured?: unknown; wantsMore?: boolean }
  | { kind: 'unknown_session'; message: string }
  | { kind: 'failed'; code: RunErrorCode; message: string; retryAt?: string | null }

export type Facts = Required<
  Pick<
    AdapterInvokeResult,
    'usage' | 'usageBasis' | 'costUsd' | 'sessionId' | 'model' | 'runtimeStatePatch' | 'rawResult'
  >
>

export interface OutputReader {
  take(line: string): Happening[]
  facts(): Facts
  end(exit: Exit): Verdict
}

export const record = (value: unknown): Json => (isObject(value) ? value : {})
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.toWellFormed() : null

/** Tokens are whole and never less than none; anything else is not a count. */
export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

const SESSION_ID = /^[A-Za-z0-9._:/@][A-Za-z0-9._:/@-]{0,199}$/
/** A session id as it may stand in an argument: never one that a program could take for a flag. */
export const sessionIdIn = (value: unknown): string | null =>
  typeof value === 'string' && SESSION_ID.test(value) ? value : null

const LONGEST_SIGNATURE = 300
const DEEPEST = 40

/** The same for the same call, whatever the order of its keys. */
export function signatureOf(tool: string, input: unknown): string {
  const whole = `${tool} ${inOrder(input, 0)}`
  if (whole.length <= LONGEST_SIGNATURE) return whole
  return `${tool.slice(0, 100)} sha256:${createHash('sha256').update(whole).digest('hex').slice(0, 32)}`
}

function inOrder(value: unknown, depth: number): string {
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => inOrder(item, depth + 1)).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).sort()
  return `{${fields.map((field) => `${JSON.stringify(field)}:${inOrder(value[field], depth + 1)}`).join(',')}}`
}

/** Remembers calls until their results come; a program that never tells results does not fill the memory. */
export class OpenCalls {
  static readonly most = 10_000
  readonly #signatures = new Map<string, string>()

  begun(id: string | null, signature: string): void {
    if (id === null) return
    const [oldest] = this.#signatures.keys()
    if (this.#signatures.size >= OpenCalls.most && oldest !== undefined) this.#signatures.delete(oldest)
    this.#signatures.set(id, signature)
  }

  ended(id: string | null, isError: boolean): Happening[] {
    const signature = id === null ? undefined : this.#signatures.get(id)
    if (id === null || signature === undefined) return []
    this.#signatures.delete(id)
    return [{ kind: 'call', signature, isError }]
  }
}

/** ISO time of a moment told in seconds or milliseconds since the epoch. */
export function timeOf(epoch: unknown): string | null {
  if (typeof epoch !== 'number' || !Number.isFinite(epoch) || epoch <= 0) return null
  const time = new Date(epoch > 100_000_000_000 ? epoch : epoch * 1_000)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

const PICO_DIGITS = 12
const MOST_DOLLARS = 1_000_000_000

/** Dollars as whole picodollars, so that they can be added and taken off without losing any. Null when it is no sum. */
export function picoDollars(dollars: unknown): bigint | null {
  if (typeof dollars !== 'number' || !(dollars >= 0 && dollars < MOST_DOLLARS)) return null
  return BigInt(dollars.toFixed(PICO_DIGITS).replace('.', ''))
}

export function dollarText(pico: bigint): string {
  const digits = pico.toString().padStart(PICO_DIGITS + 1, '0')
  const cents = digits.slice(-PICO_DIGITS).replace(/0+$/, '')
  return cents === '' ? digits.slice(0, -PICO_DIGITS) : `${digits.slice(0, -PICO_DIGITS)}.${cents}`
}

export const NONE_USED = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }
export type Tokens = typeof NONE_USED

/** What both are together, or what is left of one without the other. */
export const plus = (a: Tokens, b: Tokens, sign: 1 | -1 = 1): Tokens => ({
  inputTokens: a.inputTokens + sign * b.inputTokens,
  outputTokens: a.outputTokens + sign * b.outputTokens,
  cachedInputTokens: a.cachedInputTokens + sign * b.cachedInputTokens,
})

export const sameTokens = (a: Tokens, b: Tokens) =>
  a.inputTokens === b.inputTokens &&
  a.outputTokens === b.outputTokens &&
  a.cachedInputTokens === b.cachedInputTokens

/** What an API's status means for the run. */
export function failureOfStatus(status: number): RunErrorCode {
  if (status === 401 || status === 403) return 'not_logged_in'
  if (status === 402) return 'budget_blocked'
  if (status === 429) return 'rate_limited'
  return 'api_error'
}

/** It gave up by itself; nobody ended it with a signal. */
export const gaveUp = ({ code }: Exit): boolean => code !== null && code > 0 && code < 128

const LONGEST_SAID = 2_000
/** The end of what a program complained of; the reason stands last. */
const lastOf = (stderrTail: string): string | null => text(stderrTail.trim().slice(-LONGEST_SAID))

export const endedWith = ({ code, stderrTail }: Exit): string => {
  const complaint = lastOf(stderrTail)
  return `It ended with exit code ${code ?? 'none'}${complaint ? `: ${complaint}` : '.'}`
}
