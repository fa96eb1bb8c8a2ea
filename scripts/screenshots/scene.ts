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
  const places = await makePlaces(call)
  return {
    taskId: tasks[0]!,
    runId: String(runId),
    missionId: String(demo.missionId),
    agent: 'dev-1',
    ...places,
  }
}

const TRACKS: [track: string, maxAgents: number, purpose: string, tasks: string[]][] = [
  ['A', 1, 'Architecture', ['core-framework', 'di-container', 'event-bus', 'feature-flags']],
  ['B', 2, 'Data', ['schema-design', 'entity-models', 'migrations']],
  ['C', 2, 'API', ['rest-endpoints', 'webhooks']],
]

/** A routine with its missions, a project with tracks of which one is full, a worker, and what it holds. */
async function makePlaces(call: Call): Promise<Omit<Filled, 'taskId' | 'runId' | 'missionId' | 'agent'>> {
  const project = 'rebuild'
  await call('POST', '/projects', { slug: project, name: 'Rebuild of the shop' })
  await call('POST', '/workers', { worker: 'importer-1', capacity: 4, heartbeatSeconds: 3_600, project })
  for (const [track, maxAgents, purpose, tasks] of TRACKS) {
    await call('PUT', `/projects/${project}/tracks/${track}`, { maxAgents, purpose })
    for (const [place, name] of tasks.entries()) {
      const title = name.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase())
      const key = `${track}-00${place + 1}-${name}`
      const task = await call('POST', '/tasks', { title, key, project, agent: 'importer' })
      if (place > 1) continue
      const fence = { session: 'importer-1', generation: 1 }
      await call('POST', `/tasks/${task.id}/claim`, {
        agent: 'importer',
        session: fence.session,
        leaseSeconds: 3_600,
      })
      if (place === 0) await call('POST', `/tasks/${task.id}/submit`, { ...fence, result: { files: 2 } })
    }
  }
  const routine = await call('POST', '/routines', {
    name: 'Nightly audit',
    goal: 'Look for {{what}} in the dependencies.',
    plan: { tasks: [{ tempId: 'audit', title: 'Audit: {{what}}', agent: 'dev-3' }] },
    variables: {
      properties: { what: { type: 'string', title: 'What to look for', default: 'known holes' } },
    },
    schedule: { cron: '0 2 * * 1-5', timeZone: 'Europe/Berlin' },
  })
  for (const what of ['known holes', 'old licences', 'unused packages'])
    await call('POST', `/routines/${routine.id}/run`, { variables: { what } })
  const runs = () => itemsOf(call, `/routines/${routine.id}/runs`)
  await holds(async () => (await runs()).every(({ completedAt }) => completedAt !== null))
  const budgetId = await makeBudgets(call)
  return { routineId: String(routine.id), project, budgetId, ...(await makeHooks(call)) }
}

/** Two webhooks, and two hooks, of which one has been called. */
async function makeHooks(call: Call): Promise<Pick<Filled, 'webhookId' | 'hookId'>> {
  const addressed = (name: string, path: string, events: string[], format = 'baton') =>
    call('POST', '/webhooks', { name, url: `https://${name}.example.test/${path}`, events, format })
  const webhook = await addressed('ci', 'hooks/baton', ['mission_*', 'task_failed'])
  const slack = await addressed('slack', 'services/T0/B0', ['inbox_added', 'alert_raised'], 'slack')
  for (const { id } of [webhook, slack]) await call('POST', `/webhooks/${id}/pause`)
  const issue = { kind: 'task', title: 'Look at {{/issue/title}}', project: 'shop', agent: 'importer' }
  await call('POST', '/hooks', { name: 'shop-issues', scheme: 'github', events: ['issues'], does: issue })
  const does = {
    ...issue,
    title: 'Find out about {{/alarm/name}}',
    description: 'Say what it is, and how bad.',
  }
  const conditions = [{ at: '/state', is: ['firing'] }]
  const hook = await call('POST', '/hooks', { name: 'alarms', scheme: 'secret_url', does, conditions })
  const at = String(hook.path).replace('/api/v1', '')
  await call('POST', at, { type: 'alarm', state: 'firing', alarm: { name: 'slow checkout' } })
  await call('POST', at, { type: 'alarm', state: 'resolved', alarm: { name: 'slow checkout' } })
  return { webhookId: String(webhook.id), hookId: String(hook.id) }
}

/** What agents of others told that they have used, in the budgets that cover it. */
const REPORTED = [
  ['Describe the cache', 'ada', 'docs', 'claude-sonnet-4-5', '2.4138'],
  ['Port the search', 'ben', 'port', 'claude-opus-4-1', '6.9120'],
  ['Translate the pages', 'ben', 'docs', 'claude-sonnet-4-5', '0.0412'],
] as const

async function makeBudgets(call: Call): Promise<string> {
  const week = { period: 'week', maxUsd: '50' }
  const { id } = await call('POST', '/budgets', { scope: 'workspace', ...week })
  await call('POST', '/budgets', { scope: 'project', scopeId: 'shop', period: 'month', maxUsd: '10' })
  for (const [title, agent, taskType, model, costUsd] of REPORTED) {
    await call('PUT', `/agents/${agent}`, { adapterType: 'external', maxConcurrentTasks: null })
    const task = await call('POST', '/tasks', { title, agent, taskType, project: 'shop' })
    const fence = { session: `${agent}-${task.id}`, generation: 1 }
    await call('POST', `/tasks/${task.id}/claim`, { agent, session: fence.session, leaseSeconds: 3_600 })
    const usage = { model, inputTokens: 170_000, cachedInputTokens: 640_000, outputTokens: 48_000, costUsd }
    await call('POST', `/tasks/${task.id}/submit`, { ...fence, result: { done: true }, usage })
  }
  return String(id)
}

const itemsOf = async (call: Call, path: string) => (await call('GET', path)).items as Json[]

async function holds<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    await sleep(200)
  }
}
