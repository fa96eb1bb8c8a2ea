import { expect, test } from 'vitest'
import { eventually } from '../../support/recovery.ts'
import { type Seen, useFleets } from '../../support/runs.ts'

/** An agent that Baton runs adds tasks below a task of no mission, and continues when they have ended. */

const { fleet } = useFleets()

/** The first task adds two others below it and continues after them; each of these says its title. */
const DIVIDES = `
let prompt = ''
for await (const chunk of process.stdin) prompt += chunk
const say = (line) => console.log(JSON.stringify(line))
if (!prompt.includes('Ask around')) say({ result: 'said by a child' })
else if (!prompt.includes('said by a child')) {
  for (const tempId of ['one', 'two']) say({ baton: 'task', tempId, title: 'Find ' + tempId, agent: 'dev' })
  say({ baton: 'task', title: 'Too important', priority: 10 })
  say({ continue: true, after: ['one', 'two'] })
} else say({ result: { isTold: prompt.includes('Find one') && prompt.includes('Find two') } })
`

test('adds tasks below its own, continues after them, and gets their results', async () => {
  const w = await fleet()
  await w.call('POST', '/projects', { slug: 'shop', name: 'Shop' })
  await w.script('dev', DIVIDES, { maxConcurrentTasks: 1 })
  const task = await w.make({ agent: 'dev', title: 'Ask around', project: 'shop', priority: 6 })
  await w.taskIn(task, 'completed')
  expect(await w.resultsOf(task)).toMatchObject([{ accepted: true, result: { isTold: true } }])
  const all = (await w.call('GET', '/tasks?limit=50')).body.items.filter(({ id }: Seen) => id !== task.id)
  expect(all.map(({ title }: Seen) => title).sort()).toEqual(['Find one', 'Find two'])
  for (const child of all) {
    expect(child).toMatchObject({ state: 'completed', missionId: null, project: 'shop', priority: 6 })
    const whole = (await w.call('GET', `/tasks/${child.id}`)).body
    expect(whole.plan).toMatchObject({ childOf: task.id })
  }
  // One waits for the other, so an agent with one slot does all of it.
  const runs = await eventually(async () => {
    const over = await w.over('dev', 4)
    return over.length === 4 && over
  })
  expect(runs.map(({ status }: Seen) => status)).toEqual(Array(4).fill('succeeded'))
})

test('a task may not continue after one that is not below the same task', async () => {
  const w = await fleet()
  const [task, other] = [await w.make(), await w.make()]
  const holder = { agent: 'a', session: 's' }
  await w.post(`/tasks/${task.id}/claim`, holder)
  const fence = { session: 's', generation: 1 }
  const answer = await w.post(`/tasks/${task.id}/continue`, { ...fence, after: [other.id] })
  expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
  expect(answer.body.detail).toContain('names no task that agents added below the same task')
  const child = (await w.post(`/tasks/${task.id}/children`, { ...fence, title: 'child' })).body
  const later = await w.post(`/tasks/${task.id}/continue`, { ...fence, after: [child.id] })
  expect(later).toMatchObject({ status: 200, body: { task: { state: 'pending' } } })
})
