import { canonicalJson } from './canonical.ts'
import type { MissionEdge, MissionPlan, MissionTask } from './mission-plan.ts'

/** What differs between two versions of a mission's plan. Tasks are the same when they have the same tempId. */
export interface PlanChanges {
  /** Fields of the plan itself. */
  fields: ChangedField[]
  /** tempIds, in the order of the later plan. */
  added: string[]
  /** tempIds, in the order of the earlier plan. */
  removed: string[]
  changed: { tempId: string; fields: ChangedField[] }[]
  edges: { added: ChangedEdge[]; removed: ChangedEdge[] }
}

interface ChangedField {
  field: string
  before: unknown
  after: unknown
}

/** From the task that is waited for. */
interface ChangedEdge {
  from: string
  to: string
  kind: MissionEdge['kind']
}

export function comparePlans(before: MissionPlan, after: MissionPlan): PlanChanges {
  const earlier = new Map(before.tasks.map((task) => [task.tempId, task]))
  const later = new Map(after.tasks.map((task) => [task.tempId, task]))
  const changed = after.tasks.flatMap((task) => {
    const known = earlier.get(task.tempId)
    const fields = known ? changedFields(known, task, ['tempId', 'dependsOn']) : []
    return fields.length > 0 ? [{ tempId: task.tempId, fields }] : []
  })
  return {
    fields: changedFields(before, after, ['tasks']),
    added: [...later.keys()].filter((id) => !earlier.has(id)),
    removed: [...earlier.keys()].filter((id) => !later.has(id)),
    changed,
    edges: { added: newEdges(before, after), removed: newEdges(after, before) },
  }
}

function changedFields<T extends MissionPlan | MissionTask>(
  before: T,
  after: T,
  apart: readonly (keyof T)[],
): ChangedField[] {
  return (Object.keys(after) as (keyof T & string)[])
    .filter((field) => !apart.includes(field))
    .filter((field) => !isSame(before[field], after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }))
}

const isSame = (one: unknown, other: unknown) => one === other || canonicalJson(one) === canonicalJson(other)

/** Those of the second plan that the first has not: an edge of another kind is another edge. */
function newEdges(before: MissionPlan, after: MissionPlan): ChangedEdge[] {
  // Ids have no line breaks.
  const nameOf = ({ from, to, kind }: ChangedEdge) => `${from}\n${to}\n${kind}`
  const known = new Set(before.tasks.flatMap(edgesOf).map(nameOf))
  return after.tasks.flatMap(edgesOf).filter((edge) => !known.has(nameOf(edge)))
}

const edgesOf = ({ tempId, dependsOn }: MissionTask): ChangedEdge[] =>
  dependsOn.map(({ on, kind }) => ({ from: on, to: tempId, kind }))
