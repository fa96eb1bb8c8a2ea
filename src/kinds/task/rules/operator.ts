import { type Refusal, refuse } from '../../../pure/errors.ts'
import { isHeld, TASK_TRANSITIONS, type TaskState, type TransitionName } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { whyNotReservedFor } from './acting.ts'
import { dropPreference, preferLastAgent } from './agent-choice.ts'
import { endAlert } from './alert.ts'
import { isAllowed, transitionOf } from './allowed-acts.ts'
import { fail, requeue, whatRanOut } from './attempts.ts'
import { goOn, startOver } from './continuation.ts'
import { switchModel, useOwnModel } from './fallback.ts'
import { closeForLateResults } from './fence.ts'
import { closed, isItem, taskItemId } from './inbox-events.ts'
import { fieldChanges, whyNotAnotherType, whyNotTags } from './patch.ts'
import { endMissionPause } from './pause-grace.ts'
import { whyStale } from './question.ts'
import { verdictDueAt } from './result.ts'
import { dropPendingResult, judgeResult } from './result-writes.ts'
import { backoffMs, queueRank } from './retry.ts'
import { resultDigestOf } from './standing-result.ts'
import { changeBudget } from './task-budget.ts'
import { moveByUpstream } from './upstream.ts'
import { decidedAbout, WAITS_NO_MORE } from './waiting.ts'

type Command<K extends TaskCommand['kind']> = Extract<TaskCommand, { kind: K }>
type Act<K extends TaskCommand['kind']> = (
  draft: TaskDraft,
  command: Command<K>,
  context: RuleContext,
) => Refusal | null

type OfPages = 'cancel' | 'pause' | 'resume' | 'retry' | 'reset' | 'approve' | 'reject' | 'skip'
type StateAct = OfPages | 'verdict' | 'verifyAgain'
const JUDGES: readonly StateAct[] = ['approve', 'reject', 'verdict', 'verifyAgain']
type OperatorCommand = Command<StateAct | 'update' | 'archive'>

/** What people (and the verifier) do to a task. An act that revokes the task from its holder ends the claim. */
export function operate(draft: TaskDraft, command: OperatorCommand, context: RuleContext): TaskReply {
  const refusal = isStateAct(command)
    ? changeState(draft, command, context)
    : changeFields(draft, command, context)
  return refusal ?? { ok: true, reason: 'DONE', record: draft.record }
}

const isStateAct = (command: OperatorCommand): command is Command<StateAct> => command.kind in ACTS

/** From other states an act is refused. */
function changeBy(act: StateAct) {
  if (act === 'verdict') return TASK_TRANSITIONS.task_verification_passed
  return act === 'verifyAgain' ? TASK_TRANSITIONS.task_verification_requested : transitionOf(act)
}

function changeState(draft: TaskDraft, command: Command<StateAct>, context: RuleContext): Refusal | null {
  const { state } = draft.record
  const { from, to } = changeBy(command.kind)
  // Cancelling or pausing twice is one request, repeated.
  if (state === to && (command.kind === 'cancel' || command.kind === 'pause')) return null
  const digest = 'digest' in command ? command.digest : undefined
  if ('whileIn' in command && command.whileIn !== undefined && command.whileIn !== state)
    return changedSince(draft.record)
  if (!(from as readonly TaskState[]).includes(state))
    return digest !== undefined
      ? changedSince(draft.record)
      : refuse('WRONG_STATE', `"${command.kind}" is not possible for a task that is ${state}.`, {
          taskState: state,
        })
  const stale = 'generation' in command ? whyStale(draft.record, command.generation) : null
  if (stale) return stale
  if (draft.record.attention?.asks && JUDGES.includes(command.kind))
    return refuse('WRONG_STATE', 'The task waits for the answer to a question; there is no result to judge.')
  if (digest !== undefined && digest !== resultDigestOf(draft.record)) return changedSince(draft.record)
  closeForLateResults(draft.record)
  return (ACTS[command.kind] as Act<StateAct>)(draft, command, context)
}

/** A verdict names the result that was seen: the task has another one by now. */
const changedSince = (record: TaskRecord): Refusal => {
  const { state, generation } = record
  return refuse(
    'CHANGED_SINCE',
    `The task has changed since: it is ${state} at generation ${generation} now.`,
    { taskState: state, currentGeneration: generation, resultDigest: resultDigestOf(record) },
  )
}

const ACTS: { [K in StateAct]: Act<K> } = {
  cancel(draft, { reason }, { actor }) {
    draft.endClaim('CANCELLED')
    dropPendingResult(draft, 'CANCELLED')
    draft.record.dueAt = null
    draft.move('task_cancelled', actor, { reason })
    return null
  },

  skip(draft, { reason }, { actor }) {
    draft.endClaim('SUPERSEDED')
    dropPendingResult(draft, 'SKIPPED')
    draft.record.blocked = false
    draft.move('task_skipped', actor, { because: reason })
    return null
  },

  pause(draft, { reason, byMission }, { actor, now }) {
    const { record } = draft
    if (byMission) record.continuation = { ...record.continuation, pausedByMission: true, pausedAt: now }
    record.pausedFrom = record.state
    // The scheduled time survives the pause; the wait of a retry does not, since a person who resumes means "now".
    if (record.state !== 'pending') record.dueAt = null
    // Revoked, not failed: the attempt is not spent.
    if (isHeld(record.state)) record.attempt -= 1
    draft.endClaim('PAUSED')
    draft.move('task_paused', actor, { reason })
    return null
  },

  resume(draft, _command, context) {
    const { record } = draft
    const { actor, now } = context
    // A person who resumes one paused task wants it done by any agent.
    const isOnItsOwn = record.state === 'budget_exceeded' || record.continuation?.pausedByMission === true
    const { hadBegun: hasBegun = true } = record.continuation?.overBudget ?? {}
    endMissionPause(record)
    // Due at once: a cycle that was idle while one of its tasks was paused is found then.
    if (record.blocked) record.dueAt ??= now
    if (record.blocked || (record.dueAt !== null && record.dueAt > now)) {
      draft.move('task_unpaused_to_wait', actor)
      // What it waits for may have failed while it was paused.
      moveByUpstream(draft, context)
    } else {
      record.dueAt = null
      // What had begun continues where it stood.
      const hadBegun = record.state === 'budget_exceeded' ? hasBegun : isHeld(record.pausedFrom!)
      if (hadBegun) goOn(record)
      draft.move('task_unpaused', actor)
      if (hadBegun && isOnItsOwn) preferLastAgent(record, now)
    }
    return null
  },

  retry(draft, { reason, fresh }, { actor }) {
    const { record } = draft
    if (fresh) startOver(record)
    // A person's retry resets the attempts; the generation continues.
    record.attempt = 0
    record.dueAt = null
    record.archivedAt = null
    useOwnModel(record)
    dropPendingResult(draft, 'RETRIED')
    draft.effects.details.push({ taskId: record.id, set: { exhausted: null } })
    if (waitsForItsParts(draft)) draft.move('task_retried_to_wait', actor, { reason })
    else draft.move('task_retried', actor, { reason })
    return null
  },

  reset(draft, { reason }, { actor }) {
    const { record } = draft
    record.epoch += 1
    Object.assign(record, { attempt: 0, continuations: 0, resultHash: null, dueAt: null, startedAt: null })
    Object.assign(record, { archivedAt: null, blocked: false })
    useOwnModel(record)
    startOver(record)
    draft.effects.details.push({ taskId: record.id, set: { exhausted: null, question: null } })
    const name = waitsForItsParts(draft) ? 'task_reset_to_wait' : 'task_reset'
    draft.move(name, actor, { reason, epoch: record.epoch })
    return null
  },

  approve(draft, { comment }, { actor }) {
    if (draft.record.resultHash === null)
      return refuse('WRONG_STATE', 'There is no result to approve; retry the task instead.')
    judgeResult(draft, true, null)
    draft.move('task_human_approved', actor, { comment })
    return null
  },

  reject(draft, { comment, forGood, fresh }, context) {
    dropPendingResult(draft, 'HUMAN_REJECTED')
    if (fresh) startOver(draft.record)
    draft.record.dueAt = null
    if (forGood) {
      const { attempt } = draft.record
      fail(draft, context.actor, { comment, error: comment, attempt, failureClass: 'quality' }, 'rejected')
      return null
    }
    // A person has looked at it and wants it done again now.
    retryOrFail(draft, 'task_human_rejected', { comment }, context, 0)
    return null
  },

  verifyAgain(draft, { agent }, context) {
    const { record } = draft
    if (record.resultHash === null || record.verification !== 'baton')
      return refuse('WRONG_STATE', 'There is no result that Baton could get a verdict on; decide yourself.')
    const { generation, attention } = record
    const round = (attention?.judging?.generation === generation ? attention.judging.round : 0) + 1
    record.attention = { ...attention, judging: { generation, round, agent } }
    record.dueAt = verdictDueAt(record, context)
    draft.move('task_verification_requested', context.actor, { verifier: agent })
    return null
  },

  verdict(draft, { verdict, note, given }, context) {
    draft.record.dueAt = null
    if (verdict === 'unsure') {
      const reason = note ?? 'The verifier is unsure.'
      draft.move('task_human_review_requested', context.actor, { reason, ...given })
    } else if (verdict === 'passed') {
      judgeResult(draft, true, null)
      draft.move('task_verification_passed', context.actor, { verdict: note, ...given })
    } else {
      dropPendingResult(draft, 'VERIFICATION_FAILED')
      // An answer that is given back needs no rest; work that failed may depend on what others do meanwhile.
      const { purpose, attempt, timers } = draft.record
      const restMs = purpose === 'work' ? backoffMs(attempt, timers?.retryBaseMs) : 0
      retryOrFail(draft, 'task_verification_failed', { verdict: note, ...given }, context, restMs)
    }
    return null
  },
}

/**
 * A task whose result is made from its parts only waits for them again, and they are counted again. Due at once: one of them
 * may depend on it by now, which would be a cycle.
 */
function waitsForItsParts({ record, now }: TaskDraft): boolean {
  record.blocked = record.merge === 'object'
  if (record.blocked) Object.assign(record, { dueAt: now, upstream: null })
  return record.blocked
}

function retryOrFail(
  draft: TaskDraft,
  name: TransitionName,
  why: Record<string, unknown>,
  context: RuleContext,
  restMs: number,
): void {
  const { record } = draft
  // What was merged would be the same again: its parts are to be done again, by a person's choice.
  const exhausted = record.merge === 'object' ? 'rejected' : whatRanOut(record, context)
  const payload = { ...why, attempt: record.attempt }
  // For the next attempt; or, without one, for a person who looks at the failure.
  const error = (why.comment ?? why.verdict ?? null) as string | null
  if (exhausted) {
    fail(draft, context.actor, { ...payload, failureClass: 'quality', error }, exhausted)
  } else {
    record.dueAt = context.now + restMs
    draft.effects.details.push({ taskId: record.id, set: { failureClass: 'quality', error } })
    switchModel(draft, 'quality')
    draft.move(name, context.actor, payload)
  }
}

function changeFields(
  draft: TaskDraft,
  command: Command<'update' | 'archive'>,
  context: RuleContext,
): Refusal | null {
  return command.kind === 'update' ? update(draft, command, context) : archive(draft, command, context)
}

function archive(draft: TaskDraft, command: Command<'archive'>, { actor, now }: RuleContext): Refusal | null {
  const { record } = draft
  const stale = whyStale(record, command.generation)
  if (stale) return stale
  if (!isAllowed('archive', record.state))
    return refuse('WRONG_STATE', `Only finished tasks are archived; this one is ${record.state}.`)
  if (record.archivedAt === null) {
    draft.touch()
    record.archivedAt = now
    draft.effects.details.push({ taskId: record.id, set: WAITS_NO_MORE })
    const [type, payload] = closed(taskItemId(record), 'task_archived')
    if (isItem(record)) draft.note(type, actor, payload)
    draft.note('task_archived', actor, {})
    decidedAbout(record)
  }
  return null
}

function update(draft: TaskDraft, command: Command<'update'>, context: RuleContext): Refusal | null {
  const { record } = draft
  const { actor } = context
  if (command.ifVersion !== null && command.ifVersion !== record.version)
    return refuse('VERSION_MISMATCH', `The task is at version ${record.version}.`, {
      currentVersion: record.version,
    })
  const stale = whyStale(record, command.generation)
  if (stale) return stale
  const { priority, maxRetries, maxContinuations, onlyAgent, budget, ...words } = command.patch
  const refusal =
    whyNotReservedFor(record, onlyAgent, 'agent') ??
    whyNotAnotherType(record, command.patch) ??
    whyNotTags(command.patch) ??
    (budget && changeBudget(draft, budget))
  if (refusal) return refusal
  const changes = fieldChanges(record, command.patch, command.before)
  draft.effects.details.push({ taskId: record.id, set: words })
  if (maxRetries !== undefined) record.maxRetries = maxRetries
  if (maxContinuations !== undefined) record.maxContinuations = maxContinuations
  if (priority !== undefined) {
    // The time already waited stays: the new rank is as if it had been queued with this priority.
    if (record.rank !== null) record.rank = queueRank(record.rank, priority - record.priority)
    record.priority = priority
  }
  draft.touch()
  draft.note('task_updated', actor, { fields: Object.keys(command.patch), changes })
  // Other agents may take it now.
  if (words.taskType !== undefined) endAlert(draft, actor, 'task_updated')
  if (onlyAgent !== undefined) reserveFor(draft, onlyAgent, context)
  // It has what it waited for.
  if (budget && record.state === 'budget_exceeded') ACTS.resume(draft, { kind: 'resume' }, context)
  return null
}

function reserveFor(draft: TaskDraft, onlyAgent: string | null, context: RuleContext): void {
  const { record } = draft
  dropPreference(record)
  if (record.onlyAgent !== onlyAgent) endAlert(draft, context.actor, 'task_updated')
  record.onlyAgent = onlyAgent
  if (onlyAgent === null || !isHeld(record.state) || record.agent === onlyAgent) return
  requeue(draft, context, 'REASSIGNED', `reassigned to ${onlyAgent}`)
}
