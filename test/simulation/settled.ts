import { isTerminal, type TaskState } from '../../src/core/states.ts'
import type { SeenTask } from './observer.ts'
import type { World } from './world.ts'

const ASKS_A_PERSON: readonly TaskState[] = ['paused', 'awaiting_human', 'budget_exceeded']

/** Tasks that should still come to an end by themselves: neither finished, nor waiting for a person at any remove. */
export function unsettled(world: World, seen: ReadonlyMap<number, SeenTask>): string[] {
  const { tasks, plan } = world
  if (tasks.length < plan.tasks.length) return ['not all tasks are created']
  const stateOf = (place: number) => seen.get(tasks[place]!.id)!.record.state
  const waits = (place: number): boolean =>
    ASKS_A_PERSON.includes(stateOf(place)) ||
    (stateOf(place) === 'pending' && plan.tasks[place]!.waitsFor.some(waits))
  return tasks
    .filter((_, place) => !isTerminal(stateOf(place)) && !waits(place))
    .map(({ id }) => `task ${id} is ${seen.get(id)!.record.state}`)
}
