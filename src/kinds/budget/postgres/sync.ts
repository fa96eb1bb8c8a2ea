import type { Changes, View } from '../../../kernel/batch/requests.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, statement } from '../../../postgres/statements/statements.ts'
import type { Budget } from '../../../pure/budget.ts'
import type { TaskPlan } from '../../task/rules/plan-fields.ts'

// The budgets of missions and tasks are what is said of them. What one has told people holds as long as it is still true;
// it is counted again at once, which tells them when it is used up. $1 workspace,
// $2 scope, $3 ids inside, $4 ids outside, $5 dollars, $6 tokens; without both it has none.
const sync = statement(
  'sync_budgets',
  `with said as (select $2 || ':' || k.id as key, k.uuid, k.usd, k.tokens
      from unnest($3::bigint[], $4::text[], $5::numeric[], $6::bigint[]) as k(id, uuid, usd, tokens)),
   gone as (delete from budgets b using said s where b.workspace_id = $1 and b.scope_key = s.key and s.usd is null and s.tokens is null)
   insert into budgets as b (workspace_id, budget_id, scope, scope_key, scope_id, period, period_start, max_usd, max_tokens,
       count_due_at, created_by, created_at, updated_at)
   select $1, budget_id(s.key, 'none'), $2, s.key, s.uuid, 'none', to_timestamp(0), s.usd, s.tokens, clock_timestamp(), 'system',
       clock_timestamp(), clock_timestamp() from said s where s.usd is not null or s.tokens is not null order by 2
   on conflict (workspace_id, budget_id) do update set max_usd = excluded.max_usd, max_tokens = excluded.max_tokens,
       version = b.version + 1, updated_at = excluded.updated_at, count_due_at = excluded.count_due_at,
       exceeded_at = case when b.consumed_usd >= excluded.max_usd or b.consumed_tokens >= excluded.max_tokens then b.exceeded_at end,
       warned_at = case when b.consumed_usd >= excluded.max_usd or b.consumed_tokens >= excluded.max_tokens then b.warned_at end
     where (b.max_usd, b.max_tokens) is distinct from (excluded.max_usd, excluded.max_tokens)`,
)

interface Said {
  id: number
  uuid: string
  budget: Budget | null | undefined
}

const synced = (workspaceId: number, scope: 'mission' | 'task', said: readonly Said[]): Bound[] =>
  said.length === 0
    ? []
    : [
        [
          sync,
          [
            workspaceId,
            scope,
            arrayLiteral(said.map(({ id }) => id)),
            arrayLiteral(said.map(({ uuid }) => uuid)),
            arrayLiteral(said.map(({ budget }) => budget?.maxUsd ?? null)),
            arrayLiteral(said.map(({ budget }) => budget?.maxTokens ?? null)),
          ],
        ],
      ]

/** Of missions and tasks whose budget is new or another one. */
export function syncWrites(workspaceId: number, view: View, { kinds, created, details }: Changes): Bound[] {
  const missions = kinds.mission.written.flatMap(({ id, uuid, config: { budget } }): Said[] => {
    const before = view.kinds.mission.seen.get(uuid)?.record.config.budget
    return JSON.stringify(before) === JSON.stringify(budget) ? [] : [{ id, uuid, budget }]
  })
  const fresh = created.flatMap(({ record: { id, uuid }, task }): Said[] => {
    const budget = task.details.plan?.budget
    return budget ? [{ id, uuid, budget }] : []
  })
  const changed = details.flatMap(({ taskId, set: { plan } }): Said[] => {
    const task = view.records.get(taskId)
    if (plan === undefined || !task) return []
    return [{ id: taskId, uuid: task.uuid, budget: (plan as TaskPlan | null)?.budget }]
  })
  return [...synced(workspaceId, 'mission', missions), ...synced(workspaceId, 'task', [...fresh, ...changed])]
}
