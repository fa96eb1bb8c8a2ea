/** Cycles in directed graphs, and among tasks that depend on each other. */

/** For each node, the nodes its edges lead to. */
type Graph = readonly (readonly number[])[]

/** The number of edges visited per component; after that the shortest cycle found so far is the answer. Only huge ones get there. */
const EDGE_LIMIT = 5_000_000

/**
 * One cycle of each strongly connected component, the shortest in it, starting at its lowest node. Edges from a node to
 * itself are ignored. Nothing here is recursive: a chain of ten thousand tasks would overflow the stack.
 */
export function shortestCycles(graph: Graph, edgeLimit = EDGE_LIMIT): number[][] {
  return stronglyConnected(graph).map((component) => shortestCycle(graph, component, edgeLimit))
}

/** Tarjan's algorithm: the sets of two or more nodes in which every node reaches every other. */
function stronglyConnected(graph: Graph): number[][] {
  const components: number[][] = []
  const order = new Int32Array(graph.length).fill(-1)
  const lowest = new Int32Array(graph.length)
  const isOpen = new Uint8Array(graph.length)
  const nextEdge = new Int32Array(graph.length)
  const open: number[] = []
  let count = 0
  for (let root = 0; root < graph.length; root++) {
    const path = order[root] === -1 ? [root] : []
    while (path.length > 0) {
      const node = path.at(-1)!
      if (order[node] === -1) {
        order[node] = lowest[node] = count++
        open.push(node)
        isOpen[node] = 1
      }
      const to = graph[node]![nextEdge[node]!++]
      if (to !== undefined) {
        if (order[to] === -1) path.push(to)
        else if (isOpen[to]) lowest[node] = Math.min(lowest[node]!, order[to]!)
        continue
      }
      path.pop()
      const from = path.at(-1)
      if (from !== undefined) lowest[from] = Math.min(lowest[from]!, lowest[node]!)
      if (lowest[node] !== order[node]) continue
      const component = open.splice(open.lastIndexOf(node))
      for (const member of component) isOpen[member] = 0
      if (component.length > 1) components.push(component.sort((one, other) => one - other))
    }
  }
  return components
}

function shortestCycle(graph: Graph, component: readonly number[], edgeLimit: number): number[] {
  const left = remainderOf(graph, component)
  const search = { visited: 0 }
  let best: number[] | null = null
  for (const start of component) {
    if (!left.has(start)) continue
    const cycle = cycleThrough(graph, start, left.has, best?.length ?? Number.POSITIVE_INFINITY, search)
    best = cycle ?? best
    if (best?.length === 2 || search.visited > edgeLimit) break
    // All other cycles do not contain this node.
    left.remove(start)
  }
  return best!
}

/** The shortest cycle through a node, among the nodes that are left, starting at that node. */
const shortestCycleThrough = (graph: Graph, start: number, isLeft: (node: number) => boolean) =>
  cycleThrough(graph, start, isLeft, Number.POSITIVE_INFINITY, { visited: 0 })

/** The same, if it is shorter than `limit`: breadth first. */
function cycleThrough(
  graph: Graph,
  start: number,
  isLeft: (node: number) => boolean,
  limit: number,
  search: { visited: number },
): number[] | null {
  const cameFrom = new Map<number, number>([[start, start]])
  let border = [start]
  for (let length = 1; border.length > 0 && length < limit; length++) {
    const next: number[] = []
    for (const node of border)
      for (const to of graph[node]!) {
        search.visited++
        if (to === start && node !== start) return pathTo(node, cameFrom)
        if (cameFrom.has(to) || !isLeft(to)) continue
        cameFrom.set(to, node)
        next.push(to)
      }
    border = next
  }
  return null
}

function pathTo(end: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const path = [end]
  for (let node = end; cameFrom.get(node) !== node; path.push(node)) node = cameFrom.get(node)!
  return path.reverse()
}

/** The nodes of a component, without the removed ones and those that are on no cycle without them. */
function remainderOf(graph: Graph, component: readonly number[]) {
  const left = new Set(component)
  const edgesOut = new Map<number, number>()
  const edgesIn = new Map<number, number>()
  const sources = new Map<number, number[]>(component.map((node) => [node, []]))
  for (const node of component)
    for (const to of graph[node]!) {
      if (to === node || !left.has(to)) continue
      sources.get(to)!.push(node)
      edgesIn.set(to, (edgesIn.get(to) ?? 0) + 1)
      edgesOut.set(node, (edgesOut.get(node) ?? 0) + 1)
    }
  /** Removes one edge at this node; true when it was the last. */
  const isLast = (edges: Map<number, number>, node: number) => {
    const count = edges.get(node)! - 1
    edges.set(node, count)
    return count === 0
  }
  const remove = (first: number) => {
    const removing = [first]
    left.delete(first)
    for (let node = removing.pop(); node !== undefined; node = removing.pop()) {
      const disconnect = (other: number, edges: Map<number, number>) => {
        if (other === node || !left.has(other) || !isLast(edges, other)) return
        left.delete(other)
        removing.push(other)
      }
      for (const to of graph[node]!) disconnect(to, edgesIn)
      for (const from of sources.get(node)!) disconnect(from, edgesOut)
    }
  }
  return { has: (node: number) => left.has(node), remove }
}

/** A task, and the tasks it depends on. */
export interface DependentTask {
  readonly id: number
  readonly uuid: string
  readonly waitsFor: readonly number[]
}

export interface CyclicTasks<T> {
  /** The tasks of one strongly connected component. */
  readonly members: readonly T[]
  /** For each member one cycle it is on: uuids in order of dependency, each once. */
  readonly cycles: readonly (readonly string[])[]
}

/** Tasks that depend on each other, one entry for each strongly connected component. */
export function cyclesAmong<T extends DependentTask>(tasks: readonly T[]): CyclicTasks<T>[] {
  const graph = graphOf(tasks)
  return stronglyConnected(graph).map((component) => {
    const isIn = new Set(component)
    const cycleOf = new Map<number, readonly string[]>()
    for (const member of component) {
      if (cycleOf.has(member)) continue
      const cycle = shortestCycleThrough(graph, member, (node) => isIn.has(node))!
      const uuids = cycle.map((place) => tasks[place]!.uuid)
      for (const place of cycle) if (!cycleOf.has(place)) cycleOf.set(place, uuids)
    }
    return {
      members: component.map((place) => tasks[place]!),
      cycles: component.map((place) => cycleOf.get(place)!),
    }
  })
}

/** The cycle that closes when this task depends on these as well: uuids from the task on; null when none does. */
export function cycleClosedBy(
  task: { id: number; uuid: string },
  upstream: readonly number[],
  waiting: readonly DependentTask[],
): string[] | null {
  const all = [{ ...task, waitsFor: upstream }, ...waiting.filter(({ id }) => id !== task.id)]
  return shortestCycleThrough(graphOf(all), 0, () => true)?.map((place) => all[place]!.uuid) ?? null
}

/** Tasks by their index in the list; dependencies on others are left out. */
function graphOf(tasks: readonly DependentTask[]): Graph {
  const placeOf = new Map(tasks.map(({ id }, place) => [id, place]))
  return tasks.map(({ waitsFor }) => waitsFor.map((id) => placeOf.get(id)).filter((to) => to !== undefined))
}

const NAMED = 20

/** For people, with the first task repeated at the end. Of a long cycle only the first tasks are named. */
export function describeCycle(cycle: readonly string[]): string {
  const shown = cycle.length <= NAMED ? cycle : [...cycle.slice(0, NAMED), `… ${cycle.length - NAMED} more …`]
  return [...shown, cycle[0]].join(' → ')
}
