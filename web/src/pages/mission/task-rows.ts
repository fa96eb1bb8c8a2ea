import type { AnswerTo } from '../../../../src/client/client.ts'

/** The tasks of a mission by layers: those of one layer can be worked on at the same time. Pure. */

type Graph = Extract<AnswerTo<'GET', '/missions/:id/graph'>, { nodes: readonly unknown[] }>
export type TaskNode = Graph['nodes'][number]

/** In the order of the plan; what agents added comes last. */
const inOrder = (a: TaskNode, b: TaskNode) =>
  (a.number ?? Number.MAX_SAFE_INTEGER) - (b.number ?? Number.MAX_SAFE_INTEGER) || (a.id < b.id ? -1 : 1)

/** Layers that have tasks, the first first, and of them as many tasks as there is room for. */
export function layersOfTasks(
  nodes: readonly TaskNode[],
  most: number,
): { layer: number; tasks: TaskNode[] }[] {
  const layers = new Map<number, TaskNode[]>()
  const work = nodes.filter(({ purpose }) => purpose === 'work')
  const shown = work.sort((a, b) => a.layer - b.layer || inOrder(a, b)).slice(0, most)
  for (const node of shown) layers.set(node.layer, [...(layers.get(node.layer) ?? []), node])
  return [...layers].map(([layer, tasks]) => ({ layer, tasks }))
}

export const workIn = (nodes: readonly TaskNode[]) => nodes.filter(({ purpose }) => purpose === 'work').length
