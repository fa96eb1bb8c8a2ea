import type pg from 'pg'
import { statement } from '../../../postgres/statements/statements.ts'
import type { CounterRows } from '../../task/postgres/counters.ts'
import { inScope } from '../../task/postgres/due.ts'
import type { SourceId } from '../record.ts'

/** Totals of runs and claims, and of missions, compared with the rows that they add up. */

const PAID = `x.basis in ('reported', 'priced')`
// The rows of a source, added up: as `totalsOf` does it.
const ROWS = (source: string) => `select coalesce(sum(x.input_tokens), 0)::bigint as input_tokens,
    coalesce(sum(x.cached_input_tokens), 0)::bigint as cached_input_tokens, coalesce(sum(x.output_tokens), 0)::bigint as output_tokens,
    coalesce(sum(x.work_ms), 0)::bigint as work_ms,
    trim_scale(coalesce(sum(x.cost_usd) filter (where ${PAID}), 0))::text as cost_usd,
    trim_scale(coalesce(sum(x.cost_usd) filter (where x.basis = 'notional'), 0))::text as notional_usd
  from usage x where x.workspace_id = ${source}.workspace_id and x.source_id = ${source}.source_id and x.generation = ${source}.generation`
const TOTALS = (source: string) =>
  `${source}.input_tokens, ${source}.cached_input_tokens, ${source}.output_tokens, ${source}.work_ms,
    trim_scale(coalesce(${source}.cost_usd, 0))::text as cost_usd, trim_scale(coalesce(${source}.notional_usd, 0))::text as notional_usd`
const NAMES = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'work_ms', 'cost_usd', 'notional_usd']

// What is booked of a source by model, from its rows. A model's last basis is the one that its cost has now: what it had before was taken back.
const BOOKED = `select coalesce(json_object_agg(m.model, json_build_object('inputTokens', m.input, 'cachedInputTokens', m.cached,
      'cacheWrite5mTokens', m.written_5m, 'cacheWrite1hTokens', m.written_1h, 'outputTokens', m.output, 'workMs', m.work_ms, 'reasoningTokens', m.reasoning,
      'costUsd', m.usd, 'basis', m.basis)), '{}')
  from (select x.model, sum(x.input_tokens)::bigint as input, sum(x.cached_input_tokens)::bigint as cached,
          sum(x.cache_write_5m_tokens)::bigint as written_5m, sum(x.cache_write_1h_tokens)::bigint as written_1h,
          sum(x.output_tokens)::bigint as output, sum(x.work_ms)::bigint as work_ms, sum(x.reasoning_tokens)::bigint as reasoning, trim_scale(sum(x.cost_usd))::text as usd,
          (array_agg(x.basis order by x.number desc, x.cost_usd desc nulls last))[1] as basis
          from usage x where x.workspace_id = $1 and x.source_id = $2 and x.generation = $3 group by x.model) m`

/** $2 source, $3 generation. */
export const usedBySource: CounterRows = {
  names: NAMES,
  lock: statement(
    'lock_totals_of_source',
    `select ${TOTALS('s')} from usage_sources s where s.workspace_id = $1 and s.source_id = $2 and s.generation = $3 for no key update`,
  ),
  count: statement(
    'count_rows_of_source',
    `select r.* from (select $1::int as workspace_id, $2::uuid as source_id, $3::int as generation) s cross join lateral (${ROWS('s')}) r`,
  ),
  set: statement(
    'set_totals_of_source',
    `update usage_sources set input_tokens = $4, cached_input_tokens = $5, output_tokens = $6, work_ms = $7,
       cost_usd = nullif($8::numeric, 0), notional_usd = nullif($9::numeric, 0), booked = (${BOOKED})
      where workspace_id = $1 and source_id = $2 and generation = $3`,
  ),
}

const FOR_MISSION = (
  mission: string,
) => `select coalesce(sum(s.input_tokens + s.cached_input_tokens + s.output_tokens), 0)::bigint as tokens,
    trim_scale(coalesce(sum(s.cost_usd), 0))::text as usd, trim_scale(coalesce(sum(s.notional_usd), 0))::text as notional_usd
  from usage_sources s where s.workspace_id = ${mission}.workspace_id and s.mission_id = ${mission}.mission_id`
const OF_MISSION = (counters: string) =>
  `${counters}.tokens, trim_scale(${counters}.usd)::text as usd, trim_scale(${counters}.notional_usd)::text as notional_usd`

/** The lock of the counters is one that every booking for the mission needs. $2 mission. */
export const usedForMission: CounterRows = {
  names: ['tokens', 'usd', 'notional_usd'],
  lock: statement(
    'lock_spending_of_mission',
    `select ${OF_MISSION('c')} from mission_counters c where c.workspace_id = $1 and c.mission_id = $2 for no key update`,
  ),
  count: statement(
    'count_usage_of_mission',
    `select r.* from (select $1::int as workspace_id, $2::bigint as mission_id) m cross join lateral (${FOR_MISSION('m')}) r`,
  ),
  set: statement(
    'set_spending_of_mission',
    'update mission_counters set tokens = $3, usd = $4, notional_usd = $5 where workspace_id = $1 and mission_id = $2',
  ),
}

/** How many are looked at in one pass: it costs the same however many there are. */
const AT_A_TIME = 100

// The next sources, and whether their rows add up to another amount. $1 workspace, $2 source and $3 generation after which to begin, $4 limit.
const SOURCES = `select s.workspace_id as "workspaceId", s.source_id as "sourceId", s.generation,
    row(${NAMES.map((name) => `t.${name}`).join(', ')}) is distinct from row(${NAMES.map((name) => `r.${name}`).join(', ')}) as "isWrong"
  from (select * from usage_sources where (workspace_id, source_id, generation) > ($1, $2, $3)
         order by workspace_id, source_id, generation limit $4) s
  cross join lateral (select ${TOTALS('s')}) t cross join lateral (${ROWS('s')}) r
 order by s.workspace_id, s.source_id, s.generation`
// The same of missions that have not ended, or ended less than a day ago. $1 workspace and $2 mission after which to begin, $3 limit.
const MISSIONS = `select m.workspace_id as "workspaceId", m.mission_id as "missionId", m.uuid,
    row(t.tokens, t.usd, t.notional_usd) is distinct from row(r.tokens, r.usd, r.notional_usd) as "isWrong"
  from (select * from missions where (completed_at is null or completed_at > now() - interval '1 day') and (workspace_id, mission_id) > ($1, $2)
         order by workspace_id, mission_id limit $3) m
  join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
  cross join lateral (select ${OF_MISSION('c')}) t cross join lateral (${FOR_MISSION('m')}) r
 order by m.workspace_id, m.mission_id`

interface ComparedSource extends SourceId, pg.QueryResultRow {
  workspaceId: number
  isWrong: boolean
}
interface ComparedMission extends pg.QueryResultRow {
  workspaceId: number
  missionId: number
  uuid: string
  isWrong: boolean
}

const FIRST = '00000000-0000-0000-0000-000000000000'

/** Looks at all of the ledger in turn. The position is kept in this process: another one begins from the start. */
export class LedgerWalk {
  #source: [workspaceId: number, sourceId: string, generation: number] = [0, FIRST, -1]
  #mission: [workspaceId: number, missionId: number] = [0, 0]

  /** The next runs and claims whose totals are wrong; of one workspace the first. */
  async sources(pool: pg.Pool, only?: number): Promise<ComparedSource[]> {
    const after = only === undefined ? this.#source : [0, FIRST, -1]
    const found = await inScope<ComparedSource>(pool, only, SOURCES, [...after, AT_A_TIME])
    const last = found.at(-1)
    if (only === undefined)
      this.#source = last ? [last.workspaceId, last.sourceId, last.generation] : [0, FIRST, -1]
    return found.filter(({ isWrong }) => isWrong)
  }

  async missions(pool: pg.Pool, only?: number): Promise<ComparedMission[]> {
    const after = only === undefined ? this.#mission : [0, 0]
    const found = await inScope<ComparedMission>(pool, only, MISSIONS, [...after, AT_A_TIME])
    const last = found.at(-1)
    if (only === undefined) this.#mission = last ? [last.workspaceId, last.missionId] : [0, 0]
    return found.filter(({ isWrong }) => isWrong)
  }
}
