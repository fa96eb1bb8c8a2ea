import { describe, expect, test } from 'vitest'
import { createQueue } from '../../../src/queue/queue.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { merge, mergeOf, partsOf } from '../../support/parts.ts'
import { promotion, rejectedResult } from '../../support/rejected.ts'
import { granted, grantedTasks, holder, newTask, outcome, type Task, type Work } from '../../support/tasks.ts'

/** Where two rules meet: each of these was once wrong. */

const alpha = holder('alpha')
const beta = holder('beta')
const worker = holder('alpha', 'w')
const MINUTE = 60_000
const complete = async (work: Work, task: Task) =>
  work.submit(task, granted(await work.claim(task, alpha)), 'done')

describe('a task that is divided', () => {
  test('is not merged without a part that was added since the others were read', async () => {
    const { work } = manualClock()
    const parent = await work.create()
    const parts = await work.createAll(partsOf(parent, 1))
    await complete(work, parts[0]!)
    const read = await mergeOf(work, parent, parts)
    await work.createAll(partsOf(parent, 1))
    expect(outcome(await work.command(parent, read))).toBe('NOTHING_DUE')
  })

  test('is not queued without a part that was added since the others were seen done', async () => {
    const { work } = manualClock()
    const parent = await work.create()
    const parts = await work.createAll(partsOf(parent, 1, { merge: 'task' }))
    await complete(work, parts[0]!)
    const { version } = await work.record(parent)
    const edges = await work.reports(parent)
    await work.createAll(partsOf(parent, 1))
    await work.command(parent, { kind: 'countUpstream', edges, version })
    expect((await work.record(parent)).state).toBe('pending')
  })

  test('has no part that waits for it', async () => {
    const { work } = manualClock()
    const parent = await work.create()
    const reply = await work.tryCreate([newTask({ parent: { id: parent.id, uuid: parent.uuid } }, [parent])])
    expect(reply.ok).toBe(false)
  })

  test('has no part that waits for its downstream tasks, however far away', async () => {
    const queue = await createQueue('memory:', { upkeep: false })
    const whole = await queue.enqueue({ title: 'whole' })
    const near = await queue.enqueue({ title: 'near', dependsOn: [whole.id] })
    const far = await queue.enqueue({ title: 'far', dependsOn: [near.id] })
    for (const { id } of [whole, near, far])
      await expect(queue.enqueue({ title: 'part', parentId: whole.id, dependsOn: [id] })).rejects.toThrow()
    await queue.enqueue({ title: 'part', parentId: whole.id })
    await queue.close()
  })

  test('in one request has no part that waits for it through another task', async () => {
    const { work } = manualClock()
    const parent = await work.create()
    const part = newTask({ parent: { id: parent.id, uuid: parent.uuid }, dependsOnNew: [1] })
    expect((await work.tryCreate([part, newTask({}, [parent])])).ok).toBe(false)
  })

  test('in one request has no parts of parts either', async () => {
    const { work } = manualClock()
    const tasks = [
      { merge: 'object' },
      { merge: 'object', parent: { at: 0 } },
      { parent: { at: 1 } },
    ] as const
    expect((await work.tryCreate(tasks.map((task) => newTask(task)))).ok).toBe(false)
  })

  test('in one request waits for its parts, whatever its rule', async () => {
    const { work } = manualClock()
    const whole = newTask({ merge: 'object', triggerRule: 'always' })
    const [parent] = await work.createAll([whole, newTask({ parent: { at: 0 } })])
    expect(parent!.state).toBe('pending')
  })

  test('accepts no late result from before its division', async () => {
    const { work, pass } = manualClock()
    const parent = await work.create()
    const hold = granted(await work.claim(parent, alpha, { leaseMs: MINUTE }))
    pass(MINUTE)
    await work.elapse(parent)
    await work.elapse(parent)
    const [part] = await work.createAll(partsOf(parent, 1, { merge: 'task' }))
    await complete(work, part!)
    await work.unblock(parent)
    expect(outcome(await work.submit(parent, hold, 'of before'))).toBe('NO_CLAIM')
  })

  test('without parts is a task like any other after its reset', async () => {
    const { work } = manualClock()
    const task = await work.create({ merge: 'object' })
    await complete(work, task)
    await work.reset(task)
    expect((await work.record(task)).state).toBe('queued')
  })
})

describe('a task with its own idempotency key', () => {
  const unique = { key: 'k', bodyHash: 'a' }

  test('is the answer when it is requested again, even if its parent is done', async () => {
    const { work } = manualClock()
    const parent = await work.create()
    const asked = partsOf(parent, 1, { unique })
    const parts = await work.createAll(asked)
    await complete(work, parts[0]!)
    await merge(work, parent, parts)
    expect(await work.tryCreate(asked)).toMatchObject({ ok: true, existing: [true] })
  })

  test('that exists already gets parts by its id, not by its place in a request', async () => {
    const { work } = manualClock()
    const whole = newTask({ unique })
    await work.createAll([whole])
    expect((await work.tryCreate([whole, newTask({ parent: { at: 0 } })])).ok).toBe(false)
  })
})

describe('within a batch', () => {
  test('a worker that has just registered gets no more than its capacity', async () => {
    const { work } = manualClock()
    await work.createAll([newTask(), newTask()])
    const [, next] = await Promise.all([work.register('w', 1), work.next(worker, { limit: 2 })])
    expect(grantedTasks(next)).toHaveLength(1)
  })

  test('a task that was just reserved for another agent does not hide those behind it', async () => {
    const { work } = manualClock()
    const [first] = await work.createAll([newTask(), newTask()])
    const [, next] = await Promise.all([
      work.update(first!, { onlyAgent: 'beta' }),
      work.next(alpha, { limit: 2 }),
    ])
    expect(grantedTasks(next)).toHaveLength(1)
  })

  test('a task that expired does not hide those behind it', async () => {
    const { work, now, pass } = manualClock()
    await work.createAll([newTask({ expiresAt: now() + 1 }), newTask()])
    pass(1)
    expect(await work.next(alpha)).toMatchObject({ reason: 'NO_WORK', shouldRetry: true })
    expect(outcome(await work.next(alpha))).toBe('GRANTED')
  })
})

describe('a claim on a lapsed lease', () => {
  test('finds room on the track that the lapsed one leaves', async () => {
    const { work, pass } = manualClock()
    await work.store.setTrack(work.workspace, 1, 'A', 1)
    const task = await work.create({ projectId: 1, key: 'A-001-x' })
    granted(await work.claim(task, alpha, { leaseMs: MINUTE }))
    pass(MINUTE)
    expect(outcome(await work.claim(task, beta))).toBe('GRANTED')
  })

  test('finds room with the worker that held it', async () => {
    const { work, pass } = manualClock()
    await work.register('w', 1, { silenceMs: 60 * MINUTE })
    const task = await work.create()
    granted(await work.claim(task, worker, { leaseMs: MINUTE }))
    pass(MINUTE)
    expect(outcome(await work.claim(task, worker))).toBe('GRANTED')
  })
})

describe('a repeated answer', () => {
  test('has the same refusals', async () => {
    const { work } = manualClock()
    const [one, two] = await work.createAll([newTask(), newTask()])
    await work.claim(two!, beta)
    const items = [one!, two!].map(({ id, uuid }) => {
      const command = { kind: 'claim', ...alpha, leaseMs: MINUTE, capabilities: [] } as const
      return { taskId: id, uuid, command }
    })
    const ask = () => work.under('k').run({ on: 'many', actor: 'test', items })
    expect([await ask(), await ask()]).toMatchObject([{}, { replies: [{}, { ttlMs: 5 * MINUTE }] }])
  })

  test('has the time left now, also for a worker’s heartbeat', async () => {
    const { work, pass } = manualClock()
    await work.register('w', 1)
    await work.claim(await work.create(), worker, { leaseMs: MINUTE })
    const command = { kind: 'heartbeat' } as const
    const ask = () => work.under('k').run({ on: 'session', actor: 'test', key: 'w', uuid: 'u', command })
    await ask()
    pass(10_000)
    expect(await ask()).toMatchObject({ settled: [{ reply: { ttlMs: MINUTE - 10_000 } }] })
  })
})

test('a submission equal to a promoted result names no work product that does not exist', async () => {
  const { work } = manualClock()
  const task = await work.create()
  const late = await rejectedResult(work, task, alpha, 'the same')
  const hold = granted(await work.claim(task, beta))
  await work.command(task, promotion(late))
  const { workProductRef } = await work.submit(task, hold, 'the same')
  const stored = (await work.results(task)).map(({ ref }) => ref)
  expect([undefined, ...stored]).toContain(workProductRef)
})

test('a timeout never gives the next holder less time than the timeout before it', async () => {
  const { work, pass } = manualClock()
  const task = await work.create()
  await work.fail(task, granted(await work.claim(task, alpha, { leaseMs: MINUTE })), 'timeout')
  pass(10 * MINUTE)
  const hold = granted(await work.claim(task, alpha, { leaseMs: MINUTE }))
  await work.renew(task, hold, MINUTE / 2)
  await work.fail(task, hold, 'timeout')
  expect((await work.record(task)).minLeaseMs).toBeGreaterThanOrEqual(2 * MINUTE)
})

describe('a session opened again', () => {
  test('after its end leaves an event', async () => {
    const { work } = manualClock()
    await work.register('w', 1)
    const opening = {
      agent: null,
      userId: null,
      project: null,
      capacity: null,
      capabilities: [],
      silenceMs: null,
    }
    await work.session('s', { kind: 'open', opening })
    await work.session('s', { kind: 'end', reason: 'done' })
    const before = await work.events()
    await work.session('s', { kind: 'open', opening })
    expect((await work.events()).length).toBeGreaterThan(before.length)
  })

  test('without a silence limit keeps the one it has', async () => {
    const { work } = manualClock()
    await work.register('w', 1, { silenceMs: 5 * MINUTE })
    await work.register('w', 1)
    expect((await work.store.session(work.workspace, 'w'))!.silenceMs).toBe(5 * MINUTE)
  })
})
