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
import { until } from './support/nodes.ts'

/** What people do to a mission as a whole, beside approving, pausing and cancelling it. */

const { workspace } = useServer()

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
