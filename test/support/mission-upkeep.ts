import type { RunKernel } from '../../src/door/server-kernel.ts'
import type { RunStore } from '../../src/kernel/store/run-store.ts'
import { settleMissions } from '../../src/kinds/mission/upkeep.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { settleDueTasks } from '../../src/kinds/task/upkeep.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { unblockMissed } from '../../src/upkeep/steps.ts'
import type { Work } from './tasks.ts'

/** Upkeep of missions by hand, in the workspace of a test, on any store that holds missions. */

const nobody = () => Promise.reject(new Error('no agent and no project is named here'))

export function kernelOf(work: Work, store = work.store): RunKernel {
  return openKernel(store as RunStore, { agentOf: nobody, projectOf: nobody }) as RunKernel
}

/** One pass; returns how many missions had something to do. */
export const passOfMissions = (work: Work, kernel = kernelOf(work)) =>
  settleMissions({ kernel, only: work.workspace })

/** Passes until nothing is left to do, for missions, due tasks and dependents. */
export async function settleAll(work: Work, kernel = kernelOf(work)): Promise<void> {
  const context = { kernel, only: work.workspace }
  for (let passes = 0; passes < 200; passes++) {
    const missions = await passOfMissions(work, kernel)
    const missed = await unblockMissed(context)
    if (missions + missed === 0) return
    await settleDueTasks(context)
  }
  throw new Error('there is always something left to do')
}

/** Dependents of these tasks learn that they ended. */
export const tellDependents = (work: Work, tasks: readonly TaskRecord[]) =>
  kernelOf(work).follow(work.workspace, tasks.map(justEnded))

/** As it is, and as a holder had it before. */
export const justEnded = (after: TaskRecord) => ({
  before: { ...after, state: 'running', version: after.version - 1 } as TaskRecord,
  after,
})
