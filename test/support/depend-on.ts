import type { Store } from '../../src/kernel/store/store.ts'
import type { TaskCommand } from '../../src/kinds/task/command.ts'
import { settleDueTasks } from '../../src/kinds/task/upkeep.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { unblockMissed } from '../../src/upkeep/steps.ts'
import { granted, holder, type Task, type Work } from './tasks.ts'

type ChangeDependencies = Extract<TaskCommand, { kind: 'changeDependencies' }>

/** Adds dependencies to a task, as a caller would that saw no cycle in it. */
export async function dependOn(
  work: Work,
  task: Task,
  upstream: readonly Task[],
  more: Partial<ChangeDependencies> = {},
) {
  const { version } = await work.record(task)
  return work.command(task, {
    kind: 'changeDependencies',
    dependsOn: upstream.map(({ id, uuid }, place) => ({ id, uuid, place })),
    triggerRule: 'all_success',
    version,
    cycle: null,
    ifVersion: null,
    patch: null,
    ...more,
  })
}

/** Removes dependencies of a task, as a caller would that has just read them. */
export async function stopDependingOn(
  work: Work,
  task: Task,
  upstream: readonly Task[],
  more: Partial<ChangeDependencies> = {},
) {
  const known = await work.store.dependencies(work.workspace, task.id)
  const areAll = known.every(({ uuid }) => upstream.some((one) => one.uuid === uuid))
  const on = upstream.map(({ id, uuid }, place) => ({ id, uuid, place }))
  return dependOn(work, task, [], { remove: { on, areAll }, ...more })
}

/** A node's flow on a store, without upkeep unless requested. */
export const flowOn = (store: Store) =>
  openKernel(store, {
    agentOf: async (_caller, slug) => ({ slug, capabilities: [] }),
    projectOf: (workspaceId, slug) => store.project(workspaceId, slug),
  })

/** Processes what is due in every workspace, including missed tasks. */
export async function sweep(store: Store): Promise<void> {
  const kernel = flowOn(store)
  for (let i = 0; i < 3; i++) {
    await settleDueTasks({ kernel })
    await unblockMissed({ kernel })
  }
  await kernel.close()
}

const alpha = holder('alpha')
export const complete = async (work: Work, task: Task) =>
  work.submit(task, granted(await work.claim(task, alpha)))
export const giveUp = async (work: Work, task: Task) =>
  work.fail(task, granted(await work.claim(task, alpha)), 'invalid')
