import { z } from 'zod'
import {
  afterClaim,
  claimed,
  crashed,
  ended,
  failure,
  fence,
  held,
  judged,
  judging,
  lasted,
  lostWork,
  mission,
  ofAgent,
  planned,
  planner,
  retried,
  routine,
  run,
  runEnd,
  spent,
  spentByRun,
  spentOnTask,
  submitted,
  text,
  woken,
} from './event-payloads.ts'
import type { MissionState, MissionTransition } from './kinds/mission/states.ts'
import { AGENT_STATES, type TaskState, type TransitionName } from './states.ts'
import { INBOX_KINDS } from './waiting.ts'

/**
 * The event catalogue: a schema for the payload of each type. State changes are named as in states.ts; the rest
 * are notes that leave the state alone.
 */
export const EVENTS = {
  task_created: z.object({
    title: text,
    taskType: text,
    priority: z.int(),
    dependsOn: z.array(text),
    triggerRule: text.optional(),
    childOf: text.optional(),
  }),
  task_divided: z.object({ parts: z.int(), merge: text }),
  task_queued: z.object({ because: z.enum(['due', 'dependencies_met']), unblockedBy: text.optional() }),
  task_skipped: z.object({ because: text, failedDependency: text.optional(), ...afterClaim }),
  task_assigned: z.object({ ...claimed, leaseMs: z.int(), attempt: z.int(), previousState: text.nullable() }),
  task_started: z.object({ ...held, attempt: z.int() }),
  task_continuing: z.object({ ...held, continuations: z.int(), ...spentByRun }),
  task_continues_later: z.object({ ...afterClaim, ...held, after: z.array(text), ...spentByRun }),
  task_resumed: z.object({ ...held, continuations: z.int() }),
  task_released: z.object({ ...afterClaim, ...held, reason: text }),
  task_requeued: z.object({ because: text, ...afterClaim }),
  task_completed: z.object({ ...afterClaim, ...held, workProductRef: text, late: z.boolean(), ...submitted }),
  task_output_submitted: z.object({ ...afterClaim, ...held, workProductRef: text, ...submitted }),
  task_human_review_requested: z.object({
    reason: text,
    workProductRef: text.optional(),
    question: text.optional(),
    options: z.array(text).optional(),
    ...judged,
    ...submitted,
    ...afterClaim,
  }),
  task_completed_by_person: z.object({ workProductRef: text, comment: text.nullable(), ...afterClaim }),
  task_answered: z.object({ question: text, answer: text }),
  task_verification_passed: z.object({ verdict: text.nullable(), ...judged }),
  task_verification_failed: z.object({ verdict: text.nullable(), attempt: z.int(), ...judged, ...retried }),
  task_verification_requested: z.object({ verifier: text.nullable() }),
  task_human_approved: z.object({ comment: text.nullable() }),
  task_human_rejected: z.object({ comment: text.nullable(), attempt: z.int(), ...retried }),
  task_retrying: z.object({
    ...afterClaim,
    ...retried,
    ...failure,
    dueAt: z.number(),
    waitMs: z.number(),
    ...spentByRun,
  }),
  task_lease_expired: z.object({
    ...held,
    ...retried,
    ...crashed,
    attempt: z.int(),
    leaseExpiredAt: z.number(),
  }),
  task_worker_lost: z.object({ ...held, ...retried, ...crashed, attempt: z.int(), silentMs: z.number() }),
  task_agent_lost: z.object({ ...held, ...retried, ...crashed, attempt: z.int(), silentMs: z.number() }),
  task_stalled: z.object({ ...held, ...retried, ...crashed, attempt: z.int(), silentMs: z.number() }),
  task_hung: z.object({
    ...held,
    ...retried,
    ...crashed,
    attempt: z.int(),
    withoutProgressMs: z.number(),
    priority: z.int(),
  }),
  task_held_back: z.object({ dependsOn: z.array(text) }),
  task_expired: z.object({ expiresAt: z.number() }),
  task_merged: z.object({ parts: z.int(), workProductRef: text }),
  task_result_promoted: z.object({
    promotedGeneration: z.int(),
    promotedSession: text,
    workProductRef: text,
    replaced: z.boolean(),
    reason: text.nullable(),
    ...afterClaim,
  }),
  task_failed: z.object({
    ...afterClaim,
    ...failure,
    reason: text,
    failedDependency: text.optional(),
    comment: text.nullable().optional(),
    verdict: text.nullable().optional(),
    ...judged,
    ...spentByRun,
    ...lasted,
  }),
  task_budget_exceeded: z.object({ error: text.nullable().optional(), ...spentByRun, ...afterClaim }),
  task_paused: z.object({ reason: text.nullable(), ...afterClaim }),
  task_unpaused: z.object({}),
  task_unpaused_to_wait: z.object({}),
  task_retried: z.object({ reason: text.nullable(), ...afterClaim }),
  task_retried_to_wait: z.object({ reason: text.nullable(), ...afterClaim }),
  task_reopened: z.object({ because: text, ...afterClaim }),
  task_reset_to_wait: z.object({ reason: text.nullable(), epoch: z.int(), ...afterClaim }),
  task_reset: z.object({ reason: text.nullable(), epoch: z.int(), ...afterClaim }),
  task_cancelled: z.object({ reason: text.nullable(), ...afterClaim }),

  task_updated: z.object({ fields: z.array(text) }),
  task_archived: z.object({}),
  /** Folders and branches of these generations are removed; `retention`: the task ended long ago. */
  task_work_removed: z.object({
    because: z.enum(['discarded', 'retention']),
    generations: z.array(z.int()),
    branches: z.int(),
    folders: z.int(),
  }),
  task_progress: z.object({
    ...held,
    percent: z.number().optional(),
    step: text.optional(),
    checkpoint: z.boolean(),
    doneBy: z.number().optional(),
  }),
  task_hang_suspected: z.object({ ...held, doneBy: z.number() }),
  task_logged: z.object({
    ...held,
    level: text,
    event: text,
    message: text,
    details: z.unknown().optional(),
  }),
  model_fallback: z.object({ ...held, from: text.nullable(), to: text, reason: text.nullable() }),
  /** Somebody took on the verification of its result. */
  task_verification_started: z.object(judging),
  task_result_rejected: z.object({
    code: text,
    givenGeneration: z.int(),
    givenSession: text,
    workLost: z.boolean(),
    workProductRef: text,
    resultBytes: z.int(),
    ...lostWork,
  }),
  /** Upkeep found something that makes no progress; what it does about it is in the next event. */
  stall_detected: z.object({
    entityType: z.enum(['task', 'mission']),
    entityId: text,
    stalledState: text,
    stalledSince: z.number(),
    action: text,
  }),
  alert_raised: z.object({ alert: text, error: text.nullable() }),
  /** What an alert about this task said is no longer so. */
  alert_cleared: z.object({ alert: text }),
  claim_renewed: z.object({ ...held, leaseExpiresAt: z.number() }),
  claim_write_refused: z.object(fence),

  workspace_created: z.object({ name: text }),
  key_created: z.object({ keyId: text, name: text, role: text, agent: text.optional() }),
  key_revoked: z.object({ keyId: text, name: text, endedWith: text.nullable() }),
  limits_changed: z.object({ changed: z.record(text, z.unknown()) }),
  agent_registered: z.object({ ...ofAgent, by: text }),
  agent_updated: z.object({ agent: text, fields: z.array(text) }),
  agent_paused: z.object({ ...ofAgent, reason: text.nullable(), graceful: z.boolean().optional() }),
  agent_resumed: z.object(ofAgent),
  agent_leaving: z.object({ ...ofAgent, reason: text, claims: z.int() }),
  agent_terminated: z.object({ ...ofAgent, reason: text, claims: z.int() }),
  agent_removed: z.object(ofAgent),
  agent_stale: z.object({ ...ofAgent, silentMs: z.number(), claims: z.int() }),
  agent_recovered: z.object({ ...ofAgent, after: text }),
  agent_faulted: z.object({ ...ofAgent, reason: text }),
  /** Of agents that Baton runs: the first of its runs makes it running, the end of the last one leaves it idle. */
  agent_status_changed: z.object({ ...ofAgent, from: z.enum(AGENT_STATES), to: z.enum(AGENT_STATES) }),
  dependency_cycle_found: z.object({ cycle: z.array(text) }),
  recovery_forced: z.object({ did: z.record(text, z.int()), allWorkspaces: z.boolean().optional() }),
  session_started: z.object({ session: text }),
  session_ended: z.object({ session: text, reason: text }),
  worker_registered: z.object({ session: text, capacity: z.int(), capabilities: z.array(text) }),
  worker_draining: z.object({ session: text }),
  worker_lost: z.object({ session: text, silentMs: z.number(), claims: z.int() }),
  project_created: z.object({ project: text }),
  project_planned: z.object({ project: text, created: z.int(), updated: z.int() }),
  track_changed: z.object({ project: text, track: text, maxAgents: z.int().nullable() }),
  wakeup_requested: z.object(woken),
  wakeup_coalesced: z.object({ ...woken, into: text }),
  wakeup_skipped: z.object({ ...woken, because: text }),
  run_queued: z.object({ ...run, source: text, reason: text.nullable() }),
  run_started: z.object({ ...run, attempt: z.int().nullable(), generation: z.int().nullable() }),
  run_status: z.object({ ...run, message: text, color: text }),
  run_cancel_requested: z.object({ ...run, reason: text }),
  run_flagged: z.object({ ...run, code: text, detail: text }),
  run_finished: z.object({ ...run, ...runEnd, ...spentOnTask }),
  /** While it runs, every five seconds at most. */
  run_usage: z.object({
    ...run,
    inputTokens: z.int().nullable(),
    cachedInputTokens: z.int().nullable(),
    outputTokens: z.int().nullable(),
    ...spentOnTask,
  }),
  runtime_state_updated: z.object({ agent: text, runs: z.int(), lastRunId: text, lastRunStatus: text }),
  runtime_state_reset: z.object({ agent: text, sessions: z.int() }),
  credential_parked: z.object({ agent: text, agents: z.int(), until: z.number(), model: text.optional() }),

  mission_created: z.object({
    ...mission,
    goal: text,
    title: text,
    autonomy: text,
    config: z.unknown().optional(),
  }),
  mission_planning_started: z.object({ ...mission, agent: text.nullable(), ...planner }),
  mission_plan_ready: z.object({ ...mission, ...planned }),
  mission_plan_rejected: z.object({
    ...mission,
    version: z.int(),
    comment: text.nullable(),
    /** Of a mission that runs: the version that it continues with. */
    follows: z.int().optional(),
  }),
  mission_plan_failed: z.object({ ...mission, reason: text }),
  mission_approved: z.object({
    ...mission,
    approvedBy: text,
    version: z.int(),
    digest: text,
    taskCount: z.int(),
    comment: text.nullable(),
    proposedBy: text.optional(),
  }),
  mission_rejected: z.object({ ...mission, version: z.int(), comment: text.nullable() }),
  mission_paused: z.object({ ...mission, reason: text.nullable(), held: z.int() }),
  mission_resumed: z.object(mission),
  mission_updated: z.object({ ...mission, fields: z.array(text) }),
  mission_budget_exceeded: z.object({ ...mission, ...spent }),
  mission_budget_increased: z.object({ ...mission, before: z.unknown(), after: z.unknown() }),
  mission_stopping: z.object({ ...mission, reason: text, tasksRemaining: z.int() }),
  mission_completed: z.object({ ...mission, ...ended }),
  mission_failed: z.object({ ...mission, ...ended }),
  mission_cancelled: z.object({ ...mission, ...ended }),
  mission_outcome_ready: z.object({ ...mission, tasksCompleted: z.int() }),
  mission_outcome_declined: z.object({ ...mission, missing: text, isPlanned: z.boolean() }),
  /** Another plan, while the tasks of the approved one continue. */
  mission_plan_proposed: z.object({ ...mission, ...planned }),
  /** A newer plan is approved while the mission runs. */
  mission_plan_changed: z.object({
    ...mission,
    approvedBy: text,
    version: z.int(),
    digest: text,
    taskCount: z.int(),
    comment: text.nullable(),
    added: z.int(),
    changed: z.int(),
    cancelled: z.int(),
  }),
  mission_reopened: z.object({ ...mission, tasks: z.int() }),
  cost_snapshot: z.object({
    ...mission,
    ...spent,
    percentUsed: z.number().nullable(),
    byTask: z.array(z.object({ taskId: text, tokens: z.int(), costUsd: text.nullable() })),
  }),
  /** Its failed tasks are to be done again, and what was skipped because of them. */
  mission_retrying: z.object({ ...mission, reason: text.nullable(), tasks: z.int() }),

  routine_created: z.object({ ...routine, name: text, origin: text.nullable() }),
  routine_updated: z.object({ ...routine, fields: z.array(text) }),
  routine_removed: z.object(routine),
  /** By hand, or at its scheduled time. */
  routine_started: z.object({ ...routine, missionId: text, scheduledFor: text.nullable() }),
  /** The mission before has not ended. */
  routine_skipped: z.object({ ...routine, scheduledFor: text, inRow: z.int() }),
  routine_waiting: z.object({ ...routine, scheduledFor: text, because: text, times: z.int() }),
  /** Scheduled times that nobody noticed, and that are not caught up; or that waited, and gave way to a newer one. */
  routine_missed: z.object({ ...routine, since: text, until: text }),
  routine_failed: z.object({ ...routine, scheduledFor: text, reason: text }),

  /** Something waits for a person. Its title, and how much it blocks, are read with the inbox. */
  inbox_added: z.object({
    item: z.object({
      id: text,
      kind: z.enum(INBOX_KINDS),
      agent: text.nullable(),
      reason: text.nullable(),
      since: z.number(),
      generation: z.int().nullable(),
      digest: text.nullable(),
    }),
  }),
  /** It waits no more, because of the event of this type. */
  inbox_closed: z.object({ id: text, because: text }),

  /** On a task or on a mission. The whole text is in the thread. */
  comment_added: z.object({
    missionId: text.optional(),
    commentId: text,
    author: text,
    preview: text,
    isWhole: z.boolean(),
    replyTo: text.nullable(),
  }),
  /** On a mission or on one of its tasks; `kind` is its type. */
  report_written: z.object({
    ...mission,
    taskId: text.optional(),
    reportId: text,
    version: z.int(),
    kind: text,
    source: text,
    author: text,
  }),
} as const satisfies Record<TransitionName | MissionTransition, z.ZodType> & Record<string, z.ZodType>

export type EventType = keyof typeof EVENTS
export const eventTypes = Object.keys(EVENTS) as EventType[]

/** An event before it gets its sequence number (seq) in the workspace's log. */
export interface EventDraft {
  readonly type: EventType
  readonly taskId: number | null
  /** The mission it is about, or the task's. */
  readonly missionId?: number | null | undefined
  readonly generation: number | null
  /** Of the task, after this event. */
  readonly version?: number | null | undefined
  readonly from: TaskState | MissionState | null
  readonly to: TaskState | MissionState | null
  readonly actor: string
  readonly payload: Record<string, unknown>
  readonly at: number
}

/** Who caused an event; for a request also the key that was presented and the address it came from. */
export interface Origin {
  readonly actor: string
  readonly keyId?: string | null | undefined
  readonly address?: string | null | undefined
}

export const originOf = ({ actor, keyId, address }: Origin): Origin => ({ actor, keyId, address })

/** An event of a change that one caller made. Those of a batch of tasks carry only their actor: a batch has many callers. */
export type EventWithOrigin = EventDraft & Omit<Origin, 'actor'>

/** An event that belongs to no task. */
export const workspaceEvent = (
  type: EventType,
  payload: Record<string, unknown>,
  { now, actor, keyId, address }: Origin & { now: number },
): EventWithOrigin => ({
  ...{ type, taskId: null, generation: null, from: null, to: null, actor, payload, at: now },
  // Of a request only: in a log in memory, an event has no fields without a value.
  ...(keyId && { keyId }),
  ...(address && { address }),
})

/** An event of a mission. Its states are those of missions. */
export const missionEvent = (
  type: EventType,
  { id, uuid }: { id: number; uuid: string },
  payload: Record<string, unknown>,
  { actor, now }: { actor: string; now: number },
  from: MissionState | null = null,
  to: MissionState | null = null,
): EventDraft => ({
  ...{ type, taskId: null, missionId: id, generation: null, from, to, actor, at: now },
  payload: { missionId: uuid, ...payload },
})

export interface StoredEvent extends EventDraft {
  readonly seq: number
}
