import type { TaskState, TriggerRule } from '../../../pure/states.ts'
import { isTerminal } from '../../../pure/states.ts'

/**
 * Readiness by counting. A task keeps how many of the tasks it depends on are still awaited and how the others ended; each
 * dependency keeps what it contributed. So the end of a task costs its dependents one step each, however much else they
 * wait for.
 */

/** How a task ended. */
export type UpstreamOutcome = 'completed' | 'failed' | 'cancelled' | 'skipped'

/** `data`: the dependent gets the result. `order`: it only comes later. */
export const DEPENDENCY_KINDS = ['data', 'order'] as const
export type DependencyKind = (typeof DEPENDENCY_KINDS)[number]

/** What a task depends on, in numbers. Null on a blocked task: not counted yet. */
export interface Upstream {
  readonly rule: TriggerRule
  readonly waiting: number
  readonly succeeded: number
  readonly failed: number
  /** Cancelled or skipped. */
  readonly other: number
}

/**
 * A dependency as it is stored: what it contributed to the counts, and the version of the upstream task that this was read
 * from. It takes only reports of higher versions, so these may come twice, late and in any order.
 */
export interface CountedDependency {
  readonly rule: TriggerRule
  readonly countedVersion: number
  readonly outcome: UpstreamOutcome | null
}

/** A task gets a dependency, under the trigger rule of all its dependencies. */
export interface DependencyAdded {
  readonly taskId: number
  readonly dependsOn: number
  readonly dependsOnUuid: string
  readonly rule: TriggerRule
  readonly kind: DependencyKind
  /** What it contributes to the counts from the beginning. */
  readonly countedVersion: number
  readonly outcome: UpstreamOutcome | null
}

/** A task no longer waits for another one. */
export interface DependencyRemoved {
  readonly taskId: number
  readonly dependsOn: number
  readonly dependsOnUuid: string
  readonly rule: TriggerRule
}

/** A dependency contributes something else to the counts of its task. */
export interface DependencyRecounted extends CountedDependency {
  readonly taskId: number
  readonly dependsOn: number
}

/** How an upstream task stood at a version; null: it has not ended, or was opened again. */
export interface UpstreamReport {
  readonly dependsOn: number
  readonly uuid: string
  readonly version: number
  readonly outcome: UpstreamOutcome | null
}

export const outcomeOf = (state: TaskState): UpstreamOutcome | null =>
  isTerminal(state) ? (state as UpstreamOutcome) : null

const COUNTED_AS = { completed: 'succeeded', failed: 'failed', cancelled: 'other', skipped: 'other' } as const

const countOfOutcome = (outcome: UpstreamOutcome | null) =>
  outcome === null ? 'waiting' : COUNTED_AS[outcome]

/** The counts with these dependencies added. */
export function plus(before: Upstream, outcomes: readonly (UpstreamOutcome | null)[]): Upstream {
  const after = { ...before }
  for (const outcome of outcomes) after[countOfOutcome(outcome)] += 1
  return after
}

/** The counts without these dependencies. */
export function minus(before: Upstream, outcomes: readonly (UpstreamOutcome | null)[]): Upstream {
  const after = { ...before }
  for (const outcome of outcomes) after[countOfOutcome(outcome)] -= 1
  return after
}

export const countOf = (rule: TriggerRule, outcomes: readonly (UpstreamOutcome | null)[]): Upstream =>
  plus({ rule, waiting: 0, succeeded: 0, failed: 0, other: 0 }, outcomes)

/** The counts of both, under the rule of the first. */
export const sumOf = (one: Upstream, more: Upstream): Upstream => ({
  rule: one.rule,
  waiting: one.waiting + more.waiting,
  succeeded: one.succeeded + more.succeeded,
  failed: one.failed + more.failed,
  other: one.other + more.other,
})

/** The counts when one dependency changed. */
export function recounted(
  before: Upstream,
  from: UpstreamOutcome | null,
  to: UpstreamOutcome | null,
): Upstream {
  const after = { ...before }
  after[countOfOutcome(from)] -= 1
  after[countOfOutcome(to)] += 1
  return after
}

export type Readiness = 'wait' | 'ready' | 'never'

/** Automatos 5.3: may a task run, must it wait, or will it never run? */
export function readinessOf({ rule, waiting, succeeded, failed, other }: Upstream): Readiness {
  switch (rule) {
    case 'always':
      return 'ready'
    case 'one_success':
      return succeeded > 0 ? 'ready' : waiting > 0 ? 'wait' : 'never'
    case 'all_success':
      return failed + other > 0 ? 'never' : waiting > 0 ? 'wait' : 'ready'
    case 'none_failed':
      return failed > 0 ? 'never' : waiting > 0 ? 'wait' : 'ready'
    case 'all_done':
      return waiting > 0 ? 'wait' : 'ready'
  }
}

/** Whether this outcome is a reason why a task of this rule never runs. */
export const standsInTheWay = (rule: TriggerRule, outcome: UpstreamOutcome | null): boolean =>
  outcome !== null && (rule === 'none_failed' ? outcome === 'failed' : outcome !== 'completed')
