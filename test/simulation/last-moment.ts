import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { isTerminal } from '../../src/pure/states.ts'
import { addDependencies } from './add-dependencies.ts'
import { insist } from './operator.ts'
import type { World } from './world.ts'

/**
 * A person acts on a task that is about to be unblocked: all its dependencies have ended, and upkeep may have read that
 * already. The order matters most there. False when there is no such task.
 */
export async function actAtTheLastMoment(world: World): Promise<boolean> {
  const { random, store } = world
  const records = (await store.tasks()).map(({ record }) => record)
  const about: TaskRecord[] = []
  for (const record of records)
    if (record.state === 'pending' && record.blocked && (await hasAllItWaitsFor(world, record)))
      about.push(record)
  if (about.length === 0) return false
  const task = random.pick(about)
  const parts = records.filter(({ parentId, state }) => parentId === task.id && state === 'completed')
  if (parts.length > 0) await doAgain(world, random.pick(parts))
  else await addDependencies(world, task, records)
  return true
}

const hasAllItWaitsFor = async ({ store }: World, { id }: TaskRecord) =>
  (await store.dependencies(id)).every(({ state }) => isTerminal(state))

async function doAgain(world: World, { id: taskId, uuid }: TaskRecord): Promise<void> {
  const command = { kind: 'reset', reason: 'not what was meant' } as const
  await insist(world, { on: 'task', actor: 'key:ops', taskId, uuid, command })
}
