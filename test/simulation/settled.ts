import { isTerminal, type TaskState } from '../../src/pure/states.ts'
import type { SeenTask } from './observer.ts'
import type { World } from './world.ts'

const ASKS_A_PERSON: readonly TaskState[] = ['paused', 'awaiting_human', 'budget_exceeded']

/** Tasks that should still end by themselves: neither finished, nor waiting for a person, directly or indirectly. */
export function unsettled(world: World, seen: ReadonlyMap<number, SeenTask>): string[] {
  if (world.tasks.length < world.taskPlans.length) return ['not all tasks are created']
  const tasks = [...seen.values()]
  const byUuid = new Map(tasks.map((task) => [task.record.uuid, task]))
  // Tasks that wait for each other wait for no person.
  const waits = (task: SeenTask, below: readonly SeenTask[] = []): boolean =>
    ASKS_A_PERSON.includes(task.record.state) ||
    (task.record.state === 'pending' &&
      !below.includes(task) &&
      task.waitsFor.some((uuid) => waits(byUuid.get(uuid)!, [...below, task])))
  return tasks
    .filter((task) => !isTerminal(task.record.state) && !waits(task))
    .map(({ record }) => `task ${record.id} is ${record.state}`)
}
