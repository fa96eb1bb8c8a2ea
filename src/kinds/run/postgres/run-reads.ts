import type pg from 'pg'
import type { RunToCheck } from '../../../kernel/store/run-store.ts'
import { bind, type Connections } from '../../../postgres/statements/connections.ts'
import {
  bytesOfJson,
  bytesOfText,
  fittingKeys,
  fittingPage,
  MORE,
  type PageOf,
} from '../../../postgres/statements/pages.ts'
import { isLive, isNotStarted, isRunning } from '../../../postgres/statements/run-states.ts'
import { inside, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { costOf, HAS_TOLD } from '../../../postgres/statements/spent.ts'
import { BLOCKED_BY } from '../../budget/postgres/reads.ts'
import type { Run, RunWork } from '../record.ts'
import type { KeptInvocation } from '../shapes/told.ts'
import type { RunState } from '../states.ts'
import { claimsLeft } from './lost-claims.ts'
import { lastEventSeq, messagesOfRun } from './messages.ts'
import { shownRuns } from './rows.ts'

/** Runs as people read them, and as their node monitors them. */

const RUN_COLUMNS = `r.workspace_id as "workspaceId", ${shownRuns.named('r')}`
const WITHOUT_RESULT = `r.workspace_id as "workspaceId", ${shownRuns.named('r', ['result'])}, null::json as result`

/** A run with the names of its task. */
export interface NamedRun extends Run {
  taskKey: string | null
  taskTitle: string | null
  /** The outside id of the mission of its task. */
  missionId: string | null
}

const NAMES = `(select t.key from tasks t where t.workspace_id = r.workspace_id and t.id = r.task_id) as "taskKey",
  (select d.title from task_details d where d.workspace_id = r.workspace_id and d.task_id = r.task_id) as "taskTitle",
  (select m.uuid from tasks t join missions m on m.workspace_id = t.workspace_id and m.mission_id = t.mission_id
    where t.workspace_id = r.workspace_id and t.id = r.task_id) as "missionId"`

const overAll = <T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[] = []) =>
  scopedQuery<T>(pool, 'baton.scope', 'upkeep', { text, values })

export async function findRun(pool: pg.Pool, workspaceId: number, runId: string): Promise<NamedRun | null> {
  const text = `select ${RUN_COLUMNS}, ${NAMES} from runs r where r.workspace_id = $1 and r.run_id = $2`
  return (await inside<NamedRun & pg.QueryResultRow>(pool, workspaceId, text, [runId]))[0] ?? null
}

export interface RunFilter {
  agent?: string | undefined
  /** Internal id. */
  task?: number | undefined
  /** Internal id. */
  mission?: number | undefined
  errorCode?: string | undefined
  source?: string | undefined
  statuses?: readonly RunState[] | undefined
  /** Runs older than this one. */
  before?: string | undefined
}

/** Newest first, as many as fit a response. */
export async function listRuns(
  pool: pg.Pool,
  workspaceId: number,
  { agent, task, mission, errorCode, source, statuses, before }: RunFilter,
  { limit, withResult }: { limit: number; withResult: boolean },
): Promise<PageOf<NamedRun>> {
  const page = fittingPage({
    keys: `select row_number() over (order by r.run_id desc) as n, r.run_id from runs r
            where r.workspace_id = $1 and ($2::text is null or r.agent = $2)
              and ($3::bigint is null or r.task_id = $3) and ($4::text[] is null or r.status = any($4))
              and ($5::uuid is null or r.run_id < $5)
              and ($6::text is null or r.error_code = $6) and ($7::text is null or r.source = $7)
              and ($8::bigint is null or exists (
                select from tasks t where t.workspace_id = $1 and t.id = r.task_id and t.mission_id = $8))
            order by r.run_id desc limit ${limit + 1}`,
    columns: ['run_id'],
    bytes: `select 2500 + ${bytesOfText('r.reason', 'r.error_message', 'r.summary', 'r.status_message', 'r.stdout_excerpt', 'r.stderr_excerpt')}
              + ${bytesOfJson('r.folder')} ${withResult ? `+ ${bytesOfJson('r.result')}` : ''}
              from runs r where r.workspace_id = $1 and r.run_id = l.run_id`,
    limit,
  })
  const found = await inside<NamedRun & { more: boolean } & pg.QueryResultRow>(
    pool,
    workspaceId,
    `${page} select ${withResult ? RUN_COLUMNS : WITHOUT_RESULT}, ${NAMES}, ${MORE} as more from runs r
      where r.workspace_id = $1 and r.run_id = ${fittingKeys('run_id')} order by r.run_id desc`,
    [
      ...[agent ?? null, task ?? null, statuses ?? null, before ?? null],
      ...[errorCode ?? null, source ?? null, mission ?? null],
    ],
  )
  return { rows: found.map(({ more: _more, ...run }) => run as NamedRun), more: found[0]?.more ?? false }
}

/** The total usage of all runs of a task, and of claims of agents that Baton does not run. */
export async function usageOfTask(pool: pg.Pool, workspaceId: number, taskId: number) {
  const [row] = await inside<{
    runs: number
    inputTokens: number | null
    cachedInputTokens: number | null
    outputTokens: number | null
    costUsd: string | null
    notionalUsd: string | null
  }>(
    pool,
    workspaceId,
    `select (select count(*)::int from runs r where r.workspace_id = $1 and r.task_id = $2) + count(*) filter (where s.generation > 0)::int as runs,
            sum(s.input_tokens)::bigint as "inputTokens", sum(s.cached_input_tokens)::bigint as "cachedInputTokens",
            sum(s.output_tokens)::bigint as "outputTokens", trim_scale(sum(${costOf('s')}))::text as "costUsd",
            trim_scale(sum(s.notional_usd))::text as "notionalUsd"
       from usage_sources s where s.workspace_id = $1 and s.task_id = $2 and ${HAS_TOLD('s')}`,
    [taskId],
  )
  return row!
}

export interface RunEvent {
  seq: number
  type: 'lifecycle' | 'status' | 'usage' | 'error' | 'structured'
  stream: string | null
  level: string | null
  color: string | null
  message: string | null
  payload: unknown
  at: number
}

/** As many as fit a response. */
export async function runEventsAfter(
  pool: pg.Pool,
  workspaceId: number,
  runId: string,
  afterSeq: number,
  limit: number,
): Promise<PageOf<RunEvent>> {
  const page = fittingPage({
    keys: `select row_number() over (order by e.seq) as n, e.seq from run_events e
            where e.workspace_id = $1 and e.run_id = $2 and e.seq > $3::bigint order by e.seq limit ${limit + 1}`,
    columns: ['seq'],
    bytes: `select 300 + ${bytesOfText('e.message')} + ${bytesOfJson('e.payload')} from run_events e
             where e.workspace_id = $1 and e.run_id = $2 and e.seq = l.seq`,
    limit,
  })
  const found = await inside<RunEvent & { more: boolean } & pg.QueryResultRow>(
    pool,
    workspaceId,
    `${page} select e.seq, e.event_type as type, e.stream, e.level, e.color, e.message, e.payload, ms(e.created_at) as at,
            ${MORE} as more
       from run_events e where e.workspace_id = $1 and e.run_id = $2 and e.seq = ${fittingKeys('seq')} order by e.seq`,
    [runId, afterSeq],
  )
  return { rows: found.map(({ more: _more, ...event }) => event as RunEvent), more: found[0]?.more ?? false }
}

/** The active run with this token. The row policy shows only the row with this hash. */
export async function findRunByToken(pool: pg.Pool, tokenHash: Buffer) {
  const [found] = await scopedQuery<{
    workspaceId: number
    runId: string
    agent: string
    agentId: string
    taskUuid: string | null
    generation: number | null
    depth: number
  }>(pool, 'baton.key_hash', tokenHash.toString('hex'), {
    text: `select r.workspace_id as "workspaceId", r.run_id as "runId", r.agent, r.agent_id as "agentId", r.task_uuid as "taskUuid",
                  r.generation, r.depth
             from runs r where r.token_hash = $1`,
    values: [tokenHash],
  })
  return found ?? null
}

const RUNS_TO_CHECK = `select * from (
       select r.workspace_id as "workspaceId", r.run_id as "runId", r.cancel_reason as "cancelReason", a.state as "agentState", coalesce(a.stops_runs, false) as "stopsRuns",
              r.task_id is null or r.generation is null or coalesce(t.claim_state = 'active', false)
                or coalesce(c.end_reason in ('COMPLETED', 'SUBMITTED', 'NEEDS_HUMAN', 'CONTINUES_LATER'), false)
                as "hasClaim", c.end_reason as "claimEnd", (t.watch ->> 'suspectedAt')::float8 as "suspectedAt",
              (t.watch -> 'messages' -> -1 ->> 'at')::float8 as "toldAt", ${BLOCKED_BY} as "blockedBy"
         from runs r
         left join lateral (select a.state, a.stops_runs from agents a where a.workspace_id = r.workspace_id and a.slug = r.agent offset 0) a on true
         left join lateral (select c.end_reason from attempts c where c.workspace_id = r.workspace_id and c.task_id = r.task_id
            and c.generation = r.generation and c.promoted_in = 0 offset 0) c on true
         left join lateral (select t.watch, t.claim_state, t.id, t.mission_id, t.project_id from tasks t where t.workspace_id = r.workspace_id and t.id = r.task_id
            and t.generation = r.generation offset 0) t on true
        where r.node_id = $1 and ${isLive('r.status')}) s
      where s."suspectedAt" is not null or s."toldAt" is not null or s."cancelReason" is not null or s."agentState" is null or s."stopsRuns" or not s."hasClaim" or s."blockedBy" is not null`

export const runsToCheck = (pool: pg.Pool, nodeId: string) =>
  scopedQuery<RunToCheck & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'runs_to_check',
    text: RUNS_TO_CHECK,
    values: [nodeId],
  })

/** Runs that these nodes left behind. */
export const runsOfNodes = (pool: pg.Pool, nodeIds: readonly string[]) =>
  overAll<Run & pg.QueryResultRow>(
    pool,
    `select ${RUN_COLUMNS} from runs r where r.node_id = any($1::uuid[]) and ${isLive('r.status')}`,
    [nodeIds],
  )

/** The finished ones among these runs. */
const runsThatAreOver = (pool: pg.Pool, runIds: readonly string[]) =>
  overAll<{ id: string } & pg.QueryResultRow>(
    pool,
    'select r.run_id as id from runs r where r.run_id = any($1::uuid[]) and r.finished_at is not null',
    [runIds],
  )

/** Claims of an agent that Baton runs which have no run: their node died before it could record what it had claimed. */
export const claimsWithoutRun = (pool: pg.Pool, workspaceId: number, agent: string) =>
  inside<{ uuid: string; taskId: number; generation: number; session: string } & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select t.uuid, t.id as "taskId", t.generation, t.session from tasks t
      where t.workspace_id = $1 and t.agent = $2 and t.claim_state = 'active' and t.session = 'agent:' || t.agent
        and (t.state = 'running' or t.state = 'assigned' and t.watch ->> 'isOffered' is distinct from 'true')
        and not exists (select from runs r where r.workspace_id = $1 and r.agent = $2
          and (${isNotStarted('r.status')} or ${isRunning('r.status')} and r.task_id = t.id and r.generation = t.generation))`,
    [agent],
  )

/** How many attempts at a task, before this generation, timed out. */
export async function timeoutsBefore(
  pool: pg.Pool,
  workspaceId: number,
  { taskId, generation }: { taskId: number; generation: number },
): Promise<number> {
  const text = `select count(distinct r.generation)::int as timeouts from runs r
     where r.workspace_id = $1 and r.task_id = $2 and r.generation < $3 and r.error_code = 'timeout'`
  return (await inside<{ timeouts: number }>(pool, workspaceId, text, [taskId, generation]))[0]!.timeouts
}

/** What a run was told; null: nothing is kept of it. */
async function invocationOf(
  pool: pg.Pool,
  workspaceId: number,
  runId: string,
): Promise<KeptInvocation | null> {
  const text = 'select told, call from run_invocations where workspace_id = $1 and run_id = $2'
  return (await inside<KeptInvocation>(pool, workspaceId, text, [runId]))[0] ?? null
}

/** Logs of runs that ended at least this long ago. */
export const oldLogs = (pool: pg.Pool, olderThanMs: number, limit: number) =>
  overAll<{ workspaceId: number; runId: string; logStore: string; logRef: string } & pg.QueryResultRow>(
    pool,
    `select r.workspace_id as "workspaceId", r.run_id as "runId", r.log_store as "logStore", r.log_ref as "logRef" from runs r
      where r.log_ref is not null and r.log_deleted_at is null and r.finished_at < now() - $1 * interval '1 millisecond'
      order by r.finished_at limit $2`,
    [olderThanMs, limit],
  )

/** A task that was retried for a thousand generations has more runs than anybody looks at. */
const MOST_WORK = 50

async function workOf(pool: pg.Pool, workspaceId: number, taskId: number): Promise<RunWork[]> {
  const runs = await inside<Omit<RunWork, 'node'> & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select r.run_id as id, r.agent, r.status, r.node_id as "nodeId", r.folder, ms(r.finished_at) as "finishedAt", r.generation
       from runs r where r.workspace_id = $1 and r.task_id = $2 and r.folder is not null
      order by r.run_id desc limit ${MOST_WORK}`,
    [taskId],
  )
  if (runs.length === 0) return []
  const ids = [...new Set(runs.map(({ nodeId }) => nodeId))]
  const nodes = await overAll<{ nodeId: string; name: string }>(
    pool,
    'select node_id as "nodeId", name from nodes where node_id = any($1::uuid[])',
    [ids],
  )
  const names = new Map(nodes.map(({ nodeId, name }) => [nodeId, name]))
  return runs.map((run) => ({ ...run, node: names.get(run.nodeId) ?? null }))
}

async function madeIn(
  pool: pg.Pool,
  workspaceId: number,
  taskId: number,
  generation: number,
): Promise<{ agent: string; folder: unknown; node: string | null } | null> {
  const [found] = await inside<{ agent: string; folder: unknown; nodeId: string | null }>(
    pool,
    workspaceId,
    `select r.agent, r.folder, r.node_id as "nodeId" from runs r
      where r.workspace_id = $1 and r.task_id = $2 and r.generation = $3 and r.folder is not null
      order by r.run_id desc limit 1`,
    [taskId, generation],
  )
  if (!found) return null
  const [node] = await overAll<{ name: string }>(pool, 'select name from nodes where node_id = $1', [
    found.nodeId,
  ])
  return { agent: found.agent, folder: found.folder, node: node?.name ?? null }
}

/** Reads of runs that are methods of the store: other kinds need them, and the executor. */
export const runReads = ({ readers }: Connections) =>
  bind(readers, {
    claimsLeft,
    claimsWithout: claimsWithoutRun,
    find: findRun,
    finishedAmong: runsThatAreOver,
    invocation: invocationOf,
    lastEventSeq,
    madeIn,
    messages: messagesOfRun,
    ofNodes: runsOfNodes,
    oldLogs,
    timeoutsBefore,
    toCheck: runsToCheck,
    usageOfTask,
    workOf,
  })
