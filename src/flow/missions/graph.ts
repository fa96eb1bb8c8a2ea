import { graphOfMission, layersOf } from '../../core/plans/layers.ts'
import { outsideId } from '../../core/plans/mission-plan.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { MissionGraph } from '../../core/shapes/missions.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { requireMission } from './missions.ts'
import { missionPlan } from './plan-tasks.ts'

/** A mission as a graph: its tasks in layers, and the edges between them. */

type Graph = AnswerOf<typeof MissionGraph>

export async function missionGraph(kernel: ServerKernel, caller: Caller, uuid: string): Promise<Graph> {
  const { workspaceId } = caller
  const mission = await requireMission(kernel, caller, uuid)
  if (mission.approved === null && mission.plan) {
    const stored = await kernel.store.missions.plan(workspaceId, mission.id, mission.plan.version)
    return { ...graphOfPlan(JSON.parse(stored!.body!)), seq: await kernel.store.lastSeq(workspaceId) }
  }
  const { nodes, edges, seq } = await kernel.store.missions.graph(workspaceId, mission.id)
  const placeOf = new Map(nodes.map(({ id }, place) => [id, place]))
  const waitsFor: number[][] = nodes.map(() => [])
  for (const { from, to } of edges) {
    const [on, place] = [placeOf.get(from), placeOf.get(to)]
    if (on !== undefined && place !== undefined) waitsFor[place]!.push(on)
  }
  const layers = layersOf({ ids: [], waitsFor })
  return { nodes: nodes.map((node, place) => ({ ...node, layer: layers[place]! })), edges, seq }
}

/** Before approval there are no tasks: their ids are those of the plan. */
function graphOfPlan(body: unknown): Pick<Graph, 'nodes' | 'edges'> {
  const plan = missionPlan(body)
  const { tasks } = plan
  const layers = layersOf(graphOfMission(plan))
  return {
    nodes: tasks.map(({ tempId, title, agent }, place) => ({
      id: tempId,
      number: place + 1,
      title,
      state: null,
      layer: layers[place]!,
      purpose: 'work',
      agent,
      attempt: 0,
      costUsd: null,
    })),
    edges: tasks.flatMap(({ tempId, dependsOn }) =>
      dependsOn
        .filter((edge) => outsideId(edge) === null)
        .map(({ on, kind }) => ({ from: on, to: tempId, kind })),
    ),
  }
}
