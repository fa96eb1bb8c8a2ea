/** The states of missions, as data. Rules walk these tables; docs/state-machines.md is generated from them. */

/** How far a mission has come, whether or not its gate is closed. */
export const MISSION_PHASES = [
  'pending',
  'planning',
  'awaiting_approval',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const
export type MissionPhase = (typeof MISSION_PHASES)[number]

/** Why the gate of a mission is closed. Each reason is removed only by what it stands for. */
export const GATE_REASONS = ['unapproved', 'paused', 'budget', 'cancelling'] as const
export type GateReason = (typeof GATE_REASONS)[number]

/** What people read: the phase, unless the mission is paused or has spent its budget. */
export const MISSION_STATES = {
  pending: { type: 'pending' },
  planning: { type: 'pending' },
  awaiting_approval: { type: 'pending' },
  running: { type: 'running' },
  paused: { type: 'paused' },
  budget_exceeded: { type: 'paused' },
  completed: { type: 'terminal' },
  failed: { type: 'terminal' },
  cancelled: { type: 'terminal' },
} as const
export type MissionState = keyof typeof MISSION_STATES
export const missionStates = Object.keys(MISSION_STATES) as MissionState[]

export const MISSION_ENDS = ['completed', 'failed', 'cancelled'] as const
export type MissionEnd = (typeof MISSION_ENDS)[number]
export const isEnd = (phase: MissionPhase): phase is MissionEnd =>
  (MISSION_ENDS as readonly string[]).includes(phase)

/** The state of a mission: a paused one shows that first, whatever else closes its gate. */
export function stateOf({ phase, closedBy }: { phase: MissionPhase; closedBy: readonly GateReason[] }) {
  if (isEnd(phase)) return phase
  if (closedBy.includes('paused')) return 'paused'
  return closedBy.includes('budget') ? 'budget_exceeded' : phase
}

/** What a row comes from when it is first written. */
export const NEW = 'new'

interface Transition {
  readonly from: readonly (MissionPhase | typeof NEW)[]
  /** Null: the phase stays. */
  readonly to: MissionPhase | null
  /** The reason that closes the gate from then on, or that does so no longer. An end leaves none. */
  readonly closes?: GateReason
  readonly opens?: GateReason
  /** Who makes the change happen. */
  readonly by: 'operator' | 'flow' | 'time'
}

const OPEN = ['pending', 'planning', 'awaiting_approval', 'running'] as const

/**
 * Every change of a mission's phase and of its gate, named by the one event it records (Automatos 3.4). Changes that are not
 * here are impossible: rules change both only through `moved`.
 */
export const MISSION_TRANSITIONS = {
  mission_created: { from: [NEW], to: 'pending', by: 'operator' },
  mission_planning_started: {
    from: ['pending', 'awaiting_approval'],
    to: 'planning',
    opens: 'unapproved',
    by: 'flow',
  },
  mission_plan_ready: {
    from: ['pending', 'planning', 'awaiting_approval'],
    to: 'awaiting_approval',
    closes: 'unapproved',
    by: 'flow',
  },
  /** The planner did not come up with a valid plan, or the tasks of the given one are refused: a person has to plan. */
  mission_plan_failed: {
    from: ['pending', 'planning'],
    to: 'awaiting_approval',
    closes: 'unapproved',
    by: 'flow',
  },
  mission_approved: { from: ['awaiting_approval'], to: 'running', opens: 'unapproved', by: 'operator' },
  mission_rejected: { from: ['awaiting_approval'], to: 'failed', by: 'operator' },
  mission_paused: { from: OPEN, to: null, closes: 'paused', by: 'operator' },
  mission_resumed: { from: OPEN, to: null, opens: 'paused', by: 'operator' },
  mission_budget_exceeded: { from: OPEN, to: null, closes: 'budget', by: 'flow' },
  mission_budget_increased: { from: OPEN, to: null, opens: 'budget', by: 'operator' },
  /** It is cancelled, or a failed task stops it: its tasks are cancelled, then it ends. */
  mission_stopping: { from: OPEN, to: null, closes: 'cancelling', by: 'operator' },
  mission_completed: { from: ['running'], to: 'completed', by: 'flow' },
  mission_failed: { from: ['running'], to: 'failed', by: 'flow' },
  mission_cancelled: { from: OPEN, to: 'cancelled', by: 'operator' },
  /** One of its tasks is to be done again. */
  mission_reopened: { from: MISSION_ENDS, to: 'running', by: 'operator' },
} as const satisfies Record<string, Transition>

export type MissionTransition = keyof typeof MISSION_TRANSITIONS

/** How far a mission has come, and what closes its gate. */
export interface MissionProgress {
  phase: MissionPhase
  closedBy: readonly GateReason[]
}

/** Where a change leads. Throws when the table does not have it: a rule is wrong. */
export function moved(name: MissionTransition, before: MissionProgress | typeof NEW): MissionProgress {
  const { from, to, closes, opens }: Transition = MISSION_TRANSITIONS[name]
  const phase = before === NEW ? NEW : before.phase
  if (!from.includes(phase)) throw new Error(`${name} is not possible from ${phase}`)
  const after = to ?? (phase as MissionPhase)
  if (before === NEW || isEnd(after)) return { phase: after, closedBy: [] }
  const closedBy = before.closedBy.filter((reason) => reason !== opens && reason !== closes)
  return { phase: after, closedBy: closes === undefined ? closedBy : [...closedBy, closes] }
}

/** The state in which a mission ended with this event; null: none did. */
export const endOfMission = ({ type, to }: { type: string; to: string | null }): MissionPhase | null =>
  Object.hasOwn(MISSION_TRANSITIONS, type) ? (MISSION_ENDS.find((end) => end === to) ?? null) : null
