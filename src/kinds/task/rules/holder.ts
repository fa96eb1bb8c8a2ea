import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import type { HolderRequest, MessageToHolder, TaskReply } from '../../replies.ts'
import type { Limits } from '../../workspace/limits.ts'
import type { RuleContext, Submission, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { whyNotHolder } from './acting.ts'
import { preferLastAgent } from './agent-choice.ts'
import { expireLease, fail as failForGood, whatRanOut } from './attempts.ts'
import { goOn } from './continuation.ts'
import { continueAfter } from './continue-after.ts'
import { switchModel } from './fallback.ts'
import { judgeFence, leaseRanOut } from './fence.ts'
import { without } from './groups.ts'
import { ask } from './question.ts'
import { storeResult } from './result-writes.ts'
import { backoffMs, CONTINUATION_DELAY_MS } from './retry.ts'
import { workProductRef } from './task-keys.ts'
import { abortsAt, begun, firstDeadline, nextCheckAt, progressed, timedOut } from './timers.ts'

type Command<K extends TaskCommand['kind']> = Extract<TaskCommand, { kind: K }>
type HolderCommand = Command<
  'renew' | 'start' | 'progress' | 'continue' | 'release' | 'fail' | 'log' | 'useModel' | 'ask'
>

/** Every write of a holder but its result: checked by the fence; a stale one is refused and recorded. */
export function holderWrite(draft: TaskDraft, command: HolderCommand, context: RuleContext): TaskReply {
  const names = command.kind === 'renew' ? 'GENERATION_MISMATCH' : 'STALE_OR_FUTURE'
  const { record } = draft
  const refusal =
    judgeFence(record, command.fence, context.now, names) ??
    whyNotHolder(context.outside, record.agent!, record.purpose)
  if (refusal) return refuseWithTrace(draft, command, refusal, context)
  switch (command.kind) {
    case 'renew':
      return renew(draft, command, context)
    case 'start':
      return start(draft, command, context)
    case 'progress':
      return progress(draft, command, context)
    case 'continue':
      return command.after
        ? continueAfter(draft, { ...command, after: command.after }, context)
        : continueLater(draft, command, context)
    case 'release':
      return release(draft, command, context)
    case 'fail':
      return fail(draft, command, context)
    case 'log':
      return log(draft, command)
    case 'ask':
      return ask(draft, command, context)
    case 'useModel':
      return useModel(draft, command)
  }
}

function refuseWithTrace(
  draft: TaskDraft,
  command: HolderCommand,
  refusal: Refusal,
  context: RuleContext,
): TaskReply {
  // The caller may be the first to notice that the lease is over; then the task should not wait for the sweep.
  if (leaseRanOut(draft.record, context.now)) expireLease(draft, context)
  draft.note('claim_write_refused', context.actor, {
    command: command.kind,
    code: refusal.code,
    givenGeneration: command.fence.generation,
    givenSession: command.fence.session,
  })
  return refusal
}

const held = (draft: TaskDraft) => ({ agent: draft.record.agent!, session: draft.record.session! })
const byAgent = (draft: TaskDraft) => `agent:${draft.record.agent}`
const done = (draft: TaskDraft, reason: string): TaskReply => ({ ok: true, reason, record: draft.record })

function renew(draft: TaskDraft, command: Command<'renew'>, context: RuleContext): TaskReply {
  const { record } = draft
  if (command.leaseMs !== undefined) record.leaseMs = command.leaseMs
  // Never shorter than an earlier answer: an old renewal may arrive after a newer one.
  record.leaseExpiresAt = Math.max(record.leaseExpiresAt!, context.now + record.leaseMs)
  draft.touch()
  record.dueAt = nextCheckAt(record, context.limits)
  draft.note('claim_renewed', byAgent(draft), { ...held(draft), leaseExpiresAt: record.leaseExpiresAt })
  const budget = context.budgetLeft?.(record) ?? null
  return {
    ok: true,
    reason: 'RENEWED',
    leaseExpiresAt: new Date(record.leaseExpiresAt).toISOString(),
    ttlMs: record.leaseExpiresAt - context.now,
    requests: requestsTo(record, context.limits),
    messages: messagesTo(record),
    budget,
  }
}

/** Requests to the holder, sent with each answer to a sign of life. */
export function requestsTo(record: TaskRecord, limits: Limits): HolderRequest[] {
  const abortAt = abortsAt(record, limits)
  if (abortAt === null) return []
  const since = record.timers!.suspectedAt!
  return [
    {
      type: 'report_progress',
      since: new Date(since).toISOString(),
      abortAt: new Date(abortAt).toISOString(),
    },
  ]
}

/** What people said to it since its claim; sent in the same way. */
export const messagesTo = ({ holder }: TaskRecord): MessageToHolder[] =>
  (holder?.messages ?? []).map(({ at, ...message }) => ({ ...message, at: new Date(at).toISOString() }))

function start(
  draft: TaskDraft,
  { isRun }: Pick<Command<'start'>, 'isRun'>,
  context: RuleContext,
): TaskReply {
  const { record } = draft
  // Starting twice (a lost reply) is not a mistake of the holder.
  if (record.state === 'running') return done(draft, 'STARTED')
  record.startedAt ??= context.now
  if (isRun) record.holder = { ...record.holder, isRun }
  if (record.state === 'continuing') {
    draft.move('task_resumed', byAgent(draft), { ...held(draft), continuations: record.continuations })
  } else {
    draft.move('task_started', byAgent(draft), { ...held(draft), attempt: record.attempt })
    begin(draft, context)
  }
  return done(draft, 'STARTED')
}

/** From here on its deadlines count, and the start deadline no longer does. */
function begin({ record }: TaskDraft, { now, limits }: RuleContext): void {
  record.holder = without(record.holder, 'isOffered')
  record.timers = begun(record.timers, now)
  record.dueAt = firstDeadline(record, limits)
}

function progress(draft: TaskDraft, command: Command<'progress'>, context: RuleContext): TaskReply {
  const { record } = draft
  const { percent, step, checkpoint, doneBy, ifVersion } = command
  if (ifVersion != null && ifVersion !== record.version)
    return refuse('VERSION_MISMATCH', `The task is at version ${record.version}.`, {
      currentVersion: record.version,
    })
  if (doneBy !== undefined && doneBy < context.now)
    return refuseField('VALIDATION_FAILED', 'estimatedCompletionAt', 'is in the past')
  // Progress proves that work has started, even without an explicit start.
  if (record.state !== 'running') start(draft, {}, context)
  draft.touch()
  const isFirst = record.timers?.progressAt === undefined
  record.timers = progressed(record.timers, context.now, doneBy)
  record.dueAt = nextCheckAt(record, context.limits)
  // What a claim does not say of itself is not known: what the claim before it reported is not its own.
  const set = isFirst
    ? { progressPercent: percent ?? null, progressStep: step ?? null, checkpoint }
    : { progressPercent: percent, progressStep: step, checkpoint }
  draft.effects.details.push({ taskId: record.id, set })
  draft.note('task_progress', byAgent(draft), {
    ...held(draft),
    percent,
    step,
    checkpoint: checkpoint !== undefined,
    doneBy,
  })
  return done(draft, 'NOTED')
}

/** The holder's own lines in the task's log. They are stored and change nothing. */
function log(draft: TaskDraft, { entries }: Command<'log'>): TaskReply {
  for (const { level, event, message, details } of entries)
    draft.note('task_logged', byAgent(draft), { ...held(draft), level, event, message, details })
  return done(draft, 'NOTED')
}

/** Noted once for each fallback model: the same node may send it again, and so may a continuation. */
function useModel(draft: TaskDraft, { from, to, reason }: Command<'useModel'>): TaskReply {
  const { record } = draft
  if (record.modelUse?.usedModel !== to) {
    draft.touch()
    record.modelUse = { ...record.modelUse, usedModel: to }
    draft.note('model_fallback', byAgent(draft), { ...held(draft), from, to, reason })
  }
  return done(draft, 'NOTED')
}

function continueLater(draft: TaskDraft, { spent }: Command<'continue'>, context: RuleContext): TaskReply {
  const { record } = draft
  const reply: TaskReply = { ok: true, reason: 'CONTINUING', resumeAfterMs: CONTINUATION_DELAY_MS, record }
  // A repeated request, also of the last continuation: the first answer may have been lost.
  if (record.state === 'continuing') return reply
  if (record.continuations >= record.maxContinuations)
    return refuse(
      'CONTINUATION_LIMIT',
      `The task may be continued ${record.maxContinuations} times within an attempt; submit or fail it.`,
    )
  record.continuations += 1
  const isFirstWord = record.state === 'assigned'
  // The claim stays: a continuation is the same attempt by the same holder, so no other agent may claim.
  draft.move('task_continuing', byAgent(draft), {
    ...held(draft),
    continuations: record.continuations,
    ...spent,
  })
  if (isFirstWord) begin(draft, context)
  return reply
}

function release(draft: TaskDraft, command: Command<'release'>, context: RuleContext): TaskReply {
  const { record } = draft
  const who = held(draft)
  const waits = command.waitsForAgent === true && record.state === 'continuing'
  draft.endClaim('VOLUNTARY')
  // Released unharmed: the attempt is not spent.
  record.attempt -= 1
  record.dueAt = null
  if (whatRanOut(record, context) === 'generations')
    failForGood(draft, 'system', { attempt: record.attempt }, 'generations')
  else {
    if (waits) goOn(record)
    draft.move('task_released', byAgent(draft), { ...who, reason: command.reason })
    if (waits) preferLastAgent(record, context.now)
  }
  return done(draft, 'RELEASED')
}

function fail(draft: TaskDraft, command: Command<'fail'>, context: RuleContext): TaskReply {
  const { record } = draft
  const actor = byAgent(draft)
  const { failureClass, error, spent, submission } = command
  const failure = { ...failureOf(command, record.attempt), ...spent }
  if (submission) storeRejected(draft, submission)
  if (spent?.exitCode != null) record.holder = { ...record.holder, exitCode: spent.exitCode }
  record.dueAt = null
  switch (failureClass) {
    case 'human':
      draft.endClaim('NEEDS_HUMAN')
      draft.move('task_human_review_requested', actor, {
        reason: error ?? 'The agent requests a person.',
        ...spent,
      })
      break
    case 'budget':
      draft.endClaim('OVER_BUDGET')
      // Stopped, not failed: the attempt is not spent.
      record.attempt -= 1
      if (command.budget)
        record.continuation = { ...record.continuation, overBudget: { ...command.budget, hadBegun: true } }
      draft.move('task_budget_exceeded', actor, { error, budgetId: command.budget?.budgetId, ...spent })
      break
    case 'dependency':
      draft.endClaim('ERROR')
      draft.move('task_skipped', actor, { because: error ?? 'A dependency failed.' })
      break
    case 'cancelled':
      draft.endClaim('ERROR')
      draft.move('task_cancelled', actor, { reason: error })
      break
    case 'invalid':
      draft.endClaim('ERROR')
      failForGood(draft, actor, failure, 'invalid')
      break
    case 'out_of_memory':
      // ADE 8: the next attempt would run out of memory as well; a person must decide.
      draft.endClaim('ERROR')
      failForGood(draft, actor, failure, 'out_of_memory')
      break
    case 'rate_limited':
    case 'timeout':
    case 'infrastructure':
    case 'quality':
      draft.endClaim('ERROR')
      retryLater(draft, command, context)
  }
  return done(draft, 'FAILED')
}

/** Work that its own checks refuse. A person may promote it. */
function storeRejected(draft: TaskDraft, submission: Submission): void {
  const { key, uuid, generation, agent, session, acquiredAt } = draft.record
  const ref = workProductRef(key ?? uuid, generation, submission.hash)
  const by = { generation, agent: agent!, session: session!, acquiredAt }
  storeResult(draft, submission, ref, by, false, 'INCOMPLETE')
}

const failureOf = ({ failureClass, error, stack }: Command<'fail'>, attempt: number) => ({
  ...{ failureClass, error, attempt },
  ...(stack !== undefined && { stack }),
})

function retryLater(draft: TaskDraft, command: Command<'fail'>, context: RuleContext): void {
  const { record } = draft
  const { spent } = command
  const failure = { ...failureOf(command, record.attempt), ...spent }
  // A rate limit is not a failure of the agent: the task waits and the attempt is not spent.
  if (command.failureClass === 'rate_limited' || command.spendsNoAttempt) record.attempt -= 1
  if (command.failureClass === 'timeout' || command.tookTooLong) allowMoreTime(draft, context)
  const exhausted = whatRanOut(record, context)
  if (exhausted) {
    failForGood(draft, byAgent(draft), failure, exhausted)
    return
  }
  const { failureClass, error } = command
  draft.effects.details.push({ taskId: record.id, set: { failureClass, error, exhausted: null } })
  switchModel(draft, failureClass)
  const waitMs = backoffMs(failure.attempt, record.timers?.retryBaseMs)
  record.dueAt = Math.max(command.retryAt ?? context.now + waitMs, context.now)
  draft.move('task_retrying', byAgent(draft), {
    ...failure,
    dueAt: record.dueAt,
    waitMs: record.dueAt - context.now,
  })
}

/** ADE 8: a retry after a timeout gets more time. */
function allowMoreTime({ record }: TaskDraft, { limits }: RuleContext): void {
  // A holder may have renewed for less than its first lease.
  const longest = Math.max(record.leaseMs, record.minLeaseMs)
  record.minLeaseMs = Math.min(longest * 2, limits.maxLeaseSeconds * 1000)
  record.timers = timedOut(record.timers)
}
