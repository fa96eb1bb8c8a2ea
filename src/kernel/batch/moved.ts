import type { TaskRecord } from '../../kinds/task/record.ts'
import { isTerminal } from '../../pure/states.ts'

/**
 * A task before and after a request. A request that was granted and changed nothing counts, too: it may be a repeat because
 * what followed from the first was lost.
 */
export interface MovedTask {
  before: TaskRecord
  after: TaskRecord
  /** The place of the request in its batch. */
  place: number
}

/** What reactions know of it. */
export type Change = Pick<MovedTask, 'before' | 'after'>

/** Dependents have to count it: it ended or was opened again. */
export const endsOrReopens = ({ before, after }: Change) =>
  after.awaited && (isTerminal(after.state) || isTerminal(before.state))

/** It waits again, and while it did not, nobody counted its dependencies. */
export const isUncounted = ({ before, after }: Change) =>
  after.blocked && after.upstream === null && after !== before

/** Baton has to judge its result, or no longer has to, or it was to judge another one and ended. */
export const concernsAVerdict = ({ before, after }: Change) =>
  after.verification === 'baton' &&
  (after.state === 'verifying' || before.state === 'verifying' || isTerminal(after.state))

/** Whether anything may follow from the change. Of most changes nothing does: no other task waits for this one. */
export const mayConcernOthers = (change: Change) =>
  endsOrReopens(change) || isUncounted(change) || concernsAVerdict(change)
