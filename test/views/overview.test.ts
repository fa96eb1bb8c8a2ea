import { describe, expect, test } from 'vitest'
import { taskStates } from '../../src/pure/states.ts'
import { OVERVIEW_WINDOWS, overviewWindows } from '../../src/views/overview/periods.ts'
import { Overview } from '../../src/views/overview/shapes.ts'
import { actOn, failForGood, finish, makeMission, submit, take } from '../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'

/** A workspace at a glance. */

const { workspace, served } = useServer()
const overview = async (w: Workspace, window = '24h') => {
  const { status, body } = await w.call('GET', `/overview?window=${window}`)
  expect(status).toBe(200)
  return Overview.parse(body)
}
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)

/** Runs that have ended so long ago, with what they cost in the ledger. */
const addRuns = (id: string, rows: { agoMs: number; costUsd: string | null }[]) =>
  superuser(served().databaseUrl, async (client) => {
    await client.query('set session_replication_role = replica')
    for (const { agoMs, costUsd } of rows)
      await client.query(
        `with n as (select now() - $2 * interval '1 millisecond' as at),
           run as (insert into baton.runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, node_id, created_at, started_at,
             finished_at, cost_usd)
             select t.workspace_id, (lpad(to_hex(baton.ms(n.at)), 12, '0') || substr(gen_random_uuid()::text, 14))::uuid, 'dev',
               gen_random_uuid(), 'process', 'on_demand', 'succeeded', gen_random_uuid(), n.at, n.at, n.at, $3::numeric
               from baton.tasks t, n where t.uuid = $1 returning workspace_id, run_id, cost_usd),
           source as (insert into baton.usage_sources (workspace_id, source_id, generation, agent, operation, rows, cost_usd, started_at, updated_at)
             select r.workspace_id, r.run_id, 0, 'dev', 'work', 1, r.cost_usd, n.at, n.at from run r, n where r.cost_usd is not null),
           quarter as (insert into baton.usage_quarters (workspace_id, quarter, source_id, generation, model, basis, input_tokens,
               cached_input_tokens, output_tokens, cost_usd)
             select r.workspace_id, date_bin('15 minutes', n.at, timestamptz '2000-01-01 00:00:00+00'), r.run_id, 0, 'm', 'reported', 0, 0, 0, r.cost_usd
               from run r, n where r.cost_usd is not null)
         insert into baton.usage (workspace_id, source_id, generation, model, number, basis, at, input_tokens, cached_input_tokens,
             cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, cost_usd)
           select r.workspace_id, r.run_id, 0, 'm', 1, 'reported', n.at, 0, 0, 0, 0, 0, r.cost_usd from run r, n where r.cost_usd is not null`,
        [id, agoMs, costUsd],
      )
  })

describe('the overview', () => {
  test('of an empty workspace has nothing, and says so', async () => {
    const w = await workspace()
    const shown = await overview(w)
    expect(shown).toMatchObject({
      waiting: { count: 0, items: [] },
      running: { count: 0, items: [] },
      throughput: { completed: 0, failed: 0 },
      spend: { costUsd: '0', perHourUsd: null, projectedUsd: null, runs: 0, unknownRuns: 0 },
      agents: { inError: [] },
      missions: { count: 0, items: [] },
    })
    await until(async () => (await overview(w)).coordinator.isHealthy)
    const { coordinator } = await overview(w)
    expect(coordinator).toEqual({ node: expect.any(String), isHealthy: true, nodes: expect.any(Number) })
    expect(Object.keys(shown.counts).sort()).toEqual([...taskStates].sort())
    expect(sum(Object.values(shown.counts))).toBe(0)
  })

  test('divides each window into its buckets, the last of which is not over', async () => {
    const w = await workspace()
    for (const window of overviewWindows) {
      const { bucketMs, buckets } = OVERVIEW_WINDOWS[window]
      const { from, to, throughput, spend, ...rest } = await overview(w, window)
      expect(rest).toMatchObject({ window, bucketMs })
      expect([throughput.perBucket.length, spend.perBucket.length]).toEqual([buckets, buckets])
      expect(Date.parse(from) % bucketMs).toBe(0)
      const last = Date.parse(from) + (buckets - 1) * bucketMs
      expect(Date.parse(to)).toBeGreaterThanOrEqual(last)
      expect(Date.parse(to)).toBeLessThan(last + bucketMs)
    }
    expectRefusal(await w.call('GET', '/overview?window=2h'), 400, 'VALIDATION_FAILED')
  })

  test('counts work by state, what waits, what runs and what ended, as of one event', async () => {
    const w = await workspace()
    const judged = await w.make({ title: 'judged', verification: { kind: 'human' } })
    await w.make({ title: 'after it', dependsOn: [judged.id] })
    await submit(w, await take(w))
    await w.make({ title: 'good' })
    await finish(w, 1)
    for (const title of ['bad', 'worse']) {
      await w.make({ title })
      await failForGood(w, await take(w))
    }
    const working = await w.make({ title: 'worked on', maxRetries: 2 })
    const { generation } = await take(w, 'gamma')
    const fenced = { session: 's-gamma', generation }
    await w.post(`/tasks/${working.id}/start`, fenced)
    await w.post(`/tasks/${working.id}/progress`, { ...fenced, step: 'half', percent: 50 })
    const [shown, board] = await until(async () => {
      const both = [await overview(w, '1h'), (await w.call('GET', '/board?counts=1')).body]
      return both[0].seq === both[1].seq && both
    })
    expect(shown.counts).toEqual(board.counts)
    expect(shown.throughput).toMatchObject({ completed: 1, failed: 2 })
    const totals = [0, 1].map((at) => sum(shown.throughput.perBucket.map((bucket: number[]) => bucket[at]!)))
    expect(totals).toEqual([1, 2])
    expect(shown.waiting).toMatchObject({
      count: 1,
      items: [{ kind: 'review', title: 'judged', blocks: 1, about: { taskId: judged.id } }],
    })
    const row = { runId: null, agent: 'gamma', taskId: working.id, taskTitle: 'worked on', step: 'half' }
    const figures = { percent: 50, attempt: 1, maxAttempts: 3, tokensUsed: null, costUsd: null, flag: null }
    expect(shown.running).toMatchObject({ count: 1, items: [{ ...row, ...figures }] })
    expect(shown.agents.counts).toMatchObject({ running: 1, idle: 1 })
    expect(shown.eventsPerSecond).toBeGreaterThan(0)
  })

  test('shows missions that are under way with their progress, and agents in error with the reason', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }, { tempId: 'c' }], {
      title: 'Port it',
      config: { autonomy: 'full_auto', budget: { maxUsd: '5.00' } },
    })
    await finish(w, 1)
    const over = await makeMission(w, [{ tempId: 'x' }])
    await actOn(w, over, 'cancel')
    await until(async () => (await overview(w)).missions.count === 1)
    const { missions } = await overview(w)
    expect(missions.items).toMatchObject([
      { id: mission.id, title: 'Port it', state: 'running', taskCount: 3, tasksCompleted: 1, tasksFailed: 0 },
    ])
    expect(Number(missions.items[0]!.budget!.maxUsd)).toBe(5)
    await w.call('PUT', '/agents/dev-7', { name: 'Seven' })
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.agents a set state = 'error', state_reason = 'not logged in' from baton.missions m
          where a.workspace_id = m.workspace_id and m.uuid = $1 and a.slug = 'dev-7'`,
        [mission.id],
      ),
    )
    const { agents } = await overview(w)
    expect(agents.counts.error).toBe(1)
    expect(agents.inError).toMatchObject([{ slug: 'dev-7', name: 'Seven', reason: 'not logged in' }])
  })

  test('shows what ended last, with its result or why it failed, and what it cost', async () => {
    const w = await workspace()
    const good = await w.make({ title: 'good' })
    await w.claim(good, 'dev')
    await w.on(good, 'submit', { ...fence('s-dev', 1), result: 1, summary: 'The form works again.' })
    const bad = await w.make({ title: 'bad' })
    await w.claim(bad, 'dev')
    await w.on(bad, 'fail', {
      ...fence('s-dev', 1),
      failureClass: 'invalid',
      error: 'There is no such page.',
    })
    const mission = await makeMission(w, [{ tempId: 'a' }], { title: 'Port it' })
    await actOn(w, mission, 'cancel')
    const { tasks, missions } = await until(async () => {
      const { ended } = await overview(w, '30d')
      return ended.missions.length > 0 && ended
    })
    expect(tasks.filter(({ title }) => title === 'good' || title === 'bad')).toMatchObject([
      { id: bad.id, state: 'failed', agent: 'dev', summary: 'There is no such page.', costUsd: null },
      { id: good.id, state: 'completed', summary: 'The form works again.', workMs: expect.any(Number) },
    ])
    expect(missions).toMatchObject([{ id: mission.id, title: 'Port it', state: 'cancelled' }])
    await superuser(served().databaseUrl, (client) =>
      client.query(`set session_replication_role = replica; update baton.tasks set completed_at = now() - interval '8 days'
         where uuid = '${good.id}'`),
    )
    const titles = async (window: string) =>
      (await overview(w, window)).ended.tasks.map(({ title }) => title).filter((title) => title === 'good')
    expect([await titles('7d'), await titles('30d')]).toEqual([[], ['good']])
    // How long was worked on it, which is not the time until somebody approved it.
    const workMs = (ended: typeof tasks) => ended.find(({ title }) => title === 'good')?.workMs
    expect(workMs((await overview(w, '30d')).ended.tasks)).toBe(workMs(tasks))
  })

  test('adds up what runs cost by when they spent it; what is unknown is unknown, never nothing', async () => {
    const w = await workspace()
    const { id } = await w.make()
    const minutes = 60_000
    await addRuns(id, [
      { agoMs: 30 * minutes, costUsd: '0.1' },
      { agoMs: 30 * minutes, costUsd: '0.2' },
      { agoMs: 10 * minutes, costUsd: null },
      { agoMs: 600 * minutes, costUsd: '4' },
    ])
    const { spend, to, from } = await overview(w, '1h')
    expect(spend).toMatchObject({ costUsd: '0.3', runs: 3, unknownRuns: 1 })
    const bucketOf = (agoMs: number) => Math.floor((Date.parse(to) - agoMs - Date.parse(from)) / minutes)
    // A moment passes between the runs and the read.
    const around = (agoMs: number) => spend.perBucket.slice(bucketOf(agoMs) - 1, bucketOf(agoMs) + 1)
    expect(around(30 * minutes)).toContain('0.3')
    expect(around(10 * minutes)).toContain(null)
    expect(new Set(spend.perBucket)).toEqual(new Set(['0', '0.3', null]))
    // For half an hour, and then again for an hour.
    expect(Number(spend.perHourUsd)).toBeCloseTo(0.6, 2)
    expect(Number(spend.projectedUsd)).toBeCloseTo(0.6, 2)
    expect((await overview(w)).spend).toMatchObject({ costUsd: '4.3', runs: 4 })
  })

  test('projects nothing from the first minutes', async () => {
    const w = await workspace()
    const { id } = await w.make()
    await addRuns(id, [{ agoMs: 60_000, costUsd: '1.94' }])
    const { spend } = await overview(w)
    expect(spend).toMatchObject({ costUsd: '1.94', perHourUsd: null, projectedUsd: null })
  })

  test('knows no total where no run has a known cost', async () => {
    const w = await workspace()
    await addRuns((await w.make()).id, [{ agoMs: 60_000, costUsd: null }])
    expect((await overview(w)).spend).toMatchObject({ costUsd: null, perHourUsd: null, projectedUsd: null })
  })

  test('shows a run that was flagged first, with what was noticed, what it does and what it used', async () => {
    const w = await workspace()
    const steps = (...more: Json[]) => [
      { status: 'reads', color: 'blue' },
      { usage: { inputTokens: 1_200, outputTokens: 50 } },
      ...more,
      { waitMs: 600_000 },
    ]
    const put = (slug: string, more: Json[]) =>
      w.call('PUT', `/agents/${slug}`, {
        adapterType: 'simulated',
        adapterConfig: { steps: steps(...more) },
        coordinatorEnabled: false,
      })
    await put('steady', [])
    await put(
      'stuck',
      Array.from({ length: 4 }, () => ({ call: 'npm test' })),
    )
    const running = async () => (await overview(w)).running
    for (const slug of ['steady', 'stuck']) {
      await w.post(`/agents/${slug}/wakeup`, {})
      await until(async () =>
        (await running()).items.some((one) => one.agent === slug && one.tokensUsed === 1_250),
      )
    }
    await w.happens('run_flagged')
    const { count, items } = await running()
    expect(count).toBe(2)
    expect(items).toMatchObject([
      {
        agent: 'stuck',
        status: 'reads',
        flag: { code: 'loop_detected', detail: expect.stringContaining('npm test') },
      },
      { agent: 'steady', status: 'reads', statusColor: 'blue', taskId: null, costUsd: null, flag: null },
    ])
    for (const { runId } of items) await w.post(`/runs/${runId}/cancel`)
  })

  test('stays below 40 KB, however much there is and however long its texts are', async () => {
    const w = await workspace({ maxConcurrentClaims: 1_000 })
    const title = '日'.repeat(500)
    const tasks = Array.from({ length: 60 }, () => ({ title, verification: { kind: 'human' } }))
    await w.post('/tasks/batch', { tasks })
    for (let n = 0; n < 30; n++) await take(w, `agent-${n}`)
    for (let n = 0; n < 12; n++) await submit(w, await take(w))
    for (let n = 0; n < 12; n++) await makeMission(w, [{ tempId: 'a' }], { title, goal: title })
    const body = await overview(w)
    expect(body.running).toMatchObject({ count: 30, items: { length: 20 } })
    expect(body.waiting).toMatchObject({ count: 12, items: { length: 3 } })
    expect(body.missions).toMatchObject({ count: 12, items: { length: 10 } })
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(40 * 1024)
  })
})
