import { expect, test } from 'vitest'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Cluster, release, useRunNodes } from '../../support/run-nodes.ts'

/** Routines and kill -9: between the moment a routine fires and its mission, on one node and on two. */

const MINUTES = { timeout: 400_000 }
const nodes = useRunNodes()

/** Its time came three hours ago, and again since. */
const neglect = (cluster: Cluster, { id }: Json) =>
  cluster.rows(`update routines set next_at = now() - interval '3 hours' where uuid = $1`, [id])
const missionsIn = (cluster: Cluster) =>
  cluster.rows<Json>(
    `select m.uuid as id, m.state, f.scheduled_for is null as "isByHand", ms(m.created_at) as "startedAt",
            ms(m.completed_at) as "completedAt"
       from missions m join routine_fires f using (workspace_id, mission_id) order by m.mission_id`,
  )
const PLAN = { tasks: [{ tempId: 'a', title: 'Work', agent: 'worker' }] }

test('a time becomes one mission, whatever write the node is killed before', MINUTES, async () => {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  const schedule = { cron: '0 * * * *' }
  const routine = (await w.post('/routines', { name: 'Hourly', plan: PLAN, schedule })).body
  const WRITES = [
    ['missions', 'true'],
    ['routine_fires', 'true'],
    ['events', `new.type = 'routine_started'`],
  ] as const
  let point = await cluster.faultPoint(WRITES[0][0], 'insert', WRITES[0][1])
  await neglect(cluster, routine)
  for (const next of [...WRITES.slice(1), null]) {
    await point.reached()
    await cluster.kill(cluster.serving)
    await point.lift()
    expect(await missionsIn(cluster)).toEqual([])
    if (next) point = await cluster.faultPoint(next[0], 'insert', next[1])
    await cluster.serve()
  }
  await eventually(async () => (await missionsIn(cluster)).length > 0)
  const shown = (await w.call('GET', `/routines/${routine.id}`)).body
  expect(Date.parse(shown.nextAt)).toBeGreaterThan(Date.now())
  expect(await missionsIn(cluster)).toMatchObject([{ state: 'running', isByHand: false }])
  await cluster.kill(cluster.serving)
  await cluster.serve()
  expect((await w.call('GET', `/routines/${routine.id}`)).body, 'it reads the same').toEqual(shown)
  await cluster.expectInOrder()
})

test(
  'of two nodes, the other one starts the mission when the first is killed in between',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve({ BATON_NODE_NAME: 'first' })
    const w = await cluster.workspace()
    const schedule = { cron: '0 * * * *' }
    const routine = (await w.post('/routines', { name: 'Hourly', plan: PLAN, schedule })).body
    const point = await cluster.faultPoint('events', 'insert', `new.type = 'routine_started'`)
    await cluster.serve({ BATON_NODE_NAME: 'second' })
    await neglect(cluster, routine)
    await point.reached()
    await cluster.kill(first)
    await point.lift()
    await eventually(async () => (await missionsIn(cluster)).length > 0)
    expect((await w.call('GET', `/routines/${routine.id}/runs`)).body.items).toHaveLength(1)
    const started = await cluster.rows(`select from events where type = 'routine_started'`)
    expect(started).toHaveLength(1)
  },
)

test('a mission that replaces another one starts when no process of that is left', MINUTES, async () => {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  // It does not end when it is asked to.
  const home = await w.hireWorker('worker', 'deaf', { graceSec: 3 })
  const schedule = { cron: '0 * * * *', overlap: 'replace' }
  const routine = (await w.post('/routines', { name: 'Hourly', plan: PLAN, schedule })).body
  const { missionId } = (await w.post(`/routines/${routine.id}/run`)).body
  const [task] = (await w.call('GET', `/missions/${missionId}/tasks`)).body.items
  const run = await w.waits(task)
  await neglect(cluster, routine)
  const [old, next] = await eventually(async () => {
    const found = await missionsIn(cluster)
    return found.length === 2 && found
  })
  expect(old).toMatchObject({ id: missionId, state: 'cancelled', isByHand: true })
  const [over] = await cluster.rows<{ at: number }>(
    `select ms(finished_at) as at from runs where run_id = $1`,
    [run.id],
  )
  expect(Number(old!.completedAt), 'the mission ended before its process').toBeLessThan(Number(over!.at))
  expect(Number(next!.startedAt)).toBeGreaterThanOrEqual(Number(over!.at))
  await release(home)
})
