import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { actOn, FULL_AUTO, makeMission, showMission, workOff } from '../../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Missions over HTTP, with a plan of their own. */

const { served, workspace } = useServer()

/** a, then b and c, then d. */
const DIAMOND = {
  strategy: 'split and join',
  tasks: [
    { tempId: 'a', title: 'Look around', taskType: 'research', complexity: 3 },
    { tempId: 'b', title: 'Build one half', dependsOn: ['a'] },
    { tempId: 'c', title: 'Build the other half', dependsOn: ['a'], optional: true },
    {
      tempId: 'd',
      title: 'Join them',
      dependsOn: ['b', { on: 'c', kind: 'order' }],
      triggerRule: 'all_done',
    },
  ],
}
const make = (w: Workspace, body: Json = {}) => makeMission(w, [], { plan: DIAMOND, ...body })
const tasksOf = async (w: Workspace, { id }: Json): Promise<Json[]> =>
  (await w.call('GET', `/missions/${id}/tasks?limit=100`)).body.items
const graphOf = async (w: Workspace, { id }: Json) => (await w.call('GET', `/missions/${id}/graph`)).body

describe('a mission with a plan', () => {
  test('runs its tasks in the order of its graph, and ends with the last one', async () => {
    const w = await workspace()
    const mission = await make(w)
    expect(mission).toMatchObject({
      state: 'running',
      stateType: 'running',
      planVersion: 1,
      approvedVersion: 1,
      taskCount: 4,
      tasksByState: { queued: 1, pending: 3 },
      strategy: 'split and join',
      costUsd: '0',
      closedBy: [],
    })
    const done = await workOff(w)
    expect(done[0]).toBe('Look around')
    expect([...done.slice(1, 3)].sort()).toEqual(['Build one half', 'Build the other half'])
    expect(done[3]).toBe('Join them')
    expect(await showMission(w, mission)).toMatchObject({
      state: 'completed',
      tasksCompleted: 4,
      tasksFailed: 0,
      durationMs: expect.any(Number),
      completedAt: expect.any(String),
    })
  })

  test('waits for approval, shows its graph before, and makes its tasks when it is approved', async () => {
    const w = await workspace()
    const mission = await make(w, { config: {} })
    expect(mission).toMatchObject({ state: 'awaiting_approval', closedBy: ['unapproved'], taskCount: 0 })
    const planned = await graphOf(w, mission)
    expect(planned.nodes.map(({ id, layer, state }: Json) => [id, layer, state])).toEqual([
      ['a', 0, null],
      ['b', 1, null],
      ['c', 1, null],
      ['d', 2, null],
    ])
    expect(planned.edges).toContainEqual({ from: 'c', to: 'd', kind: 'order' })
    expect(await tasksOf(w, mission)).toEqual([])
    const stale = await actOn(w, mission, 'approve', { planVersion: 1, digest: 'another' })
    expectRefusal(stale, 409, 'CHANGED_SINCE', { planVersion: 1, digest: mission.planDigest })
    const approved = await actOn(w, mission, 'approve', { planVersion: 1, digest: mission.planDigest })
    expect(approved).toMatchObject({ status: 200, body: { state: 'running', taskCount: 4 } })
    expectRefusal(await actOn(w, mission, 'approve'), 409, 'WRONG_STATE')
    const { nodes } = await graphOf(w, mission)
    expect(nodes.map(({ title, layer, number }: Json) => [number, title, layer])).toEqual([
      [1, 'Look around', 0],
      [2, 'Build one half', 1],
      [3, 'Build the other half', 1],
      [4, 'Join them', 2],
    ])
  })

  test('keeps every version of its plan', async () => {
    const w = await workspace()
    const mission = await make(w, { config: {} })
    const { items } = (await w.call('GET', `/missions/${mission.id}/plans`)).body
    expect(items).toMatchObject([{ version: 1, digest: mission.planDigest, taskCount: 4, isApproved: false }])
  })
  test('is listed newest first, by state and by tag, page by page', async () => {
    const w = await workspace()
    const one = await make(w, { title: 'one', tags: ['x'] })
    const two = await make(w, { title: 'two', config: {} })
    const ids = async (query: string) =>
      (await w.call('GET', `/missions${query}`)).body.items.map(({ id }: Json) => id)
    expect(await ids('')).toEqual([two.id, one.id])
    expect(await ids('?state=awaiting_approval')).toEqual([two.id])
    expect(await ids('?stateType=running')).toEqual([one.id])
    expect(await ids('?tag=x')).toEqual([one.id])
    expect(await ids('?q=TWO')).toEqual([two.id])
    const page = (await w.call('GET', '/missions?limit=1')).body
    expect(await ids(`?limit=1&cursor=${page.nextCursor}`)).toEqual([one.id])
  })
  test('is cloned with its goal, plan and settings', async () => {
    const w = await workspace()
    const mission = await make(w, { config: { maxParallel: 2 }, tags: ['t'] })
    const clone = (await actOn(w, mission, 'clone')).body
    expect(clone).toMatchObject({
      goal: mission.goal,
      config: mission.config,
      planDigest: mission.planDigest,
      tags: ['t'],
    })
    expect(clone.id).not.toBe(mission.id)
  })
})

describe('pausing a mission', () => {
  test('pauses what agents hold, and it continues where it was when the mission does', async () => {
    const w = await workspace()
    const mission = await make(w)
    const { claims } = (await w.post('/claims/next', { agent: 'alpha', session: 's-alpha' })).body
    expect((await actOn(w, mission, 'pause', { reason: 'lunch' })).body).toMatchObject({
      state: 'paused',
      closedBy: ['paused'],
    })
    const task = `/tasks/${claims[0].taskId}`
    const stateOf = async () => (await w.call('GET', task)).body.state
    await until(async () => (await stateOf()) === 'paused')
    expect((await w.post('/claims/next', { agent: 'beta', session: 's-beta' })).body.claims).toEqual([])
    await actOn(w, mission, 'resume')
    await until(async () => (await stateOf()) === 'queued')
    expect(await workOff(w)).toHaveLength(4)
    expect((await showMission(w, mission)).state).toBe('completed')
  })

  test('does not resume a task that a person paused', async () => {
    const w = await workspace()
    const mission = await make(w)
    const [task] = (await tasksOf(w, mission)).filter(({ state }) => state === 'queued')
    await w.post(`/tasks/${task!.id}/pause`, {})
    await actOn(w, mission, 'pause')
    await actOn(w, mission, 'resume')
    await w.happens('mission_resumed', 1)
    expect((await w.call('GET', `/tasks/${task!.id}`)).body.state).toBe('paused')
  })
})

test('cancelling a mission cancels all its tasks and ends it', async () => {
  const w = await workspace()
  const mission = await make(w)
  await actOn(w, mission, 'cancel', { reason: 'no longer needed' })
  await until(async () => (await showMission(w, mission)).state === 'cancelled')
  expect(await showMission(w, mission)).toMatchObject({
    tasksByState: { cancelled: 4 },
    errorMessage: 'no longer needed',
    closedBy: [],
  })
})

test('with onFailure stop, a failed task cancels the rest and fails the mission', async () => {
  const w = await workspace()
  const mission = await make(w, { config: { ...FULL_AUTO, onFailure: 'stop', retry: { maxAttempts: 1 } } })
  const { claims } = (await w.post('/claims/next', { agent: 'alpha', session: 's-alpha' })).body
  await w.post(`/tasks/${claims[0].taskId}/fail`, {
    ...fence('s-alpha', 1),
    failureClass: 'invalid',
    error: 'no',
  })
  await until(async () => (await showMission(w, mission)).state === 'failed')
})

describe('a mission of agents that Baton runs', () => {
  const simulated = (steps: Json[]) => ({
    name: 'Sim',
    adapterType: 'simulated',
    adapterConfig: { steps },
    maxConcurrentTasks: 1,
  })

  test('is closed when its runs have spent its budget, and continues with a larger one', async () => {
    const w = await workspace()
    const steps = [{ usage: { inputTokens: 80, outputTokens: 30 } }, { result: { done: true } }]
    expect(await w.call('PUT', '/agents/sim-1', simulated(steps))).toMatchObject({ status: 201 })
    const plan = {
      tasks: [
        { tempId: 'a', title: 'First', agent: 'sim-1' },
        { tempId: 'b', title: 'Second', agent: 'beta', dependsOn: ['a'] },
      ],
    }
    const mission = await make(w, { plan, config: { ...FULL_AUTO, budget: { maxTokens: 100 } } })
    await until(async () => (await showMission(w, mission)).state === 'budget_exceeded')
    await until(async () => (await showMission(w, mission)).tasksByState.queued === 1)
    expect(await showMission(w, mission)).toMatchObject({ closedBy: ['budget'], tokensUsed: 110 })
    const beta = { agent: 'beta', session: 's-beta' }
    expect((await w.post('/claims/next', beta)).body.claims).toEqual([])
    const waiting = w.post('/claims/next', { ...beta, waitMs: 20_000 })
    const more = await w.call('PATCH', `/missions/${mission.id}`, { budget: { maxTokens: 1_000 } })
    expect(more.body).toMatchObject({ state: 'running', closedBy: [] })
    const [claim] = (await waiting).body.claims
    await w.post(`/tasks/${claim.taskId}/submit`, { ...fence('s-beta', 1), result: 1 })
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', tokensUsed: 110 })
  })

  test('whose last task ended without it is ended by recovery', async () => {
    const w = await workspace()
    const mission = await make(w)
    await workOff(w)
    // As if a node had ended its last task and died before it ended the mission.
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.missions set phase = 'running', state = 'running', open_for = 'all', completed_at = null
          where uuid = $1`,
        [mission.id],
      ),
    )
    expect((await w.post('/coordinator/recover')).status).toBe(200)
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed' })
    // Written by recovery alone. The coordinator's own pass may have come first.
    expect(await w.count('stall_detected')).toBe(1)
  })

  test('that starts later waits for its time, and then begins automatically', async () => {
    const w = await workspace()
    const mission = await make(w, { startAt: new Date(Date.now() + 1_500).toISOString() })
    expect(mission).toMatchObject({ state: 'pending', planVersion: 1, taskCount: 0 })
    await until(async () => (await showMission(w, mission)).state === 'running')
    expect(await workOff(w)).toHaveLength(4)
  })

  test('that cannot start at its time is left to a person, and keeps no other from starting', async () => {
    const w = await workspace()
    const startAt = new Date(Date.now() + 1_500).toISOString()
    const missing = { tasks: [{ tempId: 'a', title: 'A', dependsOn: [{ on: `task:${randomUUID()}` }] }] }
    const refused = await make(w, { startAt, plan: missing })
    const unreadable = await make(w, { startAt })
    const good = await make(w, { startAt })
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.mission_plans set body = '{"tasks":[{"tempId":"a","dependsOn":["b"]}]}'
          where mission_id = (select mission_id from baton.missions where uuid = $1)`,
        [unreadable.id],
      ),
    )
    await until(async () => (await showMission(w, good)).state === 'running')
    for (const mission of [refused, unreadable]) {
      await until(async () => (await showMission(w, mission)).state === 'awaiting_approval')
      const { items } = (await w.call('GET', `/missions/${mission.id}/events`)).body
      const failed = items.find(({ type }: Json) => type === 'mission_plan_failed')
      expect(failed).toMatchObject({ payload: { reason: expect.stringMatching(/no task|not in the plan/) } })
      const plan = { tasks: [{ tempId: 'a', title: 'A' }] }
      const another = await w.call('PUT', `/missions/${mission.id}/plan`, plan)
      expect(another).toMatchObject({ status: 200, body: { state: 'running', planVersion: 2 } })
    }
  })
})

describe('bad input', () => {
  test('a plan with problems is refused with all of them, and nothing is made', async () => {
    const w = await workspace()
    const plan = {
      tasks: [
        { tempId: 'a', title: 'A', dependsOn: ['b'] },
        { tempId: 'b', title: 'B', dependsOn: ['a'] },
        { tempId: 'b', title: 'again' },
        { tempId: 'c', title: 'C', dependsOn: ['c', 'nowhere'], complexity: 11 },
      ],
    }
    const answer = await w.post('/missions', { goal: 'x', plan })
    expectRefusal(answer, 422, 'PLAN_INVALID')
    expect(answer.body.problems.length).toBeGreaterThanOrEqual(5)
    expect((await w.call('GET', '/missions')).body.items).toEqual([])
  })

  test('a command is refused to keys that may not configure agents, in plans and in settings', async () => {
    const w = await workspace()
    const member = await w.post('/keys', { name: 'member', role: 'member' })
    const headers = { authorization: `Bearer ${member.body.key}` }
    const verification = { kind: 'command', command: 'rm -rf /' }
    const plan = { tasks: [{ tempId: 'a', title: 'A', verification }] }
    expectRefusal(await w.post('/missions', { goal: 'x', plan }, headers), 403, 'FORBIDDEN')
    const config = { commands: ['npm test'] }
    expectRefusal(await w.post('/missions', { goal: 'x', plan: DIAMOND, config }, headers), 403, 'FORBIDDEN')
    const mission = await make(w, { config: {} })
    const put = await w.call('PUT', `/missions/${mission.id}/plan`, plan, headers)
    expectRefusal(put, 403, 'FORBIDDEN')
    expect(await w.call('PUT', `/missions/${mission.id}/plan`, plan)).toMatchObject({ status: 200 })
  })

  test('a dependency on a task of another workspace is refused', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const outside = await other.make({ title: 'theirs' })
    const plan = { tasks: [{ tempId: 'a', title: 'A', dependsOn: [{ on: `task:${outside.id}` }] }] }
    expectRefusal(await w.post('/missions', { goal: 'x', plan, config: FULL_AUTO }), 400, 'VALIDATION_FAILED')
    expect((await w.call('GET', '/missions')).body.items).toEqual([])
  })

  test.each([
    ['no goal', { plan: DIAMOND }],
    ['an unknown field', { goal: 'x', plan: DIAMOND, colour: 'red' }],
    ['an unknown autonomy', { goal: 'x', plan: DIAMOND, config: { autonomy: 'some' } }],
    ['a negative budget', { goal: 'x', plan: DIAMOND, config: { budget: { maxUsd: '-1' } } }],
    ['another version of the settings', { goal: 'x', plan: DIAMOND, config: { version: 2 } }],
  ])('%s is refused', async (_what, body) => {
    const w = await workspace()
    expectRefusal(await w.post('/missions', body), 400, 'VALIDATION_FAILED')
  })
})

describe('the plan of a mission', () => {
  test('is replaced before approval, version by version, and the versions are compared', async () => {
    const w = await workspace()
    const mission = await make(w, { config: {} })
    const yaml = `tasks:
  - id: a
    title: Look around twice
  - id: b
    title: Build one half
    depends_on: [a]
`
    const changed = await w.call('PUT', `/missions/${mission.id}/plan`, yaml, {
      'content-type': 'application/yaml',
    })
    expect(changed.body).toMatchObject({ planVersion: 2, state: 'awaiting_approval' })
    expectRefusal(await actOn(w, mission, 'approve', { planVersion: 1 }), 409, 'CHANGED_SINCE', {
      planVersion: 2,
    })
    const second = (await w.call('GET', `/missions/${mission.id}/plan?version=2&since=1`)).body
    expect(second.changes).toMatchObject({
      removed: ['c', 'd'],
      changed: [
        { tempId: 'a', fields: expect.arrayContaining([expect.objectContaining({ field: 'title' })]) },
      ],
    })
    expectRefusal(await w.call('GET', `/missions/${mission.id}/plan?version=3`), 404, 'NOT_FOUND')
    await actOn(w, mission, 'approve')
    expect(await tasksOf(w, mission)).toHaveLength(2)
    const late = await w.call('PUT', `/missions/${mission.id}/plan`, yaml, {
      'content-type': 'application/yaml',
    })
    expect(late).toMatchObject({ status: 200, body: { approvedVersion: 2, proposedVersion: 3 } })
  })

  test('that was made from a version which is not the newest any more is refused, and changes nothing', async () => {
    const w = await workspace()
    const mission = await make(w, { config: {} })
    const put = (title: string, from: number) =>
      w.call('PUT', `/missions/${mission.id}/plan?planVersion=${from}`, { tasks: [{ tempId: 'a', title }] })
    const stored = async () => (await w.call('GET', `/missions/${mission.id}/plans`)).body.items.length
    expect((await put('Mine', 1)).body).toMatchObject({ planVersion: 2 })
    expectRefusal(await put('Theirs', 1), 409, 'CHANGED_SINCE', { planVersion: 2 })
    expect(await stored()).toBe(2)
    await actOn(w, mission, 'approve')
    expectRefusal(await put('Theirs', 1), 409, 'CHANGED_SINCE', { planVersion: 2 })
    expect((await put('Theirs', 2)).body).toMatchObject({ approvedVersion: 2, proposedVersion: 3 })
  })
})
