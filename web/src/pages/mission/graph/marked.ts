import { isTerminal } from '../../../../../src/pure/states.ts'
import { MOST_EDGES } from '../../../graphs/geometry.ts'
import { longestChain } from '../../../graphs/paths.ts'
import type { TaskEdge, TaskGraph, TaskNode } from '../task-rows.ts'

/** What the edges and nodes of a graph of tasks look like. Pure. */

const hasEnded = ({ state }: TaskNode) => state !== null && isTerminal(state)

/** The longest chain of tasks that are left: it decides when the mission ends. */
export function criticalPath({ nodes, edges }: TaskGraph): string[] {
  const left = nodes.filter((node) => !hasEnded(node)).map(({ id }) => id)
  return longestChain(left, edges)
}

export interface EdgeGroups {
  /** Data edges are solid. */
  data: TaskEdge[]
  /** Order edges are dashed. */
  order: TaskEdge[]
  /** What they waited for has ended: they are faint. */
  metData: TaskEdge[]
  metOrder: TaskEdge[]
  critical: TaskEdge[]
  /** Those of one task, above the others. */
  own: TaskEdge[]
  /** How many are not drawn. */
  left: number
}

/** Groups of edges that look alike. Of too many, only those of the task that is looked at. */
export function edgeGroups(graph: TaskGraph, path: readonly string[], of: string | null): EdgeGroups {
  const groups: EdgeGroups = {
    ...{ data: [], order: [], metData: [], metOrder: [], critical: [], own: [] },
    left: 0,
  }
  const isTooMuch = graph.edges.length > MOST_EDGES
  const ended = new Set(graph.nodes.filter(hasEnded).map(({ id }) => id))
  const next = new Map(path.slice(1).map((id, n) => [path[n]!, id]))
  for (const edge of graph.edges) {
    const { from, to, kind } = edge
    if (from === of || to === of) groups.own.push(edge)
    if (next.get(from) === to) groups.critical.push(edge)
    else if (isTooMuch) groups.left++
    else if (ended.has(from)) groups[kind === 'data' ? 'metData' : 'metOrder'].push(edge)
    else groups[kind].push(edge)
  }
  return groups
}

/** Failed tasks first, then those that move or wait for people: what a reader of a large graph must not miss. */
export function importance({ state }: TaskNode): number {
  if (state === 'failed') return 0
  if (state === null) return 2
  return isTerminal(state) ? 3 : state === 'pending' || state === 'queued' ? 2 : 1
}

/** Where the reader begins: at what failed, else at what moves, else at the first task. */
export function firstOf(nodes: readonly TaskNode[]): string | null {
  let best: TaskNode | null = null
  for (const node of nodes) if (best === null || importance(node) < importance(best)) best = node
  return best?.id ?? null
}

/** Tasks by number or words. */
export function found(
  nodes: readonly TaskNode[],
  text: string,
  nameOf: (id: string) => string,
  most = 20,
): TaskNode[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  const isNumber = /^#?\d+$/.test(wanted)
  const hits: TaskNode[] = []
  for (const node of nodes) {
    const isHit = isNumber
      ? nameOf(node.id) === `#${wanted.replace('#', '')}`
      : node.title.toLowerCase().includes(wanted) || nameOf(node.id).toLowerCase() === wanted
    if (isHit) hits.push(node)
    if (hits.length === most) break
  }
  return hits
}
