/** For each node, the nodes its edges lead to. */
type Graph = readonly (readonly number[])[]

/** So many edges are walked for a knot; the shortest cycle seen until then must do. Only huge tangles get there. */
const PATIENCE = 5_000_000

/**
 * One cycle of each knot (strongly connected component), the shortest in it, from its lowest node on. Edges from a node to
 * itself are not looked at. Nothing here calls itself: a chain of ten thousand tasks would be a stack as deep.
 */
export function cyclesIn(graph: Graph, patience = PATIENCE): number[][] {
  return knotsIn(graph).map((knot) => shortestCycle(graph, knot, patience))
}

/** Tarjan's algorithm: the sets of nodes, of two and more, in which each leads to each. */
export function knotsIn(graph: Graph): number[][] {
  const knots: number[][] = []
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
      const knot = open.splice(open.lastIndexOf(node))
      for (const member of knot) isOpen[member] = 0
      if (knot.length > 1) knots.push(knot.sort((one, other) => one - other))
    }
  }
  return knots
}

function shortestCycle(graph: Graph, knot: readonly number[], patience: number): number[] {
  const left = remainderOf(graph, knot)
  const search = { walked: 0 }
  let best: number[] | null = null
  for (const start of knot) {
    if (!left.has(start)) continue
    const cycle = cycleThrough(graph, start, left.has, best?.length ?? Number.POSITIVE_INFINITY, search)
    best = cycle ?? best
    if (best?.length === 2 || search.walked > patience) break
    // All other cycles do without this node.
    left.remove(start)
  }
  return best!
}

/** The shortest cycle through a node, among the nodes that are left: from that node on. */
export const circleThrough = (graph: Graph, start: number, isLeft: (node: number) => boolean) =>
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
function remainderOf(graph: Graph, knot: readonly number[]) {
  const left = new Set(knot)
  const edgesOut = new Map<number, number>()
  const edgesIn = new Map<number, number>()
  const sources = new Map<number, number[]>(knot.map((node) => [node, []]))
  for (const node of knot)
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
