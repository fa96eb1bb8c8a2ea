import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { MissionRecord, PlanVersion } from '../../../src/kinds/mission/record.ts'
import type { OnTask } from '../../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { settleAll } from '../../support/mission-upkeep.ts'
import {
  commandMission,
  createMission,
  missionIn,
  missionNow,
  missionTask,
  planOf,
} from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { partsOf } from '../../support/parts.ts'
import { grantedTasks, holder, outcome, type Work } from '../../support/tasks.ts'

/** A newer plan, while the mission runs. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const alpha = holder('alpha')

const tasksOf = async (work: Work) => {
  const tasks = await work.store.tasks(work.workspace, {}, 50)
  return Object.fromEntries(tasks.map(({ record, details }) => [details.title, { record, details }]))
}

type Edges = Extract<OnTask['command'], { kind: 'replan' }>['edges']

const replanned = (
  { id, uuid }: TaskRecord,
  title: string,
  edges: Edges = null,
  expects: OnTask['expects'] = 'never_claimed',
): OnTask => ({
  taskId: id,
  uuid,
  expects,
  command: {
    kind: 'replan',
    details: { title, plan: { tempId: title } },
    fields: {
      ...{ priority: 8, maxRetries: 1, maxContinuations: 1, onlyAgent: null, capabilities: ['sql'] },
      ...{ verification: 'none', optional: true, timers: null, continuation: null, agentChoice: null },
    },
    changed: ['title'],
    edges,
  },
})

/** The mission gets a newer plan, which is approved with these changes. */
async function approve(
  work: Work,
  { uuid }: MissionRecord,
  tasks: ReturnType<typeof missionTask>[],
  changes: OnTask[],
) {
  const proposed = planOf(tasks, { digest: 'newer' })
  expect(missionIn(await commandMission(work, uuid, { kind: 'propose', proposed }))).toMatchObject({
    phase: 'running',
    plan: { version: 2 },
    approved: { version: 1 },
  })
  return commandMission(work, uuid, { kind: 'approve', tasks, changes, comment: null, planVersion: 2 })
}

describe.each(kinds)('on %s, a newer plan', (kind) => {
  const nodes = useNodes(kind)

  test('changes what a task is, and what it waits for, also for tasks that are added with it', async () => {
    const work = await nodes.work()
    const make = (id: number) => [
      missionTask(id, { title: 'a' }),
      missionTask(id, { title: 'b', dependsOnNew: [0] }),
    ]
    const mission = missionIn(await createMission(work, make))
    const { a, b } = await tasksOf(work)
    const edges: Edges = { rule: 'all_success', on: [], onNew: [{ at: 0, kind: 'order' }] }
    const added = missionTask(mission.id, { title: 'c' })
    const reply = await approve(work, mission, [added], [replanned(b!.record, 'bb', edges)])
    expect(missionIn(reply)).toMatchObject({ approved: { version: 2 } })
    const after = await tasksOf(work)
    expect(after.bb!.record).toMatchObject({
      ...{ id: b!.record.id, state: 'pending', blocked: true, capabilities: ['sql'], optional: true },
      ...{ priority: 8, upstream: { waiting: 1 } },
    })
    expect(after.bb!.details).toMatchObject({ dependsOn: [after.c!.record.uuid], plan: { tempId: 'bb' } })
    expect((await missionNow(work, mission)).counts.byState).toEqual({ queued: 2, pending: 1 })
    // What it waited for before is nothing to it any more.
    await work.cancel(a!.record)
    await settleAll(work)
    expect((await tasksOf(work)).bb!.record.state).toBe('pending')
    const [c] = grantedTasks(await work.next(alpha))
    await work.submit(c!, { ...alpha, generation: 1 })
    await settleAll(work)
    expect(grantedTasks(await work.next(alpha, { capabilities: ['sql'] }))).toMatchObject([
      { id: b!.record.id },
    ])
  })

  test('is kept, also when another one follows in the same batch', async () => {
    const work = await nodes.work()
    const { id, uuid } = missionIn(await createMission(work, (own) => [missionTask(own)]))
    const propose = (digest: string) =>
      commandMission(work, uuid, { kind: 'propose', proposed: planOf([], { digest }) })
    const replies = await Promise.all([propose('second'), propose('third')])
    expect(replies.map((reply) => missionIn(reply).plan!.version)).toEqual([2, 3])
    const { missions } = work.store as unknown as RunStore
    for (const [version, digest] of [
      [2, 'second'],
      [3, 'third'],
    ] as const)
      expect(await missions.plan(work.workspace, id, version)).toMatchObject({ version, digest })
  })

  test('that is rejected is dropped: the mission follows the plan it has, and the next version has another number', async () => {
    const work = await nodes.work()
    const { id, uuid } = missionIn(await createMission(work, (own) => [missionTask(own)]))
    const { missions } = work.store as unknown as RunStore
    const propose = (digest: string) =>
      commandMission(work, uuid, { kind: 'propose', proposed: planOf([], { digest }) })
    const reject = (followed: PlanVersion | null, outcome: 'fail' | 'replan' = 'fail') =>
      commandMission(work, uuid, { kind: 'reject', outcome, planning: null, comment: null, followed })
    const first = await missions.plan(work.workspace, id, 1)
    await propose('second')
    expect(outcome(await reject(first, 'replan'))).toBe('WRONG_STATE')
    // Read before another version was approved.
    expect(outcome(await reject({ ...first!, version: 7 }))).toBe('CHANGED_SINCE')
    expect(missionIn(await reject(first))).toMatchObject({
      ...{ phase: 'running', plan: { version: 1 }, approved: { version: 1 }, rejected: [2] },
    })
    expect(outcome(await reject(first))).toBe('WRONG_STATE')
    expect(missionIn(await propose('third')).plan).toMatchObject({ version: 3, digest: 'third' })
    await reject(first)
    expect(await missions.find(work.workspace, id)).toMatchObject({ plan: { version: 1 }, rejected: [2, 3] })
    expect(await missions.plan(work.workspace, id, 2)).toMatchObject({ digest: 'second' })
  })

  test('holds back a queued task, and lets one go that waits for nothing any more', async () => {
    const work = await nodes.work()
    const make = (id: number) => [
      missionTask(id, { title: 'a' }),
      missionTask(id, { title: 'b', dependsOnNew: [0] }),
    ]
    const mission = missionIn(await createMission(work, make))
    const { a, b } = await tasksOf(work)
    const { id, uuid } = b!.record
    const none: Edges = { rule: 'all_success', on: [], onNew: [] }
    const onB: Edges = { rule: 'all_success', on: [{ id, uuid, kind: 'data' }], onNew: [] }
    const changes = [replanned(b!.record, 'b', none), replanned(a!.record, 'a', onB)]
    missionIn(await approve(work, mission, [], changes))
    const after = await tasksOf(work)
    expect(after.b!.record).toMatchObject({ state: 'queued', blocked: false, upstream: null })
    expect(after.a!.record).toMatchObject({ state: 'pending', blocked: true })
    const events = (await work.events()).map(({ type }) => type)
    expect(events).toContain('task_held_back')
  })

  test('leaves a task that was divided waiting for its parts', async () => {
    const work = await nodes.work()
    const mission = missionIn(await createMission(work, (id) => [missionTask(id, { title: 'a' })]))
    const { a } = await tasksOf(work)
    const [part] = await work.createAll(partsOf(a!.record, 1, { missionId: mission.id }))
    const none: Edges = { rule: 'all_success', on: [], onNew: [] }
    missionIn(await approve(work, mission, [], [replanned(a!.record, 'aa', none)]))
    const { aa } = await tasksOf(work)
    expect(aa!.record).toMatchObject({ state: 'pending', blocked: true, merge: 'object' })
    expect(aa!.details.dependsOn).toEqual([part!.uuid])
  })

  test('is not approved at all when one of its tasks was begun or ended meanwhile', async () => {
    const work = await nodes.work()
    const make = (id: number) => [missionTask(id, { title: 'a' }), missionTask(id, { title: 'b' })]
    const mission = missionIn(await createMission(work, make))
    const { a, b } = await tasksOf(work)
    const [held] = grantedTasks(await work.next(alpha))
    expect(held!.id).toBe(a!.record.id)
    const both = [replanned(b!.record, 'bb'), replanned(a!.record, 'aa')]
    expect(outcome(await approve(work, mission, [], both))).toBe('CHANGED_SINCE')
    expect(Object.keys(await tasksOf(work)).sort()).toEqual(['a', 'b'])
    const again = { kind: 'approve', tasks: [], comment: null, planVersion: 2 } as const
    const open = [replanned(b!.record, 'bb'), replanned(a!.record, 'aa', null, 'open')]
    missionIn(await commandMission(work, mission.uuid, { ...again, changes: open }))
    const after = await tasksOf(work)
    expect(after.aa!.record).toMatchObject({ state: 'assigned', generation: 1 })
    expect(outcome(await work.submit(after.aa!.record, { ...alpha, generation: 1 }))).toBe('ACCEPTED')
  })

  test('is refused when it names a task to wait for that does not exist', async () => {
    const work = await nodes.work()
    const mission = missionIn(await createMission(work, (id) => [missionTask(id, { title: 'a' })]))
    const { a } = await tasksOf(work)
    const on = [{ id: 987_654, uuid: a!.record.uuid, kind: 'data' as const }]
    const changes = [replanned(a!.record, 'aa', { rule: 'all_success', on, onNew: [] })]
    expect(outcome(await approve(work, mission, [], changes))).toBe('VALIDATION_FAILED')
    expect((await missionNow(work, mission)).approved).toMatchObject({ version: 1 })
  })
})
