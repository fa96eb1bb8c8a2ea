import { expect, test } from 'vitest'
import { systemCaller } from '../../src/kernel/caller.ts'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { changeDependencies } from '../../src/kinds/task/acts/dependencies.ts'
import { command } from '../../src/kinds/task/acts/tasks.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { isTerminal } from '../../src/pure/states.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { complete, flowOn, giveUp } from '../support/depend-on.ts'
import { justEnded } from '../support/mission-upkeep.ts'
import { newTask, Work } from '../support/tasks.ts'

/** Tasks that depend on finished ones are checked after all callers are answered: no caller is left to get an error. */

/** What is logged when the check fails in this way. */
async function answeredFor(error: Error): Promise<unknown[]> {
  const store = new MemoryStore()
  store.downstreamOf = () => Promise.reject(error)
  const reported: unknown[] = []
  const notRequested = () => Promise.reject(new Error('not requested'))
  const kernel = openKernel(store, { agentOf: notRequested, projectOf: notRequested }, (fault) =>
    reported.push(fault),
  )
  await kernel.follow(1, [justEnded({ id: 1, version: 2, awaited: true, state: 'completed' } as TaskRecord)])
  await kernel.close()
  return reported
}

test('an unreachable store is not logged: upkeep finds the missed tasks', async () => {
  expect(await answeredFor(new StoreUnavailable('away'))).toEqual([])
})

test('when a task ends that nobody waits for, no downstream tasks are looked for', async () => {
  const store = new MemoryStore()
  const looked: number[] = []
  store.downstreamOf = async (_workspace, ids) => {
    looked.push(...ids)
    return []
  }
  const notRequested = () => Promise.reject(new Error('not requested'))
  const kernel = openKernel(store, { agentOf: notRequested, projectOf: notRequested })
  const ended = (id: number, awaited: boolean) =>
    ({ id, awaited, version: 2, state: 'completed' }) as TaskRecord
  await kernel.follow(1, [justEnded(ended(1, false))])
  expect(looked).toEqual([])
  const held = { ...ended(4, true), state: 'running' } as TaskRecord
  await kernel.follow(1, [ended(2, false), ended(3, true), held].map(justEnded))
  expect(looked).toEqual([3])
  await kernel.close()
})

test('any other error is logged, and stops nothing', async () => {
  const mistake = new TypeError('records is not iterable')
  expect(await answeredFor(mistake)).toEqual([mistake])
})

test('a task that is opened again is awaited again by those that counted its end, without waiting for upkeep', async () => {
  const store = new MemoryStore()
  const work = new Work(store, await store.workspace('test'))
  const kernel = flowOn(store)
  const [first, second] = await work.createAll([newTask(), newTask()])
  const join = await work.create({ triggerRule: 'all_done' }, [first!, second!])
  const counted = async () => (await work.record(join)).upstream!
  await giveUp(work, first!)
  await kernel.follow(work.workspace, [justEnded(await work.record(first!))])
  expect(await counted()).toMatchObject({ waiting: 1, failed: 1 })
  await command(kernel, systemCaller(work.workspace), first!.uuid, { kind: 'retry', reason: null })
  await expect.poll(counted).toMatchObject({ waiting: 2, failed: 0 })
  await kernel.close()
})

test('a task that waits again is counted again, without waiting for upkeep', async () => {
  const store = new MemoryStore()
  const work = new Work(store, await store.workspace('test'))
  const kernel = flowOn(store)
  const [done, open] = await work.createAll([newTask(), newTask()])
  await complete(work, done!)
  const task = await work.create({}, [done!])
  await changeDependencies(kernel, systemCaller(work.workspace), task.uuid, { dependsOn: [open!.uuid] })
  await expect
    .poll(async () => (await work.record(task)).upstream)
    .toMatchObject({ waiting: 1, succeeded: 1 })
  await kernel.close()
})

/** A chain: the second task waits for the first, the third for the second. */
async function chainOf(store: MemoryStore) {
  const work = new Work(store, await store.workspace('test'))
  const first = await work.create()
  const second = await work.create({}, [first])
  return { work, first, third: await work.create({}, [second]) }
}

test('a caller that waits is answered when dependents, and those of dependents, have counted the end', async () => {
  const store = new MemoryStore()
  const { work, first, third } = await chainOf(store)
  const kernel = flowOn(store)
  await command(kernel, systemCaller(work.workspace), first.uuid, { kind: 'cancel', reason: null })
  expect(await work.record(third)).toMatchObject({ state: 'skipped' })
  await kernel.close()
})

test('any other caller is answered first', async () => {
  const store = new MemoryStore()
  const { work, first, third } = await chainOf(store)
  const kernel = flowOn(store)
  const { downstreamOf } = store
  let goOn: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  store.downstreamOf = async (...asked) => {
    await held
    return downstreamOf.apply(store, asked)
  }
  const caller = { ...systemCaller(work.workspace), waits: undefined }
  await command(kernel, caller, first.uuid, { kind: 'cancel', reason: null })
  expect(await work.record(third)).toMatchObject({ state: 'pending' })
  goOn()
  await expect.poll(() => work.record(third)).toMatchObject({ state: 'skipped' })
  await kernel.close()
})

test('dependents learn of an end that a refused claim brought about', async () => {
  const store = new MemoryStore()
  const work = new Work(store, await store.workspace('test'))
  const task = await work.create({ expiresAt: Date.now() - 1 })
  const dependent = await work.create({}, [task])
  const kernel = flowOn(store)
  const claim = { kind: 'claim', agent: 'alpha', session: 's', leaseMs: 60_000, capabilities: [] } as const
  const request = { on: 'task', taskId: task.id, uuid: task.uuid, command: claim } as const
  expect(await kernel.run(systemCaller(work.workspace), request)).toMatchObject({ ok: false })
  expect(isTerminal((await work.record(task)).state)).toBe(true)
  expect(await work.record(dependent)).toMatchObject({ state: 'skipped' })
  await kernel.close()
})
