import type { NewTask } from '../../kinds/task/command.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import { type Refusal, refuseField } from '../../pure/errors.ts'

/** Tasks that are divided into parts. */

/** The tasks of one request, those of them that exist, and the tasks under its locks. */
interface RequestContext {
  wanted: readonly NewTask[]
  known: readonly unknown[]
  recordOf: (id: number) => TaskRecord | undefined
}

/** Why a task cannot become a part of the one it names. */
export function whyNotPart(
  { parent }: NewTask,
  field: string,
  { wanted, known, recordOf }: RequestContext,
): Refusal | null {
  if (!parent) return null
  if ('at' in parent) {
    if (wanted[parent.at]!.parent !== null)
      return refuseField('VALIDATION_FAILED', field, 'names a task that is itself a part')
    // It is not under our lock: to divide an existing task, the caller names it by its id.
    return known[parent.at] === undefined
      ? null
      : refuseField('VALIDATION_FAILED', field, 'names a task that already exists; name it by its id')
  }
  const record = recordOf(parent.id)
  if (record?.uuid !== parent.uuid)
    return refuseField('VALIDATION_FAILED', field, 'names no task of this workspace')
  if (record.parentId !== null)
    return refuseField('VALIDATION_FAILED', field, 'names a task that is itself a part')
  if (record.state !== 'queued' && record.state !== 'pending')
    return refuseField('WRONG_STATE', field, `names a task that is ${record.state}, which cannot be divided`)
  if (record.purpose !== 'work')
    return refuseField(
      'WRONG_STATE',
      field,
      `names a task of the purpose ${record.purpose}, which cannot be divided`,
    )
  if (record.continuation?.wentOnAfter)
    return refuseField('WRONG_STATE', field, 'names a task that has begun, and continues after others')
  return null
}

/** A task with parts in its request is completed by them, whatever its trigger rule; one without is an ordinary task. */
export function asWhole(task: NewTask, parts: readonly number[]): NewTask {
  if (task.merge === 'none' || task.parent !== null) return task
  return parts.length > 0 ? { ...task, triggerRule: 'all_success' } : { ...task, merge: 'none' }
}

/** For each task of the request with parts in it, the indexes of its parts. */
export function partsInRequest(wanted: readonly NewTask[]): Map<number, number[]> {
  const parts = new Map<number, number[]>()
  wanted.forEach(({ parent }, at) => {
    if (!parent || !('at' in parent)) return
    const own = parts.get(parent.at)
    if (own) own.push(at)
    else parts.set(parent.at, [at])
  })
  return parts
}
