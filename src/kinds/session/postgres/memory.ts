import type pg from 'pg'
import { readSession, sessionColumns } from '../../../postgres/statements/columns.ts'
import { readPayload } from '../../../postgres/statements/event-payloads.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { ClaimEnd } from '../../../pure/states.ts'
import type { EventType } from '../../events.ts'
import { findProject, trackAssignments, trackProgress } from '../../project/postgres.ts'
import type { SessionRecord } from '../../task/record.ts'
import { parseTaskKey } from '../../task/rules/task-keys.ts'

/**
 * What a session did, in the form of Coditect 3.5. Everything is derived from attempts, active claims and the log: nothing is stored
 * twice.
 */

interface TaskLogEntry {
  timestamp: number
  event: 'CLAIM_ACQUIRED' | 'LEASE_RENEWED' | 'RESULT_SUBMITTED' | 'CLAIM_LOST' | 'CLAIM_RELEASED'
  taskId: string
  key: string | null
  track: string | null
  sequence: number | null
  generation: number
  agent: string
  outcome: 'ACCEPTED' | 'REJECTED' | 'PENDING' | null
  workProductRef: string | null
  details: Record<string, unknown>
}

interface SessionMemory {
  lastActivity: number
  taskLog: TaskLogEntry[]
  /** Whether the log begins with the session: of a very long one, only the newest entries are shown. */
  taskLogIsWhole: boolean
  activeClaims: { taskId: string; key: string | null; generation: number; agent: string; expiresAt: number }[]
  completedTasks: string[]
  trackAssignments: Record<string, string[]>
  trackProgress: Record<string, { completed: number; inProgress: number; pending: number }>
}

const MOST_ENTRIES = 1_000

const query = <T extends pg.QueryResultRow>(
  pool: pg.Pool,
  workspaceId: number,
  text: string,
  values: unknown[],
) =>
  scopedQuery<T>(pool, 'baton.workspace_id', String(workspaceId), { text, values: [workspaceId, ...values] })

export async function findSession(
  pool: pg.Pool,
  workspaceId: number,
  nameOrId: string,
): Promise<SessionRecord | null> {
  const [row] = await scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select ${sessionColumns('s')} from sessions s
            where s.workspace_id = $1 and (s.session = $2 or s.session_id::text = $2) order by s.session = $2 desc limit 1`,
    values: [workspaceId, nameOrId],
    rowMode: 'array',
  })
  return row ? readSession(row) : null
}

export async function readSessionMemory(
  pool: pg.Pool,
  workspaceId: number,
  session: SessionRecord,
): Promise<SessionMemory> {
  const [log, held, completed, project] = await Promise.all([
    readLog(pool, workspaceId, session.name),
    readHeld(pool, workspaceId, session.name),
    readCompleted(pool, workspaceId, session.name),
    readProject(pool, workspaceId, session),
  ])
  const taskLog = log.map(asEntry)
  return {
    lastActivity: Math.max(session.lastSeenAt, taskLog.at(-1)?.timestamp ?? 0),
    taskLog,
    taskLogIsWhole: log.length < MOST_ENTRIES,
    activeClaims: held,
    completedTasks: completed.map(({ key, uuid }) => key ?? uuid),
    ...project,
  }
}

/**
 * A task by its key, whatever the planner estimates for a new table: "offset 0" keeps it from reading all tasks for each
 * row.
 */
const ONE_BY_ONE = (row: string) =>
  `select t.uuid, t.key, t.state, t.epoch from tasks t where t.workspace_id = $1 and t.id = ${row}.task_id offset 0`

interface LogRow {
  type: string
  at: number
  /** The type of the event that the payload is of; null: of none. */
  told: EventType | null
  actor: string | null
  payload: Record<string, unknown>
  generation: number
  agent: string
  uuid: string
  key: string | null
}

/**
 * The newest entries about the generations this session held, in order. Their start and end come from the claims: what
 * happens to a task after its claim has ended does not belong to the session. The rest comes from events, whose payloads are
 * read once each: with a join on payload fields, a new table without statistics would have them read for every pair.
 */
async function readLog(pool: pg.Pool, workspaceId: number, session: string): Promise<LogRow[]> {
  const rows = await query<LogRow>(
    pool,
    workspaceId,
    `with own as materialized (
       select a.task_id, a.generation, a.agent, a.acquired_at, a.ended_at, a.end_reason from attempts a
        where a.workspace_id = $1 and a.session = $2 and a.acquired_at is not null
       union all
       select t.id, t.generation, t.agent, t.acquired_at, null, null from tasks t
        where t.workspace_id = $1 and t.session = $2 and t.claim_state = 'active'),
     told as materialized (
       select e.*, coalesce((e.payload->>'givenGeneration')::int, e.generation) as of_generation,
              coalesce(e.payload->>'givenSession', $2) as of_session
         from events e
        where e.workspace_id = $1 and e.task_id = any(array(select distinct task_id from own))),
     log as (
       select 'acquired' as type, o.acquired_at as at, null as told, null as actor, '{}'::json as payload, o.generation, o.agent, o.task_id, 0 as place
         from own o
       union all
       select o.end_reason, o.ended_at, e.type, e.actor, coalesce(e.payload, '{}'), o.generation, o.agent, o.task_id, 2 from own o
         left join told e on e.task_id = o.task_id and e.generation = o.generation and e.at = o.ended_at
          and e.from_state in ('assigned', 'running', 'continuing')
          and e.to_state not in ('assigned', 'running', 'continuing')
        where o.end_reason is not null
       union all
       select e.type, e.at, e.type, e.actor, e.payload, o.generation, o.agent, o.task_id, 1 from told e
         join own o on o.task_id = e.task_id and o.generation = e.of_generation
        where e.type = any($3::text[]) and e.of_session = $2
          and (e.type <> 'task_human_review_requested' or e.payload->>'workProductRef' is not null)),
     newest as materialized (
       select * from log l where l.type = any($4::text[])
        order by l.at desc, l.place desc, l.task_id desc limit ${MOST_ENTRIES})
     select n.type, ms(n.at) as at, n.told, n.actor, n.payload, n.generation, n.agent, t.uuid, t.key
       from newest n cross join lateral (${ONE_BY_ONE('n')}) t
      order by n.at desc, n.place desc, n.task_id desc`,
    [session, Object.keys(ENTRY_BY_EVENT), Object.keys(ENTRY_BY_TYPE)],
  )
  return rows.reverse()
}

type LogEntry = [TaskLogEntry['event'], TaskLogEntry['outcome']]

const ENTRY_BY_EVENT: Record<string, LogEntry> = {
  claim_renewed: ['LEASE_RENEWED', null],
  task_completed: ['RESULT_SUBMITTED', 'ACCEPTED'],
  task_output_submitted: ['RESULT_SUBMITTED', 'PENDING'],
  task_human_review_requested: ['RESULT_SUBMITTED', 'PENDING'],
  task_result_rejected: ['RESULT_SUBMITTED', 'REJECTED'],
}

/** The log entry for the end of a claim. One that ended with its result has that entry already. */
const ENDS = {
  VOLUNTARY: 'CLAIM_RELEASED',
  NEEDS_HUMAN: 'CLAIM_RELEASED',
  OVER_BUDGET: 'CLAIM_RELEASED',
  ERROR: 'CLAIM_RELEASED',
  EXPIRED: 'CLAIM_LOST',
  WORKER_LOST: 'CLAIM_LOST',
  AGENT_LOST: 'CLAIM_LOST',
  AGENT_TERMINATED: 'CLAIM_LOST',
  AGENT_PAUSED: 'CLAIM_LOST',
  NOT_STARTED: 'CLAIM_LOST',
  HUNG: 'CLAIM_LOST',
  STALLED: 'CLAIM_LOST',
  SUPERSEDED: 'CLAIM_LOST',
  CANCELLED: 'CLAIM_LOST',
  PAUSED: 'CLAIM_LOST',
  REASSIGNED: 'CLAIM_LOST',
  PROMOTED: 'CLAIM_LOST',
} as const satisfies Partial<Record<ClaimEnd, TaskLogEntry['event']>>

const ENTRY_BY_TYPE: Record<string, LogEntry> = {
  acquired: ['CLAIM_ACQUIRED', null],
  ...ENTRY_BY_EVENT,
  ...Object.fromEntries(Object.entries(ENDS).map(([reason, event]) => [reason, [event, null] as LogEntry])),
}

function asEntry({ type, at, told, actor, payload, generation, agent, uuid, key }: LogRow): TaskLogEntry {
  const [event, outcome] = ENTRY_BY_TYPE[type]!
  const {
    workProductRef = null,
    agent: _agent,
    session: _session,
    givenSession: _given,
    ...details
  } = told === null ? payload : readPayload({ type: told, actor: actor!, generation }, payload, key ?? uuid)
  const parsed = key === null ? null : parseTaskKey(key)
  return {
    timestamp: at,
    event,
    taskId: uuid,
    key,
    track: parsed?.track ?? null,
    sequence: parsed?.sequence ?? null,
    generation,
    agent,
    outcome,
    workProductRef: workProductRef as string | null,
    details: type in ENDS ? { ...details, endReason: type } : details,
  }
}

const readHeld = (pool: pg.Pool, workspaceId: number, session: string) =>
  query<SessionMemory['activeClaims'][number]>(
    pool,
    workspaceId,
    `select t.uuid as "taskId", t.key, t.generation, t.agent, ms(t.lease_expires_at) as "expiresAt"
       from tasks t where t.workspace_id = $1 and t.claim_state = 'active' and t.session = $2 order by t.acquired_at, t.id`,
    [session],
  )

/** Tasks whose accepted result is from this session, oldest first. */
const readCompleted = (pool: pg.Pool, workspaceId: number, session: string) =>
  query<{ key: string | null; uuid: string }>(
    pool,
    workspaceId,
    `with own as materialized (
       select a.task_id, a.epoch, a.submitted_at from attempts a where a.workspace_id = $1 and a.session = $2 and a.accepted)
     select t.key, t.uuid from own o cross join lateral (${ONE_BY_ONE('o')}) t
      where t.state = 'completed' and t.epoch = o.epoch order by o.submitted_at, o.task_id`,
    [session],
  )

/** Progress of the tracks of its project: the project it named, or the one it worked on last. */
async function readProject(pool: pg.Pool, workspaceId: number, { name, project }: SessionRecord) {
  const projectId =
    project === null
      ? await lastProjectOf(pool, workspaceId, name)
      : ((await findProject(pool, workspaceId, project))?.projectId ?? 0)
  const [progress, assignments] = await Promise.all([
    trackProgress(pool, workspaceId, projectId),
    projectId === 0 ? [] : trackAssignments(pool, workspaceId, projectId),
  ])
  return {
    trackProgress: Object.fromEntries(
      progress.map(({ track, completed, inProgress, pending }) => [
        track,
        { completed, inProgress, pending },
      ]),
    ),
    trackAssignments: Object.fromEntries(assignments.map(({ track, agents }) => [track, agents])),
  }
}

async function lastProjectOf(pool: pg.Pool, workspaceId: number, session: string): Promise<number> {
  const [row] = await query<{ projectId: number }>(
    pool,
    workspaceId,
    `select t.project_id as "projectId" from (
       select a.task_id, a.acquired_at from attempts a
        where a.workspace_id = $1 and a.session = $2 and a.acquired_at is not null
       union all
       select h.id, h.acquired_at from tasks h where h.workspace_id = $1 and h.session = $2 and h.claim_state = 'active'
       order by acquired_at desc limit 1) c
       join tasks t on t.workspace_id = $1 and t.id = c.task_id`,
    [session],
  )
  return row?.projectId ?? 0
}
