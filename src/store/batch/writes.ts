import { type Changes, isOnTrack, type View } from '../../kernel/batch/requests.ts'
import { foldClaims, foldDetails, foldRecounted } from '../../kernel/store/fold-changes.ts'
import { reservationWrites } from '../../kinds/budget/postgres/reserve.ts'
import { syncWrites } from '../../kinds/budget/postgres/sync.ts'
import { commentWrites } from '../../kinds/comment/postgres.ts'
import { reportWrites } from '../../kinds/report/postgres.ts'
import type { DetailsChanged, TaskRecord } from '../../kinds/task/record.ts'
import {
  ALL,
  CHECK_AT,
  changesFixedColumns,
  changesRareColumns,
  FIXED,
  fieldsOf,
  HOT,
  LANE,
  RARE,
} from '../../postgres/statements/columns.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import type { Bound } from '../../postgres/statements/statements.ts'
import * as sql from '../../postgres/statements/statements.ts'
import { kindWrites, kindWritesBeforeTasks } from '../stored-kinds.ts'
import { attemptWrites } from './attempts.ts'

/** All changes as statements, in the order they must be written: tasks before what refers to them. Events come after. */
export function writesOf(
  workspaceId: number,
  view: View,
  changes: Changes,
  /** Of what was written: after the details, before the counter is locked. */
  reads: readonly Bound[],
): Bound[] {
  const writes = [
    ...kindWritesBeforeTasks(workspaceId, view, changes),
    ...taskWrites(workspaceId, view, changes),
    ...detailWrites(workspaceId, changes),
    ...attemptWrites(workspaceId, changes),
    ...trackWrites(workspaceId, changes),
    ...kindWrites(workspaceId, view, changes),
    ...commentWrites(workspaceId, changes),
    ...reportWrites(workspaceId, changes),
    ...reservationWrites(workspaceId, changes.reservations, changes.kinds.budget.written),
    ...syncWrites(workspaceId, view, changes),
    ...reads,
  ]
  const { newReplies } = changes
  if (newReplies.length > 0) {
    const replies = newReplies.map(({ reply }) => JSON.stringify(reply))
    writes.push(
      sql.insertReplies(workspaceId, [
        newReplies.map((one) => one.key),
        newReplies.map((one) => one.bodyHash),
        replies,
      ]),
    )
  }
  return writes
}

const NEW_TASK = [...ALL, LANE]
const insertTasks = sql.insertTasks(NEW_TASK)

const updateOf = (name: string, columns: Parameters<typeof fieldsOf>[0], derived: readonly string[] = []) => {
  const update = sql.updateTasks(name, columns, derived)
  return (workspaceId: number, tasks: readonly TaskRecord[]) =>
    update(workspaceId, [tasks.map(({ id }) => id), ...fieldsOf(columns, tasks)])
}
/**
 * Since when a task is in its state: since its last change, unless the column says otherwise. So most tasks never have a value
 * there: the first change that leaves the state alone keeps the time of the change before it.
 */
const MOVED = ['state_since = null']
const STAYED = ['state_since = coalesce(t.state_since, t.updated_at)']
const updateHot = updateOf('update_tasks', HOT, STAYED)
const updateWhole = updateOf('update_tasks_whole', [...HOT, ...RARE], STAYED)
/** What only a newer plan changes; the lane follows from it. */
const updateFixed = updateOf('update_tasks_replanned', [...FIXED, LANE])
const updateMoved = updateOf('update_tasks_moved', HOT, MOVED)
const updateWholeMoved = updateOf('update_tasks_whole_moved', [...HOT, ...RARE], MOVED)
const updateClaimed = updateOf('update_tasks_claimed', [...HOT, CHECK_AT], MOVED)
const updateWholeClaimed = updateOf('update_tasks_whole_claimed', [...HOT, ...RARE, CHECK_AT], MOVED)

/** By whether rare columns change, and by what happened: it was claimed, moved to another state, or neither. */
const UPDATES = {
  claimed: { hot: updateClaimed, whole: updateWholeClaimed },
  moved: { hot: updateMoved, whole: updateWholeMoved },
  stayed: { hot: updateHot, whole: updateWhole },
}

function taskWrites(workspaceId: number, view: View, changes: Changes): Bound[] {
  const writes: Bound[] = []
  if (changes.created.length > 0) writes.push(...newTaskWrites(workspaceId, changes.created))
  writes.push(...dependencyWrites(workspaceId, changes))
  // Grouped by target state: tasks with the same transition have most columns in common.
  const groups = new Map<string, { update: typeof updateHot; tasks: TaskRecord[] }>()
  for (const task of changes.tasks) {
    const before = view.records.get(task.id)!
    const width = changesRareColumns(before, task) ? 'whole' : 'hot'
    const isClaimed = task.claimState === 'active' && task.generation !== before.generation
    const happened = isClaimed ? 'claimed' : task.state === before.state ? 'stayed' : 'moved'
    const name = `${task.state} ${width} ${happened}`
    const group = groups.get(name)
    if (group) group.tasks.push(task)
    else groups.set(name, { update: UPDATES[happened][width], tasks: [task] })
  }
  for (const { update, tasks } of groups.values()) writes.push(update(workspaceId, tasks))
  const replanned = changes.tasks.filter((task) => changesFixedColumns(view.records.get(task.id)!, task))
  if (replanned.length > 0) writes.push(updateFixed(workspaceId, replanned))
  return writes
}

function newTaskWrites(workspaceId: number, created: Changes['created']): Bound[] {
  const records = created.map((one) => one.record)
  const details = created.map(({ task }) => task.details)
  const ids = records.map((one) => one.id)
  const inputs = details.map(({ input }) => (input === undefined ? null : JSON.stringify(input)))
  return [
    insertTasks(workspaceId, fieldsOf(NEW_TASK, records)),
    sql.insertDetails(workspaceId, [
      ids,
      details.map((one) => one.title),
      details.map((one) => one.taskType),
      details.map((one) => one.description),
      inputs,
      details.map((one) => one.tags),
      details.map((one) => one.userId),
      details.map(({ metadata }) => (metadata == null ? null : JSON.stringify(metadata))),
      details.map((one) => one.createdBy),
      details.map(({ plan }) => (plan == null ? null : JSON.stringify(plan))),
    ]),
  ]
}

function dependencyWrites(workspaceId: number, changes: Changes): Bound[] {
  const writes: Bound[] = []
  const { dependencies, removed, replaced } = changes
  if (removed.length > 0)
    writes.push([
      sql.removeDependencies,
      [
        workspaceId,
        arrayLiteral(removed.map(({ taskId }) => taskId)),
        arrayLiteral(removed.map(({ dependsOn }) => dependsOn)),
      ],
    ])
  if (replaced.length > 0) writes.push([sql.dropDependencies, [workspaceId, arrayLiteral(replaced)]])
  if (dependencies.length > 0)
    writes.push(
      sql.insertDependencies(workspaceId, [
        dependencies.map((one) => one.taskId),
        dependencies.map((one) => one.dependsOn),
        dependencies.map((one) => one.rule),
        dependencies.map((one) => one.kind),
        dependencies.map((one) => one.countedVersion),
        dependencies.map((one) => one.outcome),
      ]),
    )
  const recounted = foldRecounted(changes)
  if (recounted.length > 0)
    writes.push(
      sql.recountDependencies(workspaceId, [
        recounted.map((one) => one.taskId),
        recounted.map((one) => one.dependsOn),
        recounted.map((one) => one.rule),
        recounted.map((one) => one.countedVersion),
        recounted.map((one) => one.outcome),
      ]),
    )
  return writes
}

const DETAIL_COLUMNS = {
  title: 'title',
  description: 'description',
  tags: 'tags',
  progressPercent: 'progress_percent',
  progressStep: 'progress_step',
  checkpoint: 'checkpoint',
  error: 'error',
  failureClass: 'failure_class',
  exhausted: 'exhausted',
  question: 'question',
  waitsKind: 'waits_kind',
  waitsSince: 'waits_since',
  waitsBecause: 'waits_because',
  taskType: 'task_type',
  input: 'input',
  plan: 'plan',
} as const satisfies Record<keyof DetailsChanged['set'], string>

const JSON_DETAILS: ReadonlySet<keyof DetailsChanged['set']> = new Set(['input', 'plan', 'question'])

/** Row by row, only the columns that changed: details change rarely, and seldom many at once. */
function detailWrites(workspaceId: number, changes: Changes): Bound[] {
  return [...foldDetails(changes)].map(([taskId, set]) => {
    const given = Object.entries(set) as [keyof typeof set, unknown][]
    const columns = given.map(([field]) => DETAIL_COLUMNS[field])
    const values = given.map(([field, value]) => detailValue(field, value))
    return [sql.updateDetails(columns), [workspaceId, taskId, ...values]]
  })
}

function detailValue(field: keyof typeof DETAIL_COLUMNS, value: unknown): unknown {
  if (field === 'checkpoint') return JSON.stringify(value)
  if (value === null) return null
  if (JSON_DETAILS.has(field)) return JSON.stringify(value)
  return field === 'waitsSince' ? new Date(value as number).toISOString() : value
}

/** Agents that start work on the tracks of projects, and agents that leave them. */
function trackWrites(workspaceId: number, changes: Changes): Bound[] {
  if (changes.claims.length === 0) return []
  const onTracks = new Map(changes.tasks.filter(isOnTrack).map((task) => [task.id, task]))
  if (onTracks.size === 0) return []
  const { opened, ended } = foldClaims(changes)
  const left = ended.filter(({ taskId }) => onTracks.has(taskId))
  const entered = opened
    .filter(({ claim, end }) => end === null && onTracks.has(claim.taskId))
    .map(({ claim }) => claim)
  const writes: Bound[] = []
  if (left.length > 0)
    writes.push([sql.leaveTracks, [workspaceId, arrayLiteral(left.map(({ taskId }) => taskId))]])
  if (entered.length > 0) {
    const tasks = entered.map(({ taskId }) => onTracks.get(taskId)!)
    const agents = entered.map(({ agent }) => agent)
    const columns = [
      tasks.map(({ id }) => id),
      tasks.map((one) => one.projectId),
      tasks.map((one) => one.trackQueue),
      agents,
    ]
    writes.push(sql.enterTracks(workspaceId, columns))
  }
  return writes
}
