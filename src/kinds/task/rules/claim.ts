import { type ErrorCode, type Refusal, refuse } from '../../../pure/errors.ts'
import { isHeld } from '../../../pure/states.ts'
import type { AgentRecord } from '../../agent/record.ts'
import { isContractorSlug } from '../../agent/rules/contractors.ts'
import { whyNoWorkFor } from '../../agent/rules/decide.ts'
import { isManaged } from '../../agent/rules/health.ts'
import { modelOfAgent } from '../../agent/rules/model.ts'
import { ofWhat, whyStopped } from '../../budget/rules/words.ts'
import { whyKeptBack } from '../../mission/rules/gate.ts'
import type { ClaimGrant, TaskReply } from '../../replies.ts'
import { fittedLeaseMs } from '../../run/rules/lease.ts'
import type { RuleContext, TaskCommand, Worker } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { whyNotHolder } from './acting.ts'
import { expireLease, fail, requeue, whatRanOut } from './attempts.ts'
import { hasExpired, stopsItsClock } from './closed.ts'
import { failAtDeadline, isPastDeadline } from './deadlines.ts'
import { isForOthersFirst } from './fallback.ts'
import { leaseRanOut } from './fence.ts'
import { type HolderNotes, without } from './groups.ts'
import { sooner } from './retry.ts'
import type { Serves } from './reviews.ts'
import { giveUp } from './time.ts'
import { withClockChecked } from './timer-clock.ts'
import { assignMsOf, timersAnew } from './timers.ts'

/** Somebody took on a verification: noted with the task whose result it judges. A note changes nothing there, so it needs no lock. */
function noteVerifier(
  { record, effects, now }: TaskDraft,
  { taskId, generation }: Serves,
  by: AgentRecord | undefined,
): void {
  const { agent, uuid, attempt, missionId } = record
  effects.events.push({
    type: 'task_verification_started',
    taskId,
    missionId: missionId ?? undefined,
    generation,
    from: null,
    to: null,
    actor: `agent:${agent}`,
    payload: { verifier: agent, ...(by && { model: modelOfAgent(by) }), verification: uuid, attempt },
    at: now,
  })
}

type Claim = Extract<TaskCommand, { kind: 'claim' }>

export function claim(draft: TaskDraft, command: Claim, context: RuleContext): TaskReply {
  const { record } = draft
  const foreign = whyNotHolder(context.outside, command.agent, record.purpose)
  if (foreign) return foreign
  if (isPastDeadline(draft, context)) failAtDeadline(draft)
  const lapsed = leaseRanOut(record, context.now) ? { session: record.session, agent: record.agent } : null
  if (lapsed !== null) expireLease(draft, context)
  if (hasExpired(record, context.now) && !stopsItsClock(draft, context)) giveUp(draft)
  const isOwn = isAssignedToCaller(record, command, context)
  if (isOwn && record.session === command.session) return claimAssigned(draft, command, context)
  const free = isOwn ? { session: record.session, agent: record.agent } : lapsed
  const denial = whyNotClaimable(record, command, context, free, isOwn)
  if (denial) return denial
  // What it holds already has its reservation.
  const unaffordable = isOwn ? null : whyNotAffordable(draft, command, context)
  if (unaffordable) return unaffordable
  if (isOwn) requeue(draft, context, 'REASSIGNED', 'claimed by its agent in another session')
  // Limits may have been lowered since the task was queued.
  const exhausted = whatRanOut(record, context)
  if (exhausted) {
    fail(draft, 'system', { attempt: record.attempt }, exhausted)
    return refuse('NOT_READY', `The task has used up its ${exhausted} and is a dead letter now.`, {
      taskState: record.state,
    })
  }
  return grant(draft, command, context)
}

function grant(draft: TaskDraft, command: Claim, context: RuleContext): TaskReply {
  const { record } = draft
  const previousState = record.claimState
  const byCoordinator = command.byCoordinator ?? false
  const assignMs = assignMsOf(record.timers, byCoordinator, context.limits)
  // An agent that was assigned the task by the coordinator gets the full time to start.
  const leaseMs = Math.max(leaseOf(command, record, context), byCoordinator ? assignMs! : 0)
  record.generation += 1
  record.attempt += 1
  // Continuations are counted per attempt: the next holder gets all of them.
  record.continuations = 0
  // A gate that closes from here on ends the claim: the deadline is exact while it is held.
  if (record.timers?.deadlineAt !== undefined) record.timers = withClockChecked(record.timers, draft)
  record.dueAt = startBy(record, assignMs, context)
  beginAnew(record, byCoordinator, command)
  record.claimState = 'active'
  record.session = command.session
  record.agent = command.agent
  record.acquiredAt = context.now
  record.leaseMs = leaseMs
  record.leaseExpiresAt = context.now + leaseMs
  draft.effects.claims.push({
    kind: 'opened',
    taskId: record.id,
    generation: record.generation,
    session: command.session,
    agent: command.agent,
    leaseExpiresAt: record.leaseExpiresAt,
    at: context.now,
  })
  draft.move('task_assigned', byCoordinator ? context.actor : `agent:${command.agent}`, {
    agent: command.agent,
    session: command.session,
    leaseMs,
    attempt: record.attempt,
    previousState,
    ...(context.agent && aboutAgent(context.agent.record)),
    ...(command.metadata && { metadata: command.metadata }),
  })
  if (record.serves) noteVerifier(draft, record.serves, context.agent?.record)
  return { ok: true, reason: 'GRANTED', claim: claimView(record, context.now) }
}

/** A timeout of an earlier attempt may have made it longer. */
function leaseOf(
  { leaseMs, fitsEstimate }: Claim,
  { minLeaseMs, timers }: TaskRecord,
  { limits }: RuleContext,
) {
  const longest = limits.maxLeaseSeconds * 1000
  return Math.max(fitsEstimate ? fittedLeaseMs(leaseMs, timers?.estimateMs, longest) : leaseMs, minLeaseMs)
}

/** Nothing about most that claim for themselves: there is one such event for each claim. */
function aboutAgent(agent: AgentRecord) {
  const model = modelOfAgent(agent)
  return isManaged(agent) || model !== null ? { agentType: agent.kind, model } : {}
}

/** What was noted of the previous holder is over. */
function beginAnew(record: TaskRecord, isOffered: boolean, command: Claim): void {
  record.timers = timersAnew(record.timers)
  record.holder = notesOn(isOffered, command)
  // Another verdict was wanted on the result of an earlier generation.
  if (record.attention) record.attention = without(record.attention, 'judging')
}

function notesOn(isOffered: boolean, { metadata }: Claim): HolderNotes | null {
  if (metadata === undefined) return isOffered ? { isOffered } : null
  return isOffered ? { isOffered, claimMetadata: metadata } : { claimMetadata: metadata }
}

/** When a claim that is not started is checked. */
const startBy = ({ timers }: TaskRecord, assignMs: number | null, { now }: RuleContext) =>
  sooner(assignMs === null ? null : now + assignMs, timers?.deadlineAt ?? null)

/**
 * An agent may claim a task that was assigned to it, as long as it has not started. When no generation is left for another
 * session, the assigned claim stays.
 */
function isAssignedToCaller(record: TaskRecord, command: Claim, { limits }: RuleContext): boolean {
  if (record.state !== 'assigned' || !record.holder?.isOffered) return false
  if (record.agent !== command.agent || command.byCoordinator) return false
  return record.session === command.session || record.generation < limits.maxGenerationsPerTask
}

/** Under the session it was assigned to: the claim exists already, and from now on counts as requested. */
function claimAssigned(draft: TaskDraft, command: Claim, context: RuleContext): TaskReply {
  const { record } = draft
  record.leaseMs = leaseOf(command, record, context)
  record.leaseExpiresAt = Math.max(record.leaseExpiresAt!, context.now + record.leaseMs)
  beginAnew(record, false, command)
  const assignMs = assignMsOf(record.timers, false, context.limits)
  record.dueAt = startBy(record, assignMs, context)
  draft.touch()
  const { agent, session, leaseExpiresAt } = record
  draft.note('claim_renewed', `agent:${agent}`, { agent, session, leaseExpiresAt })
  return { ok: true, reason: 'GRANTED', claim: claimView(record, context.now) }
}

type Freed = Pick<TaskRecord, 'session' | 'agent'>

/** `freed`: the holder whose claim on this task is over, or ends with this one; its capacity is free. */
function whyNotClaimable(
  record: TaskRecord,
  command: Claim,
  context: RuleContext,
  freed: Freed | null,
  isOwn: boolean,
) {
  const { state } = record
  if (state === 'completed')
    return refuse('DENIED_COMPLETED', 'The task is completed; reset it to work on it again.')
  if (isHeld(state) && !isOwn) {
    return refuse(
      'DENIED_ACTIVE_CLAIM',
      `${record.agent} holds this task at generation ${record.generation}.`,
      {
        currentHolder: record.agent,
        currentGeneration: record.generation,
        ttlMs: record.leaseExpiresAt! - context.now,
      },
    )
  }
  if (!isOwn && state !== 'queued' && state !== 'awaiting_retry')
    return refuse('NOT_READY', `The task is ${state}.`, { taskState: state })
  if (state === 'awaiting_retry' && record.dueAt! > context.now)
    return refuse('NOT_READY', 'The task waits for its retry.', {
      taskState: state,
      dueAt: new Date(record.dueAt!).toISOString(),
    })
  if (record.onlyAgent !== null && record.onlyAgent !== command.agent)
    return refuse('WRONG_AGENT', `The task is reserved for ${record.onlyAgent}.`)
  if (record.onlyAgent === null && isContractorSlug(command.agent))
    return refuse('WRONG_AGENT', `${command.agent} is a contractor: it takes only what is reserved for it.`)
  if (record.serves?.notAgents.includes(command.agent))
    return refuse('WRONG_AGENT', `${command.agent} may not judge this result: it had a part in it.`)
  const mission = record.missionId === null ? undefined : context.missionOf?.(record.missionId)
  const keptBack = mission ? whyKeptBack(mission, record) : null
  if (keptBack) return keptBack
  const missing = record.capabilities.find((capability) => !command.capabilities.includes(capability))
  if (missing !== undefined)
    return refuse('MISSING_CAPABILITY', `${command.agent} lacks "${missing}".`, { missing })
  const unfit = context.worker && whyNotBy(context.worker, freed?.session === command.session ? 1 : 0)
  if (unfit) return unfit
  const { agent } = context
  const later = command.byCoordinator ? whyOthersGoFirst(record, command.agent, context) : null
  if (later) return later
  const unwilling = agent && whyNoWorkFor(agent.record, agent.held - (freed?.agent === command.agent ? 1 : 0))
  if (unwilling) return unwilling
  const agents = context.trackIsFull?.(record, command.agent) ?? null
  if (agents !== null)
    return refuse(
      'TRACK_FULL',
      `Track ${record.trackQueue} already has its ${agents} agent${agents === 1 ? '' : 's'}.`,
      {
        track: record.trackQueue,
        maxAgents: agents,
      },
    )
  if (context.roomForClaims + (freed === null ? 0 : 1) <= 0)
    return refuse(
      'LIMIT_REACHED',
      `This workspace already has ${context.limits.maxConcurrentClaims} active claims.`,
      {
        limit: 'maxConcurrentClaims',
      },
    )
  return null
}

/**
 * Why no budget lets it begin. An estimate that is more than is left asks a person; where others have reserved the rest, it waits for
 * what they do not use.
 */
function whyNotAffordable(draft: TaskDraft, { agent }: Claim, { roomFor }: RuleContext): Refusal | null {
  const { record } = draft
  const room = roomFor?.(record, agent)
  if (!room || room.kind === 'reserve') return null
  const { budget } = room
  const about = { budgetId: budget.budgetId, scope: budget.scope, scopeId: budget.scopeId }
  if (room.kind === 'reserved')
    return refuse(
      'BUDGET_RESERVED',
      `What is left of the budget of ${ofWhat(budget)} is reserved by others.`,
      about,
    )
  if (room.kind === 'paced') {
    const until = new Date(room.until).toISOString()
    return refuse(
      'BUDGET_RESERVED',
      `The budget of ${ofWhat(budget)} is paced: it hands out work again at ${until}.`,
      {
        ...about,
        until,
      },
    )
  }
  if (room.kind === 'blocked') {
    const why = whyStopped(budget, room.why)
    // Nothing else waits for this budget: at the head of the queue the task would be in the way of others.
    if (budget.scope === 'task') return park(draft, why, { budgetId: budget.budgetId })
    const forAnyTask = budget.scope === 'workspace' || budget.scope === 'agent'
    return refuse('BUDGET_STOPPED', why, { ...about, forAnyTask })
  }
  const tooMuch = `The task is estimated to use more than is left of the budget of ${ofWhat(budget)}.`
  return park(draft, tooMuch, { budgetId: budget.budgetId, seen: `${budget.version}/${budget.periodStart}` })
}

/** It waits for a person, or for a budget with room for it. */
function park(
  draft: TaskDraft,
  error: string,
  { budgetId, seen }: { budgetId: string; seen?: string },
): Refusal {
  const { record } = draft
  const overBudget = { budgetId, hadBegun: false, ...(seen !== undefined && { seen }) }
  record.continuation = { ...record.continuation, overBudget }
  draft.move('task_budget_too_small', 'system', { error, budgetId })
  record.dueAt = null
  return refuse('BUDGET_STOPPED', error, { budgetId })
}

function whyOthersGoFirst(record: TaskRecord, by: string, context: RuleContext): Refusal | null {
  const why = ignoredIt(record, by, context)
    ? `${by} did not start this task in time`
    : isForOthersFirst(record, by, context)
      ? `The last result of ${by} was not good enough`
      : null
  return why === null
    ? null
    : refuse('NOT_READY', `${why}; other agents go first.`, { taskState: record.state })
}

/** It was assigned the task before and did not start: for as long as its start timeout, others go first. */
function ignoredIt(
  { agent, claimState, timers, holder, updatedAt }: TaskRecord,
  by: string,
  context: RuleContext,
) {
  if (!holder?.isOffered || claimState !== 'expired' || agent !== by) return false
  return context.now < updatedAt + assignMsOf(timers, true, context.limits)!
}

/** Why this worker may not have another task, regardless of the task. */
function whyNotBy(
  { record: { name, state, capacity }, held: counted }: Worker,
  free: number,
): Refusal | null {
  const held = counted - free
  if (state === 'draining') return refuse('WORKER_DRAINING', `${name} is draining and takes no new work.`)
  if (state !== 'active') return refuse('WORKER_GONE', `${name} is ${state}; it must register again.`)
  if (held >= capacity!)
    return refuse('NO_CAPACITY', `${name} holds ${held} of at most ${capacity} tasks.`, { capacity, held })
  return null
}

/** Refusals that concern the caller and not the task: any other waiting task would be refused as well. */
const FOR_ANY_TASK: ReadonlySet<ErrorCode> = new Set([
  'LIMIT_REACHED',
  'NO_CAPACITY',
  'WORKER_DRAINING',
  'WORKER_GONE',
  'AGENT_PAUSED',
  'AGENT_TERMINATED',
])

/** A budget that is spent concerns all tasks where it is that of the workspace or of the agent. */
export const isForAnyTask = ({ code, forAnyTask }: Refusal) => FOR_ANY_TASK.has(code) || forAnyTask === true

function claimView(record: TaskRecord, now: number): ClaimGrant {
  return {
    taskId: record.uuid,
    generation: record.generation,
    session: record.session!,
    agent: record.agent!,
    state: record.claimState!,
    attempt: record.attempt,
    leaseExpiresAt: new Date(record.leaseExpiresAt!).toISOString(),
    ttlMs: record.leaseExpiresAt! - now,
  }
}
