import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import type { TaskState } from '../../../pure/states.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { moveByUpstream } from './upstream.ts'
import { countOf, minus } from './upstream-counts.ts'

/** A task no longer waits for others. What they contributed to its counts goes with them. */

type Remove = NonNullable<Extract<TaskCommand, { kind: 'changeDependencies' }>['remove']>

/** What has an attempt was told what it depends on; what has ended is not read again. */
const MAY_CHANGE: readonly TaskState[] = ['pending', 'queued', 'paused', 'awaiting_retry']

export function whyNotRemoved(
  { record }: TaskDraft,
  { on }: Remove,
  { dependencyOf }: RuleContext,
): Refusal | null {
  const unknown = on.find(({ id }) => !dependencyOf?.(record.id, id))
  if (unknown)
    return refuseField(
      'VALIDATION_FAILED',
      `removeDependsOn[${unknown.place}]`,
      'is not a dependency of this task',
    )
  const { state } = record
  if (!MAY_CHANGE.includes(state))
    return refuse('WRONG_STATE', `A task that is ${state} keeps what it depends on.`, { taskState: state })
  return record.merge === 'none'
    ? null
    : refuse('WRONG_STATE', 'The task was divided: it waits for its parts, and keeps what it depends on.')
}

export function removeDependencies(draft: TaskDraft, { on, areAll }: Remove, context: RuleContext): void {
  const { record, effects } = draft
  const taskId = record.id
  const gone = on.map(({ id, uuid }) => ({ id, uuid, known: context.dependencyOf!(taskId, id)! }))
  draft.touch()
  for (const { id, uuid, known } of gone)
    effects.removed.push({ taskId, dependsOn: id, dependsOnUuid: uuid, rule: known.rule })
  draft.note('task_updated', context.actor, {
    fields: ['dependsOn'],
    removedDependencies: gone.map(({ uuid }) => uuid),
  })
  const { upstream, blocked, continuation } = record
  // A task that continues after others counted only those.
  const counted = gone.filter(({ id }) => continuation?.goesOnAfter?.includes(id) ?? true)
  // While it does not wait, nothing needs to be counted.
  const counts =
    blocked && upstream
      ? minus(
          upstream,
          counted.map(({ known }) => known.outcome),
        )
      : null
  record.upstream = areAll ? null : counts
  if (continuation?.goesOnAfter)
    record.continuation = {
      ...continuation,
      goesOnAfter: continuation.goesOnAfter.filter((id) => !gone.some((one) => one.id === id)),
    }
}

/** It may have waited only for those. */
export function goOnWithout(draft: TaskDraft, { areAll }: Remove, context: RuleContext): void {
  const { record } = draft
  const { upstream, continuation } = record
  const waitsForNone = areAll || continuation?.goesOnAfter?.length === 0
  if (waitsForNone) record.upstream = countOf('always', [])
  moveByUpstream(draft, context)
  record.upstream = waitsForNone ? null : upstream
}
