import { systemCaller, throwIfNotLeader } from '../kernel/caller.ts'
import { FOLLOWERS, type FollowedStore } from '../kernel/store/log-followers.ts'
import { BATCH, type UpkeepContext } from '../kernel/upkeep-context.ts'
import { commandSession } from '../kinds/session/acts/commands.ts'
import { failCycles } from '../kinds/task/acts/dependencies.ts'
import { unblockAll } from '../kinds/task/acts/unblock.ts'
import { dependents } from './dependents.ts'
import { following } from './follower.ts'

/**
 * Time-driven steps, for any store. Every step reads from the store what is due and handles it through transact. No state
 * that matters is kept here, so a step can be missed, repeated or run on two nodes at once without harm.
 */

/** Expired leases, due retries and scheduled starts, assignments that were not started, stalled and hung work. */
export async function settleDueTasks(context: UpkeepContext): Promise<number> {
  const { kernel, term, only } = context
  const due = await kernel.store.dueTasks(BATCH, only)
  // Before their due time is cleared: cycles are found here by the due time of their tasks.
  await failCycles(kernel, due, term)
  await Promise.all(
    due.map(async ({ workspaceId, taskId, uuid, version }) => {
      const command = { kind: 'elapse', version } as const
      const caller = systemCaller(workspaceId, term)
      throwIfNotLeader(await kernel.run(caller, { on: 'task', taskId, uuid, command }))
    }),
  )
  return due.length
}

/** Sessions, including workers, without a heartbeat for too long. */
export async function expireSessions(context: UpkeepContext): Promise<number> {
  const { kernel, term, listeningSince, only } = context
  const due = await kernel.store.dueSessions(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, name }) =>
      commandSession(kernel, systemCaller(workspaceId, term), name, { kind: 'elapse', listeningSince }),
    ),
  )
  return due.length
}

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
