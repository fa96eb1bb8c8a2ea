import { circleThrough, knotsIn } from './plans/cycles.ts'

/** A task that waits, and what it waits for. */
export interface WaitingTask {
  readonly id: number
  readonly uuid: string
  readonly waitsFor: readonly number[]
}

export interface Circle<T> {
  /** All that wait for each other here, whichever way round. */
  readonly members: readonly T[]
  /** For each of them one circle it stands in: outside ids in the order of waiting, each once. */
  readonly named: readonly (readonly string[])[]
}

/** Tasks that wait for each other. A task may stand in several circles; whoever shares a circle is in one answer. */
export function circlesAmong<T extends WaitingTask>(tasks: readonly T[]): Circle<T>[] {
  const placeOf = new Map(tasks.map(({ id }, place) => [id, place]))
  const graph = tasks.map(({ waitsFor }) =>
    waitsFor.map((id) => placeOf.get(id)).filter((to) => to !== undefined),
  )
  return knotsIn(graph).map((knot) => {
    const isIn = new Set(knot)
    const named = new Map<number, readonly string[]>()
    for (const member of knot) {
      if (named.has(member)) continue
      const circle = circleThrough(graph, member, (node) => isIn.has(node))!
      const uuids = circle.map((place) => tasks[place]!.uuid)
      for (const place of circle) if (!named.has(place)) named.set(place, uuids)
    }
    return { members: knot.map((place) => tasks[place]!), named: knot.map((place) => named.get(place)!) }
  })
}

/** The circle that closes when this task waits for these as well: outside ids from the task on; null when none does. */
export function circleClosedBy(
  task: { id: number; uuid: string },
  upstream: readonly number[],
  waiting: readonly WaitingTask[],
): string[] | null {
  const all = [{ ...task, waitsFor: upstream }, ...waiting.filter(({ id }) => id !== task.id)]
  const placeOf = new Map(all.map(({ id }, place) => [id, place]))
  const graph = all.map(({ waitsFor }) =>
    waitsFor.map((id) => placeOf.get(id)).filter((to) => to !== undefined),
  )
  return circleThrough(graph, 0, () => true)?.map((place) => all[place]!.uuid) ?? null
}

const NAMED = 20

/** For people, with the first again at the end. Of a long one not every member is named, or each would carry them all. */
export function namedInOrder(cycle: readonly string[]): string {
  const shown = cycle.length <= NAMED ? cycle : [...cycle.slice(0, NAMED), `… ${cycle.length - NAMED} more …`]
  return [...shown, cycle[0]].join(' → ')
}
