import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { useRunNodes } from '../../support/run-nodes.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** Contractors that Baton runs: through a whole server, with programs that are really run. */

const { fleet } = useFleets()
const nodes = useRunNodes()

const SAYS_WHO = `
  const { BATON_AGENT, TOKEN } = process.env
  console.log(JSON.stringify({ result: { by: BATON_AGENT, hasToken: TOKEN === 's3cret' } }))`

const contractor = (more: Json = {}) => ({ contractor: { template: 'dev' }, ...more })

async function begin(w: Pick<Fleet, 'post'>, tasks: readonly Json[]): Promise<Seen> {
  const body = { goal: 'Do it', plan: { tasks }, config: { autonomy: 'full_auto' } }
  const made = await w.post('/missions', body)
  expect(made).toMatchObject({ status: 201 })
  return made.body
}

test('a contractor is made from a paused template, does its tasks alone, and is terminated after them', async () => {
  const w = await fleet()
  await w.script('dev', SAYS_WHO, { env: { TOKEN: 's3cret' }, name: 'Dev' })
  await w.post('/agents/dev/pause')
  const free = await w.make({ title: 'For anybody' })
  const mission = await begin(w, [
    contractor({ tempId: 'a' }),
    contractor({ tempId: 'b', dependsOn: ['a'] }),
    { tempId: 'c', contractor: { template: 'dev', name: 'Ada' } },
  ])
  const [first, second] = mission.contractors as [string, string]
  await eventually(async () => (await w.call('GET', `/missions/${mission.id}`)).body.state === 'completed')
  for (const slug of [first, second])
    expect(await w.isIn(slug, 'terminated')).toMatchObject({ stateReason: 'Its mission has ended.' })
  const { items } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
  const made = await Promise.all(
    items.map(async (task: Seen) => [task.plan.tempId, (await w.resultsOf(task))[0].result]),
  )
  expect(Object.fromEntries(made)).toEqual({
    ...{ a: { by: first, hasToken: true }, b: { by: first, hasToken: true } },
    c: { by: second, hasToken: true },
  })
  // They stay readable, and no run was stopped because its agent ended.
  const runs = [...(await w.runsOf(first)), ...(await w.runsOf(second))]
  expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  expect(await w.agent('dev')).toMatchObject({ state: 'paused' })
  expect(await w.runsOf('dev')).toEqual([])
  expect((await w.read(free)).state).toBe('queued')
})

test('a contractor that has handed in its last result is terminated when its run is over', async () => {
  const w = await fleet()
  const { home } = await w.script(
    'dev',
    `
    import { existsSync } from 'node:fs'
    const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
    await fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/submit', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ session: BATON_SESSION, generation: Number(BATON_GENERATION), result: 'done' }),
    })
    while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 50))
    console.log(JSON.stringify({ baton: 'usage', usage: { inputTokens: 7, outputTokens: 1 } }))`,
  )
  const mission = await begin(w, [contractor({ tempId: 'a' })])
  const [slug] = mission.contractors as [string]
  const show = async () => (await w.call('GET', `/missions/${mission.id}`)).body
  await eventually(async () => (await show()).state === 'completed')
  await w.pass()
  expect((await w.agent(slug)).state).not.toBe('terminated')
  await writeFile(join(home, 'go'), '')
  const [run] = await w.over(slug)
  expect(run).toMatchObject({ status: 'succeeded', tokens: { input: 7 } })
  await w.isIn(slug, 'terminated')
})

test('a node that is killed before it makes or ends a contractor leaves nothing half done', {
  timeout: 240_000,
}, async () => {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  await w.hire('dev', {
    adapterType: 'process',
    adapterConfig: {
      command: process.execPath,
      args: ['--input-type=module', '--eval', SAYS_WHO],
      env: { TOKEN: 's3cret' },
    },
  })
  const plan = { tasks: [contractor({ tempId: 'a', title: 'A' })] }
  const made = await w.post('/missions', { goal: 'Do it', plan })
  const { id } = made.body
  const show = async (): Promise<Json> => (await w.call('GET', `/missions/${id}`)).body
  const killAt = async (type: string, act: () => Promise<unknown>) => {
    const about = `new.type = '${type}' and new.payload ->> 'kind' = 'contractor'`
    const point = await cluster.faultPoint('events', 'insert', about)
    void act().catch(() => null)
    await point.reached()
    await cluster.kill(cluster.serving)
    await point.lift()
    await cluster.serve()
  }
  const approve = () => w.post(`/missions/${id}/approve`)
  await killAt('agent_registered', approve)
  expect(await show()).toMatchObject({ state: 'awaiting_approval', contractors: [], taskCount: 0 })
  expect(await cluster.rows(`select slug from agents where kind = 'contractor'`)).toEqual([])
  await killAt('agent_terminated', approve)
  expect(await show()).toMatchObject({ state: 'completed', tasksCompleted: 1 })
  const [slug] = (await show()).contractors as [string]
  await eventually(async () => (await w.call('GET', `/agents/${slug}`)).body.state === 'terminated')
  const told = await cluster.rows<{ type: string }>(
    `select type from events where payload ->> 'agent' = '${slug}' and type in ('agent_registered', 'agent_terminated') order by seq`,
  )
  expect(told.map(({ type }) => type)).toEqual(['agent_registered', 'agent_terminated'])
  await cluster.expectInOrder()
})
