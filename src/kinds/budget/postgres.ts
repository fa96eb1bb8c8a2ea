import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { statement } from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { isUuid } from '../../pure/ids.ts'
import { EARLIEST_BUDGET } from './postgres/reads.ts'
import { budgetRows } from './postgres/rows.ts'
import type { Counted } from './rules.ts'

// What the ledger has in the period of a budget b: whole quarters of an hour, and before the first of them single rows. Simulated money
// counts only in the budgets of its mission and its task.
const IN_SCOPE = `s.workspace_id = b.workspace_id and case b.scope
      when 'workspace' then not s.is_simulated
      when 'agent' then s.agent = b.scope_id and not s.is_simulated
      when 'project' then s.project_id = split_part(b.scope_key, ':', 2)::int and not s.is_simulated
      when 'mission' then s.mission_id = split_part(b.scope_key, ':', 2)::bigint
      else s.task_id = split_part(b.scope_key, ':', 2)::bigint end`
const FIRST_QUARTER = `date_bin('15 minutes', b.period_start + interval '15 minutes' - interval '1 microsecond', timestamptz '2000-01-01 00:00:00+00')`
const OF_SOURCE =
  's.workspace_id = u.workspace_id and s.source_id = u.source_id and s.generation = u.generation'
const COLUMNS = 'u.input_tokens + u.cached_input_tokens + u.output_tokens as tokens, u.cost_usd, u.basis'
const RESERVED_IN = `from budget_reservations r
         where r.workspace_id = b.workspace_id and r.budget_ids::jsonb ? b.budget_id::text`
// The budgets that are locked and due to be counted. $1 workspace, $2 budgets.
const counted = statement(
  'count_budgets',
  `select b.budget_id, coalesce(sum(x.tokens), 0)::bigint,
       coalesce(trim_scale(sum(x.cost_usd) filter (where x.basis in ('reported', 'priced'))), 0)::text,
       coalesce(trim_scale(sum(x.cost_usd) filter (where x.basis = 'notional')), 0)::text, ms(b.period_start)::bigint,
       (select coalesce(sum(r.tokens), 0)::bigint ${RESERVED_IN}), (select coalesce(trim_scale(sum(r.usd)), 0)::text ${RESERVED_IN})
     from budgets b left join lateral (
       select ${COLUMNS} from usage_sources s join usage_quarters u on ${OF_SOURCE}
        where ${IN_SCOPE} and u.quarter >= ${FIRST_QUARTER} and (b.period_end is null or u.quarter < b.period_end)
       union all
       select ${COLUMNS} from usage u join usage_sources s on ${OF_SOURCE}
        where ${IN_SCOPE} and u.workspace_id = b.workspace_id and u.at >= b.period_start and u.at < ${FIRST_QUARTER}) x on true
    where b.workspace_id = $1 and b.budget_id = any($2::uuid[]) and b.count_due_at <= clock_timestamp()
    group by b.workspace_id, b.budget_id`,
)

const plain = plainKind('budget', { rows: budgetRows, may: 'select, insert, update, delete' })

export const storedBudgets: StoredKind<'budget'> = {
  ...plain,
  tables: { ...plain.tables, budget_reservations: 'select, insert, update, delete' },
  due: [EARLIEST_BUDGET],
  firstCome: ['budgets_pkey'],
  ask(pipeline, readSet) {
    const read = plain.ask(pipeline, readSet)
    if (!read) return null
    const counts = pipeline.addIn(counted, [arrayLiteral(readSet.kinds.budget.filter(isUuid))])
    return (records) => {
      const ledger = new Map(
        counts().map(([id, tokens, usd, notionalUsd, periodStart, reservedTokens, reservedUsd]) => [
          id as string,
          { tokens, usd, notionalUsd, periodStart, reservedTokens, reservedUsd } as Counted,
        ]),
      )
      const { view } = read(records)
      const seen = new Map(
        [...view.seen].map(([id, one]) => [id, { ...one, counted: ledger.get(id) ?? null }]),
      )
      return { view: { ...view, seen } }
    }
  },
}
