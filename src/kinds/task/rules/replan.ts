import { isTerminal } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { dropPreference, preferPlanned } from './agent-choice.ts'
import { endAlert } from './alert.ts'
import { closeForLateResults } from './fence.ts'
import { withMore } from './groups.ts'
import { queueRank } from './retry.ts'
import { moveByUpstream } from './upstream.ts'
import {
  countOf,
  type DependencyKind,
  outcomeOf,
  readinessOf,
  type UpstreamReport,
} from './upstream-counts.ts'

type Replan = Extract<TaskCommand, { kind: 'replan' }>
type Edge = UpstreamReport & { kind: DependencyKind }

/** A newer plan of its mission says something else about it. What it has begun continues: its next attempt gets the new words. */
export function replan(draft: TaskDraft, command: Replan, context: RuleContext): TaskReply {
  const { record } = draft
  if (isTerminal(record.state)) return { ok: true, reason: 'NOTHING_DUE', record }
  const { details, fields, edges, changed } = command
  draft.effects.details.push({ taskId: record.id, set: details })
  // The time already waited stays, as when a person changes the priority.
  if (record.rank !== null) record.rank = queueRank(record.rank, fields.priority - record.priority)
  // The agent that its plan reserves it for comes before the agent that held it last.
  dropPreference(record)
  endAlert(draft, context.actor, 'task_updated')
  Object.assign(record, fields, {
    timers: withMore(record.timers, fields.timers),
    continuation: withMore(record.continuation, fields.continuation),
    agentChoice: withMore(record.agentChoice, fields.agentChoice),
  })
  if (record.state === 'queued') preferPlanned(record, context.now)
  draft.touch()
  draft.note('task_updated', context.actor, { fields: [...changed] })
  // A task that was divided has begun, in its parts: it continues waiting for them.
  if (edges && record.merge === 'none') dependOn(draft, edges, context)
  return { ok: true, reason: 'DONE', record }
}

/** It has not been claimed: it waits for these tasks, and for no others. All of them are locked, or made by the same request. */
function dependOn(
  draft: TaskDraft,
  { rule, on, made = [] }: NonNullable<Replan['edges']>,
  context: RuleContext,
): void {
  const { record } = draft
  const known = on.map(({ id, uuid, kind }): Edge => {
    const { version, state } = context.recordOf!(id)!
    return { dependsOn: id, uuid, version, outcome: outcomeOf(state), kind }
  })
  const edges = [...known, ...made]
  draft.effects.replaced.push(record.id)
  for (const { dependsOn, uuid: dependsOnUuid, version: countedVersion, outcome, kind } of edges)
    draft.effects.dependencies.push({
      ...{ taskId: record.id, dependsOn, dependsOnUuid, rule, kind, countedVersion, outcome },
    })
  record.upstream =
    edges.length === 0
      ? null
      : countOf(
          rule,
          edges.map(({ outcome }) => outcome),
        )
  const mustWait = record.upstream !== null && readinessOf(record.upstream) !== 'ready'
  closeForLateResults(record)
  if (mustWait && record.state === 'queued') {
    record.dueAt = null
    draft.move('task_held_back', context.actor, { dependsOn: edges.map(({ uuid }) => uuid) })
  }
  const wasBlocked = record.blocked
  record.blocked = mustWait || wasBlocked
  // Due at once, so that upkeep checks for a cycle through tasks outside of the plan.
  if (mustWait) record.dueAt ??= context.now
  // Without dependencies it no longer waits for anything.
  record.upstream ??= wasBlocked ? countOf('always', []) : null
  moveByUpstream(draft, context, edges)
  if (edges.length === 0) record.upstream = null
}
