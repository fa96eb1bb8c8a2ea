import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { uuidCarrying } from '../../../src/pure/ids.ts'
import { dependOn } from '../../support/depend-on.ts'
import { earlier, NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import { partsOf } from '../../support/parts.ts'
import { granted, holder, newTask, outcome, type Task, type Work } from '../../support/tasks.ts'

const alpha = holder('alpha')
const complete = async (work: Work, task: Task) => work.submit(task, granted(await work.claim(task, alpha)))
const giveUp = async (work: Work, task: Task) =>
  work.fail(task, granted(await work.claim(task, alpha)), 'invalid')

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  test('a task waits for the tasks it depends on and is queued when the last is completed', async () => {
    const work = await nodes.work()
    const [first, second] = await work.createAll([newTask(), newTask()])
    const task = await work.create({}, [first!, second!])
    expect(task).toMatchObject({ state: 'pending', blocked: true, rank: null })
    expect(new Set((await work.details(task)).dependsOn)).toEqual(new Set([first!.uuid, second!.uuid]))
    expect(await work.claim(task, alpha)).toMatchObject({ code: 'NOT_READY', taskState: 'pending' })

    await complete(work, first!)
    expect(outcome(await work.unblock(task))).toBe('NOTHING_DUE')
    await complete(work, second!)
    expect(outcome(await work.unblock(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({ state: 'queued', blocked: false })
    expect(outcome(await work.claim(task, alpha))).toBe('GRANTED')
  })

  test('a task whose dependencies are completed already is queued at once', async () => {
    const work = await nodes.work()
    const done = await work.create()
    await complete(work, done)
    expect(await work.create({}, [done])).toMatchObject({ state: 'queued', blocked: false })
  })

  test('a task knows that another waits for it, however the dependency came about, and its version stays', async () => {
    const work = await nodes.work()
    const [alone, done, early, late, whole] = await work.createAll([
      newTask(),
      newTask(),
      newTask(),
      newTask(),
      newTask({ key: 'A-001-whole' }),
    ])
    await complete(work, done!)
    await work.create({}, [done!, early!])
    await dependOn(work, await work.create(), [late!])
    const [part] = await work.createAll(partsOf(whole!, 1))
    const [upstream, downstream] = await work.createAll([newTask(), { ...newTask(), dependsOnNew: [0] }])
    const flags = await Promise.all(
      [alone, done, early, late, whole, part, upstream, downstream].map(async (task) => {
        const { awaited } = await work.record(task!)
        return awaited
      }),
    )
    expect(flags).toEqual([false, true, true, true, false, true, true, false])
    expect(await work.record(early!)).toMatchObject({ state: 'queued', version: early!.version })
    await complete(work, early!)
    expect(await work.record(early!), 'claims and results leave it alone').toMatchObject({ awaited: true })
  })

  test('a task is skipped when what it depends on failed, now or before', async () => {
    const work = await nodes.work()
    const [failing, failed] = await work.createAll([newTask(), newTask()])
    const waiting = await work.create({}, [failing!])
    await giveUp(work, failing!)
    await giveUp(work, failed!)
    await work.unblock(waiting)
    expect(await work.record(waiting)).toMatchObject({ state: 'skipped', blocked: false, dueAt: null })
    const late = await work.create({}, [failed!])
    expect(late).toMatchObject({ state: 'skipped' })
    expect(late.completedAt).not.toBeNull()
  })

  test('a task with the rule all_done continues after a failure', async () => {
    const work = await nodes.work()
    const failed = await work.create()
    await giveUp(work, failed)
    expect(await work.create({ triggerRule: 'all_done' }, [failed])).toMatchObject({ state: 'queued' })
  })

  test('a scheduled task waits for both, its time and its dependency', async () => {
    const work = await nodes.work()
    const upstream = await work.create()
    const tomorrow = Date.now() + 86_400_000
    const task = await work.create({ runAt: tomorrow }, [upstream])
    expect(task).toMatchObject({ state: 'pending', blocked: true, dueAt: tomorrow })
    await complete(work, upstream)
    await work.unblock(task)
    expect(await work.record(task)).toMatchObject({ state: 'pending', blocked: false, dueAt: tomorrow })
    const inTwoDays = work.through(new Combiner(earlier(work.store, -2 * 86_400_000)))
    expect(outcome(await inTwoDays.elapse(task))).toBe('MOVED')
    expect(await work.record(task)).toMatchObject({ state: 'queued', dueAt: null })
  })

  test('a task that depends on one of an earlier request, known by its idempotency key, sees it as it is now', async () => {
    const work = await nodes.work()
    const once = () => newTask({ title: 'once', unique: { key: 'k', bodyHash: 'a' } })
    const [first] = await work.createAll([once()])
    const wanted = () => [once(), newTask({ dependsOnNew: [0] })]
    const create = async () => {
      const asked = await work.tryCreate(wanted())
      expect(asked).toMatchObject({ reason: 'NOT_LOCKED', records: [], unlocked: [first!.id] })
      const request = { on: 'new', actor: 'key:test', tasks: wanted(), alsoLock: [first!.id] } as const
      const reply = await work.run(request)
      expect(reply).toMatchObject({ reason: 'CREATED', existing: [true, false] })
      const [, dependent] = reply.records as Task[]
      return work.record(dependent!)
    }
    expect(await create()).toMatchObject({ state: 'pending', blocked: true })
    expect(await work.record(first!), 'its end is followed at once').toMatchObject({ awaited: true })
    await work.submit(first!, granted(await work.claim(first!, alpha)))
    expect(await create(), 'it has ended by now').toMatchObject({ state: 'queued', blocked: false })
  })

  test('a task cannot depend on a task outside its workspace, and then nothing of the request is created', async () => {
    const [work, elsewhere] = [await nodes.work(), await nodes.work()]
    const foreign = await elsewhere.create()
    const unknown = { id: 4_000_000_000_000, uuid: uuidCarrying(4_000_000_000_000, 1, 1) }
    const mine = await work.create()
    const guessed = { id: mine.id, uuid: uuidCarrying(mine.id, 1, 1) }
    const before = (await work.events()).length
    for (const dependency of [foreign, unknown, guessed]) {
      const reply = await work.tryCreate([newTask(), newTask({}, [mine, dependency])])
      expect(reply).toMatchObject({
        code: 'VALIDATION_FAILED',
        errors: [{ field: 'tasks[1].dependsOn[1]' }],
      })
    }
    expect((await work.events()).length).toBe(before)
  })

  test('a dependency that completes while the task is created is seen completed, or sees the task waiting', async () => {
    const [here, there] = await nodes.pair({ maxConcurrentClaims: 1000 }, NO_COMPANY)
    const upstream = await here.createAll(Array.from({ length: 60 }, () => newTask()))
    const holds = await Promise.all(upstream.map((task) => here.claim(task, alpha)))
    const made = await Promise.all(
      upstream.map(async (task, i) => {
        const [, dependent] = await Promise.all([
          here.submit(task, granted(holds[i]!)),
          there.create({}, [task]),
        ])
        return dependent
      }),
    )
    const events = await here.events()
    const seqOf = (task: Task, type: string) =>
      events.find((event) => event.taskId === task.id && event.type === type)!.seq
    for (const [i, task] of made.entries()) {
      const madeFirst = seqOf(task, 'task_created') < seqOf(upstream[i]!, 'task_completed')
      expect(task.state).toBe(madeFirst ? 'pending' : 'queued')
    }
  })
})
