import { isTerminal, taskStates } from '../core/states.ts'
import type { Follower } from '../flow/follower.ts'
import { unblockAll } from '../flow/unblock.ts'
import { BATCH } from '../flow/upkeep-context.ts'
import { DEPENDENTS } from '../store/log-followers.ts'

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
