import { afterEach, expect, test } from 'vitest'
import { budgetIdOf } from '../../src/kernel/budget-id.ts'
import { reportRun } from '../../src/kinds/run/rules/report.ts'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { migrate, readMigrations } from '../../src/store/migrate.ts'
import { PostgresStore, SERVER_ROLE } from '../../src/store/store.ts'
import { emptyDatabase } from '../support/database.ts'
import { used } from '../support/ledger.ts'
import { budgetOf, elapseBudget, must, setBudget } from '../support/money.ts'
import { superuser } from '../support/nodes.ts'
import { Work } from '../support/tasks.ts'

/** A database from before the ledger: its runs are booked, and the budgets of its missions and tasks are rows that count them. */

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act()
})

const OURS = readMigrations()
const BEFORE = OURS.slice(
  0,
  OURS.findIndex(({ name }) => name.includes('exact_costs')),
)

async function databaseBefore(): Promise<string> {
  const { url, drop } = await emptyDatabase()
  undo.push(drop)
  await migrate(await findDatabase(url), SERVER_ROLE, BEFORE)
  return url
}

const run = (url: string, text: string) =>
  superuser(url, async (client) => {
    await client.query('set search_path = baton')
    return (await client.query(text)).rows
  })

/** Two missions, one over; three tasks; runs of two agents. */
const OLD = `
  insert into workspaces (workspace_id, uuid, name) values (7, gen_random_uuid(), 'old'), (8, gen_random_uuid(), 'other');
  insert into workspace_counters (workspace_id) values (7), (8);
  insert into log_cursors (workspace_id, follower) values (7, 'dependents'), (8, 'dependents');
  insert into limits (workspace_id, min_lease_seconds, max_lease_seconds, max_concurrent_claims,
      max_generations_per_task, max_result_bytes, late_results)
    select w, 1, 3600, 100, 100, 1000, true from generate_series(7, 8) w;
  insert into missions (workspace_id, mission_id, uuid, goal, title, priority, config, phase, state, open_for, plan_version,
      approved_version, created_by, created_at, updated_at, completed_at)
    select 7, id, ('01890000-0000-7000-8000-0000000000' || id)::uuid, 'go', 'go', 5, config::json, phase, phase, open_for, 1, 1, 'me', now(),
        now(), case phase when 'completed' then now() end
      from (values (31, 'running', 'all', '{"budget": {"limitUsd": "2.50", "limitTokens": 5000}}'),
                   (32, 'completed', 'report', '{"budget": {"limitUsd": "9"}}'),
                   (33, 'running', 'all', '{"budget": null}')) as m(id, phase, open_for, config);
  insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, rank, mission_id)
    select 7, id, ('01890000-0000-7000-8000-00000000000' || id)::uuid, now(), now(), 3, 5, 'none', 'queued', id, mission_id
      from (values (1, 31), (2, 31), (3, null)) as t(id, mission_id);
  insert into task_details (workspace_id, task_id, title, task_type, plan)
    select 7, id, 'old', 'coding', plan::json
      from (values (1, null), (2, null), (3, '{"budget": {"limitTokens": 1000}}')) as d(id, plan);
  insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, task_id, task_uuid, generation, attempt, session,
      node_id, input_tokens, cached_input_tokens, output_tokens, usage_basis, cost_usd, model, created_at, started_at, finished_at)
    select 7, ('01890000-0000-7000-8000-0000000001' || n)::uuid, agent, gen_random_uuid(), 'process', 'assignment', 'succeeded', task,
        case when task is not null then ('01890000-0000-7000-8000-00000000000' || task)::uuid end,
        case when task is not null then n - 9 end, case when task is not null then 1 end, case when task is not null then 's' end,
        gen_random_uuid(), input, cached, output, case when input is not null then 'reported' end, cost, model,
        '2026-01-01', '2026-01-01', '2026-01-01 10:07:00+00'
      from (values (10, 'dev', 1, 100, 50, 10, 0.123456789, 'gpt-5'),
                   (11, 'dev', 1, 200, null, 20, 0.5, 'gpt-5'),
                   (12, 'dev', 2, 1000, 0, 1, null, null),
                   (13, 'ops', 3, null, null, null, 0.25, null),
                   (14, 'ops', 3, null, null, null, null, null),
                   (15, 'ops', null, 7, null, 3, 0, 'x')) as r(n, agent, task, input, cached, output, cost, model)`

test('runs are booked once, exactly, and budgets count them', async () => {
  const url = await databaseBefore()
  await run(url, OLD)
  const store = await PostgresStore.open(url)
  undo.push(() => store.close())
  const work = new Work(store, 7)

  const ledger = await run(
    url,
    `select right(s.source_id::text, 2) as run, u.model, u.basis, s.task_id, s.mission_id,
         u.input_tokens + u.cached_input_tokens + u.output_tokens as tokens, trim_scale(u.cost_usd)::text as usd
       from usage u join usage_sources s using (workspace_id, source_id, generation) order by 1`,
  )
  const row = (n: string, model: string, tokens: string, usd: string | null) => ({
    ...{ run: n, model, basis: usd === null ? 'unknown' : 'reported', tokens, usd },
  })
  expect(ledger).toMatchObject([
    row('10', 'gpt-5', '160', '0.123456789'),
    row('11', 'gpt-5', '220', '0.5'),
    row('12', 'unknown', '1001', null),
    row('13', 'unknown', '0', '0.25'),
    row('15', 'x', '10', '0'),
  ])
  expect(ledger.map(({ mission_id: mission }) => mission)).toEqual(['31', '31', '31', null, null])
  for (const table of ['usage', 'usage_quarters', 'usage_sources'])
    expect(
      await run(
        url,
        `select sum(output_tokens)::int as tokens, trim_scale(sum(cost_usd))::text as usd from ${table}`,
      ),
      table,
    ).toEqual([{ tokens: 34, usd: '0.873456789' }])

  const mission = budgetIdOf('mission:31', 'none')
  const task = budgetIdOf('task:3', 'none')
  const ids = (await run(url, 'select budget_id as id from budgets')).map(({ id }) => id)
  expect(new Set(ids), 'none of what is over, or has no limit').toEqual(new Set([mission, task]))
  for (const id of ids) must(await elapseBudget(work, id))
  expect(await budgetOf(work, mission)).toMatchObject({
    ...{ scope: 'mission', maxUsd: '2.5', maxTokens: 5_000, period: 'none' },
    ...{ consumedUsd: '0.623456789', consumedTokens: 1_381, scopeId: '01890000-0000-7000-8000-000000000031' },
  })
  expect(await budgetOf(work, task)).toMatchObject({ maxUsd: null, maxTokens: 1_000, consumedUsd: '0.25' })
  const daily = await setBudget(work, { maxUsd: '5', period: 'day' })
  expect(await budgetOf(work, daily), 'it was long ago').toMatchObject({
    consumedUsd: '0',
    consumedTokens: 0,
  })
  expect(await run(url, 'select 1 from usage where workspace_id = 8')).toEqual([])
})

test('a run that is under way goes on being booked: what it had is not counted twice', async () => {
  const url = await databaseBefore()
  await run(url, OLD)
  await run(url, `update runs set status = 'running', finished_at = null where run_id::text like '%10'`)
  const store = await PostgresStore.open(url)
  undo.push(() => store.close())
  const work = new Work(store, 7)
  const about = {
    ...{ runId: '01890000-0000-7000-8000-000000000110', agent: 'dev' },
    task: { ...(await work.record({ id: 1 })), generation: 1, attempt: 1, session: 's' },
  }
  const models = { 'gpt-5': used(30, '0.2', { inputTokens: 100, cachedInputTokens: 50 }) }
  const said = { usage: null, booking: { number: 1, models }, status: null, sessionId: null, flags: [] }
  await store.transact(7, reportRun(about, said))
  const mission = budgetIdOf('mission:31', 'none')
  must(await elapseBudget(work, mission))
  expect(await budgetOf(work, mission)).toMatchObject({ consumedUsd: '0.7', consumedTokens: 1_401 })
})
