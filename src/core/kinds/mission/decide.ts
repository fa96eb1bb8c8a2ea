import type { NewTask } from '../../commands.ts'
import { type Refusal, refuse } from '../../errors.ts'
import type { Actor } from '../../records.ts'
import { nanosOf } from '../../runs/dollars.ts'
import type { MissionCommand, ProposedPlan } from './command.ts'
import { endOf, heldTasks, openTasks } from './counts.ts'
import { type MissionContext, type MissionDecision, MissionDraft } from './draft.ts'
import { type MissionRecord, NO_COUNTS, type PlanVersion } from './record.ts'
import { isSnapshotDue, isSpent, percentUsed } from './spending.ts'
import { isEnd, type MissionEnd, type MissionPhase, stateOf } from './states.ts'

type Command<K extends MissionCommand['kind']> = Extract<MissionCommand, { kind: K }>

/** What a command does to a mission at a moment. */
export function decideMission(
  before: MissionRecord | null,
  uuid: string,
  command: MissionCommand,
  context: MissionContext,
): MissionDecision {
  if (command.kind === 'create') {
    if (before) return refused(before, refuse('ALREADY_EXISTS', 'This mission exists already.'))
    return create(uuid, command, context)
  }
  if (!before) return refused(null, refuse('NOT_FOUND', `There is no mission ${uuid} in this workspace.`))
  const draft = new MissionDraft(before, context)
  const act = ACTS[command.kind] as Act<typeof command.kind>
  const refusal = act(draft, command, context)
  return refusal ? refused(before, refusal) : draft.decision()
}

const refused = (record: MissionRecord | null, refusal: Refusal): MissionDecision => ({
  refusal,
  record,
  events: [],
  creates: [],
})

type Act<K extends MissionCommand['kind']> = (
  draft: MissionDraft,
  command: Command<K>,
  context: MissionContext,
) => Refusal | null

function create(uuid: string, command: Command<'create'>, context: MissionContext): MissionDecision {
  const { id, goal, title, description, tags, priority, projectId, project, config, startAt } = command
  const { now, actor } = context
  const isLater = startAt !== null && startAt > now
  const record: MissionRecord = {
    ...{ id, uuid, goal, title, description, tags, priority, projectId, project, config, startAt },
    phase: 'pending',
    ...{ closedBy: [], closedMs: 0, closedAt: now },
    plan: null,
    approved: null,
    counts: NO_COUNTS,
    snapshot: null,
    createdBy: actor,
    version: 1,
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    completedAt: null,
    error: null,
    dueAt: isLater ? startAt : null,
  }
  const draft = new MissionDraft(record, context, true)
  draft.move('mission_created', { goal, title, autonomy: config.autonomy, config })
  const { proposed, planning } = command
  if (proposed) draft.record.plan = planVersion(record, proposed.plan, context)
  if (!isLater) start(draft, proposed?.tasks ?? [], planning, context)
  return draft.decision()
}

/** With a plan it waits for approval, or begins at once; without one it is planned first. */
function start(
  draft: MissionDraft,
  tasks: readonly NewTask[],
  planning: NewTask | null,
  context: MissionContext,
): void {
  draft.record.dueAt = null
  if (draft.record.plan) planIsReady(draft, tasks, context)
  else startPlanning(draft, planning!)
}

function startPlanning(draft: MissionDraft, planning: NewTask): void {
  draft.move('mission_planning_started', { agent: planning.onlyAgent })
  draft.creates = [planning]
}

const planVersion = (
  { plan: last }: MissionRecord,
  plan: ProposedPlan['plan'],
  { now, actor }: MissionContext,
): PlanVersion => ({ ...plan, version: (last?.version ?? 0) + 1, proposedBy: actor, at: now })

/** Its newest plan waits for approval, unless this mission may begin without. */
function planIsReady(draft: MissionDraft, tasks: readonly NewTask[], context: MissionContext): void {
  const plan = draft.record.plan!
  const { version, digest, taskCount, strategy, estimatedTokens, estimatedUsd } = plan
  const payload = { version, digest, taskCount, strategy, estimatedTokens, estimatedUsd }
  draft.move('mission_plan_ready', payload)
  if (mayBeginByItself(draft.record, plan)) approve(draft, plan, tasks, 'system', null, context)
}

/** A plan whose price is unknown is never approved by its price. */
function mayBeginByItself({ config }: MissionRecord, { estimatedUsd }: PlanVersion): boolean {
  if (config.autonomy !== 'autonomous') return config.autonomy === 'full_auto'
  if (estimatedUsd === null || config.approveBelowUsd === undefined) return false
  return nanosOf(estimatedUsd) <= nanosOf(config.approveBelowUsd)
}

function approve(
  draft: MissionDraft,
  { version, digest, taskCount, proposedBy }: PlanVersion,
  tasks: readonly NewTask[],
  approvedBy: Actor,
  comment: string | null,
  { now }: MissionContext,
): void {
  const { record } = draft
  record.approved = { version, digest }
  record.startedAt ??= now
  draft.move('mission_approved', { approvedBy, version, digest, taskCount, comment, proposedBy })
  draft.creates = tasks
  if (tasks.length === 0) settle(draft, now)
}

/** The newest plan, or why the caller must look again. */
function planAsSeen(
  { plan, approved }: MissionRecord,
  seen: { planVersion?: number | undefined; digest?: string | undefined },
): PlanVersion | Refusal {
  if (!plan || approved?.version === plan.version)
    return refuse('WRONG_STATE', 'There is no plan that waits for approval.')
  const isOther =
    (seen.planVersion !== undefined && seen.planVersion !== plan.version) ||
    (seen.digest !== undefined && seen.digest !== plan.digest)
  return isOther
    ? refuse('CHANGED_SINCE', `The plan is at version ${plan.version} now.`, {
        planVersion: plan.version,
        digest: plan.digest,
      })
    : plan
}

const isRefusal = (value: PlanVersion | Refusal): value is Refusal => 'ok' in value

/** Whatever its counts say happens: it ends when all its tasks have ended. */
function settle(draft: MissionDraft, now: number): void {
  const { record } = draft
  if (record.phase !== 'running' && !record.closedBy.includes('cancelling')) return
  const { counts, config } = record
  const end = endOf(counts)
  if (end === null) {
    const isLost = (counts.byState.failed ?? 0) > counts.failedOptional
    if (config.onFailure === 'stop' && isLost) stop(draft, 'A task failed.')
    return
  }
  finish(draft, record.closedBy.includes('cancelling') && end === 'completed' ? 'cancelled' : end, now)
}

function stop(draft: MissionDraft, reason: string): void {
  const { record } = draft
  if (record.closedBy.includes('cancelling')) return
  record.error = reason
  draft.move('mission_stopping', { reason, tasksRemaining: openTasks(record.counts) })
}

function finish(draft: MissionDraft, end: MissionEnd, now: number): void {
  const { record } = draft
  record.completedAt = now
  record.dueAt = null
  const { tokens, usd, byState } = record.counts
  const durationMs = record.startedAt === null ? null : now - record.startedAt
  draft.move(`mission_${end}`, {
    totalTokens: tokens,
    totalCost: usd,
    durationMs,
    tasksCompleted: byState.completed ?? 0,
    tasksFailed: byState.failed ?? 0,
    ...(record.error === null ? {} : { reason: record.error }),
  })
}

/** Before its approval a plan may be replaced by another one. */
const PLANNABLE: readonly MissionPhase[] = ['planning', 'awaiting_approval']
/** Before it has a plan that can be approved. */
const UNPLANNED: readonly MissionPhase[] = ['pending', 'planning']

const wrongState = ({ record }: MissionDraft, act: string) =>
  refuse('WRONG_STATE', `"${act}" is not possible for a mission that is ${stateOf(record)}.`, {
    missionState: stateOf(record),
  })

const ACTS: { [K in Exclude<MissionCommand['kind'], 'create'>]: Act<K> } = {
  start(draft, { tasks, planning }, context) {
    // Found due twice: it has begun already.
    if (draft.record.phase === 'pending') start(draft, tasks, planning, context)
    return null
  },

  propose(draft, { proposed, proposedBy }, context) {
    if (!PLANNABLE.includes(draft.record.phase)) return wrongState(draft, 'propose a plan')
    draft.record.plan = planVersion(draft.record, proposed.plan, {
      ...context,
      actor: proposedBy ?? context.actor,
    })
    planIsReady(draft, proposed.tasks, context)
    return null
  },

  planFailed(draft, { reason }) {
    if (!UNPLANNED.includes(draft.record.phase)) return wrongState(draft, 'report a failed plan')
    draft.record.dueAt = null
    draft.move('mission_plan_failed', { reason })
    return null
  },

  approve(draft, command, context) {
    const { record } = draft
    if (record.phase !== 'awaiting_approval') return wrongState(draft, 'approve')
    const plan = planAsSeen(record, command)
    if (isRefusal(plan)) return plan
    approve(draft, plan, command.tasks, context.actor, command.comment, context)
    return null
  },

  reject(draft, command, { now }) {
    const { record } = draft
    if (record.phase !== 'awaiting_approval') return wrongState(draft, 'reject')
    const plan = planAsSeen(record, command)
    if (isRefusal(plan)) return plan
    if (command.outcome === 'replan') {
      draft.note('mission_plan_rejected', { version: plan.version, comment: command.comment })
      startPlanning(draft, command.planning!)
      return null
    }
    record.completedAt = now
    record.error = command.comment ?? 'The plan was rejected.'
    draft.move('mission_rejected', { version: plan.version, comment: command.comment })
    return null
  },

  pause(draft, { reason }) {
    const { phase, closedBy, counts } = draft.record
    if (isEnd(phase)) return wrongState(draft, 'pause')
    // Pausing twice is one request, repeated.
    if (closedBy.includes('paused')) return null
    draft.move('mission_paused', { reason, held: heldTasks(counts) })
    return null
  },

  resume(draft) {
    const { closedBy } = draft.record
    if (!closedBy.includes('paused')) return wrongState(draft, 'resume')
    draft.move('mission_resumed')
    return null
  },

  cancel(draft, { reason }, { now }) {
    const { record } = draft
    if (record.phase === 'cancelled') return null
    if (isEnd(record.phase)) return wrongState(draft, 'cancel')
    stop(draft, reason ?? 'Cancelled by a person.')
    if (openTasks(record.counts) === 0) finish(draft, 'cancelled', now)
    return null
  },

  update(draft, { ifVersion, patch }) {
    const { record } = draft
    if (ifVersion !== null && ifVersion !== record.version)
      return refuse('VERSION_MISMATCH', `The mission is at version ${record.version}.`, {
        currentVersion: record.version,
      })
    const { budget, maxParallel, ...rest } = patch
    Object.assign(record, rest)
    const before = record.config
    record.config = {
      ...before,
      ...(budget === undefined ? {} : { budget }),
      ...(maxParallel === undefined ? {} : { maxParallel: maxParallel ?? undefined }),
    }
    draft.note('mission_updated', { fields: Object.keys(patch) })
    if (record.closedBy.includes('budget') && !isSpent(record))
      draft.move('mission_budget_increased', {
        before: before.budget ?? null,
        after: record.config.budget ?? null,
      })
    return null
  },

  checkBudget(draft) {
    const { record } = draft
    const { phase, closedBy, counts, config } = record
    if (isEnd(phase) || closedBy.includes('budget') || !isSpent(record)) return null
    draft.move('mission_budget_exceeded', {
      totalCost: counts.usd,
      totalTokens: counts.tokens,
      budget: config.budget ?? null,
    })
    return null
  },

  snapshot(draft, { byTask }) {
    const { record } = draft
    const { usd, tokens } = record.counts
    if (isEnd(record.phase) || !isSnapshotDue(record)) return null
    record.snapshot = { usd, tokens }
    draft.tell('cost_snapshot', {
      totalCost: usd,
      totalTokens: tokens,
      budget: record.config.budget ?? null,
      percentUsed: percentUsed(record),
      byTask,
    })
    return null
  },

  settle(draft, _command, { now }) {
    const { uuid, phase, counts, updatedAt } = draft.record
    // The transaction of its last task should have ended it.
    if (phase === 'running' && endOf(counts) !== null)
      draft.tell('stall_detected', {
        entityType: 'mission',
        entityId: uuid,
        stalledState: stateOf(draft.record),
        stalledSince: updatedAt,
        action: 'settle',
      })
    settle(draft, now)
    return null
  },
}

/** Its tasks changed in this batch: it ends, or it is open again. */
export function afterCounting(
  record: MissionRecord,
  counts: MissionRecord['counts'],
  context: MissionContext,
): MissionDecision {
  const draft = new MissionDraft({ ...record, counts }, context)
  if (isEnd(record.phase) && openTasks(counts) > 0) {
    draft.record.completedAt = null
    draft.record.error = null
    draft.move('mission_reopened', { tasks: openTasks(counts) })
  } else settle(draft, context.now)
  const decision = draft.decision()
  return { ...decision, record: { ...decision.record!, counts } }
}
