import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  claimOne,
  type Held,
  makeMission,
  showMission,
  submit,
  take,
  tasksByTitle,
  workOff,
} from '../../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'

/** Holders add tasks to their missions, and continue after them. */

const { workspace } = useServer()

const as = ({ generation }: Json) => fence('s-alpha', Number(generation))
const addTo = (w: Workspace, parent: Held, body: Json = {}) =>
  w.post(`/tasks/${parent.taskId}/children`, { ...as(parent), title: 'child', ...body })
const goOnAfter = (w: Workspace, parent: Held, after: unknown) =>
  w.post(`/tasks/${parent.taskId}/continue`, { ...as(parent), after })

const begin = async (task: Json = {}, body: Json = {}) => {
  const w = await workspace()
  const mission = await makeMission(w, [{ tempId: 'a', ...task }], body)
  return { w, mission, parent: await take(w) }
}

describe('POST /tasks/:id/children', () => {
  test('adds a task to the mission, with the priority of the one that adds it', async () => {
    const { w, mission, parent } = await begin({ priority: 7 })
    const added = await addTo(w, parent, { tempId: 'b', description: 'more', complexity: 2 })
    expect(added).toMatchObject({
      status: 201,
      body: { missionId: mission.id, parentId: null, priority: 7, state: 'queued' },
    })
    const { body } = await w.call('GET', `/tasks/${added.body.id}`)
    expect(body).toMatchObject({
      complexity: 2,
      plan: { childOf: parent.taskId, tempId: 'b', sequenceNumber: null },
    })
    const events = (await w.call('GET', `/tasks/${added.body.id}/events`)).body.items
    expect(events[0]).toMatchObject({ type: 'task_created', payload: { childOf: parent.taskId } })
    await submit(w, parent)
    expect((await showMission(w, mission)).state).toBe('running')
    expect(await workOff(w, 'alpha', 0)).toEqual(['child'])
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', tasksCompleted: 2 })
  })

  test('makes a task once for each tempId of a parent; another one under it is refused', async () => {
    const { w, mission, parent } = await begin()
    const first = await addTo(w, parent, { tempId: 'b' })
    const again = await addTo(w, parent, { tempId: 'b' })
    expect(again.body.id).toBe(first.body.id)
    const other = await addTo(w, parent, { tempId: 'b', title: 'something else' })
    expectRefusal(other, 409, 'ALREADY_EXISTS')
    expect(other.body.errors).toMatchObject([{ field: 'tempId' }])
    const child = await claimOne(w, first.body)
    const below = await addTo(w, { ...child, taskId: first.body.id }, { tempId: 'b' })
    expect(below).toMatchObject({ status: 201 })
    expect((await showMission(w, mission)).taskCount).toBe(3)
  })

  test('needs the claim of the task', async () => {
    const { w, parent } = await begin()
    const path = `/tasks/${parent.taskId}/children`
    const body = { title: 'x', ...as(parent) }
    expectRefusal(await w.post(path, { ...body, session: 'other' }), 409, 'SESSION_MISMATCH')
    expectRefusal(await w.post(path, { ...body, generation: 2 }), 409, 'FUTURE_GENERATION')
    expectRefusal(await w.post(`/tasks/${randomUUID()}/children`, body), 404, 'NOT_FOUND')
    await submit(w, parent)
    expectRefusal(await addTo(w, parent), 409, 'NO_CLAIM')
  })

  test.each([
    ['a higher priority', { priority: 6 }, 'priority'],
    ['a mission of its own', { mission: randomUUID() }, 'mission'],
    ['a key', { key: 'A-001-x' }, 'key'],
    ['a whole that it would be a part of', { parentId: randomUUID() }, 'parentId'],
    ['a contractor', { contractor: { template: 'dev' } }, 'contractor'],
    ['a command that would judge it', { verification: { kind: 'command', command: 'true' } }, 'verification'],
    ['a dependency that does not exist', { dependsOn: [randomUUID()] }, 'dependsOn[0]'],
    ['a name that is too long', { tempId: 'x'.repeat(101) }, 'tempId'],
    ['an output schema that is none', { outputSchema: { type: 'nonsense' } }, 'outputSchema'],
  ])('refuses %s, and makes nothing', async (_what, body, field) => {
    const { w, mission, parent } = await begin({ priority: 5 })
    const refused = await addTo(w, parent, body)
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(String(refused.body.errors[0].field).startsWith(field)).toBe(true)
    expect((await showMission(w, mission)).taskCount).toBe(1)
  })

  test('is refused when the mission is being stopped', async () => {
    const { w, mission, parent } = await begin()
    await w.post(`/missions/${mission.id}/cancel`, {})
    expect((await addTo(w, parent)).status).toBe(409)
  })

  test('stays when another plan is approved', async () => {
    const { w, mission, parent } = await begin()
    await addTo(w, parent, { tempId: 'b' })
    const plan = { tasks: [{ tempId: 'a', title: 'a' }, { tempId: 'c' }] }
    await w.call('PUT', `/missions/${mission.id}/plan`, plan)
    const { proposedVersion } = await showMission(w, mission)
    const approved = await w.post(`/missions/${mission.id}/approve`, { planVersion: proposedVersion })
    expect(approved).toMatchObject({ status: 200 })
    const tasks = await tasksByTitle(w, mission)
    expect(Object.values(tasks).map(({ state }) => state)).not.toContain('cancelled')
    expect(tasks.child).toMatchObject({ state: 'queued' })
  })
})

describe('POST /tasks/:id/continue with after', () => {
  test('frees the claim until the tasks have ended, and hands their results on', async () => {
    const { w, mission, parent } = await begin({}, { config: { autonomy: 'full_auto', maxParallel: 1 } })
    const ids = [await addTo(w, parent, { title: 'b' }), await addTo(w, parent, { title: 'c' })].map(
      ({ body }) => body.id as string,
    )
    expect(await goOnAfter(w, parent, ids)).toMatchObject({
      status: 200,
      body: { reason: 'CONTINUING', resumeAfterMs: 0, task: { state: 'pending', attempt: 0, holder: null } },
    })
    expect((await workOff(w)).sort()).toEqual(['a', 'b', 'c'])
    const shown = (await w.call('GET', `/tasks/${parent.taskId}`)).body
    expect(shown).toMatchObject({ state: 'completed', generation: 2, attempt: 1 })
    expect(shown.blockedBy.map(({ title, kind }: Json) => [title, kind]).sort()).toEqual([
      ['b', 'data'],
      ['c', 'data'],
    ])
    const events = (await w.call('GET', `/tasks/${parent.taskId}/events`)).body.items
    const later = events.find(({ type }: Json) => type === 'task_continues_later')
    expect(later).toMatchObject({ from: 'assigned', to: 'pending', payload: { after: ids, agent: 'alpha' } })
    const { items } = (await w.call('GET', `/tasks/${parent.taskId}/claims`)).body
    expect(items[0]).toMatchObject({ releaseReason: 'CONTINUES_LATER', state: 'released' })
    expect((await showMission(w, mission)).state).toBe('completed')
  })

  test.each([
    ['nothing', []],
    ['a number', 1],
    ['text', 'b'],
    ['too many', Array.from({ length: 101 }, () => randomUUID())],
    ['a task that does not exist', [randomUUID()]],
  ])('refuses %s', async (_what, after) => {
    const { w, parent } = await begin()
    expectRefusal(await goOnAfter(w, parent, after), 400, 'VALIDATION_FAILED')
    expect((await w.read({ id: parent.taskId })).state).toBe('assigned')
  })

  test('refuses a task that waits for this one, with the whole cycle', async () => {
    const { w, parent } = await begin()
    const behind = await addTo(w, parent, { dependsOn: [parent.taskId] })
    const refused = await goOnAfter(w, parent, [behind.body.id])
    expectRefusal(refused, 409, 'DEPENDENCY_CYCLE')
    expect(refused.body.cycle).toContain(behind.body.id)
  })
})
