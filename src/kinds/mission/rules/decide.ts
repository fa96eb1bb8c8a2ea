import { type Refusal, refuse } from '../../../pure/errors.ts'
import { type MissionRecord, NO_COUNTS } from '../record.ts'
import { isEnd, type MissionPhase, stateOf } from '../states.ts'
import { accept, decline, planOfRestFailed } from './acceptance.ts'
import type { MissionCommand } from './command.ts'
import { endOf, heldTasks, openTasks } from './counts.ts'
import {
  type Act,
  type Command,
  type MissionContext,
  type MissionDecision,
  MissionDraft,
  wrongState,
} from './draft.ts'
import { finish, settle, stop } from './ends.ts'
import { isBeingPlanned } from './outcome.ts'
import {
  approve,
  isRefusal,
  planAsSeen,
  planIsReady,
  planVersion,
  start,
  startPlanning,
  whyNotAfter,
} from './plans.ts'
import { approveChanges, proposeChanges, rejectChanges } from './replan.ts'
import { retried, retry } from './retry.ts'
import { isSnapshotDue, isSpent, knownCost, percentUsed } from './spending.ts'

/**
 * Reports on the mission and on its tasks. Their versions follow from what the caller read; the number of reports tells whether
 * that is still so, whatever they are about.
 */
const report: Act<'report'> = (draft, { seen, reports }) => {
  if (draft.record.reportCount !== seen)
    return refuse('CHANGED_SINCE', 'Another report on this mission was written in the meantime.')
  for (const one of reports) draft.report(one)
  return null
}

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
  if (refusal) return refused(before, refusal)
  if ('said' in command && command.said) draft.say(command.said)
  return draft.decision()
}

const refused = (record: MissionRecord | null, refusal: Refusal): MissionDecision => ({
  refusal,
  record,
  events: [],
  comments: [],
  reports: [],
  creates: [],
})

function create(uuid: string, command: Command<'create'>, context: MissionContext): MissionDecision {
  const { id, goal, title, description, tags, priority, projectId, project, config, startAt, after } = command
  const { now, actor } = context
  const isAwaiting = after != null && !after.hasEnded
  const isLater = isAwaiting || (startAt !== null && startAt > now)
  const record: MissionRecord = {
    ...{ id, uuid, goal, title, description, tags, priority, projectId, project, config, startAt },
    afterId: after?.id ?? null,
    after: after?.uuid ?? null,
    phase: 'pending',
    ...{ closedBy: [], closedMs: 0, closedAt: now },
    plan: null,
    approved: null,
    rejected: [],
    counts: NO_COUNTS,
    contractors: [],
    reportCount: 0,
    unseen: false,
    snapshot: null,
    createdBy: actor,
    version: 1,
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    completedAt: null,
    error: null,
    retryAt: null,
    // What waits for another mission is found when that one has ended.
    dueAt: isLater && !isAwaiting ? startAt : null,
  }
  const draft = new MissionDraft(record, context, true)
  draft.move('mission_created', { goal, title, autonomy: config.autonomy, config })
  const { proposed, planning } = command
  if (proposed) draft.record.plan = planVersion(record, proposed.plan, context)
  if (!isLater) start(draft, proposed?.tasks ?? [], planning, context, command.approvedBy)
  return draft.decision()
}

/** Before its approval a plan may be replaced by another one. */
const PLANNABLE: readonly MissionPhase[] = ['planning', 'awaiting_approval']
/** Before it has a plan that can be approved. */
const UNPLANNED: readonly MissionPhase[] = ['pending', 'planning']

const ACTS: { [K in Exclude<MissionCommand['kind'], 'create'>]: Act<K> } = {
  start(draft, { tasks, planning }, context) {
    // Found due twice: it has begun already.
    const { phase, startAt } = draft.record
    if (phase !== 'pending') return null
    // The mission it waited for has ended before its own time has come.
    if (startAt !== null && startAt > context.now) draft.setQuietly({ dueAt: startAt })
    else start(draft, tasks, planning, context)
    return null
  },

  propose(draft, { proposed, proposedBy, plannerModel, seenVersion }, context) {
    const refusal = whyNotAfter(draft.record, seenVersion)
    if (refusal) return refusal
    const byPlanner = { ...context, actor: proposedBy ?? context.actor }
    if (draft.record.phase === 'running') return proposeChanges(draft, proposed.plan, byPlanner, plannerModel)
    if (!PLANNABLE.includes(draft.record.phase)) return wrongState(draft, 'propose a plan')
    draft.record.plan = planVersion(draft.record, proposed.plan, byPlanner)
    planIsReady(draft, proposed.tasks, context, null, plannerModel)
    return null
  },

  planFailed(draft, { reason }) {
    if (draft.record.phase === 'running' && isBeingPlanned(draft.record)) {
      planOfRestFailed(draft, reason)
      return null
    }
    if (!UNPLANNED.includes(draft.record.phase)) return wrongState(draft, 'report a failed plan')
    draft.record.dueAt = null
    draft.move('mission_plan_failed', { reason })
    return null
  },

  approve(draft, command, context) {
    const { record } = draft
    const isRunning = record.phase === 'running'
    if (!isRunning && record.phase !== 'awaiting_approval') return wrongState(draft, 'approve')
    const plan = planAsSeen(record, command)
    if (isRefusal(plan)) return plan
    if (isRunning) return approveChanges(draft, plan, command, context.actor)
    approve(draft, plan, command.tasks, context.actor, command.comment, context)
    return null
  },

  reject(draft, command, { now }) {
    const { record } = draft
    const isRunning = record.phase === 'running'
    if (!isRunning && record.phase !== 'awaiting_approval') return wrongState(draft, 'reject')
    const plan = planAsSeen(record, command)
    if (isRefusal(plan)) return plan
    if (isRunning) return rejectChanges(draft, plan, command)
    record.rejected = [...record.rejected, plan.version]
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

  accept: accept(finish),
  decline,
  retry,
  retried,
  report,

  /** Seeing it twice is one act. Those who edit it are not disturbed. */
  seen(draft) {
    const { record } = draft
    if (!isEnd(record.phase)) return wrongState(draft, 'mark as seen')
    if (!record.unseen) return null
    record.unseen = false
    draft.emit('mission_seen', {})
    return null
  },

  comment(draft, { comment }) {
    draft.say(comment)
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
      ...(budget === undefined ? {} : { budget: budget ?? undefined }),
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
      totalCost: knownCost(counts),
      ...{ runs: counts.runs, unknownRuns: counts.unknownRuns },
      totalTokens: counts.tokens,
      budget: config.budget ?? null,
    })
    return null
  },

  snapshot(draft, { byTask }) {
    const { record } = draft
    const { usd, tokens, runs, unknownRuns } = record.counts
    if (isEnd(record.phase) || !isSnapshotDue(record)) return null
    record.snapshot = { usd, tokens }
    draft.emit('cost_snapshot', {
      totalCost: knownCost(record.counts),
      ...{ runs, unknownRuns },
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
    if (phase === 'running' && endOf(counts) !== null && !draft.record.config.outcome)
      draft.emit('stall_detected', {
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
    draft.record.unseen = false
    draft.move('mission_reopened', { tasks: openTasks(counts) })
  } else settle(draft, context.now)
  const decision = draft.decision()
  return { ...decision, record: { ...decision.record!, counts } }
}
