/** For each node, the nodes its edges lead to. */
type Graph = readonly (readonly number[])[]

/** So many edges are walked for a knot; the shortest cycle seen until then must do. Only huge tangles get there. */
const PATIENCE = 5_000_000

/**
 * One cycle of each knot (strongly connected component), the shortest in it, from its lowest node on. Edges from a node to
 * itself are not looked at. Nothing here calls itself: a chain of ten thousand tasks would be a stack as deep.
 */
export function shortestCycles(graph: Graph, storeRetry = PATIENCE): number[][] {
  return stronglyConnected(graph).map((component) => shortestCycle(graph, component, storeRetry))
}

/** Tarjan's algorithm: the sets of nodes, of two and more, in which each leads to each. */
export function stronglyConnected(graph: Graph): number[][] {
  const components: number[][] = []
  const order = new Int32Array(graph.length).fill(-1)
  const lowest = new Int32Array(graph.length)
  const isOpen = new Uint8Array(graph.length)
  const nextEdge = new Int32Array(graph.length)
  const open: number[] = []
  let count = 0
  for (let root = 0; root < graph.length; root++) {
    const way = order[root] === -1 ? [root] : []
    while (way.length > 0) {
      const node = way.at(-1)!
      if (order[node] === -1) {
        order[node] = lowest[node] = count++
        open.push(node)
        isOpen[node] = 1
      }
      const to = graph[node]![nextEdge[node]!++]
      if (to !== undefined) {
        if (order[to] === -1) way.push(to)
        else if (isOpen[to]) lowest[node] = Math.min(lowest[node]!, order[to]!)
        continue
      }
      way.pop()
      const from = way.at(-1)
      if (from !== undefined) lowest[from] = Math.min(lowest[from]!, lowest[node]!)
      if (lowest[node] !== order[node]) continue
      const component = open.splice(open.lastIndexOf(node))
      for (const member of component) isOpen[member] = 0
      if (component.length > 1) components.push(component.sort((one, other) => one - other))
    }
  }
  return components
}

function shortestCycle(graph: Graph, component: readonly number[], storeRetry: number): number[] {
  const left = remainderOf(graph, component)
  const search = { walked: 0 }
  let best: number[] | null = null
  for (const start of component) {
    if (!left.has(start)) continue
    const cycle = cycleThrough(graph, start, left.has, best?.length ?? Number.POSITIVE_INFINITY, search)
    best = cycle ?? best
    if (best?.length === 2 || search.walked > storeRetry) break
    // All other cycles do without this node.
    left.remove(start)
  }
  return best!
}

/** The shortest cycle through a node, among the nodes that are left: from that node on. */
export const shortestCycleThrough = (graph: Graph, start: number, isLeft: (node: number) => boolean) =>
  cycleThrough(graph, start, isLeft, Number.POSITIVE_INFINITY, { walked: 0 })

/** The same, if it is shorter than `limit`: breadth first. */
function cycleThrough(
  graph: Graph,
  start: number,
  isLeft: (node: number) => boolean,
  limit: number,
  search: { walked: number },
): number[] | null {
  const cameFrom = new Map<number, number>([[start, start]])
  let border = [start]
  for (let length = 1; border.length > 0 && length < limit; length++) {
    const next: number[] = []
    for (const node of border)
      for (const to of graph[node]!) {
        search.walked++
        if (to === start && node !== start) return wayTo(node, cameFrom)
        if (cameFrom.has(to) || !isLeft(to)) continue
        cameFrom.set(to, node)
        next.push(to)
      }
    border = next
  }
  return null
}

function wayTo(end: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const way = [end]
  for (let node = end; cameFrom.get(node) !== node; way.push(node)) node = cameFrom.get(node)!
  return way.reverse()
}

/** The nodes of a knot, less those removed and those that can be on no cycle without them. */
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
  /** Takes one edge away at this node; true when it was the last. */
  const isLast = (edges: Map<number, number>, node: number) => {
    const count = edges.get(node)! - 1
    edges.set(node, count)
    return count === 0
  }
  const remove = (first: number) => {
    const going = [first]
    left.delete(first)
    for (let node = going.pop(); node !== undefined; node = going.pop()) {
      const leave = (other: number, edges: Map<number, number>) => {
        if (other === node || !left.has(other) || !isLast(edges, other)) return
        left.delete(other)
        going.push(other)
      }
      for (const to of graph[node]!) leave(to, edgesIn)
      for (const from of sources.get(node)!) leave(from, edgesOut)
    }
  }
  return { has: (node: number) => left.has(node), remove }
}
