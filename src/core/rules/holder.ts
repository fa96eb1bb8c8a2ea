import type { Circumstances, Reply, TaskCommand } from '../commands.ts'
import { type Refusal, refuse, refuseField } from '../errors.ts'
import type { TaskDraft } from '../records.ts'
import { backoffMs, CONTINUATION_DELAY_MS } from '../retry.ts'
import { expireLease, fail as failForGood, judgeFence, leaseRanOut, whatRanOut } from './fence.ts'
import { abortsAt, begun, firstDeadline, nextLook, progressed } from './watch.ts'

type Command<K extends TaskCommand['kind']> = Extract<TaskCommand, { kind: K }>
type HolderCommand = Command<'renew' | 'start' | 'progress' | 'continue' | 'release' | 'fail' | 'log'>

/** Every write of a holder but its result: judged by the fence, refused with a trace when it is stale. */
export function holderWrite(draft: TaskDraft, command: HolderCommand, around: Circumstances): Reply {
  const names = command.kind === 'renew' ? 'GENERATION_MISMATCH' : 'STALE_OR_FUTURE'
  const refusal = judgeFence(draft.record, command.fence, around.now, names)
  if (refusal) return refuseWithTrace(draft, command, refusal, around)
  switch (command.kind) {
    case 'renew':
      return renew(draft, command, around)
    case 'start':
      return start(draft, around)
    case 'progress':
      return progress(draft, command, around)
    case 'continue':
      return continueLater(draft, around)
    case 'release':
      return release(draft, command, around)
    case 'fail':
      return fail(draft, command, around)
    case 'log':
      return log(draft, command)
  }
}

function refuseWithTrace(
  draft: TaskDraft,
  command: HolderCommand,
  refusal: Refusal,
  around: Circumstances,
): Reply {
  // The caller may be the first to notice that the lease is over; then the task should not wait for the sweep.
  if (leaseRanOut(draft.record, around.now)) expireLease(draft, around)
  draft.note('claim_write_refused', around.actor, {
    command: command.kind,
    code: refusal.code,
    givenGeneration: command.fence.generation,
    givenSession: command.fence.session,
  })
  return refusal
}

const held = (draft: TaskDraft) => ({ agent: draft.record.agent!, session: draft.record.session! })
const byAgent = (draft: TaskDraft) => `agent:${draft.record.agent}`
const done = (draft: TaskDraft, reason: string): Reply => ({ ok: true, reason, record: draft.record })

function renew(draft: TaskDraft, command: Command<'renew'>, around: Circumstances): Reply {
  const { record } = draft
  if (command.leaseMs !== undefined) record.leaseMs = command.leaseMs
  // Never shorter than the holder was told before: an old renewal may arrive after a newer one.
  record.leaseExpiresAt = Math.max(record.leaseExpiresAt!, around.now + record.leaseMs)
  draft.touch()
  record.dueAt = nextLook(record, around.limits)
  draft.note('claim_renewed', byAgent(draft), { ...held(draft), leaseExpiresAt: record.leaseExpiresAt })
  return {
    ok: true,
    reason: 'RENEWED',
    leaseExpiresAt: new Date(record.leaseExpiresAt).toISOString(),
    ttlMs: record.leaseExpiresAt - around.now,
    requests: whatIsAsked(draft, around),
    budget: null,
  }
}

/** What a holder is asked for: it is suspected to hang, and loses the task at `abortAt` unless it gets on. */
export interface HolderRequest {
  type: 'report_progress'
  since: string
  abortAt: string
}

/** What the holder should do, told whenever it shows that it is alive. */
function whatIsAsked({ record }: TaskDraft, { limits }: Circumstances): HolderRequest[] {
  const abortAt = abortsAt(record, limits)
  if (abortAt === null) return []
  const since = record.watch!.suspectedAt!
  return [
    {
      type: 'report_progress',
      since: new Date(since).toISOString(),
      abortAt: new Date(abortAt).toISOString(),
    },
  ]
}

function start(draft: TaskDraft, around: Circumstances): Reply {
  const { record } = draft
  // Saying "start" twice (a lost reply) is no mistake of the holder.
  if (record.state === 'running') return done(draft, 'STARTED')
  record.startedAt ??= around.now
  if (record.state === 'continuing') {
    draft.move('task_resumed', byAgent(draft), { ...held(draft), continuations: record.continuations })
  } else {
    draft.move('task_started', byAgent(draft), { ...held(draft), attempt: record.attempt })
    begin(draft, around)
  }
  return done(draft, 'STARTED')
}

/** From here on its times count, and no longer that it should be started. */
function begin({ record }: TaskDraft, { now, limits }: Circumstances): void {
  record.watch = begun(record.watch, now)
  record.dueAt = firstDeadline(record, limits)
}

function progress(draft: TaskDraft, command: Command<'progress'>, around: Circumstances): Reply {
  const { record } = draft
  const { percent, step, checkpoint, doneBy, ifVersion } = command
  if (ifVersion != null && ifVersion !== record.version)
    return refuse('VERSION_MISMATCH', `The task is at version ${record.version}.`, {
      currentVersion: record.version,
    })
  if (doneBy !== undefined && doneBy < around.now)
    return refuseField('VALIDATION_FAILED', 'estimatedCompletionAt', 'lies in the past')
  // Progress proves that work began, whether the holder said so or not.
  if (record.state !== 'running') start(draft, around)
  draft.touch()
  record.watch = progressed(record.watch, around.now, doneBy)
  record.dueAt = nextLook(record, around.limits)
  const set = { progressPercent: percent, progressStep: step, checkpoint }
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

/** Lines of its own in the task's log. They are on record and change nothing. */
function log(draft: TaskDraft, { entries }: Command<'log'>): Reply {
  for (const { level, event, message, details } of entries)
    draft.note('task_logged', byAgent(draft), { ...held(draft), level, event, message, details })
  return done(draft, 'NOTED')
}

function continueLater(draft: TaskDraft, around: Circumstances): Reply {
  const { record } = draft
  const reply: Reply = { ok: true, reason: 'CONTINUING', resumeAfterMs: CONTINUATION_DELAY_MS, record }
  // Said twice, the last one too: the first answer may have been lost.
  if (record.state === 'continuing') return reply
  if (record.continuations >= record.maxContinuations)
    return refuse(
      'CONTINUATION_LIMIT',
      `The task may be continued ${record.maxContinuations} times within an attempt; submit or fail it.`,
    )
  record.continuations += 1
  const isFirstWord = record.state === 'assigned'
  // The claim stays: a continuation is the same attempt by the same holder, so nobody else may step in.
  draft.move('task_continuing', byAgent(draft), { ...held(draft), continuations: record.continuations })
  if (isFirstWord) begin(draft, around)
  return reply
}

function release(draft: TaskDraft, command: Command<'release'>, around: Circumstances): Reply {
  const { record } = draft
  const who = held(draft)
  draft.endClaim('VOLUNTARY')
  // Given back unharmed: the attempt was not spent.
  record.attempt -= 1
  record.dueAt = null
  if (whatRanOut(record, around) === 'generations')
    failForGood(draft, 'system', { attempt: record.attempt }, 'generations')
  else draft.move('task_released', byAgent(draft), { ...who, reason: command.reason })
  return done(draft, 'RELEASED')
}

function fail(draft: TaskDraft, command: Command<'fail'>, around: Circumstances): Reply {
  const { record } = draft
  const actor = byAgent(draft)
  const { failureClass, error } = command
  const failure = { failureClass, error, attempt: record.attempt }
  record.dueAt = null
  switch (failureClass) {
    case 'human':
      draft.endClaim('NEEDS_HUMAN')
      draft.move('task_human_review_requested', actor, { reason: error ?? 'The agent asks for a person.' })
      break
    case 'budget':
      draft.endClaim('OVER_BUDGET')
      // Stopped, not failed: the attempt is given back.
      record.attempt -= 1
      draft.move('task_budget_exceeded', actor, { error })
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
      // ADE 8: the next attempt would run out of memory as well; a person must look.
      draft.endClaim('ERROR')
      draft.note('alert_raised', actor, { alert: 'OUT_OF_MEMORY', error })
      failForGood(draft, actor, failure, 'out_of_memory')
      break
    case 'rate_limited':
    case 'timeout':
    case 'infrastructure':
    case 'quality':
      draft.endClaim('ERROR')
      retryLater(draft, command, around)
  }
  return done(draft, 'FAILED')
}

function retryLater(draft: TaskDraft, command: Command<'fail'>, around: Circumstances): void {
  const { record } = draft
  const failure = { failureClass: command.failureClass, error: command.error, attempt: record.attempt }
  // A rate limit is nobody's failure: the task is parked and the attempt given back.
  if (command.failureClass === 'rate_limited') record.attempt -= 1
  if (command.failureClass === 'timeout') allowMoreTime(draft, around)
  const exhausted = whatRanOut(record, around)
  if (exhausted) {
    failForGood(draft, byAgent(draft), failure, exhausted)
    return
  }
  const { failureClass, error } = command
  draft.effects.details.push({ taskId: record.id, set: { failureClass, error, exhausted: null } })
  record.dueAt = Math.max(command.retryAt ?? around.now + backoffMs(failure.attempt), around.now)
  draft.move('task_retrying', byAgent(draft), {
    ...failure,
    dueAt: record.dueAt,
    waitMs: record.dueAt - around.now,
  })
}

/** ADE 8: what timed out is tried again with more time. */
function allowMoreTime({ record }: TaskDraft, { limits }: Circumstances): void {
  // A holder may have renewed for less than it was given at first.
  const longest = Math.max(record.leaseMs, record.minLeaseMs)
  record.minLeaseMs = Math.min(longest * 2, limits.maxLeaseSeconds * 1000)
}
