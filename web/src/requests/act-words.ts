import type { Act } from '../../../src/kinds/task/rules/allowed-acts.ts'
import { idCarriedBy } from '../../../src/pure/ids.ts'
import type { Card } from '../live/card.ts'
import { statePhrase } from '../theme/marks.ts'

/** Acts and their outcomes, in words. */

export const ACT_NAMES = {
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel',
  retry: 'Retry',
  reset: 'Put back in the queue',
  archive: 'Archive',
  approve: 'Approve',
  reject: 'Reject',
  answer: 'Answer',
  complete: 'Complete by hand',
  skip: 'Skip',
  promote: 'Promote a result',
  priority: 'Change priority',
  agent: 'Change agent',
  type: 'Change type',
  tags: 'Change tags',
} as const satisfies Record<Act, string>

const DONE = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  retry: 'queued for a retry',
  reset: 'put back in the queue',
  archive: 'archived',
  approve: 'approved',
  reject: 'rejected',
  answer: 'answered',
  complete: 'completed',
  skip: 'skipped',
  promote: 'promoted',
  priority: 'changed',
  agent: 'changed',
  type: 'changed',
  tags: 'changed',
} as const satisfies Record<Act, string>

/** A task as people name it: its key, or the number that its id carries. */
export const nameOfTask = (id: string, card: Pick<Card, 'key'> | undefined) =>
  card?.key ?? `#${idCarriedBy(id) ?? id}`

/** "B-003" of "B-003-implement-dashboard", and which part it is: the rest of a key repeats the title. */
export function shortKey(key: string): string {
  const [, number, part = ''] = /^([A-Z]{1,8}-\d{3})-.*?(::\d+)?$/.exec(key) ?? []
  return number === undefined ? key : number + part
}

export const doneWords = (act: Act, names: readonly string[]) =>
  names.length === 1 ? `${names[0]} ${DONE[act]}` : `${names.length} tasks ${DONE[act]}`

/** The state of a task for which an act was refused. */
export function standing(name: string, card: Card, now: number): string {
  const seconds = Math.max(0, Math.round((now - card.stateSince) / 1_000))
  const ago = seconds < 60 ? `${seconds} s` : seconds < 3_600 ? `${Math.round(seconds / 60)} min` : null
  const holder = card.holder ? `, held by ${card.holder.agent}` : ''
  const since = ago === null ? '' : ` since ${ago}`
  const attempt = card.attempt > 0 ? `, attempt ${card.attempt}` : ''
  return `${name} is ${statePhrase(card.state)}${since}${holder}${attempt}.`
}

export const OFFLINE =
  'Nothing was sent: you are disconnected, and this page may be out of date. Try again when it is live.'

export const unknownWords = (act: Act, names: readonly string[]) =>
  `${ACT_NAMES[act]}: it is not known whether it was done for ${names.length === 1 ? names[0] : `${names.length} tasks`}. No answer came.`

/** What `fresh` means, wherever it can be chosen. */
export const START_OVER = {
  words: 'Start over',
  hint: 'The next attempt begins from the base, in a new session. The work so far stays on its branch. Otherwise it continues from there.',
}
