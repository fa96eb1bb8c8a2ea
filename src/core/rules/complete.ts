import type { RuleContext, TaskCommand } from '../commands.ts'
import { refuse } from '../errors.ts'
import { workProductRef } from '../keys.ts'
import type { TaskDraft } from '../records.ts'
import type { TaskReply } from '../replies.ts'
import { CLAIM_ENDS, isTerminal } from '../states.ts'
import { closeForLateResults } from './fence.ts'
import { whyStale } from './question.ts'

type Complete = Extract<TaskCommand, { kind: 'complete' }>

/**
 * A person gives the result. It gets a generation of its own, so that "one accepted result, one claim" stays true and a
 * holder's late work is refused like that of any earlier generation.
 */
export function complete(draft: TaskDraft, command: Complete, context: RuleContext): TaskReply {
  const { record } = draft
  const { submission, comment } = command
  if (isTerminal(record.state))
    return refuse('WRONG_STATE', `A task that is ${record.state} cannot be completed; reset it first.`, {
      taskState: record.state,
    })
  if (record.purpose !== 'work')
    return refuse('WRONG_STATE', `A task of the purpose ${record.purpose} is not completed by a person.`)
  const stale = whyStale(record, command.generation)
  if (stale) return stale
  closeForLateResults(record)
  draft.endClaim('SUPERSEDED')
  if (record.resultHash !== null)
    draft.effects.results.push({
      kind: 'judged',
      taskId: record.id,
      epoch: record.epoch,
      accepted: false,
      rejection: 'REPLACED',
    })
  holdForPerson(draft, context)
  const ref = workProductRef(record.key ?? record.uuid, record.generation, submission.hash)
  record.resultHash = submission.hash
  record.blocked = false
  draft.effects.details.push({ taskId: record.id, set: { error: null, failureClass: null } })
  draft.effects.results.push({
    kind: 'written',
    taskId: record.id,
    epoch: record.epoch,
    generation: record.generation,
    session: record.session!,
    agent: record.agent,
    accepted: true,
    rejection: null,
    ref,
    hash: submission.hash,
    data: submission.data,
    summary: submission.summary,
    at: context.now,
  })
  draft.move('task_completed_by_person', context.actor, { workProductRef: ref, comment })
  return { ok: true, reason: 'COMPLETED', workProductRef: ref, record }
}

/** A claim that ends at once, in the name of whoever acts. */
function holdForPerson({ record, effects }: TaskDraft, { actor, now }: RuleContext): void {
  const held = { agent: actor, session: `person:${actor}` }
  record.generation += 1
  record.claimState = CLAIM_ENDS.COMPLETED
  record.startedAt ??= now
  Object.assign(record, held, { acquiredAt: now, leaseMs: 0, leaseExpiresAt: null })
  const claim = { taskId: record.id, generation: record.generation, ...held, at: now }
  effects.claims.push(
    { kind: 'opened', ...claim, leaseExpiresAt: now },
    { kind: 'ended', ...claim, state: record.claimState, reason: 'COMPLETED', acquiredAt: now },
  )
}
