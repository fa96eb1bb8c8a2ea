import type { FollowedStore } from '../kernel/store/log-followers.ts'
import { BATCH, type UpkeepContext } from '../kernel/upkeep-context.ts'
import { FOLLOWERS } from '../kinds/all.ts'
import { unblockAll } from '../kinds/task/acts/unblock.ts'
import { dependents } from '../kinds/task/upkeep.ts'
import { following } from './follower.ts'

/**
 * Time-driven steps of no kind, for any store. Every step reads from the store what is due and handles it through transact. No state
 * that matters is kept here, so a step can be missed, repeated or run on two nodes at once without harm.
 */

const followDependents = following(dependents)
const isFollowed = (context: UpkeepContext): context is UpkeepContext<FollowedStore> =>
  'followers' in context.kernel.store

/** The safety net below the reactions: tasks that they missed, from the log where the store has followers of it. */
export async function unblockMissed(context: UpkeepContext): Promise<number> {
  if (isFollowed(context)) {
    await skipIdleLogs(context)
    return followDependents(context)
  }
  const { kernel, term, only } = context
  const tasks = await kernel.store.missedTasks!(BATCH, only)
  await unblockAll(kernel, tasks, { term })
  return tasks.length
}

/** Followers that only a server runs: retention must not wait for them where they have nothing to do. */
async function skipIdleLogs({ kernel, only }: UpkeepContext<FollowedStore>): Promise<void> {
  const { followers } = kernel.store
  for (const name of Object.keys(FOLLOWERS).filter((one) => one !== dependents.name))
    for (const range of await followers.behind(name, only))
      if (range.isIdle) await followers.advance(range, range.upTo, false)
}

export async function applyRetention({ kernel }: UpkeepContext): Promise<number> {
  await kernel.store.applyRetention()
  return 0
}
