import type { ClaimEnd } from '../../../../src/core/states.ts'
import type { Hue } from '../../theme/marks.ts'

/** Why a generation ended, in words, and how bad that is. */
export const ENDS = {
  COMPLETED: { words: 'completed', hue: 'done' },
  SUBMITTED: { words: 'submitted a result for review', hue: 'held' },
  VOLUNTARY: { words: 'released it', hue: 'wait' },
  NEEDS_HUMAN: { words: 'asked a person', hue: 'ask' },
  CONTINUES_LATER: { words: 'continues after other tasks', hue: 'wait' },
  OVER_BUDGET: { words: 'budget spent', hue: 'ask' },
  EXPIRED: { words: 'lease expired', hue: 'bad' },
  WORKER_LOST: { words: 'its worker stopped responding', hue: 'bad' },
  AGENT_LOST: { words: 'the agent stopped responding', hue: 'bad' },
  STALLED: { words: 'no sign of life', hue: 'bad' },
  HUNG: { words: 'responding, but without progress', hue: 'bad' },
  NOT_STARTED: { words: 'was never started', hue: 'bad' },
  TIMED_OUT: { words: 'took too long', hue: 'bad' },
  DEADLINE: { words: 'the deadline passed', hue: 'bad' },
  MERGED: { words: 'its parts were merged', hue: 'done' },
  PROMOTED: { words: 'another result was promoted', hue: 'wait' },
  SUPERSEDED: { words: 'a newer claim took it', hue: 'wait' },
  CANCELLED: { words: 'cancelled', hue: 'wait' },
  PAUSED: { words: 'paused', hue: 'held' },
  REASSIGNED: { words: 'given to another agent', hue: 'wait' },
  AGENT_TERMINATED: { words: 'the agent was terminated', hue: 'wait' },
  AGENT_PAUSED: { words: 'the agent was stopped', hue: 'held' },
  ERROR: { words: 'failed', hue: 'bad' },
} as const satisfies Record<ClaimEnd, { words: string; hue: Hue }>
