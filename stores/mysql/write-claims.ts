import { isOnTrack } from '../../src/kernel/batch/requests.ts'
import { type FoldedClaims, foldClaims } from '../../src/kernel/store/fold-changes.ts'
import type { ClaimEnded, TaskRecord } from '../../src/kinds/task/record.ts'
import { insert, remove, update } from './bulk.ts'
import type { Sql } from './sql.ts'
import type { Writing } from './writing.ts'

/** Ended claims before opened ones: a task has one active claim. */
export function claimsWritten(writing: Writing): Sql[] {
  if (writing.changes.claims.length === 0) return []
  const { opened, ended } = foldClaims(writing.changes)
  return [...endedClaims(writing, ended), ...openedClaims(writing, opened), ...lostClaims(writing)]
}

function endedClaims({ isMariadb, workspaceId, view }: Writing, ended: readonly ClaimEnded[]): Sql[] {
  const tasks = ended.map(({ taskId }) => view.records.get(taskId)!)
  const places = tasks.filter(isOnTrack).map(({ projectId, trackQueue, id }) => [projectId, trackQueue, id])
  return [
    ...update(isMariadb, {
      table: 'baton_claims',
      workspaceId,
      key: ['task_id', 'generation'],
      columns: ['state', 'ended_at', 'end_reason'],
      rows: ended.map(({ taskId, generation, state, at, reason }) => [taskId, generation, state, at, reason]),
    }),
    ...remove(isMariadb, {
      table: 'baton_held',
      workspaceId,
      key: ['task_id'],
      rows: ended.map(({ taskId }) => [taskId]),
    }),
    ...remove(isMariadb, {
      table: 'baton_track_holders',
      workspaceId,
      key: ['project_id', 'track', 'task_id'],
      rows: places,
    }),
  ]
}

function openedClaims(writing: Writing, fresh: FoldedClaims['opened']): Sql[] {
  const { workspaceId } = writing
  const active = fresh.filter(({ end }) => end === null).map(({ claim }) => claim)
  const onTrack = active
    .map(({ taskId, agent }) => ({ agent, record: recordOf(writing, taskId) }))
    .filter(({ record }) => isOnTrack(record))
  return [
    ...insert(
      'baton_claims',
      [
        'workspace_id',
        'task_id',
        'generation',
        'session',
        'agent',
        'state',
        'acquired_at',
        'ended_at',
        'end_reason',
      ],
      fresh.map(({ claim: { taskId, generation, session, agent, at }, end }) => [
        workspaceId,
        taskId,
        generation,
        session,
        agent,
        end?.state ?? 'active',
        at,
        end?.at ?? 0,
        end?.reason ?? null,
      ]),
    ),
    ...insert(
      'baton_held',
      ['workspace_id', 'task_id', 'generation', 'session', 'check_at'],
      active.map(({ taskId, generation, session, leaseExpiresAt }) => [
        workspaceId,
        taskId,
        generation,
        session,
        leaseExpiresAt,
      ]),
    ),
    ...insert(
      'baton_track_holders',
      ['workspace_id', 'project_id', 'track', 'task_id', 'agent'],
      onTrack.map(({ agent, record: { id, projectId, trackQueue } }) => [
        workspaceId,
        projectId,
        trackQueue,
        id,
        agent,
      ]),
    ),
  ]
}

/** A task can be created and claimed in one batch. */
const recordOf = ({ view, changes }: Writing, id: number): TaskRecord =>
  view.records.get(id) ?? changes.created.find(({ record }) => record.id === id)!.record

function lostClaims({ workspaceId, changes }: Writing): Sql[] {
  const lost = changes.claims.filter(
    (claim): claim is ClaimEnded =>
      claim.kind === 'ended' && (claim.state === 'expired' || claim.state === 'superseded'),
  )
  return insert(
    'baton_lost_claims',
    ['workspace_id', 'session', 'ended_at', 'task_id', 'generation', 'reason'],
    lost.map(({ session, at, taskId, generation, reason }) => [
      workspaceId,
      session,
      at,
      taskId,
      generation,
      reason,
    ]),
  )
}
