import type { z } from 'zod'
import type { Caller, Kernel } from '../kernel/kernel.ts'
import type { Store } from '../kernel/store/store.ts'
import {
  drainWorker,
  heartbeatWorker,
  listWorkers,
  registerWorker,
  requeueStalled,
  unregisterWorker,
} from '../kinds/session/acts/workers.ts'
import { WorkerBody } from '../kinds/session/shapes.ts'
import { claimNext, renewTask } from '../kinds/task/acts/claims.ts'
import { retryDeadLetters } from '../kinds/task/acts/dead-letters.ts'
import { failTask, submitAndNext, submitBatch, submitResult } from '../kinds/task/acts/results.ts'
import { briefView, command, createTasks, operate, readTask, taskIdOf } from '../kinds/task/acts/tasks.ts'
import { resultView, taskView } from '../kinds/task/acts/views.ts'
import type { TaskCommand } from '../kinds/task/command.ts'
import { FailBody, NextBody, ThenNext } from '../kinds/task/shapes/claims.ts'
import { type TaskCreate, TaskCreateBatch } from '../kinds/task/shapes/tasks.ts'
import type { Limits } from '../kinds/workspace/limits.ts'
import { Refused } from '../pure/errors.ts'
import { Name } from '../pure/shapes.ts'
import type { TaskState } from '../pure/states.ts'
import { openKernel } from '../upkeep/open-kernel.ts'
import { startUpkeep } from '../upkeep/upkeep.ts'
import { openStore } from './open-store.ts'
import type {
  Claim,
  ClaimResult,
  FailOptions,
  NextOptions,
  SubmitAndNextOptions,
  Task,
  TaskInput,
  WorkerInput,
} from './types.ts'
import { type Handler, WorkLoop, type WorkOptions } from './work-loop.ts'

/** The value parsed by the shape, or a refusal that names every invalid field. */
export function checked<S extends z.ZodType>(shape: S, value: unknown): z.output<S> {
  const { success, data, error } = shape.safeParse(value)
  if (success) return data
  const errors = error.issues.map(({ path, message }) => ({ field: path.join('.') || 'value', message }))
  throw new Refused(
    'VALIDATION_FAILED',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    {
      errors,
    },
  )
}

/** A check or a limit that nobody keeps is worse than none: these are kept where Baton runs agents. */
export function refuseOfServers(tasks: readonly z.output<typeof TaskCreate>[]): void {
  for (const [place, { verification, budget }] of tasks.entries()) {
    const needsServer = (field: string) =>
      Refused.field('VALIDATION_FAILED', `tasks[${place}].${field}`, 'is kept by servers of Baton only')
    if (budget !== undefined) throw needsServer('budget')
    if (verification !== undefined && verification.kind !== 'human') throw needsServer('verification')
  }
}

export { StoreUnavailable } from '../kernel/store/store.ts'
export { Refused } from '../pure/errors.ts'
export { StartRefused } from '../pure/refusal.ts'
export type {
  Claim,
  ClaimResult,
  FailOptions,
  NextOptions,
  SubmitAndNextOptions,
  Task,
  TaskInput,
  WorkerInput,
} from './types.ts'
export { type Handler, Unretryable, type Work, type WorkOptions } from './work-loop.ts'

export interface QueueOptions {
  /** Workspaces are isolated from each other. A new one is created. */
  workspace?: string
  /** For a new workspace; the defaults are wider than those of the server. */
  limits?: Partial<Limits>
  /** Handles expired leases, due retries and lost workers. At least one open queue must run it. */
  upkeep?: boolean
}

/** Wide: limits protect tenants of a shared server from each other, and a library queue has no tenants. */
const LIBRARY_LIMITS: Partial<Limits> = {
  minLeaseSeconds: 1,
  maxLeaseSeconds: 86_400,
  maxConcurrentClaims: 100_000,
  maxActiveSessions: 10_000,
}

const MOST_AT_ONCE = 10_000

/** A queue in this process: on Postgres, Valkey or Redis, MySQL or MariaDB, in memory, or on a store of the caller's. */
export async function createQueue(on: string | Store, options: QueueOptions = {}): Promise<Queue> {
  const store = typeof on === 'string' ? await openStore(on) : on
  try {
    const limits = { ...LIBRARY_LIMITS, ...options.limits }
    const workspaceId = await store.workspace(options.workspace ?? 'default', limits)
    return new Queue(store, workspaceId, options.upkeep ?? true)
  } catch (error) {
    await store.close()
    throw error
  }
}

export class Queue {
  readonly #store: Store
  readonly #kernel: Kernel
  readonly #caller: Caller
  readonly #upkeep: { stop(): Promise<void> } | null
  readonly #closing = new AbortController()
  readonly #loops = new Set<WorkLoop>()

  constructor(store: Store, workspaceId: number, upkeep: boolean) {
    this.#store = store
    this.#kernel = openKernel(store, {
      agentOf: async (_caller, slug) => ({ slug, capabilities: [] }),
      projectOf: (workspace, slug) => store.project(workspace, slug),
    })
    this.#caller = { workspaceId, actor: 'queue', rights: new Set() }
    this.#upkeep = upkeep ? startUpkeep(this.#kernel, { warn: () => undefined }) : null
  }

  async enqueue(task: TaskInput): Promise<Task> {
    return (await this.enqueueMany([task]))[0]!
  }

  /** All of them or none, up to 10,000. */
  async enqueueMany(tasks: readonly TaskInput[]): Promise<Task[]> {
    const wanted = checked(TaskCreateBatch, { tasks: [...tasks] }).tasks
    refuseOfServers(wanted)
    return createTasks(this.#kernel, this.#caller, wanted)
  }

  /** Claims the next task for this worker. Waits up to `waitMs`; null: no task became ready. */
  async next(worker: string, options: NextOptions = {}): Promise<Claim | null> {
    return (await this.nextMany(worker, 1, options))[0] ?? null
  }

  async nextMany(worker: string, limit: number, options: NextOptions = {}): Promise<Claim[]> {
    const { signal, ...rest } = options
    const { project, ...body } = checked(NextBody, { ...rest, agent: 'queue', session: worker, limit })
    const agent = await this.#agentOf(worker)
    const projectId = await this.#projectOf(project)
    const gone = this.#goneBy(signal)
    const { claims } = await claimNext(this.#kernel, this.#caller, { ...body, agent }, { gone }, projectId)
    return [...claims]
  }

  /** Renews the lease and returns its new expiry. Refused when the claim has ended. */
  async renew(claim: Claim, leaseSeconds?: number): Promise<{ leaseExpiresAt: string; ttlMs: number }> {
    const body = { ...fenceOf(claim), leaseSeconds }
    return renewTask(this.#kernel, this.#caller, claim.taskId, body)
  }

  async submit(claim: Claim, result: unknown, summary?: string) {
    return submitResult(this.#kernel, this.#caller, claim.taskId, { ...fenceOf(claim), result, summary })
  }

  /** Each is accepted or refused separately; the answers are in the order of the results. Up to 10,000. */
  async submitMany(results: readonly ClaimResult[]) {
    if (results.length === 0) return []
    if (results.length > MOST_AT_ONCE)
      throw Refused.field('VALIDATION_FAILED', 'results', `must be at most ${MOST_AT_ONCE} at once`)
    const handedIn = results.map(({ claim, result, summary }) => {
      const { taskId, session, generation } = claim
      return { taskId, session, generation, result, summary }
    })
    return (await submitBatch(this.#kernel, this.#caller, { results: handedIn })).results
  }

  /**
   * Submits, and claims the next task for the same worker in the same transaction. A refused submission claims nothing.
   * `next` is null when no task was claimed: `next()` says why, and can wait for one.
   */
  async submitAndNext(claim: Claim, result: unknown, options: SubmitAndNextOptions = NO_OPTIONS) {
    const { signal, summary, ...choice } = options
    const isPlain = options === NO_OPTIONS || Object.keys(choice).length === 0
    const wanted = isPlain ? { agent: claim.agent } : await this.#wantedBy(claim, choice)
    const { session, generation } = claim
    const body = { session, generation, result, summary }
    return submitAndNext(this.#kernel, this.#caller, claim.taskId, body, wanted, this.#goneBy(signal))
  }

  async fail(claim: Claim, error: string, { retryable = true, ...how }: FailOptions = {}) {
    const failureClass = how.failureClass ?? (retryable ? 'infrastructure' : 'invalid')
    const body = checked(FailBody, { ...fenceOf(claim), ...how, error, failureClass })
    return failTask(this.#kernel, this.#caller, claim.taskId, body)
  }

  /** Returns the task to the queue without spending an attempt. */
  async release(claim: Fenced, reason = 'VOLUNTARY') {
    return this.#holder(claim, { kind: 'release', fence: fenceOf(claim), reason })
  }

  /** Reports progress. The next holder of the task gets the checkpoint. */
  async progress(claim: Claim, said: { percent?: number; step?: string; checkpoint?: unknown }) {
    return this.#holder(claim, { kind: 'progress', fence: fenceOf(claim), ...said })
  }

  cancel = (taskId: string, reason: string | null = null) => this.#operate(taskId, { kind: 'cancel', reason })
  retry = (taskId: string, reason: string | null = null) => this.#operate(taskId, { kind: 'retry', reason })

  /** Requeues claimed tasks without any activity for this long. Returns how many. */
  requeueStalled(silentMs = 60_000): Promise<number> {
    return requeueStalled(this.#kernel, this.#caller, silentMs)
  }

  async get(taskId: string): Promise<Task> {
    return taskView(await readTask(this.#kernel, this.#caller, taskId))
  }

  async status(taskId: string): Promise<TaskState> {
    return (await readTask(this.#kernel, this.#caller, taskId)).record.state
  }

  /** Accepted and rejected, oldest first. */
  async results(taskId: string) {
    await readTask(this.#kernel, this.#caller, taskId)
    const results = await this.#store.results(this.#caller.workspaceId, taskIdOf(taskId))
    return results.map(resultView)
  }

  /** Newest first. */
  async listByUser(userId: string, { states, limit = 100 }: { states?: TaskState[]; limit?: number } = {}) {
    const tasks = await this.#store.tasks(this.#caller.workspaceId, { userId, states }, limit)
    return tasks.map(taskView)
  }

  /** Tasks that ran out of attempts, newest first. */
  async deadLetters(limit = 100): Promise<Task[]> {
    return (await this.#store.tasks(this.#caller.workspaceId, { deadLetters: true }, limit)).map(taskView)
  }

  async retryDeadLetters(taskIds?: readonly string[]): Promise<number> {
    const wanted = { taskIds, limit: 10_000, reason: null }
    return (await retryDeadLetters(this.#kernel, this.#caller, wanted)).retried
  }

  async registerWorker(worker: string, input: WorkerInput) {
    const body = checked(WorkerBody, { ...input, worker })
    return (await registerWorker(this.#kernel, this.#caller, body)).worker
  }

  /** Renews the worker and all its claims; the answer lists the claims lost since the last heartbeat. */
  heartbeat = (worker: string) => heartbeatWorker(this.#kernel, this.#caller, worker)
  drainWorker = (worker: string) => drainWorker(this.#kernel, this.#caller, worker)
  unregisterWorker = (worker: string, reason = 'unregistered') =>
    unregisterWorker(this.#kernel, this.#caller, worker, reason)
  workers = async () => (await listWorkers(this.#kernel, this.#caller)).items

  /** Events after this seq, in commit order. */
  events = (after = 0, limit = 100) => this.#store.events(this.#caller.workspaceId, after, limit)

  /**
   * Runs until it is stopped: registers a worker, claims tasks up to its capacity, renews their leases, and submits the
   * result of the handler or reports its failure.
   */
  async work(worker: string, handler: Handler, options: WorkOptions = {}): Promise<WorkLoop> {
    const loop = await WorkLoop.start(this, worker, handler, options)
    this.#loops.add(loop)
    return loop
  }

  /** Waits for the work loops to finish their tasks, then closes everything. */
  async close(): Promise<void> {
    await Promise.all([...this.#loops].map((loop) => loop.stop()))
    this.#closing.abort()
    await this.#upkeep?.stop()
    await this.#kernel.close()
    await this.#store.close()
  }

  #goneBy(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closing.signal
    return signal ? AbortSignal.any([signal, closing]) : closing
  }

  async #wantedBy({ agent }: Claim, choice: Omit<SubmitAndNextOptions, 'signal' | 'summary'>) {
    const { project, ...next } = checked(ThenNext, { ...choice, agent: 'queue' })
    return { ...next, agent, projectId: await this.#projectOf(project) }
  }

  async #projectOf(slug: string | undefined): Promise<number | undefined> {
    return slug === undefined ? undefined : this.#store.project(this.#caller.workspaceId, slug)
  }

  async #agentOf(worker: string): Promise<string> {
    checked(Name, worker)
    const session = await this.#kernel.sessionIsKnown(this.#caller, worker, worker)
    return session.agent ?? worker
  }

  async #holder(claim: Fenced, act: Extract<TaskCommand, { kind: 'release' | 'progress' }>) {
    const reply = await command(this.#kernel, this.#caller, claim.taskId, act)
    return briefView(reply.record)
  }

  #operate(taskId: string, act: TaskCommand): Promise<Task> {
    return operate(this.#kernel, this.#caller, taskId, act)
  }
}

const NO_OPTIONS: SubmitAndNextOptions = {}

type Fenced = Pick<Claim, 'taskId' | 'session' | 'generation'>
const fenceOf = ({ session, generation }: Fenced) => ({ session, generation })

/** Whether an error is a refusal with this code, such as STALE_GENERATION. */
export const isRefusal = (error: unknown, code: string): boolean =>
  error instanceof Refused && error.code === code
