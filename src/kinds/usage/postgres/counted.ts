import { RUN_TIME } from '../record.ts'
import { type UsageOf, type Values, whichSources } from './asked.ts'
import { rowsIn } from './rows-in.ts'

/** How many runs and claims used something: in each group, and in all. */

export interface Grouping {
  /** Of a row u. */
  ofRow: string | null
  /** Of a source s; null: its rows may be in several groups. */
  ofSource: string | null
  /** Of a group g: how clients know it, and how people call it. */
  outside: string
  name: string
}

export const KEY_OF_SOURCE = 'u.source_id = s.source_id and u.generation = s.generation'
const COUNTED = 'count(*)::int as runs, count(*) filter (where s.is_cost_unknown)::int as unknown'

/** `counted` (by key) and `all_runs`, each once, also of those that are in several groups; of tasks by type `worked`, too. */
export function countedBy(
  asked: UsageOf,
  { ofRow, ofSource }: Grouping,
  values: Values,
  placeOf: ((at: string) => string) | null,
): string {
  if (ofSource === null && placeOf === null) return countedByModel(asked, values)
  const [from, to] = [values.at(asked.from), values.at(asked.to)]
  const ofModel = asked.model === undefined ? '' : `and u.model = ${values.add(asked.model)}`
  const touched = `usage_sources s where s.workspace_id = $1 and s.rows > 0 and s.updated_at >= ${from} and s.started_at < ${to} ${whichSources(asked, values)}`
  const own = `from usage u where u.workspace_id = $1 and ${KEY_OF_SOURCE} and u.at >= ${from} and u.at < ${to} ${ofModel}`
  const isInside = `(s.started_at >= ${from} and s.updated_at < ${to} ${asked.model === undefined ? '' : 'and false'})`
  if (ofSource !== null)
    return `counted as materialized (select ${ofSource} as key, ${COUNTED} from ${touched} and (${isInside} or exists (select ${own})) group by 1),
      all_runs as (select coalesce(sum(c.runs), 0)::int as runs, coalesce(sum(c.unknown), 0)::int as unknown from counted c),
      worked as (select distinct s.task_id from ${touched} and s.task_id is not null and (${isInside} or exists (select ${own})))`
  return countedByDay(touched, { ofRow: ofRow!, own, isInside, placeOf: placeOf! })
}

/**
 * Most began and ended within the period, and within one day: those are counted in one pass. Only the few others are looked up, row by
 * row. (`offset`: else the planner expects as many groups as times, and sorts.)
 */
function countedByDay(
  touched: string,
  {
    ofRow,
    own,
    isInside,
    placeOf,
  }: { ofRow: string; own: string; isInside: string; placeOf: (at: string) => string },
): string {
  const isOther = 'not s.is_inside or s.key <> s.last'
  return `spans as materialized (select s.key, ${COUNTED}, array_agg(s.source_id) filter (where ${isOther}) as sources,
        array_agg(s.generation) filter (where ${isOther}) as generations, array_agg(s.is_cost_unknown) filter (where ${isOther}) as unknowns
        from (select ${placeOf('s.started_at')} as key, ${placeOf('s.updated_at')} as last, ${isInside} as is_inside,
            s.source_id, s.generation, s.is_cost_unknown from ${touched} offset 0) s group by s.key, ${isOther}),
      others as materialized (select k.key, s.source_id, s.generation, s.is_cost_unknown from spans p
        cross join lateral unnest(p.sources, p.generations, p.unknowns) s(source_id, generation, is_cost_unknown)
        cross join lateral (select distinct ${ofRow} as key ${own}) k),
      counted as materialized (select p.key, p.runs, p.unknown from spans p where p.sources is null
        union all select s.key, ${COUNTED} from others s group by s.key),
      all_runs as (select count(*)::int + (select coalesce(sum(p.runs), 0) from spans p where p.sources is null)::int as runs,
          count(*) filter (where s.is_cost_unknown)::int + (select coalesce(sum(p.unknown), 0) from spans p where p.sources is null)::int as unknown
        from (select distinct s.source_id, s.generation, s.is_cost_unknown from others s) s)`
}

/** The cost of a run may be unknown by one of its models only. */
const countedByModel = (asked: UsageOf, values: Values): string =>
  `used as materialized (select u.model as key, s.source_id, s.generation, s.is_cost_unknown and u.is_unknown as is_cost_unknown
      from (select u.source_id, u.generation, u.model, bool_or(u.basis = 'unknown' and u.model <> '${RUN_TIME}') as is_unknown
        from (${rowsIn(asked, values)}) u group by 1, 2, 3) u
      join usage_sources s on s.workspace_id = $1 and ${KEY_OF_SOURCE} ${whichSources(asked, values)}),
    counted as materialized (select s.key, ${COUNTED} from used s group by s.key),
    all_runs as (select ${COUNTED} from (select bool_or(s.is_cost_unknown) as is_cost_unknown from used s group by s.source_id, s.generation) s)`
