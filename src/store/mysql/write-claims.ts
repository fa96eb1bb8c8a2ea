import { isOnTrack } from '../../core/batch/requests.ts'
import type { ClaimEnded, ClaimOpened, TaskRecord } from '../../core/records.ts'
import { inLists, insert } from './bulk.ts'
import { among, type Sql, sql } from './sql.ts'
import type { Writing } from './write.ts'

interface Fresh {
  opened: ClaimOpened
  ended: ClaimEnded | null
}

/** What ended before what was opened, as a task has one active claim. One that did both in this batch is written once, as ended. */
export function claimsWritten(writing: Writing): Sql[] {
  const { claims } = writing.changes
  if (claims.length === 0) return []
  const fresh = new Map<string, Fresh>()
  const ended: ClaimEnded[] = []
  for (const claim of claims) {
    const name = `${claim.taskId}/${claim.generation}`
    if (claim.kind === 'opened') fresh.set(name, { opened: claim, ended: null })
    else {
      const own = fresh.get(name)
      if (own) own.ended = claim
      else ended.push(claim)
    }
  }
  return [
    ...endedClaims(writing, ended),
    ...openedClaims(writing, [...fresh.values()]),
    ...lostClaims(writing),
  ]
}

function endedClaims({ workspaceId, view }: Writing, ended: readonly ClaimEnded[]): Sql[] {
  const groups = new Map<string, ClaimEnded[]>()
  for (const claim of ended) {
    const name = `${claim.reason} ${claim.at}`
    const group = groups.get(name)
    if (group) group.push(claim)
    else groups.set(name, [claim])
  }
  const updates = [...groups.values()].flatMap((group) => {
    const { state, reason, at } = group[0]!
    return inLists(group).map(
      (list) => sql`update baton_claims force index (primary)
          set state = ${state}, ended_at = ${at}, end_reason = ${reason} where workspace_id = ${workspaceId}
          and ${among(
            ['task_id', 'generation'],
            list.map(({ taskId, generation }) => [taskId, generation]),
          )}`,
    )
  })
  const held = inLists(ended).map(
    (list) => sql`delete from baton_held where workspace_id = ${workspaceId}
        and task_id in (${list.map(({ taskId }) => taskId)})`,
  )
  const onTrack = ended.map(({ taskId }) => view.records.get(taskId)!).filter(isOnTrack)
  const places = onTrack.map(({ id, projectId, line }) => [workspaceId, projectId, line, id])
  const tracks = inLists(places).map(
    (list) => sql`delete from baton_track_holders
        where ${among(['workspace_id', 'project_id', 'track', 'task_id'], list)}`,
  )
  return [...updates, ...held, ...tracks]
}

function openedClaims(writing: Writing, fresh: readonly Fresh[]): Sql[] {
  const { workspaceId } = writing
  const active = fresh.filter(({ ended }) => ended === null).map(({ opened }) => opened)
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
      fresh.map(({ opened: { taskId, generation, session, agent, at }, ended }) => [
        workspaceId,
        taskId,
        generation,
        session,
        agent,
        ended?.state ?? 'active',
        at,
        ended?.at ?? 0,
        ended?.reason,
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
      onTrack.map(({ agent, record: { id, projectId, line } }) => [workspaceId, projectId, line, id, agent]),
    ),
  ]
}

/** A task can be made and claimed in one batch. */
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
