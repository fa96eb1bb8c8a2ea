import type { AnswerTo } from '../../../../src/client/client.ts'
import type { TaskState } from '../../../../src/pure/states.ts'
import type { LiveEvent } from '../../live/card.ts'

/** The tasks of a mission and the edges between them; and by layers. Pure. */

type Answer = AnswerTo<'GET', '/missions/:id/graph'>
type Rows = Extract<Answer, { nodes: readonly unknown[] }>
export type TaskNode = Rows['nodes'][number]
export type TaskEdge = Rows['edges'][number]

export interface TaskGraph {
  readonly nodes: readonly TaskNode[]
  /** Between these nodes: what is outside of the mission is on the page of the task. */
  readonly edges: readonly TaskEdge[]
}

/** From lists in one order. Verifications, and what plans and reports are made by, are no work of the mission. */
export function graphFrom(answer: Answer): TaskGraph {
  const { nodes, edges } = 'outside' in answer ? fromColumns(answer) : answer
  const work = nodes.filter(({ purpose }) => purpose === 'work')
  const ids = new Set(work.map(({ id }) => id))
  return { nodes: work, edges: edges.filter(({ from, to }) => ids.has(from) && ids.has(to)) }
}

function fromColumns({ nodes, edges, outside }: Exclude<Answer, Rows>): Pick<Rows, 'nodes' | 'edges'> {
  const idAt = (place: number) => nodes.id[place] ?? outside[place - nodes.id.length] ?? ''
  return {
    nodes: nodes.id.map((id, place) => ({
      id,
      number: nodes.number[place] ?? null,
      title: nodes.title[place] ?? '',
      state: nodes.state[place] ?? null,
      layer: nodes.layer[place] ?? 0,
      purpose: nodes.purpose[place] ?? 'work',
      agent: nodes.agent[place] ?? null,
      attempt: nodes.attempt[place] ?? 0,
      costUsd: nodes.costUsd[place] ?? null,
      isSimulated: nodes.isSimulated[place] ?? false,
    })),
    edges: edges.from.map((from, place) => ({
      from: idAt(from),
      to: idAt(edges.to[place] ?? -1),
      kind: edges.kind[place] ?? 'order',
    })),
  }
}

/** A task moved: its node alone is another one. */
export function movedIn(graph: TaskGraph, { taskId, to }: LiveEvent): TaskGraph {
  const place = to === null || taskId === null ? -1 : graph.nodes.findIndex(({ id }) => id === taskId)
  if (place === -1 || graph.nodes[place]!.state === to) return graph
  const nodes = [...graph.nodes]
  nodes[place] = { ...nodes[place]!, state: to as TaskState }
  return { ...graph, nodes }
}

/** A task that agents or people added is not of the plan, and has no place in it. */
export const isAdded = ({ number, state }: TaskNode) => number === null && state !== null

/** In the order of the plan; what was added comes last. */
const inOrder = (a: TaskNode, b: TaskNode) =>
  (a.number ?? Number.MAX_SAFE_INTEGER) - (b.number ?? Number.MAX_SAFE_INTEGER) || (a.id < b.id ? -1 : 1)

/** Layers that have tasks, the first first, and of them as many tasks as there is room for. */
export function layersOfTasks(
  nodes: readonly TaskNode[],
  most: number,
): { layer: number; tasks: TaskNode[] }[] {
  const layers = new Map<number, TaskNode[]>()
  const shown = [...nodes].sort((a, b) => a.layer - b.layer || inOrder(a, b)).slice(0, most)
  for (const node of shown) layers.set(node.layer, [...(layers.get(node.layer) ?? []), node])
  return [...layers].map(([layer, tasks]) => ({ layer, tasks }))
}
