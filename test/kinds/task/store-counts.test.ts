import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type {
  Upstream,
  UpstreamOutcome,
  UpstreamReport,
} from '../../../src/kinds/task/rules/upstream-counts.ts'
import { type TaskState, TRIGGER_RULES, type TriggerRule } from '../../../src/pure/states.ts'
import { complete, dependOn, giveUp, sweep } from '../../support/depend-on.ts'
import { missedTasks } from '../../support/missed-tasks.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { partsOf } from '../../support/parts.ts'
import { promotion, rejectedResult } from '../../support/rejected.ts'
import { holder, newTask, outcome, type Task, type Work } from '../../support/tasks.ts'

const alpha = holder('alpha')
const roomy = { maxConcurrentClaims: 10_000 }
const OUTCOMES = ['completed', 'failed', 'cancelled', 'skipped'] as const

const report = (work: Work, task: Task, edges: readonly UpstreamReport[]) =>
  work.command(task, { kind: 'countUpstream', edges }, 'system')
/** The state of one upstream task, as a reporter reads it. */
async function reportOf(work: Work, { id, uuid }: Task): Promise<UpstreamReport> {
  const { version, state } = await work.record({ id })
  const ended = (OUTCOMES as readonly string[]).includes(state)
  return { dependsOn: id, uuid, version, outcome: ended ? (state as UpstreamOutcome) : null }
}
const counts = (rule: TriggerRule, waiting: number, succeeded = 0, failed = 0, other = 0): Upstream => ({
  ...{ rule, waiting, succeeded, failed, other },
})

/** What the rule says in words, apart from the code that counts. */
function stateUnder(rule: TriggerRule, ends: readonly (UpstreamOutcome | null)[]): TaskState {
  const areAllOver = ends.every((end) => end !== null)
  switch (rule) {
    case 'always':
      return 'queued'
    case 'all_done':
      return areAllOver ? 'queued' : 'pending'
    case 'all_success':
      if (ends.some((end) => end !== null && end !== 'completed')) return 'skipped'
      return areAllOver ? 'queued' : 'pending'
    case 'none_failed':
      if (ends.includes('failed')) return 'skipped'
      return areAllOver ? 'queued' : 'pending'
    case 'one_success':
      if (ends.includes('completed')) return 'queued'
      return areAllOver ? 'skipped' : 'pending'
  }
}

async function end(work: Work, task: Task, how: UpstreamOutcome, gate: Task): Promise<void> {
  if (how === 'completed') await complete(work, task)
  else if (how === 'failed') await giveUp(work, task)
  else if (how === 'cancelled') await work.cancel(task)
  else {
    await dependOn(work, task, [gate], { areFirst: true })
    expect(await work.record(task)).toMatchObject({ state: 'skipped' })
  }
}

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const upstreamOf = async (work: Work, task: Task) => (await work.record(task)).upstream

  test.each(TRIGGER_RULES)(
    'a task under %s moves when the counts decide, whatever ends first and however often it is reported',
    async (triggerRule) => {
      const work = await nodes.work(roomy)
      const gate = await work.create()
      await work.cancel(gate)
      const pairs = OUTCOMES.flatMap((one) => OUTCOMES.map((other) => [one, other] as const))
      await Promise.all(
        pairs.map(async ([one, other]) => {
          const [first, second] = await work.createAll([newTask(), newTask()])
          const task = await work.create({ triggerRule }, [first!, second!])
          let expected = stateUnder(triggerRule, [null, null])
          expect(task.state).toBe(expected)
          await end(work, first!, one, gate)
          const early = await reportOf(work, first!)
          await Promise.all([report(work, task, [early]), report(work, task, [early])])
          if (expected === 'pending') expected = stateUnder(triggerRule, [one, null])
          expect((await work.record(task)).state, `${one} first`).toBe(expected)
          await end(work, second!, other, gate)
          const late = await reportOf(work, second!)
          await report(work, task, [late, early])
          await report(work, task, [early])
          if (expected === 'pending') expected = stateUnder(triggerRule, [one, other])
          expect((await work.record(task)).state, `${one}, then ${other}`).toBe(expected)
          const after = await work.create({ triggerRule }, [first!, second!])
          expect(after.state, 'created afterwards').toBe(stateUnder(triggerRule, [one, other]))
          expect(after.upstream).toMatchObject({ rule: triggerRule, waiting: 0 })
        }),
      )
    },
  )

  test('a task counts how its upstream tasks stand, and its version stays', async () => {
    const work = await nodes.work(roomy)
    const upstream = await work.createAll(Array.from({ length: 4 }, () => newTask()))
    const task = await work.create({ triggerRule: 'all_done' }, upstream)
    expect(task.upstream).toEqual(counts('all_done', 4))
    await complete(work, upstream[0]!)
    await giveUp(work, upstream[1]!)
    await work.cancel(upstream[2]!)
    for (const one of upstream) await report(work, task, [await reportOf(work, one)])
    const after = await work.record(task)
    expect(after).toEqual({ ...task, upstream: counts('all_done', 1, 1, 1, 1) })
    const stored = await work.store.dependencies(work.workspace, task.id)
    expect(stored.map((one) => one.outcome).toSorted()).toEqual(['cancelled', 'completed', 'failed', null])
  })

  test('an upstream task that is opened again is awaited again, and old reports of its end are ignored', async () => {
    const work = await nodes.work(roomy)
    const [first, second] = await work.createAll([newTask(), newTask()])
    const task = await work.create({ triggerRule: 'all_done' }, [first!, second!])
    await giveUp(work, first!)
    const failed = await reportOf(work, first!)
    await report(work, task, [failed])
    expect(await upstreamOf(work, task)).toEqual(counts('all_done', 1, 0, 1))
    await work.retry(first!)
    await report(work, task, [await reportOf(work, first!)])
    expect(await upstreamOf(work, task)).toEqual(counts('all_done', 2))
    await report(work, task, [failed])
    expect(await upstreamOf(work, task), 'a late report').toEqual(counts('all_done', 2))
    await complete(work, first!)
    await report(work, task, [await reportOf(work, first!)])
    await work.reset(first!)
    await report(work, task, [await reportOf(work, first!)])
    await complete(work, second!)
    await report(work, task, [await reportOf(work, second!)])
    expect(await work.record(task)).toMatchObject({ state: 'pending', upstream: counts('all_done', 1, 1) })
    await complete(work, first!)
    await report(work, task, [await reportOf(work, first!)])
    expect(await work.record(task)).toMatchObject({ state: 'queued', upstream: counts('all_done', 0, 2) })
    await work.reset(first!)
    await report(work, task, [await reportOf(work, first!)])
    expect(await work.record(task), 'it waits no more').toMatchObject({ state: 'queued', blocked: false })
  })

  test('a promoted result turns a counted failure into a success, while the task still waits', async () => {
    const work = await nodes.work(roomy)
    const [first, second] = await work.createAll([newTask(), newTask()])
    const task = await work.create({ triggerRule: 'all_done' }, [first!, second!])
    const late = await rejectedResult(work, first!, alpha)
    await giveUp(work, first!)
    await report(work, task, [await reportOf(work, first!)])
    expect(await upstreamOf(work, task)).toEqual(counts('all_done', 1, 0, 1))
    expect(outcome(await work.command(first!, promotion(late)))).toBe('PROMOTED')
    await sweep(work.store)
    expect(await upstreamOf(work, task)).toEqual(counts('all_done', 1, 1))
  })

  test('an end that nobody reported is counted by upkeep, and so is a reset', async () => {
    const [here, there] = await nodes.pair(roomy)
    const [first, second] = await here.createAll([newTask(), newTask()])
    const task = await here.create({}, [first!, second!])
    await complete(here, first!)
    await sweep(there.store)
    expect(await upstreamOf(here, task)).toEqual(counts('all_success', 1, 1))
    await there.reset(first!)
    await sweep(here.store)
    expect(await upstreamOf(here, task)).toEqual(counts('all_success', 2))
    const tasks = await missedTasks(there.store, 10_000)
    expect(tasks.filter(({ workspaceId }) => workspaceId === here.workspace)).toEqual([])
    for (const one of [first!, second!]) await complete(here, one)
    await sweep(there.store)
    expect(await here.record(task)).toMatchObject({ state: 'queued', blocked: false })
  })

  test('dependencies that are added are counted with the others', async () => {
    const work = await nodes.work(roomy)
    const [first, second, done] = await work.createAll([newTask(), newTask(), newTask()])
    await complete(work, done!)
    const task = await work.create({}, [first!])
    await dependOn(work, task, [second!, done!])
    expect(await upstreamOf(work, task)).toEqual(counts('all_success', 2, 1))
    await complete(work, first!)
    await report(work, task, [await reportOf(work, first!)])
    expect(await upstreamOf(work, task)).toEqual(counts('all_success', 1, 2))
    await complete(work, second!)
    await report(work, task, [await reportOf(work, second!)])
    expect(await work.record(task)).toMatchObject({ state: 'queued', upstream: counts('all_success', 0, 3) })
  })

  test('a task that waits again after it did not is counted again, with what happened in the meantime', async () => {
    const work = await nodes.work(roomy)
    const [first, second] = await work.createAll([newTask(), newTask()])
    const task = await work.create({}, [first!])
    await complete(work, first!)
    await work.unblock(task)
    await work.reset(first!)
    await dependOn(work, task, [second!])
    expect(await upstreamOf(work, task)).toBeNull()
    await sweep(work.store)
    expect(await upstreamOf(work, task)).toEqual(counts('all_success', 2))
    const old = { kind: 'countUpstream', edges: await work.reports(task), version: 1 } as const
    await complete(work, second!)
    expect(outcome(await work.command(task, old, 'system')), 'of another version').toBe('NOTHING_DUE')
    await complete(work, first!)
    await sweep(work.store)
    expect(await work.record(task)).toMatchObject({ state: 'queued', upstream: counts('all_success', 0, 2) })
  })

  test('of one success among old and new dependencies a task continues', async () => {
    const work = await nodes.work(roomy)
    const triggerRule = 'one_success'
    const [open, failed, done] = await work.createAll([newTask(), newTask(), newTask()])
    await giveUp(work, failed!)
    await complete(work, done!)
    const task = await work.create({ triggerRule }, [open!])
    await dependOn(work, task, [failed!], { triggerRule })
    expect(await work.record(task)).toMatchObject({
      state: 'pending',
      upstream: counts(triggerRule, 1, 0, 1),
    })
    await dependOn(work, task, [done!], { triggerRule })
    expect(await work.record(task)).toMatchObject({ state: 'queued', blocked: false })
    const ready = await work.create({ triggerRule }, [done!])
    await dependOn(work, ready, [failed!], { triggerRule })
    expect(await work.record(ready), 'it has one already').toMatchObject({ state: 'queued' })
  })

  test('a paused task counts, and moves when it is resumed', async () => {
    const work = await nodes.work(roomy)
    const upstream = await work.createAll([newTask(), newTask()])
    const [never, ready] = await work.createAll(upstream.map((one) => newTask({}, [one])))
    for (const task of [never!, ready!]) await work.pause(task)
    await giveUp(work, upstream[0]!)
    await complete(work, upstream[1]!)
    await sweep(work.store)
    expect(await work.record(never!)).toMatchObject({ state: 'paused', blocked: true })
    expect(await work.record(ready!)).toMatchObject({ state: 'paused', blocked: false })
    for (const task of [never!, ready!]) await work.resume(task)
    expect(await work.record(never!)).toMatchObject({ state: 'skipped', blocked: false })
    expect(await work.record(ready!)).toMatchObject({ state: 'queued' })
  })

  test('a divided task counts its parts, and one that fails ends it', async () => {
    const work = await nodes.work(roomy)
    const [gate, whole] = await work.createAll([newTask(), newTask()])
    const waiting = await work.create({}, [gate!])
    const parts = await work.createAll([...partsOf(whole!, 2), ...partsOf(waiting, 1)])
    expect(await upstreamOf(work, waiting), 'it waited already').toEqual(counts('all_success', 2))
    await sweep(work.store)
    expect(await upstreamOf(work, whole!)).toEqual(counts('all_success', 2))
    await complete(work, parts[0]!)
    await sweep(work.store)
    expect(await upstreamOf(work, whole!)).toEqual(counts('all_success', 1, 1))
    await giveUp(work, parts[1]!)
    await sweep(work.store)
    expect(await work.record(whole!)).toMatchObject({ state: 'failed', blocked: false })
    expect((await work.eventsOf(whole!)).at(-1)).toMatchObject({
      payload: { reason: 'part', failedDependency: parts[1]!.uuid },
    })
    await work.retry(parts[1]!)
    await complete(work, parts[1]!)
    await work.retry(whole!)
    await sweep(work.store)
    expect(await work.record(whole!)).toMatchObject({
      state: 'completed',
      upstream: counts('all_success', 0, 2),
    })
  })

  test('events name the task that ended last, and the dependency that failed', async () => {
    const work = await nodes.work(roomy)
    const upstream = await work.createAll([newTask(), newTask(), newTask()])
    const [ready, never] = await work.createAll([
      newTask({}, upstream.slice(0, 2)),
      newTask({}, upstream.slice(2)),
    ])
    await complete(work, upstream[1]!)
    await work.unblock(ready!)
    await complete(work, upstream[0]!)
    await work.unblock(ready!)
    await giveUp(work, upstream[2]!)
    await work.unblock(never!)
    expect((await work.eventsOf(ready!)).at(-1)).toMatchObject({
      type: 'task_queued',
      payload: { because: 'dependencies_met', unblockedBy: upstream[0]!.uuid },
    })
    expect((await work.eventsOf(never!)).at(-1)).toMatchObject({
      type: 'task_skipped',
      payload: { because: 'a task it depends on is failed', failedDependency: upstream[2]!.uuid },
    })
  })

  test('a task that depends on one from an earlier request under the same key does not wait for its end forever', async () => {
    const work = await nodes.work(roomy)
    const once = newTask({ unique: { key: 'once', bodyHash: 'a' } })
    const [first] = await work.createAll([once])
    await complete(work, first!)
    const tasks = [once, newTask({ dependsOnNew: [0] })]
    const alsoLock = [first!.id]
    const reply = await work.run({ on: 'new', actor: 'key:test', tasks, alsoLock })
    const [, task] = reply.records as TaskRecord[]
    await sweep(work.store)
    expect(await work.record(task!)).toMatchObject({ state: 'queued', upstream: counts('all_success', 0, 1) })
  })

  test('kinds of dependencies are stored; both are waited for', async () => {
    const work = await nodes.work(roomy)
    const [data, order, added] = await work.createAll([newTask(), newTask(), newTask()])
    const task = await work.create({ orderOnly: { on: [order!.id], onNew: [] } }, [data!, order!])
    const { version } = await work.record(task)
    await work.command(task, {
      kind: 'changeDependencies',
      dependsOn: [{ id: added!.id, uuid: added!.uuid, place: 0, kind: 'order' }],
      ...{ triggerRule: 'all_success', version, cycle: null, ifVersion: null, patch: null },
    })
    const stored = await work.store.dependencies(work.workspace, task.id)
    const kinds = new Map(stored.map((one) => [one.uuid, one.kind]))
    expect([data, order, added].map((one) => kinds.get(one!.uuid))).toEqual(['data', 'order', 'order'])
    expect(await upstreamOf(work, task)).toEqual(counts('all_success', 3))
  })

  test('a request whose tasks depend on each other in a circle is refused with the whole circle', async () => {
    const work = await nodes.work()
    const reply = await work.tryCreate([
      newTask({ title: 'beside' }),
      newTask({ title: 'build', dependsOnNew: [3] }),
      newTask({ key: 'A-001-test', title: 'test', dependsOnNew: [1] }),
      newTask({ title: 'release', dependsOnNew: [2, 0] }),
      newTask({ title: 'after', dependsOnNew: [3] }),
    ])
    expect(reply).toMatchObject({
      code: 'VALIDATION_FAILED',
      cycle: ['tasks[1] "build"', 'tasks[3] "release"', 'A-001-test'],
    })
    expect((reply as { detail?: string }).detail).toContain(
      'tasks[1] "build" → tasks[3] "release" → A-001-test → tasks[1] "build"',
    )
    const self = await work.tryCreate([newTask({ title: 'alone', dependsOnNew: [0] })])
    expect(self).toMatchObject({ cycle: ['tasks[0] "alone"'] })
  })
})
