/** The state machines, as data. Code walks these tables; docs/state-machines.md is generated from them. */

export const TASK_STATES = {
  pending: { type: 'pending', board: 'inbox' },
  queued: { type: 'pending', board: 'inbox' },
  awaiting_retry: { type: 'pending', board: 'assigned' },
  assigned: { type: 'running', board: 'assigned' },
  running: { type: 'running', board: 'in_progress' },
  continuing: { type: 'running', board: 'in_progress' },
  verifying: { type: 'paused', board: 'review' },
  awaiting_human: { type: 'paused', board: 'review' },
  paused: { type: 'paused', board: 'inbox' },
  budget_exceeded: { type: 'paused', board: 'review' },
  completed: { type: 'terminal', board: 'done' },
  failed: { type: 'terminal', board: 'done' },
  cancelled: { type: 'terminal', board: 'done' },
  skipped: { type: 'terminal', board: 'done' },
} as const

export type TaskState = keyof typeof TASK_STATES
export type StateType = (typeof TASK_STATES)[TaskState]['type']
export const taskStates = Object.keys(TASK_STATES) as TaskState[]

const ofType = (type: StateType) => taskStates.filter((state) => TASK_STATES[state].type === type)
const HELD = ['assigned', 'running', 'continuing'] as const
/** Results are taken from holders, from late ones, and from those whose mission was closed a moment ago. */
const SUBMITTABLE = [...HELD, 'awaiting_retry', 'queued', 'paused'] as const
const NOT_TERMINAL = taskStates.filter((state) => TASK_STATES[state].type !== 'terminal')
const TERMINAL = ofType('terminal')

export const isTerminal = (state: TaskState) => TASK_STATES[state].type === 'terminal'
/** Whether what its last attempt reported is over with this move: the next one begins again. */
export const dropsProgress = (from: TaskState, to: TaskState) =>
  to === 'awaiting_retry' || (isTerminal(from) && !isTerminal(to))

/** A holder is at work: a row has an active claim in these states, and only in these. */
export const isHeld = (state: TaskState) => TASK_STATES[state].type === 'running'

interface Transition {
  readonly from: readonly TaskState[]
  readonly to: TaskState
  /** Who makes the change happen. */
  readonly by: 'holder' | 'operator' | 'time' | 'flow'
}

/**
 * Every change of a task's state, named by the one event it records. Changes that are not here are impossible:
 * `move` in records.ts throws on them, and the simulation checks every event against this table.
 */
export const TASK_TRANSITIONS = {
  task_divided: { from: ['pending', 'queued'], to: 'pending', by: 'flow' },
  task_queued: { from: ['pending', 'awaiting_retry'], to: 'queued', by: 'time' },
  task_skipped: { from: NOT_TERMINAL, to: 'skipped', by: 'flow' },
  task_assigned: { from: ['queued', 'awaiting_retry'], to: 'assigned', by: 'holder' },
  task_started: { from: ['assigned'], to: 'running', by: 'holder' },
  task_continuing: { from: ['assigned', 'running'], to: 'continuing', by: 'holder' },
  /** It continues when other tasks have ended; nobody holds it until then. */
  task_continues_later: { from: HELD, to: 'pending', by: 'holder' },
  task_resumed: { from: ['continuing'], to: 'running', by: 'holder' },
  task_released: { from: HELD, to: 'queued', by: 'holder' },
  task_requeued: { from: HELD, to: 'queued', by: 'flow' },
  task_completed: { from: SUBMITTABLE, to: 'completed', by: 'holder' },
  /** From pending: the results of its parts were merged. */
  task_output_submitted: { from: [...SUBMITTABLE, 'pending'], to: 'verifying', by: 'holder' },
  task_human_review_requested: {
    from: [...SUBMITTABLE, 'verifying', 'pending'],
    to: 'awaiting_human',
    by: 'holder',
  },
  task_verification_passed: { from: ['verifying'], to: 'completed', by: 'flow' },
  task_verification_failed: { from: ['verifying'], to: 'awaiting_retry', by: 'flow' },
  task_human_approved: { from: ['awaiting_human', 'verifying'], to: 'completed', by: 'operator' },
  task_human_rejected: { from: ['awaiting_human', 'verifying'], to: 'awaiting_retry', by: 'operator' },
  /** A person wants another verdict on the result: by another agent, or by the same one, which works again. */
  task_verification_requested: { from: ['awaiting_human'], to: 'verifying', by: 'operator' },
  /** A person answered the question of its last holder. */
  task_answered: { from: ['awaiting_human'], to: 'queued', by: 'operator' },
  /** A person gave the result. */
  task_completed_by_person: { from: NOT_TERMINAL, to: 'completed', by: 'operator' },
  task_retrying: { from: HELD, to: 'awaiting_retry', by: 'holder' },
  task_lease_expired: { from: HELD, to: 'awaiting_retry', by: 'time' },
  task_worker_lost: { from: HELD, to: 'awaiting_retry', by: 'time' },
  task_agent_lost: { from: HELD, to: 'awaiting_retry', by: 'time' },
  task_stalled: { from: HELD, to: 'awaiting_retry', by: 'time' },
  /** The agent is alive but makes no progress. */
  task_hung: { from: ['running', 'continuing'], to: 'awaiting_retry', by: 'time' },
  /** Dependencies were added. */
  task_held_back: { from: ['pending', 'queued'], to: 'pending', by: 'operator' },
  task_expired: { from: ['queued'], to: 'cancelled', by: 'time' },
  task_merged: { from: ['pending'], to: 'completed', by: 'flow' },
  task_result_promoted: { from: taskStates, to: 'completed', by: 'operator' },
  task_failed: {
    from: ['pending', ...HELD, 'verifying', 'awaiting_human', 'queued', 'awaiting_retry'],
    to: 'failed',
    by: 'holder',
  },
  task_budget_exceeded: { from: HELD, to: 'budget_exceeded', by: 'holder' },
  /** Its estimate is more than is left of a budget: it does not begin. */
  task_budget_too_small: { from: ['queued', 'awaiting_retry'], to: 'budget_exceeded', by: 'flow' },
  task_paused: { from: ['pending', 'queued', 'awaiting_retry', ...HELD], to: 'paused', by: 'operator' },
  task_unpaused: { from: ['paused', 'budget_exceeded'], to: 'queued', by: 'operator' },
  task_unpaused_to_wait: { from: ['paused'], to: 'pending', by: 'operator' },
  task_retried: { from: ['failed', 'awaiting_retry', 'awaiting_human'], to: 'queued', by: 'operator' },
  /** A task that was divided waits for its parts again. */
  task_retried_to_wait: {
    from: ['failed', 'awaiting_retry', 'awaiting_human'],
    to: 'pending',
    by: 'operator',
  },
  /** What it waits for is to be done again: it is skipped no longer. */
  task_reopened: { from: ['skipped'], to: 'pending', by: 'operator' },
  task_reset_to_wait: { from: TERMINAL, to: 'pending', by: 'operator' },
  task_reset: { from: TERMINAL, to: 'queued', by: 'operator' },
  task_cancelled: { from: NOT_TERMINAL, to: 'cancelled', by: 'operator' },
} as const satisfies Record<string, Transition>

export type TransitionName = keyof typeof TASK_TRANSITIONS

export const CLAIM_STATES = ['active', 'released', 'expired', 'superseded', 'error'] as const
export type ClaimState = (typeof CLAIM_STATES)[number]

/** How a claim ends. People read the reason in a task's lineage (Coditect 9.2). */
export const CLAIM_ENDS = {
  COMPLETED: 'released',
  SUBMITTED: 'released',
  VOLUNTARY: 'released',
  NEEDS_HUMAN: 'released',
  CONTINUES_LATER: 'released',
  OVER_BUDGET: 'released',
  EXPIRED: 'expired',
  WORKER_LOST: 'expired',
  AGENT_LOST: 'expired',
  STALLED: 'expired',
  HUNG: 'expired',
  NOT_STARTED: 'expired',
  TIMED_OUT: 'expired',
  DEADLINE: 'superseded',
  MERGED: 'released',
  PROMOTED: 'superseded',
  SUPERSEDED: 'superseded',
  CANCELLED: 'superseded',
  PAUSED: 'superseded',
  REASSIGNED: 'superseded',
  AGENT_TERMINATED: 'superseded',
  AGENT_PAUSED: 'superseded',
  ERROR: 'error',
} as const satisfies Record<string, ClaimState>

export type ClaimEnd = keyof typeof CLAIM_ENDS

/**
 * The state of an agent, as people read it. 'running' is not stored: it is an idle agent that holds a task. 'error': it
 * went silent while it held work; 'offline': it went silent without work.
 */
export const AGENT_STATES = ['idle', 'running', 'paused', 'error', 'offline', 'terminated'] as const
export type AgentState = (typeof AGENT_STATES)[number]

/** A session holds claims under one name. A worker is a session that declared how many tasks it can hold. */
export const SESSION_STATES = ['active', 'draining', 'ended', 'lost'] as const
export type SessionState = (typeof SESSION_STATES)[number]

/** When a task may run, by the states of the tasks it depends on (ADE 5, Automatos 5.3). */
export const TRIGGER_RULES = ['all_success', 'all_done', 'none_failed', 'always', 'one_success'] as const
export type TriggerRule = (typeof TRIGGER_RULES)[number]
