import { describe, expect, test } from 'vitest'
import type { NewTask } from '../../../src/kinds/task/command.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { merge, mergeOf, partsOf } from '../../support/parts.ts'
import type { Reply } from '../../support/replies.ts'
import { granted, holder, newTask, outcome, type Task, tally, type Work } from '../../support/tasks.ts'

const alpha = holder('alpha')
const complete = async (work: Work, task: Task, result: unknown = 'done') =>
  work.submit(task, granted(await work.claim(task, alpha)), result)
const giveUp = async (work: Work, task: Task) =>
  work.fail(task, granted(await work.claim(task, alpha)), 'invalid')
const stateOf = async (work: Work, task: Task) => (await work.record(task)).state
const known = (reply: Reply) => reply.existing as boolean[]

describe('a task with its own idempotency key', () => {
  const once = (bodyHash = 'a', title = 'once') => newTask({ title, unique: { key: 'k', bodyHash } })

  test('is created once: requested again, the first one is the answer', async () => {
    const { work } = manualClock()
    const first = await work.tryCreate([once()])
    const again = await work.tryCreate([once()])
    expect([known(first), known(again)]).toEqual([[false], [true]])
    expect(again.records).toMatchObject([{ uuid: (first.records as Task[])[0]!.uuid }])
    expect(await work.events()).toHaveLength(1)
  })

  test('is created once by one batch too', async () => {
    const { work } = manualClock()
    const replies = await Promise.all([work.tryCreate([once()]), work.tryCreate([once()])])
    expect(replies.map(known)).toEqual([[false], [true]])
    expect(await work.events()).toHaveLength(1)
  })

  test('may be among others: the new ones are created', async () => {
    const { work } = manualClock()
    await work.tryCreate([once()])
    const reply = await work.tryCreate([newTask(), once(), newTask()])
    expect(known(reply)).toEqual([false, true, false])
    expect(await work.events()).toHaveLength(3)
  })

  test('is refused for another body, with the whole request', async () => {
    const { work } = manualClock()
    await work.tryCreate([once()])
    const reply = await work.tryCreate([newTask(), once('b', 'another')])
    expect(reply).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      errors: [{ field: 'tasks[1].idempotencyKey' }],
    })
    expect(await work.events()).toHaveLength(1)
  })

  test('is refused when it is in the request twice', async () => {
    const { work } = manualClock()
    const reply = await work.tryCreate([once(), once()])
    expect(reply).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'tasks[1].idempotencyKey' }] })
    expect(await work.events()).toEqual([])
  })

  test('is not confused with a request under the same key', async () => {
    const { work } = manualClock()
    expect((await work.under('k').tryCreate([newTask()])).ok).toBe(true)
    expect(known(await work.tryCreate([once()]))).toEqual([false])
  })

  test('may repeat its task key, which is its own', async () => {
    const { work } = manualClock()
    const keyed = () => newTask({ key: 'A-001-x', projectId: 1, unique: { key: 'k', bodyHash: 'a' } })
    await work.tryCreate([keyed()])
    expect(known(await work.tryCreate([keyed()]))).toEqual([true])
  })
})

describe('a task key', () => {
  test('is used once in a project, and is free in another', async () => {
    const { work } = manualClock()
    const keyed = (projectId: number) => newTask({ key: 'A-001-x', projectId })
    expect((await work.tryCreate([keyed(1), keyed(2), keyed(0)])).ok).toBe(true)
    expect(await work.tryCreate([newTask(), keyed(2)])).toMatchObject({
      code: 'ALREADY_EXISTS',
      errors: [{ field: 'tasks[1].key' }],
    })
    const { work: fresh } = manualClock()
    expect(outcome(await fresh.tryCreate([keyed(1), keyed(1)]))).toBe('ALREADY_EXISTS')
    const batch = await Promise.all([fresh.tryCreate([keyed(1)]), fresh.tryCreate([keyed(1)])])
    expect(tally(batch)).toEqual({ CREATED: 1, ALREADY_EXISTS: 1 })
  })
})

describe('tasks of one request', () => {
  const waitingFor = (...places: number[]) => newTask({ dependsOnNew: places })

  test('may depend on each other, in any order', async () => {
    const { work } = manualClock()
    const [last, first, middle] = await work.createAll([waitingFor(2, 1), waitingFor(), waitingFor(1)])
    expect([first, middle, last].map((task) => task!.state)).toEqual(['queued', 'pending', 'pending'])
    expect((await work.details(last!)).dependsOn.toSorted()).toEqual([middle!.uuid, first!.uuid].toSorted())
    await complete(work, first!)
    await work.unblock(middle!)
    expect([await stateOf(work, middle!), await stateOf(work, last!)]).toEqual(['queued', 'pending'])
  })

  test('may depend on tasks of the request and on others at once', async () => {
    const { work } = manualClock()
    const there = await work.create()
    const both = { ...newTask({}, [there]), dependsOnNew: [1] }
    const [task, fresh] = await work.createAll([both, newTask()])
    expect((await work.details(task!)).dependsOn).toEqual([there.uuid, fresh!.uuid])
  })

  test('that name one twice depend on it once', async () => {
    const { work } = manualClock()
    const [first, second] = await work.createAll([newTask(), waitingFor(0, 0)])
    expect((await work.details(second!)).dependsOn).toEqual([first!.uuid])
  })

  test('are skipped with their dependency', async () => {
    const { work } = manualClock()
    const failed = await work.create()
    await giveUp(work, failed)
    const [a, b] = await work.createAll([newTask({}, [failed]), waitingFor(0)])
    expect([a!.state, b!.state]).toEqual(['skipped', 'skipped'])
  })

  test.each<[string, NewTask[]]>([
    ['itself', [waitingFor(0)]],
    ['another that waits for it', [waitingFor(1), waitingFor(0)]],
    ['a ring of them', [newTask(), waitingFor(3), waitingFor(1), waitingFor(2)]],
    [
      'the task it is a part of',
      [newTask({ merge: 'object' }), newTask({ parent: { at: 0 }, dependsOnNew: [0] })],
    ],
    ['itself, as its own part', [newTask({ merge: 'object', parent: { at: 0 } })]],
  ])('cannot depend on each other in a cycle: %s', async (_what, tasks) => {
    const { work } = manualClock()
    expect(outcome(await work.tryCreate([newTask(), ...tasks.map(later)]))).toBe('VALIDATION_FAILED')
    expect(await work.events(), 'none of the request is made').toEqual([])
  })

  /** Shifted by one, behind a valid task. */
  const later = (task: NewTask): NewTask => ({
    ...task,
    dependsOnNew: task.dependsOnNew.map((place) => place + 1),
    parent: task.parent && 'at' in task.parent ? { at: task.parent.at + 1 } : task.parent,
  })
})

describe('a task that is divided', () => {
  async function divided(mode: 'object' | 'task' = 'object', count = 2) {
    const { work, pass } = manualClock()
    const parent = await work.create({ title: 'whole' })
    const parts = await work.createAll(partsOf(parent, count, { merge: mode === 'task' ? 'task' : 'none' }))
    return { work, pass, parent, parts }
  }

  test('waits for its parts and cannot be claimed meanwhile', async () => {
    const { work, parent, parts } = await divided()
    expect(await work.record(parent)).toMatchObject({ state: 'pending', blocked: true, merge: 'object' })
    expect(parts).toMatchObject([
      { state: 'queued', parentId: parent.id },
      { state: 'queued', parentId: parent.id },
    ])
    expect((await work.details(parts[0]!)).parent).toBe(parent.uuid)
    expect((await work.details(parent)).dependsOn).toEqual(parts.map(({ uuid }) => uuid))
    expect(await work.claim(parent, alpha)).toMatchObject({ code: 'NOT_READY', taskState: 'pending' })
    expect((await work.eventsOf(parent)).at(-1)).toMatchObject({
      type: 'task_divided',
      payload: { parts: 2 },
    })
  })

  test('may be created with its parts in one request', async () => {
    const { work } = manualClock()
    const [part, parent] = await work.createAll([
      newTask({ parent: { at: 1 } }),
      newTask({ merge: 'object' }),
    ])
    expect(parent).toMatchObject({ state: 'pending', blocked: true, merge: 'object' })
    expect(part).toMatchObject({ state: 'queued', parentId: parent!.id })
    await complete(work, part!, { n: 1 })
    expect(outcome(await merge(work, parent!, [part!]))).toBe('MERGED')
  })

  test('is completed by the results of its parts, as Baton’s own work', async () => {
    const { work, parent, parts } = await divided()
    for (const [i, part] of parts.entries()) await complete(work, part, { n: i })
    expect(outcome(await merge(work, parent, parts))).toBe('MERGED')
    expect(await work.record(parent)).toMatchObject({
      state: 'completed',
      generation: 1,
      claimState: 'released',
    })
    expect(await work.results(parent)).toMatchObject([
      { accepted: true, generation: 1, session: 'baton:merge', data: { parts: [{ n: 0 }, { n: 1 }] } },
    ])
    expect(await work.claims(parent)).toMatchObject([{ generation: 1, endReason: 'MERGED' }])
    expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
    expect(outcome(await merge(work, parent, parts)), 'once').toBe('NOTHING_DUE')
  })

  test('whose result needs a verdict waits for it when its parts are merged', async () => {
    for (const [verification, state] of [
      ['human', 'awaiting_human'],
      ['verifier', 'verifying'],
      ['baton', 'verifying'],
    ] as const) {
      const { work } = manualClock()
      const parent = await work.create({ verification })
      const parts = await work.createAll(partsOf(parent, 2))
      for (const part of parts) await complete(work, part)
      expect(outcome(await merge(work, parent, parts))).toBe('MERGED')
      expect(await stateOf(work, parent), verification).toBe(state)
      expect(await work.results(parent)).toMatchObject([{ accepted: null, session: 'baton:merge' }])
      expect(outcome(await merge(work, parent, parts)), 'once').toBe('NOTHING_DUE')
      await work.approve(parent)
      expect(await stateOf(work, parent)).toBe('completed')
      expect(await work.results(parent)).toMatchObject([{ accepted: true }])
    }
  })

  test('fails when what was merged is rejected: the same parts would give the same result', async () => {
    const { work } = manualClock()
    const parent = await work.create({ verification: 'human' })
    const parts = await work.createAll(partsOf(parent, 2))
    for (const part of parts) await complete(work, part)
    await merge(work, parent, parts)
    await work.command(parent, { kind: 'reject', comment: 'No.' })
    expect(await stateOf(work, parent)).toBe('failed')
    expect((await work.eventsOf(parent)).at(-1)).toMatchObject({
      payload: { reason: 'rejected', error: 'No.' },
    })
    await work.command(parent, { kind: 'retry', reason: null })
    expect(await stateOf(work, parent), 'for its parts').toBe('pending')
  })

  test('is not merged before all parts are done', async () => {
    const { work, parent, parts } = await divided()
    await complete(work, parts[0]!)
    expect(outcome(await merge(work, parent, parts))).toBe('NOTHING_DUE')
    expect(await stateOf(work, parent)).toBe('pending')
  })

  test('is not merged while a part’s result still waits for its verdict', async () => {
    const { work } = manualClock()
    const parent = await work.create()
    const parts = await work.createAll(partsOf(parent, 1, { verification: 'human' }))
    await complete(work, parts[0]!)
    expect(outcome(await merge(work, parent, parts))).toBe('NOTHING_DUE')
    await work.approve(parts[0]!)
    expect(outcome(await merge(work, parent, parts))).toBe('MERGED')
  })

  test('does not expire while it waits for its parts, however late it gets', async () => {
    const { work, now, pass } = manualClock()
    const parent = await work.create({ expiresAt: now() + 1 })
    await work.createAll(partsOf(parent, 1))
    expect((await work.record(parent)).dueAt, 'checked for a cycle, that is all').toBe(now())
    pass(1)
    await work.elapse(parent)
    expect(await work.record(parent)).toMatchObject({ state: 'pending', dueAt: null })
    expect(outcome(await work.elapse(parent))).toBe('NOTHING_DUE')
  })

  test.each<[string, (work: Work, part: Task) => Promise<unknown>]>([
    ['was reset', (work, part) => work.reset(part)],
    [
      'was reset and done again',
      async (work, part) => [await work.reset(part), await complete(work, part, 'new')],
    ],
    [
      'was reset and done again, alike',
      async (work, part) => [await work.reset(part), await complete(work, part)],
    ],
  ])('is not merged from a read before a part %s', async (_what, act) => {
    const { work, parent, parts } = await divided()
    for (const part of parts) await complete(work, part)
    const read = await mergeOf(work, parent, parts)
    await act(work, parts[1]!)
    expect(outcome(await work.command(parent, read))).toBe('NOTHING_DUE')
    expect(await stateOf(work, parent)).toBe('pending')
  })

  test('is not merged within a batch in which a part is reset', async () => {
    const { work, parent, parts } = await divided()
    for (const part of parts) await complete(work, part)
    const read = await mergeOf(work, parent, parts)
    const [, merged] = await Promise.all([work.reset(parts[0]!), work.command(parent, read)])
    expect(outcome(merged)).toBe('NOTHING_DUE')
  })

  test('to be joined by an agent is queued when its parts are done', async () => {
    const { work, parent, parts } = await divided('task')
    for (const part of parts) await complete(work, part)
    expect(outcome(await merge(work, parent, parts)), 'no one else merges them').toBe('NOTHING_DUE')
    await work.unblock(parent)
    expect(await work.record(parent)).toMatchObject({ state: 'queued', blocked: false, merge: 'task' })
    expect(outcome(await complete(work, parent, 'joined'))).toBe('ACCEPTED')
  })

  test.each(['object', 'task'] as const)(
    'fails when a part fails (%s): the part was its own work',
    async (mode) => {
      const { work, parent, parts } = await divided(mode)
      await giveUp(work, parts[1]!)
      await work.unblock(parent)
      expect(await work.record(parent)).toMatchObject({ state: 'failed', blocked: false })
      expect(await work.details(parent)).toMatchObject({ failureClass: 'dependency', exhausted: null })
    },
  )

  test.each<[string, (work: Work, task: Task) => Promise<Reply>]>([
    ['retried', (work, task) => work.retry(task)],
    ['reset', (work, task) => work.reset(task)],
  ])('waits for its parts again when it is %s', async (what, act) => {
    const { work, parent, parts } = await divided()
    await giveUp(work, parts[1]!)
    await work.unblock(parent)
    expect(outcome(await act(work, parent))).toBe('DONE')
    expect(await work.record(parent)).toMatchObject({ state: 'pending', blocked: true })
    await work.retry(parts[1]!)
    for (const part of parts) await complete(work, part)
    expect(outcome(await merge(work, parent, parts)), what).toBe('MERGED')
  })

  test('may be reset after the merge and merged again, one result per epoch', async () => {
    const { work, parent, parts } = await divided()
    for (const part of parts) await complete(work, part)
    await merge(work, parent, parts)
    await work.reset(parent)
    expect(await work.record(parent)).toMatchObject({
      state: 'pending',
      blocked: true,
      epoch: 2,
      resultHash: null,
    })
    expect(outcome(await merge(work, parent, parts))).toBe('MERGED')
    const accepted = (await work.results(parent)).filter((result) => result.accepted)
    expect(accepted.map(({ epoch, generation }) => [epoch, generation])).toEqual([
      [1, 1],
      [2, 2],
    ])
  })

  test('fails when the results of its parts together are too large', async () => {
    const { work } = manualClock({ maxResultBytes: 1024 })
    const parent = await work.create()
    const parts = await work.createAll(partsOf(parent, 2))
    for (const part of parts) await complete(work, part, 'x'.repeat(600))
    expect(outcome(await merge(work, parent, parts))).toBe('MOVED')
    expect(await work.record(parent)).toMatchObject({ state: 'failed', generation: 0 })
    expect((await work.details(parent)).error).toContain('1024 are allowed')
  })

  test('is not merged while it is paused, but afterwards', async () => {
    const { work, parent, parts } = await divided()
    await work.pause(parent)
    for (const part of parts) await complete(work, part)
    expect(outcome(await merge(work, parent, parts))).toBe('NOTHING_DUE')
    await work.resume(parent)
    expect(await stateOf(work, parent)).toBe('pending')
    expect(outcome(await merge(work, parent, parts))).toBe('MERGED')
  })

  test.each<[string, (work: Work, task: Task) => Promise<unknown>]>([
    ['held', (work, task) => work.claim(task, alpha)],
    ['completed', (work, task) => complete(work, task)],
    ['paused', (work, task) => work.pause(task)],
    ['cancelled', (work, task) => work.cancel(task)],
  ])(
    'must be waiting itself: one that is %s is not divided, and nothing of the request is created',
    async (_state, act) => {
      const { work } = manualClock()
      const parent = await work.create()
      await act(work, parent)
      const before = (await work.events()).length
      const reply = await work.tryCreate([newTask(), ...partsOf(parent, 1)])
      expect(reply).toMatchObject({ code: 'WRONG_STATE', errors: [{ field: 'tasks[1].parentId' }] })
      expect(await work.events()).toHaveLength(before)
    },
  )

  test('has no parts of parts, and no parts of unknown tasks', async () => {
    const { work, parts } = await divided()
    expect(outcome(await work.tryCreate(partsOf(parts[0]!, 1)))).toBe('VALIDATION_FAILED')
    expect(outcome(await work.tryCreate(partsOf({ id: 99, uuid: 'nobody' }, 1)))).toBe('VALIDATION_FAILED')
  })

  test('and divided further waits for all of them', async () => {
    const { work, parent, parts } = await divided()
    const more = await work.createAll(partsOf(parent, 1))
    for (const part of [...parts, ...more]) await complete(work, part)
    expect((await work.details(parent)).dependsOn).toHaveLength(3)
    expect(outcome(await merge(work, parent, [...parts, ...more]))).toBe('MERGED')
  })
})
