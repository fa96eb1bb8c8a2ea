import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CuttableWay, cuttableWayTo } from './support/proxy.ts'
import { eventually, expectDoneOnce, type Served } from './support/recovery.ts'
import { expectWholeLog, isThere, letGo, livesIn, USED, useRunNodes } from './support/run-nodes.ts'

/** Agents at work while their server is stopped in order, or while what it needs is taken from it. */

const MINUTES = { timeout: 300_000 }
const onLinux = test.runIf(process.platform === 'linux')
const nodes = useRunNodes()
const STOPPED = { status: 'failed', errorCode: 'control_plane_restart', usage: USED.sofar }

/** How long it took to end well. */
async function stop(node: Served): Promise<number> {
  const asked = performance.now()
  node.child.kill('SIGTERM')
  expect(await node.ended).toEqual({ code: 0, signal: null })
  return performance.now() - asked
}

// SIGINT takes the same way: test/start.test.ts.
onLinux(
  'at SIGTERM agents get their grace, their runs end on record, and their work goes on after the next start',
  MINUTES,
  async () => {
    const house = await nodes.house()
    const node = await house.serve()
    const w = await house.workspace()
    const graceSec = 1
    const [tidy, deaf] = [
      await w.hireWorker('tidy', 'tidy', { graceSec }),
      await w.hireWorker('deaf', 'deaf', { graceSec }),
    ]
    const setsid = await w.hireWorker('setsid', 'setsid', { graceSec })
    const slugs = ['tidy', 'deaf', 'setsid']
    const tasks = await Promise.all(slugs.map((agent) => w.make({ agent })))
    for (const task of tasks) await w.waits(task)
    const ids = (await w.runs()).map(({ id }) => id)
    const tookMs = await stop(node)
    // Those who ignore SIGTERM have used their grace.
    expect(tookMs).toBeGreaterThan(graceSec * 1000)
    expect(await house.processes()).toEqual([])
    const left = await house.rows('select status, error_code as "errorCode" from runs')
    expect(left).toEqual(slugs.map(() => ({ status: 'failed', errorCode: 'control_plane_restart' })))
    // Free at once, not when the lease ends, and without an attempt spent.
    const free = await house.rows('select state, claim_state as claim, attempt from tasks')
    expect(free).toEqual(slugs.map(() => ({ state: 'queued', claim: 'released', attempt: 0 })))
    expect(existsSync(join(tidy, 'tidied'))).toBe(true)
    await house.expectInOrder()

    for (const room of [tidy, deaf, setsid]) await letGo(room)
    await house.serve()
    await w.isTold('task_completed', tasks.length)
    for (const task of tasks) {
      const [first, second] = await w.runsOf(task, 'succeeded')
      expect(ids).toContain(first!.id)
      expect(first).toMatchObject(STOPPED)
      expect(second).toMatchObject({ sessionIdBefore: `session-of-${task.id}`, usage: USED.inAll })
      await expectWholeLog(w, first!)
    }
    const [told] = (await w.runsOf(tasks[0]!, 'failed')).map(({ id }) => id)
    expect(await w.log(told!)).toContain('tidying up')
    await expectDoneOnce(w, tasks)
    await house.expectInOrder()
  },
)

/** A server with a database that can be taken from it, and a worker at work. */
async function openCut() {
  const house = await nodes.house()
  const way: CuttableWay = await cuttableWayTo(house.databaseUrl)
  const node = await house.serve({ DATABASE_URL: way.url })
  const w = await house.workspace()
  const room = await w.hireWorker('worker', 'plain')
  const task = await w.make({ agent: 'worker' })
  const run = await w.waits(task)
  const close = async () => {
    node.child.kill('SIGKILL')
    await node.ended
    way.cut()
    await way.close()
  }
  return { house, way, node, w, room, task, run, close }
}

onLinux(
  'a run that ends while the database is away is on record when it is back, with its result',
  MINUTES,
  async () => {
    const { house, way, w, room, task, run, close } = await openCut()
    try {
      way.cut()
      await letGo(room)
      const { pids } = livesIn(room)[0]!
      await eventually(async () => pids.filter(isThere).length === 0)
      // Its end was to be written down by now, and could not be.
      const tries = way.inVain()
      await eventually(async () => way.inVain() > tries + 2)
      const [before] = await house.rows('select status from runs')
      expect(before).toEqual({ status: 'running' })
      way.mend()
      const [ended, ...more] = await w.runsOf(task, 'succeeded')
      expect(more).toEqual([])
      expect(ended).toMatchObject({ id: run.id, generation: 1, usage: USED.inAll })
      await expectWholeLog(w, ended!)
      await expectDoneOnce(w, [task])
      expect(livesIn(room)).toHaveLength(1)
      await house.expectInOrder()
    } finally {
      await close()
    }
  },
)

onLinux(
  'a server can be stopped while the database is gone for good; the next one ends its runs',
  MINUTES,
  async () => {
    const { house, way, node, w, room, task, run, close } = await openCut()
    try {
      way.cut()
      await stop(node)
      expect(await house.processes()).toEqual([])
      await letGo(room)
      await house.serve()
      const [lost, next] = await w.runsOf(task, 'succeeded')
      expect(lost).toMatchObject({ id: run.id, ...STOPPED })
      expect(next).toMatchObject({ sessionIdBefore: `session-of-${task.id}` })
      await expectDoneOnce(w, [task])
      await house.expectInOrder()
    } finally {
      await close()
    }
  },
)

onLinux('a run whose log is deleted under it goes on without', MINUTES, async () => {
  const house = await nodes.house()
  await house.serve()
  const w = await house.workspace()
  const room = await w.hireWorker('worker', 'prints')
  const task = await w.make({ agent: 'worker' })
  const run = await w.waits(task)
  await rm(join(house.data, 'run-logs'), { recursive: true })
  await eventually(async () => house.serving.stderr().includes('a log could not be written'))
  await letGo(room)
  const [ended, ...more] = await w.runsOf(task, 'succeeded')
  expect(more).toEqual([])
  expect(ended).toMatchObject({ id: run.id, usage: USED.inAll })
  expect((await w.call('GET', `/runs/${run.id}/log`)).body).toMatchObject({ status: 'log_unavailable' })
  expect(livesIn(room)).toHaveLength(1)
  // The next one has a log again.
  const another = await w.make({ agent: 'worker' })
  const [next] = await w.runsOf(another, 'succeeded')
  await expectWholeLog(w, next!)
  await expectDoneOnce(w, [task, another])
  await house.expectInOrder()
})
