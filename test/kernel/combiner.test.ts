import { expect, test } from 'vitest'
import type { ReadSet, Request } from '../../src/kernel/batch/requests.ts'
import { Combiner } from '../../src/kernel/combiner.ts'
import type { Transactor } from '../../src/kernel/store/store.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { createMission, missionTask } from '../support/missions.ts'
import { granted, grantedTasks, holder, newTask, Work } from '../support/tasks.ts'

const alpha = holder('alpha')

/** A store in memory that records its requests, transaction by transaction. */
function recording(options: ConstructorParameters<typeof Combiner>[1] = {}) {
  const store = new MemoryStore()
  store.addWorkspace(1, { maxConcurrentClaims: 100_000 })
  const asked: ReadSet[] = []
  const recorder: Transactor = {
    transact(workspaceId, step) {
      asked.push(step.reads)
      return store.transact(workspaceId, step)
    },
  }
  return { work: new Work(store, 1, new Combiner(recorder, options)), asked }
}

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const batch = (count: number) => times(count, () => newTask())
const on = (task: { id: number; uuid: string }) => ({
  taskId: task.id,
  uuid: task.uuid,
  command: { kind: 'cancel', reason: null } as const,
})

test('twenty calls of a thousand tasks are transactions of two thousand, not one of twenty thousand', async () => {
  const { work, asked } = recording({ largestBatch: 2_000 })
  await Promise.all(times(20, () => work.createAll(batch(1_000))))
  expect(asked.map(({ newTasks }) => newTasks)).toEqual([...times(9, () => 2_000), 1_000, 1_000])
})

test('calls for one task each are still combined, up to the largest batch', async () => {
  const { work, asked } = recording({ largestBatch: 2_000 })
  await Promise.all(times(6_000, () => work.create()))
  expect(asked.map(({ newTasks }) => newTasks)).toEqual([2_000, 2_000, 1_000, 500, 500])
})

test('a call for more tasks than the largest batch runs alone, whole, and in order', async () => {
  const { work, asked } = recording({ largestBatch: 10 })
  await Promise.all([4, 25, 4, 4, 4].map((count) => work.createAll(batch(count))))
  expect(asked.map(({ newTasks }) => newTasks)).toEqual([4, 25, 8, 4])
})

test('a call about many tasks weighs as much as they do', async () => {
  const { work, asked } = recording({ largestBatch: 10 })
  const tasks = await work.createAll(batch(30))
  asked.length = 0
  const cancelling = (from: number): Request => ({
    on: 'many',
    actor: 'key:test',
    items: tasks.slice(from, from + 6).map(on),
  })
  await Promise.all([0, 6, 12].map((from) => work.run(cancelling(from))))
  expect(asked.map(({ taskIds }) => taskIds.length)).toEqual([6, 6, 6])
})

test('a call that makes tasks and changes others weighs as much as both', async () => {
  const { work, asked } = recording({ largestBatch: 10 })
  const tasks = await work.createAll(batch(12))
  asked.length = 0
  await Promise.all(
    [0, 4, 8].map((from) =>
      work.run({
        on: 'new',
        actor: 'key:test',
        tasks: batch(4),
        changes: tasks.slice(from, from + 4).map(on),
      }),
    ),
  )
  expect(asked.map(({ newTasks }) => newTasks)).toEqual([4, 4, 4])
})

test('a mission weighs as much as its tasks', async () => {
  const { work, asked } = recording({ largestBatch: 10 })
  const tasksOf = (missionId: number) => times(6, () => missionTask(missionId))
  await Promise.all(times(3, () => createMission(work, tasksOf)))
  expect(asked.map(({ newTasks }) => newTasks)).toEqual([6, 6, 6])
})

test('a result with a request for the next task weighs as much as both', async () => {
  const { work, asked } = recording({ largestBatch: 10 })
  await work.createAll(batch(24))
  const held = grantedTasks(await work.next(alpha, { limit: 12 }))
  asked.length = 0
  await Promise.all(held.map((task) => work.submitThenNext(task, { ...alpha, generation: 1 })))
  expect(asked.map(({ taskIds }) => taskIds.length)).toEqual([5, 5, 2])
})

test('a call for the next tasks weighs as much as it may get', async () => {
  const { work, asked } = recording({ largestBatch: 10 })
  await work.createAll(batch(24))
  asked.length = 0
  const given = await Promise.all(times(4, () => work.next(alpha, { limit: 6 })))
  expect(asked.map(({ waiting }) => waiting[0]!.limit)).toEqual([6, 6, 6, 6])
  expect(given.map((reply) => grantedTasks(reply).length)).toEqual([6, 6, 6, 6])
})

test('light requests after heavy ones are still processed in order', async () => {
  const { work } = recording({ largestBatch: 10 })
  const [task] = await work.createAll(batch(1))
  const [, claimed] = await Promise.all([work.createAll(batch(50)), work.claim(task!, alpha)])
  expect((await work.record(task!)).generation).toBe(granted(claimed).generation)
  await work.combiner.close()
})

test('the next batch is sent before callers are answered, and closing waits for their answers', async () => {
  const order: string[] = []
  const store = new MemoryStore()
  store.addWorkspace(1)
  const recorder: Transactor = {
    transact(...asked) {
      order.push('sent')
      return store.transact(...asked)
    },
  }
  const combiner = new Combiner(recorder, { largestBatch: 1, underWayPerWorkspace: 1 })
  const creating = async () => {
    const { ok } = await combiner.run(1, { on: 'new', actor: 'key:test', tasks: batch(1) })
    order.push(ok ? 'answered' : 'refused')
  }
  await Promise.all([creating(), creating(), combiner.close().then(() => order.push('closed'))])
  expect(order).toEqual(['sent', 'sent', 'answered', 'answered', 'closed'])
})

test('two transactions are under way at once, and a third one when it is full', async () => {
  const store = new MemoryStore()
  store.addWorkspace(1)
  const started: number[] = []
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const slow: Transactor = {
    async transact(workspaceId, step) {
      started.push(step.reads.newTasks)
      await ended
      return store.transact(workspaceId, step)
    },
  }
  const combiner = new Combiner(slow)
  const create = async (count: number) => {
    const created = combiner.run(1, { on: 'new', actor: 'key:test', tasks: batch(count) })
    await new Promise(setImmediate)
    return () => created
  }
  const calls = [await create(1), await create(2), await create(499)]
  expect(started).toEqual([1, 2])
  calls.push(await create(1))
  expect(started).toEqual([1, 2, 500])
  calls.push(await create(600))
  expect(started).toEqual([1, 2, 500])
  end()
  const replies = await Promise.all(calls.map((answer) => answer()))
  expect(replies.map(({ ok }) => ok)).toEqual([true, true, true, true, true])
  expect(started).toEqual([1, 2, 500, 600])
})
