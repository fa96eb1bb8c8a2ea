import { shortestCycleThrough, stronglyConnected } from './plans/cycles.ts'

/** A task that waits, and what it waits for. */
export interface DependentTask {
  readonly id: number
  readonly uuid: string
  readonly waitsFor: readonly number[]
}

export interface Cycle<T> {
  /** All that wait for each other here, whichever way round. */
  readonly members: readonly T[]
  /** For each of them one circle it stands in: outside ids in the order of waiting, each once. */
  readonly named: readonly (readonly string[])[]
}

/** Tasks that wait for each other. A task may stand in several circles; whoever shares a circle is in one answer. */
export function cyclesAmong<T extends DependentTask>(tasks: readonly T[]): Cycle<T>[] {
  const placeOf = new Map(tasks.map(({ id }, place) => [id, place]))
  const graph = tasks.map(({ waitsFor }) =>
    waitsFor.map((id) => placeOf.get(id)).filter((to) => to !== undefined),
  )
  return stronglyConnected(graph).map((component) => {
    const isIn = new Set(component)
    const named = new Map<number, readonly string[]>()
    for (const member of component) {
      if (named.has(member)) continue
      const circle = shortestCycleThrough(graph, member, (node) => isIn.has(node))!
      const uuids = circle.map((place) => tasks[place]!.uuid)
      for (const place of circle) if (!named.has(place)) named.set(place, uuids)
    }
    return {
      members: component.map((place) => tasks[place]!),
      named: component.map((place) => named.get(place)!),
    }
  })
}

/** The circle that closes when this task waits for these as well: outside ids from the task on; null when none does. */
export function cycleClosedBy(
  task: { id: number; uuid: string },
  upstream: readonly number[],
  waiting: readonly DependentTask[],
): string[] | null {
  const all = [{ ...task, waitsFor: upstream }, ...waiting.filter(({ id }) => id !== task.id)]
  const placeOf = new Map(all.map(({ id }, place) => [id, place]))
  const graph = all.map(({ waitsFor }) =>
    waitsFor.map((id) => placeOf.get(id)).filter((to) => to !== undefined),
  )
  return shortestCycleThrough(graph, 0, () => true)?.map((place) => all[place]!.uuid) ?? null
}

const NAMED = 20

/** For people, with the first again at the end. Of a long one not every member is named, or each would carry them all. */
export function describeCycle(cycle: readonly string[]): string {
  const shown = cycle.length <= NAMED ? cycle : [...cycle.slice(0, NAMED), `… ${cycle.length - NAMED} more …`]
  return [...shown, cycle[0]].join(' → ')
}
