import type pg from 'pg'
import { inside } from '../../../postgres/statements/scoped-query.ts'
import type { Purpose } from '../../task/record.ts'
import type { CostBasis } from '../record.ts'
import { type UsageOf, Values, whichSources } from './asked.ts'

/** What one row of the ledger says. */
export interface RowRead {
  isRun: boolean
  sourceId: string
  generation: number
  number: number
  at: number
  /** The same in microseconds. */
  place: number
  taskId: string | null
  agent: string
  session: string | null
  missionId: string | null
  project: string | null
  model: string
  operation: Purpose
  basis: CostBasis
  inputTokens: number
  cachedInputTokens: number
  cacheWrite5mTokens: number
  cacheWrite1hTokens: number
  outputTokens: number
  workMs: number
  reasoningTokens: number | null
  costUsd: string | null
}

/** Where a page ends: in microseconds, and the rest of its key. */
export type RowPlace = readonly [
  at: number,
  sourceId: string,
  generation: number,
  model: string,
  number: number,
  basis: string,
]

const instantOf = (place: string) => `(timestamptz 'epoch' + ${place}::bigint * interval '1 microsecond')`

/** The newest first. */
export async function rowsOf(
  pool: pg.Pool,
  workspaceId: number,
  asked: UsageOf,
  after: RowPlace | null,
  limit: number,
): Promise<RowRead[]> {
  const values = new Values()
  const { from, to, model } = asked
  const wanted = [
    `u.at >= ${values.at(from)} and u.at < ${values.at(to)}`,
    ...(model === undefined ? [] : [`u.model = ${values.add(model)}`]),
  ]
  if (after) {
    const [place, ...key] = after
    const at = instantOf(values.add(place))
    const [source, claim, named, row, of] = key.map((value) => values.add(value))
    wanted.push(
      `u.at <= ${at} and (u.at < ${at} or (u.source_id, u.generation, u.model, u.number, u.basis) > (${source}::uuid, ${claim}::int, ${named}::text, ${row}::int, ${of}::text))`,
    )
  }
  return inside<RowRead & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select u.generation = 0 as "isRun", u.source_id as "sourceId", u.generation, u.number, ms(u.at) as at,
        (extract(epoch from u.at) * 1000000)::bigint as place,
        (select t.uuid from tasks t where t.workspace_id = $1 and t.id = s.task_id) as "taskId", s.agent, s.session,
        (select m.uuid from missions m where m.workspace_id = $1 and m.mission_id = s.mission_id) as "missionId",
        (select p.slug from projects p where p.workspace_id = $1 and p.project_id = s.project_id) as project,
        u.model, s.operation, u.basis, u.input_tokens as "inputTokens", u.cached_input_tokens as "cachedInputTokens",
        u.cache_write_5m_tokens as "cacheWrite5mTokens", u.cache_write_1h_tokens as "cacheWrite1hTokens",
        u.output_tokens as "outputTokens", u.work_ms as "workMs", u.reasoning_tokens as "reasoningTokens", trim_scale(u.cost_usd)::text as "costUsd"
      from usage u join usage_sources s on s.workspace_id = $1 and s.source_id = u.source_id and s.generation = u.generation
     where u.workspace_id = $1 and ${wanted.join(' and ')} ${whichSources(asked, values)}
     order by u.at desc, u.source_id, u.generation, u.model, u.number, u.basis limit ${values.add(limit)}`,
    values.all,
  )
}

/** The time of the database, and the time zone of the workspace. */
export async function clockOf(
  pool: pg.Pool,
  workspaceId: number,
): Promise<{ now: number; timeZone: string }> {
  const [row] = await inside<{ now: number; timeZone: string }>(
    pool,
    workspaceId,
    'select ms(clock_timestamp()) as now, l.time_zone as "timeZone" from limits l where l.workspace_id = $1',
  )
  return row!
}
