import { type Changes, isOnTrack, type View } from '../../../core/batch/requests.ts'
import { countsAsActive } from '../../../core/kinds/session/decide.ts'
import type {
  ClaimEnded,
  ClaimOpened,
  DetailsChanged,
  ResultJudged,
  ResultPromoted,
  ResultWritten,
  SessionRecord,
  TaskRecord,
} from '../../../core/records.ts'
import { foldClaims, foldDetails } from '../../fold-changes.ts'
import { agentWrites } from './agent-rows.ts'
import { ALL, changesRareColumns, fieldsOf, HOT, LANE, RARE, sessionValues } from './columns.ts'
import { arrayLiteral } from './rows.ts'
import type { Bound } from './statements.ts'
import * as sql from './statements.ts'

/** All changes as statements, in the order they must be written: tasks before what refers to them. Events come after. */
export function writesOf(workspaceId: number, view: View, changes: Changes): Bound[] {
  const writes = [
    ...taskWrites(workspaceId, view, changes),
    ...detailWrites(workspaceId, changes),
    ...claimWrites(workspaceId, changes),
    ...resultWrites(workspaceId, changes),
    ...sessionWrites(workspaceId, view, changes),
    ...agentWrites(workspaceId, view, changes.kinds.agent),
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
const updateHot = sql.updateTasks('update_tasks', HOT)
const updateWhole = sql.updateTasks('update_tasks_whole', [...HOT, ...RARE])

function taskWrites(workspaceId: number, view: View, changes: Changes): Bound[] {
  const writes: Bound[] = []
  if (changes.created.length > 0) writes.push(...newTaskWrites(workspaceId, changes.created))
  if (changes.dependencies.length > 0) writes.push(dependencyWrites(workspaceId, changes.dependencies))
  // Grouped by target state: tasks with the same transition have most columns in common.
  const groups = new Map<string, TaskRecord[]>()
  for (const task of changes.tasks) {
    const isWhole = changesRareColumns(view.records.get(task.id)!, task)
    const name = isWhole ? `whole ${task.state}` : task.state
    const group = groups.get(name)
    if (group) group.push(task)
    else groups.set(name, [task])
  }
  for (const [name, tasks] of groups) {
    const ids = tasks.map((one) => one.id)
    if (name.startsWith('whole'))
      writes.push(updateWhole(workspaceId, [ids, ...fieldsOf([...HOT, ...RARE], tasks)]))
    else writes.push(updateHot(workspaceId, [ids, ...fieldsOf(HOT, tasks)]))
  }
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
    ]),
  ]
}

function dependencyWrites(workspaceId: number, dependencies: Changes['dependencies']): Bound {
  return sql.insertDependencies(workspaceId, [
    dependencies.map((one) => one.taskId),
    dependencies.map((one) => one.dependsOn),
    dependencies.map((one) => one.rule),
  ])
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
} as const satisfies Record<keyof DetailsChanged['set'], string>

/** Row by row, only the columns that changed: details change rarely, and seldom many at once. */
function detailWrites(workspaceId: number, changes: Changes): Bound[] {
  return [...foldDetails(changes)].map(([taskId, set]) => {
    const given = Object.entries(set) as [keyof typeof set, unknown][]
    const columns = given.map(([field]) => DETAIL_COLUMNS[field])
    const values = given.map(([field, value]) => (field === 'checkpoint' ? JSON.stringify(value) : value))
    return [sql.updateDetails(columns), [workspaceId, taskId, ...values]]
  })
}

function claimWrites(workspaceId: number, changes: Changes): Bound[] {
  const { opened, ended } = foldClaims(changes)
  const writes: Bound[] = []
  if (ended.length > 0) {
    writes.push(
      sql.endClaims(workspaceId, [
        ended.map((claim) => claim.taskId),
        ended.map((claim) => claim.generation),
        ended.map((claim) => claim.state),
        ended.map((claim) => claim.reason),
        ended.map((claim) => claim.at),
      ]),
    )
  }
  if (opened.length > 0) {
    const claims = opened.map(({ claim }) => claim)
    const ends = opened.map(({ end }) => end)
    writes.push(
      sql.openClaims(workspaceId, [
        claims.map((claim) => claim.taskId),
        claims.map((claim) => claim.generation),
        claims.map((claim) => claim.session),
        claims.map((claim) => claim.agent),
        ends.map((end) => end?.state ?? 'active'),
        claims.map((claim) => claim.at),
        claims.map((claim) => claim.leaseExpiresAt),
        ends.map((end) => end?.at),
        ends.map((end) => end?.reason),
      ]),
    )
  }
  const stillOpen = opened.filter(({ end }) => end === null).map(({ claim }) => claim)
  return [...writes, ...trackWrites(workspaceId, changes, stillOpen, ended)]
}

/** Agents that start work on the tracks of projects, and agents that leave them. */
function trackWrites(
  workspaceId: number,
  changes: Changes,
  opened: readonly ClaimOpened[],
  ended: readonly ClaimEnded[],
): Bound[] {
  const onTracks = new Map(changes.tasks.filter(isOnTrack).map((task) => [task.id, task]))
  if (onTracks.size === 0) return []
  const left = ended.filter(({ taskId }) => onTracks.has(taskId))
  const entered = opened.filter(({ taskId }) => onTracks.has(taskId))
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

function sessionWrites(workspaceId: number, view: View, { kinds }: Changes): Bound[] {
  const { written: sessions } = kinds.session
  if (sessions.length === 0) return []
  const before = (name: string) => view.kinds.session.seen.get(name)?.record ?? null
  const isKnown = ({ name }: SessionRecord) => before(name) !== null
  const [known, fresh] = [sessions.filter(isKnown), sessions.filter((session) => !isKnown(session))]
  const writes: Bound[] = []
  if (fresh.length > 0) writes.push(sql.beginSessions(workspaceId, sessionValues(fresh)))
  if (known.length > 0) writes.push(sql.changeSessions(workspaceId, sessionValues(known)))
  if (sessions.some((session) => countsAsActive(session) && !countsAsActive(before(session.name))))
    writes.push([sql.checkSessions, [workspaceId, view.limits.maxActiveSessions]])
  return writes
}

function resultWrites(workspaceId: number, changes: Changes): Bound[] {
  if (changes.results.length === 0) return []
  const written = changes.results.filter((result): result is ResultWritten => result.kind === 'written')
  const judged = changes.results.filter((result): result is ResultJudged => result.kind === 'judged')
  const writes: Bound[] = []
  if (written.length > 0)
    writes.push(
      sql.insertResults(workspaceId, [
        written.map((result) => result.taskId),
        written.map((result) => result.generation),
        written.map((result) => result.session),
        written.map((result) => result.hash),
        written.map((result) => result.epoch),
        written.map((result) => result.agent),
        written.map((result) => result.accepted),
        written.map((result) => result.rejection),
        written.map((result) => result.ref),
        written.map((result) => result.data),
        written.map((result) => result.summary),
        written.map((result) => result.at),
      ]),
    )
  if (judged.length > 0) {
    const columns = [
      judged.map((one) => one.taskId),
      judged.map((one) => one.epoch),
      judged.map((one) => one.accepted),
      judged.map((one) => one.rejection),
    ]
    writes.push(sql.judgeResults(workspaceId, columns))
  }
  for (const { taskId, epoch, generation, session, hash } of changes.results.filter(isPromotion))
    writes.push(
      [sql.replaceResult, [workspaceId, taskId, epoch]],
      [sql.promoteResult, [workspaceId, taskId, epoch, generation, session, hash]],
    )
  return writes
}

const isPromotion = (result: Changes['results'][number]): result is ResultPromoted =>
  result.kind === 'promoted'
