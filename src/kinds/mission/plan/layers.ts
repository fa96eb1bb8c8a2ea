import type { MissionPlan } from './mission-plan.ts'
import type { Plan, PlanTask, PlanTrack } from './plan.ts'

/** The tasks of a plan, and for each the places of those it waits for in the same list. */
export interface PlanGraph {
  ids: string[]
  waitsFor: number[][]
}

/** Tasks outside the plan are left out. */
export function graphOfMission({ tasks }: MissionPlan): PlanGraph {
  const ids = tasks.map(({ tempId }) => tempId)
  return graphBetween(
    ids,
    tasks.map(({ dependsOn }) => dependsOn.map(({ on }) => on)),
  )
}

/** With what `sequential` and subtasks add: parts wait for what the whole depends on, the whole waits for its parts. */
export function graphOfProject({ tracks }: Plan): PlanGraph {
  const waits = tracks.flatMap((track) => track.tasks.flatMap((task, i) => waitsOf(track, task, i)))
  return graphBetween(
    waits.map(([id]) => id),
    waits.map(([, on]) => on),
  )
}

function waitsOf({ sequential, tasks }: PlanTrack, task: PlanTask, i: number): [string, string[]][] {
  const before = sequential && i > 0 ? [tasks[i - 1]!.key] : []
  const own = [...task.dependsOn, ...before]
  const parts = task.subtasks.map((part): [string, string[]] => [part.key, [...own, ...part.dependsOn]])
  return [[task.key, [...own, ...task.subtasks.map(({ key }) => key)]], ...parts]
}

function graphBetween(ids: string[], on: string[][]): PlanGraph {
  const placeOf = new Map(ids.map((id, place) => [id, place]))
  const waitsFor = on.map((names) => names.map((name) => placeOf.get(name)).filter((at) => at !== undefined))
  return { ids, waitsFor }
}

/** For each task, how many steps the longest way to it has: 0 for one that waits for none. The graph has no cycles. */
export function layersOf({ waitsFor }: PlanGraph): number[] {
  const layers = waitsFor.map(() => 0)
  const waiting = waitsFor.map((upstream) => upstream.length)
  const dependants: number[][] = waitsFor.map(() => [])
  for (const [place, upstream] of waitsFor.entries()) for (const at of upstream) dependants[at]!.push(place)
  const ready = [...waiting.keys()].filter((place) => waiting[place] === 0)
  for (let place = ready.pop(); place !== undefined; place = ready.pop())
    for (const next of dependants[place]!) {
      layers[next] = Math.max(layers[next]!, layers[place]! + 1)
      waiting[next]! -= 1
      if (waiting[next] === 0) ready.push(next)
    }
  return layers
}

/** The ids of each layer, in the order of the plan. */
export function idsByLayer(graph: PlanGraph): string[][] {
  const byLayer: string[][] = []
  for (const [place, layer] of layersOf(graph).entries()) {
    while (byLayer.length <= layer) byLayer.push([])
    byLayer[layer]!.push(graph.ids[place]!)
  }
  return byLayer
}
