import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  actOn,
  failForGood,
  finish,
  makeMission,
  showMission,
  statesByTitle,
  take,
  tasksByTitle,
  workOff,
} from '../../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** What people do to a mission as a whole, beside approving, pausing and cancelling it. */

const { served, workspace } = useServer()

describe('retrying a mission', () => {
  test('opens it again, with what failed and what was skipped because of that', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }])
    await failForGood(w, await take(w))
    await until(async () => (await showMission(w, mission)).state === 'failed')
    expect(await statesByTitle(w, mission)).toEqual({ a: 'failed', b: 'skipped' })
    const answer = await actOn(w, mission, 'retry', { reason: 'The network is back.' })
    expect(answer).toMatchObject({ status: 200, body: { state: 'running', completedAt: null } })
    expect(await finish(w, 2)).toEqual(['a', 'b'])
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', tasksCompleted: 2 })
    const { items } = (await w.call('GET', `/missions/${mission.id}/events`)).body
    expect(items.find(({ type }: Json) => type === 'mission_retrying')).toMatchObject({
      payload: { reason: 'The network is back.', tasks: 1 },
    })
  })

  test('is refused when nothing failed, and elsewhere the mission does not exist', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const mission = await makeMission(w, [{ tempId: 'a' }])
    expectRefusal(await actOn(w, mission, 'retry'), 409, 'WRONG_STATE')
    expectRefusal(await actOn(other, mission, 'retry'), 404, 'NOT_FOUND')
    expectRefusal(await actOn(w, { id: randomUUID() }, 'retry'), 404, 'NOT_FOUND')
  })
})

describe('counters of a mission', () => {
  const breakCounter = (id: unknown, set: string) =>
    superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.mission_counters set ${set} where mission_id = (select mission_id from baton.missions where uuid = $1)`,
        [id],
      ),
    )

  test('that differ from its tasks are corrected, with an alert', async () => {
    const w = await workspace()
    const [mission, sound] = [
      await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }]),
      await makeMission(w, []),
    ]
    expect((await showMission(w, sound)).state).toBe('completed')
    await breakCounter(mission.id, 'queued = 7, completed = 2')
    await w.post('/coordinator/recover')
    expect((await showMission(w, mission)).tasksByState).toEqual({ queued: 2 })
    const alerts = await w.happens('alert_raised')
    expect(alerts).toMatchObject([
      {
        payload: {
          alert: 'counter_drift',
          subject: 'MISSION_COUNTER_DRIFT',
          error: expect.stringContaining('queued was 7, but there are 2; completed was 2, but there are 0'),
        },
      },
    ])
    expect((await w.post('/coordinator/recover')).body.did.countersCorrected).toBe(0)
  })

  test('are each their own when one request is about tasks of several missions and of none', async () => {
    const w = await workspace()
    const [first, second] = [
      await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }]),
      await makeMission(w, [{ tempId: 'c' }]),
    ]
    const { a, b } = await tasksByTitle(w, first)
    const { c } = await tasksByTitle(w, second)
    const taskIds = [(await w.make()).id, a!.id, c!.id, b!.id]
    const counts = async () => [
      (await showMission(w, first)).tasksByState,
      (await showMission(w, second)).tasksByState,
    ]
    expect(await counts()).toEqual([{ queued: 2 }, { queued: 1 }])
    await w.post('/claims/batch', { agent: 'alpha', session: 's-alpha', taskIds: taskIds.slice(0, 3) })
    expect(await counts()).toEqual([{ queued: 1, assigned: 1 }, { assigned: 1 }])
    const results = taskIds.slice(0, 3).map((taskId) => ({ taskId, ...fence('s-alpha', 1), result: 1 }))
    await w.post('/results/batch', { results })
    expect(await counts()).toEqual([{ queued: 1, completed: 1 }, { completed: 1 }])
    expect([(await showMission(w, first)).state, (await showMission(w, second)).state]).toEqual([
      'running',
      'completed',
    ])
    expect((await w.post('/coordinator/recover')).body.did.countersCorrected).toBe(0)
  })

  test('that are too high keep it from ending only until they are corrected', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    await actOn(w, mission, 'pause')
    await breakCounter(mission.id, 'queued = 5')
    await w.post('/coordinator/recover')
    await actOn(w, mission, 'resume')
    expect(await workOff(w)).toEqual(['a'])
    expect((await showMission(w, mission)).state).toBe('completed')
  })
})

describe('a mission after another', () => {
  test('begins when that one has ended, however it ended', async () => {
    const w = await workspace()
    const [first, second] = [await makeMission(w, [{ tempId: 'a' }]), await makeMission(w, [{ tempId: 'b' }])]
    const next = await makeMission(w, [{ tempId: 'c' }], { after: first.id })
    const other = await makeMission(w, [{ tempId: 'd' }], { after: second.id })
    expect(next).toMatchObject({ state: 'pending', after: first.id, taskCount: 0 })
    await actOn(w, second, 'cancel')
    await until(async () => (await showMission(w, other)).state === 'running')
    expect((await showMission(w, next)).state).toBe('pending')
    expect((await finish(w, 3)).sort()).toEqual(['a', 'c', 'd'])
    expect(await showMission(w, next)).toMatchObject({ state: 'completed', after: first.id })
  })

  test('begins at once when that one had ended already, and not before its own time', async () => {
    const w = await workspace()
    const ended = await makeMission(w, [])
    expect(await makeMission(w, [{ tempId: 'a' }], { after: ended.id })).toMatchObject({ state: 'running' })
    const running = await makeMission(w, [{ tempId: 'b' }])
    const startAt = new Date(Date.now() + 3_600_000).toISOString()
    const both = await makeMission(w, [{ tempId: 'c' }], { after: running.id, startAt })
    await workOff(w, 'alpha', 0)
    expect((await showMission(w, running)).state).toBe('completed')
    await w.post('/coordinator/recover')
    expect(await showMission(w, both)).toMatchObject({ state: 'pending', startAt })
    expect((await w.post('/coordinator/recover')).body.did.missionsSettled).toBe(0)
  })

  test('is refused when it names no mission of its workspace', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const theirs = await makeMission(other, [{ tempId: 'a' }])
    for (const after of [theirs.id, randomUUID(), 'first'])
      expectRefusal(
        await w.post('/missions', { goal: 'x', plan: { tasks: [] }, after }),
        400,
        'VALIDATION_FAILED',
      )
  })
})
