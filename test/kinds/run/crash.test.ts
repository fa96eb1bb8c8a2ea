import { expect } from 'vitest'
import {
  FINISHED,
  IDENTIFIED,
  killedBefore,
  LOST,
  MINUTES,
  onLinux,
  STARTED,
  useRunPoints,
} from '../../crash/run-points.ts'
import { eventually, expectDoneOnce } from '../../support/recovery.ts'
import { expectWholeLog, livesIn, release, USED } from '../../support/run-nodes.ts'

/** kill -9 exactly between two steps of a run; test/long/runs-crash.test.ts has the other steps. */

const { open } = useRunPoints()

onLinux('a claim that was made and not started is started after all', MINUTES, async () => {
  const { cluster, w, room } = await open('plain')
  await release(room)
  let task = { id: '' }
  await killedBefore(cluster, STARTED, async () => {
    task = await w.make({ agent: 'worker' })
  })
  const runs = await w.runsOf(task, 'succeeded')
  // No one else had it in between, so it is the same claim.
  expect(runs).toMatchObject([{ generation: 1 }])
  expect((await w.runs()).at(-1)).toMatchObject(LOST)
  await expectDoneOnce(w, [task])
  expect(livesIn(room)).toHaveLength(1)
  await cluster.expectInOrder()
})

onLinux('a process whose identity was not recorded is found and ended', MINUTES, async () => {
  const { cluster, w, room } = await open('setsid')
  let task = { id: '' }
  const left = await killedBefore(cluster, IDENTIFIED, async () => {
    task = await w.make({ agent: 'worker' })
    // It may be spawned and not have progressed.
    await eventually(async () => livesIn(room).length === 1)
  })
  expect(left).toEqual(expect.arrayContaining(livesIn(room)[0]!.pids))
  await release(room)
  const [lost, next] = await w.runsOf(task, 'succeeded')
  expect(lost).toMatchObject({ ...LOST, pid: null, generation: 1 })
  expect(next).toMatchObject({ generation: 2 })
  await expectDoneOnce(w, [task])
  expect(livesIn(room)[1]!.predecessors).toEqual([])
  await cluster.expectInOrder()
})

onLinux('a mission that has ended has the tokens of its last run, once', MINUTES, async () => {
  const { cluster, w, room } = await open('plain')
  await release(room)
  const tasks = [{ tempId: 'a', title: 'a', agent: 'worker' }]
  const point = await cluster.faultPoint(...FINISHED)
  const made = await w.post('/missions', { goal: 'g', config: { autonomy: 'full_auto' }, plan: { tasks } })
  expect(made.status).toBe(201)
  const read = async () => (await w.call('GET', `/missions/${made.body.id}`)).body
  const { input, cachedInput, output } = USED.inAll.tokens
  const used = input + cachedInput + output
  // Its result is accepted, and its end is not on record yet.
  await point.reached()
  expect(await read()).toMatchObject({ state: 'completed', tokensUsed: used })
  await point.lift()
  await eventually(async () => (await w.runs('&status=succeeded')).length === 1)
  expect(await read()).toMatchObject({ tokensUsed: used })
})

onLinux(
  'a run whose result was accepted has succeeded, even if that could not be recorded',
  MINUTES,
  async () => {
    const { cluster, w, room } = await open('plain')
    await release(room)
    let task = { id: '' }
    const left = await killedBefore(cluster, FINISHED, async () => {
      task = await w.make({ agent: 'worker' })
    })
    expect(left).toEqual([])
    const [run, ...more] = await w.runsOf(task, 'succeeded')
    expect(more).toEqual([])
    expect(run).toMatchObject({ errorCode: null, generation: 1, ...USED.inAll })
    await expectWholeLog(w, run!)
    await expectDoneOnce(w, [task])
    expect(livesIn(room)).toHaveLength(1)
    await cluster.expectInOrder()
  },
)
