import { setTimeout as sleep } from 'node:timers/promises'
import type { Filled } from '../../test/support/browser/fixture.ts'

/** What the pictures show: a small shop in the making, always the same. */

type Json = Record<string, unknown>
export type Call = (method: string, path: string, body?: Json) => Promise<Json>

const RUNNING = [
  ['dev-1', 'Fix the login form', 62, 'uses Bash: npm test'],
  ['dev-2', 'Port the orders to the new API', 18, 'reads src/orders.ts'],
  ['dev-4', 'Add a cache for prices', 85, 'writes test/prices.test.ts'],
] as const

const WAITING = [
  ['Write the release notes', 8, ['docs']],
  ['Show prices in the buyer’s currency', 6, ['shop', 'money']],
  ['Remove the old endpoint', 5, ['api']],
  ['Measure the search under load', 4, ['search']],
  ['Draw an empty basket', 3, ['shop']],
] as const

const PLAN = [
  { tempId: 'map', title: 'List all callers of the old API', agent: 'dev-1' },
  { tempId: 'types', title: 'Write the types of the new API', agent: 'dev-2', dependsOn: ['map'] },
  { tempId: 'invoices', title: 'Move invoices', agent: 'dev-1', dependsOn: ['types'] },
  { tempId: 'refunds', title: 'Move refunds', agent: 'dev-2', dependsOn: ['types'] },
  { tempId: 'check', title: 'Compare a month of both', agent: 'dev-4', dependsOn: ['invoices', 'refunds'] },
]

/** Works until the end of the pictures. */
const working = (percent: number, doing: string): Json[] => [
  { status: doing, color: 'blue' },
  { progress: percent, step: doing },
  { say: `I will begin with what ${doing.split(' ').at(-1)} tells.` },
  { call: 'Bash npm test', isError: true },
  { call: 'Edit src/login.ts' },
  { usage: { inputTokens: 48_000, cachedInputTokens: 31_000, outputTokens: 6_200 } },
  { say: 'PASS test/login.test.ts (12 tests)' },
  { waitMs: 3_600_000 },
]

/** Makes all of it, and waits until the demonstration waits for a person. */
export async function setScene(call: Call): Promise<Filled> {
  await call('POST', '/projects', { slug: 'shop', name: 'Shop' })
  const demo = await call('POST', '/demo')
  const tasks: string[] = []
  for (const [slug, title, percent, doing] of RUNNING) {
    await call('PUT', `/agents/${slug}`, {
      adapterType: 'simulated',
      adapterConfig: { steps: working(percent, doing) },
    })
    tasks.push(String((await call('POST', '/tasks', { title, agent: slug, project: 'shop' })).id))
  }
  for (const [title, priority, tags] of WAITING)
    await call('POST', '/tasks', { title, priority, tags, project: 'shop' })
  const goal = 'Move billing to the new API, and keep the old one alive until a month of both is the same.'
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
