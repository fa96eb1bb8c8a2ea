import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Missions that an agent plans. */

const { workspace } = useServer()

interface Claim {
  taskId: string
  generation: number
  task: { title: string; description: string; purpose: string; missionId: string }
}

const PLAN = {
  strategy: 'one by one',
  tasks: [
    { tempId: 'a', title: 'Look' },
    { tempId: 'b', title: 'Act', dependsOn: ['a'] },
  ],
}
const PLANNER = { agent: 'planner' }

const meet = (w: Workspace, agent: string) => w.post('/claims/next', { agent, session: `s-${agent}` })
const make = async (w: Workspace, body: Json = {}): Promise<Json> => {
  const answer = await w.post('/missions', { goal: 'Make checkout fast', planner: PLANNER, ...body })
  expect(answer).toMatchObject({ status: 201, body: { state: 'planning', planVersion: null } })
  return answer.body
}
const show = async (w: Workspace, { id }: Json) => (await w.call('GET', `/missions/${id}`)).body
const inState = (w: Workspace, mission: Json, state: string) =>
  until(async () => (await show(w, mission)).state === state)

const planning = (w: Workspace): Promise<Claim> =>
  until(async () => {
    const body = { agent: 'planner', session: 's-planner', purposes: ['planning'] }
    return (await w.post('/claims/next', body)).body.claims[0]
  })
const answer = (w: Workspace, claim: Claim, result: unknown) =>
  w.post(`/tasks/${claim.taskId}/submit`, { ...fence('s-planner', claim.generation), result })
const eventOf = async (w: Workspace, { id }: Json, type: string) =>
  (await w.call('GET', `/missions/${id}/events?limit=200`)).body.items.findLast(
    (one: Json) => one.type === type,
  )

describe('a mission without a plan', () => {
  test('is planned by its planner, who gets goal, roster, limits and the shape of a plan', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/dev-1', { name: 'Dev', capabilities: ['go'], model: 'claude-opus-4-5' })
    await meet(w, 'planner')
    const mission = await make(w, { config: { budget: { maxUsd: '2.50' } } })
    const claim = await planning(w)
    const { description, purpose, missionId } = claim.task
    expect({ purpose, missionId }).toEqual({ purpose: 'planning', missionId: mission.id })
    for (const part of ['Make checkout fast', '- dev-1: can go; claude-opus-4-5; $', '$2.50', '"tempId"'])
      expect(description).toContain(part)
    await answer(w, claim, `Here it is.\n\n\`\`\`json\n${JSON.stringify(PLAN)}\n\`\`\`\n`)
    await inState(w, mission, 'awaiting_approval')
    expect(await show(w, mission)).toMatchObject({ planVersion: 1, strategy: 'one by one' })
    const { items } = (await w.call('GET', `/missions/${mission.id}/plans`)).body
    expect(items).toMatchObject([{ version: 1, proposedBy: 'agent:planner', taskCount: 2 }])
    expect((await w.call('GET', `/tasks/${claim.taskId}`)).body.state).toBe('completed')
    expect(await w.post(`/missions/${mission.id}/approve`, {})).toMatchObject({ body: { taskCount: 2 } })
  })

  test('says in the log which model plans it, and which one its plan is from', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    await w.call('PUT', '/agents/planner', { name: 'Planner', model: 'claude-opus-4-5' })
    const mission = await make(w)
    const plannerModel = 'claude-opus-4-5'
    expect((await eventOf(w, mission, 'mission_planning_started')).payload).toMatchObject({
      ...{ agent: 'planner', plannerModel },
    })
    await answer(w, await planning(w), PLAN)
    await inState(w, mission, 'awaiting_approval')
    expect((await eventOf(w, mission, 'mission_plan_ready')).payload).toMatchObject({ plannerModel })
    // A plan by a person is from no model.
    expect((await w.call('PUT', `/missions/${mission.id}/plan`, PLAN)).status).toBe(200)
    const { payload } = await eventOf(w, mission, 'mission_plan_ready')
    expect(payload.version).toBe(2)
    expect(payload).not.toHaveProperty('plannerModel')
  })

  test('begins automatically when its autonomy says so', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const mission = await make(w, { config: { autonomy: 'full_auto' } })
    await answer(w, await planning(w), PLAN)
    await inState(w, mission, 'running')
    expect(await show(w, mission)).toMatchObject({ taskCount: 2, approvedVersion: 1 })
  })

  test('gets an invalid plan back to its planner with every problem, three times at most, then a person plans', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const mission = await make(w)
    const broken = {
      tasks: [
        { tempId: 'a', dependsOn: ['x'] },
        { tempId: 'b', agent: 'nobody' },
      ],
    }
    const prose = 'First I would look around, and then I would act.'
    const circle = { tasks: [{ tempId: 'a', title: 'A', dependsOn: ['a'] }] }
    for (const [turn, wrong] of [broken, prose, circle].entries()) {
      const claim = await planning(w)
      expect(claim).toMatchObject({ generation: turn + 1 })
      if (turn === 1) {
        const { error } = (await w.call('GET', `/tasks/${claim.taskId}`)).body
        expect(error).toContain('/tasks/0/dependsOn/0')
      }
      expect(await answer(w, claim, wrong)).toMatchObject({ status: 200 })
    }
    await inState(w, mission, 'awaiting_approval')
    expect(await eventOf(w, mission, 'mission_plan_failed')).toMatchObject({
      payload: { reason: expect.stringContaining('/tasks/0/dependsOn/0') },
    })
    expectRefusal(await w.post(`/missions/${mission.id}/approve`, {}), 409, 'WRONG_STATE')
    const planned = await w.call('PUT', `/missions/${mission.id}/plan`, PLAN)
    expect(planned).toMatchObject({ status: 200, body: { planVersion: 1, state: 'awaiting_approval' } })
  })

  test('refuses a plan that names agents that are not there', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    await make(w)
    const claim = await planning(w)
    await answer(w, claim, { tasks: [{ tempId: 'a', title: 'A', agent: 'nobody' }] })
    await w.happens('task_verification_failed')
    const shown = await w.call('GET', `/tasks/${claim.taskId}`)
    expect(shown.body.error).toContain('/tasks/0/agent: is "nobody"')
  })

  test('is planned again when a person sends the plan back, with the plan and the comment', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const mission = await make(w)
    await answer(w, await planning(w), PLAN)
    await inState(w, mission, 'awaiting_approval')
    // biome-ignore lint/suspicious/noThenProperty: the name of the field
    const sent = { then: 'replan', comment: 'Measure first.' }
    expect(await w.post(`/missions/${mission.id}/reject`, sent)).toMatchObject({
      body: { state: 'planning' },
    })
    const second = await planning(w)
    expect(second.task.description).toContain('Measure first.')
    expect(second.task.description).toContain('"one by one"')
    await answer(w, second, { tasks: [{ tempId: 'm', title: 'Measure' }] })
    await inState(w, mission, 'awaiting_approval')
    expect(await show(w, mission)).toMatchObject({ planVersion: 2 })
  })

  test('may be planned by a person meanwhile: the planning ends, and its answer changes nothing', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const mission = await make(w)
    const claim = await planning(w)
    expect(await w.call('PUT', `/missions/${mission.id}/plan`, PLAN)).toMatchObject({ status: 200 })
    const late = await answer(w, claim, { tasks: [{ tempId: 'z', title: 'Z' }] })
    expect([200, 409]).toContain(late.status)
    await until(async () => (await w.call('GET', `/tasks/${claim.taskId}`)).body.state === 'cancelled')
    expect(await show(w, mission)).toMatchObject({ planVersion: 1, state: 'awaiting_approval' })
  })

  test('that is cancelled ends its planning, too', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const mission = await make(w)
    const claim = await planning(w)
    expect(await w.post(`/missions/${mission.id}/cancel`, {})).toMatchObject({ body: { state: 'cancelled' } })
    await until(async () => (await w.call('GET', `/tasks/${claim.taskId}`)).body.state === 'cancelled')
  })

  test('that is paused pauses its planning, and continues with it', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const mission = await make(w)
    const claim = await planning(w)
    const stateOf = async () => (await w.call('GET', `/tasks/${claim.taskId}`)).body.state
    await w.post(`/missions/${mission.id}/pause`, {})
    await until(async () => (await stateOf()) === 'paused')
    await w.post(`/missions/${mission.id}/resume`, {})
    await until(async () => (await stateOf()) === 'queued')
    await answer(w, await planning(w), PLAN)
    await inState(w, mission, 'awaiting_approval')
  })

  test('starts planning at its time', async () => {
    const w = await workspace()
    await meet(w, 'planner')
    const startAt = new Date(Date.now() + 1_000).toISOString()
    const made = await w.post('/missions', { goal: 'Later', planner: PLANNER, startAt })
    expect(made).toMatchObject({ status: 201, body: { state: 'pending' } })
    await inState(w, made.body, 'planning')
    await answer(w, await planning(w), PLAN)
    await inState(w, made.body, 'awaiting_approval')
  })

  test('is refused without a planner that exists', async () => {
    const w = await workspace()
    const unknown = await w.post('/missions', { goal: 'x', planner: { agent: 'nobody' } })
    expectRefusal(unknown, 400, 'VALIDATION_FAILED')
    expect(unknown.body.errors[0].field).toBe('planner.agent')
    expectRefusal(await w.post('/missions', { goal: 'x' }), 400, 'VALIDATION_FAILED')
    await w.call('PUT', '/agents/architect', { capabilities: ['planning'] })
    expect(await w.post('/missions', { goal: 'x' })).toMatchObject({
      status: 201,
      body: { state: 'planning' },
    })
  })
})
