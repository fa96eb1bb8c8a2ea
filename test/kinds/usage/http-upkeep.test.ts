import { expect, test } from 'vitest'
import { makeMission, showMission, tasksByTitle } from '../../support/http-missions.ts'
import { fence, type Json, type Task, useServer } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'

const { served, workspace } = useServer()

const change = (text: string, id: unknown) =>
  superuser(served().databaseUrl, (client) => client.query(text, [id]))

test('totals that differ from their rows in the ledger are repaired and told, of claims and then of their mission', async () => {
  const w = await workspace()
  const mission = await makeMission(w, [{ tempId: 'a' }])
  const { a } = (await tasksByTitle(w, mission)) as Record<string, Task>
  expect((await w.claim(a!, 'alpha')).body.reason).toBe('GRANTED')
  const models = ['x', 'y'].map((model) => ({ model, inputTokens: 100, outputTokens: 10, costUsd: '0.25' }))
  const report = (number: number, usage: Json[]) =>
    w.on(a!, 'usage', { ...fence('s-alpha', 1), number, usage })
  expect((await report(1, models)).body).toMatchObject({ tokensUsed: 220, costUsd: '0.5' })
  const recovered = async () => (await w.post('/coordinator/recover')).body.did.ledgerCorrected
  expect(await recovered(), 'nothing is wrong yet').toBe(0)

  await change(
    `update baton.usage_sources set input_tokens = 7, cost_usd = 9, booked = '{}' where source_id = $1`,
    a!.id,
  )
  await change(
    `update baton.mission_counters set tokens = 5, usd = 0.1
      where mission_id = (select mission_id from baton.missions where uuid = $1)`,
    mission.id,
  )
  expect(await recovered()).toBe(2)
  expect(await showMission(w, mission)).toMatchObject({ tokensUsed: 220, costUsd: '0.5' })
  expect(await w.read(a!)).toMatchObject({ tokensUsed: 220, costUsd: '0.5' })
  const alerts = (await w.events()).filter(({ type }: Json) => type === 'counters_corrected')
  expect(alerts.map(({ payload }: { payload: Json }) => payload)).toMatchObject([
    {
      counter: 'LEDGER_DRIFT',
      error: expect.stringContaining('input_tokens 7 instead of 200, cost_usd 9 instead of 0.5'),
    },
    { counter: 'MISSION_SPENDING_DRIFT', error: expect.stringContaining('tokens 5 instead of 220, usd 0.1') },
  ])
  // What is booked by model is known again: the same report adds nothing, and a larger one what is more.
  expect((await report(1, models)).body).toMatchObject({ isBooked: false, tokensUsed: 220 })
  const more = models.map((one) => ({ ...one, outputTokens: 20 }))
  expect((await report(2, more)).body).toMatchObject({ isBooked: true, tokensUsed: 240, costUsd: '0.5' })
  expect(await recovered()).toBe(0)
})
