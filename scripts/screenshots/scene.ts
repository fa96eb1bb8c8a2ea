import { setTimeout as sleep } from 'node:timers/promises'
import type { Filled } from '../../test/support/browser/fixture.ts'

/** What the pictures show: a small shop in the making, always the same. */

type Json = Record<string, unknown>
export type Call = (method: string, path: string, body?: Json) => Promise<Json>

const RUNNING = [
  ['dev-1', 'Fix the login form', 62, 'running npm test'],
  ['dev-2', 'Port the orders to the new API', 18, 'reading src/orders.ts'],
  ['dev-4', 'Add a cache for prices', 85, 'writing test/prices.test.ts'],
] as const

/** Nobody takes them: the agents here take only tasks that name them. */
const QUEUED = [
  ['Write the release notes', 8, ['docs']],
  ['Show prices in the buyer’s currency', 6, ['shop', 'money']],
  ['Measure the search under load', 4, ['search']],
] as const

const DONE = ['Describe the API', 'Move the pictures to the bucket', 'Remove the old endpoint'] as const

const PLAN = [
  { tempId: 'map', title: 'List all callers of the old API', agent: 'dev-1' },
  { tempId: 'types', title: 'Write the types of the new API', agent: 'dev-2', dependsOn: ['map'] },
  { tempId: 'invoices', title: 'Move invoices', agent: 'dev-1', dependsOn: ['types'] },
  { tempId: 'refunds', title: 'Move refunds', agent: 'dev-2', dependsOn: ['types'] },
  { tempId: 'check', title: 'Compare a month of both', agent: 'dev-4', dependsOn: ['invoices', 'refunds'] },
]

const DESCRIPTION = 'The button does nothing on the second visit. Find out why, and add a test.'

const USED = { usage: { inputTokens: 17_000, cachedInputTokens: 31_000, outputTokens: 6_200 } }

/** Works until the end of the pictures. */
const working = (percent: number, doing: string): Json[] => [
  { status: doing, color: 'blue' },
  { progress: percent, step: doing },
  { say: 'I will run the tests first.' },
  { call: 'Bash npm test', isError: true },
  { say: 'The session is read before the form is sent. I will look at both.' },
  { call: 'Read src/session.ts' },
  { call: 'Read src/login.ts' },
  { call: 'Edit src/login.ts' },
  USED,
  { call: 'Bash npm test' },
  { say: 'PASS test/login.test.ts (12 tests)' },
  { waitMs: 3_600_000 },
]

/** An agent of the pictures: simulated, with the cost of a run. */
const hire = (call: Call, slug: string, costUsd: string, steps: Json[]) =>
  call('PUT', `/agents/${slug}`, {
    adapterType: 'simulated',
    adapterConfig: { steps, costUsd },
    runtimeConfig: { reservedOnly: true },
    maxConcurrentTasks: 4,
  })

/** Makes all of it, and waits until the demonstration waits for a person. */
export async function setScene(call: Call): Promise<Filled> {
  await call('POST', '/projects', { slug: 'shop', name: 'Shop' })
  await hire(call, 'dev-3', '0.44', [USED, { result: { files: 3 }, summary: 'Three files, all tests pass.' }])
  await hire(call, 'dev-5', '0.18', [{ fail: { code: 'nonzero_exit', message: 'There is no such branch.' } }])
  const make = async (task: Json) => String((await call('POST', '/tasks', { project: 'shop', ...task })).id)
  for (const title of DONE) await make({ title, agent: 'dev-3' })
  await make({ title: 'Merge the release branch', agent: 'dev-5', maxRetries: 0 })
  await make({ title: 'Check the invoices', agent: 'dev-3', verification: { kind: 'human' } })
  await holds(async () => (await itemsOf(call, '/runs?status=succeeded')).length > DONE.length)
  const tasks: string[] = []
  for (const [slug, title, percent, doing] of RUNNING) {
    await hire(call, slug, '0.31', working(percent, doing))
    tasks.push(await make({ title, agent: slug, description: DESCRIPTION }))
  }
  for (const [title, priority, tags] of QUEUED) await make({ title, priority, tags })
  const demo = await call('POST', '/demo')
  const goal = 'Move billing to the new API. Keep the old one until both agree for a month.'
  await call('POST', '/missions', { goal, title: 'Move billing', plan: { tasks: PLAN } })
  await holds(async () => (await itemsOf(call, '/inbox')).some(({ kind }) => kind === 'question'))
  const runId = await holds(async () => (await itemsOf(call, '/agents/dev-1/runs'))[0]?.id)
  return { taskId: tasks[0]!, runId: String(runId), missionId: String(demo.missionId), agent: 'dev-1' }
}

const itemsOf = async (call: Call, path: string) => (await call('GET', path)).items as Json[]

async function holds<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    await sleep(200)
  }
}
