import { describe, expect, test } from 'vitest'
import type { Upstream } from '../../../src/kinds/task/rules/upstream-counts.ts'
import type { TriggerRule } from '../../../src/pure/states.ts'
import { complete, dependOn, giveUp, stopDependingOn, sweep } from '../../support/depend-on.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { partsOf } from '../../support/parts.ts'
import { granted, holder, newTask, outcome, type Task, type Work } from '../../support/tasks.ts'

const alpha = holder('alpha')
const counts = (rule: TriggerRule, waiting: number, succeeded = 0, failed = 0, other = 0): Upstream => ({
  ...{ rule, waiting, succeeded, failed, other },
})
const upstreamOf = async (work: Work, task: Task) => (await work.record(task)).upstream
const dependsOn = async (work: Work, task: Task) => (await work.details(task)).dependsOn

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  test('a task goes on without what it no longer depends on, and is queued when nothing is left to wait for', async () => {
    const work = await nodes.work()
    const [done, first, second] = await work.createAll([newTask(), newTask(), newTask()])
    const task = await work.create({}, [done!, first!, second!])
    await complete(work, done!)
    await work.unblock(task)
    expect(await upstreamOf(work, task)).toEqual(counts('all_success', 2, 1))

    await stopDependingOn(work, task, [first!])
    expect(await upstreamOf(work, task)).toEqual(counts('all_success', 1, 1))
    expect(new Set(await dependsOn(work, task))).toEqual(new Set([done!.uuid, second!.uuid]))
    expect(await work.record(task)).toMatchObject({ state: 'pending', blocked: true })

    await stopDependingOn(work, task, [second!])
    expect(await work.record(task)).toMatchObject({ state: 'queued', blocked: false, dueAt: null })
    expect(await dependsOn(work, task)).toEqual([done!.uuid])
    const events = await work.events()
    const own = events.filter(({ taskId }) => taskId === task.id).map(({ type }) => type)
    expect(own).toEqual(['task_created', 'task_updated', 'task_updated', 'task_queued'])
    await complete(work, first!)
    await sweep(work.store)
    expect(await work.record(task), 'the end of a removed one is not counted').toMatchObject({
      ...{ state: 'queued', upstream: counts('all_success', 0, 1) },
    })
  })

  test('without any dependency left a task has no counts, whatever its rule', async () => {
    const work = await nodes.work()
    for (const triggerRule of ['all_success', 'one_success', 'none_failed', 'all_done'] as const) {
      const [first, second] = await work.createAll([newTask(), newTask()])
      const task = await work.create({ triggerRule }, [first!, second!])
      await stopDependingOn(work, task, [first!, second!])
      expect(await work.record(task), triggerRule).toMatchObject({ state: 'queued', upstream: null })
      expect(await dependsOn(work, task)).toEqual([])
      expect(outcome(await dependOn(work, task, [first!], { areFirst: true })), 'it can wait again').toBe(
        'HELD_BACK',
      )
      expect(await work.record(task)).toMatchObject({
        ...{ state: 'pending', upstream: counts('all_success', 1) },
      })
    }
  })

  test('a paused task counts without it, and is queued when it is resumed', async () => {
    const work = await nodes.work()
    const [failing, other] = await work.createAll([newTask(), newTask()])
    const task = await work.create({}, [failing!, other!])
    await work.command(task, { kind: 'pause', reason: null })
    await giveUp(work, failing!)
    await work.unblock(task)
    await complete(work, other!)
    await work.unblock(task)
    await stopDependingOn(work, task, [failing!])
    expect(await work.record(task)).toMatchObject({ state: 'paused', blocked: false })
    await work.command(task, { kind: 'resume' })
    expect(await work.record(task)).toMatchObject({ state: 'queued' })
  })

  test('one is exchanged for another in one decision', async () => {
    const work = await nodes.work()
    const [before, after] = await work.createAll([newTask(), newTask()])
    const task = await work.create({}, [before!])
    await stopDependingOn(work, task, [before!], {
      dependsOn: [{ id: after!.id, uuid: after!.uuid, place: 0 }],
      areFirst: true,
    })
    expect(await work.record(task)).toMatchObject({ state: 'pending', upstream: counts('all_success', 1) })
    expect(await dependsOn(work, task)).toEqual([after!.uuid])
    await complete(work, after!)
    await work.unblock(task)
    expect(await work.record(task)).toMatchObject({ state: 'queued' })
  })

  test('what it does not depend on, a running task, an ended one and a divided one are refused, and nothing is written', async () => {
    const work = await nodes.work()
    const [done, stranger] = await work.createAll([newTask(), newTask()])
    await complete(work, done!)
    const task = await work.create({}, [done!])
    const refused = (one: Task, on: readonly Task[]) => stopDependingOn(work, one, on)
    expect(await refused(task, [done!, stranger!])).toMatchObject({
      ...{ code: 'VALIDATION_FAILED', errors: [{ field: 'removeDependsOn[1]' }] },
    })
    expect(await dependsOn(work, task)).toEqual([done!.uuid])
    const hold = granted(await work.claim(task, alpha))
    expect(await refused(task, [done!])).toMatchObject({ code: 'WRONG_STATE' })
    await work.submit(task, hold)
    expect(await refused(task, [done!])).toMatchObject({ code: 'WRONG_STATE' })
    const [whole] = await work.createAll([newTask({ key: 'A-001-whole' })])
    const [part] = await work.createAll(partsOf(whole!, 1))
    expect(await refused(whole!, [part!])).toMatchObject({ code: 'WRONG_STATE' })
    const { version } = await work.record(task)
    expect(await stopDependingOn(work, task, [done!], { version: version - 1 })).toMatchObject({
      ...{ code: 'VERSION_MISMATCH', shouldRetry: true },
    })
  })
})
