import { describe, expect, test } from 'vitest'
import { systemCaller } from '../../../src/kernel/caller.ts'
import { Combiner } from '../../../src/kernel/combiner.ts'
import type { Direction, Store, Walked } from '../../../src/kernel/store/store.ts'
import { changeDependencies } from '../../../src/kinds/task/acts/dependencies.ts'
import { unblockAll } from '../../../src/kinds/task/acts/unblock.ts'
import { uuidCarrying } from '../../../src/pure/ids.ts'
import { complete, dependOn, flowOn, giveUp, sweep } from '../../support/depend-on.ts'
import { earlier, NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import { partsOf } from '../../support/parts.ts'
import { granted, grantedTasks, holder, newTask, outcome, type Task, type Work } from '../../support/tasks.ts'

const alpha = holder('alpha')
const roomy = { maxConcurrentClaims: 1_000 }
const DAY = 86_400_000

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const statesOf = (work: Work, tasks: readonly Task[]) =>
    Promise.all(tasks.map(async (task) => (await work.record(task)).state))

  describe('a task that gets dependencies', () => {
    test('leaves the queue, is due at once, and continues when they are done', async () => {
      const work = await nodes.work()
      const [first, second, task] = await work.createAll([newTask(), newTask(), newTask()])
      expect(outcome(await dependOn(work, task!, [first!, second!]))).toBe('HELD_BACK')
      const held = await work.record(task!)
      expect(held).toMatchObject({ state: 'pending', blocked: true, rank: null, version: task!.version + 1 })
      expect(held.dueAt).toBe(held.updatedAt)
      expect(new Set((await work.details(task!)).dependsOn)).toEqual(new Set([first!.uuid, second!.uuid]))
      const known = await work.store.dependencies(work.workspace, task!.id)
      expect(known).toHaveLength(2)
      const { uuid } = first!
      const dependency = { uuid, state: 'queued', version: 1, triggerRule: 'all_success', kind: 'data' }
      expect(known).toContainEqual({ ...dependency, countedVersion: 1, outcome: null })
      expect((await work.eventsOf(task!)).at(-1)).toMatchObject({
        type: 'task_held_back',
        from: 'queued',
        to: 'pending',
        payload: { dependsOn: [first!.uuid, second!.uuid] },
      })
      expect(await work.claim(task!, alpha)).toMatchObject({ code: 'NOT_READY' })
      await sweep(work.store)
      expect(await work.record(task!)).toMatchObject({ state: 'pending', dueAt: null })
      for (const upstream of grantedTasks(await work.next(alpha, { limit: 10 })))
        await work.submit(upstream, { ...alpha, generation: 1 })
      await sweep(work.store)
      expect(await work.record(task!)).toMatchObject({ state: 'queued', blocked: false })
      expect(outcome(await work.claim(task!, alpha))).toBe('GRANTED')
    })

    test('stays in the queue if they are completed, and is skipped if one of them failed', async () => {
      const work = await nodes.work()
      const [done, failed, ready, never, whatever] = await work.createAll(
        Array.from({ length: 5 }, () => newTask()),
      )
      await complete(work, done!)
      await giveUp(work, failed!)
      await dependOn(work, ready!, [done!])
      expect(await work.record(ready!)).toMatchObject({ state: 'queued', blocked: false, rank: ready!.rank })
      expect((await work.details(ready!)).dependsOn).toEqual([done!.uuid])
      await dependOn(work, never!, [done!, failed!])
      expect(await work.record(never!)).toMatchObject({ state: 'skipped', blocked: false, dueAt: null })
      await dependOn(work, whatever!, [done!, failed!], { triggerRule: 'all_done' })
      expect(await work.record(whatever!)).toMatchObject({ state: 'queued' })
    })

    test('that had dependencies already waits for both, and an earlier read cannot unblock it', async () => {
      const work = await nodes.work()
      const [first, second] = await work.createAll([newTask(), newTask()])
      const task = await work.create({}, [first!])
      await complete(work, first!)
      const read = await work.store.downstreamOf(work.workspace, [first!.id])
      await dependOn(work, task, [second!])
      const kernel = flowOn(work.store)
      await unblockAll(kernel, read)
      expect(await work.record(task)).toMatchObject({ state: 'pending', blocked: true })
      await unblockAll(kernel, read)
      expect(await work.record(task), 'reported twice').toMatchObject({ state: 'pending', blocked: true })
      await complete(work, second!)
      await unblockAll(kernel, await work.store.downstreamOf(work.workspace, [second!.id]))
      expect(await work.record(task), 'by the second').toMatchObject({ state: 'queued', blocked: false })
    })

    test('stays due if it was due before, so that it is checked for a cycle', async () => {
      const work = await nodes.work()
      const [first, second] = await work.createAll([newTask(), newTask()])
      const task = await work.create({ runAt: Date.now() - 1 }, [first!])
      await dependOn(work, task, [second!])
      const isOwn = ({ taskId }: { taskId: number }) => taskId === task.id
      const [seen] = (await work.store.dueTasks(10_000)).filter(isOwn)
      expect(seen).toMatchObject({ isBlocked: true, version: task.version + 1 })
      await dependOn(work, task, [await work.create()])
      const elapse = (version: number) => work.command(task, { kind: 'elapse', version }, 'system')
      expect(outcome(await elapse(seen!.version))).toBe('NOTHING_DUE')
      expect((await work.store.dueTasks(10_000)).filter(isOwn)).toHaveLength(1)
      expect(outcome(await elapse(seen!.version + 1))).toBe('MOVED')
      expect((await work.store.dueTasks(10_000)).filter(isOwn)).toEqual([])
    })

    test('no longer accepts a late result of an earlier holder', async () => {
      const work = await nodes.work()
      const [upstream, task] = await work.createAll([newTask(), newTask()])
      const late = work.through(new Combiner(earlier(work.store, DAY)))
      const hold = granted(await late.claim(task!, alpha))
      for (let i = 0; i < 2; i++) await work.elapse(task!)
      expect(await work.record(task!)).toMatchObject({ state: 'queued', claimState: 'expired' })
      await dependOn(work, task!, [upstream!])
      await complete(work, upstream!)
      await sweep(work.store)
      expect(await work.submit(task!, hold)).toMatchObject({ ok: false })
      expect(await work.record(task!)).toMatchObject({ state: 'queued' })
    })

    test('keeps its scheduled time and its expiry time', async () => {
      const work = await nodes.work()
      const upstream = await work.create()
      const later = await work.create({ runAt: Date.now() + DAY })
      const expiring = await work.create({ expiresAt: Date.now() + DAY })
      await dependOn(work, later, [upstream])
      await dependOn(work, expiring, [upstream])
      expect(await work.record(later)).toMatchObject({ state: 'pending', blocked: true, dueAt: later.dueAt })
      await sweep(work.store)
      await complete(work, upstream)
      await sweep(work.store)
      expect(await work.record(later)).toMatchObject({ state: 'pending', blocked: false, dueAt: later.dueAt })
      expect(await work.record(expiring)).toMatchObject({ state: 'queued', dueAt: expiring.expiresAt })
    })

    test('is refused if it is running, finished or paused, and nothing is written', async () => {
      const work = await nodes.work()
      const [upstream, held, paused, done, expired] = await work.createAll([
        ...Array.from({ length: 4 }, () => newTask()),
        newTask({ expiresAt: Date.now() - 1 }),
      ])
      granted(await work.claim(held!, alpha))
      await work.pause(paused!)
      await complete(work, done!)
      for (const task of [held!, paused!, done!]) {
        const before = await work.record(task)
        const reply = await dependOn(work, task, [upstream!], { patch: { title: 'another' } })
        expect(reply).toMatchObject({ code: 'WRONG_STATE', taskState: before.state })
        expect(await work.record(task)).toEqual(before)
        expect(await work.details(task)).toMatchObject({ title: 'Fix login', dependsOn: [] })
      }
      expect(await dependOn(work, expired!, [upstream!])).toMatchObject({ taskState: 'cancelled' })
    })

    test('is refused for an unknown task, and if it was changed since it was read', async () => {
      const [work, elsewhere] = [await nodes.work(), await nodes.work()]
      const [task, upstream] = await work.createAll([newTask(), newTask()])
      const guessed = { id: upstream!.id, uuid: uuidCarrying(upstream!.id, 1, 1) }
      for (const unknown of [await elsewhere.create(), guessed])
        expect(await dependOn(work, task!, [upstream!, unknown])).toMatchObject({
          code: 'VALIDATION_FAILED',
          errors: [{ field: 'dependsOn[1]' }],
        })
      const old = { version: task!.version - 1 }
      expect(await dependOn(work, task!, [upstream!], old)).toMatchObject({ shouldRetry: true })
      const reply = await dependOn(work, task!, [upstream!], { ifVersion: 99 })
      expect(reply).toMatchObject({ code: 'VERSION_MISMATCH' })
      expect(reply).not.toHaveProperty('shouldRetry')
      expect(await work.record(task!)).toEqual(task)
      expect((await work.details(task!)).dependsOn).toEqual([])
    })

    test('sees a concurrent completion as completed, or is seen waiting by it', async () => {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      const upstream = await here.createAll(Array.from({ length: 40 }, () => newTask()))
      const tasks = await here.createAll(Array.from({ length: 40 }, () => newTask()))
      const holds = await Promise.all(upstream.map((task) => here.claim(task, alpha)))
      await Promise.all(
        tasks.map((task, i) =>
          Promise.all([here.submit(upstream[i]!, granted(holds[i]!)), dependOn(there, task, [upstream[i]!])]),
        ),
      )
      const events = await here.events()
      for (const [i, task] of tasks.entries()) {
        const { state } = await here.record(task)
        const end = events.find(
          ({ type, taskId }) => type === 'task_completed' && taskId === upstream[i]!.id,
        )!
        const own = events.findLast(({ taskId }) => taskId === task.id)!
        expect(state).toBe(own.seq < end.seq ? 'pending' : 'queued')
      }
      await sweep(here.store)
      expect(new Set(await statesOf(here, tasks))).toEqual(new Set(['queued']))
    })
  })

  describe('a cycle', () => {
    const expectNamed = async (work: Work, tasks: readonly Task[]) => {
      const uuids = new Set(tasks.map(({ uuid }) => uuid))
      for (const task of tasks) {
        expect(await work.record(task)).toMatchObject({ state: 'failed', blocked: false, dueAt: null })
        const { error, failureClass } = await work.details(task)
        expect(failureClass).toBe('dependency')
        for (const uuid of uuids) expect(error).toContain(uuid)
        expect((await work.eventsOf(task)).at(-1)!.payload).toMatchObject({ reason: 'dependency_cycle' })
      }
    }
    const found = async (work: Work) =>
      (await work.events()).filter(({ type }) => type === 'dependency_cycle_found')

    test('that is found beforehand is refused with its path, starting at the task', async () => {
      const work = await nodes.work()
      const a = await work.create()
      const b = await work.create({}, [a])
      const c = await work.create({}, [b])
      const kernel = flowOn(work.store)
      const request = changeDependencies(kernel, systemCaller(work.workspace), a.uuid, {
        dependsOn: [c.uuid],
      })
      await expect(request).rejects.toMatchObject({
        code: 'DEPENDENCY_CYCLE',
        refusal: { cycle: [a.uuid, c.uuid, b.uuid] },
      })
      expect(await work.record(a)).toEqual({ ...a, awaited: true })
      expect((await work.details(a)).dependsOn).toEqual([])
    })

    test('that two requests close at the same moment fails, its downstream tasks are skipped, and nothing else happens', async () => {
      const [here, there] = await nodes.pair()
      const [a, b, beside] = await here.createAll([newTask(), newTask(), newTask()])
      const below = await here.create({}, [a!])
      const waitsBeside = await here.create({}, [beside!])
      // As if both had checked before either wrote.
      const blind = (store: Store) =>
        new Proxy(store, {
          get: (of, name) => {
            if (name === 'blockedFrom') return async () => ({ tasks: [], isWhole: true })
            const value = Reflect.get(of, name, of)
            return typeof value === 'function' ? value.bind(of) : value
          },
        })
      const requests = [
        [here, a!, b!],
        [there, b!, a!],
      ] as const
      await Promise.all(
        requests.map(([{ store, workspace }, task, on]) =>
          changeDependencies(flowOn(blind(store)), systemCaller(workspace), task.uuid, {
            dependsOn: [on.uuid],
          }),
        ),
      )
      expect(await statesOf(here, [a!, b!])).toEqual(['pending', 'pending'])
      await sweep(there.store)
      await expectNamed(here, [a!, b!])
      expect(await statesOf(here, [below, beside!, waitsBeside])).toEqual(['skipped', 'queued', 'pending'])
      const [event, ...more] = await found(here)
      expect(more).toEqual([])
      expect(event).toMatchObject({ taskId: null, generation: null, from: null, to: null, actor: 'system' })
      expect(new Set(event!.payload.cycle as string[])).toEqual(new Set([a!.uuid, b!.uuid]))
    })

    test('never stays, whichever of many pairs was found and whichever slipped through', async () => {
      const [here, there] = await nodes.pair(roomy)
      const pairs = await Promise.all(
        Array.from({ length: 15 }, () => here.createAll([newTask(), newTask()])),
      )
      const kernels = [flowOn(here.store), flowOn(there.store)]
      await Promise.all(
        pairs
          .flatMap(([a, b]) => [
            changeDependencies(kernels[0]!, systemCaller(here.workspace), a!.uuid, { dependsOn: [b!.uuid] }),
            changeDependencies(kernels[1]!, systemCaller(here.workspace), b!.uuid, { dependsOn: [a!.uuid] }),
          ])
          .map((one) => one.catch(({ code }) => expect(code).toBe('DEPENDENCY_CYCLE'))),
      )
      await sweep(here.store)
      for (const pair of pairs) {
        const states = await statesOf(here, pair)
        if (states.includes('failed')) await expectNamed(here, pair)
        else expect(states.toSorted()).toEqual(['pending', 'queued'])
      }
    })

    test('is found by the request that closed it, even if the other tasks were checked before', async () => {
      const work = await nodes.work()
      const [a, b, c] = await work.createAll([newTask(), newTask(), newTask()])
      await dependOn(work, a!, [b!])
      await sweep(work.store)
      await dependOn(work, b!, [c!])
      await sweep(work.store)
      expect(await statesOf(work, [a!, b!, c!])).toEqual(['pending', 'pending', 'queued'])
      await dependOn(work, c!, [a!])
      await sweep(work.store)
      await expectNamed(work, [a!, b!, c!])
      const [event] = await found(work)
      const cycle = event!.payload.cycle as string[]
      const next = (task: Task) => cycle[(cycle.indexOf(task.uuid) + 1) % 3]
      expect([next(a!), next(b!), next(c!)], 'in the order of waiting').toEqual([b!.uuid, c!.uuid, a!.uuid])
    })

    test('that waits for another cycle fails as a whole, and so does each of two that share a task', async () => {
      const work = await nodes.work()
      const [a, b, c, d, e] = await work.createAll(Array.from({ length: 5 }, () => newTask()))
      await dependOn(work, a!, [b!])
      await dependOn(work, b!, [a!])
      await dependOn(work, c!, [a!, d!, e!])
      await dependOn(work, d!, [c!])
      await dependOn(work, e!, [c!])
      await sweep(work.store)
      await expectNamed(work, [a!, b!])
      expect(await statesOf(work, [c!, d!, e!])).toEqual(['failed', 'failed', 'failed'])
      for (const task of [d!, e!]) {
        const { error } = await work.details(task)
        expect(error).toContain(task.uuid)
        expect(error).toContain(c!.uuid)
      }
      expect(await found(work)).toHaveLength(3)
    })

    test('stays while one of its tasks is paused, and is found when that is resumed', async () => {
      const work = await nodes.work()
      const [a, b] = await work.createAll([newTask(), newTask()])
      await dependOn(work, a!, [b!])
      await sweep(work.store)
      await work.pause(a!)
      await dependOn(work, b!, [a!])
      await sweep(work.store)
      expect(await statesOf(work, [a!, b!])).toEqual(['paused', 'pending'])
      expect(await work.record(b!)).toMatchObject({ dueAt: null })
      await work.resume(a!)
      await sweep(work.store)
      await expectNamed(work, [a!, b!])
    })

    test('that one task left in time is none, and the other tasks continue by their rules', async () => {
      const work = await nodes.work()
      const [a, b] = await work.createAll([newTask(), newTask()])
      await dependOn(work, a!, [b!])
      await dependOn(work, b!, [a!], { triggerRule: 'all_done' })
      const { tasks: seen } = await work.store.blockedFrom(work.workspace, [a!.id], 'upstream', 10)
      await work.cancel(a!)
      const cycle = seen.map(({ uuid }) => uuid)
      const reply = await work.run({
        on: 'many',
        actor: 'system',
        ifAllUnchanged: true,
        items: seen.map(({ id, uuid, version }) => ({
          taskId: id,
          uuid,
          command: { kind: 'failCycle', cycle, version },
        })),
      })
      expect(outcome(reply)).toBe('NOTHING_DUE')
      await sweep(work.store)
      expect(await statesOf(work, [a!, b!])).toEqual(['cancelled', 'queued'])
      expect(await found(work)).toEqual([])
    })

    test('that is changed at that moment is checked again, and does not escape', async () => {
      const work = await nodes.work()
      const [a, b] = await work.createAll([newTask(), newTask()])
      await dependOn(work, b!, [a!])
      await sweep(work.store)
      await dependOn(work, a!, [b!])
      const { store } = work
      let isFirst = true
      const meddled = new Proxy(store, {
        get: (of, name) => {
          const value = Reflect.get(of, name, of)
          if (name !== 'blockedFrom') return typeof value === 'function' ? value.bind(of) : value
          return async (...given: Parameters<Store['blockedFrom']>) => {
            const seen = await of.blockedFrom(...given)
            if (isFirst) await work.update(b!, { title: 'another' })
            isFirst = false
            return seen
          }
        },
      })
      await sweep(meddled)
      await expectNamed(work, [a!, b!])
    })

    test('closed by subtasks that were created at the same moment is found too', async () => {
      const work = await nodes.work()
      const [one, other] = await work.createAll([newTask(), newTask()])
      await work.createAll(partsOf(one!, 1).map((part) => ({ ...part, ...waitingFor(other!) })))
      await work.createAll(partsOf(other!, 1).map((part) => ({ ...part, ...waitingFor(one!) })))
      await sweep(work.store)
      expect(await statesOf(work, [one!, other!])).toEqual(['failed', 'failed'])
      expect((await found(work))[0]!.payload.cycle).toHaveLength(4)
    })

    test('may be closed by a task that is reopened', async () => {
      const work = await nodes.work()
      const [whole, blocker] = await work.createAll([newTask(), newTask()])
      const [part] = await work.createAll(partsOf(whole!, 1))
      await work.cancel(whole!)
      await dependOn(work, part!, [whole!, blocker!], { triggerRule: 'all_done' })
      await sweep(work.store)
      expect(await statesOf(work, [part!])).toEqual(['pending'])
      await work.reset(whole!)
      await sweep(work.store)
      await expectNamed(work, [whole!, part!])
    })

    const waitingFor = (task: Task) => {
      const { dependsOn, details } = newTask({}, [task])
      return { dependsOn, details }
    }
  })

  test('upstream and downstream tasks are walked to the end or to the given limit', async () => {
    const work = await nodes.work()
    const root = await work.create()
    const chain = [await work.create({}, [root])]
    for (let i = 0; i < 5; i++) chain.push(await work.create({}, [chain.at(-1)!]))
    const walk = (from: Task, ...how: [Direction, number]) =>
      work.store.blockedFrom(work.workspace, [from.id], ...how)
    const idsOf = ({ tasks }: Walked) => tasks.map(({ id }) => id)
    const ids = chain.map(({ id }) => id)
    const [down, up] = [await walk(root, 'downstream', 100), await walk(chain[5]!, 'upstream', 100)]
    expect([idsOf(down), down.isWhole]).toEqual([ids, true])
    expect([idsOf(up), up.isWhole]).toEqual([ids.toReversed(), true])
    expect(up.tasks[1]).toEqual({
      id: ids[4],
      uuid: chain[4]!.uuid,
      version: 1,
      isPaused: false,
      waitsFor: [ids[3]],
    })
    const near = await walk(chain[5]!, 'upstream', 3)
    expect([idsOf(near), near.isWhole]).toEqual([ids.slice(3).toReversed(), false])
    expect(await walk(root, 'downstream', 3)).toMatchObject({ isWhole: false })
    expect(await walk(root, 'upstream', 3), 'it waits for nothing').toEqual({ tasks: [], isWhole: true })
    await work.cancel(chain[2]!)
    expect(idsOf(await walk(root, 'downstream', 100))).toEqual(ids.slice(0, 2))
    expect(idsOf(await walk(chain[5]!, 'upstream', 100))).toEqual(ids.slice(3).toReversed())
  })
})
