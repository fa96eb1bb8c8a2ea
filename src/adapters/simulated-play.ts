import { createHash } from 'node:crypto'
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Deadline } from './deadline.ts'
import { quietHooks } from './hooks.ts'
import type {
  AdapterHooks,
  AdapterInvokeInput,
  AdapterInvokeResult,
  RunErrorCode,
  RunOutcome,
  TokenUsage,
} from './protocol.ts'
import { sessionIn } from './reported.ts'
import type { PlayStep } from './simulated-steps.ts'

/** Errors that are an outcome of their own. */
const OUTCOMES: Partial<Record<RunErrorCode, RunOutcome>> = { timeout: 'timed_out', cancelled: 'cancelled' }

interface Settings {
  seed: string | number
  costUsd?: string | undefined
}

/** One run of a script. */
export class Play {
  readonly #hooks: Required<AdapterHooks>
  readonly #deadline: Deadline
  readonly #sessionId: string
  /** How many times the task was continued so far. */
  readonly #continued: number
  readonly #seed: string
  readonly #attempt: number
  readonly #costUsd: string | null
  #drawn = 0
  #usage: TokenUsage | null = null
  #made: Pick<AdapterInvokeResult, 'result' | 'summary'> = {}

  constructor(
    input: AdapterInvokeInput,
    hooks: AdapterHooks,
    deadline: Deadline,
    { seed, costUsd }: Settings,
  ) {
    const { runtimeState, runId, task } = input
    this.#costUsd = costUsd ?? null
    this.#hooks = quietHooks(hooks)
    this.#deadline = deadline
    this.#sessionId = sessionIn(runtimeState.sessionId) ?? `simulated-${runId}`
    const { continued } = runtimeState
    this.#continued = Number.isSafeInteger(continued) ? (continued as number) : 0
    this.#attempt = task?.attempt ?? 1
    // Another attempt may go differently; the same attempt, repeated, goes the same way.
    this.#seed = [seed, task?.id, task?.attempt, this.#continued].join(' ')
  }

  async all(steps: readonly PlayStep[], repeat: number): Promise<AdapterInvokeResult> {
    await this.#hooks.event('session', { sessionId: this.#sessionId })
    for (let round = 0; round < repeat; round++) {
      // A script without waits would block the event loop, even for a request to stop it.
      await yieldToEventLoop()
      for (const step of steps) {
        if (this.#deadline.stopped) return this.#end(this.#whyStopped())
        if (step.attempt !== undefined && step.attempt !== this.#attempt) continue
        if (step.chance !== undefined && this.#draw() >= step.chance) continue
        const end = await this.#play(step)
        if (end) return this.#end(end)
      }
    }
    if (this.#deadline.stopped) return this.#end(this.#whyStopped())
    if ('result' in this.#made) await this.#print(this.#made)
    return this.#end({ outcome: 'succeeded', exitCode: 0, wantsMore: false, ...this.#made })
  }

  /** As a program of the adapter "process" would print it, so that readers of the log see the steps. */
  #print(line: object) {
    return this.#hooks.log({ stream: 'stdout', chunk: `${JSON.stringify(line)}\n` })
  }

  /** A result ends the script. */
  async #play(step: PlayStep): Promise<AdapterInvokeResult | null> {
    const { log, status, event } = this.#hooks
    if ('say' in step) {
      await log({ stream: 'stdout', chunk: `${step.say}\n` })
      await event('activity', {})
    } else if ('status' in step)
      await status({ message: step.status, ...(step.color && { color: step.color }) })
    else if ('progress' in step)
      await event('progress', { percent: step.progress, ...(step.step && { step: step.step }) })
    else if ('usage' in step) await this.#use(step.usage)
    else if ('checkpoint' in step) await event('checkpoint', { data: step.checkpoint })
    else if ('call' in step) {
      const call = { signature: step.call, isError: step.isError ?? false }
      await this.#print({ baton: 'call', ...call })
      await event('call', call)
    } else if ('waitMs' in step) await this.#wait(step.waitMs)
    else if ('result' in step) this.#made = { result: step.result, summary: step.summary ?? null }
    else if ('ask' in step) {
      const { ask: question, options = [] } = step
      if (this.#continued > 0) return null
      await this.#print({ baton: 'ask', question, options })
      return { outcome: 'succeeded', exitCode: 0, question: { question, options }, ...this.#made }
    } else if ('wantsMore' in step) {
      if (step.times === undefined || this.#continued < step.times)
        return { outcome: 'succeeded', exitCode: 0, wantsMore: true, ...this.#made }
    } else return this.#fail(step.fail)
    return null
  }

  async #use({ inputTokens, outputTokens, cachedInputTokens = 0 }: TokenUsage): Promise<void> {
    const before = this.#usage ?? { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }
    this.#usage = {
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      cachedInputTokens: before.cachedInputTokens! + cachedInputTokens,
    }
    await this.#hooks.usage({ ...this.#usage })
  }

  async #wait(waitMs: number | [number, number]): Promise<void> {
    const [least, most] = typeof waitMs === 'number' ? [waitMs, waitMs] : waitMs
    const ms = least + Math.round(this.#draw() * (most - least))
    await sleep(ms, undefined, { signal: this.#deadline.signal }).catch(() => undefined)
  }

  async #fail(fail: Extract<PlayStep, { fail: unknown }>['fail']): Promise<AdapterInvokeResult> {
    const { code, message, retryAfterMs } = fail
    const retryAt = retryAfterMs === undefined ? null : new Date(Date.now() + retryAfterMs).toISOString()
    if (code === 'rate_limited') await this.#hooks.event('rate_limit', { until: retryAt })
    return {
      outcome: OUTCOMES[code] ?? 'failed',
      exitCode: 1,
      errorCode: code,
      errorMessage: message ?? `The script fails with ${code}.`,
      ...(code === 'rate_limited' && { retryAt }),
    }
  }

  #whyStopped(): AdapterInvokeResult {
    return this.#deadline.stopped === 'aborted'
      ? {
          outcome: 'cancelled',
          exitCode: null,
          errorCode: 'cancelled',
          errorMessage: 'The script was stopped.',
        }
      : {
          outcome: 'timed_out',
          exitCode: null,
          errorCode: 'timeout',
          errorMessage: 'The script took too long.',
        }
  }

  #end(end: AdapterInvokeResult): AdapterInvokeResult {
    const continued = end.wantsMore || end.question ? this.#continued + 1 : 0
    return {
      ...end,
      sessionId: this.#sessionId,
      usage: this.#usage,
      costUsd: this.#costUsd,
      usageBasis: this.#usage ? (end.outcome === 'succeeded' ? 'reported' : 'partial') : null,
      runtimeStatePatch: { sessionId: this.#sessionId, continued },
    }
  }

  /** From 0 to 1, 1 excluded; the same in every run with this seed. */
  #draw(): number {
    const digest = createHash('sha256')
      .update(`${this.#seed} ${this.#drawn++}`)
      .digest()
    return digest.readUInt32BE(0) / 2 ** 32
  }
}
