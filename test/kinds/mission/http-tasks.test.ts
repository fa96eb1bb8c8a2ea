import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  actOn,
  failForGood,
  makeMission,
  showMission,
  submit,
  take,
  tasksByTitle,
  workOff,
} from '../../support/http-missions.ts'
import { expectRefusal, type Json, useServer } from '../../support/http-workspace.ts'

/** Tasks that are added to a mission beside its plan, and what a task says about how it is to be done. */

const { workspace } = useServer()

const SAID = {
  model: 'claude-sonnet-5-5',
  complexity: 4,
  estimatedTokens: 12_000,
  successCriteria: 'The tests pass.',
  systemPrompt: 'Be brief.',
  toolsRequested: ['bash', 'edit'],
  outputSchema: { type: 'object', required: ['ok'] },
}

test('the mission says how long a failed task waits for its next attempt, and that doubles', async () => {
  const w = await workspace()
  const retry = { baseSeconds: 2, maxAttempts: 3 }
  await makeMission(w, [{ tempId: 'a' }], { config: { autonomy: 'full_auto', retry } })
  const failing = { session: 's-alpha', failureClass: 'infrastructure', error: 'down' }
  const held = await take(w)
  await w.post(`/tasks/${held.taskId}/fail`, { ...failing, generation: 1 })
  const again = await take(w)
  await w.post(`/tasks/${again.taskId}/fail`, { ...failing, generation: 2 })
  const waits = (await w.happens('task_retrying', 2)).map(({ payload }) => payload.waitMs)
  expect(waits).toEqual([2_000, 4_000])
  const bad = await w.post('/missions', {
    goal: 'x',
    plan: { tasks: [] },
    config: { retry: { baseSeconds: 0 } },
  })
  expectRefusal(bad, 400, 'VALIDATION_FAILED')
})

test('the retries of a mission are those of tasks that join it, and of tasks that agents add', async () => {
  const w = await workspace()
  const config = { autonomy: 'full_auto', retry: { maxAttempts: 2, baseSeconds: 7 } }
  const mission = await makeMission(w, [{ tempId: 'a', title: 'a' }], { config })
  const held = await take(w)
  const fence = { session: 's-alpha', generation: 1 }
  const child = (await w.post(`/tasks/${held.taskId}/children`, { ...fence, title: 'child' })).body
  const own = (await w.post(`/tasks/${held.taskId}/children`, { ...fence, title: 'own', maxRetries: 5 })).body
  const joined = (await w.post('/tasks', { title: 'joined', mission: mission.id })).body
  const many = (await w.post('/tasks/batch', { tasks: [{ title: 'one', mission: mission.id }] })).body
  expect([child, own, joined, many.items[0]].map(({ maxRetries }) => maxRetries)).toEqual([1, 5, 1, 1])
  expect((await w.post('/tasks', { title: 'other' })).body.maxRetries).toBe(3)
  const failing = { ...fence, failureClass: 'infrastructure', error: 'down' }
  for (const { id } of [child, joined]) {
    await w.post(`/tasks/${id}/claim`, { agent: 'alpha', session: 's-alpha' })
    await w.post(`/tasks/${id}/fail`, failing)
  }
  const waits = (await w.happens('task_retrying', 2)).map(({ payload }) => payload.waitMs)
  expect(waits).toEqual([7_000, 7_000])
})

test('a plan says how long its tasks take: short ones go first, and one that takes longer is found hanging', async () => {
  const w = await workspace({ queueOrder: 'shortest_first' })
  const timeouts = { hangGraceSeconds: 0, hangAbortSeconds: 1 }
  await makeMission(
    w,
    [
      { tempId: 'long', title: 'long', estimatedDurationMinutes: 90 },
      { tempId: 'short', title: 'short', estimatedDurationMinutes: 0.001, timeouts },
    ],
    { config: { autonomy: 'full_auto' } },
  )
  const held = await take(w)
  expect(held.task).toMatchObject({ title: 'short', estimatedDurationMinutes: 0.001 })
  await w.post(`/tasks/${held.taskId}/start`, { session: 's-alpha', generation: 1 })
  const [hung] = await w.happens('task_hung')
  expect(hung).toMatchObject({ taskId: held.taskId })
})

describe('an agent that a plan prefers', () => {
  const PREFERRED = { tempId: 'a', title: 'a', preferredAgent: 'alpha' }
  const FULL_AUTO = { config: { autonomy: 'full_auto' } }

  test('goes first: no other is given the task meanwhile, nor a dependent when it becomes ready', async () => {
    const w = await workspace()
    await makeMission(w, [PREFERRED, { ...PREFERRED, tempId: 'b', title: 'b', dependsOn: ['a'] }], FULL_AUTO)
    const next = async (agent: string) =>
      (await w.post('/claims/next', { agent, session: `s-${agent}` })).body.claims
    expect(await next('beta')).toEqual([])
    const [first] = await next('alpha')
    expect(first.task).toMatchObject({ title: 'a' })
    expect((await w.call('GET', `/tasks/${first.taskId}`)).body.preferredAgent).toBe('alpha')
    await w.post(`/tasks/${first.taskId}/submit`, { session: 's-alpha', generation: 1, result: 1 })
    await w.happens('task_queued')
    expect(await next('beta')).toEqual([])
    expect((await next('alpha'))[0].task).toMatchObject({ title: 'b' })
  })

  test('is no agent that alone may do it: both are refused, with the place', async () => {
    const w = await workspace()
    const answer = await w.post('/missions', {
      goal: 'x',
      plan: { tasks: [{ ...PREFERRED, agent: 'beta' }] },
    })
    expectRefusal(answer, 422, 'PLAN_INVALID')
    expect(answer.body.problems).toMatchObject([{ at: '/tasks/0/preferredAgent' }])
  })
})

describe('a task that joins a mission', () => {
  test('has its priority, is counted, and the mission ends only with it', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }], { priority: 8 })
    const added = await w.post('/tasks', { title: 'b', mission: mission.id, optional: true })
    expect(added).toMatchObject({
      status: 201,
      body: { missionId: mission.id, priority: 8, optional: true, state: 'queued' },
    })
    expect((await w.post('/tasks', { title: 'c', mission: mission.id, priority: 2 })).body.priority).toBe(2)
    expect((await w.post('/tasks', { title: 'other' })).body.priority).toBe(5)
    expect(await showMission(w, mission)).toMatchObject({ taskCount: 3, tasksByState: { queued: 3 } })
    expect(await submit(w, await take(w))).toMatchObject({ status: 200 })
    expect((await showMission(w, mission)).state).toBe('running')
    await workOff(w, 'alpha', 0)
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', tasksCompleted: 3 })
  })

  test('waits behind its gate, also when it is added while the mission is paused', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    await actOn(w, mission, 'pause')
    expect((await w.post('/tasks', { title: 'b', mission: mission.id })).status).toBe(201)
    const nothing = await w.post('/claims/next', { agent: 'alpha', session: 's-alpha' })
    expect(nothing.body.claims).toEqual([])
    await actOn(w, mission, 'resume')
    expect((await workOff(w, 'alpha', 0)).sort()).toEqual(['a', 'b'])
  })

  test('may depend on tasks of the plan, by data or only in order', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }])
    const { a, b } = await tasksByTitle(w, mission)
    const dependsOn = [a!.id, { on: b!.id, kind: 'order' }]
    const added = (await w.post('/tasks', { title: 'c', mission: mission.id, dependsOn })).body
    const { blockedBy } = (await w.call('GET', `/tasks/${added.id}`)).body
    expect(blockedBy.map(({ title, kind }: Json) => [title, kind]).sort()).toEqual([
      ['a', 'data'],
      ['b', 'order'],
    ])
    expect((await workOff(w)).at(-1)).toBe('c')
  })

  test('belongs to it, too, when it is a part of one of its tasks', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    const { a } = await tasksByTitle(w, mission)
    const part = await w.post('/tasks', { title: 'part', parentId: a!.id })
    expect(part.body).toMatchObject({ missionId: mission.id, parentId: a!.id })
    await actOn(w, mission, 'pause')
    const claims = await w.post('/claims/next', { agent: 'alpha', session: 's-alpha' })
    expect(claims.body.claims).toEqual([])
  })

  test('uses the models and times of the mission where it names none', async () => {
    const w = await workspace()
    const config = {
      autonomy: 'full_auto',
      models: { default: 'haiku', byTaskType: { coding: 'opus' } },
      timeouts: { stallSeconds: 60, verifySeconds: 7 },
    }
    const mission = await makeMission(w, [{ tempId: 'a' }], { config })
    const add = async (body: Json) =>
      (await w.post('/tasks', { title: 'b', mission: mission.id, ...body })).body
    expect(await add({ timeouts: { stallSeconds: 5 } })).toMatchObject({
      plan: { model: 'haiku' },
      timeouts: { stallSeconds: 5, verifySeconds: 7 },
    })
    expect(await add({ taskType: 'coding' })).toMatchObject({ plan: { model: 'opus' } })
    expect(await add({ model: 'sonnet' })).toMatchObject({ plan: { model: 'sonnet' } })
  })

  test('is refused by a mission that has ended, is being stopped, or has no approved plan', async () => {
    const w = await workspace()
    const join = ({ id }: Json) => w.post('/tasks', { title: 'late', mission: id })
    const ended = await makeMission(w, [{ tempId: 'a' }])
    await failForGood(w, await take(w))
    expectRefusal(await join(ended), 409, 'WRONG_STATE')
    const planned = await makeMission(w, [{ tempId: 'a' }], { config: {} })
    expectRefusal(await join(planned), 409, 'WRONG_STATE')
    const stopped = await makeMission(w, [{ tempId: 'a' }])
    await actOn(w, stopped, 'cancel')
    expectRefusal(await join(stopped), 409, 'WRONG_STATE')
  })

  test('is refused for a mission of another workspace, for none at all, and all or nothing in a batch', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const theirs = await makeMission(other, [{ tempId: 'a' }])
    const refused = await w.post('/tasks', { title: 'b', mission: theirs.id })
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors).toEqual([{ field: 'mission', message: 'names no mission of this workspace' }])
    const none = { title: 'b', mission: randomUUID() }
    expectRefusal(await w.post('/tasks/batch', { tasks: [{ title: 'a' }, none] }), 400, 'VALIDATION_FAILED')
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])
    const mission = await makeMission(w, [{ tempId: 'a' }])
    await w.post('/projects', { slug: 'shop' })
    const elsewhere = await w.post('/tasks', { title: 'b', mission: mission.id, project: 'shop' })
    expectRefusal(elsewhere, 400, 'VALIDATION_FAILED')
  })
})

describe('what a task says about how it is to be done', () => {
  test('is stored and shown under the names with which it is created', async () => {
    const w = await workspace()
    const made = await w.post('/tasks', { title: 'b', maxContinuations: 2, ...SAID })
    expect(made).toMatchObject({ status: 201, body: { plan: SAID, maxContinuations: 2 } })
    const shown = (await w.call('GET', `/tasks/${made.body.id}`)).body
    expect(shown).toMatchObject({ ...SAID, budget: null, plan: { ...SAID, tempId: null } })
    const plain = await w.post('/tasks', { title: 'plain' })
    expect(plain.body.plan).toBeNull()
    expect((await w.call('GET', `/tasks/${plain.body.id}`)).body).toMatchObject({
      model: null,
      toolsRequested: [],
    })
  })

  test('is refused when it makes no sense', async () => {
    const w = await workspace()
    const errors = async (body: Json) => {
      const answer = await w.post('/tasks', { title: 'b', ...body })
      expectRefusal(answer, 400, 'VALIDATION_FAILED')
      return answer.body.errors.map(({ field }: Json) => field)
    }
    expect(await errors({ budget: { maxUsd: 'much' } })).toEqual(['budget.maxUsd'])
    expect(await errors({ outputSchema: { type: 'nonsense' } })).toEqual(['outputSchema.type'])
    await errors({ complexity: 11 })
    await errors({ estimatedTokens: 0 })
    await errors({ toolsRequested: 'bash' })
    await errors({ mission: 'mission-1' })
    await errors({ optional: 'yes' })
  })
})
