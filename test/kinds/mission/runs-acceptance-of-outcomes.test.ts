import { expect, test } from 'vitest'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** Missions whose outcome a person accepts, with a planner and a worker that Baton runs. */

const { fleet } = useFleets()

const says = (result: unknown) => `console.log(JSON.stringify({ result: ${JSON.stringify(result)} }))`
const task = (tempId: string) => ({ tempId, title: tempId, agent: 'writer' })
const ACCEPTED = { autonomy: 'full_auto', acceptance: 'human' }

async function start(w: Fleet, body: Json): Promise<Seen> {
  await w.script('writer', says('a text'))
  const answer = await w.post('/missions', { goal: 'Two texts', config: ACCEPTED, ...body })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const show = async (w: Fleet, { id }: Seen): Promise<Seen> => (await w.call('GET', `/missions/${id}`)).body
const item = (w: Fleet, kind: string): Promise<Seen> =>
  eventually(async () => {
    const { items } = (await w.call('GET', '/inbox')).body
    return items.find((one: Seen) => one.kind === kind)
  })
const decide = (w: Fleet, { id }: Seen, decision: string, more: Json = {}) =>
  w.post(`/inbox/${id}/answer`, { decision, ...more })
const completed = (w: Fleet, mission: Seen) =>
  eventually(async () => (await show(w, mission)).state === 'completed')
const events = async (w: Fleet, { id }: Seen): Promise<string[]> =>
  (await w.call('GET', `/missions/${id}/events?limit=200`)).body.items.map(({ type }: Seen) => type)

test('a mission whose work is done stays running until a person accepts its outcome', async () => {
  const w = await fleet()
  const mission = await start(w, { plan: { tasks: [task('a')] } })
  const waiting = await item(w, 'outcome')
  expect(waiting).toMatchObject({ about: { missionId: mission.id }, title: 'Two texts', reason: null })
  expect(waiting.actions).toEqual(['approve', 'reject', 'replan', 'cancel'])
  // Upkeep does not end it, nor find it stalled.
  await w.pass()
  expect(await show(w, mission)).toMatchObject({ state: 'running', tasksCompleted: 1, completedAt: null })
  expect(await events(w, mission)).not.toContain('stall_detected')
  expect((await w.call('GET', `/inbox/${waiting.id}`)).body.mission).toMatchObject({ id: mission.id })
  expect(await decide(w, waiting, 'approve')).toMatchObject({ status: 200, body: { state: 'completed' } })
  await completed(w, mission)
  expect((await w.call('GET', '/inbox')).body.items).toEqual([])
})

test('an outcome that is rejected is planned again by its planner, and accepted when what was missing is there', async () => {
  const w = await fleet()
  // Its second plan has what it was told is missing.
  await w.script(
    'planner',
    `let prompt = ''
     for await (const chunk of process.stdin) prompt += chunk
     const more = prompt.includes('The second text') ? [${JSON.stringify(task('b'))}] : []
     console.log(JSON.stringify({ result: { tasks: [${JSON.stringify(task('a'))}, ...more] } }))`,
  )
  const mission = await start(w, { planner: { agent: 'planner' } })
  const first = await item(w, 'outcome')
  expect(await decide(w, first, 'replan')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
  expect((await decide(w, first, 'replan', { comment: 'The second text' })).status).toBe(200)
  const next = await item(w, 'plan')
  expect(next).toMatchObject({ about: { missionId: mission.id }, generation: 2 })
  expect(await show(w, mission)).toMatchObject({ state: 'running', planVersion: 2 })
  expect((await decide(w, next, 'approve')).status).toBe(200)
  await eventually(async () => (await show(w, mission)).tasksCompleted === 2)
  const second = await item(w, 'outcome')
  expect((await decide(w, second, 'approve')).status).toBe(200)
  await completed(w, mission)
  expect((await events(w, mission)).filter((type) => type.startsWith('mission_outcome'))).toEqual([
    ...['mission_outcome_ready', 'mission_outcome_declined', 'mission_outcome_ready'],
  ])
})

test('an outcome that is rejected stays in the inbox with what is missing until a person has planned that', async () => {
  const w = await fleet()
  const mission = await start(w, { plan: { tasks: [task('a')] } })
  await item(w, 'outcome')
  const path = `/missions/${mission.id}`
  expect((await w.post(`${path}/reject`, { comment: 'The end' })).body).toMatchObject({ state: 'running' })
  expect(await item(w, 'outcome')).toMatchObject({ reason: 'The end' })
  expect((await w.call('PUT', `${path}/plan`, { tasks: [task('a'), task('b')] })).status).toBe(200)
  await item(w, 'plan')
  expect((await w.call('GET', '/inbox')).body.counts.outcome).toBe(0)
  expect((await w.post(`${path}/approve`, {})).status).toBe(200)
  await eventually(async () => (await show(w, mission)).tasksCompleted === 2)
  await item(w, 'outcome')
  expect((await w.post(`${path}/approve`, {})).body).toMatchObject({ state: 'completed' })
})

test('a planner that makes no plan of what is missing leaves it to a person, and a task done again is work again', async () => {
  const w = await fleet()
  await w.script('planner', says('no plan'))
  const mission = await start(w, { plan: { tasks: [task('a')] }, planner: { agent: 'planner' } })
  await decide(w, await item(w, 'outcome'), 'replan', { comment: 'The end' })
  expect(await item(w, 'outcome')).toMatchObject({ reason: 'The end' })
  expect(await events(w, mission)).toContain('mission_plan_failed')
  const [one] = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items
  const before = await w.post(`/tasks/${one.id}/reset`, {})
  expect(before.status).toBe(200)
  // Done again, it is another outcome: nothing is missing in it so far.
  const again = await eventually(async () => {
    const { items } = (await w.call('GET', '/inbox')).body
    return items.find((seen: Seen) => seen.kind === 'outcome' && seen.reason === null)
  })
  expect((await decide(w, again, 'approve')).body).toMatchObject({ state: 'completed' })
})
