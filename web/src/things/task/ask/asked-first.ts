import type { Act } from '../../../../../src/kinds/task/rules/allowed-acts.ts'
import type { Card } from '../../../live/card.ts'
import type { Asked } from '../../../requests/acts.ts'

/** Acts before which something is asked: a reason, a value, or a confirmation. */

/** Acts that a board offers, too. `again`: retry, start over, or back to the queue. */
export type SharedAct =
  | 'cancel'
  | 'approve'
  | 'reject'
  | 'reset'
  | 'again'
  | 'start_over'
  | 'priority'
  | 'agent'
  | 'type'
  | 'tags'

const ASKED_FIRST = [
  'cancel',
  'approve',
  'reject',
  'reset',
  'priority',
  'agent',
  'type',
  'tags',
  'complete',
  'skip',
] as const
type ActWithQuestion = (typeof ASKED_FIRST)[number]
export type AskedAct = ActWithQuestion | 'budget' | 'start_over'

export const isAskedFirst = (act: Act): act is ActWithQuestion =>
  (ASKED_FIRST as readonly Act[]).includes(act)

export type AskedTask = Pick<
  Card,
  'id' | 'title' | 'state' | 'awaits' | 'purpose' | 'generation' | 'resultDigest' | 'priority' | 'agent'
>

/** What a question is about. */
interface AskedAbout {
  /** The name that people use: "B-014", or "12 tasks". */
  readonly name: string
  /** The task as it was when the question was asked; undefined: there are several. */
  readonly one: AskedTask | undefined
}

export interface Asking {
  about: AskedAbout
  onClose: () => void
  send: (asked: Asked) => void
}
