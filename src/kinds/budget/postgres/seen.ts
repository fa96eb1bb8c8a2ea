import type { ReadSet } from '../../../kernel/batch/requests.ts'
import type { Pipeline, Rows } from '../../../postgres/statements/pipeline.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { HAS_TOLD } from '../../../postgres/statements/spent.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import type { TaskRecord } from '../../task/record.ts'
import { type BudgetRecord, scopeKeysOf } from '../record.ts'
import { type SeenBudgets, typicalName } from '../rules/claims.ts'
import { IS_BLOCKED } from './reads.ts'
import { budgetRows } from './rows.ts'

/** What claims and renewals see of budgets, read without a lock. */

// $1 workspace, $2 scopes.
const ofScopes = statement(
  'budgets_of_scopes',
  `select ${budgetRows.select('b')} from budgets b where b.workspace_id = $1 and b.scope_key = any($2::text[]) order by b.budget_id`,
)
// Most of a batch are of one type and nobody has estimated them: a row for all that are alike. $1 workspace, $2 tasks.
const ofTasks = statement(
  'estimates_of_tasks',
  `select d.task_type, (d.plan ->> 'estimatedTokens')::bigint, (d.plan ->> 'complexity')::int, string_agg(d.task_id::text, ',')
     from task_details d where d.workspace_id = $1 and d.task_id = any($2::bigint[]) group by 1, 2, 3`,
)
// $1 workspace, $2 agents.
const ofAgents = statement(
  'agents_under_budgets',
  `select a.slug, coalesce(a.adapter_config ->> 'model', a.model), a.adapter_type = 'simulated' from agents a
    where a.workspace_id = $1 and a.slug = any($2::text[])`,
)
/** Of how many runs the median is taken. */
const LAST = 20
// What runs of agents at tasks of these types usually use. $1 workspace, $2 agents, $3 tasks.
const usual = statement(
  'usual_usage',
  `select a.agent, k.task_type, u.tokens, trim_scale(u.usd)::text from unnest($2::text[]) as a(agent)
    cross join (select distinct d.task_type from task_details d where d.workspace_id = $1 and d.task_id = any($3::bigint[])) k
    cross join lateral (
      select percentile_disc(0.5) within group (order by s.tokens) as tokens,
             coalesce(percentile_disc(0.5) within group (order by s.cost_usd), 0) as usd
        from (select s.input_tokens + s.cached_input_tokens + s.output_tokens as tokens, s.cost_usd, ${HAS_TOLD('s')} as has_told from usage_sources s
               where s.workspace_id = $1 and s.agent = a.agent and s.task_type = k.task_type
               order by s.started_at desc limit ${LAST}) s where s.has_told) u
   where u.tokens is not null`,
)
// Agents under whose budget, or that of the workspace, nothing begins. Simulated money counts in neither. $1 workspace, $2 agents.
export const stoppedAgents = statement(
  'agents_stopped_by_budgets',
  `select a.slug from agents a where a.workspace_id = $1 and a.slug = any($2::text[]) and a.adapter_type <> 'simulated' and exists (
     select from budgets b where b.workspace_id = $1 and b.scope_key in ('workspace', 'agent:' || a.slug) and ${IS_BLOCKED})`,
)

export function askForBudgets(
  pipeline: Pipeline,
  { claimingAgents }: Pick<ReadSet, 'claimingAgents'>,
  records: ReadonlyMap<number, TaskRecord>,
  timeZone: string,
): () => SeenBudgets {
  const all = [...records.values()]
  const holders = all.flatMap(({ agent, claimState }) => (claimState === 'active' ? (agent ?? []) : []))
  const agents = [...new Set([...claimingAgents, ...holders])]
  // Also those that are held: their leases may be over.
  const open = claimingAgents.length === 0 ? [] : all
  const keys = new Set(
    agents.flatMap((agent) => scopeKeysOf({ agent, taskId: null, missionId: null, projectId: 0 })),
  )
  for (const { id, missionId, projectId } of all)
    for (const key of scopeKeysOf({ agent: '', taskId: id, missionId, projectId })) keys.add(key)
  const ids = arrayLiteral(open.map(({ id }) => id))
  const budgets = pipeline.addIn(ofScopes, [arrayLiteral([...keys])])
  const tasks = pipeline.addIn(ofTasks, [ids])
  const ofEach = pipeline.addIn(ofAgents, [arrayLiteral(agents)])
  const typical = pipeline.addIn(usual, [arrayLiteral(claimingAgents), ids])
  return () => ({
    budgets: budgets().map((row) => budgetRows.read(row) as BudgetRecord),
    timeZone,
    tasks: estimatesIn(tasks()),
    agents: new Map(
      ofEach().map(([slug, model, isSimulated]) => [slug as string, { model, isSimulated } as never]),
    ),
    typical: new Map(
      typical().map(([agent, taskType, tokens, usd]) => [
        typicalName(agent as string, taskType as string),
        { tokens, usd } as never,
      ]),
    ),
  })
}

function estimatesIn(rows: Rows): SeenBudgets['tasks'] {
  const estimates = new Map<number, never>()
  for (const [taskType, estimatedTokens, complexity, tasks] of rows) {
    const alike = { taskType, estimatedTokens, complexity } as never
    for (const id of (tasks as string).split(',')) estimates.set(Number(id), alike)
  }
  return estimates
}
