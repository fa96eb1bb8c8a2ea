import { describe, expect, test } from 'vitest'
import {
  actOn,
  failForGood,
  makeMission,
  type PlannedTask,
  planOf,
  showMission,
  statesByTitle,
  submit,
  take,
  tasksByTitle,
  workOff,
} from '../../support/http-missions.ts'
import { expectRefusal, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** A newer plan for a mission that runs. */

const { served, workspace } = useServer()

const propose = (w: Workspace, { id }: Json, ...tasks: PlannedTask[]) =>
  w.call('PUT', `/missions/${id}/plan`, planOf(...tasks))
interface Preview {
  added: string[]
  changed: { tempId: string; fields: string[]; when: string }[]
  cancelled: { tempId: string }[]
  kept: { tempId: string; because: string | null }[]
}
const brief = (shown: Json) => {
  const { added, changed, cancelled, kept } = shown.preview as Preview
  return {
    added,
    changed: changed.map(({ tempId, fields, when }) => [tempId, when, ...fields]),
    cancelled: cancelled.map(({ tempId }) => tempId),
    kept: kept.map(({ tempId, because }) => [tempId, because]),
  }
}
const A = { tempId: 'a' }
const B = { tempId: 'b', dependsOn: ['a'] }
const C = { tempId: 'c', dependsOn: ['b'] }

describe('a newer plan for a mission that runs', () => {
  test('is a proposal: the mission continues with the approved one, and shows what would change', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, B, C])
    await submit(w, await take(w))
    const answer = await propose(w, mission, A, { ...B, description: 'another way' }, { tempId: 'd' })
    expect(answer).toMatchObject({
      status: 200,
      body: { state: 'running', planVersion: 2, approvedVersion: 1, proposedVersion: 2 },
    })
    expect(brief(answer.body)).toEqual({
      added: ['d'],
      changed: [['b', 'now', 'description']],
      cancelled: ['c'],
      kept: [['a', null]],
    })
    expect(await showMission(w, mission)).toEqual(answer.body)
    expect(await workOff(w)).toEqual(['b', 'c'])
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', proposedVersion: null })
  })

  test('adds, changes and cancels tasks by their tempIds, in one step', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, B, C])
    await submit(w, await take(w))
    const before = await tasksByTitle(w, mission)
    const b = { ...B, title: 'bb', model: 'opus', priority: 9, capabilities: ['sql'], dependsOn: ['e'] }
    const { body } = await propose(w, mission, A, b, { tempId: 'e', dependsOn: ['a'] })
    const seen = { planVersion: 2, digest: body.planDigest, preview: body.preview.digest }
    const approved = await actOn(w, mission, 'approve', seen)
    expect(approved).toMatchObject({ status: 200, body: { approvedVersion: 2, proposedVersion: null } })
    expect(await statesByTitle(w, mission)).toEqual({
      ...{ a: 'completed', bb: 'pending', c: 'cancelled', e: 'queued' },
    })
    const shown = (await w.call('GET', `/tasks/${before.b!.id}`)).body
    expect(shown).toMatchObject({ title: 'bb', model: 'opus', priority: 9, requiredCapabilities: ['sql'] })
    expect(shown.blockedBy.map(({ title }: Json) => title)).toEqual(['e'])
    expect((await showMission(w, mission)).tasksByState).toEqual({
      ...{ completed: 1, pending: 1, cancelled: 1, queued: 1 },
    })
    expect(await workOff(w, 'alpha', 500)).toEqual(['e'])
    const skilled = { agent: 'alpha', session: 's-alpha', capabilities: ['sql'] }
    const [claim] = (await w.post('/claims/next', { ...skilled, waitMs: 5_000 })).body.claims
    expect(claim.task.title).toBe('bb')
    await submit(w, claim)
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', taskCount: 4 })
    const { items } = (await w.call('GET', `/missions/${mission.id}/events`)).body
    expect(items.find(({ type }: Json) => type === 'mission_plan_changed')).toMatchObject({
      payload: { version: 2, added: 1, changed: 1, cancelled: 1 },
    })
  })

  test('lets a task wait for nothing any more, or for more than before', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, B, { tempId: 'x' }])
    await propose(w, mission, A, { tempId: 'b' }, { tempId: 'x', dependsOn: ['b'] })
    await actOn(w, mission, 'approve')
    expect(await statesByTitle(w, mission)).toEqual({ a: 'queued', b: 'queued', x: 'pending' })
    const done = await workOff(w)
    expect(done.indexOf('x')).toBeGreaterThan(done.indexOf('b'))
    expect((await showMission(w, mission)).state).toBe('completed')
  })

  test('leaves what was begun to its holder: its next attempt gets the new words', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, { tempId: 'z' }])
    const held = await take(w)
    const { body } = await propose(w, mission, { ...A, title: 'aa', dependsOn: ['z'] }, { tempId: 'z' })
    expect(brief(body).changed).toEqual([['a', 'next_attempt', 'title']])
    await actOn(w, mission, 'approve', { preview: body.preview.digest })
    const shown = (await w.call('GET', `/tasks/${held.taskId}`)).body
    expect(shown).toMatchObject({ title: 'aa', state: 'assigned', generation: 1, dependsOn: [] })
    expect(await submit(w, held)).toMatchObject({ status: 200 })
  })

  test('has the result of what is held judged as it says, and leaves one that is being judged to its judge', async () => {
    const w = await workspace()
    const human = { verification: { kind: 'human' } }
    const mission = await makeMission(w, [A, { tempId: 'z', ...human }])
    const [a, z] = [await take(w), await take(w)]
    await submit(w, z)
    await propose(w, mission, { ...A, ...human }, { tempId: 'z' })
    expect(await actOn(w, mission, 'approve')).toMatchObject({ status: 200 })
    expect(await submit(w, a)).toMatchObject({ status: 200 })
    expect(await statesByTitle(w, mission)).toEqual({ a: 'awaiting_human', z: 'awaiting_human' })
    for (const { taskId } of [a, z]) await w.post(`/tasks/${taskId}/approve`)
    expect((await showMission(w, mission)).state).toBe('completed')
  })

  test('cancels what was begun only when the plan or its approval says so', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, { tempId: 'z' }, { tempId: 'k' }])
    for (let i = 0; i < 3; i++) await take(w)
    const { body } = await propose(w, mission, { ...A, cancel: true })
    expect(brief(body)).toMatchObject({
      cancelled: ['a'],
      kept: [
        ['z', 'begun'],
        ['k', 'begun'],
      ],
    })
    expectRefusal(await actOn(w, mission, 'approve', { cancel: ['nowhere'] }), 400, 'VALIDATION_FAILED')
    expect(await actOn(w, mission, 'approve', { cancel: ['z'] })).toMatchObject({ status: 200 })
    expect(await statesByTitle(w, mission)).toEqual({ a: 'cancelled', z: 'cancelled', k: 'assigned' })
  })

  test('is not approved when it would do something else than was shown', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, { tempId: 'z' }])
    const { body } = await propose(w, mission, { ...A, title: 'aa' }, { tempId: 'z', title: 'zz' })
    await take(w)
    const seen = { planVersion: 2, digest: body.planDigest, preview: body.preview.digest }
    const refused = await actOn(w, mission, 'approve', seen)
    expectRefusal(refused, 409, 'CHANGED_SINCE', { planVersion: 2 })
    expect(brief(refused.body).changed).toEqual([
      ['a', 'next_attempt', 'title'],
      ['z', 'now', 'title'],
    ])
    expectRefusal(await actOn(w, mission, 'approve', { planVersion: 1 }), 409, 'CHANGED_SINCE')
    expect(await statesByTitle(w, mission)).toEqual({ a: 'assigned', z: 'queued' })
    const preview = refused.body.preview.digest
    expect(await actOn(w, mission, 'approve', { ...seen, preview })).toMatchObject({ status: 200 })
    expectRefusal(await actOn(w, mission, 'approve'), 409, 'WRONG_STATE')
  })

  test('stays when a command had waited for the mission meanwhile', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A])
    const row = `uuid = '${mission.id}'`
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const paused = await superuser(served().databaseUrl, async (client) => {
      await client.query(`set search_path = baton; begin; select from missions where ${row} for update`)
      const answer = actOn(w, mission, 'pause')
      await until(async () => ((await client.query(waiting)).rowCount ?? 0) > 0)
      await client.query(
        `insert into mission_plans select (jsonb_populate_record(p, '{"version": 2}')).* from mission_plans p
           where p.mission_id = (select m.mission_id from missions m where m.${row})
             and p.workspace_id = (select m.workspace_id from missions m where m.${row});
         update missions set plan_version = 2 where ${row}; commit`,
      )
      return answer
    })
    expect(paused).toMatchObject({
      status: 200,
      body: { state: 'paused', planVersion: 2, approvedVersion: 1 },
    })
    expect((await w.call('GET', `/missions/${mission.id}`)).body).toMatchObject({ planVersion: 2 })
  })

  test('costs what was spent and what is left', async () => {
    const w = await workspace()
    const one = { ...A, estimatedTokens: 1_000, model: 'claude-haiku-4-5' }
    const mission = await makeMission(w, [one, { ...one, tempId: 'z' }])
    await submit(w, await take(w))
    const { body } = await propose(w, mission, one, { ...one, tempId: 'z', estimatedTokens: 5_000 })
    expect(body.estimate.estimatedTokens).toBe(5_000)
  })

  test('keeps tasks that were added beside the plan', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A])
    await w.post('/tasks', { title: 'extra', mission: mission.id })
    const { body } = await propose(w, mission, { tempId: 'b' })
    expect(brief(body)).toMatchObject({ added: ['b'], cancelled: ['a'], kept: [] })
    await actOn(w, mission, 'approve')
    expect(await statesByTitle(w, mission)).toEqual({ a: 'cancelled', b: 'queued', extra: 'queued' })
  })

  test('is refused with every problem of it, for a mission that has ended, and when it cancels before anything runs', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A])
    const cyclic = await propose(w, mission, { ...A, dependsOn: ['b'] }, B)
    expectRefusal(cyclic, 422, 'PLAN_INVALID')
    expect(cyclic.body.problems[0].message).toContain('a → b → a')
    await failForGood(w, await take(w))
    expectRefusal(await propose(w, mission, A, { tempId: 'b' }), 409, 'WRONG_STATE')
    const plan = planOf({ ...A, cancel: true })
    expectRefusal(await w.post('/missions', { goal: 'x', plan }), 422, 'PLAN_INVALID')
  })
})

describe('a newer plan for a mission that runs, rejected', () => {
  const items = async (w: Workspace) => (await w.call('GET', '/inbox')).body.items
  const plans = async (w: Workspace, { id }: Json) =>
    (await w.call('GET', `/missions/${id}/plans`)).body.items.map(
      ({ version, isApproved, isRejected }: Json) => [version, isApproved, isRejected],
    )

  test('is dropped: the mission continues with the plan it has, and the version stays readable', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A, B])
    await propose(w, mission, A, { tempId: 'z' })
    const [item] = await items(w)
    expect(item).toMatchObject({ id: `plan:${mission.id}:2`, actions: ['approve', 'reject', 'cancel'] })
    const answer = await actOn(w, mission, 'reject', { planVersion: 2, comment: 'no need' })
    expect(answer).toMatchObject({
      status: 200,
      body: { state: 'running', planVersion: 1, approvedVersion: 1, proposedVersion: null },
    })
    expect(answer.body.planDigest).toBe(mission.planDigest)
    expect(answer.body).not.toHaveProperty('preview')
    expect(await items(w)).toEqual([])
    expect(await plans(w, mission)).toEqual([
      [2, false, true],
      [1, true, false],
    ])
    const kept = (await w.call('GET', `/missions/${mission.id}/plan?version=2`)).body
    expect(kept.plan.tasks.map(({ tempId }: Json) => tempId)).toEqual(['a', 'z'])
    const events = (await w.call('GET', `/missions/${mission.id}/events`)).body.items
    expect(events.find(({ type }: Json) => type === 'mission_plan_rejected')).toMatchObject({
      payload: { version: 2, comment: 'no need', follows: 1 },
    })
    expect(await workOff(w)).toEqual(['a', 'b'])
  })

  test('is not approved any more, and the next proposal is another version', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [A])
    await propose(w, mission, A, { tempId: 'z' })
    await actOn(w, mission, 'reject')
    expectRefusal(await actOn(w, mission, 'approve', { planVersion: 2 }), 409, 'WRONG_STATE')
    expectRefusal(await actOn(w, mission, 'reject'), 409, 'WRONG_STATE')
    const { body } = await propose(w, mission, A, { tempId: 'y' })
    expect(body).toMatchObject({ planVersion: 3, proposedVersion: 3 })
    expectRefusal(await actOn(w, mission, 'reject', { planVersion: 2 }), 409, 'CHANGED_SINCE')
    expect(await actOn(w, mission, 'approve', { planVersion: 3 })).toMatchObject({ status: 200 })
    expect(await plans(w, mission)).toEqual([
      [3, true, false],
      [2, false, true],
      [1, false, false],
    ])
    expect(await statesByTitle(w, mission)).toEqual({ a: 'queued', y: 'queued' })
  })

  test('is not sent back to the planner: a sentence says what to do instead', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/planner', { capabilities: ['planning'] })
    const mission = await makeMission(w, [A])
    await propose(w, mission, A, { tempId: 'z' })
    // biome-ignore lint/suspicious/noThenProperty: a field of a request
    const refused = await actOn(w, mission, 'reject', { then: 'replan' })
    expectRefusal(refused, 409, 'WRONG_STATE')
    expect(refused.body.detail).toContain('propose another plan')
    const [item] = await items(w)
    const asked = await w.post(`/inbox/${item.id}/answer`, { decision: 'replan' })
    expectRefusal(asked, 400, 'VALIDATION_FAILED')
    const answer = await w.post(`/inbox/${item.id}/answer`, { decision: 'reject' })
    expect(answer).toMatchObject({ status: 200, body: { state: 'running' } })
    expect(await showMission(w, mission)).toMatchObject({ proposedVersion: null, planVersion: 1 })
  })
})
