import { countText, durationText } from '../../../parts/wording.ts'
import { inOrder } from '../plan-steps.ts'
import { edgesOf, idOf, type Json, valueIn } from './plan-value.ts'

/** The time that a plan takes at least. Pure; a plan with a cycle has figures, too. */

export const upstreamPlaces = (tasks: readonly Json[]): number[][] => {
  const placeOf = new Map(tasks.map((task, place) => [idOf(task), place]))
  return tasks.map((task, place) =>
    edgesOf(task).flatMap(({ on }) => {
      const found = placeOf.get(on)
      return found === undefined || found === place ? [] : [found]
    }),
  )
}

const minutesOf = (task: Json): number | null => {
  const minutes = valueIn(task, 'estimatedDurationMinutes')
  return typeof minutes === 'number' && minutes > 0 ? minutes : null
}

/** "at least 38 m": the longest way through the plan, as far as tasks say how long they take. */
export function timeWords(tasks: readonly Json[], waitsFor: readonly (readonly number[])[]): string {
  const ends = tasks.map(() => 0)
  for (const place of inOrder(waitsFor))
    ends[place] =
      (minutesOf(tasks[place]!) ?? 0) + waitsFor[place]!.reduce((most, on) => Math.max(most, ends[on]!), 0)
  const unknown = tasks.filter((task) => minutesOf(task) === null).length
  const longest = ends.reduce((most, end) => Math.max(most, end), 0)
  if (longest === 0) return 'time unknown'
  const words = durationText(longest * 60_000)
  return unknown === 0
    ? `${words} at least`
    : `${words} at least, unknown for ${countText(unknown)} of ${countText(tasks.length)} tasks`
}
