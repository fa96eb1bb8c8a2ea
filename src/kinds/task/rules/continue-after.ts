import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import { describeCycle } from '../../../pure/graph.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { fail, whatRanOut } from './attempts.ts'
import { areTogether } from './children.ts'
import { goOn } from './continuation.ts'
import { moveByUpstream } from './upstream.ts'
import { countOf, outcomeOf, type UpstreamReport } from './upstream-counts.ts'

type Continue = Extract<TaskCommand, { kind: 'continue' }>
type After = NonNullable<Continue['after']>

/**
 * The holder continues when other tasks of its mission have ended. Its fence was checked. The claim ends, so that its agent has room
 * for those tasks, and no attempt is spent. However they end, it then continues where it stood.
 */
export function continueAfter(
  draft: TaskDraft,
  { after, spent }: Continue & { after: After },
  context: RuleContext,
): TaskReply {
  const { record } = draft
  const refusal = whyNot(record, after, context)
  if (refusal) return refusal
  const reply: TaskReply = { ok: true, reason: 'CONTINUING', resumeAfterMs: 0, record }
  const who = { agent: record.agent!, session: record.session! }
  draft.endClaim('CONTINUES_LATER')
  record.attempt -= 1
  record.dueAt = null
  if (whatRanOut(record, context) === 'generations') {
    fail(draft, 'system', { attempt: record.attempt }, 'generations')
    return reply
  }
  const reports = dependOn(draft, after, context)
  goOn(record)
  const goesOnAfter = reports.map(({ dependsOn }) => dependsOn)
  record.continuation = { ...record.continuation, goesOnAfter, wentOnAfter: true }
  record.blocked = true
  record.upstream = countOf(
    'all_done',
    reports.map(({ outcome }) => outcome),
  )
  draft.move('task_continues_later', `agent:${record.agent}`, {
    ...who,
    after: reports.map(({ uuid }) => uuid),
    ...spent,
  })
  // Due at once, so that upkeep checks for a cycle that nobody could see yet.
  record.dueAt = context.now
  moveByUpstream(draft, context, reports)
  return reply
}

function whyNot(record: TaskRecord, { tasks, cycle }: After, { recordOf }: RuleContext): Refusal | null {
  for (const [place, { id, uuid }] of tasks.entries()) {
    const other = recordOf?.(id)
    const isTogether = other?.uuid === uuid && areTogether(record, other)
    if (!isTogether || other.purpose !== 'work')
      return refuseField('VALIDATION_FAILED', `after[${place}]`, whyNoTask(record))
    if (id === record.id) return refuseField('VALIDATION_FAILED', `after[${place}]`, 'is the task itself')
  }
  if (cycle === null) return null
  return refuse('DEPENDENCY_CYCLE', `The tasks would wait for each other: ${describeCycle(cycle)}.`, {
    cycle,
  })
}

const whyNoTask = ({ missionId }: TaskRecord) =>
  missionId === null
    ? 'names no task that agents added below the same task'
    : 'names no task of the same mission'

/** It depends on them from now on, and their results are handed on. What it depended on before stays. */
function dependOn(draft: TaskDraft, { tasks }: After, context: RuleContext): UpstreamReport[] {
  const taskId = draft.record.id
  const rule = draft.record.upstream?.rule ?? 'all_success'
  return tasks.map(({ id: dependsOn }) => {
    const { uuid, version, state } = context.recordOf!(dependsOn)!
    const counted = { taskId, dependsOn, countedVersion: version, outcome: outcomeOf(state) }
    const known = context.dependencyOf?.(taskId, dependsOn)
    if (known) draft.effects.recounted.push({ ...counted, rule: known.rule })
    else draft.effects.dependencies.push({ ...counted, rule, dependsOnUuid: uuid, kind: 'data' })
    return { dependsOn, uuid, version, outcome: counted.outcome }
  })
}
