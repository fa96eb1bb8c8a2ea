import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { faultsIn, watchAnswers } from '../support/answers.ts'
import { cookieIn, sendAs } from '../support/browser.ts'
import { git, isGitHere, makeRepository } from '../support/git.ts'
import { thingsIn } from '../support/http-under-attack.ts'
import { fence, type Json, openWorkspace, type Task, type Workspace } from '../support/http-workspace.ts'
import { RICH_MISSION } from '../support/mission-plans.ts'
import { until } from '../support/nodes.ts'
import { startServer } from '../support/server.ts'

/**
 * The views are typed by the schemas of their routes, but what comes from the rules, the database and JSON is cast. So a
 * workspace is driven through every route of /openapi.json, and each answer is compared with its schema, field by field.
 */

let server: Awaited<ReturnType<typeof watchAnswers>>
let w: Workspace
beforeAll(async () => {
  server = await watchAnswers(await startServer())
  w = await openWorkspace(server, { minLeaseSeconds: 1 })
})
afterAll(() => server.close())

const held = fence('s-alpha', 1)
const UNKNOWN = '0198c0de-0000-7000-8000-000000000001'

/** Requests that must succeed. */
async function all(...requests: [method: string, path: string, body?: Json | string][]): Promise<void> {
  for (const [method, path, body] of requests) {
    const answer = await w.call(method, path, body)
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
  }
}
const get = (...paths: string[]) => all(...paths.map((path) => ['GET', path] as [string, string]))
/** With the key of whoever runs the server. */
const asOperator = async (method: string, path: string, body?: Json) =>
  expect((await server.call(method, path, body, {})).status, `${method} ${path}`).toBe(200)
const on = ({ id }: Task, act: string, body?: Json) => all(['POST', `/tasks/${id}/${act}`, body ?? {}])

describe('answers about work match their declared schemas', () => {
  test('tasks, and what operators do to them', async () => {
    const whole = await w.make({
      metadata: { a: 1 },
      input: [1],
      timeouts: { stallSeconds: 60 },
      userId: 'ada',
    })
    const part = await w.make({ parentId: whole.id, estimatedDurationMinutes: 5, tags: ['a'] })
    await all(['POST', '/tasks/batch', { tasks: [{ title: 'a' }, { title: 'b', dependsOn: [part.id] }] }])
    await all(['POST', '/tasks/states', { taskIds: [whole.id, UNKNOWN] }])
    await all(['POST', '/tasks/cards', { ids: [whole.id, UNKNOWN] }])
    await all(['POST', '/tasks/act', { act: 'retry', ids: [whole.id, UNKNOWN] }])
    await get(
      '/board',
      '/board?counts=1',
      '/board?column=inbox&limit=1',
      '/board/values',
      '/search',
      '/search?q=a',
    )
    await all(['POST', `/tasks/${part.id}/dependencies`, { dependsOn: [(await w.make()).id] }])
    await all(['PATCH', `/tasks/${part.id}`, { title: 'Another', agent: 'beta' }])
    await get('/tasks', '/tasks?include=input,checkpointData', '/tasks?archived=true')
    for (const what of ['', '/claims', '/dependencies', '/events', '/logs', '/results', '/runs'])
      await get(`/tasks/${part.id}${what}`)
    const task = await w.make()
    for (const act of ['pause', 'resume', 'cancel', 'archive', 'reset']) await on(task, act)
    const failed = await w.held()
    await on(failed, 'fail', { ...held, failureClass: 'invalid', error: 'no' })
    await on(failed, 'retry')
    for (const verdict of ['approve', 'reject']) {
      const judged = await w.held({ verification: { kind: 'human' } })
      await on(judged, 'submit', { ...held, result: 1 })
      await on(judged, verdict, { comment: 'read' })
    }
  })

  test('failures, durations, retries, bottlenecks and telemetry', async () => {
    const upstream = await w.held()
    await w.make({ dependsOn: [upstream.id] })
    await on(upstream, 'fail', { ...held, failureClass: 'infrastructure', error: 'no' })
    await on(upstream, 'retry')
    await w.claim(upstream)
    await on(upstream, 'submit', { session: 's-alpha', generation: 2, result: 1 })
    for (const list of ['failures', 'durations', 'retries', 'bottlenecks']) {
      const { body } = await w.call('GET', `/insight/${list}`)
      expect(body.items.length, list).toBeGreaterThan(0)
    }
    await get(
      '/insight',
      '/insight/causes',
      '/insight/slowest',
      '/insight/durations?by=agent',
      '/telemetry',
      '/overview',
      '/overview?window=7d',
    )
  })

  test('questions, results by people, and what waits for them', async () => {
    const question = { ...held, question: 'Which?', options: ['this', 'that'] }
    const [one, other] = [await w.held(), await w.held()]
    for (const task of [one, other]) await on(task, 'ask', question)
    await get('/inbox', '/inbox?sort=blocks', `/inbox/task:${one.id}:1`, `/tasks/${one.id}`)
    await on(one, 'answer', { answer: 'this' })
    await all(['POST', `/inbox/task:${other.id}:1/answer`, { decision: 'answer', answer: 'that' }])
    const items = [{ id: `task:${one.id}:1` }, { id: `task:${UNKNOWN}:1` }]
    await all(['POST', '/inbox/answer', { items, decision: 'answer', answer: 'this' }])
    await get(`/tasks/${one.id}`)
    await on(one, 'complete', { result: { by: 'hand' }, summary: 'by hand' })
    await on(other, 'skip', { reason: 'not needed' })
    const judged = await w.held({ verification: { kind: 'human' } })
    await on(judged, 'submit', { ...held, result: 1 })
    await get(`/inbox/task:${judged.id}:1`)
    const mission = (await w.post('/missions', { goal: 'Wait', plan: { tasks: [{ tempId: 'a' }] } })).body
    await get(`/inbox/plan:${mission.id}:1`)
    const lonely = await w.make({ requiredCapabilities: ['unheard of'] })
    await get(`/inbox/alert:${lonely.id}`)
    await all(['POST', `/inbox/alert:${lonely.id}/answer`, { decision: 'cancel' }])
  })

  test('routines', async () => {
    const variables = { properties: { what: { type: 'string', default: 'it' } } }
    const plan = { tasks: [{ tempId: 'a', title: 'Do {{what}}' }] }
    const schedule = { cron: '0 2 * * *', timeZone: 'Europe/Berlin' }
    const routine = (await w.post('/routines', { name: 'Nightly', plan, variables, schedule })).body
    await all(['POST', '/routines', { name: 'Other', plan: { tasks: [] } }])
    await all(['POST', `/routines/${routine.id}/run`, { variables: { what: 'that' } }])
    await get(
      '/routines',
      '/schedules/next',
      '/schedules/next?cron=0+2+*+*+*',
      `/routines/${routine.id}`,
      `/routines/${routine.id}/runs`,
    )
    await all(['PATCH', `/routines/${routine.id}`, { enabled: false }], ['DELETE', `/routines/${routine.id}`])
  })

  test('comments', async () => {
    const task = await w.make()
    const mission = (await w.post('/missions', { goal: 'Talk', plan: { tasks: [{ tempId: 'a' }] } })).body
    for (const path of [`/tasks/${task.id}/comments`, `/missions/${mission.id}/comments`]) {
      const { body } = await w.post(path, { text: 'one' })
      await all(['POST', path, { text: 'two', replyTo: body.id }])
      await get(path, `${path}?limit=1`, `${path}?after=${body.id}`)
    }
    await get(`/tasks/${task.id}`, `/tasks/${task.id}/events`)
  })

  test('reports', async () => {
    const plan = { tasks: [{ tempId: 'a' }] }
    const mission = (await w.post('/missions', { goal: 'Tell', plan, config: { autonomy: 'full_auto' } }))
      .body
    const [task] = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items
    for (const path of [`/missions/${mission.id}/report`, `/tasks/${task.id}/report`]) {
      const { body } = await w.post(path, { markdown: '# One' })
      await all(['POST', path, { markdown: '# Two', type: 'audit' }])
      await get(path, `${path}?version=1`, `/reports/${body.id}`)
    }
    await get('/reports', '/reports?limit=1&type=audit&from=2020-01-01T00:00:00Z')
    await get(`/missions/${mission.id}/reports`, `/missions/${mission.id}/reports?limit=1&type=audit`)
  })

  test('money: prices, budgets, and what was used', async () => {
    // Apart from the tasks of the other tests, which its stop would stop.
    const own = await openWorkspace(server)
    const ask = async (...requests: [method: string, path: string, body?: Json][]) => {
      let answer: Json = {}
      for (const [method, path, body] of requests) {
        const { status, body: said } = await own.call(method, path, body)
        expect(status, `${method} ${path}: ${JSON.stringify(said)}`).toBeLessThan(300)
        answer = said
      }
      return answer
    }
    const longContext = { fromTokens: 200_000, input: '3', output: '20' }
    await ask(
      ['PUT', '/prices/own-model', { input: '1', cacheWrite: '2', output: '10', longContext }],
      ['PUT', '/model-tiers/claude_local', { small: 'haiku' }],
      ['GET', '/model-tiers'],
      ...[['GET', '/prices'] as [string, string], ['GET', '/prices/own-model'] as [string, string]],
    )
    const task = await own.held({ estimatedTokens: 100, taskType: 'research' })
    const usage = { model: 'own-model', inputTokens: 10, cachedInputTokens: 5, outputTokens: 1 }
    const workspace = { scope: 'workspace', period: 'month', maxUsd: '10', maxTokens: 1_000 }
    const { id } = await ask(['POST', '/budgets', workspace])
    const spender = { scope: 'agent', scopeId: 'alpha', maxTokens: 1_000, countNotional: true, isPaced: true }
    const { id: other } = await ask(['POST', '/budgets', spender])
    const said = { ...held, number: 1, usage }
    await ask(
      ['POST', `/budgets/${id}/allow-model`, { model: 'unheard-of' }],
      ['POST', `/tasks/${task.id}/usage`, said],
      ['POST', `/tasks/${task.id}/progress`, { ...held, usage: [usage, { ...usage, model: 'unheard-of' }] }],
      ['POST', `/budgets/${id}/move`, { to: other, tokens: 100 }],
      ['PATCH', `/budgets/${id}`, { maxUsd: '20', onUnknownPrice: 'allow' }],
      ['POST', `/tasks/${task.id}/renew`, held],
    )
    for (const path of ['/budgets', `/budgets/${id}`, '/budgets?scope=agent', '/usage/projection'])
      await ask(['GET', path])
    for (const by of ['mission', 'project', 'agent', 'model', 'taskType', 'operation', 'task', 'day'])
      expect((await ask(['GET', `/usage?groupBy=${by}`])).items, by).toHaveLength(by === 'model' ? 2 : 1)
    expect((await ask(['GET', '/usage/rows?limit=1'])).nextCursor).not.toBeNull()
    await ask(['GET', `/usage/projection?budget=${other}`])
    await ask(['PATCH', `/budgets/${other}`, { maxTokens: 1 }])
    await ask(['GET', `/budgets/${other}`], ['GET', '/inbox'], ['GET', `/inbox/spending:${other}`])
    await ask([
      'POST',
      `/inbox/spending:${other}/answer`,
      { decision: 'raise', budget: { maxTokens: 5_000 } },
    ])
    await ask(['POST', '/budgets/stop-all', { reason: 'enough' }], ['POST', '/budgets/allow-all'])
    await ask(['DELETE', `/budgets/${other}`], ['DELETE', '/prices/own-model'])
  })

  test('webhooks', async () => {
    const url = 'http://127.0.0.1:9/hook'
    const { body: hook } = await w.post('/webhooks', { url, events: ['task_created'] })
    const path = `/webhooks/${hook.id}`
    await w.make()
    const { deliveries } = await until(async () => {
      const { body } = await w.call('GET', `${path}/deliveries`)
      return body.items.length > 0 && { deliveries: body.items }
    })
    await get('/webhooks', '/webhooks?limit=1', path, `${path}/deliveries?state=retrying&limit=1`)
    await all(['POST', `${path}/redeliver`, { delivery: deliveries[0].id }])
    for (const act of ['test', 'pause', 'resume', 'rotate', 'redeliver'])
      await all(['POST', `${path}/${act}`])
    await all(['PATCH', path, { name: 'ci' }], ['DELETE', path])
  })

  test('hooks', async () => {
    for (const does of [
      { kind: 'task', title: 'Look' },
      { kind: 'wake', agent: 'alpha' },
    ]) {
      const { body: hook } = await w.post('/hooks', { name: does.kind, scheme: 'secret_url', does })
      const path = `/hooks/${hook.id}`
      await w.post(hook.path.replace('/api/v1', ''), { type: 'sample' })
      await get('/hooks', '/hooks?limit=1', path, `${path}/deliveries`)
      await all(
        ['POST', `${path}/test`, { payload: {} }],
        ['POST', `${path}/rotate`],
        ['PATCH', path, { perMinute: 1, conditions: [{ at: '/a', is: ['b'] }] }],
        ['DELETE', path],
      )
    }
  })

  test('alerts and their thresholds', async () => {
    const own = await openWorkspace(server)
    await own.make()
    expect((await own.call('PUT', '/thresholds/pending_tasks', { value: 0 })).status).toBe(200)
    const [{ id }] = await until(async () => {
      const { items } = (await own.call('GET', '/alerts')).body
      return items.length > 0 && items
    })
    for (const path of [`/alerts/${id}`, '/thresholds', '/inbox', `/inbox/raised:${id}`])
      expect((await own.call('GET', path)).status, path).toBe(200)
    expect((await own.post(`/alerts/${id}/acknowledge`, { comment: 'mine' })).status).toBe(200)
    expect((await own.call('DELETE', '/thresholds/pending_tasks')).status).toBe(204)
  })

  test('writes of holders, single and in batches', async () => {
    const task = await w.held({ timeouts: { hangGraceSeconds: 0 }, estimatedDurationMinutes: 0.0001 })
    const progress = { ...held, percent: 10, step: 'one', checkpointData: { at: 1 } }
    await on(task, 'start', held)
    await on(task, 'progress', progress)
    await all(['PATCH', `/tasks/${task.id}/progress`, progress])
    await on(task, 'logs', { ...held, entries: [{ message: 'found it', details: { a: 1 } }] })
    await get(`/tasks/${task.id}`, `/tasks/${task.id}/logs`)
    await on(task, 'continue', held)
    // Past its estimate, the holder is asked for progress.
    await until(async () => (await w.on(task, 'renew', held)).body.requests.length > 0)
    await on(task, 'release', held)
    await w.claim(task)
    await w.make({ priority: 10 })
    expect((await w.next({ limit: 2 })).claims).not.toEqual([])
    await w.next({ capabilities: ['none'], tracks: ['ZZ'] })
    const taskIds = [(await w.make()).id, (await w.held()).id, UNKNOWN]
    const holder = { agent: 'alpha', session: 's-alpha' }
    await all(['POST', '/claims/batch', { ...holder, taskIds }])
    const fences = taskIds.map((taskId) => ({ taskId, ...held }))
    await all(['POST', '/claims/renew', { renewals: fences }])
    await all(['POST', '/results/batch', { results: fences.map((one) => ({ ...one, result: 1 })) }])
    await get(`/tasks/${taskIds[0]}/claims`, `/tasks/${taskIds[0]}/results`)
  })

  test('tasks that holders add, and wait for', async () => {
    const plan = { tasks: [{ tempId: 'a', priority: 10, agent: 'adder' }] }
    await all(['POST', '/missions', { goal: 'Divide', plan, config: { autonomy: 'full_auto' } }])
    const next = await w.post('/claims/next', { agent: 'adder', session: 's-alpha' })
    const [{ task }] = next.body.claims
    await on(task, 'children', { ...held, title: 'b', tempId: 'b' })
    const child = (await w.post(`/tasks/${task.id}/children`, { ...held, title: 'c' })).body
    await get(`/tasks/${child.id}`)
    await on(task, 'continue', { ...held, after: [child.id] })
    await get(`/tasks/${task.id}`, `/tasks/${task.id}/events`)
  })

  test('rejected results and dead letters', async () => {
    const { task: id, ref } = await thingsIn(w)
    const task = { id }
    const result = `/tasks/${id}/results/${ref}`
    await get('/results', '/results?include=result', result, `${result}/diff`)
    await on(task, 'submit', { ...fence('s-alpha', 2), result: { another: true } })
    await get(`${result}/diff`, `/tasks/${id}/claims`)
    await all(['POST', `${result}/promote`, { reason: 'better' }])
    const dead = await w.held({ maxRetries: 0 })
    await on(dead, 'fail', held)
    await get('/dead-letters')
    await all(['POST', '/dead-letters/retry', { taskIds: [dead.id, id, UNKNOWN] }])
  })

  test('sessions and workers', async () => {
    await all(['POST', '/projects', { slug: 'tracked' }])
    const session = { session: 's-beta', userId: 'ada', project: 'tracked', ttlSeconds: 3_600 }
    await all(['POST', '/sessions', session], ['POST', '/sessions', session])
    await w.claim(await w.make(), 'beta')
    await w.claim(await w.make({ project: 'tracked', key: 'A-001-x' }), 'beta', { leaseSeconds: 1 })
    const heartbeat = async () => (await w.post('/sessions/s-beta/heartbeat')).body
    await all(['POST', '/sessions/s-beta/heartbeat'])
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await until(async () => (await heartbeat()).lost.length > 0)
    await get('/sessions', '/sessions?state=active&project=tracked', '/sessions/s-beta')
    await all(['DELETE', '/sessions/s-beta'])
    const worker = { worker: 'w-1', capacity: 2, heartbeatSeconds: 3_600 }
    await all(['POST', '/workers', worker], ['POST', '/workers', worker])
    await w.claim(await w.make(), 'beta', { session: 'w-1' })
    await get('/workers', '/workers/w-1')
    await all(['POST', '/workers/w-1/heartbeat'], ['POST', '/workers/w-1/drain'])
    await all(['DELETE', '/workers/w-1'], ['POST', '/workers/requeue-stalled', { silentMs: 3_600_000 }])
  })

  test('external agents', async () => {
    const own = await openWorkspace(server)
    const put = await own.call('PUT', '/agents/gamma', { maxConcurrentTasks: null, capabilities: ['a'] })
    await own.call('PUT', '/agents/gamma', { model: 'small', runtimeConfig: { note: 1 } })
    await own.call('GET', '/agents/gamma/health')
    await own.make()
    const health = { progressPercent: 1, currentStep: 'x', memoryMb: 1, metadata: { a: 1 } }
    await until(async () => (await own.post('/agents/gamma/heartbeat', health)).body.claims[0])
    const [given] = (await own.call('GET', '/agents/gamma/assignments')).body.claims
    // A short lease, so that a heartbeat renews it.
    const late = { ...fence('agent:gamma', given.generation), leaseSeconds: 30 }
    await own.on({ id: given.taskId }, 'renew', late)
    const paths = [
      '',
      '/gamma',
      '/gamma/health',
      '/gamma/tasks',
      '/gamma/tasks?state=assigned',
      '/gamma/wakeups',
    ]
    for (const path of paths) expect((await own.call('GET', `/agents${path}`)).status).toBe(200)
    for (const act of ['pause', 'resume', 'terminate']) {
      const body = act === 'terminate' ? { graceful: false } : {}
      expect((await own.post(`/agents/${put.body.id}/${act}`, body)).status).toBe(200)
    }
    expect((await own.call('DELETE', '/agents/gamma')).status).toBe(204)
  })
})

describe('all other answers match their declared schemas', () => {
  test('runs and the agents that Baton runs', async () => {
    const steps = [
      { say: 'hello' },
      { status: 'at work', color: 'blue' },
      { progress: 10, step: 'one' },
      { usage: { inputTokens: 1, outputTokens: 2 } },
      { result: { done: true }, summary: 'done' },
    ]
    await all([
      'PUT',
      '/agents/sim',
      { adapterType: 'simulated', adapterConfig: { steps, promptTemplate: '{{task.title}}' } },
    ])
    await get('/agents/sim/runtime-state')
    const task = await w.make({ agent: 'sim' })
    await w.reaches(task, 'completed')
    const over = await until(
      async () => (await w.call('GET', '/runs?agent=sim&status=succeeded')).body.items[0],
    )
    await get(`/runs/${over.id}`, `/runs/${over.id}/events`, `/runs/${over.id}/log`, '/runs?include=result')
    await get(`/runs/${over.id}/invocation`)
    for (const what of ['log?tail=10', 'log/search?q=hello', 'log/outline', 'transcript'])
      await get(`/runs/${over.id}/${what}`)
    await all(['POST', '/runs/tails', { ids: [over.id, UNKNOWN] }])
    const part: Record<string, string> = { range: 'bytes=0-1' }
    for (const headers of [{}, part]) await raw(over.id, headers)
    await get(`/tasks/${task.id}/runs`, `/tasks/${task.id}/runs?include=result`)
    for (const what of [
      'runs',
      'wakeups?include=payload',
      'runtime-state',
      'task-sessions',
      'prompt-preview',
    ])
      await get(`/agents/sim/${what}`)
    await all(['POST', '/agents/sim/reset-session'], ['POST', '/agents/sim/runtime-state/reset-session'])
    await all(
      ['POST', '/agents/sim/test'],
      ['POST', '/agents/sim/wakeup', { payload: { a: 1 }, reason: 'now' }],
    )
    await get('/adapters', '/agents', '/agents/sim')
    const idle = { adapterType: 'simulated', adapterConfig: { steps: [{ waitMs: 60_000 }] } }
    await all(['PUT', '/agents/idle', idle], ['POST', '/agents/idle/heartbeat/invoke'])
    const running = await until(
      async () => (await w.call('GET', '/runs?agent=idle&status=running')).body.items[0],
    )
    await get(`/runs/${running.id}/log`)
    await all(['POST', `/runs/${running.id}/cancel`])
  })

  /** The log as text. */
  async function raw(runId: string, more: Record<string, string>): Promise<void> {
    const path = `/runs/${runId}/log/raw`
    const headers = { authorization: `Bearer ${w.ownerKey}`, ...more }
    const answer = await fetch(`${server.api}${path}`, { headers })
    const type = answer.headers.get('content-type')
    server.see('GET', `/api/v1${path}`, { status: answer.status, type, body: await answer.text() })
  }

  test.runIf(isGitHere)('what a run did to a repository', async () => {
    const repository = makeRepository(await mkdtemp(join(tmpdir(), 'baton-answers-')))
    onTestFinished(() => rm(repository, { recursive: true, force: true }))
    const adapterConfig = {
      command: process.execPath,
      args: ['--eval', `require('fs').writeFileSync('new.txt', 'one')`],
      ...{ cwd: repository, workspace: 'git_worktree' },
    }
    await all(
      ['PUT', '/agents/edits', { adapterType: 'process', adapterConfig }],
      ['POST', '/agents/edits/wakeup'],
    )
    const over = await until(
      async () => (await w.call('GET', '/runs?agent=edits&status=succeeded')).body.items[0],
    )
    await get(`/runs/${over.id}/changes`, `/runs/${over.id}/changes?path=new.txt`)
    const plan = { tasks: [{ tempId: 'a', title: 'Edit', agent: 'edits' }] }
    const { body: mission } = await w.post('/missions', {
      ...{ goal: 'Edit', plan, config: { autonomy: 'full_auto' } },
    })
    const task = await until(async () => {
      const [found] = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items
      return found?.state === 'completed' && found
    })
    await get(`/tasks/${task.id}/changes`, `/missions/${mission.id}/changes?path=new.txt`)
    git(repository, 'merge', '--quiet', `baton/${task.id}/gen-1`)
    await until(
      async () => (await w.call('GET', `/tasks/${task.id}/runs`)).body.items[0].status === 'succeeded',
    )
    await on(task, 'discard')
  })

  test('callbacks of agents that answer later', async () => {
    const asked: { runId: string; callback: { token: string } }[] = []
    const agent = createServer(async (request, response) => {
      asked.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
      response.writeHead(202).end()
    }).listen(0, '127.0.0.1')
    await once(agent, 'listening')
    onTestFinished(() => void agent.close())
    const url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/`
    await all(['PUT', '/agents/later', { adapterType: 'http', adapterConfig: { url } }])
    await w.make({ agent: 'later' })
    const { runId, callback } = await until(async () => asked[0])
    for (const body of [{ kind: 'heartbeat' }, { kind: 'result', result: 1 }]) {
      const said = await server.call('POST', `/runs/${runId}/callback`, body, { key: callback.token })
      expect(said.body).toMatchObject({ taken: true })
    }
  })

  test('projects, plans and prompts', async () => {
    const tasks = [
      {
        id: 'A-001-x',
        title: 'X',
        input: { a: 1 },
        tags: ['a'],
        subtasks: [{ title: 'one' }],
        merge: 'task',
      },
      { id: 'A-002-y', depends_on: ['A-001-x'], agent: 'beta', max_retries: 1, priority: 9 },
    ]
    const plan = {
      project: 'shop',
      tracks: { A: { agents: 2, sequential: true, tasks }, B: [{ id: 'B-001-z' }] },
    }
    await all(['POST', '/projects', { slug: 'shop' }], ['PUT', '/projects/shop/plan', plan])
    await all(['PUT', '/projects/shop/tracks/A', { maxAgents: 3 }])
    await all(['PUT', '/projects/shop/efficiency', { tokensPerLine: 300 }])
    await get('/projects', '/projects?include=progress', '/projects/shop', '/projects/shop/plan')
    // The template of a contractor.
    await all(['PUT', '/agents/dev', {}])
    await all(['POST', '/plans/check', plan], ['POST', '/plans/check', RICH_MISSION])
    const yaml = await fetch(`${server.api}/projects/shop/plan?format=yaml`, {
      headers: { authorization: `Bearer ${w.ownerKey}` },
    })
    expect(yaml.headers.get('content-type')).toContain('application/yaml')
    await get('/prompts/variables')
    for (const promptTemplate of ['{{task.title}} {{credentials.apiKey}}', '{{nothing}}'])
      await all(['POST', '/prompts/preview', { promptTemplate }])
  })

  test('the first use, and settings that are tried', async () => {
    await get('/onboarding')
    await all(['POST', '/adapters/simulated/test', { config: { steps: [] } }])
  })

  test('the demonstration', async () => {
    // Not where its tasks would be taken by the agents of other tests.
    const elsewhere = await openWorkspace(server)
    expect((await elsewhere.post('/demo')).status).toBe(201)
  })

  test('missions', async () => {
    const plan = {
      tasks: [
        { tempId: 'a', agent: 'careful' },
        { tempId: 'b', dependsOn: ['a'] },
      ],
    }
    const body = { goal: 'Make it work', plan, config: { budget: { maxUsd: '5.00' }, maxParallel: 2 } }
    const { body: one } = await w.post('/missions', body)
    const { body: other } = await w.post('/missions', body)
    const mission = `/missions/${one.id}`
    await get('/missions', mission, `${mission}/graph`, `${mission}/plans`, `${mission}/plan`)
    await all(
      ['PATCH', mission, { title: 'another', budget: { maxUsd: '6.00' } }],
      ['PUT', `${mission}/plan`, plan],
    )
    await get(`${mission}/plan?version=2&since=1`)
    await all(['POST', `${mission}/approve`], ['POST', `${mission}/pause`], ['POST', `${mission}/resume`])
    await get(`${mission}/graph`, `${mission}/tasks`, `${mission}/events`)
    await get(`${mission}/timeline`, `${mission}/timeline?format=columns`)
    const { items } = (await w.call('GET', `${mission}/tasks`)).body
    const first = `/tasks/${items.find(({ title }: { title: string }) => title === 'a').id}`
    await w.post(`${first}/claim`, { agent: 'careful', session: 's-careful' })
    await w.post(`${first}/fail`, { ...fence('s-careful', 1), failureClass: 'invalid', error: 'no' })
    await all(
      ['POST', `${mission}/retry`],
      ['POST', `${mission}/clone`],
      ['POST', `${mission}/cancel`],
      ['POST', `/missions/${other.id}/reject`],
    )
  })

  test('the workspace, its keys and its limits', async () => {
    await all(['PATCH', '/limits', { maxActiveSessions: 40 }])
    await asOperator('GET', `/workspaces/${w.id}/limits`)
    await asOperator('PATCH', `/workspaces/${w.id}/limits`, { maxActiveSessions: 50 })
    await get('/limits', '/workspaces', '/keys')
    const { body: key } = await w.post('/keys', { name: 'ci', scopes: ['read'] })
    await all(['DELETE', `/keys/${key.id}`])
  })

  test('browser sessions', async () => {
    const seen = async (method: string, path: string, headers: Record<string, string>, body?: Json) => {
      const answer = await sendAs(server, method, `/api/v1${path}`, headers, body)
      const type = (answer.headers['content-type'] as string | undefined) ?? null
      const shown = answer.status === 204 ? null : answer.body
      server.see(method, `/api/v1${path}`, { status: answer.status, type, body: shown })
      return answer
    }
    await all(['POST', '/session/link'])
    await get('/session', '/session/all')
    const signIn = () => seen('POST', '/session', {}, { key: w.ownerKey })
    const [one, other] = [await signIn(), await signIn()]
    const headers = { cookie: cookieIn(one), 'baton-session': one.body.pageValue }
    for (const [method, path] of [
      ['GET', '/session'],
      ['POST', '/session/ticket'],
      ['GET', '/session/all'],
      ['DELETE', `/session/all/${other.body.id}`],
      ['DELETE', '/session'],
    ] as const)
      expect((await seen(method, path, headers)).status, path).toBeLessThan(300)
    await all(['DELETE', '/session/all'])
  })

  test('the coordinator, the nodes and their health', async () => {
    await all(['POST', '/coordinator/recover'])
    await get('/coordinator/status', '/coordinator/logs')
    for (const path of ['/coordinator/status', '/nodes']) await asOperator('GET', path)
    await get('/health/live', '/health/ready', '/health/coordinator')
    for (const path of ['/health/live', '/health/ready', '/health/coordinator']) {
      const answer = await fetch(`${server.url}${path}`)
      const type = answer.headers.get('content-type')
      server.see('GET', path, { status: answer.status, type, body: await answer.json() })
    }
    for (const path of ['/metrics', '/api/v1/metrics']) {
      const headers = { authorization: `Bearer ${server.ownerKey}` }
      const answer = await fetch(`${server.url}${path}`, { headers })
      const type = answer.headers.get('content-type')
      server.see('GET', path, { status: answer.status, type, body: await answer.text() })
    }
  })

  test('events, as pages, as a stream and over a WebSocket', async () => {
    await get('/events', '/events?limit=200&after=100')
    const headers = { authorization: `Bearer ${w.ownerKey}` }
    const done = new AbortController()
    const stream = await fetch(`${server.api}/events/stream?after=0`, { headers, signal: done.signal })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('data:') || !text.endsWith('\n\n')) text += (await reader.read()).value ?? ''
    done.abort()
    for (const [, data] of text.matchAll(/^data: (.*)$/gm))
      server.see('GET', '/api/v1/events/stream', {
        status: 200,
        type: 'text/event-stream',
        body: JSON.parse(data!),
      })
    const socket = new WebSocket(`${server.api.replace('http', 'ws')}/events/ws?after=0&output=all`, {
      headers,
    })
    const frames: Json[] = []
    socket.on('message', (data) => {
      const body = JSON.parse(data.toString())
      frames.push(body)
      server.see('GET', '/api/v1/events/ws', { status: 101, type: null, body })
    })
    await once(socket, 'open')
    await all(['POST', '/agents/sim/wakeup'])
    await until(async () => frames.some(({ output }) => output) && frames.some(({ events }) => events))
    socket.close()
  })
})

test('every route was requested, and no answer differed from its schema', () => {
  expect(server.faults()).toEqual([])
  expect(server.unvisited()).toEqual([])
})

test('a field that is missing, not declared or of another type is noticed', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: {
      a: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      b: { type: 'array', items: { enum: ['x'] } },
    },
  }
  const faults = (value: unknown) => [...faultsIn(value, schema, 'body')]
  expect(faults({ a: null, b: ['x'] })).toEqual([])
  expect(faults({ b: [] })).toEqual(['body.a is missing'])
  expect(faults({ a: 1, c: 1 })).toEqual(['body.c is not declared'])
  expect(faults({ a: 1, b: ['y'] })).toEqual(['body.b[0] is y, not one of x'])
  expect(faults({ a: 'text' })).toHaveLength(1)
  expect(faults([])).toEqual(['body is array, not object'])
  expect([...faultsIn({ c: 1 }, { ...schema, required: [], additionalProperties: {} }, 'body')]).toEqual([])
})
