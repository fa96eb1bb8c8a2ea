import type { WorkBeside } from '../door/upkeep-step.ts'
import type { Follower } from '../kernel/follower.ts'
import type { FollowedStore, LogRange, ReadRange } from '../kernel/store/log-followers.ts'
import { BATCH, isEndOfPass, type UpkeepContext } from '../kernel/upkeep-context.ts'
import { backoffMs } from '../kinds/task/rules/retry.ts'

/** How followers of the log are run: as steps of upkeep, under the term of the leader. */

/** The wait for an event that cannot be handled yet. */
const WAIT_MS = 500

interface FollowerContext<S extends FollowedStore> extends UpkeepContext<S> {
  /** Handles beside the pass. Without it, the step waits for all that it handles. */
  beside?: Beside | undefined
}

/** A step that reads what is new for a follower in all logs, and lets it handle that, each workspace separately. */
export const following =
  <S extends FollowedStore>(follower: Follower<S>) =>
  async (context: FollowerContext<S>): Promise<number> => {
    const { kernel, only, beside } = context
    const { followers } = kernel.store
    const isBusy = beside && ((range: LogRange) => beside.isBusy(range))
    const ranges = await followers.next(follower.name, follower.wants, { only, isBusy })
    const handling = ranges
      .filter(({ events }) => events.length > 0)
      .map((range) => {
        const handled = handle(follower, context, range)
        return beside ? beside.add(range, handled, (error) => fault(follower, context, error)) : handled
      })
    const settled = await Promise.allSettled(handling)
    // One workspace in which it fails does not hold up the others.
    for (const one of settled) if (one.status === 'rejected') throw one.reason
    const did = settled.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0)
    const hasMore = ranges.some(({ upTo, lastSeq }) => upTo < lastSeq)
    return hasMore ? Math.max(did, BATCH) : did
  }

/** Retries wait in the row, so that no other node tries at once what has just failed. */
async function handle<S extends FollowedStore>(
  follower: Follower<S>,
  context: UpkeepContext<S>,
  range: ReadRange,
): Promise<number> {
  const { followers } = context.kernel.store
  const { workspaceId, after, upTo, events } = range
  try {
    const { did, waitsAt } = await follower.handle(context, workspaceId, events)
    if (waitsAt === undefined) await followers.advance(range, upTo, did > 0)
    else await followers.postpone(range, waitsAt - 1, { waitMs: WAIT_MS, failures: 0 })
    return did
  } catch (error) {
    const failures = range.failures + 1
    if (!isEndOfPass(error)) await followers.postpone(range, after, { waitMs: backoffMs(failures), failures })
    throw error
  }
}

function fault(follower: Follower<never>, { kernel }: UpkeepContext, error: unknown): void {
  if (!isEndOfPass(error))
    kernel.fault(error, `events could not be handled by the follower "${follower.name}"`)
}

/** What followers do beside the passes of the coordinator: in each workspace one range after the other, as slow as it may be. */
export class Beside implements WorkBeside {
  readonly #underWay = new Map<string, Promise<void>>()
  /** Logs that grew meanwhile. */
  readonly #grown = new Set<string>()
  readonly #again: () => void
  readonly #stopping = new AbortController()

  constructor(again: () => void) {
    this.#again = again
  }

  busy(beginning: string): string[] {
    return [...this.#underWay.keys()].filter((name) => name.startsWith(beginning))
  }

  start(name: string, work: (stopping: AbortSignal) => Promise<void>): void {
    const ended = work(this.#stopping.signal).finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, ended)
  }

  isBusy({ workspaceId, follower }: LogRange): boolean {
    const key = `${workspaceId} ${follower}`
    const isBusy = this.#underWay.has(key)
    if (isBusy) this.#grown.add(key)
    return isBusy
  }

  async add(
    { workspaceId, follower }: LogRange,
    handling: Promise<unknown>,
    failed: (error: unknown) => void,
  ) {
    const key = `${workspaceId} ${follower}`
    const ended = handling
      .then(() => undefined, failed)
      .finally(() => {
        this.#underWay.delete(key)
        if (this.#grown.delete(key)) this.#again()
      })
    this.#underWay.set(key, ended)
    return 0
  }

  async ended(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#underWay.values())
  }
}
