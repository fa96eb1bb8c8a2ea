import { describe, expect, test } from 'vitest'
import { BATCH } from '../../../src/kernel/upkeep-context.ts'
import { settleMissions } from '../../../src/kinds/mission/upkeep.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { kernelOf } from '../../support/mission-upkeep.ts'
import {
  commandMission,
  createMission,
  creation,
  freshMission,
  missionEvents,
  missionIn,
  missionNow,
  missionTask,
  planOf,
} from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { granted, grantedTasks, holder, outcome, tally, type Work } from '../../support/tasks.ts'
import { ago } from '../../support/times.ts'

/** Missions are held by the server's store, and by the one it is compared with. */
const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

const alpha = holder('alpha')
const beta = holder('beta')
const many = (count: number) => (missionId: number) =>
  Array.from({ length: count }, () => missionTask(missionId))
const typesOf = async (work: Work, mission: { uuid: string }) =>
  (await missionEvents(work, mission)).map(({ type }) => type)

async function finish(work: Work, by = alpha): Promise<TaskRecord> {
  const reply = await work.next(by)
  const [task] = grantedTasks(reply)
  if (!task) throw new Error(`expected a task, got ${outcome(reply)}`)
  await work.submit(task, { ...by, generation: task.generation })
  return task
}

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('a mission', () => {
    test('that needs no approval begins at once, with all its tasks', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(3)))
      expect(mission).toMatchObject({ phase: 'running', closedBy: [], approved: { version: 1 } })
      expect((await missionNow(work, mission)).counts.byState).toEqual({ queued: 3 })
      expect(await typesOf(work, mission)).toEqual([
        'mission_created',
        'mission_plan_ready',
        'mission_approved',
      ])
    })

    test('ends with the transaction that ends its last task', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(2)))
      await finish(work)
      expect((await missionNow(work, mission)).phase).toBe('running')
      const last = await finish(work)
      const events = await work.events()
      const ended = events.findIndex(({ type }) => type === 'mission_completed')
      // Between them, people are told.
      expect(events[ended - 1]).toMatchObject({
        type: 'inbox_added',
        payload: { item: { kind: 'finished' } },
      })
      expect(events[ended - 2]).toMatchObject({ type: 'task_completed', taskId: last.id })
      expect(await missionNow(work, mission)).toMatchObject({
        phase: 'completed',
        counts: { byState: { completed: 2 } },
      })
    })

    test('ends once when its last tasks end at the same time on two nodes', async () => {
      const [here, there] = await nodes.pair()
      const mission = missionIn(await createMission(here, many(20)))
      const tasks = grantedTasks(await here.next(alpha, { limit: 20 }))
      await Promise.all(
        tasks.map((task, i) =>
          (i % 2 ? here : there).submit(task, { ...alpha, generation: task.generation }),
        ),
      )
      expect((await typesOf(here, mission)).filter((type) => type === 'mission_completed')).toHaveLength(1)
      expect((await missionNow(there, mission)).counts.byState).toEqual({ completed: 20 })
    })

    test('without tasks is completed at once', async () => {
      const work = await nodes.work()
      expect(missionIn(await createMission(work, () => []))).toMatchObject({ phase: 'completed' })
    })

    test('fails when a task failed, unless the task is optional', async () => {
      const work = await nodes.work()
      const failed = async (optional: boolean) => {
        const mission = missionIn(
          await createMission(work, (id) => [missionTask(id, { optional, maxRetries: 0 }), missionTask(id)]),
        )
        const [first, second] = grantedTasks(await work.next(alpha, { limit: 2 }))
        await work.fail(first!, { ...alpha, generation: 1 }, 'invalid', 'no')
        await work.submit(second!, { ...alpha, generation: 1 })
        return (await missionNow(work, mission)).phase
      }
      expect(await failed(false)).toBe('failed')
      expect(await failed(true)).toBe('completed')
    })

    test('is open again when one of its tasks is reset', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(1)))
      const task = await finish(work)
      expect((await missionNow(work, mission)).phase).toBe('completed')
      await work.reset(task)
      expect(await missionNow(work, mission)).toMatchObject({ phase: 'running', completedAt: null })
      await finish(work)
      expect((await missionNow(work, mission)).phase).toBe('completed')
      expect(await typesOf(work, mission)).toContain('mission_reopened')
    })
  })

  describe('a plan', () => {
    const approveAll = { autonomy: 'approve' } as const

    test('waits for approval, and none of its tasks exists before', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(2), approveAll))
      expect(mission).toMatchObject({ phase: 'awaiting_approval', closedBy: ['unapproved'], approved: null })
      expect(mission.counts.byState).toEqual({})
      expect(grantedTasks(await work.next(alpha))).toEqual([])
    })

    test('is approved by its price only below the threshold, and never when the price is unknown', async () => {
      const work = await nodes.work()
      const config = { autonomy: 'autonomous', approveBelowUsd: '1.00' } as const
      const phase = async (estimatedUsd: string | null) =>
        missionIn(await createMission(work, many(1), config, { estimatedUsd })).phase
      expect(await phase('1.000000000')).toBe('running')
      expect(await phase('1.000000001')).toBe('awaiting_approval')
      expect(await phase(null)).toBe('awaiting_approval')
    })

    test('that changed since it was seen is not approved', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(1), approveAll, { digest: 'one' }))
      const approve = (planVersion: number, digest: string) =>
        commandMission(work, mission.uuid, {
          kind: 'approve',
          tasks: [missionTask(mission.id)],
          changes: [],
          comment: null,
          planVersion,
          digest,
        })
      expect(await approve(2, 'one')).toMatchObject({ code: 'CHANGED_SINCE', planVersion: 1, digest: 'one' })
      expect(await approve(1, 'two')).toMatchObject({ code: 'CHANGED_SINCE' })
      expect(missionIn(await approve(1, 'one')).phase).toBe('running')
      expect(await approve(1, 'one')).toMatchObject({ code: 'WRONG_STATE' })
      expect((await missionNow(work, mission)).counts.byState).toEqual({ queued: 1 })
    })

    test('that was sent back may be approved after all when no other one was made', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(1), approveAll))
      const { id, uuid } = mission
      const planning = missionTask(id, { purpose: 'planning', verification: 'baton' })
      const back = { kind: 'reject', outcome: 'replan', planning, comment: null } as const
      expect(missionIn(await commandMission(work, uuid, back))).toMatchObject({ rejected: [1] })
      await commandMission(work, uuid, { kind: 'planFailed', reason: 'no idea' })
      const approval = { kind: 'approve', tasks: [missionTask(id)], changes: [], comment: null } as const
      expect(missionIn(await commandMission(work, uuid, approval))).toMatchObject({
        ...{ phase: 'running', approved: { version: 1 }, rejected: [] },
      })
    })

    test('that is rejected ends the mission', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(1), approveAll))
      const reply = await commandMission(work, mission.uuid, {
        kind: 'reject',
        outcome: 'fail',
        planning: null,
        comment: 'Too dear.',
      })
      expect(missionIn(reply)).toMatchObject({ phase: 'failed', error: 'Too dear.', closedBy: [] })
    })
  })

  describe('planning', () => {
    const planned = async (work: Work) => {
      const { id, uuid } = freshMission()
      const planning = missionTask(id, { purpose: 'planning', title: 'Plan it' })
      const command = { ...creation(id, { autonomy: 'approve' }), proposed: null, planning }
      return missionIn(await commandMission(work, uuid, command))
    }
    const propose = (work: Work, { id, uuid }: { id: number; uuid: string }) =>
      commandMission(work, uuid, { kind: 'propose', proposed: planOf([missionTask(id)]) })

    test('comes first without a plan, as a task that only those get who ask for its purpose', async () => {
      const work = await nodes.work()
      const mission = await planned(work)
      expect(mission).toMatchObject({ phase: 'planning', closedBy: [], plan: null })
      expect((await missionNow(work, mission)).counts.byState).toEqual({})
      expect(grantedTasks(await work.next(alpha))).toEqual([])
      const [task] = grantedTasks(await work.next(alpha, { purposes: ['planning'] }))
      expect(task).toMatchObject({ purpose: 'planning', missionId: mission.id })
    })

    test('ends with a plan that waits for approval', async () => {
      const work = await nodes.work()
      const mission = await planned(work)
      expect(missionIn(await propose(work, mission))).toMatchObject({
        phase: 'awaiting_approval',
        closedBy: ['unapproved'],
        plan: { version: 1 },
      })
      expect(await propose(work, mission).then(missionIn)).toMatchObject({ plan: { version: 2 } })
    })

    test('that fails leaves the mission to a person, who may plan it or have it planned again', async () => {
      const work = await nodes.work()
      const mission = await planned(work)
      const failed = await commandMission(work, mission.uuid, { kind: 'planFailed', reason: 'no idea' })
      expect(missionIn(failed)).toMatchObject({ phase: 'awaiting_approval', closedBy: ['unapproved'] })
      const approve = { kind: 'approve', tasks: [], changes: [], comment: null } as const
      expect(outcome(await commandMission(work, mission.uuid, approve))).toBe('WRONG_STATE')
      await propose(work, mission)
      const again = await commandMission(work, mission.uuid, {
        kind: 'reject',
        outcome: 'replan',
        planning: missionTask(mission.id, { purpose: 'planning' }),
        comment: 'Smaller steps.',
      })
      expect(missionIn(again)).toMatchObject({ phase: 'planning', closedBy: [] })
    })
  })

  test('a mission whose plan fails at its start is due no more, and one that runs cannot fail so', async () => {
    const work = await nodes.work()
    const { id, uuid } = freshMission()
    const proposed = planOf([])
    const later = { ...creation(id, {}), startAt: Date.now() + 3_600_000, proposed, planning: null }
    expect(missionIn(await commandMission(work, uuid, later))).toMatchObject({ phase: 'pending' })
    const fails = { kind: 'planFailed', reason: 'no such task' } as const
    expect(missionIn(await commandMission(work, uuid, fails))).toMatchObject({
      phase: 'awaiting_approval',
      closedBy: ['unapproved'],
      dueAt: null,
    })
    const running = missionIn(await createMission(work, many(1)))
    expect(outcome(await commandMission(work, running.uuid, fails))).toBe('WRONG_STATE')
  })

  describe('the gate', () => {
    const pause = (work: Work, { uuid }: { uuid: string }) =>
      commandMission(work, uuid, { kind: 'pause', reason: null })
    const resume = (work: Work, { uuid }: { uuid: string }) => commandMission(work, uuid, { kind: 'resume' })

    test('lets nothing of a paused mission through: neither by queue, nor by id, nor reserved', async () => {
      const work = await nodes.work()
      const mission = missionIn(
        await createMission(work, (id) => [missionTask(id), missionTask(id, { onlyAgent: 'alpha' })]),
      )
      await pause(work, mission)
      const other = await work.create()
      expect(grantedTasks(await work.next(alpha, { limit: 10 })).map(({ id }) => id)).toEqual([other.id])
      const tasks = (await work.store.tasks(work.workspace, { states: ['queued'] }, 10)).map(
        ({ record }) => record,
      )
      expect(tasks).toHaveLength(2)
      for (const task of tasks)
        expect(await work.claim(task, alpha)).toMatchObject({ code: 'MISSION_CLOSED' })
      await resume(work, mission)
      expect(grantedTasks(await work.next(alpha, { limit: 10 }))).toHaveLength(2)
    })

    test('stops the clocks of deadlines while it is closed', async () => {
      const work = await nodes.work()
      const HOUR = 3_600_000
      const timers = { deadlineMs: 2 * HOUR }
      const threeHoursAgo = ago(work, 3 * HOUR)
      const mission = missionIn(await createMission(threeHoursAgo, (id) => [missionTask(id, { timers })]))
      const task = (await work.store.tasks(work.workspace, {}, 10))[0]!.record
      await pause(threeHoursAgo, mission)
      await resume(ago(work, HOUR), mission)
      // Of its two hours, one has passed while the gate was open.
      expect(outcome(await work.elapse(task))).toBe('MOVED')
      expect((await work.record(task)).state).toBe('queued')
      const inAnHour = ago(work, -HOUR)
      expect(outcome(await inAnHour.elapse(task))).toBe('MOVED')
      expect((await work.record(task)).state).toBe('failed')
      expect((await missionNow(work, mission)).phase).toBe('failed')
    })

    test('accepts what a holder submits after it closed', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(1)))
      const [task] = grantedTasks(await work.next(alpha))
      await pause(work, mission)
      expect(outcome(await work.submit(task!, { ...alpha, generation: 1 }))).toBe('ACCEPTED')
      expect((await missionNow(work, mission)).phase).toBe('completed')
    })

    test('grants no claim after it closed, however many callers race with the pause', async () => {
      const [here, there] = await nodes.pair()
      const mission = missionIn(await createMission(here, many(60)))
      const claims = Array.from({ length: 60 }, (_, i) => (i % 2 ? here : there).next(i % 2 ? alpha : beta))
      const paused = pause(there, mission)
      await Promise.all([...claims, paused])
      const events = await here.events()
      const closed = events.findIndex(({ type }) => type === 'mission_paused')
      expect(closed).toBeGreaterThan(-1)
      expect(events.slice(closed).filter(({ type }) => type === 'task_assigned')).toEqual([])
    })

    test('lets no more tasks be held at once than the mission allows', async () => {
      const [here, there] = await nodes.pair()
      const config = { autonomy: 'full_auto', maxParallel: 3 } as const
      const mission = missionIn(await createMission(here, many(10), config))
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, i) => (i % 2 ? here : there).next(i % 2 ? alpha : beta)),
      )
      const held = replies.flatMap(grantedTasks)
      expect(held).toHaveLength(3)
      expect((await missionNow(here, mission)).counts.byState).toEqual({ queued: 7, assigned: 3 })
      const rest = await here.store.tasks(here.workspace, { states: ['queued'] }, 1)
      expect(outcome(await here.claim(rest[0]!.record, alpha))).toBe('MISSION_FULL')
      await here.submit(held[0]!, { ...(held[0]!.agent === 'alpha' ? alpha : beta), generation: 1 })
      expect(granted(await here.claim(rest[0]!.record, alpha)).generation).toBe(1)
    })

    test('stays closed for what else closed it when one reason goes', async () => {
      const work = await nodes.work()
      const config = { autonomy: 'full_auto', budget: { maxTokens: 1 } } as const
      const mission = missionIn(await createMission(work, many(1), config))
      await pause(work, mission)
      await pause(work, mission)
      expect(await typesOf(work, mission)).toHaveLength(4)
      expect(missionIn(await resume(work, mission)).closedBy).toEqual([])
      expect(outcome(await resume(work, mission))).toBe('WRONG_STATE')
    })
  })

  describe('cancelling a mission', () => {
    test('hands out nothing more, and ends it when its tasks are cancelled', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(3)))
      const reply = await commandMission(work, mission.uuid, { kind: 'cancel', reason: 'Not needed.' })
      expect(missionIn(reply)).toMatchObject({ phase: 'running', closedBy: ['cancelling'] })
      expect(grantedTasks(await work.next(alpha))).toEqual([])
      const tasks = await work.store.tasks(work.workspace, {}, 10)
      const replies = await Promise.all(tasks.map(({ record }) => work.cancel(record)))
      expect(tally(replies)).toEqual({ DONE: 3 })
      expect(await missionNow(work, mission)).toMatchObject({
        phase: 'cancelled',
        error: 'Not needed.',
        closedBy: [],
      })
    })

    test('with more tasks than one transaction changes continues at once, not with the next tick', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(501)))
      await commandMission(work, mission.uuid, { kind: 'cancel', reason: null })
      const kernel = kernelOf(work)
      const pass = () => settleMissions({ kernel, only: work.workspace })
      expect(await pass(), 'as after a full batch').toBe(BATCH)
      expect(await pass()).toBe(1)
      expect((await missionNow(work, mission)).phase).toBe('cancelled')
      expect(await pass()).toBe(0)
    })

    test('before it was approved ends it at once', async () => {
      const work = await nodes.work()
      const mission = missionIn(await createMission(work, many(3), { autonomy: 'approve' }))
      const cancelled = await commandMission(work, mission.uuid, { kind: 'cancel', reason: null })
      expect(missionIn(cancelled)).toMatchObject({ phase: 'cancelled' })
    })
  })

  test('tasks are counted with every change, and a worker gets none of another purpose', async () => {
    const work = await nodes.work()
    const mission = missionIn(
      await createMission(work, (id) => [missionTask(id), missionTask(id, { purpose: 'report' })]),
    )
    expect((await missionNow(work, mission)).counts.byState).toEqual({ queued: 1 })
    const [task, ...others] = grantedTasks(await work.next(alpha, { limit: 5 }))
    expect(others).toEqual([])
    await work.start(task!, { ...alpha, generation: 1 })
    expect((await missionNow(work, mission)).counts.byState).toEqual({ running: 1 })
    await work.release(task!, { ...alpha, generation: 1 })
    expect((await missionNow(work, mission)).counts.byState).toEqual({ queued: 1 })
  })
})
