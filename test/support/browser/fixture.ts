import { expect } from 'vitest'
import { FULL_AUTO, makeMission, showMission } from '../http-missions.ts'
import { inOneHour, inState, type Json, type Task, type Workspace } from '../http-workspace.ts'
import { until } from '../nodes.ts'

/** Where one of each kind is shown. */
export interface Filled {
  taskId: string
  runId: string
  missionId: string
  agent: string
  routineId: string
  project: string
  budgetId: string
  webhookId: string
  hookId: string
}

/** What people and agents write. Each field is shown somewhere. */
export interface Words {
  title: string
  /** Longer than a title may be. */
  text: string
  /** What an agent prints. */
  output: string
}

const HOUR_MS = 3_600_000

const PLAIN: Words = {
  title: 'Fix the login form',
  text: 'The button does nothing. **Why** is not known.',
  output: 'PASS test/login.test.ts',
}

/** Not in the middle of a character: half of one cannot be stored. */
const upTo = (length: number, text: string) => text.slice(0, length).toWellFormed()

/**
 * One of everything: tasks in each state, runs that ended and one that is live, a question, a result and a plan that wait for a
 * person. Once it is ready, nothing happens in it for an hour.
 */
export async function fillWorkspace(w: Workspace, words: Words = PLAIN): Promise<Filled> {
  const still = await keptStill(w)
  for (const make of Object.values(inState)) await make(still)
  const agent = 'dev-1'
  await hire(w, agent, words, [
    { status: upTo(200, words.title), color: 'blue' },
    { progress: 40, step: words.title },
    { call: upTo(10_000, words.text) },
    { call: 'npm test', isError: true },
    { usage: { inputTokens: 48_000, cachedInputTokens: 31_000, outputTokens: 6_000 } },
    { say: words.output },
    { result: { text: words.text }, summary: upTo(10_000, words.text) },
  ])
  await hire(w, 'dev-2', words, [{ ask: upTo(2_000, words.text), options: ['yes', upTo(200, words.title)] }])
  await hire(w, 'dev-3', words, [
    { status: upTo(200, words.title), color: 'blue' },
    { say: words.output },
    { waitMs: HOUR_MS },
  ])
  const { proposed, done } = await makeMissions(w, agent, words)
  const worked = await w.make({
    title: words.title,
    description: words.text,
    tags: [upTo(100, words.title)],
    agent,
    verification: { kind: 'human' },
  })
  expect((await w.post(`/tasks/${worked.id}/comments`, { text: words.text })).status).toBe(201)
  const asked = await w.make({ title: words.title, agent: 'dev-2' })
  await w.make({ title: words.title, agent: 'dev-3' })
  await Promise.all([w.reaches(worked, 'awaiting_human'), w.reaches(asked, 'awaiting_human')])
  await until(async () => (await showMission(w, done)).state === 'completed')
  const runId = await finishedRunOf(w, agent, worked)
  const places = await makePlaces(w, done, words)
  await atRest(w)
  return { taskId: worked.id, runId, missionId: String(proposed.id), agent, ...places }
}

/** The workspace, with tasks that stay as they are made: nobody but alpha gets them, and their leases and retries take an hour. */
async function keptStill(w: Workspace): Promise<Workspace> {
  const limits = { assignTimeoutSeconds: HOUR_MS / 1_000 }
  expect((await w.call('PATCH', '/limits', limits)).status).toBe(200)
  expect((await w.call('PUT', '/agents/alpha', { name: 'alpha', maxConcurrentTasks: null })).status).toBe(201)
  const make: Workspace['make'] = (more) => w.make({ agent: 'alpha', ...more })
  return {
    ...w,
    make,
    async held(more) {
      const task = await make(more)
      const claimed = await w.claim(task, 'alpha', { leaseSeconds: HOUR_MS / 1_000 })
      expect(claimed.body.reason).toBe('GRANTED')
      return task
    },
    on: (task, act, body) => w.on(task, act, act === 'fail' ? { retryAt: inOneHour(), ...body } : body),
  }
}

/** Waits until every run but the live one is over, and everything that follows from it is written. */
async function atRest(w: Workspace): Promise<void> {
  await until(async () => {
    const { items } = (await w.call('GET', '/runs')).body
    const open = items.filter((run: Json) => run.finishedAt === null)
    return open.length === 1 && open[0].agent === 'dev-3' && open[0].statusMessage !== null
  })
}

/** A simulated agent: no model, no program, and the same each time. */
async function hire(w: Workspace, slug: string, { title }: Words, steps: readonly Json[]): Promise<void> {
  const body = {
    name: upTo(200, title),
    adapterType: 'simulated',
    adapterConfig: { steps, timeoutSec: 2 * (HOUR_MS / 1_000) },
    // An agent that is silent for long is flagged.
    runtimeConfig: { watch: { silentSec: 0, stopSilentSec: 0, idleSec: 0, stopIdleSec: 0 } },
  }
  expect(await w.call('PUT', `/agents/${slug}`, body)).toMatchObject({ status: 201 })
}

/** One whose plan waits for a person, and one that is done. */
async function makeMissions(w: Workspace, agent: string, { title, text }: Words) {
  const first = { tempId: 'a', title, description: text, agent }
  const planned = { goal: text, title }
  const proposed = await makeMission(w, [first, { tempId: 'b', dependsOn: ['a'] }], {
    ...planned,
    config: {},
  })
  return { proposed, done: await makeMission(w, [first], { ...planned, config: FULL_AUTO }) }
}

/** It may have taken other tasks before. */
const finishedRunOf = (w: Workspace, agent: string, { id }: Task): Promise<string> =>
  until(async () => {
    const { items } = (await w.call('GET', `/agents/${agent}/runs`)).body
    return items.find((run: Json) => run.taskId === id && run.finishedAt !== null)?.id
  })

/** A month in which nobody runs these tests: half a year from now. */
const FAR_MONTH = ((new Date().getUTCMonth() + 6) % 12) + 1

/**
 * A routine that has started a mission, a project whose track is full, a worker that holds a task, a dead letter. All of it is held by
 * the clock of an hour.
 */
async function makePlaces(
  w: Workspace,
  done: Json,
  { title, text }: Words,
): Promise<Omit<Filled, 'taskId' | 'runId' | 'missionId' | 'agent'>> {
  const variables = {
    properties: { what: { type: 'string', title: upTo(200, title), default: upTo(500, title) } },
  }
  const schedule = { cron: `0 2 1 ${FAR_MONTH} *`, timeZone: 'Europe/Berlin' }
  const routine = await w.post('/routines', { name: title, fromMission: done.id, variables, schedule })
  expect(routine, JSON.stringify(routine.body)).toMatchObject({ status: 201 })
  const { missionId: id } = (await w.post(`/routines/${routine.body.id}/run`, { variables: {} })).body
  await until(async () => (await showMission(w, { id })).state === 'completed')

  const project = 'shop'
  expect((await w.post('/projects', { slug: project, name: upTo(200, title) })).status).toBe(201)
  const purpose = upTo(2_000, text)
  expect((await w.call('PUT', `/projects/${project}/tracks/A`, { maxAgents: 1, purpose })).status).toBe(200)
  const lease = { leaseSeconds: HOUR_MS / 1_000 }
  const [held] = [
    await w.make({ title, project, key: 'A-001-first', agent: 'alpha' }),
    await w.make({ title, project, key: 'A-002-second', agent: 'alpha' }),
  ]
  await w.post('/workers', { worker: 'worker-1', capacity: 4, heartbeatSeconds: 86_400, project })
  const claimed = await w.claim(held, 'alpha', { session: 'worker-1', ...lease })
  expect(claimed.body.reason).toBe('GRANTED')

  const dead = await w.make({ title, agent: 'alpha', maxRetries: 0 })
  expect((await w.claim(dead, 'alpha', lease)).body.reason).toBe('GRANTED')
  const error = upTo(2_000, text)
  const failed = await w.on(dead, 'fail', {
    session: 's-alpha',
    generation: 1,
    failureClass: 'quality',
    error,
  })
  expect(failed.status).toBe(200)
  const budgetId = await makeBudgets(w, held, project)
  return { routineId: routine.body.id, project, budgetId, ...(await makeHooks(w, { title, text })) }
}

/** A webhook that is paused, so that nothing happens, and a hook that creates tasks. */
async function makeHooks(w: Workspace, { title, text }: Pick<Words, 'title' | 'text'>) {
  const named = { name: upTo(200, title), events: ['mission_*', 'task_failed'] }
  const webhook = await w.post('/webhooks', { url: 'https://ci.example.test/hook', ...named })
  expect(webhook, JSON.stringify(webhook.body)).toMatchObject({ status: 201 })
  expect((await w.post(`/webhooks/${webhook.body.id}/pause`)).status).toBe(200)
  const does = { kind: 'task', title, description: upTo(2_000, text), agent: 'alpha' }
  const conditions = [{ at: '/action', is: ['opened', upTo(200, title)] }]
  const hook = await w.post('/hooks', { name: 'shop-issues', scheme: 'github', does, conditions })
  expect(hook, JSON.stringify(hook.body)).toMatchObject({ status: 201 })
  return { webhookId: String(webhook.body.id), hookId: String(hook.body.id) }
}

/** A budget of each scope but missions and tasks, and what counts in them. None of it is spent. */
async function makeBudgets(w: Workspace, held: Task, project: string): Promise<string> {
  const scopes = [
    { scope: 'workspace', maxUsd: '100', maxTokens: 90_000_000 },
    { scope: 'agent', scopeId: 'alpha', maxTokens: 5_000_000 },
    { scope: 'project', scopeId: project, maxUsd: '5' },
  ]
  const made = []
  for (const budget of scopes) made.push(await w.post('/budgets', budget))
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
  const usage = { model: 'claude-sonnet-4-5', inputTokens: 40_000, outputTokens: 9_000, costUsd: '4.6138' }
  const reported = await w.on(held, 'usage', { session: 'worker-1', generation: 1, usage })
  expect(reported, JSON.stringify(reported.body)).toMatchObject({ status: 200 })
  return made[2]!.body.id
}
