import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import { isHeld } from '../../../pure/states.ts'
import type { BudgetChange } from '../../run/rules/budget.ts'
import type { TaskRecord } from '../record.ts'

/** What people change of a task, field by field. */

export interface TaskPatch {
  title?: string | undefined
  description?: string | null | undefined
  tags?: readonly string[] | undefined
  taskType?: string | undefined
  priority?: number | undefined
  maxRetries?: number | undefined
  maxContinuations?: number | undefined
  onlyAgent?: string | null | undefined
  budget?: BudgetChange | undefined
}

/** How it was written at this version: events tell from what it was changed. */
export interface DetailsBefore {
  readonly version: number
  readonly title: string
  readonly taskType: string
  readonly tags: readonly string[]
}

interface FieldChange {
  from?: unknown
  to: unknown
}

const OF_RECORD = ['priority', 'maxRetries', 'maxContinuations', 'onlyAgent'] as const
const OF_DETAILS = ['title', 'taskType', 'tags'] as const

/** From what and to what its short fields change. A task that was changed since it was read does not say from what. */
export function fieldChanges(
  record: TaskRecord,
  patch: TaskPatch,
  before: DetailsBefore | undefined,
): Record<string, FieldChange> {
  const isBefore = before?.version === record.version
  const changes: Record<string, FieldChange> = {}
  for (const name of OF_RECORD)
    if (patch[name] !== undefined) changes[name] = { from: record[name], to: patch[name] }
  for (const name of OF_DETAILS)
    if (patch[name] !== undefined)
      changes[name] = { ...(isBefore && { from: before[name] }), to: patch[name] }
  return changes
}

const MOST_TAGS = 50

/** Tags that are added to those it has may be too many. */
export const whyNotTags = ({ tags }: TaskPatch): Refusal | null =>
  tags !== undefined && tags.length > MOST_TAGS
    ? refuseField('VALIDATION_FAILED', 'tags', `would be ${tags.length}; a task has at most ${MOST_TAGS}`)
    : null

/** Why its type stays: its holder was chosen by it. */
export const whyNotAnotherType = ({ state }: TaskRecord, { taskType }: TaskPatch): Refusal | null =>
  taskType !== undefined && isHeld(state)
    ? refuse(
        'WRONG_STATE',
        `An agent is working on the task: its type can be changed when it is not ${state}.`,
        {
          taskState: state,
        },
      )
    : null
