import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { dispatch } from '../../../src/executor/run.ts'
import { until } from '../../support/nodes.ts'
import { rounds } from '../../support/rounds.ts'
import { granted, type Task } from '../../support/tasks.ts'
import { type RunningNode, useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/** Several nodes that run agents, on one database; some of them die without notice. */

const cluster = useCluster()
const AGENT = 'alpha'

const isSettled = async (h: WakeupWorkspace) =>
  (await h.wakeups()).every(({ status }) => status !== 'queued' && status !== 'claimed')

/** What must hold for all runs of a workspace, on any node. Each names its violations. */
async function contradictions(h: WakeupWorkspace) {
  const [tooMany, twice, unfinished, uncounted, overlapping] = await Promise.all([
    // At the start of each run: those of its agent that had started and were not over.
    h.rows(
      `select r.agent, r.run_id, count(*)::int as at_once, a.max_concurrent_tasks as limit
         from runs r join agents a on a.workspace_id = r.workspace_id and a.slug = r.agent
         join runs o on o.workspace_id = r.workspace_id and o.agent = r.agent
          and o.created_at <= r.created_at and coalesce(o.finished_at, 'infinity') > r.created_at
        where r.workspace_id = $1 group by 1, 2, 4 having count(*) > a.max_concurrent_tasks`,
      [h.id],
    ),
    h.rows(
      `select w.wakeup_id, w.status, count(r.run_id) from wakeups w
         left join runs r on r.workspace_id = w.workspace_id and r.wakeup_id = w.wakeup_id where w.workspace_id = $1
        group by 1, 2 having count(r.run_id) <> case when w.status in ('coalesced', 'skipped') then 0 else 1 end`,
      [h.id],
    ),
    h.rows(`select run_id from runs where workspace_id = $1 and finished_at is null`, [h.id]),
    h.rows(
      `select s.agent, s.runs from agent_runtime_state s where s.workspace_id = $1
          and s.runs <> (select count(*) from runs r where r.workspace_id = $1 and r.agent = s.agent and r.finished_at is not null)`,
      [h.id],
    ),
    h.rows(
      `select a.run_id from runs a join runs b on b.workspace_id = a.workspace_id and b.task_id = a.task_id and b.run_id <> a.run_id
          and b.started_at < a.finished_at and a.started_at < b.finished_at where a.workspace_id = $1`,
      [h.id],
    ),
  ])
  return { tooMany, twice, unfinished, uncounted, overlapping }
}
const NONE = { tooMany: [], twice: [], unfinished: [], uncounted: [], overlapping: [] }

/** Each of these tasks has one accepted result. */
async function expectDone(h: WakeupWorkspace, tasks: readonly Task[]) {
  const sql = `select task_id::int as id from attempts where workspace_id = $1 and accepted order by task_id`
  const accepted = await h.rows<{ id: number }>(sql, [h.id])
  expect(accepted.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id).sort((a, b) => a - b))
}

describe('nodes that race for the same wakeups', () => {
  test('run each of them exactly once, and no agent beyond its limit', { timeout: 180_000 }, async () => {
    const h = await cluster.workspace()
    const slugs = Array.from({ length: 12 }, (_, i) => `agent-${i}`)
    for (const [i, slug] of slugs.entries()) await h.agent(slug, {}, { maxConcurrentTasks: 1 + (i % 3) })
    const nodes = await Promise.all(['one', 'two', 'three'].map((name) => cluster.node(name)))
    for (const node of nodes) node.takesMs = () => Math.random() * 20
    const tasks: Task[] = []
    for (let i = 0; i < 5; i++)
      for (const agent of slugs) {
        const task = await h.work.create()
        tasks.push(task)
        await h.wake(agent, { task })
      }
    // All of them find the same when they begin.
    for (const node of nodes) node.run()
    await until(() => isSettled(h))
    expect(await contradictions(h)).toEqual(NONE)
    await expectDone(h, tasks)
    const invoked = h.invokedBy(...nodes).map(({ input }) => input.runId)
    expect(invoked).toHaveLength(tasks.length)
    expect(new Set(invoked)).toEqual(new Set((await h.runs()).map(({ id }) => id)))
    expect(new Set(h.invokedBy(...nodes).map(({ node }) => node)).size, 'all of them worked').toBeGreaterThan(
      1,
    )
  })

  test('and each has as many runs as it may, the rest are for the others', { timeout: 120_000 }, async () => {
    const h = await cluster.workspace()
    const small = await cluster.node('small', 2)
    small.takesMs = null
    small.run()
    for (let i = 0; i < 5; i++) {
      await h.agent(`agent-${i}`)
      await h.wake(`agent-${i}`)
    }
    await until(async () => h.invokedBy(small).length === 2)
    const big = await cluster.node('big')
    big.run()
    await until(async () => h.invokedBy(big).length === 3)
    expect(h.invokedBy(small)).toHaveLength(2)
    for (const { end } of h.invokedBy(small)) end()
    await until(() => isSettled(h))
    expect(await contradictions(h)).toEqual(NONE)
  })

  test('keep the order of one agent between them', { timeout: 120_000 }, async () => {
    const h = await cluster.workspace()
    await h.agent(AGENT, { intervalSec: 60 })
    const sources = [
      'automation',
      'timer',
      'on_demand',
      'assignment',
      'on_demand',
      'automation',
      'assignment',
    ] as const
    const asked: string[] = []
    for (const source of sources)
      asked.push((await h.wake(AGENT, { source, task: await h.work.create() })).id)
    const nodes = await Promise.all(['one', 'two'].map((name) => cluster.node(name)))
    for (const node of nodes) node.run()
    await until(() => isSettled(h))
    const order = (await h.runs()).map(({ wakeupId }) => asked.indexOf(wakeupId))
    expect(order).toEqual([2, 4, 3, 6, 0, 1, 5])
    expect(await contradictions(h)).toEqual(NONE)
  })
})

describe('a node that stops', () => {
  test.each(['claimed', 'claimed and started'])(
    'without notice after it %s, and before it could report it, leaves nothing unprocessed',
    { timeout: 120_000 },
    async (how) => {
      const h = await cluster.workspace()
      await h.agent(AGENT)
      const task = await h.work.create()
      const { id } = await h.wake(AGENT)
      const [dead, other] = [await cluster.node('dead'), await cluster.node('other')]
      await dispatch(dead.context, { workspaceId: h.id, id, agent: AGENT })
      const hold = granted(await h.work.claim(task, { agent: AGENT, session: `agent:${AGENT}` }))
      if (how !== 'claimed') await h.work.start(task, hold)
      await dead.kill(h.rows)
      expect(await other.recover()).toBe(1)
      expect(await h.work.record(task)).toMatchObject({ state: 'queued', attempt: 0 })
      expect(await h.runs()).toMatchObject([{ status: 'failed', errorCode: 'control_plane_restart' }])
    },
  )

  test('cleanly leaves waiting wakeups to the next, and releases what it had started', {
    timeout: 120_000,
  }, async () => {
    const h = await cluster.workspace()
    await h.agent(AGENT)
    const [begun, waits] = [await h.work.create(), await h.work.create()]
    const first = await cluster.node('first')
    first.takesMs = null
    first.run()
    await h.wake(AGENT, { task: begun })
    await until(async () => h.invokedBy(first).length === 1)
    const { id } = await h.wake(AGENT, { task: waits })
    await first.stop()
    expect(await h.runs()).toMatchObject([{ status: 'failed', errorCode: 'control_plane_restart' }])
    expect(await h.work.record(begun)).toMatchObject({ state: 'queued', attempt: 0 })
    expect(await h.wakeup(id)).toMatchObject({ status: 'queued' })
    const second = await cluster.node('second')
    second.run()
    await until(() => isSettled(h))
    expect((await h.work.record(waits)).state).toBe('completed')
    expect(h.invokedBy(second)).toHaveLength(1)
  })

  test('without notice is detected: its wakeup and run end, its task is requeued with its attempt and done by another', {
    timeout: 120_000,
  }, async () => {
    const h = await cluster.workspace()
    await h.agent(AGENT)
    const task = await h.work.create()
    await h.assign(AGENT, task)
    await h.wakeForWork()
    const [wakeup] = await h.waiting()
    const [dead, other] = [await cluster.node('dead'), await cluster.node('other')]
    dead.takesMs = null
    dead.run()
    await until(async () => h.invokedBy(dead).length === 1)
    expect(await other.recover(), 'while it is alive, nothing of it is touched').toBe(0)
    await dead.kill(h.rows)
    expect(await other.recover()).toBe(1)
    expect(await other.recover(), 'once').toBe(0)
    expect(await h.runs()).toMatchObject([{ status: 'failed', errorCode: 'control_plane_restart' }])
    expect(await h.wakeup(wakeup!.id)).toMatchObject({
      status: 'failed',
      error: 'The node stopped during the run.',
    })
    expect(await h.work.record(task)).toMatchObject({ state: 'queued', attempt: 0 })
    other.run()
    await h.assign(AGENT, task)
    await h.wakeForWork()
    await until(async () => (await h.work.record(task)).state === 'completed')
    await until(() => isSettled(h))
    expect(await contradictions(h)).toEqual(NONE)
    await expectDone(h, [task])
  })
})

test('for any kill at any time each task is done once, and no agent exceeds its limit', {
  timeout: 300_000,
}, async () => {
  // Short leases: a claim of a node that died in the middle of it expires on its own.
  const h = await cluster.workspace({ minLeaseSeconds: 5, maxLeaseSeconds: 5 })
  const slugs = Array.from({ length: 6 }, (_, i) => `agent-${i}`)
  for (const [i, slug] of slugs.entries()) await h.agent(slug, {}, { maxConcurrentTasks: 1 + (i % 2) })
  const tasks: { task: Task; agent: string }[] = []
  for (let i = 0; i < rounds(18, 36); i++)
    tasks.push({ task: await h.work.create(), agent: slugs[i % slugs.length]! })

  let started = 0
  const startNode = async () => {
    const node = await cluster.node(`node-${++started}`)
    node.takesMs = () => Math.random() * 60
    return node.run()
  }
  const nodes: RunningNode[] = [await startNode(), await startNode()]
  let killed = 0
  let isOver = false
  /** What the coordinator does: assigns what waits, wakes for what was assigned. Every third task a person requests. */
  const coordinate = async () => {
    for (const [i, { task, agent }] of tasks.entries()) {
      await h.work.elapse(task)
      if ((await h.work.record(task)).state !== 'queued') continue
      if (i % 3 === 0) await h.wake(agent, { task })
      // It may have no room by now, or have been claimed meanwhile: retried later.
      else await h.assign(agent, task, 5_000).catch(() => undefined)
    }
    await h.wakeForWork()
  }
  const areAllDone = async () => {
    const states = await Promise.all(tasks.map(async ({ task }) => (await h.work.record(task)).state))
    return states.every((state) => state === 'completed')
  }
  const keepAssigning = async () => {
    while (!isOver) {
      // Where it takes long to start a node, all may be done before the second one dies: there is more to do until then.
      if (killed < 2 && (await areAllDone()))
        tasks.push({ task: await h.work.create(), agent: slugs[tasks.length % slugs.length]! })
      await coordinate()
      // All nodes that are left, at the same time.
      await Promise.all(nodes.map((node) => node.recover()))
      // What they started needs the machine, too.
      await sleep(50)
    }
  }
  const killer = async () => {
    while (killed < rounds(3, 5)) {
      const enough = h.invokedBy(...nodes).length + 3
      await until(async () => isOver || h.invokedBy(...nodes).length >= enough)
      if (isOver) return
      nodes.push(await startNode())
      const [victim] = nodes.splice(killed % 2, 1)
      await victim!.kill(h.rows)
      killed += 1
    }
  }
  const assigning = keepAssigning()
  const killing = killer()
  await until(async () => killed > 1 && (await areAllDone()))
  isOver = true
  await Promise.all([assigning, killing])
  await until(async () => {
    await Promise.all(nodes.map((node) => node.recover()))
    return isSettled(h)
  })
  expect(killed).toBeGreaterThan(1)
  expect(await contradictions(h)).toEqual(NONE)
  await expectDone(
    h,
    tasks.map(({ task }) => task),
  )
})
