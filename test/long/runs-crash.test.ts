import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  ASKS_A_PERSON,
  BEGUN,
  CLAIMED,
  FINISHED,
  killedBefore,
  LOST,
  MINUTES,
  ON_DEMAND,
  onLinux,
  useRunPoints,
  wakeFor,
} from '../crash/run-points.ts'
import { eventually, expectDoneOnce } from '../support/recovery.ts'
import { expectWholeLog, livesIn, release, USED } from '../support/run-nodes.ts'

/** kill -9 exactly between two steps of a run, beside those of test/kinds/run/crash.test.ts. */

const { nodes, open } = useRunPoints()

onLinux('a run that was queued and had no claim yet ends, and its task is free', MINUTES, async () => {
  const { cluster, w, room } = await open('plain', ON_DEMAND)
  const task = await w.make({ agent: 'worker' })
  await release(room)
  await killedBefore(cluster, CLAIMED, () => wakeFor(w, task.id))
  expect(await w.runs()).toMatchObject([{ ...LOST, taskId: null, log: null }])
  expect(await w.read(task)).toMatchObject({ state: 'queued', generation: 0 })
  await cluster.expectInOrder()
  await wakeFor(w, task.id)
  await w.isRecorded('task_completed')
  await expectDoneOnce(w, [task])
  expect(livesIn(room)).toHaveLength(1)
})

onLinux.each([
  { how: 'assigned', runtimeConfig: {} },
  { how: 'on demand', runtimeConfig: ON_DEMAND },
])('a claim of a run that did not start is released ($how)', MINUTES, async ({ how, runtimeConfig }) => {
  const { cluster, w, room } = await open('plain', runtimeConfig)
  await release(room)
  let task = { id: '' }
  const attempt = async () => {
    task = await w.make({ agent: 'worker' })
    if (how === 'on demand') await wakeFor(w, task.id)
  }
  await killedBefore(cluster, BEGUN, attempt)
  if (how === 'on demand') {
    expect(await w.read(task)).toMatchObject({ state: 'queued', generation: 1 })
    await wakeFor(w, task.id)
  }
  expect(await w.runsOf(task, 'succeeded')).toMatchObject([{ generation: 2 }])
  await expectDoneOnce(w, [task])
  const [first] = await w.claims()
  expect(first).toMatchObject({ state: 'released', reason: 'VOLUNTARY' })
  expect(livesIn(room)).toHaveLength(1)
  await cluster.expectInOrder()
})

onLinux('a task that was to be continued is, under its session', MINUTES, async () => {
  const { cluster, w, room } = await open('continues')
  let task = { id: '' }
  await killedBefore(cluster, FINISHED, async () => {
    task = await w.make({ agent: 'worker' })
  })
  await release(room)
  const [lost, next] = await w.runsOf(task, 'succeeded')
  expect(lost).toMatchObject({ ...LOST, ...USED.inAll })
  expect(next).toMatchObject({ sessionIdBefore: `session-of-${task.id}`, ...USED.inAll })
  await expectDoneOnce(w, [task])
  // No attempt was spent on it.
  expect(await w.read(task)).toMatchObject({ attempt: 1 })
  await cluster.expectInOrder()
})

onLinux('a run that a person stopped is not resumed', MINUTES, async () => {
  const { cluster, w, room } = await open('plain')
  const task = await w.make({ agent: 'worker' })
  const run = await w.waits(task)
  await killedBefore(cluster, ASKS_A_PERSON, async () => {
    void w.post(`/runs/${run.id}/cancel`, { reason: 'It deletes files.' }).catch(() => undefined)
  })
  await release(room)
  expect((await w.call('GET', `/runs/${run.id}`)).body).toMatchObject({
    status: 'cancelled',
    errorCode: 'cancelled',
    errorMessage: 'It deletes files.',
  })
  expect(await w.read(task)).toMatchObject({ state: 'awaiting_human', generation: 1 })
  expect((await w.on(task, 'cancel')).status).toBe(200)
  expect(livesIn(room)).toHaveLength(1)
  await cluster.expectInOrder()
})

onLinux('a log that ends in the middle of a character ends before it', MINUTES, async () => {
  const { cluster, w, room } = await open('prints')
  const task = await w.make({ agent: 'worker' })
  const run = await w.waits(task)
  await eventually(async () => (await w.log(run.id)).includes('line 20 of'))
  await cluster.kill(cluster.serving)
  const [row] = await cluster.rows<{ ref: string }>('select log_ref as ref from runs')
  const file = join(cluster.data, 'run-logs', `${row!.ref}.log`)
  const text = await readFile(file)
  // Its span covers more than there is, as after a crash between the two.
  const middle = text.lastIndexOf('🦀') + 2
  await truncate(file, middle)
  await release(room)
  await cluster.serve()
  const [lost] = await w.runsOf(task, 'succeeded')
  const kept = await expectWholeLog(w, lost!)
  expect(kept).toBe(text.subarray(0, middle - 2).toString())
  expect(lost).toMatchObject({ ...LOST, ...USED.sofar })
  await cluster.expectInOrder()
})

onLinux('the usage of a run does not shrink because its last output was lost', MINUTES, async () => {
  const cluster = await nodes.cluster()
  const env = { BATON_LOGS: 'postgres' }
  await cluster.serve(env)
  const w = await cluster.workspace()
  const room = await w.hireWorker('worker', 'steps')
  const task = await w.make({ agent: 'worker' })
  const run = await eventually(async () => (await w.runs('&status=running'))[0])
  await eventually(async () => (await w.log(run.id)).includes('"inputTokens":10'))
  const step = ['run_log_chunks', 'insert', "new.stream = 'stdout'"] as const
  const act = async () => {
    await writeFile(join(room, 'step'), '')
    await eventually(async () => (await w.runs())[0]!.tokens?.input === 30)
  }
  await killedBefore(cluster, step, act, env)
  await release(room)
  const [lost] = await w.runsOf(task, 'succeeded')
  expect(await expectWholeLog(w, lost!)).not.toContain('"inputTokens":30')
  expect(lost).toMatchObject({ ...LOST, ...USED.sofar })
  await cluster.expectInOrder()
})
