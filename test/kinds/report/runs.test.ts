import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { FULL_AUTO, makeMission, showMission, tasksByTitle } from '../../support/http-missions.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** Reports on what agents did that Baton runs, and by them. */

const { fleet } = useFleets()

const reportOn = (w: Fleet, path: string, version: number): Promise<Seen> =>
  eventually(async () => {
    const { body } = await w.call('GET', `${path}/report`)
    return body.version >= version && body
  })

/** Reports on its task, on its mission and on others in PLACES, with its secret; the statuses are its result. */
const TELLS = `
  const { BATON_URL: api, BATON_API_KEY: token, BATON_TASK_ID: task, SECRET, PLACES } = process.env
  const statuses = []
  for (const place of JSON.parse(PLACES).map((one) => one.replace('OWN', task))) {
    const { status } = await fetch(api + '/api/v1' + place + '/report', {
      method: 'POST', body: JSON.stringify({ markdown: '# By its agent ' + SECRET }),
      headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' } })
    statuses.push(status)
  }
  console.log(JSON.stringify({ baton: 'usage', usage: { inputTokens: 400, outputTokens: 50 } }))
  console.log(JSON.stringify({ result: statuses, summary: 'Done with ' + SECRET }))`

test('an agent reports on its own task and mission with the token of its run; its secrets are in no report', async () => {
  const w = await fleet()
  const secret = `secret-${randomBytes(8).toString('hex')}`
  const other = await makeMission(w, [{ tempId: 'x', agent: 'nobody' }])
  const { x } = await tasksByTitle(w, other)
  const mission = (
    await w.post('/missions', { goal: 'Tell', plan: { tasks: [{ tempId: 'a', agent: 'dev' }] } })
  ).body
  const PLACES = JSON.stringify([
    ...['/tasks/OWN', `/missions/${mission.id}`, `/tasks/${x!.id}`, `/missions/${other.id}`],
  ])
  await w.script('dev', TELLS, { env: { SECRET: secret, PLACES } })
  await w.post(`/missions/${mission.id}/approve`)
  const { a } = await tasksByTitle(w, mission)
  const onTask = await reportOn(w, `/tasks/${a!.id}`, 2)
  const [result] = await w.resultsOf(a as Seen)
  expect(result.result).toEqual([201, 201, 403, 403])
  const [run] = await w.runsOf('dev')
  expect(onTask).toMatchObject({ version: 2, source: 'rule' })
  expect(onTask.markdown).toContain('> Done with [redacted]')
  // Its run was over by then.
  expect(onTask.markdown).toContain('450 tokens')
  expect(onTask.markdown).toContain(`[run](/api/v1/runs/${run.id}) of dev: succeeded`)
  const own = (await w.call('GET', `/tasks/${a!.id}/report?version=1`)).body
  expect(own).toMatchObject({
    ...{ source: 'submitted', markdown: '# By its agent [redacted]' },
    author: { kind: 'agent', id: 'dev' },
  })
  const whole = await reportOn(w, `/missions/${mission.id}`, 2)
  expect(whole.markdown).toContain('450 tokens')
  const { items } = (await w.call('GET', `/missions/${mission.id}/reports`)).body
  for (const { id } of items)
    expect(JSON.stringify((await w.call('GET', `/reports/${id}`)).body)).not.toContain(secret)
  expect(items).toHaveLength(4)
})

test('the agent that a mission names is run for its report, and what that costs is part of the totals', async () => {
  const w = await fleet()
  const said = JSON.stringify({ result: '# Well done', summary: 'reported' })
  await w.script(
    'reporter',
    `console.log(JSON.stringify({ baton: 'usage', usage: { inputTokens: 30, outputTokens: 3 } }))
     console.log(${JSON.stringify(said)})`,
  )
  await w.script('dev', `console.log(JSON.stringify({ result: 1, summary: 'It works.' }))`)
  const config = { ...FULL_AUTO, reportAgent: 'reporter' }
  const mission = await makeMission(w, [{ tempId: 'a', agent: 'dev' }], { config })
  const report = await reportOn(w, `/missions/${mission.id}`, 2)
  expect(report).toMatchObject({
    ...{ version: 2, source: 'agent', markdown: '# Well done' },
    author: { kind: 'agent', id: 'reporter' },
  })
  expect(await showMission(w, mission)).toMatchObject({ state: 'completed', taskCount: 1, tokensUsed: 33 })
})
