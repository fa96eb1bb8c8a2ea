import { type DetailsSet, foldDetails } from '../../src/kernel/store/fold-changes.ts'
import type { Changes } from '../../src/kernel/store/portable.ts'
import type { StoredClaim } from '../../src/kernel/store/store.ts'
import type { ClaimEnded, ClaimOpened, TaskRecord } from '../../src/kinds/task/record.ts'
import { isTerminal } from '../../src/pure/states.ts'
import { lastClaimOf, type MarkedTask, NO_MARKS, type TaskMarks } from './codec.ts'
import { afterChanges, type KeptResult } from './results.ts'
import type { Seen } from './seen.ts'

/** The outcome of the changes of a batch, task by task. */
export interface TasksAfter {
  /** All tasks to write. */
  tasks: Map<number, MarkedTask>
  /** Claims that are no longer the last one of their task. */
  past: { taskId: number; claim: StoredClaim }[]
  results: Map<number, { before: readonly KeptResult[]; after: readonly KeptResult[] }>
  details: Map<number, DetailsSet>
}

const DAY_MS = 86_400_000

type ClaimChange = ClaimOpened | ClaimEnded

export function tasksAfter(
  seen: Seen,
  read: ReadonlyMap<number, readonly KeptResult[]>,
  changes: Changes,
): TasksAfter {
  const { records } = seen.view
  const written = new Map<number, TaskRecord>()
  for (const { record } of changes.created) written.set(record.id, record)
  for (const record of changes.tasks) written.set(record.id, record)
  const details = foldDetails(changes)
  const withMore = new Set([...details.keys(), ...changes.dependencies.map(({ taskId }) => taskId)])
  // Its record may be the same as before, but not what is noted with it.
  for (const { taskId } of changes.results)
    if (!written.has(taskId)) written.set(taskId, records.get(taskId)!)
  for (const id of withMore) if (!written.has(id)) written.set(id, records.get(id)!)

  const results = new Map<number, { before: readonly KeptResult[]; after: readonly KeptResult[] }>()
  for (const [id, own] of byTask(changes.results)) {
    const before = read.get(id) ?? []
    results.set(id, { before, after: afterChanges(before, own) })
  }
  const claims = byTask(changes.claims)
  const past: TasksAfter['past'] = []
  const tasks = new Map<number, MarkedTask>()
  const keptUntil = seen.view.now + seen.view.limits.claimHistoryRetentionDays * DAY_MS
  for (const [id, record] of written) {
    let marks = seen.marks.get(id) ?? NO_MARKS
    if (isTerminal(record.state) !== (marks.claimsKeptUntil !== null))
      marks = { ...marks, claimsKeptUntil: isTerminal(record.state) ? keptUntil : null }
    const own = claims.get(id)
    if (own) {
      const before = records.get(id)
      const claimEnd = lastEndAfter(before, marks, own, (claim) => past.push({ taskId: id, claim }))
      if (claimEnd !== marks.claimEnd) marks = { ...marks, claimEnd }
    }
    const count = results.get(id)?.after.length ?? marks.results
    const hasMore = marks.hasMore || withMore.has(id)
    if (count !== marks.results || hasMore !== marks.hasMore) marks = { ...marks, results: count, hasMore }
    tasks.set(id, { record, marks })
  }
  return { tasks, past, results, details }
}

/** When and why the last claim ended, after these changes. Most tasks have one change: their first claim, or its end. */
function lastEndAfter(
  before: TaskRecord | undefined,
  marks: TaskMarks,
  changes: readonly ClaimChange[],
  passed: (claim: StoredClaim) => void,
): TaskMarks['claimEnd'] {
  const [first] = changes
  if (changes.length === 1 && first!.kind === 'ended') return [first!.at, first!.reason]
  if (changes.length === 1 && (before?.generation ?? 0) === 0) return null
  const last = lastClaimAfter(before ? lastClaimOf({ record: before, marks }) : null, changes, passed)
  return last.endedAt === null ? null : [last.endedAt, last.endReason!]
}

function lastClaimAfter(
  before: StoredClaim | null,
  changes: readonly ClaimChange[],
  passed: (claim: StoredClaim) => void,
): StoredClaim {
  let last = before
  for (const change of changes) {
    const { generation, session, agent, at } = change
    if (change.kind === 'opened') {
      if (last) passed(last)
      const opened = { generation, session, agent, state: 'active', acquiredAt: at } as const
      last = { ...opened, endedAt: null, endReason: null }
    } else last = { ...last!, state: change.state, endedAt: at, endReason: change.reason }
  }
  return last!
}

function byTask<T extends { taskId: number }>(changes: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const change of changes) {
    const group = groups.get(change.taskId)
    if (group) group.push(change)
    else groups.set(change.taskId, [change])
  }
  return groups
}
