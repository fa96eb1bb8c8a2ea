import { DEPENDENTS, type FollowedStore } from '../../src/kernel/store/log-followers.ts'
import type { BlockedTask, Store } from '../../src/kernel/store/store.ts'
import { dependents } from '../../src/kinds/task/upkeep.ts'

/** Tasks that upkeep would unblock next, on any store. Nothing is unblocked, and no cursor moves. */

const isFollowed = (store: Store): store is FollowedStore => 'followers' in store

export async function missedTasks(store: Store, limit: number, only?: number): Promise<BlockedTask[]> {
  if (!isFollowed(store)) return store.missedTasks!(limit, only)
  const ranges = await store.followers.behind(DEPENDENTS, only)
  const read = await store.followers.read(ranges, dependents.wants)
  const found = await Promise.all(
    ranges.map(({ workspaceId }, i) => {
      const ids = read[i]!.map(({ taskId }) => taskId).filter((id) => id !== null)
      return store.missedAmong(workspaceId, ids, limit)
    }),
  )
  return found.flat()
}

/** As if all missed tasks so far had been handled. */
export async function skipMissedTasks(store: Store): Promise<void> {
  if (!isFollowed(store)) return
  for (;;) {
    const ranges = await store.followers.behind(DEPENDENTS)
    if (ranges.length === 0) return
    for (const range of ranges) await store.followers.advance(range, range.upTo, false)
  }
}
