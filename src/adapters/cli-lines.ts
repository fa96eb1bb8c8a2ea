import { createHash } from 'node:crypto'
import { isObject, text } from '../transcript/json.ts'
import { type Tokens, written } from '../transcript/usage.ts'
import type { AdapterInvokeResult, RunErrorCode, StatusColor } from './protocol.ts'

/**
 * Shared by the parsers of agent programs' output. A reader takes one line at a time and can report the facts so far at any
 * moment. It has no side effects and ignores invalid lines.
 */

/** Reported while the run is in progress. */
export type ReaderEvent =
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

/** How a program ended that Baton did not stop. */
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
  take(line: string): ReaderEvent[]
  facts(): Facts
  end(exit: Exit): Verdict
}

const SESSION_ID = /^[A-Za-z0-9._:/@][A-Za-z0-9._:/@-]{0,199}$/
/** A session id that is safe as an argument: a program cannot take it for a flag. */
export const sessionIdIn = (value: unknown): string | null =>
  typeof value === 'string' && SESSION_ID.test(value) ? value : null

const LONGEST_SIGNATURE = 300
const DEEPEST = 40

/** Equal calls have equal signatures, whatever the order of their keys. */
export function signatureOf(tool: string, input: unknown): string {
  const signature = `${tool} ${inOrder(input, 0)}`
  if (signature.length <= LONGEST_SIGNATURE) return signature
  return `${tool.slice(0, 100)} sha256:${createHash('sha256').update(signature).digest('hex').slice(0, 32)}`
}

function inOrder(value: unknown, depth: number): string {
  if (depth > DEEPEST) return '…'
  if (Array.isArray(value)) return `[${value.map((item) => inOrder(item, depth + 1)).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).sort()
  return `{${fields.map((field) => `${JSON.stringify(field)}:${inOrder(value[field], depth + 1)}`).join(',')}}`
}

/** Stores calls until their results come. Bounded, in case a program never reports results. */
export class OpenCalls {
  static readonly most = 10_000
  readonly #signatures = new Map<string, string>()

  begun(id: string | null, signature: string): void {
    if (id === null) return
    const [oldest] = this.#signatures.keys()
    if (this.#signatures.size >= OpenCalls.most && oldest !== undefined) this.#signatures.delete(oldest)
    this.#signatures.set(id, signature)
  }

  ended(id: string | null, isError: boolean): ReaderEvent[] {
    const signature = id === null ? undefined : this.#signatures.get(id)
    if (id === null || signature === undefined) return []
    this.#signatures.delete(id)
    return [{ kind: 'call', signature, isError }]
  }
}

const PICO_DIGITS = 12
const MOST_DOLLARS = 1_000_000_000

/** Dollars as integer picodollars, for exact sums and differences. Null when the value is not an amount. */
export function picoDollars(dollars: unknown): bigint | null {
  if (typeof dollars !== 'number' || !(dollars >= 0 && dollars < MOST_DOLLARS)) return null
  return BigInt(dollars.toFixed(PICO_DIGITS).replace('.', ''))
}

export function dollarText(pico: bigint): string {
  const digits = pico.toString().padStart(PICO_DIGITS + 1, '0')
  const cents = digits.slice(-PICO_DIGITS).replace(/0+$/, '')
  return cents === '' ? digits.slice(0, -PICO_DIGITS) : `${digits.slice(0, -PICO_DIGITS)}.${cents}`
}

export const NONE_USED: Tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }

/** The sum, or with sign -1 the difference. */
export const plus = (a: Tokens, b: Tokens, sign: 1 | -1 = 1): Tokens => ({
  inputTokens: a.inputTokens + sign * b.inputTokens,
  outputTokens: a.outputTokens + sign * b.outputTokens,
  cachedInputTokens: a.cachedInputTokens + sign * b.cachedInputTokens,
  ...written((a.cacheWriteInputTokens ?? 0) + sign * (b.cacheWriteInputTokens ?? 0)),
})

export const sameTokens = (a: Tokens, b: Tokens) =>
  a.inputTokens === b.inputTokens &&
  a.outputTokens === b.outputTokens &&
  a.cachedInputTokens === b.cachedInputTokens

/** The run error for an HTTP status of the API. */
export function failureOfStatus(status: number): RunErrorCode {
  if (status === 401 || status === 403) return 'not_logged_in'
  if (status === 402) return 'budget_blocked'
  if (status === 429) return 'rate_limited'
  return 'api_error'
}

/** It exited with an error on its own; it was not killed by a signal. */
export const exitedWithError = ({ code }: Exit): boolean => code !== null && code > 0 && code < 128

const LONGEST_COMPLAINT = 2_000
/** The end of stderr; the reason comes last. */
const lastOf = (stderrTail: string): string | null => text(stderrTail.trim().slice(-LONGEST_COMPLAINT))

export const endedWith = ({ code, stderrTail }: Exit): string => {
  const complaint = lastOf(stderrTail)
  return `The program ended with exit code ${code ?? 'none'}${complaint ? `: ${complaint}` : '.'}`
}
