import type pg from 'pg'
import type { StoredResult } from '../../../kernel/store/store.ts'
import {
  bytesOfJson,
  bytesOfText,
  fittingPage,
  MORE,
  type PageOf,
} from '../../../postgres/statements/pages.ts'
import { inside } from '../../../postgres/statements/scoped-query.ts'

/** Its position in a list. Many results may have the same time, so the time alone is not enough. */
type ResultPosition = readonly [submittedAt: number, taskId: number, generation: number, hash: string]

export interface ListedResult extends StoredResult {
  /** The UUID of its task. */
  taskId: string
  place: ResultPosition
}

interface Part {
  after: ResultPosition | undefined
  limit: number
  /** Whether the data of the results is read, too; otherwise `data` is null. */
  withData: boolean
}

/** Not stored: it follows from what is, by `workProductRef` (kinds/task/rules/task-keys.ts). A task never changes its key. */
const REF = `(select 'wp-' || coalesce(t.key, t.uuid::text) || '-gen' || s.generation || '-' || left(s.hash, 6)
    from tasks t where t.workspace_id = $1 and t.id = s.task_id) as ref`
const COLUMNS = `s.task_id, s.generation, s.epoch, s.session, s.agent, ${REF}, s.hash, s.data, s.summary, s.commit, s.submitted_at`
// A result that was rejected before this was stored: as long as its claim is known.
const REJECTED = `select ${COLUMNS}, coalesce(s.processing_ms, ms(s.submitted_at) - (select ms(a.acquired_at) from attempts a
     where a.workspace_id = $1 and a.task_id = s.task_id and a.generation = s.generation and a.promoted_in = 0
       and a.session = s.session)) as processing_ms, false as accepted, s.rejection from rejected_results s
   where s.workspace_id = $1 and not s.overturned`

// A promoted result has a row without a claim: its time is where it was rejected.
const PROCESSING_MS = `coalesce(ms(s.submitted_at) - ms(s.acquired_at), (select x.processing_ms from rejected_results x
   where x.workspace_id = $1 and x.task_id = s.task_id and x.generation = s.generation and x.session = s.session and x.hash = s.hash))`

/** The digest that approvals name, of a task t (kinds/task/rules/standing-result.ts). */
export const RESULT_DIGEST = `t.result_hash || coalesce('.' || (t.watch ->> 'resultCommit'), '')`

/** All results of a task, wherever they are stored. $1 is the workspace. */
export const resultsOf = (task: string) =>
  `select ${COLUMNS}, ${PROCESSING_MS} as processing_ms, s.accepted, null as rejection from attempts s
    where s.workspace_id = $1 and s.task_id = ${task} and s.hash is not null
   union all ${REJECTED} and s.task_id = ${task}`

const PLACE = 'r.submitted_at, r.task_id, r.generation, r.hash'
const GIVEN_PLACE = '(to_timestamp($2 / 1000), $3::bigint, $4::int, $5::text)'

async function page(
  pool: pg.Pool,
  workspaceId: number,
  { after, limit, withData }: Part,
  { from, order, values = [] }: { from: string; order: 'asc' | 'desc'; values?: unknown[] },
): Promise<PageOf<ListedResult>> {
  const inOrder = PLACE.split(', ')
    .map((column) => `${column} ${order}`)
    .join(', ')
  const itsRow = `from (${from}) r where r.task_id = l.task_id and r.generation = l.generation
    and r.session = l.session and r.hash = l.hash`
  const rows = await inside<ListedResult & { more: boolean } & pg.QueryResultRow>(
    pool,
    workspaceId,
    `${fittingPage({
      keys: `select row_number() over (order by ${inOrder}) as n, r.task_id, r.generation, r.session, r.hash from (${from}) r
              where ($2::double precision is null
                or (${PLACE}) ${order === 'asc' ? '>' : '<'} ${GIVEN_PLACE})
              order by ${inOrder} limit ${limit + 1}`,
      columns: ['task_id', 'generation', 'session', 'hash'],
      bytes: `select 1000 + ${bytesOfText('r.summary')} ${withData ? `+ ${bytesOfJson('r.data')}` : ''} ${itsRow}`,
      limit,
    })}
     select t.uuid as "taskId", r.generation, r.epoch, r.session, r.agent, r.accepted, r.rejection, r.ref, r.hash,
            r.data, r.summary, r.commit, r.processing_ms as "processingMs", ms(r.submitted_at) as "submittedAt",
            json_build_array(ms(r.submitted_at), r.task_id, r.generation, r.hash) as place, ${MORE} as more
       from fitting f join listed l on l.n <= f.n
       cross join lateral (select r.task_id, r.generation, r.epoch, r.session, r.agent, r.accepted, r.rejection, r.ref, r.hash,
         ${withData ? 'r.data' : 'null::json as data'}, r.summary, r.commit, r.processing_ms, r.submitted_at ${itsRow} offset 0) r
       cross join lateral (select t.uuid from tasks t where t.workspace_id = $1 and t.id = r.task_id offset 0) t
      order by l.n`,
    [...(after ?? [null, null, null, null]), ...values],
  )
  return { rows: rows.map(({ more: _more, ...row }) => row), more: rows[0]?.more ?? false }
}

/** Rejected results of a workspace, newest first. */
export const rejectedResults = (pool: pg.Pool, workspaceId: number, part: Part) =>
  page(pool, workspaceId, part, { from: REJECTED, order: 'desc' })

/** Accepted and rejected results of a task, oldest first. */
export const resultsOfTask = (pool: pg.Pool, workspaceId: number, taskId: number, part: Part) =>
  page(pool, workspaceId, part, { from: resultsOf('$6::bigint'), order: 'asc', values: [taskId] })

/** All results of a task, oldest first, without their data. */
export const resultHeads = (pool: pg.Pool, workspaceId: number, taskId: number) =>
  inside<StoredResult & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select generation, epoch, session, agent, accepted, rejection, ref, hash, null::json as data, summary, commit,
            processing_ms as "processingMs", ms(submitted_at) as "submittedAt"
       from (${resultsOf('$2')}) r order by submitted_at, generation`,
    [taskId],
  )

/** The data of a result. */
export async function resultData(
  pool: pg.Pool,
  workspaceId: number,
  taskId: number,
  { generation, session, hash }: Pick<StoredResult, 'generation' | 'session' | 'hash'>,
): Promise<unknown> {
  const [row] = await inside<{ data: unknown }>(
    pool,
    workspaceId,
    `select data from (${resultsOf('$2')}) r where generation = $3 and session = $4 and hash = $5`,
    [taskId, generation, session, hash],
  )
  return row?.data ?? null
}

/** The summaries of the results that stand in these epochs of tasks: an epoch has one, accepted or awaiting its verdict. */
export const resultSummaries = (
  pool: pg.Pool,
  workspaceId: number,
  tasks: readonly { id: number; epoch: number }[],
) =>
  inside<{ taskId: number; summary: string | null }>(
    pool,
    workspaceId,
    `select e.task_id as "taskId", a.summary from unnest($2::bigint[], $3::int[]) as e(task_id, epoch) cross join lateral (
       select s.summary from attempts s
        where s.workspace_id = $1 and s.epoch = e.epoch and s.task_id = e.task_id and s.hash is not null offset 0) a`,
    [tasks.map(({ id }) => id), tasks.map(({ epoch }) => epoch)],
  )
