import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import { describeCycle } from '../../../pure/graph.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { whyNotReservedFor } from './acting.ts'
import { fail } from './attempts.ts'
import { hasExpired, stopsItsClock } from './closed.ts'
import { closeForLateResults } from './fence.ts'
import { operate } from './operator.ts'
import { goOnWithout, removeDependencies, whyNotRemoved } from './remove-dependencies.ts'
import { giveUp } from './time.ts'
import { moveByUpstream } from './upstream.ts'
import {
  countOf,
  type DependencyKind,
  outcomeOf,
  type Readiness,
  readinessOf,
  sumOf,
  type Upstream,
  type UpstreamReport,
} from './upstream-counts.ts'

type ChangeDependencies = Extract<TaskCommand, { kind: 'changeDependencies' }>

/** Removes dependencies, and adds others. Those that have ended already are evaluated at once. */
export function changeDependencies(
  draft: TaskDraft,
  command: ChangeDependencies,
  context: RuleContext,
): TaskReply {
  const { record } = draft
  const { dependsOn, remove, patch, before } = command
  // All that can be refused comes before all that is written. Repeating dependencies that exist already changes nothing.
  const refusal =
    whyOutdated(draft, command) ??
    whyNotReservedFor(record, patch?.onlyAgent, 'agent') ??
    (remove ? whyNotRemoved(draft, remove, context) : null) ??
    (dependsOn.length > 0 ? refuseDependencies(draft, command, context) : null)
  if (refusal) return refusal
  const updated = patch && operate(draft, { kind: 'update', ifVersion: null, patch, before }, context)
  if (updated?.ok === false) return updated
  if (remove) removeDependencies(draft, remove, context)
  if (dependsOn.length > 0) blockOn(draft, command, context)
  else if (remove) goOnWithout(draft, remove, context)
  if (updated) return updated
  return { ok: true, reason: remove || dependsOn.length > 0 ? 'HELD_BACK' : 'UNCHANGED', record }
}

function whyOutdated({ record }: TaskDraft, { ifVersion, version }: ChangeDependencies): Refusal | null {
  const mismatch = (more: Record<string, unknown>) =>
    refuse('VERSION_MISMATCH', `The task is at version ${record.version}.`, {
      currentVersion: record.version,
      ...more,
    })
  if (ifVersion !== null && ifVersion !== record.version) return mismatch({})
  // Dependencies may have been added in the meantime: the caller must read again.
  return version === record.version ? null : mismatch({ shouldRetry: true })
}

function refuseDependencies(
  draft: TaskDraft,
  command: ChangeDependencies,
  context: RuleContext,
): Refusal | null {
  const { record } = draft
  const { dependsOn, cycle } = command
  const unknown = dependsOn.find(({ id, uuid }) => context.recordOf?.(id)?.uuid !== uuid)
  if (unknown) {
    const field = `dependsOn[${unknown.place}]`
    return refuseField('VALIDATION_FAILED', field, 'names no task of this workspace')
  }
  if (hasExpired(record, context.now) && !stopsItsClock(draft, context)) giveUp(draft)
  if (record.state !== 'pending' && record.state !== 'queued')
    return refuse('WRONG_STATE', `A task that is ${record.state} cannot get new dependencies.`, {
      taskState: record.state,
    })
  if (cycle === null) return null
  return refuse('DEPENDENCY_CYCLE', `The dependencies would form a cycle: ${describeCycle(cycle)}.`, {
    cycle,
  })
}

function blockOn(draft: TaskDraft, command: ChangeDependencies, context: RuleContext): void {
  const { record } = draft
  const isWaiting = record.blocked
  const added = addedBy(draft, command, context)
  const readiness = readinessAfter(draft, command, added.counts)
  if (readiness === 'ready') {
    draft.touch()
    draft.note('task_updated', context.actor, { fields: ['dependsOn'] })
    moveByUpstream(draft, context, added.reports)
    return
  }
  if (hasGoneOn(record) && !isWaiting) waitForThese(record, added.reports)
  closeForLateResults(record)
  const scheduledAt = record.state === 'pending' && !isPast(record.dueAt, context.now) ? record.dueAt : null
  record.blocked = true
  draft.move('task_held_back', context.actor, { dependsOn: added.reports.map(({ uuid }) => uuid) })
  // Due at once, so that upkeep checks for a cycle; a scheduled task is checked at its time.
  record.dueAt = scheduledAt ?? context.now
  if (readiness === 'wait') return
  const { upstream } = record
  // Not everything is counted, but the new ones are enough to tell.
  record.upstream ??= added.counts
  moveByUpstream(draft, context, added.reports)
  record.upstream = upstream
}

/** The new dependencies: written, with what they contribute from the beginning. */
function addedBy(draft: TaskDraft, { dependsOn, triggerRule }: ChangeDependencies, context: RuleContext) {
  const reports = dependsOn.map(({ id, kind = 'data' }): UpstreamReport & { kind: DependencyKind } => {
    const { uuid, version, state } = context.recordOf!(id)!
    return { dependsOn: id, uuid, version, outcome: outcomeOf(state), kind }
  })
  const taskId = draft.record.id
  for (const { dependsOn: on, uuid, version: countedVersion, outcome, kind } of reports)
    draft.effects.dependencies.push({
      taskId,
      dependsOn: on,
      dependsOnUuid: uuid,
      rule: triggerRule,
      kind,
      countedVersion,
      outcome,
    })
  const { continuation } = draft.record
  if (continuation?.goesOnAfter)
    draft.record.continuation = {
      ...continuation,
      goesOnAfter: [...continuation.goesOnAfter, ...reports.map((on) => on.dependsOn)],
    }
  const outcomes = reports.map(({ outcome }) => outcome)
  return { reports, counts: countOf(triggerRule, outcomes) }
}

/** It was ready once, and continued: only what is added from then on counts. */
const hasGoneOn = ({ continuation }: TaskRecord) => continuation?.wentOnAfter === true

function waitForThese(record: TaskRecord, added: readonly UpstreamReport[]): void {
  record.continuation = { ...record.continuation, goesOnAfter: added.map(({ dependsOn }) => dependsOn) }
}

/** Counts the new dependencies, and judges them; earlier ones are evaluated when they end. */
function readinessAfter({ record }: TaskDraft, { areFirst }: ChangeDependencies, added: Upstream): Readiness {
  const { upstream: before, blocked: wasBlocked } = record
  const isAlone = areFirst || (hasGoneOn(record) && !wasBlocked)
  const whole = isAlone ? added : before && sumOf(before, added)
  const alone = readinessOf(added)
  const readiness = added.rule === 'one_success' ? withOneSuccess(alone, whole) : alone
  // While it did not wait, nothing was counted: it is counted again. A task that continues without waiting keeps what was counted.
  record.upstream = wasBlocked || isAlone || readiness === 'ready' ? whole : null
  return readiness
}

/** One success among all of them is enough, so failures among the new ones do not decide. */
const withOneSuccess = (alone: Readiness, whole: Upstream | null): Readiness =>
  whole ? readinessOf(whole) : alone === 'never' ? 'wait' : alone

const isPast = (time: number | null, now: number) => time === null || time <= now

type FailCycle = Extract<TaskCommand, { kind: 'failCycle' }>

/** The task is part of a dependency cycle: no task of the cycle can ever start. */
export function failCycle(draft: TaskDraft, { cycle, version }: FailCycle, context: RuleContext): TaskReply {
  const { record } = draft
  if (record.version !== version || record.state !== 'pending' || !record.blocked)
    return { ok: true, reason: 'NOTHING_DUE', record }
  record.blocked = false
  record.dueAt = null
  // One workspace event per cycle: it belongs to no single task.
  if (cycle[0] === record.uuid)
    draft.effects.events.push({
      type: 'dependency_cycle_found',
      taskId: null,
      generation: null,
      from: null,
      to: null,
      actor: context.actor,
      payload: { cycle: [...cycle] },
      at: context.now,
    })
  const error = `The task is part of a dependency cycle: ${describeCycle(cycle)}.`
  fail(draft, 'system', { failureClass: 'dependency', error, attempt: record.attempt }, 'dependency_cycle')
  return { ok: true, reason: 'MOVED', record }
}
