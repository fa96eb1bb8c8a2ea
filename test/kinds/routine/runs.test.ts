import { expect, test } from 'vitest'
import { eventually } from '../../support/recovery.ts'
import { useFleets } from '../../support/runs.ts'

/** Routines whose missions are worked on by agents that Baton runs. */

const { fleet } = useFleets()

test('a command that verifies finds the variables in its environment, and never in its text', async () => {
  const w = await fleet()
  await w.script('dev', `console.log(JSON.stringify({ result: { done: true } }))`)
  const what = `a"; touch evil; $(touch evil)\n'`
  const checks = [
    ...['test "$BATON_VAR_count" = 3', 'test -n "$BATON_VAR_what"', 'test ! -e evil'],
    // Its own text is as it was written.
    `test '{{what}}' = '{{''what}}'`,
  ]
  const verification = { kind: 'command', command: checks.join(' && ') }
  const routine = await w.post('/routines', {
    name: 'Checked',
    plan: { tasks: [{ tempId: 'a', title: 'Make it', agent: 'dev', verification }] },
    variables: { properties: { what: { type: 'string' }, count: { type: 'integer', default: 3 } } },
  })
  expect(routine).toMatchObject({ status: 201 })
  const started = await w.post(`/routines/${routine.body.id}/run`, { variables: { what } })
  expect(started).toMatchObject({ status: 201 })
  await eventually(async () => {
    const { body } = await w.call('GET', `/missions/${started.body.missionId}`)
    return body.state === 'completed'
  })
  const { items } = (await w.call('GET', `/routines/${routine.body.id}/runs`)).body
  expect(items).toMatchObject([{ state: 'completed', score: 1, variables: { what, count: 3 } }])
})
