import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  actOn,
  failForGood,
  makeMission,
  showMission,
  statesByTitle,
  take,
  workOff,
} from './support/http-missions.ts'
import { expectRefusal, type Json, useServer } from './support/http-workspace.ts'
import { superuser, until } from './support/nodes.ts'

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
    expect(await workOff(w)).toEqual(['a', 'b'])
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
    const { items } = (await w.call('GET', '/events')).body
    const alerts = items.filter(({ type }: Json) => type === 'alert_raised')
    expect(alerts).toMatchObject([
      {
        payload: {
          alert: 'MISSION_COUNTER_DRIFT',
          error: expect.stringContaining('queued was 7, but there are 2; completed was 2, but there are 0'),
        },
      },
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
