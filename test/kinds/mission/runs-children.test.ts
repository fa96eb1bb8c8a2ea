import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isGitHere, makeRepository } from '../../support/git.ts'
import { planOf } from '../../support/http-missions.ts'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { samples } from '../../support/rounds.ts'
import { type Cluster, useRunNodes } from '../../support/run-nodes.ts'

/** An agent that Baton runs adds tasks to its mission, and continues when they have ended. */

const MINUTES = { timeout: 200_000 }
const isLinux = process.platform === 'linux'
const nodes = useRunNodes()

/**
 * The planned task adds two others, by lines or with its token, and continues after them. It leaves a file that is not committed. The
 * others say their title.
 */
const DIVIDES = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const say = (line) => console.log(JSON.stringify(line))
const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
const prompt = readFileSync(process.env.BATON_PROMPT_FILE, 'utf8')
const post = async (act, body) => {
  const answer = await fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/' + act, {
    method: 'POST',
    headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ session: BATON_SESSION, generation: Number(BATON_GENERATION), ...body }),
  })
  return { status: answer.status, body: await answer.json() }
}
if (process.env.ADDS_BY === 'nobody') say({ continue: true, after: ['nonsense'] })
else if (!prompt.includes('Ask around')) say({ result: 'said by ' + BATON_TASK_ID })
else if (!prompt.includes('said by')) {
  writeFileSync('notes.txt', existsSync('notes.txt') ? 'half done, again' : 'half done')
  say({ baton: 'session', sessionId: 'session-of-' + BATON_TASK_ID })
  const wanted = [{ tempId: 'one', title: 'Find one' }, { tempId: 'two', title: 'Find two' }]
  if (process.env.ADDS_BY === 'line') {
    for (const task of [...wanted, wanted[0]]) say({ baton: 'task', ...task })
    say({ baton: 'task', title: 'Too important', priority: 10 })
    say({ continue: true, after: ['one', 'two'] })
  } else {
    const added = []
    for (const task of [...wanted, wanted[0]]) added.push((await post('children', task)).body.id)
    const tooMuch = await post('children', { title: 'Too important', priority: 10 })
    const later = await post('continue', { after: added.slice(0, 2) })
    console.log('refused: ' + tooMuch.status + ', continues later: ' + later.status)
  }
} else {
  const { BATON_AGENT_SESSION: session, BATON_ATTEMPT: attempt, BATON_GENERATION: generation } = process.env
  say({ result: { session, attempt, generation, cwd: process.cwd(), notes: readFileSync('notes.txt', 'utf8'),
    isTold: prompt.includes('Find one') && prompt.includes('Find two') && prompt.includes('said by') } })
}
`

/** A mission of one task, and the one agent that does everything. */
async function begin<T>(addsBy: string, task: Json = {}, prepare?: (cluster: Cluster) => Promise<T>) {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  const repository = join(cluster.home, 'repository')
  makeRepository(repository)
  await w.hire('divider', {
    adapterType: 'process',
    maxConcurrentTasks: 1,
    adapterConfig: {
      command: process.execPath,
      args: ['--input-type=module', '--eval', DIVIDES],
      cwd: repository,
      workspace: 'git_worktree',
      env: { ADDS_BY: addsBy },
      graceSec: 1,
    },
  })
  const before = await prepare?.(cluster)
  const { body: mission } = await w.post('/missions', {
    goal: 'Find everything',
    plan: planOf({ tempId: 'a', title: 'Ask around', ...task }),
    config: { autonomy: 'full_auto' },
  })
  const ends = (state: string) =>
    eventually(async () => (await w.call('GET', `/missions/${mission.id}`)).body.state === state)
  return { cluster, w, mission, ends, before }
}

test.runIf(isGitHere)(
  'an agent that continues after tasks that do not exist has failed',
  MINUTES,
  async () => {
    const { w, mission, ends } = await begin('nobody', { maxRetries: 0 })
    await ends('failed')
    const [task] = (await w.call('GET', `/missions/${mission.id}/tasks`)).body.items
    expect(task).toMatchObject({
      failureClass: 'quality',
      error: expect.stringContaining('cannot continue after'),
    })
  },
)

test.runIf(isGitHere).each(['line', 'token'])(
  'an agent with room for one task adds tasks by a %s, does them, and continues: same session, same worktree, with their results',
  MINUTES,
  async (addsBy) => {
    const { w, mission, ends } = await begin(addsBy)
    await ends('completed')
    const { items: tasks } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
    const titles = tasks.map(({ title, state }: { title: string; state: string }) => [title, state]).sort()
    expect(titles).toEqual([
      ['Ask around', 'completed'],
      ['Find one', 'completed'],
      ['Find two', 'completed'],
    ])
    const parent = tasks.find(({ title }: { title: string }) => title === 'Ask around')
    const { items } = await w.read(parent, '/results')
    expect(items).toMatchObject([
      {
        generation: 2,
        accepted: true,
        result: {
          session: `session-of-${parent.id}`,
          attempt: '1',
          generation: '2',
          cwd: expect.stringMatching(/gen-1$/),
          notes: 'half done',
          isTold: true,
        },
      },
    ])
    // None was stopped: the first run of the task ended on its own, though its claim had ended before.
    const runs = await eventually(async () => {
      const all = await w.runs()
      return all.every(({ status }) => status !== 'running') && all
    })
    expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded'])
    expect(runs.filter(({ taskId }) => taskId === parent.id)).toHaveLength(2)
  },
)

test.runIf(isGitHere && isLinux).each(samples(1, ['token', 'line']))(
  'a node that is killed when an agent has added tasks by a %s, and not yet continued, leaves them: the next attempt finds them by name',
  MINUTES,
  async (addsBy) => {
    const { cluster, w, mission, ends, before } = await begin(addsBy, {}, (cluster) =>
      cluster.faultPoint('events', 'insert', "new.type = 'task_continues_later'"),
    )
    await before!.reached()
    await cluster.kill(cluster.serving)
    await before!.lift()
    await cluster.serve()
    await ends('completed')
    const { items: tasks } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
    expect(tasks.map(({ title, state }: Json) => [title, state]).sort()).toEqual([
      ['Ask around', 'completed'],
      ['Find one', 'completed'],
      ['Find two', 'completed'],
    ])
    const parent = tasks.find(({ title }: Json) => title === 'Ask around')
    for (const child of tasks.filter((one: Json) => one !== parent))
      expect(child).toMatchObject({ plan: { childOf: parent.id }, attempt: 1 })
    const { items: claims } = await w.read(parent, '/claims')
    // What was killed, what continued later, and what made the result.
    expect(claims).toHaveLength(3)
    expect(claims[1]).toMatchObject({ generation: 2, releaseReason: 'CONTINUES_LATER' })
    const { items: results } = await w.read(parent, '/results')
    expect(results).toMatchObject([
      { generation: 3, accepted: true, result: { notes: 'half done, again', isTold: true } },
    ])
    const made = await cluster.rows<{ count: number }>(
      `select count(*)::int from events where type = 'task_created'`,
    )
    expect(made).toEqual([{ count: 3 }])
    await cluster.expectInOrder()
  },
)
