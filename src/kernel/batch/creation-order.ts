import type { NewTask } from '../../kinds/task/command.ts'
import { shortestCycles } from '../../pure/graph.ts'

/** The order in which the tasks of a request are created: each after those it depends on. */
interface CreationOrder {
  /** Indexes of the request. */
  order: number[]
  /** If there is a cycle: the names of its tasks, in order of dependency, each once. */
  cycle: string[] | null
}

export function inOrderOfDependence(wanted: readonly NewTask[]): CreationOrder {
  if (wanted.every(({ dependsOnNew, parent }) => dependsOnNew.length === 0 && parent === null))
    return { order: wanted.map((_, i) => i), cycle: null }
  // Existing tasks that get parts come last: they wait for those, and others may wait for them.
  const divided = new Map<number, string>()
  for (const { parent } of wanted) if (parent && 'id' in parent) divided.set(parent.id, parent.uuid)
  const upstream = dependenciesIn(wanted, [...divided.keys()])
  const order = inOrder(upstream)
  if (order.length === upstream.length)
    return { order: order.filter((place) => place < wanted.length), cycle: null }
  const names = [...wanted.map(nameOf), ...divided.values()]
  const itself = upstream.findIndex((on, i) => on.includes(i))
  const cycle = itself === -1 ? shortestCycles(upstream)[0]! : [itself]
  return { order: [], cycle: cycle.map((place) => names[place]!) }
}

/** As people know it: by its key, else by its place in the request and its title. */
const nameOf = ({ key, details: { title } }: NewTask, index: number) => key ?? `tasks[${index}] "${title}"`

/** For each task of the request, and then for each existing task that gets parts, what it depends on among these. */
function dependenciesIn(wanted: readonly NewTask[], divided: readonly number[]): number[][] {
  const placeOf = new Map(divided.map((id, i) => [id, wanted.length + i]))
  const upstream = Array.from({ length: wanted.length + divided.length }, () => new Set<number>())
  wanted.forEach(({ dependsOn, dependsOnNew, parent }, i) => {
    for (const on of dependsOnNew) upstream[i]!.add(on)
    for (const id of dependsOn) if (placeOf.has(id)) upstream[i]!.add(placeOf.get(id)!)
    if (parent) upstream['at' in parent ? parent.at : placeOf.get(parent.id)!]!.add(i)
  })
  return upstream.map((on) => [...on])
}

/** Without those that depend on a cycle. */
function inOrder(upstream: readonly (readonly number[])[]): number[] {
  const waitingFor = upstream.map(({ length }) => length)
  const downstream: number[][] = upstream.map(() => [])
  upstream.forEach((all, i) => {
    for (const on of all) downstream[on]!.push(i)
  })
  const order = waitingFor.flatMap((count, i) => (count === 0 ? [i] : []))
  for (let done = 0; done < order.length; done++)
    for (const next of downstream[order[done]!]!) {
      waitingFor[next]! -= 1
      if (waitingFor[next] === 0) order.push(next)
    }
  return order
}
