import { refuse } from '../../../pure/errors.ts'
import type { TaskState, TriggerRule } from '../../../pure/states.ts'
import { countOf, outcomeOf, readinessOf, type Upstream } from '../../task/rules/upstream-counts.ts'
import { wasNeverReady } from '../../task/rules/wait-again.ts'
import { isEnd } from '../states.ts'
import { type Act, wrongState } from './draft.ts'
import { settle } from './ends.ts'

/**
 * Doing again what failed. The command opens the mission and records when that was; upkeep then goes through its tasks in
 * batches, and through those that were skipped. Until it is done the record says so: after a crash it begins once more.
 */

export const retry: Act<'retry'> = (draft, { reason }, { now }) => {
  const { record } = draft
  const { phase, closedBy, counts } = record
  if ((phase !== 'running' && !isEnd(phase)) || closedBy.includes('cancelling'))
    return wrongState(draft, 'retry')
  const { failed = 0 } = counts.byState
  // Asking twice is one request, repeated.
  if (record.retryAt !== null) return null
  if (failed === 0) return refuse('WRONG_STATE', 'None of the tasks of this mission has failed.')
  record.retryAt = now
  if (isEnd(phase)) {
    record.completedAt = null
    record.error = null
    record.unseen = false
    draft.move('mission_reopened', { tasks: failed })
  }
  draft.note('mission_retrying', { reason, tasks: failed })
  return null
}

/** Its tasks may all have ended by now. */
export const retried: Act<'retried'> = (draft, { retryAt }, { now }) => {
  if (draft.record.retryAt === retryAt) draft.setQuietly({ retryAt: null })
  settle(draft, now)
  return null
}

/** A skipped task, and the present states of what it depends on. */
export interface SkippedTask {
  readonly id: number
  readonly uuid: string
  readonly upstream: Upstream | null
  readonly rule: TriggerRule
  readonly dependsOn: readonly { readonly id: number; readonly state: TaskState }[]
}

/**
 * Those of the skipped tasks that may run after all, each after those it depends on: what is done again is awaited, and so is
 * what was skipped because of it.
 */
export function tasksToReopen(skipped: readonly SkippedTask[]): SkippedTask[] {
  const reopened = new Set<number>()
  return inOrder(skipped).filter(({ id, upstream, rule, dependsOn }) => {
    if (!wasNeverReady({ state: 'skipped', upstream })) return false
    const outcomes = dependsOn.map((on) => (reopened.has(on.id) ? null : outcomeOf(on.state)))
    const isPossible = readinessOf(countOf(rule, outcomes)) !== 'never'
    if (isPossible) reopened.add(id)
    return isPossible
  })
}

/** Each after those of the others that it depends on. */
function inOrder(tasks: readonly SkippedTask[]): SkippedTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const dependents = new Map<number, SkippedTask[]>()
  const waiting = new Map<number, number>()
  for (const task of tasks) {
    const own = task.dependsOn.filter(({ id }) => byId.has(id))
    waiting.set(task.id, own.length)
    for (const { id } of own) dependents.set(id, [...(dependents.get(id) ?? []), task])
  }
  const order = tasks.filter(({ id }) => waiting.get(id) === 0)
  for (const { id } of order)
    for (const next of dependents.get(id) ?? []) {
      waiting.set(next.id, waiting.get(next.id)! - 1)
      if (waiting.get(next.id) === 0) order.push(next)
    }
  return order
}
