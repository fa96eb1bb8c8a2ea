import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { Serves } from '../../../src/kinds/task/rules/reviews.ts'
import {
  commandMission,
  createMission,
  creation,
  freshMission,
  missionIn,
  missionNow,
  missionTask,
  planOf,
} from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import {
  granted,
  grantedTasks,
  holder,
  newTask,
  type Overrides,
  outcome,
  type Task,
  type Work,
} from '../../support/tasks.ts'
import { later } from '../../support/times.ts'

/** Results that Baton gets a verdict on, and the tasks that give it. */
const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

const maker = holder('maker')
const judge = holder('judge')
const PURPOSES = { purposes: ['verification'] } as const

const readsOf = (work: Work) => (work.store as unknown as RunStore).verifications

/** A task whose result waits for its verdict. */
async function submitted(
  work: Work,
  more: Overrides = {},
): Promise<{ task: TaskRecord; generation: number }> {
  const task = await work.create({ ...more, verification: 'baton' })
  const { generation } = granted(await work.claim(task, maker))
  await work.submit(task, { ...maker, generation })
  return { task: await work.record(task), generation }
}

const serving = ({ id, uuid }: Task, generation: number, notAgents = ['maker']): Serves => ({
  taskId: id,
  uuid,
  generation,
  notAgents,
})
const verification = (serves: Serves) =>
  newTask({ purpose: 'verification', verification: 'baton', serves, optional: true })
const make = (work: Work, serves: Serves) =>
  work.run({ on: 'new', actor: 'system', tasks: [verification(serves)] })

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  test('a result that Baton judges is looked after by time, and stays', async () => {
    const work = await nodes.work()
    const { task } = await submitted(work)
    expect(task.state).toBe('verifying')
    expect(task.dueAt! - task.updatedAt, 'a moment later').toBe(5_000)
    expect(outcome(await later(work, 60_000).elapse(task))).toBe('MOVED')
    const looked = await work.record(task)
    expect(looked.state).toBe('verifying')
    expect(looked.dueAt).toBeGreaterThan(task.dueAt! + 60_000)
  })

  test('a verification is made only while its result waits for a verdict', async () => {
    const work = await nodes.work()
    const { task, generation } = await submitted(work)
    expect(outcome(await make(work, serving(task, generation + 1)))).toBe('CHANGED_SINCE')
    expect(outcome(await make(work, serving(task, generation)))).toBe('CREATED')
    await work.command(task, { kind: 'cancel', reason: null })
    expect(outcome(await make(work, serving(task, generation)))).toBe('CHANGED_SINCE')
  })

  test('nobody judges what they made, and their own results keep no others from them', async () => {
    const work = await nodes.work()
    const mine = await submitted(work)
    await make(work, serving(mine.task, mine.generation))
    const theirs = await submitted(work)
    await make(work, serving(theirs.task, theirs.generation, ['judge']))
    const own = grantedTasks(await work.next(maker, PURPOSES))
    expect(
      own.map(({ serves }) => serves?.taskId),
      'not the first in the queue',
    ).toEqual([theirs.task.id])
    expect(grantedTasks(await work.next(maker, PURPOSES))).toEqual([])
    expect(grantedTasks(await work.next(judge, PURPOSES)).map(({ serves }) => serves?.taskId)).toEqual([
      mine.task.id,
    ])
    expect(grantedTasks(await work.next(holder('other')))).toEqual([])
  })

  test('verifications are handed out before work that has waited longer, by the priority of what they judge', async () => {
    const work = await nodes.work()
    const urgent = await work.create({ priority: 10 })
    const made: TaskRecord[] = []
    for (const priority of [3, 7]) {
      const { task, generation } = await submitted(work, { priority })
      const serves = serving(task, generation)
      const [one] = await work.createAll([{ ...verification(serves), priority }])
      made.push(one!)
    }
    const next = async () =>
      grantedTasks(await work.next(judge, { purposes: ['work', 'verification'] })).map(({ id }) => id)
    expect([await next(), await next(), await next()]).toEqual([[made[1]!.id], [made[0]!.id], [urgent.id]])
    // Also when it comes back.
    const other = await work.create({ priority: 10 })
    await work.release(made[1]!, { ...judge, generation: 1 })
    expect([await next(), await next()]).toEqual([[made[1]!.id], [other.id]])
  })

  test('verifications of a task are found, the newest first', async () => {
    const work = await nodes.work()
    const { task, generation } = await submitted(work)
    await make(work, serving(task, generation))
    await make(work, serving(task, generation))
    const found = await readsOf(work).of(work.workspace, task.id)
    expect(found.map(({ serves }) => serves)).toEqual([serving(task, generation), serving(task, generation)])
    expect(found[0]!.id).toBeGreaterThan(found[1]!.id)
    expect(await readsOf(work).of(work.workspace, task.id + 1)).toEqual([])
  })

  test('a verification that nothing waits for is found, and one that is needed is not', async () => {
    const work = await nodes.work()
    const orphans = async () => (await readsOf(work).orphans(100, work.workspace)).map(({ id }) => id)
    const { task, generation } = await submitted(work)
    await make(work, serving(task, generation))
    expect(await orphans()).toEqual([])
    await work.command(task, { kind: 'verdict', verdict: 'passed', note: null })
    const [left] = await readsOf(work).of(work.workspace, task.id)
    expect(await orphans()).toEqual([left!.id])
    await work.command(left!, { kind: 'cancel', reason: null })
    expect(await orphans()).toEqual([])
  })

  test('planning of a mission that is planned by now is found', async () => {
    const work = await nodes.work()
    const { id, uuid } = freshMission()
    const planning = missionTask(id, { purpose: 'planning', verification: 'baton' })
    await commandMission(work, uuid, { ...creation(id, {}), proposed: null, planning })
    const reads = readsOf(work)
    expect(await reads.orphans(100, work.workspace)).toEqual([])
    const missions = (work.store as unknown as RunStore).missions
    const taskId = await missions.newestPlanning(work.workspace, id)
    expect(taskId).not.toBeNull()
    await commandMission(work, uuid, { kind: 'cancel', reason: null })
    expect((await reads.orphans(100, work.workspace)).map((one) => one.id)).toEqual([taskId])
  })

  test('a plan comes once, however many nodes judge it, and never in place of a newer one', async () => {
    const work = await nodes.work()
    const { id, uuid } = freshMission()
    const planning = missionTask(id, { purpose: 'planning', verification: 'baton' })
    await commandMission(work, uuid, { ...creation(id, {}), proposed: null, planning })
    const [task] = grantedTasks(await work.next(maker, { purposes: ['planning'] }))
    const { id: taskId, uuid: taskUuid, generation } = task!
    await work.submit(task!, { ...maker, generation })
    const passed = { kind: 'verdict', verdict: 'passed', note: null, generation } as const
    const judged = () =>
      commandMission(work, uuid, {
        ...{ kind: 'propose', proposed: planOf([], { digest: 'of the planner' }), proposedBy: 'agent:maker' },
        changes: [{ taskId, uuid: taskUuid, command: passed, expects: 'awaits_verdict' }],
      })
    expect(missionIn(await judged())).toMatchObject({ phase: 'awaiting_approval', plan: { version: 1 } })
    const byPerson = planOf([], { digest: 'of a person' })
    await commandMission(work, uuid, { kind: 'propose', proposed: byPerson })
    expect(outcome(await judged())).toBe('CHANGED_SINCE')
    expect((await missionNow(work, { uuid })).plan).toMatchObject({ version: 2, digest: 'of a person' })
  })

  test('a mission whose planning ended without a plan is found, and so is planning that must pause with it', async () => {
    const work = await nodes.work()
    const { missions } = work.store as unknown as RunStore
    const chores = async () => (await missions.toSettle(100, work.workspace)).map(({ chore }) => chore)
    const { id, uuid } = freshMission()
    const planning = missionTask(id, { purpose: 'planning', verification: 'baton' })
    await commandMission(work, uuid, { ...creation(id, {}), proposed: null, planning })
    const [task] = grantedTasks(await work.next(maker, { purposes: ['planning'] }))
    expect(await chores()).toEqual([])
    await commandMission(work, uuid, { kind: 'pause', reason: null })
    expect(await chores()).toEqual(['hold'])
    await work.command(task!, { kind: 'pause', reason: null, byMission: true })
    expect(await chores()).toEqual([])
    await commandMission(work, uuid, { kind: 'resume' })
    expect(await chores()).toEqual(['release'])
    await work.command(task!, { kind: 'cancel', reason: null })
    expect(await chores()).toEqual(['planFailed'])
  })

  test('a task that serves others does not count in its mission, whose gate it respects', async () => {
    const work = await nodes.work()
    const made = await createMission(work, (id) => [missionTask(id, { verification: 'baton' })])
    expect(outcome(made)).toBe('DONE')
    const [task] = grantedTasks(await work.next(maker))
    await work.submit(task!, { ...maker, generation: task!.generation })
    const serves = serving(task!, task!.generation)
    await work.run({
      on: 'new',
      actor: 'system',
      tasks: [{ ...verification(serves), missionId: task!.missionId }],
    })
    const { uuid } = (made as unknown as { record: { uuid: string } }).record
    await commandMission(work, uuid, { kind: 'pause', reason: null })
    expect(grantedTasks(await work.next(judge, PURPOSES))).toEqual([])
    await commandMission(work, uuid, { kind: 'resume' })
    expect(grantedTasks(await work.next(judge, PURPOSES))).toHaveLength(1)
  })
})
