import { StoreUnavailable } from '../kernel/store/store.ts'
import { renewAfterMs } from '../kinds/task/rules/retry.ts'
import { Refused } from '../pure/errors.ts'
import type { Claim, FailOptions, NextOptions, SubmitAndNextOptions, WorkerInput } from './types.ts'

export interface WorkOptions
  extends Partial<WorkerInput>,
    Pick<NextOptions, 'project' | 'tracks' | 'leaseSeconds'> {}

/** What a handler gets besides its claim. */
export interface Work {
  /** Fires when the claim is lost: another worker may hold the task, and further work on it is refused. */
  signal: AbortSignal
  progress(said: { percent?: number; step?: string; checkpoint?: unknown }): Promise<unknown>
}

/** Its return value is the result. An error fails the attempt and is retried, unless it is `Unretryable`. */
export type Handler = (claim: Claim, work: Work) => Promise<unknown> | unknown

/** Thrown by a handler when a retry would not help. */
export class Unretryable extends Error {
  override name = 'Unretryable'
}

/** The part of a queue that the loop uses. */
interface WorkQueue {
  registerWorker(worker: string, input: WorkerInput): Promise<unknown>
  unregisterWorker(worker: string, reason: string): Promise<unknown>
  heartbeat(worker: string): Promise<{ renewed: readonly { taskId: string; generation: number }[] }>
  nextMany(worker: string, limit: number, options: NextOptions): Promise<Claim[]>
  progress(claim: Claim, progress: Parameters<Work['progress']>[0]): Promise<unknown>
  submit(claim: Claim, result: unknown): Promise<unknown>
  submitAndNext(claim: Claim, result: unknown, options: SubmitAndNextOptions): Promise<{ next: Claim | null }>
  fail(claim: Claim, error: string, options: FailOptions): Promise<unknown>
  release(claim: Pick<Claim, 'taskId' | 'session' | 'generation'>): Promise<unknown>
}

type Held = Pick<Claim, 'taskId' | 'generation'>

const nameOf = ({ taskId, generation }: Held) => `${taskId}/${generation}`

const WAIT_MS = 20_000
/** The delay after an error of the store. */
const PAUSE_MS = 1_000
const LONGEST_ERROR = 2_000

export class WorkLoop {
  readonly #queue: WorkQueue
  readonly #worker: string
  readonly #handler: Handler
  readonly #options: WorkOptions
  readonly #capacity: number
  readonly #underWay = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #heartbeatTimer: NodeJS.Timeout
  readonly #done: Promise<void>
  /** By task id; aborted when the claim is lost. */
  readonly #claims = new Map<string, AbortController>()
  /** Whether the answer of a claim was lost, and the claims without an answer that the last heartbeat found. */
  #mayHoldUnknown = false
  #unknown: Set<string> | null = null
  /** Which tasks the loop takes, and until when it wants any. */
  readonly #choice: Pick<NextOptions, 'project' | 'tracks' | 'leaseSeconds' | 'signal'>

  static async start(
    queue: WorkQueue,
    worker: string,
    handler: Handler,
    options: WorkOptions,
  ): Promise<WorkLoop> {
    const { agent, userId, capabilities, capacity = 1, heartbeatSeconds = 60 } = options
    await queue.registerWorker(worker, { agent, userId, capabilities, capacity, heartbeatSeconds })
    return new WorkLoop(queue, worker, handler, options, capacity, heartbeatSeconds)
  }

  private constructor(
    queue: WorkQueue,
    worker: string,
    handler: Handler,
    options: WorkOptions,
    capacity: number,
    heartbeatSeconds: number,
  ) {
    this.#queue = queue
    this.#worker = worker
    this.#handler = handler
    this.#options = options
    this.#capacity = capacity
    const { project, tracks, leaseSeconds } = options
    this.#choice = { project, tracks, leaseSeconds, signal: this.#stopping.signal }
    const leaseMs = (options.leaseSeconds ?? heartbeatSeconds) * 1000
    const everyMs = renewAfterMs(Math.min(leaseMs, heartbeatSeconds * 1000), Math.random())
    this.#heartbeatTimer = setInterval(() => void this.#heartbeat(), everyMs)
    this.#done = this.#run()
  }

  /** Claims nothing new and resolves when the current tasks are finished. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#done
    await Promise.all(this.#underWay)
    clearInterval(this.#heartbeatTimer)
    await this.#queue.unregisterWorker(this.#worker, 'stopped').catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const room = this.#capacity - this.#underWay.size
      if (room === 0) {
        await Promise.race(this.#underWay)
        continue
      }
      try {
        const options = { ...this.#choice, waitMs: WAIT_MS }
        for (const claim of await this.#queue.nextMany(this.#worker, room, options)) this.#take(claim)
      } catch (error) {
        if (error instanceof Refused && error.code === 'WORKER_GONE') await this.#registerAgain()
        else {
          this.#mayHoldUnknown ||= error instanceof StoreUnavailable
          await pause(PAUSE_MS, signal)
        }
      }
    }
  }

  #take(claim: Claim): void {
    const work = this.#workFrom(claim).finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
  }

  /** One task after the other, as long as each submission brings the next. */
  async #workFrom(first: Claim): Promise<void> {
    for (let claim: Claim | null = first; claim; ) claim = await this.#perform(claim)
  }

  /** Returns the next claim, if the submission brought one. */
  async #perform(claim: Claim): Promise<Claim | null> {
    const lost = new AbortController()
    this.#claims.set(claim.taskId, lost)
    const progress: Work['progress'] = (said) => this.#queue.progress(claim, said)
    const outcome = await attempt(() => this.#handler(claim, { signal: lost.signal, progress }))
    const next = await this.#report(claim, outcome, lost.signal)
    // The task may have been claimed again meanwhile.
    if (this.#claims.get(claim.taskId) === lost) this.#claims.delete(claim.taskId)
    return next
  }

  async #report(claim: Claim, made: Outcome, lost: AbortSignal): Promise<Claim | null> {
    let outcome = made
    for (let isFirstTry = true; ; isFirstTry = false) {
      try {
        // Not again after a lost answer: the first try may have claimed a task, and each further one could claim another.
        const mayClaim = isFirstTry && !this.#stopping.signal.aborted
        return await this.#send(claim, outcome, mayClaim)
      } catch (error) {
        // Otherwise the claim would be held, and kept alive, for as long as the loop runs.
        if ('result' in outcome && isUnfitResult(error)) {
          outcome = { error: new Unretryable(messageOf(error)) }
          continue
        }
        // Refused: the claim is lost. Unreachable: the work is done, so the report is retried.
        if (!(error instanceof StoreUnavailable) || lost.aborted) return null
        this.#mayHoldUnknown = true
        await pause(PAUSE_MS, lost)
      }
    }
  }

  async #send(claim: Claim, outcome: Outcome, mayClaim: boolean): Promise<Claim | null> {
    if ('error' in outcome)
      await this.#queue.fail(claim, messageOf(outcome.error), failOptionsOf(outcome.error))
    else if (mayClaim) return (await this.#queue.submitAndNext(claim, outcome.result, this.#choice)).next
    else await this.#queue.submit(claim, outcome.result)
    return null
  }

  async #heartbeat(): Promise<void> {
    try {
      const held = [...this.#claims]
      const { renewed } = await this.#queue.heartbeat(this.#worker)
      const kept = new Set(renewed.map(({ taskId }) => taskId))
      // A claim held before the heartbeat and not renewed is lost, or just submitted, and then the abort does not matter.
      for (const [taskId, claim] of held) if (!kept.has(taskId)) claim.abort()
      if (this.#mayHoldUnknown) await this.#releaseUnknown(renewed)
    } catch (error) {
      if (error instanceof Refused && error.code === 'WORKER_GONE') await this.#registerAgain()
    }
  }

  /**
   * An answer was lost, so the store may hold claims for this worker that it never got. Heartbeats renew them, so they would
   * stay idle for as long as the worker lives. Released when a second heartbeat finds them: the answer of a claim that the
   * first one found may have been under way.
   */
  async #releaseUnknown(renewed: readonly Held[]): Promise<void> {
    const before = this.#unknown
    const unknown = renewed.filter(({ taskId }) => !this.#claims.has(taskId))
    const lost = unknown.filter((one) => before?.has(nameOf(one)))
    for (const one of lost) await this.#queue.release({ ...one, session: this.#worker })
    const isOver = before !== null && lost.length === unknown.length
    this.#mayHoldUnknown = !isOver
    this.#unknown = isOver ? null : new Set(unknown.map(nameOf))
  }

  /** The worker was declared lost, and its claims were requeued. */
  async #registerAgain(): Promise<void> {
    for (const claim of this.#claims.values()) claim.abort()
    const { agent, userId, capabilities, heartbeatSeconds = 60 } = this.#options
    const input = { agent, userId, capabilities, capacity: this.#capacity, heartbeatSeconds }
    await this.#queue.registerWorker(this.#worker, input).catch(() => pause(PAUSE_MS, this.#stopping.signal))
  }
}

const messageOf = (error: unknown) => String((error as Error)?.message ?? error).slice(0, LONGEST_ERROR)
const failOptionsOf = (error: unknown) => ({ retryable: !(error instanceof Unretryable) })

/** Too large, or no JSON: the same result would be refused again. */
const isUnfitResult = (error: unknown) =>
  error instanceof Refused ? error.code === 'RESULT_TOO_LARGE' : error instanceof TypeError

type Outcome = { result: unknown } | { error: unknown }

async function attempt(act: () => unknown): Promise<Outcome> {
  try {
    return { result: await act() }
  } catch (error) {
    return { error }
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    stopping.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
