import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectRefusal, type Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { useRunNodes } from '../../support/run-nodes.ts'

/** Agents that Baton runs get the comments on their task and its mission, until a run with them in its prompt succeeds. */

const MINUTES = { timeout: 200_000 }
const nodes = useRunNodes()

/** Its result is what its prompt says. Without a file "works", it fails; while there is a file "waits", it waits. */
const READS = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const prompt = readFileSync(process.env.BATON_PROMPT_FILE, 'utf8')
writeFileSync('told-' + process.env.BATON_GENERATION, prompt)
console.log('waiting')
while (existsSync('waits')) await new Promise((resolve) => setTimeout(resolve, 20))
if (!existsSync('works')) process.exit(1)
console.log(JSON.stringify({ result: { texts: ['one', 'two', 'three', 'to all'].filter((text) => prompt.includes('Comment ' + text + '.')),
  isNamed: prompt.includes('"by":"owner"') } }))
`

async function started(promptTemplate?: string) {
  const cluster = await nodes.cluster()
  const first = await cluster.serve()
  const w = await cluster.workspace()
  const home = await cluster.room('reader')
  await w.hire('reader', {
    adapterType: 'process',
    adapterConfig: {
      command: process.execPath,
      args: ['--input-type=module', '--eval', READS],
      cwd: home,
      graceSec: 1,
      ...(promptTemplate !== undefined && { promptTemplate }),
    },
  })
  const results = async (task: { id: string }): Promise<Json[]> =>
    (await w.read(task, '/results')).items.map(({ result }: { result: Json }) => result)
  return { cluster, first, w, home, results }
}

test.each([
  ['the usual template', undefined],
  ['a template that does not mention comments', 'Do {{task.title}}.'],
])(
  'with %s, "comment and run again" is in the next prompt, and in no later one',
  MINUTES,
  async (_what, template) => {
    const { w, home, results } = await started(template)
    const task = await w.make({ title: 'Read', agent: 'reader', maxRetries: 0 })
    await w.reaches(task, 'failed')
    writeFileSync(join(home, 'works'), '')
    expect(await w.on(task, 'retry', { comment: 'Comment one.' })).toMatchObject({ status: 200 })
    await w.reaches(task, 'completed')
    expect(await results(task)).toEqual([{ texts: ['one'], isNamed: true }])
    // The run itself ends a moment after its task.
    await w.runsOf(task, 'succeeded')
    expect(await w.on(task, 'reset', { comment: 'Comment two.' })).toMatchObject({ status: 200 })
    await eventually(async () => (await results(task)).length === 2)
    expect((await results(task))[1]).toEqual({ texts: ['two'], isNamed: true })
  },
)

test(
  'comments are shown again after the node of the run was killed, from both threads',
  MINUTES,
  async () => {
    const { cluster, first, w, home, results } = await started()
    writeFileSync(join(home, 'waits'), '')
    const plan = { tasks: [{ tempId: 'read', title: 'Read', agent: 'reader' }] }
    const made = await w.post('/missions', { goal: 'Read', plan, config: { autonomy: 'full_auto' } })
    const mission = made.body as { id: string }
    const [task] = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items as [{ id: string }]
    const isToldIn = (generation: number) =>
      eventually(async () => existsSync(join(home, `told-${generation}`)))
    await isToldIn(1)
    // Said while it works: for the next prompt.
    await w.post(`/missions/${mission.id}/comments`, { text: 'Comment to all.' })
    await w.post(`/tasks/${task.id}/comments`, { text: 'Comment one.' })
    await cluster.kill(first)
    await cluster.serve()
    await isToldIn(2)
    await cluster.kill(cluster.serving)
    writeFileSync(join(home, 'works'), '')
    rmSync(join(home, 'waits'))
    await cluster.serve()
    await w.reaches(task, 'completed')
    const last = (await results(task)).at(-1)
    expect(last).toEqual({ texts: ['one', 'to all'], isNamed: true })
  },
)

test('an agent comments on its own task and mission with its token, and on no other', MINUTES, async () => {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  const other = await w.make({ agent: 'nobody' })
  const elsewhere = (
    await w.post('/missions', { goal: 'Else', plan: { tasks: [{ tempId: 'x', agent: 'nobody' }] } })
  ).body
  const SPEAKS = `
    const { BATON_URL, BATON_API_KEY: key, BATON_TASK_ID: task } = process.env
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
    const { missionId } = await (await fetch(BATON_URL + '/api/v1/tasks/' + task, { headers })).json()
    const say = async (path) => (await fetch(BATON_URL + '/api/v1/' + path + '/comments',
      { method: 'POST', headers, body: JSON.stringify({ text: 'My key is ' + key }) })).status
    console.log(JSON.stringify({ result: [await say('tasks/' + task), await say('missions/' + missionId),
      await say('tasks/${other.id}'), await say('missions/${elsewhere.id}')] }))`
  await w.hire('speaker', {
    adapterType: 'process',
    adapterConfig: { command: process.execPath, args: ['--input-type=module', '--eval', SPEAKS] },
  })
  const plan = { tasks: [{ tempId: 'speak', title: 'Speak', agent: 'speaker' }] }
  const mission = (await w.post('/missions', { goal: 'Speak', plan, config: { autonomy: 'full_auto' } })).body
  const [task] = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items
  await w.reaches(task, 'completed')
  expect((await w.read(task, '/results')).items[0].result).toEqual([201, 201, 403, 403])
  for (const path of [`/tasks/${task.id}`, `/missions/${mission.id}`]) {
    const { items } = (await w.call('GET', `${path}/comments`)).body
    expect(items).toMatchObject([{ author: { kind: 'agent', id: 'speaker', name: 'speaker' } }])
    // Whatever an agent sends, its token is not in it.
    expect(items[0].text).toMatch(/^My key is (?!brun_)/)
  }
  expectRefusal(await w.post(`/tasks/${task.id}/comments`, { text: ' ' }), 400, 'VALIDATION_FAILED')
})

test(
  '"comment and run again" leaves both or neither when the server is killed in between',
  MINUTES,
  async () => {
    const { cluster, first, w, home, results } = await started()
    const task = await w.make({ title: 'Read', agent: 'reader', maxRetries: 0 })
    await w.reaches(task, 'failed')
    writeFileSync(join(home, 'works'), '')
    const point = await cluster.faultPoint('comments', 'insert', 'true')
    const retry = w.on(task, 'retry', { comment: 'Comment one.' }).catch(() => 'cut off')
    await point.reached()
    await cluster.kill(first)
    await point.lift()
    expect(await retry).toBe('cut off')
    await cluster.serve()
    expect(await w.read(task)).toMatchObject({ state: 'failed', commentCount: 0 })
    expect(await w.count('task_retried')).toBe(0)
    await w.on(task, 'retry', { comment: 'Comment two.' })
    await w.reaches(task, 'completed')
    expect(await results(task)).toEqual([{ texts: ['two'], isNamed: true }])
  },
)
