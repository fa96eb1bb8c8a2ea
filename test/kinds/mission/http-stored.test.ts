import { expect, test } from 'vitest'
import {
  actOn,
  claimOne,
  makeMission,
  planOf,
  showMission,
  submit,
  tasksByTitle,
} from '../../support/http-missions.ts'
import { expectRefusal, useServer } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'

/** Plans and settings are checked again when they are read: what is stored may be older than the code that reads it. */

const { served, workspace } = useServer()

const stored = (text: string, values: unknown[]) =>
  superuser(served().databaseUrl, (client) => client.query(text, values))

test('a stored plan that is no longer valid is refused with every problem, and nothing is created from it', async () => {
  const w = await workspace()
  const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }], { config: {} })
  const body = {
    tasks: [
      { tempId: 'a', complexity: 99 },
      { tempId: 'b', title: 'b', dependsOn: ['gone'] },
    ],
  }
  await stored(
    `update baton.mission_plans p set body = $2 from baton.missions m
      where m.uuid = $1 and p.workspace_id = m.workspace_id and p.mission_id = m.mission_id`,
    [mission.id, JSON.stringify(body)],
  )
  for (const answer of [
    await actOn(w, mission, 'approve'),
    await actOn(w, mission, 'clone'),
    await w.call('GET', `/missions/${mission.id}/graph`),
  ]) {
    expectRefusal(answer, 422, 'PLAN_INVALID')
    expect(answer.body.problems).toMatchObject([
      { at: '/tasks/0/complexity' },
      { at: '/tasks/1/dependsOn/0' },
    ])
  }
  expect(await showMission(w, mission)).toMatchObject({ state: 'awaiting_approval', taskCount: 0 })
  expect((await w.call('GET', '/missions')).body.items).toHaveLength(1)
  expect((await w.call('GET', '/tasks')).body.items).toEqual([])
  // A person can replace it.
  const put = await w.call('PUT', `/missions/${mission.id}/plan`, planOf({ tempId: 'a' }))
  expect(put).toMatchObject({ status: 200, body: { planVersion: 2 } })
  expect(await actOn(w, mission, 'approve')).toMatchObject({ status: 200, body: { state: 'running' } })
})

test('settings of another version are refused in words, and other missions work', async () => {
  const w = await workspace()
  const mission = await makeMission(w, [{ tempId: 'a' }])
  const other = await makeMission(w, [{ tempId: 'b' }])
  await stored(
    `update baton.missions set config = (config::jsonb || '{"version": 99}')::json where uuid = $1`,
    [mission.id],
  )
  for (const answer of [await w.call('GET', `/missions/${mission.id}`), await actOn(w, mission, 'pause')]) {
    expectRefusal(answer, 500, 'STORED_BY_ANOTHER_VERSION')
    expect(answer.body.detail).toContain('(version)')
  }
  const { b } = await tasksByTitle(w, other)
  const held = await claimOne(w, b!)
  await submit(w, held)
  expect(await showMission(w, other)).toMatchObject({ state: 'completed' })
})
