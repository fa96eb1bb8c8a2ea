import { describe, expect, test } from 'vitest'
import { actOn, makeMission, showMission } from '../../support/http-missions.ts'
import {
  expectRefusal,
  fence,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Amounts that are moved from and to the budgets of missions and tasks: their own limits change with them. */

const { workspace } = useServer()

const budgetOf = async (w: Workspace, scope: string, { id }: Json): Promise<Json> =>
  (await w.call('GET', `/budgets?scope=${scope}&scopeId=${id}`)).body.items[0]
const move = (w: Workspace, from: Json, to: Json, amount: Json, headers = {}) =>
  w.post(`/budgets/${from.id}/move`, { to: to.id, ...amount }, headers)
const missionWith = (w: Workspace, budget: Json, tasks = [{ tempId: 'a' }]) =>
  makeMission(w, tasks, { config: { autonomy: 'full_auto', budget } })
const use = (w: Workspace, task: Task | Json, outputTokens: number) =>
  w.post(`/tasks/${task.id}/usage`, {
    ...fence('s-alpha', 1),
    usage: { inputTokens: 0, outputTokens, costUsd: '0.5' },
  })
const limitsOf = async (w: Workspace, mission: Json, task: Json) => ({
  mission: (await showMission(w, mission)).config.budget,
  task: (await w.read(task as Task)).budget,
  budgets: [await budgetOf(w, 'mission', mission), await budgetOf(w, 'task', task)].map(
    ({ maxUsd, maxTokens }) => ({ maxUsd, maxTokens }),
  ),
})

describe('an amount', () => {
  test('goes from a mission to a task and back, and is gone here and there in one act', async () => {
    const w = await workspace()
    const mission = await missionWith(w, { maxUsd: '10', maxTokens: 1_000 })
    const task = await w.make({ budget: { maxUsd: '1', maxTokens: 100 } })
    const [from, to] = [await budgetOf(w, 'mission', mission), await budgetOf(w, 'task', task)]
    const amount = { usd: '2.50', tokens: 300 }
    const { status, body } = await move(w, from, to, amount, { 'idempotency-key': 'once' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      from: { maxUsd: '7.5', maxTokens: 700, version: 2 },
      to: { maxUsd: '3.5', maxTokens: 400, version: 2 },
    })
    expect((await move(w, from, to, amount, { 'idempotency-key': 'once' })).body).toEqual(body)
    const [small, large] = [
      { maxUsd: '3.5', maxTokens: 400 },
      { maxUsd: '7.5', maxTokens: 700 },
    ]
    expect(await limitsOf(w, mission, task)).toEqual({ mission: large, task: small, budgets: [large, small] })
    expect(await w.happens('budget_moved')).toHaveLength(1)
    expect(await w.happens('mission_updated')).toHaveLength(1)
    expect(await w.happens('task_updated')).toHaveLength(1)
    expect((await move(w, to, from, amount)).status).toBe(200)
    const [before, given] = [
      { maxUsd: '1', maxTokens: 100 },
      { maxUsd: '10', maxTokens: 1_000 },
    ]
    expect(await limitsOf(w, mission, task)).toEqual({
      ...{ mission: given, task: before, budgets: [given, before] },
    })
  })

  test('goes from the workspace to a task that waits for it, which continues', async () => {
    const w = await workspace()
    const { body: from } = await w.post('/budgets', { scope: 'workspace', maxTokens: 10_000 })
    const task = await w.make({ budget: { maxTokens: 100 }, estimatedTokens: 500 })
    await w.claim(task, 'alpha')
    expect((await w.read(task)).state).toBe('budget_exceeded')
    const to = await budgetOf(w, 'task', task)
    expect((await move(w, from, to, { tokens: 400 })).body.to).toMatchObject({ maxTokens: 500 })
    await until(async () => (await w.read(task)).state === 'queued')
    expect((await w.claim(task, 'alpha')).status).toBe(200)
  })

  test('goes to a mission that has spent its own, whose gate opens', async () => {
    const w = await workspace()
    const spent = await missionWith(w, { maxTokens: 100 })
    const rich = await missionWith(w, { maxTokens: 1_000 })
    const [{ id }] = (await w.call('GET', `/missions/${spent.id}/tasks`)).body.items
    await w.claim({ id } as Task, 'alpha')
    await use(w, { id }, 150)
    await until(async () => (await showMission(w, spent)).state === 'budget_exceeded')
    const [from, to] = [await budgetOf(w, 'mission', rich), await budgetOf(w, 'mission', spent)]
    expect((await move(w, from, to, { tokens: 200 })).status).toBe(200)
    await until(async () => (await showMission(w, spent)).state === 'running')
    expect((await showMission(w, spent)).config.budget).toEqual({ maxTokens: 300 })
    expect((await w.happens('mission_budget_increased'))[0]!.payload).toMatchObject({
      ...{ before: { maxTokens: 100 }, after: { maxTokens: 300 } },
    })
  })

  test('that the other side refuses is moved on neither', async () => {
    const w = await workspace()
    const mission = await missionWith(w, { maxTokens: 1_000 })
    const task = await w.held({ budget: { maxTokens: 100 }, estimatedTokens: 10 })
    await use(w, task, 500)
    const before = await limitsOf(w, mission, task)
    const [from, to] = [await budgetOf(w, 'mission', mission), await budgetOf(w, 'task', task)]
    const refused = await move(w, from, to, { tokens: 400 })
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.detail).toContain('500 of its 500 tokens')
    expect(await limitsOf(w, mission, task)).toEqual(before)
    expect((await move(w, from, to, { tokens: 401 })).status).toBe(200)
    await actOn(w, mission, 'cancel')
    expectRefusal(await move(w, to, from, { tokens: 1 }), 400, 'VALIDATION_FAILED')
    expect((await move(w, from, to, { tokens: 1 })).status, 'of a mission that has ended').toBe(200)
    expect(await w.happens('budget_moved')).toHaveLength(2)
  })

  test('leaves a mission or a task more than it has used', async () => {
    const w = await workspace()
    const { body: to } = await w.post('/budgets', { scope: 'workspace', maxTokens: 10_000, maxUsd: '5' })
    const task = await w.held({ budget: { maxTokens: 1_000, maxUsd: '2' }, estimatedTokens: 10 })
    await use(w, task, 300)
    await w.on(task, 'release', fence('s-alpha', 1))
    const from = await budgetOf(w, 'task', task)
    for (const amount of [{ tokens: 700 }, { usd: '1.5' }, { tokens: 1_000 }, { usd: '2' }])
      expectRefusal(await move(w, from, to, amount), 400, 'VALIDATION_FAILED')
    expect((await move(w, from, to, { tokens: 699, usd: '1.4' })).status).toBe(200)
  })

  test('is moved once, though two want all of it at the same time', async () => {
    const w = await workspace()
    const mission = await missionWith(w, { maxTokens: 1_000 })
    const tasks = await Promise.all([1, 2, 3, 4].map(() => w.make({ budget: { maxTokens: 10 } })))
    const from = await budgetOf(w, 'mission', mission)
    const answers = await Promise.all(
      tasks.map(async (task) => move(w, from, await budgetOf(w, 'task', task), { tokens: 600 })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect((await showMission(w, mission)).config.budget).toEqual({ maxTokens: 400 })
    const limits = await Promise.all(tasks.map(async (task) => (await w.read(task)).budget.maxTokens))
    expect(limits.sort((a, b) => a - b)).toEqual([10, 10, 10, 610])
  })
})
