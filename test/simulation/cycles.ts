import type { Request } from '../../src/core/batch/requests.ts'
import type { TaskRecord } from '../../src/core/records.ts'
import { failCycles } from '../../src/flow/dependencies.ts'
import type { Caller, Kernel } from '../../src/kernel/kernel.ts'
import type { Direction } from '../../src/store/store.ts'
import type { World } from './world.ts'

/**
 * Upkeep's own search for cycles among tasks that are due, sent over the run's network. False when it did not finish: then
 * these tasks must stay due, or a closed cycle would be missed.
 */
export async function cyclesWereSearched(world: World, due: readonly TaskRecord[]): Promise<boolean> {
  if (due.length === 0) return true
  const tasks = due.map(({ id, uuid, version }) => ({
    workspaceId: 0,
    taskId: id,
    uuid,
    version,
    isBlocked: true,
  }))
  try {
    await failCycles(kernelOf(world), tasks)
    return true
  } catch {
    return false
  }
}

/** As much of a kernel as that search uses. Tasks that wait for the failed ones are found at the next check. */
function kernelOf({ store, network, scheduler }: World): Kernel {
  const sender = { name: 'upkeep', clock: () => scheduler.now }
  const kernel = {
    store: {
      blockedFrom: (_: number, ids: readonly number[], direction: Direction, limit: number) =>
        store.blockedFrom(ids, direction, limit),
    },
    run: ({ actor }: Caller, request: Request) => network.call(sender, { ...request, actor }),
    ended: { ask: async () => [] },
  }
  return kernel as unknown as Kernel
}
