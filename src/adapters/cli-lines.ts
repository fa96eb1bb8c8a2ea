import { createHash } from 'node:crypto'
import { isObject, text } from '../transcript/json.ts'
import type { Tokens } from '../transcript/usage.ts'
import type { AdapterInvokeResult, RunErrorCode, StatusColor, TokenUsage } from './protocol.ts'

/**
 * Shared by the parsers of agent programs' output. A reader takes one line at a time and can report the facts so far at any
 * moment. It has no side effects and ignores invalid lines.
 */

/** What a run has used, and each of its models. */
export type Used = Tokens & Pick<TokenUsage, 'models'>

/** Reported while the run is in progress. */
export type ReaderEvent =
  | { kind: 'session'; sessionId: string }
  /** `tookMs` where its begin was reported, too. */
  | { kind: 'call'; signature: string; isError: boolean; tookMs?: number }
  | { kind: 'activity' }
  | { kind: 'usage'; usage: Used }
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

/** What its output says about where it writes. */
export interface Traces {
  sessionId: string | null
  /** The ids of its subagents, which have files of their own. */
  agents: readonly string[]
  /** What the file of the session would tell, its output tells. */
  isToldElsewhere?: boolean
}

/** Of a program that writes what it uses to files. The agent can write to them, too: no line of them is trusted. */
export interface FileReader extends OutputReader {
  traces(): Traces
  /** A line that stood in one of its files before the run. */
  before(line: string): void
  /** A line that came while it runs. */
  written(line: string): void
  /** A line that is there after the run was lost. Those of earlier runs of the session are among them. */
  left(line: string): void
  /** What the run has used so far; null: nothing is known. */
  usage(): Used | null
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
  readonly #calls = new Map<string, { signature: string; begunAt: number }>()

  begun(id: string | null, signature: string): void {
    if (id === null) return
    const [oldest] = this.#calls.keys()
    if (this.#calls.size >= OpenCalls.most && oldest !== undefined) this.#calls.delete(oldest)
    this.#calls.set(id, { signature, begunAt: performance.now() })
  }

  ended(id: string | null, isError: boolean): Extract<ReaderEvent, { kind: 'call' }>[] {
    const call = id === null ? undefined : this.#calls.get(id)
    if (id === null || call === undefined) return []
    this.#calls.delete(id)
    const tookMs = Math.round(performance.now() - call.begunAt)
    return [{ kind: 'call', signature: call.signature, isError, tookMs }]
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

const OPTIONAL = ['cacheWriteInputTokens', 'cacheWrite1hInputTokens', 'reasoningTokens'] as const
const ALL = ['inputTokens', 'outputTokens', 'cachedInputTokens', ...OPTIONAL] as const

/** Figure by figure. What none of both tells stays untold. */
function combined(a: Tokens, b: Tokens, by: (a: number, b: number) => number): Tokens {
  const told = OPTIONAL.filter((figure) => (a[figure] ?? b[figure]) !== undefined)
  return {
    inputTokens: by(a.inputTokens, b.inputTokens),
    outputTokens: by(a.outputTokens, b.outputTokens),
    cachedInputTokens: by(a.cachedInputTokens, b.cachedInputTokens),
    ...Object.fromEntries(told.map((figure) => [figure, by(a[figure] ?? 0, b[figure] ?? 0)])),
  }
}

export const plus = (a: Tokens, b: Tokens): Tokens => combined(a, b, (x, y) => x + y)
export const minus = (a: Tokens, b: Tokens): Tokens => combined(a, b, (x, y) => x - y)
/** The larger of each figure. */
export const most = (a: Tokens, b: Tokens): Tokens => combined(a, b, Math.max)

export const sameTokens = (a: Tokens, b: Tokens) => ALL.every((figure) => a[figure] === b[figure])

/** Whether no figure is below that of the other. What one of both does not tell is not compared. */
export const isAtLeast = (a: Tokens, b: Tokens) =>
  ALL.every((figure) => a[figure] === undefined || b[figure] === undefined || a[figure] >= b[figure])

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
