import type { AnswerOf } from '../../../pure/shapes.ts'
import {
  isHeld,
  isTerminal,
  TASK_STATES,
  TASK_TRANSITIONS,
  type TaskState,
  taskStates,
} from '../../../pure/states.ts'
import type { BoardColumn } from '../../../views/board/columns.ts'
import type { Card } from '../../../views/board/shapes.ts'

/**
 * What people do to a task: from which states, and where it leads. The rules decide by this table; pages offer only what is allowed, and
 * show the outcome before the answer is there.
 */

/** The changes of state that an act may record. The first one says from which states the act is possible. */
const CHANGES_BY = {
  pause: ['task_paused'],
  resume: ['task_unpaused', 'task_unpaused_to_wait'],
  cancel: ['task_cancelled'],
  retry: ['task_retried', 'task_retried_to_wait'],
  reset: ['task_reset', 'task_reset_to_wait'],
  approve: ['task_human_approved'],
  // Without attempts left, or for good, the task fails.
  reject: ['task_human_rejected', 'task_failed'],
  answer: ['task_answered'],
  complete: ['task_completed_by_person'],
  skip: ['task_skipped'],
  promote: ['task_result_promoted'],
} as const

/** Acts that need not change the state. */
const POSSIBLE_IN = {
  archive: taskStates.filter(isTerminal),
  priority: taskStates,
  agent: taskStates,
  tags: taskStates,
  type: taskStates.filter((state) => !isHeld(state)),
} satisfies Record<string, readonly TaskState[]>

type ChangingAct = keyof typeof CHANGES_BY
export type Act = ChangingAct | keyof typeof POSSIBLE_IN

export const acts = [...Object.keys(CHANGES_BY), ...Object.keys(POSSIBLE_IN)] as Act[]

const isChanging = (act: Act): act is ChangingAct => act in CHANGES_BY

/** The change of state that an act is refused without. */
export const transitionOf = (act: ChangingAct) => TASK_TRANSITIONS[CHANGES_BY[act][0]]

export const statesFor = (act: Act): readonly TaskState[] =>
  isChanging(act) ? transitionOf(act).from : POSSIBLE_IN[act]

export const isAllowed = (act: Act, state: TaskState) => statesFor(act).includes(state)

/** Revoked from its holder, or failed when its generations are used up. */
const REASSIGNED = ['task_requeued', 'task_failed'] as const

/**
 * The columns that a task of this state may be in after an act; none: it leaves the board. What other tasks make of it then, as when
 * one that it depends on failed while it was paused, is a change of its own.
 */
export function columnsAfter(act: Act, state: TaskState): BoardColumn[] {
  if (!isAllowed(act, state) || act === 'archive') return []
  const stays = isChanging(act) ? [] : [TASK_STATES[state].board]
  const names = isChanging(act) ? CHANGES_BY[act] : act === 'agent' ? REASSIGNED : []
  const reached = names
    .map((name) => TASK_TRANSITIONS[name])
    .filter(({ from }) => (from as readonly TaskState[]).includes(state))
  // A change of agent takes a task only from a holder.
  const moves = act === 'agent' && TASK_STATES[state].type !== 'running' ? [] : reached
  return [...new Set([...stays, ...moves.map(({ to }) => TASK_STATES[to].board)])]
}

type Acted = Pick<AnswerOf<typeof Card>, 'state' | 'awaits' | 'resultDigest' | 'purpose'>

/** Whether an act is possible for this very task, as far as its card tells. */
export function mayBeDone(act: Act, { state, awaits, resultDigest, purpose }: Acted): boolean {
  if (!isAllowed(act, state)) return false
  switch (act) {
    case 'approve':
      return awaits !== 'question' && resultDigest !== null
    case 'reject':
      return awaits !== 'question'
    case 'answer':
      return awaits === 'question'
    case 'complete':
      return purpose === 'work'
    default:
      return true
  }
}

export const actsFor = (card: Acted): Act[] => acts.filter((act) => mayBeDone(act, card))
