import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { logDeleted } from '../kinds/run/rules/appends.ts'
import type { ObjectStore } from '../logs/object-store.ts'
import { type LogStoreType, LogUnavailable } from '../logs/protocol.ts'
import { idCarriedBy } from '../pure/ids.ts'
import { isTerminal } from '../pure/states.ts'
import type { ExecutorContext } from './context.ts'
import type { Executor } from './executor.ts'
import { sweepWorktrees, type WorktreePlace } from './folders/sweep.ts'
import { knownSecrets } from './known-secrets.ts'
import { gitOf } from './prepare.ts'
import { recoverForgotten, recoverRuns, releaseClaimsLeft } from './recovery.ts'
import { removeOldBranches } from './work/retention.ts'

/** Periodic work of a node that runs agents. */

export interface ChorePace {
  /** How often runs of lost nodes are recovered. */
  recoverEveryMs: number
  /** How long a run of this node must be missing before it counts as forgotten. */
  forgottenAfterMs: number
}

const USUAL_PACE: ChorePace = {
  recoverEveryMs: 10_000,
  // Longer than any statement may take: a run that is recorded but not in progress by then will never start.
  forgottenAfterMs: 35_000,
}
const TIDY_EVERY_MS = 60_000
/** A verdict may end a task long after its run. */
const SWEEP_EVERY_MS = 600_000
const LOGS_AT_A_TIME = 200

export class Chores {
  readonly #context: ExecutorContext
  readonly #host: string
  readonly #bucket: ObjectStore | null
  readonly #keepLogsMs: number | null
  readonly #readers: pg.Pool
  readonly #pace: ChorePace
  readonly #executor: Executor
  readonly #missingSince = new Map<string, number>()
  /** Claims that no run works on. */
  readonly #unworkedSince = new Map<string, number>()
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(
    context: ExecutorContext,
    options: {
      executor: Executor
      host: string
      bucket: ObjectStore | null
      keepLogsMs: number | null
      readers: pg.Pool
      pace?: Partial<ChorePace> | undefined
    },
  ) {
    this.#pace = { ...USUAL_PACE, ...options.pace }
    this.#executor = options.executor
    this.#context = context
    this.#host = options.host
    this.#bucket = options.bucket
    this.#keepLogsMs = options.keepLogsMs
    this.#readers = options.readers
  }

  start(): this {
    this.#running = Promise.all([
      this.#every(this.#pace.recoverEveryMs, async () => {
        await recoverRuns(this.#context, this.#host, (run) => this.#executor.adopt(run))
        await recoverForgotten(this.#context, (runId) => this.#executor.runs(runId), {
          missingSince: this.#missingSince,
          afterMs: this.#pace.forgottenAfterMs,
        })
        await releaseClaimsLeft(this.#context, {
          missingSince: this.#unworkedSince,
          afterMs: this.#pace.forgottenAfterMs,
        })
      }),
      this.#every(TIDY_EVERY_MS, () => this.#tidy()),
      this.#every(SWEEP_EVERY_MS, async () => {
        await sweepFolders(this.#context)
        const { signal } = this.#stopping
        await removeOldBranches(this.#context, gitOf(this.#context.own), this.#readers, signal)
      }),
    ]).then(() => undefined)
    return this
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #every(everyMs: number, act: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      // Whatever failed is tried again next time.
      await act().catch((error) => this.#context.log.warn({ err: error }, 'a chore of the executor failed'))
    }
  }

  async #tidy(): Promise<void> {
    // Logs that could not be uploaded to the bucket when their runs ended.
    for (const handle of (await this.#bucket?.pending()) ?? []) await this.#bucket!.finalize(handle)
    if (this.#keepLogsMs !== null) await removeOldLogs(this.#context, this.#keepLogsMs)
  }
}

/** Deletes the log itself; metadata and excerpts stay. */
export async function removeOldLogs(context: ExecutorContext, keepLogsMs: number): Promise<number> {
  const { kernel, logStores } = context
  const old = await kernel.store.runs.oldLogs(keepLogsMs, LOGS_AT_A_TIME)
  for (const { workspaceId, runId, logStore, logRef } of old) {
    const store = logStores.get(logStore as LogStoreType)
    if (!store) continue
    await store.delete({ store: store.type, logRef }).catch((error) => {
      if (!(error instanceof LogUnavailable)) throw error
    })
    await kernel.step({ workspaceId }, logDeleted(runId))
  }
  return old.length
}

/** Removes worktrees of tasks that have ended. What a lost run left in one is saved first. An agent's own worktree stays. */
function sweepFolders(context: ExecutorContext) {
  const { kernel, own, dataFolder } = context
  const taskIn = async ({ workspaceId, taskUuid }: WorktreePlace) => {
    const id = taskUuid === null ? null : idCarriedBy(taskUuid)
    if (id === null) return null
    const [record] = await kernel.store.recordsById(Number(workspaceId), [id])
    return record ?? null
  }
  const isStillNeeded = async (place: WorktreePlace) => {
    const task = await taskIn(place)
    return place.taskUuid === null || (task !== null && !isTerminal(task.state))
  }
  const savingOf = async (place: WorktreePlace) => {
    // What reviewers and planners left is no work.
    if ((await taskIn(place))?.purpose !== 'work') return null
    const secrets = await knownSecrets(context, null).current()
    const message = `Work of a lost run\n\nTask ${place.taskUuid}, generation ${place.generation}`
    return { author: { name: 'Baton', email: 'baton@localhost' }, message, secrets }
  }
  return sweepWorktrees(gitOf(own), dataFolder, isStillNeeded, savingOf)
}
