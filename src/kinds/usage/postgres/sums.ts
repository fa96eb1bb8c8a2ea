import type pg from 'pg'
import { inside } from '../../../postgres/statements/scoped-query.ts'
import { estimatedTokensOf } from '../../mission/plan/estimate.ts'
import type { UsedModel } from '../rules/saved.ts'
import type { UsageGroupName } from '../shapes.ts'
import { type UsageOf, Values, whichSources } from './asked.ts'
import { countedBy, type Grouping, KEY_OF_SOURCE } from './counted.ts'
import { rowsIn } from './rows-in.ts'

/** What the ledger has, added up in groups. */

export interface SumsRead {
  workMs: number
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  costUsd: string | null
  notionalUsd: string | null
  runs: number
  runsOfUnknownCost: number
}

export interface GroupRead extends SumsRead {
  /** Of days their place in the list of days; of all others as clients know them. */
  key: string | number | null
  name: string | null
  estimatedTokens: number | null
  estimatedTasks: number | null
  tokensOfEstimated: number | null
  models: readonly UsedModel[]
}

export interface SumsOfGroups {
  total: SumsRead
  groups: GroupRead[]
  /** All of them, also in groups that are left out. */
  models: UsedModel[]
  /** With those that are left out. */
  count: number
}

export type GroupBy =
  | { by: Exclude<UsageGroupName, 'day'> }
  /** When each of them begins. */
  | { by: 'day'; days: readonly number[] }

/** Of more groups than that the largest are shown. */
export const MOST_GROUPS = 1_000

const bySource = (ofSource: string, outside = 'g.key::text', name = 'null'): Grouping => ({
  ...{ ofRow: null, ofSource, outside, name },
})
const NAMED = {
  mission: (what: string) =>
    `(select m.${what} from missions m where m.workspace_id = $1 and m.mission_id = g.key)`,
  project: (what: string) =>
    `(select p.${what} from projects p where p.workspace_id = $1 and p.project_id = g.key)`,
}
const GROUPINGS: Record<Exclude<UsageGroupName, 'day'>, Grouping> = {
  mission: bySource('s.mission_id', NAMED.mission('uuid::text'), NAMED.mission('title')),
  project: bySource('nullif(s.project_id, 0)', NAMED.project('slug'), NAMED.project('name')),
  agent: bySource(
    's.agent',
    'g.key',
    '(select a.name from agents a where a.workspace_id = $1 and a.slug = g.key)',
  ),
  model: { ofRow: 'u.model', ofSource: null, outside: 'g.key', name: 'null' },
  taskType: bySource('s.task_type'),
  operation: bySource('s.operation'),
  task: bySource(
    's.task_id',
    '(select t.uuid::text from tasks t where t.workspace_id = $1 and t.id = g.key)',
    '(select d.title from task_details d where d.workspace_id = $1 and d.task_id = g.key)',
  ),
}

/** The place of the day that begins before this moment. */
const placeIn = (days: readonly number[], values: Values) => {
  const begins = values.add(days.map((ms) => new Date(ms).toISOString()))
  return (at: string) => `width_bucket(${at}, ${begins}::timestamptz[]) - 1`
}

const AMOUNTS = `sum(u.input_tokens) as input, sum(u.cached_input_tokens) as cached, sum(u.output_tokens) as output, sum(u.work_ms) as work,
    sum(u.cost_usd) filter (where u.basis in ('reported', 'priced')) as usd, sum(u.cost_usd) filter (where u.basis = 'notional') as notional`

/** What each group used. Of most questions all sources are meant but the few that are simulated. */
function amountsOf(asked: UsageOf, { ofRow, ofSource }: Grouping, values: Values): string {
  const rows = `(${rowsIn(asked, values)}) u`
  const isAny = [asked.task, asked.mission, asked.project, asked.agent, asked.operation].every(
    (one) => one === undefined,
  )
  if (ofRow !== null && isAny)
    return `select ${ofRow} as key, u.model, ${AMOUNTS} from ${rows} where not exists (select from usage_sources s
        where s.workspace_id = $1 and s.is_simulated and ${KEY_OF_SOURCE}) group by 1, 2`
  return `select ${ofRow ?? ofSource} as key, u.model, ${AMOUNTS} from ${rows} join usage_sources s on s.workspace_id = $1 and ${KEY_OF_SOURCE}
      ${whichSources(asked, values)} group by 1, 2`
}

/** What is not known is null; where nothing of it is unknown, it is nothing. */
const costOf = (usd: string) => `trim_scale(coalesce(${usd}, case when g.unknown = 0 then 0 end))::text`
const SHOWN = `'workMs', g.work, 'inputTokens', g.input, 'cachedInputTokens', g.cached, 'outputTokens', g.output, 'costUsd', ${costOf('g.usd')},
    'notionalUsd', ${costOf('g.notional')}, 'runs', g.runs, 'runsOfUnknownCost', g.unknown`
const SUMS = `coalesce(sum(k.work), 0)::bigint as work, coalesce(sum(k.input), 0)::bigint as input, coalesce(sum(k.cached), 0)::bigint as cached,
    coalesce(sum(k.output), 0)::bigint as output, sum(k.usd) as usd, sum(k.notional) as notional`
const WHOLE = `sum(a.input)::bigint as input, sum(a.cached)::bigint as cached, sum(a.output)::bigint as output,
    sum(a.usd) as usd, sum(a.notional) as notional`
const COUNTS = 'coalesce(sum(k.runs), 0)::int as runs, coalesce(sum(k.unknown), 0)::int as unknown'
/** What was saved depends on the models: of amounts a. */
const MODELS = `coalesce(json_agg(json_build_object('model', a.model, 'inputTokens', a.input, 'cachedInputTokens', a.cached,
    'outputTokens', a.output, 'costUsd', trim_scale(a.usd)::text, 'notionalUsd', trim_scale(a.notional)::text)), '[]')`
const LARGEST_FIRST = 'g.usd desc nulls last, g.input + g.cached + g.output desc, g.key'

/** By type of task: what was said of those that were worked on, and all that the same tasks have used. */
const POINT_TOKENS = estimatedTokensOf({ complexity: 1 })
const ESTIMATES = `estimates as materialized (
  select e.task_type, sum(e.tokens)::bigint as estimated, count(*) as tasks, sum(r.tokens)::bigint as used
    from worked t
    cross join lateral (select d.task_type, coalesce((d.plan ->> 'estimatedTokens')::bigint, (d.plan ->> 'complexity')::bigint * ${POINT_TOKENS}) as tokens
      from task_details d where d.workspace_id = $1 and d.task_id = t.task_id offset 0) e
    cross join lateral (select sum(s.input_tokens + s.cached_input_tokens + s.output_tokens) as tokens
      from usage_sources s where s.workspace_id = $1 and s.task_id = t.task_id) r
   where e.tokens is not null group by e.task_type)`
const ESTIMATED = `'estimatedTokens', e.estimated, 'estimatedTasks', e.tasks, 'tokensOfEstimated', e.used`
const NOT_ESTIMATED = `'estimatedTokens', null, 'estimatedTasks', null, 'tokensOfEstimated', null`

export async function sumsOf(
  pool: pg.Pool,
  workspaceId: number,
  asked: UsageOf,
  groupBy: GroupBy,
): Promise<SumsOfGroups> {
  const values = new Values()
  const placeOf = groupBy.by === 'day' ? placeIn(groupBy.days, values) : null
  const group =
    groupBy.by === 'day'
      ? { ofRow: placeOf!('u.at'), ofSource: null, outside: 'g.key', name: 'null' }
      : GROUPINGS[groupBy.by]
  const hasEstimates = groupBy.by === 'taskType'
  const order = groupBy.by === 'day' ? 'g.key' : LARGEST_FIRST
  const [row] = await inside<SumsOfGroups & pg.QueryResultRow>(
    pool,
    workspaceId,
    `with amounts as materialized (${amountsOf(asked, group, values)}),
     ${countedBy(asked, group, values, placeOf)},
     groups as materialized (select k.key, ${SUMS}, ${COUNTS} from (
       select a.key, a.input, a.cached, a.output, a.work, a.usd, a.notional, 0 as runs, 0 as unknown from amounts a
       union all select c.key, 0, 0, 0, 0, null, null, c.runs, c.unknown from counted c) k group by k.key),
     shown as materialized (select g.* from groups g order by ${LARGEST_FIRST} limit ${MOST_GROUPS}),
     parts as materialized (select a.key, ${MODELS} as models from amounts a
       where a.key is null or a.key in (select g.key from shown g) group by a.key)
     ${hasEstimates ? `, ${ESTIMATES}` : ''}
     select (select json_build_object(${SHOWN}) from (
         select ${SUMS}, r.runs, r.unknown from groups k, all_runs r group by r.runs, r.unknown) g) as total,
       (select count(*)::int from groups) as count,
       (select ${MODELS} from (select a.model, ${WHOLE} from amounts a group by a.model) a) as models,
       (select coalesce(json_agg(json_build_object('key', ${group.outside}, 'name', ${group.name}, 'models', coalesce(p.models, '[]'), ${SHOWN}, ${
         hasEstimates ? ESTIMATED : NOT_ESTIMATED
       }) order by ${order}), '[]')
          from shown g left join parts p on p.key is not distinct from g.key ${hasEstimates ? 'left join estimates e on e.task_type is not distinct from g.key' : ''}) as groups`,
    values.all,
  )
  return { ...row!, total: row!.total ?? NOTHING }
}

const NOTHING: SumsRead = {
  ...{ workMs: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 },
  ...{ costUsd: '0', notionalUsd: '0', runs: 0, runsOfUnknownCost: 0 },
}
