import { shortestCycles } from '../../../pure/graph.ts'
import { Uuid } from '../../../pure/shapes.ts'
import type { Position } from './lines.ts'
import { type MissionEdge, type MissionTask, outsideId } from './mission-plan.ts'
import type { Path } from './path.ts'
import { type Problems, quote, whereIs } from './problems.ts'

/** A task as far as it could be read, with the places of its parts. */
export interface MissionDraft {
  task: MissionTask
  hasId: boolean
  idAt: Position
  idPath: Path
  edges: DraftEdge[]
  ruleAt: Position
  rulePath: Path
}

export interface DraftEdge extends MissionEdge {
  at: Position
  path: Path
}

/** Checks tasks against each other: unique ids, and dependencies on known tasks without cycles. */
export function checkMission(drafts: readonly MissionDraft[], problems: Problems): void {
  const placeOf = indexById(drafts, problems)
  const graph = drafts.map((draft) => upstreamOf(draft, placeOf, problems))
  for (const draft of drafts) checkRule(draft, problems)
  for (const cycle of shortestCycles(graph)) {
    const names = [...cycle, cycle[0]!].map((place) => drafts[place]!.task.tempId)
    const next = drafts[cycle[1]!]!.task.tempId
    const { at, path } = drafts[cycle[0]!]!.edges.find(({ on }) => on === next)!
    problems.report(at, path, `closes a dependency cycle: ${names.join(' → ')}`)
  }
}

function indexById(drafts: readonly MissionDraft[], problems: Problems): ReadonlyMap<string, number> {
  const placeOf = new Map<string, number>()
  for (const [place, { task, hasId, idAt, idPath }] of drafts.entries()) {
    if (!hasId) continue
    const first = placeOf.get(task.tempId)
    if (first === undefined) placeOf.set(task.tempId, place)
    else {
      const where = whereIs(drafts[first]!.idAt, drafts[first]!.idPath)
      problems.report(idAt, idPath, `is ${quote(task.tempId)}, which is already used ${where}`)
    }
  }
  return placeOf
}

/** The places of the tasks of the plan that it depends on. */
function upstreamOf(
  { task, edges }: MissionDraft,
  placeOf: ReadonlyMap<string, number>,
  problems: Problems,
): number[] {
  const listed = new Map<string, DraftEdge>()
  const upstream: number[] = []
  for (const edge of edges) {
    const first = listed.get(edge.on)
    const why = first
      ? `is ${quote(edge.on)} again, which is already listed ${whereIs(first.at, first.path)}`
      : whyNotUpstream(edge, task, placeOf)
    if (why !== null) problems.report(edge.at, edge.path, why)
    if (first) continue
    listed.set(edge.on, edge)
    const place = placeOf.get(edge.on)
    if (why === null && place !== undefined) upstream.push(place)
  }
  return upstream
}

function whyNotUpstream(
  edge: DraftEdge,
  task: MissionTask,
  placeOf: ReadonlyMap<string, number>,
): string | null {
  const taskId = outsideId(edge)
  if (taskId !== null)
    return Uuid.safeParse(taskId).success
      ? null
      : `is ${quote(edge.on)}; a task outside the plan is written task: and its id`
  if (edge.on === task.tempId) return 'is the task itself; a task cannot depend on itself'
  return placeOf.has(edge.on) ? null : `is ${quote(edge.on)}, which is not in the plan`
}

/** Without dependencies none of them ever succeeds, and the task would be skipped. */
function checkRule({ task, edges, ruleAt, rulePath }: MissionDraft, problems: Problems): void {
  if (task.triggerRule === 'one_success' && edges.length === 0)
    problems.report(ruleAt, rulePath, 'is one_success, which needs at least one dependency')
}
