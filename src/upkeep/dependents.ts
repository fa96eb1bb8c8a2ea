import type { Follower } from '../kernel/follower.ts'
import { DEPENDENTS } from '../kernel/store/log-followers.ts'
import { BATCH } from '../kernel/upkeep-context.ts'
import { unblockAll } from '../kinds/task/acts/unblock.ts'
import { isTerminal, taskStates } from '../pure/states.ts'

const ENDED = taskStates.filter(isTerminal)

/** The safety net below `unblockDownstream`: tasks whose dependencies ended without them being unblocked. */
export const dependents: Follower = {
  name: DEPENDENTS,
  // Only where tasks are blocked (FOLLOWERS): one that is blocked later sees what has ended by then.
  wants: { to: [...ENDED, 'pending'], from: ENDED },
  async handle({ kernel, term }, workspaceId, events) {
    const { store } = kernel
    const ids = [...new Set(events.map(({ taskId }) => taskId).filter((id) => id !== null))]
    const unblocked = new Set<number>()
    for (;;) {
      const tasks = await store.missedAmong(workspaceId, ids, BATCH)
      // Some stay: a merge that has to wait for a part which is done again.
      if (tasks.every(({ taskId }) => unblocked.has(taskId))) return { did: unblocked.size }
      await unblockAll(kernel, tasks, { term })
      for (const { taskId } of tasks) unblocked.add(taskId)
    }
  },
}
