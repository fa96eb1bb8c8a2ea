import { isTerminal } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { preferLastAgent } from './agent-choice.ts'
import { fail } from './attempts.ts'
import {
  type CountedDependency,
  countOf,
  plus,
  readinessOf,
  recounted,
  standsInTheWay,
  type Upstream,
  type UpstreamReport,
} from './upstream-counts.ts'

type CountUpstream = Extract<TaskCommand, { kind: 'countUpstream' }>

/** Tasks it depends on ended, or were opened again: each is counted once, and the task moves if the counts decide. */
export function countUpstream(draft: TaskDraft, command: CountUpstream, context: RuleContext): TaskReply {
  const { record } = draft
  // Only while it waits: when it is blocked again later, everything is counted again.
  if (record.blocked && !isTerminal(record.state)) {
    const counts = command.version === undefined ? record.upstream : fromTheBeginning(draft, command, context)
    if (counts) {
      const news = command.version === undefined ? countEach(draft, counts, command, context) : command.edges
      moveByUpstream(draft, context, news)
    }
  }
  return { ok: true, reason: draft.changed ? 'MOVED' : 'NOTHING_DUE', record }
}

/** Returns the reports that were news. */
function countEach(
  draft: TaskDraft,
  before: Upstream,
  { edges }: CountUpstream,
  context: RuleContext,
): UpstreamReport[] {
  const { id } = draft.record
  let counts = before
  const news: UpstreamReport[] = []
  for (const report of edges) {
    if (!isCounted(draft, report)) continue
    const known = context.dependencyOf?.(id, report.dependsOn)
    if (!known || report.version <= known.countedVersion) continue
    record(draft, report, known)
    if (report.outcome === known.outcome) continue
    counts = recounted(counts, known.outcome, report.outcome)
    news.push(report)
  }
  if (counts !== before) draft.count(counts)
  return news
}

/** All its dependencies, unless it has others by now: then the caller must read again. */
function fromTheBeginning(
  draft: TaskDraft,
  { edges, version }: CountUpstream,
  context: RuleContext,
): Upstream | null {
  const { id, merge, continuation, version: present } = draft.record
  if (version !== present) return null
  let counts: Upstream | null = null
  for (const report of edges) {
    const known = context.dependencyOf?.(id, report.dependsOn)
    if (!known || !isCounted(draft, report)) continue
    const isNews = report.version > known.countedVersion
    if (isNews) record(draft, report, known)
    // A task with parts needs all of them, whatever rule it had before it was divided.
    counts ??= countOf(
      continuation?.goesOnAfter ? 'all_done' : merge === 'none' ? known.rule : 'all_success',
      [],
    )
    counts = plus(counts, [isNews ? report.outcome : known.outcome])
  }
  if (counts) draft.count(counts)
  return counts
}

/** A task that continues after others waits for them alone: it was ready before, whatever has become of what it depended on. */
const isCounted = ({ record: { continuation } }: TaskDraft, { dependsOn }: UpstreamReport) =>
  continuation?.goesOnAfter === undefined || continuation.goesOnAfter.includes(dependsOn)

function record(draft: TaskDraft, report: UpstreamReport, { rule }: CountedDependency): void {
  const { dependsOn, version: countedVersion, outcome } = report
  draft.effects.recounted.push({ taskId: draft.record.id, dependsOn, rule, countedVersion, outcome })
}

/** Moves a blocked task if its counts decide. `news` are the upstream tasks that were just counted, the last one last. */
export function moveByUpstream(
  draft: TaskDraft,
  context: RuleContext,
  news: readonly Pick<UpstreamReport, 'uuid' | 'outcome'>[] = [],
): void {
  const { record } = draft
  if (!record.blocked || record.upstream === null) return
  const readiness = readinessOf(record.upstream)
  if (readiness === 'never' && record.state === 'pending') endWithoutRunning(draft, record.upstream, news)
  // (A task that only merges the results of its parts is never claimed.)
  else if (readiness === 'ready' && record.merge !== 'object') unblock(draft, context, news)
}

function endWithoutRunning(
  draft: TaskDraft,
  upstream: Upstream,
  news: readonly Pick<UpstreamReport, 'uuid' | 'outcome'>[],
): void {
  const { record } = draft
  const culprit = news.find(({ outcome }) => standsInTheWay(upstream.rule, outcome))
  const because = whyNever(upstream, culprit?.outcome ?? null)
  const failedDependency = culprit?.uuid
  record.blocked = false
  if (record.merge !== 'none') {
    // Not skipped: its own work had started, in parts, and one of them failed.
    const failure = { failureClass: 'dependency', error: because, attempt: record.attempt }
    fail(draft, 'system', { ...failure, failedDependency }, 'part')
  } else {
    record.dueAt = null
    draft.move('task_skipped', 'system', { because, failedDependency })
  }
}

function whyNever({ rule, failed }: Upstream, outcome: UpstreamReport['outcome']): string {
  if (rule === 'one_success') return 'no task it depends on is completed'
  if (outcome !== null) return `a task it depends on is ${outcome}`
  return `a task it depends on is ${failed > 0 ? 'failed' : 'cancelled or skipped'}`
}

function unblock(
  draft: TaskDraft,
  context: RuleContext,
  news: readonly Pick<UpstreamReport, 'uuid' | 'outcome'>[],
): void {
  const { record } = draft
  record.blocked = false
  draft.touch()
  // A paused task only records that it is unblocked; a scheduled task still waits for its time.
  if (record.state !== 'pending' || (record.dueAt !== null && record.dueAt > context.now)) return
  record.dueAt = null
  const unblockedBy = news.findLast(({ outcome }) => outcome !== null)?.uuid
  draft.move('task_queued', 'system', { because: 'dependencies_met', unblockedBy })
  // It continues where it stood, and the agent that stood there knows it best.
  if (record.continuation?.goesOn?.generation === record.generation + 1) preferLastAgent(record, context.now)
}
