import { expect, test } from 'vitest'
import { fence, type Json } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'
import { useFleets } from '../support/runs.ts'

/** Names where there are ids: lists that need no second request for each of their rows. */

const { served, fleet } = useFleets()
const NONE = { runs: 0, succeeded: 0, failed: 0, costUsd: null }

test('agents have what they hold, with keys, titles and progress, alone and in lists', async () => {
  const w = await fleet()
  const task = await w.make({ title: 'Paint', key: 'A-001-paint' })
  const other = await w.make({ title: 'Wash' })
  await w.claim(task)
  await w.claim(other)
  await w.on(task, 'start', fence('s-alpha', 1))
  await w.on(task, 'progress', { ...fence('s-alpha', 1), percent: 40 })
  const holds = [
    { taskId: task.id, key: 'A-001-paint', title: 'Paint', state: 'running', percent: 40 },
    { taskId: other.id, key: null, title: 'Wash', state: 'assigned', percent: null },
  ]
  const alone = (await w.call('GET', '/agents/alpha')).body
  expect(alone).toMatchObject({ holds, lastRun: null, today: NONE, activeTasks: 2 })
  const { items } = (await w.call('GET', '/agents')).body
  expect(items.find(({ slug }: Json) => slug === 'alpha')).toEqual(alone)
})

test('runs have the key and the title of their task; agents their last run, and the runs and cost of today', async () => {
  const w = await fleet()
  await w.script(
    'dev',
    `console.log(JSON.stringify({ result: 1, usage: { inputTokens: 1, outputTokens: 1 }, costUsd: '0.25' }))`,
  )
  const task = await w.assign('dev', { title: 'Paint', key: 'A-001-paint' })
  const [run] = await w.over('dev')
  const named = { id: run.id, taskId: task.id, taskKey: 'A-001-paint', taskTitle: 'Paint' }
  expect(await w.run(run.id)).toMatchObject(named)
  for (const path of ['/runs', '/agents/dev/runs', `/tasks/${task.id}/runs`])
    expect((await w.call('GET', path)).body.items, path).toMatchObject([named])
  const agent = async () => (await w.call('GET', '/agents/dev')).body
  const { finishedAt } = await w.run(run.id)
  expect(await agent()).toMatchObject({
    holds: [],
    lastRun: { id: run.id, status: 'succeeded', finishedAt },
    today: { runs: 1, succeeded: 1, failed: 0, costUsd: '0.25' },
  })
  const { models } = (await w.call('GET', '/telemetry')).body
  expect(models).toEqual([{ model: null, runs: 1, succeeded: 1, tokensUsed: 2, costUsd: '0.25' }])
  // A run of yesterday is the last one still, and none of today.
  await superuser(served().databaseUrl, (client) =>
    client.query(
      `with usage as (update baton.usage_quarters set quarter = date_trunc('day', now(), 'UTC') - interval '15 minutes' where source_id = $1)
       update baton.runs set created_at = date_trunc('day', now(), 'UTC') - interval '1 second' where run_id = $1`,
      [run.id],
    ),
  )
  expect(await agent()).toMatchObject({ lastRun: { id: run.id }, today: NONE })
})
