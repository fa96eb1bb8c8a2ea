/**
 * The states of runs and wakeups, and what changes the state an agent keeps between runs, as data. Rules walk these tables,
 * SQL takes its lists from them, and docs/state-machines.md is generated from them.
 */

export const RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out'] as const
export type RunState = (typeof RUN_STATES)[number]

export const WAKEUP_STATES = [
  'queued',
  'claimed',
  'coalesced',
  'skipped',
  'completed',
  'failed',
  'cancelled',
] as const
export type WakeupState = (typeof WAKEUP_STATES)[number]

/** What a row comes from when it is first written. */
export const NEW = 'new'

interface Transition<State extends string> {
  readonly from: readonly (State | typeof NEW)[]
  readonly to: readonly State[]
}

/** Every change of a run's state, named by the event it records. Changes that are not here are impossible: `moved` throws. */
export const RUN_TRANSITIONS = {
  run_queued: { from: [NEW], to: ['queued'] },
  run_started: { from: ['queued'], to: ['running'] },
  run_finished: { from: ['queued', 'running'], to: ['succeeded', 'failed', 'cancelled', 'timed_out'] },
} as const satisfies Record<string, Transition<RunState>>

/** The same of a wakeup. Its run begins and ends it. */
export const WAKEUP_TRANSITIONS = {
  wakeup_requested: { from: [NEW], to: ['queued'] },
  wakeup_coalesced: { from: [NEW], to: ['coalesced'] },
  wakeup_skipped: { from: [NEW, 'queued'], to: ['skipped'] },
  run_queued: { from: ['queued'], to: ['claimed'] },
  run_finished: { from: ['claimed'], to: ['completed', 'failed', 'cancelled'] },
} as const satisfies Record<string, Transition<WakeupState>>

export type RunEndState = (typeof RUN_TRANSITIONS)['run_finished']['to'][number]
type WakeupEndState = (typeof WAKEUP_TRANSITIONS)['run_finished']['to'][number]

/** How the wakeup of a run ends with it. */
export const WAKEUP_END_OF = {
  succeeded: 'completed',
  failed: 'failed',
  timed_out: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<RunEndState, WakeupEndState>

/**
 * What changes the state that an agent keeps between runs, and which of its fields. It has no states of its own: each of
 * these may follow any other, and `changedRuntime` throws when a rule changes a field that is not its own.
 */
export const RUNTIME_CHANGES = {
  run_queued: ['adapterType', 'lastStartedAt', 'state'],
  run_finished: [
    'lastRunId',
    'lastRunStatus',
    'lastError',
    'sessionId',
    'state',
    'runs',
    'totalInputTokens',
    'totalOutputTokens',
    'totalCachedInputTokens',
    'totalCostUsd',
    'unknownRuns',
    'updatedAt',
  ],
  credential_parked: ['parkedUntil'],
  runtime_state_reset: ['sessionId', 'state'],
  timer_scheduled: ['nextTimerAt'],
} as const

/** The states that a transition leads out of. */
const leftIn = (table: Record<string, Transition<string>>): ReadonlySet<string> =>
  new Set(Object.values(table).flatMap(({ from }) => from))
const LIVE = leftIn(RUN_TRANSITIONS)
const PENDING = leftIn(WAKEUP_TRANSITIONS)

/** A live run may have a process. */
export const isLive = (state: RunState) => LIVE.has(state)
export const isOver = (state: RunState) => !LIVE.has(state)
/** It has begun and not ended: its program may report. */
export const isStarted = (state: RunState) =>
  (RUN_TRANSITIONS.run_started.to as readonly RunState[]).includes(state)
/** A live run that has not begun. */
export const isNotStarted = (state: RunState) => isLive(state) && !isStarted(state)
/** Its agent has ended on its own, with an outcome: it has read its prompt. */
export const hasReadItsPrompt = (state: RunState) => state === 'succeeded'
/** A pending wakeup waits for its run, or has one that is live. */
export const isPending = (state: WakeupState) => PENDING.has(state)
/** It waits for its run. */
export const isQueued = (state: WakeupState) =>
  (WAKEUP_TRANSITIONS.run_queued.from as readonly WakeupState[]).includes(state)
export const isSkipped = (state: WakeupState) =>
  (WAKEUP_TRANSITIONS.wakeup_skipped.to as readonly WakeupState[]).includes(state)
/** Requests that were coalesced or skipped did not wake the agent. */
export const wokeItsAgent = (state: WakeupState) => state !== 'coalesced' && state !== 'skipped'

export const RUN_STATES_AFTER_READING = RUN_STATES.filter(hasReadItsPrompt)
export const LIVE_RUN_STATES = RUN_STATES.filter(isLive)
export const RUN_END_STATES: readonly RunEndState[] = RUN_TRANSITIONS.run_finished.to
export const PENDING_WAKEUP_STATES = WAKEUP_STATES.filter(isPending)
export const WAKING_STATES = WAKEUP_STATES.filter(wokeItsAgent)

/** The state after this transition. Throws when the table does not have it: a rule is wrong. */
function moved<State extends string>(
  table: Record<string, Transition<State>>,
  name: string,
  from: State | typeof NEW,
  to: State,
): State {
  const transition = table[name]!
  if (!transition.from.includes(from) || !transition.to.includes(to))
    throw new Error(`${name} does not lead from ${from} to ${to}`)
  return to
}

export const movedRun = (
  name: keyof typeof RUN_TRANSITIONS,
  from: RunState | typeof NEW,
  to: RunState,
): RunState => moved(RUN_TRANSITIONS as Record<string, Transition<RunState>>, name, from, to)

export const movedWakeup = (
  name: keyof typeof WAKEUP_TRANSITIONS,
  from: WakeupState | typeof NEW,
  to: WakeupState,
): WakeupState => moved(WAKEUP_TRANSITIONS as Record<string, Transition<WakeupState>>, name, from, to)
