import { isTerminal, type TaskState } from '../../../pure/states.ts'
import { comparePlans } from './compare.ts'
import type { MissionPlan } from './mission-plan.ts'

/** What the approval of a newer plan would do to the tasks of a mission that runs. */

/** A task of the plan that is followed now. */
export interface PlannedTask {
  readonly tempId: string
  readonly uuid: string
  readonly state: TaskState
  /** 0: never claimed. */
  readonly generation: number
}

export interface PlanPreview {
  /** tempIds, in the order of the newer plan. */
  added: string[]
  changed: {
    tempId: string
    taskId: string
    fields: string[]
    /** Work that was begun continues: its next attempt gets the new words. */
    when: 'now' | 'next_attempt'
  }[]
  cancelled: { tempId: string; taskId: string }[]
  kept: {
    tempId: string
    taskId: string
    /** Why it stays although the newer plan says otherwise, or leaves it out. */
    because: 'ended' | 'begun' | null
  }[]
}

/** What a task that was begun takes over; what it depends on is past. */
const NOT_TAKEN_LATER = new Set(['dependsOn', 'triggerRule'])

/**
 * By tempId: what ended stays; what was never claimed is changed or cancelled; what was begun is changed for its next attempt,
 * and cancelled only if the plan or its approval says so.
 */
export function previewOf(
  followed: MissionPlan,
  newer: MissionPlan,
  tasks: readonly PlannedTask[],
  cancel: ReadonlySet<string>,
): PlanPreview {
  const preview: PlanPreview = { added: [], changed: [], cancelled: [], kept: [] }
  const existing = new Map(tasks.map((task) => [task.tempId, task]))
  const planned = new Map(newer.tasks.map((task) => [task.tempId, task]))
  const fieldsOf = changedFields(followed, newer)
  preview.added = [...planned.keys()].filter((tempId) => !existing.has(tempId))
  for (const { tempId, uuid, state, generation } of existing.values()) {
    const own = { tempId, taskId: uuid }
    const isWanted = planned.has(tempId)
    const isBegun = generation > 0
    const mustEnd = cancel.has(tempId) || planned.get(tempId)?.cancel === true
    if (isTerminal(state)) preview.kept.push({ ...own, because: isWanted ? null : 'ended' })
    else if (mustEnd || (!isWanted && !isBegun)) preview.cancelled.push(own)
    else if (!isWanted) preview.kept.push({ ...own, because: 'begun' })
    else {
      const all = fieldsOf.get(tempId) ?? []
      const fields = isBegun ? all.filter((field) => !NOT_TAKEN_LATER.has(field)) : all
      if (fields.length > 0) preview.changed.push({ ...own, fields, when: isBegun ? 'next_attempt' : 'now' })
      else preview.kept.push({ ...own, because: all.length > 0 ? 'begun' : null })
    }
  }
  return preview
}

/** The names of what differs, by tempId. */
function changedFields(followed: MissionPlan, newer: MissionPlan): Map<string, string[]> {
  const { changed, edges } = comparePlans(followed, newer)
  const fields = new Map(changed.map(({ tempId, fields }) => [tempId, fields.map(({ field }) => field)]))
  for (const { to } of [...edges.added, ...edges.removed]) {
    const known = fields.get(to) ?? []
    if (!known.includes('dependsOn')) fields.set(to, [...known, 'dependsOn'])
  }
  return fields
}
