import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { graphOfMission, layersOf } from '../plan/layers.ts'
import { outsideId } from '../plan/mission-plan.ts'
import { taskGraphOf } from '../postgres/reads.ts'
import type { MissionRecord } from '../record.ts'
import type { MissionColumns, MissionGraph } from '../shapes/missions.ts'
import { contractorsOf } from './contractors.ts'
import { requireMission } from './missions.ts'
import { missionPlan } from './plan-tasks.ts'

/** A mission as a graph: its tasks in layers, and the edges between them. */

type Graph = AnswerOf<typeof MissionGraph>

export async function missionGraph(kernel: ServerKernel, caller: Caller, uuid: string): Promise<Graph> {
  const { workspaceId } = caller
  // Before the plan: of what changes meanwhile, the reader gets the events.
  const lastSeq = await kernel.store.lastSeq(workspaceId)
  const mission = await requireMission(kernel, caller, uuid)
  if (mission.approved === null && mission.plan) {
    const stored = await kernel.store.missions.plan(workspaceId, mission.id, mission.plan.version)
    return { ...graphOfPlan(JSON.parse(stored!.body!), mission), seq: lastSeq }
  }
  const { nodes, edges, seq } = await taskGraphOf(kernel.store.readers, workspaceId, mission.id)
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
function graphOfPlan(body: unknown, mission: MissionRecord): Pick<Graph, 'nodes' | 'edges'> {
  const plan = missionPlan(body)
  const contractorOf = contractorsOf(mission)
  const { tasks } = plan
  const layers = layersOf(graphOfMission(plan))
  return {
    nodes: tasks.map(({ tempId, title, agent, contractor }, place) => ({
      id: tempId,
      number: place + 1,
      title,
      state: null,
      layer: layers[place]!,
      purpose: 'work',
      agent: contractorOf(contractor)?.slug ?? agent,
      attempt: 0,
      costUsd: null,
      isSimulated: false,
    })),
    edges: tasks.flatMap(({ tempId, dependsOn }) =>
      dependsOn
        .filter((edge) => outsideId(edge) === null)
        .map(({ on, kind }) => ({ from: on, to: tempId, kind })),
    ),
  }
}

/** The same as lists of equal length: ten thousand tasks without ten thousand times the names of their fields. */
export function inColumns({ nodes, edges, seq }: Graph): AnswerOf<typeof MissionColumns> {
  const placeOf = new Map(nodes.map(({ id }, place) => [id, place]))
  const outside: string[] = []
  const place = (id: string) => {
    const known = placeOf.get(id)
    if (known !== undefined) return known
    placeOf.set(id, nodes.length + outside.push(id) - 1)
    return placeOf.get(id)!
  }
  return {
    nodes: {
      id: nodes.map(({ id }) => id),
      number: nodes.map(({ number }) => number),
      title: nodes.map(({ title }) => title),
      state: nodes.map(({ state }) => state),
      layer: nodes.map(({ layer }) => layer),
      purpose: nodes.map(({ purpose }) => purpose),
      agent: nodes.map(({ agent }) => agent),
      attempt: nodes.map(({ attempt }) => attempt),
      costUsd: nodes.map(({ costUsd }) => costUsd),
      isSimulated: nodes.map(({ isSimulated }) => isSimulated),
    },
    edges: {
      from: edges.map(({ from }) => place(from)),
      to: edges.map(({ to }) => place(to)),
      kind: edges.map(({ kind }) => kind),
    },
    outside,
    seq,
  }
}
