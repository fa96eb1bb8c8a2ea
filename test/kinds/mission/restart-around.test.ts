import { expect, test } from 'vitest'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Cluster, type RunsWorkspace, useRunNodes } from '../../support/run-nodes.ts'

/** What people read of missions, before kill -9 of the only node and after it was started again on the same data. */

const MINUTES = { timeout: 400_000 }
const nodes = useRunNodes()

const simulated = (...steps: Json[]) => ({ adapterType: 'simulated', adapterConfig: { steps } })
const VERDICT = { verdict: 'pass', score: 0.9, feedback: 'Fine.', evidence: ['read it'] }
const PLAN = {
  tasks: [
    { tempId: 'a', title: 'Write {{what}}', taskType: 'writing', contractor: { template: 'writer' } },
    { tempId: 'b', title: 'Send it', agent: 'flaky', dependsOn: ['a'], optional: true, maxRetries: 0 },
  ],
}
const plan = (what: string) => {
  const [write, send] = PLAN.tasks
  const verification = { kind: 'agent', agent: 'reviewer' }
  return { tasks: [{ ...write, title: `Write ${what}`, verification }, send] }
}

async function hire(w: RunsWorkspace) {
  const usage = { usage: { inputTokens: 1_200, outputTokens: 150 } }
  await w.hire('writer', simulated(usage, { result: { written: true }, summary: 'It is written.' }))
  await w.hire('reviewer', simulated(usage, { result: VERDICT }))
  await w.hire('flaky', simulated({ fail: { code: 'nonzero_exit', message: 'No postman.' } }))
  await w.hire('curious', simulated({ ask: 'Which colour?', options: ['green', 'blue'] }))
}

/** Its mission has ended, and everything that Baton writes about it is written. */
async function ended(w: RunsWorkspace, id: string): Promise<void> {
  await eventually(async () => (await w.call('GET', `/missions/${id}`)).body.stateType === 'terminal')
  await eventually(async () => (await w.call('GET', `/missions/${id}/reports`)).body.items.length === 3)
  const { contractors } = (await w.call('GET', `/missions/${id}`)).body
  await eventually(async () => (await w.call('GET', `/agents/${contractors[0]}`)).body.state === 'terminated')
}

async function filled(w: RunsWorkspace) {
  await hire(w)
  const config = { autonomy: 'full_auto' }
  const mission = (await w.post('/missions', { goal: 'A letter', plan: plan('a letter'), config })).body
  await ended(w, mission.id)
  const schedule = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', overlap: 'queue', catchUp: 'all' }
  const variables = { properties: { what: { type: 'string', default: 'a card' } } }
  const body = { name: 'Nightly', fromMission: mission.id, schedule, variables, goal: 'Again {{what}}' }
  const routine = (await w.post('/routines', body)).body
  const { missionId: again } = (await w.post(`/routines/${routine.id}/run`, { variables: { what: 'two' } }))
    .body
  await ended(w, again)
  const waiting = (await w.post('/missions', { goal: 'Later', plan: plan('later') })).body
  const asks = (await w.post('/tasks', { title: 'Ask', agent: 'curious' })).body
  await w.reaches(asks, 'awaiting_human')
  const { items: tasks } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
  for (const path of [`/missions/${mission.id}`, `/tasks/${tasks[0].id}`]) {
    const { id } = (await w.post(`${path}/comments`, { text: 'Well done.' })).body
    await w.post(`${path}/comments`, { text: 'Thanks.\n{{x}}', replyTo: id })
    await w.post(`${path}/report`, { markdown: '# My view', type: 'audit' })
  }
  // The last word of the last run.
  await eventually(async () => (await w.runs('&status=running')).length === 0)
  return { missions: [mission.id, again, waiting.id] as string[], tasks: tasks as Json[], routine }
}

/** Of a period that is over: all else would move with the clock. */
const period = `from=2020-01-01T00:00:00Z&to=${new Date(Date.now() + 86_400_000).toISOString()}`

function pathsOf({ missions, tasks, routine }: Awaited<ReturnType<typeof filled>>): string[] {
  const ofMission = ['', '/plan', '/plans', '/graph', '/graph?format=columns', '/timeline', '/tasks']
  ofMission.push('/events?limit=200', '/comments', '/reports', '/report', '/report?version=1')
  const ofTask = ['', '/claims', '/dependencies', '/results', '/runs', '/events', '/comments', '/report']
  return [
    ...missions.flatMap((id) => ofMission.map((path) => `/missions/${id}${path}`)),
    ...tasks.flatMap(({ id }) => ofTask.map((path) => `/tasks/${id}${path}`)),
    ...['/missions', '/routines', `/routines/${routine.id}`, `/routines/${routine.id}/runs`],
    ...['/board', '/board?counts=1', '/board?q=write', '/search?q=write', '/inbox', '/tasks?limit=200'],
    ...['/events?limit=200', '/agents?kind=contractor', '/runs?limit=200'],
    ...['failures', 'durations', 'retries', 'bottlenecks'].map((name) => `/insight/${name}?${period}`),
    `/telemetry?${period}`,
  ]
}

async function readAll(w: RunsWorkspace, paths: readonly string[]): Promise<Record<string, unknown>> {
  const read: Record<string, unknown> = {}
  for (const path of paths) {
    const { status, body } = await w.call('GET', path)
    read[path] = { status, body }
  }
  return read
}

async function restart(cluster: Cluster): Promise<void> {
  await cluster.kill(cluster.serving)
  await cluster.serve()
}

test(
  'missions, routines, reports, comments, the board and all other reads of them are the same after kill -9',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster('embedded')
    await cluster.serve()
    const w = await cluster.workspace()
    const made = await filled(w)
    const paths = pathsOf(made)
    const before = await readAll(w, paths)
    const found = Object.values(before).map((answer) => (answer as { status: number }).status)
    // Only the mission that waits, and the task that failed with it, may have nothing to show.
    expect(found.filter((status) => status === 200).length).toBeGreaterThan(paths.length - 5)
    expect(before[`/routines/${made.routine.id}`]).toMatchObject({
      body: { origin: { score: 0.9 }, drift: { runs: 1, scoreChange: 0 }, nextAt: expect.any(String) },
    })
    for (const _ of [1, 2]) {
      await restart(cluster)
      const after = await readAll(w, paths)
      for (const path of paths) expect([path, after[path]]).toEqual([path, before[path]])
    }
  },
)
