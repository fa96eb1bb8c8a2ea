import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CuttableConnection, cuttableConnectionTo } from '../../support/proxy.ts'
import { eventually, expectDoneOnce, type Served } from '../../support/recovery.ts'
import { expectWholeLog, isThere, livesIn, release, USED, useRunNodes } from '../../support/run-nodes.ts'

/** Agents at work while their server is stopped cleanly, or while it loses its database or disk. */

const MINUTES = { timeout: 300_000 }
const onLinux = test.runIf(process.platform === 'linux')
const nodes = useRunNodes()
const STOPPED = { status: 'failed', errorCode: 'control_plane_restart', ...USED.sofar }

/** How long a clean stop took. */
async function stop(node: Served): Promise<number> {
  const asked = performance.now()
  node.child.kill('SIGTERM')
  expect(await node.ended).toEqual({ code: 0, signal: null })
  return performance.now() - asked
}

// SIGINT takes the same path: test/start/start.test.ts.
onLinux(
  'at SIGTERM agents get their grace period, their runs end on record, and their work continues after the next start',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    const node = await cluster.serve()
    const w = await cluster.workspace()
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
    // Those that ignore SIGTERM have used their grace period.
    expect(tookMs).toBeGreaterThan(graceSec * 1000)
    expect(await cluster.processes()).toEqual([])
    const left = await cluster.rows('select status, error_code as "errorCode" from runs')
    expect(left).toEqual(slugs.map(() => ({ status: 'failed', errorCode: 'control_plane_restart' })))
    // Free at once, not when the lease ends, and without an attempt spent.
    const free = await cluster.rows('select state, claim_state as claim, attempt from tasks')
    expect(free).toEqual(slugs.map(() => ({ state: 'queued', claim: 'released', attempt: 0 })))
    expect(existsSync(join(tidy, 'tidied'))).toBe(true)
    await cluster.expectInOrder()

    for (const room of [tidy, deaf, setsid]) await release(room)
    await cluster.serve()
    await w.isRecorded('task_completed', tasks.length)
    for (const task of tasks) {
      const [first, second] = await w.runsOf(task, 'succeeded')
      expect(ids).toContain(first!.id)
      expect(first).toMatchObject(STOPPED)
      expect(second).toMatchObject({ sessionIdBefore: `session-of-${task.id}`, ...USED.inAll })
      await expectWholeLog(w, first!)
    }
    const [reported] = (await w.runsOf(tasks[0]!, 'failed')).map(({ id }) => id)
    expect(await w.log(reported!)).toContain('tidying up')
    await expectDoneOnce(w, tasks)
    await cluster.expectInOrder()
  },
)

/** A server with a database that can be cut off, and a worker at work. */
async function openCut() {
  const cluster = await nodes.cluster()
  const connection: CuttableConnection = await cuttableConnectionTo(cluster.databaseUrl)
  const node = await cluster.serve({ DATABASE_URL: connection.url })
  const w = await cluster.workspace()
  const room = await w.hireWorker('worker', 'plain')
  const task = await w.make({ agent: 'worker' })
  const run = await w.waits(task)
  const close = async () => {
    node.child.kill('SIGKILL')
    await node.ended
    connection.cut()
    await connection.close()
  }
  return { cluster, connection, node, w, room, task, run, close }
}

onLinux(
  'a run that ends while the database is unreachable is recorded when it is back, with its result',
  MINUTES,
  async () => {
    const { cluster, connection, w, room, task, run, close } = await openCut()
    try {
      connection.cut()
      await release(room)
      const { pids } = livesIn(room)[0]!
      await eventually(async () => pids.filter(isThere).length === 0)
      // Its end should be stored by now, and could not be.
      const tries = connection.inVain()
      await eventually(async () => connection.inVain() > tries + 2)
      const [before] = await cluster.rows('select status from runs')
      expect(before).toEqual({ status: 'running' })
      connection.restore()
      const [ended, ...more] = await w.runsOf(task, 'succeeded')
      expect(more).toEqual([])
      expect(ended).toMatchObject({ id: run.id, generation: 1, ...USED.inAll })
      await expectWholeLog(w, ended!)
      await expectDoneOnce(w, [task])
      expect(livesIn(room)).toHaveLength(1)
      await cluster.expectInOrder()
    } finally {
      await close()
    }
  },
)

onLinux(
  'a server can be stopped while the database is gone for good; the next one ends its runs',
  MINUTES,
  async () => {
    const { cluster, connection, node, w, room, task, run, close } = await openCut()
    try {
      connection.cut()
      await stop(node)
      expect(await cluster.processes()).toEqual([])
      await release(room)
      await cluster.serve()
      const [lost, next] = await w.runsOf(task, 'succeeded')
      expect(lost).toMatchObject({ id: run.id, ...STOPPED })
      expect(next).toMatchObject({ sessionIdBefore: `session-of-${task.id}` })
      await expectDoneOnce(w, [task])
      await cluster.expectInOrder()
    } finally {
      await close()
    }
  },
)

onLinux('a run whose log is deleted continues without it', MINUTES, async () => {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  const room = await w.hireWorker('worker', 'prints')
  const task = await w.make({ agent: 'worker' })
  const run = await w.waits(task)
  await rm(join(cluster.data, 'run-logs'), { recursive: true })
  await eventually(async () => cluster.serving.stderr().includes('a log could not be written'))
  await release(room)
  const [ended, ...more] = await w.runsOf(task, 'succeeded')
  expect(more).toEqual([])
  expect(ended).toMatchObject({ id: run.id, ...USED.inAll })
  expect((await w.call('GET', `/runs/${run.id}/log`)).body).toMatchObject({ status: 'log_unavailable' })
  expect(livesIn(room)).toHaveLength(1)
  // The next one has a log again.
  const another = await w.make({ agent: 'worker' })
  const [next] = await w.runsOf(another, 'succeeded')
  await expectWholeLog(w, next!)
  await expectDoneOnce(w, [task, another])
  await cluster.expectInOrder()
})
