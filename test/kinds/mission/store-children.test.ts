import { describe, expect, test } from 'vitest'
import { continueAfter } from '../../../src/kinds/task/acts/children.ts'
import type { NewTask } from '../../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { rootOf } from '../../../src/kinds/task/rules/children.ts'
import { settleDueTasks } from '../../../src/kinds/task/upkeep.ts'
import { kernelOf, settleAll, tellDependents } from '../../support/mission-upkeep.ts'
import { createMission, missionIn, missionNow, missionTask } from '../../support/missions.ts'
import { databaseUrlOf, NO_COMPANY, storeKinds, superuser, useNodes } from '../../support/nodes.ts'
import type { Reply } from '../../support/replies.ts'
import {
  granted,
  grantedTasks,
  holder,
  newTask,
  type Overrides,
  outcome,
  type Work,
} from '../../support/tasks.ts'

/** Tasks that agents add to their missions while they work, and waiting for them. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const alpha = holder('alpha')

interface HeldTask {
  record: TaskRecord
  generation: number
}

const childOf = ({ record, generation }: HeldTask, more: Overrides = {}, tempId?: string): NewTask => ({
  ...(record.missionId === null ? newTask(more) : missionTask(record.missionId, more)),
  addedBy: {
    ...{ id: record.id, uuid: record.uuid, fence: { session: alpha.session, generation } },
    root: record.missionId === null ? rootOf(record) : null,
  },
  unique: tempId === undefined ? null : { key: `child-of:${record.uuid} ${tempId}`, bodyHash: 'same' },
})

const addTo = (work: Work, by: HeldTask, more: Overrides = {}, tempId?: string): Promise<Reply> =>
  work.tryCreate([childOf(by, more, tempId)])

const made = (reply: Reply): TaskRecord => {
  if (!reply.ok) throw new Error(`expected a task, got ${reply.code}: ${reply.detail}`)
  return (reply.records as TaskRecord[])[0]!
}

const hold = async (work: Work, task: TaskRecord): Promise<HeldTask> => {
  const { generation } = granted(await work.claim(task, alpha))
  return { record: await work.record(task), generation }
}

const goOnAfter = (work: Work, { record, generation }: HeldTask, after: readonly { uuid: string }[]) =>
  continueAfter(
    kernelOf(work),
    { workspaceId: work.workspace, actor: 'agent:alpha', rights: new Set() },
    record.uuid,
    { session: alpha.session, generation },
    after.map(({ uuid }) => uuid),
  )

/** Its dependents learn of its end. */
const finish = async (work: Work, task: TaskRecord) => {
  const { generation } = granted(await work.claim(task, alpha))
  await work.submit(task, { ...alpha, generation })
  await tellDependents(work, [await work.record(task)])
}

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const begin = async (
    more: Overrides = {},
    ...options: Parameters<typeof nodes.work>
  ): Promise<{ work: Work; mission: ReturnType<typeof missionIn>; parent: HeldTask }> => {
    const work = await nodes.work(...options)
    const mission = missionIn(await createMission(work, (id) => [missionTask(id, more)]))
    const [task] = grantedTasks(await work.next(alpha))
    return { work, mission, parent: { record: task!, generation: task!.generation } }
  }

  describe('a holder adds a task to its mission', () => {
    test('which is counted there, and does not hold up the task that added it', async () => {
      const { work, mission, parent } = await begin()
      const child = made(await addTo(work, parent))
      expect(child).toMatchObject({
        ...{ state: 'queued', missionId: mission.id, parentId: null, children: { childDepth: 1 } },
      })
      expect((await work.record(parent.record)).state).toBe('assigned')
      const { counts } = await missionNow(work, mission)
      expect(counts).toMatchObject({ byState: { assigned: 1, queued: 1 }, children: 1 })
      await work.submit(parent.record, { ...alpha, generation: parent.generation })
      expect((await missionNow(work, mission)).phase).toBe('running')
      await finish(work, child)
      expect(await missionNow(work, mission)).toMatchObject({ phase: 'completed', counts: { children: 1 } })
    })

    test('once for each name: a repetition gets the same task, also when the claim is over by then', async () => {
      const { work, mission, parent } = await begin()
      const first = made(await addTo(work, parent, {}, 'a'))
      await work.release(parent.record, { ...alpha, generation: parent.generation })
      const again = await addTo(work, parent, {}, 'a')
      expect(made(again).uuid).toBe(first.uuid)
      expect((await missionNow(work, mission)).counts.children).toBe(1)
      expect(outcome(await addTo(work, parent, {}, 'b'))).toBe('NO_CLAIM')
    })

    test('once for each name, also when other first answers are long forgotten', async () => {
      const { work, parent } = await begin()
      const first = made(await addTo(work, parent, {}, 'a'))
      const other = { ...newTask(), unique: { key: 'key:test once', bodyHash: 'b' } }
      const forgotten = made(await work.tryCreate([other]))
      // The memory store forgets nothing.
      if (kind === 'postgres')
        await superuser(databaseUrlOf(work.store), (client) =>
          client.query(
            `update baton.idempotency_keys set created_at = now() - interval '2 days' where workspace_id = $1`,
            [work.workspace],
          ),
        )
      await work.store.applyRetention()
      expect(made(await addTo(work, parent, {}, 'a')).uuid).toBe(first.uuid)
      if (kind === 'postgres') expect(made(await work.tryCreate([other])).uuid).not.toBe(forgotten.uuid)
    })

    test('only under its claim', async () => {
      const { work, parent } = await begin()
      const { record, generation } = parent
      const other = {
        ...childOf(parent),
        addedBy: { ...record, fence: { session: 'other', generation }, root: null },
      }
      expect(outcome(await work.tryCreate([other]))).toBe('SESSION_MISMATCH')
      expect(outcome(await addTo(work, { record, generation: generation + 1 }))).toBe('FUTURE_GENERATION')
      await work.release(record, { ...alpha, generation })
      await hold(work, record)
      expect(outcome(await addTo(work, parent))).toBe('STALE_GENERATION')
      const unknown = { ...record, uuid: record.uuid.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }
      expect(outcome(await addTo(work, { record: unknown, generation }))).toBe('NOT_FOUND')
    })

    test('only to its own mission', async () => {
      const { work, parent } = await begin()
      const outside = await hold(work, await work.create())
      const child = { ...childOf(parent), addedBy: childOf(outside).addedBy }
      expect(outcome(await work.tryCreate([child]))).toBe('WRONG_STATE')
      const other = missionIn(await createMission(work, (id) => [missionTask(id)]))
      expect(outcome(await work.tryCreate([{ ...childOf(parent), missionId: other.id }]))).toBe('WRONG_STATE')
    })

    test('outside of missions below its own task: a hundred below the first one at most, three levels deep', async () => {
      const { work } = await begin()
      const root = await hold(work, await work.create())
      const child = made(await addTo(work, root))
      expect(child.children).toMatchObject({ childDepth: 1, childRoot: { id: root.record.id } })
      const second = made(await addTo(work, await hold(work, child)))
      const third = made(await addTo(work, await hold(work, second)))
      expect(outcome(await addTo(work, await hold(work, third)))).toBe('LIMIT_REACHED')
      // Repeated, it is the same one, and counted once.
      for (let n = 0; n < 2; n++) made(await addTo(work, root, {}, 'named'))
      expect((await work.record(root.record)).children).toMatchObject({ childCount: 4 })
      await work.createAll(Array.from({ length: 96 }, () => childOf(root)))
      expect(outcome(await addTo(work, root))).toBe('LIMIT_REACHED')
      expect(outcome(await addTo(work, { record: child, generation: 1 }))).toBe('LIMIT_REACHED')
      expect((await work.record(root.record)).children).toMatchObject({ childCount: 100 })
      const other = await hold(work, await work.create())
      const below = { ...childOf(other), addedBy: { ...childOf(other).addedBy!, root: rootOf(child) } }
      expect(outcome(await work.tryCreate([below]))).toBe('WRONG_STATE')
    })

    test('with no higher priority, and no command to judge it', async () => {
      const { work, parent } = await begin({ priority: 4 })
      expect(outcome(await addTo(work, parent, { priority: 5 }))).toBe('VALIDATION_FAILED')
      expect(outcome(await addTo(work, parent, { priority: 4 }))).toBe('CREATED')
      const child = childOf(parent, { priority: 1 })
      const verification = { kind: 'command', command: 'true' }
      const plan = { verification } as unknown as NewTask['details']['plan']
      const judged = { ...child, details: { ...child.details, plan } }
      expect(outcome(await work.tryCreate([judged]))).toBe('VALIDATION_FAILED')
    })

    test('three levels deep at most', async () => {
      const { work, parent } = await begin()
      let by = parent
      for (const depth of [1, 2, 3]) {
        const child = made(await addTo(work, by))
        expect(child.children).toMatchObject({ childDepth: depth })
        by = await hold(work, child)
      }
      expect(outcome(await addTo(work, by))).toBe('LIMIT_REACHED')
    })

    test('a hundred in a mission at most, however many are added at once', async () => {
      const { work, mission, parent } = await begin({}, undefined, NO_COMPANY)
      await work.createAll(Array.from({ length: 95 }, () => childOf(parent)))
      const replies = await Promise.all(Array.from({ length: 10 }, () => addTo(work, parent)))
      const outcomes = replies.map(outcome)
      expect(outcomes.filter((one) => one === 'CREATED')).toHaveLength(5)
      expect(outcomes.filter((one) => one === 'LIMIT_REACHED')).toHaveLength(5)
      expect((await missionNow(work, mission)).counts).toMatchObject({ children: 100 })
    })

    test('none of a request that would add too many', async () => {
      const { work, mission, parent } = await begin()
      const many = Array.from({ length: 101 }, () => childOf(parent))
      expect(outcome(await work.tryCreate(many))).toBe('LIMIT_REACHED')
      expect((await missionNow(work, mission)).counts.children).toBe(0)
    })
  })

  describe('a holder continues after other tasks', () => {
    test('nobody holds it until they have ended, and its agent may take them', async () => {
      const { work, parent } = await begin()
      const children = [made(await addTo(work, parent)), made(await addTo(work, parent))] as const
      const answer = await goOnAfter(work, parent, children)
      expect(answer).toMatchObject({ reason: 'CONTINUING', resumeAfterMs: 0, task: { state: 'pending' } })
      expect(await work.record(parent.record)).toMatchObject({ attempt: 0, claimState: 'released' })
      await finish(work, children[0])
      expect((await work.record(parent.record)).state).toBe('pending')
      await finish(work, children[1])
      const { generation } = parent
      expect(await work.record(parent.record)).toMatchObject({
        state: 'queued',
        onlyAgent: 'alpha',
        continuation: { goesOn: { generation: generation + 1 } },
      })
      const [again] = grantedTasks(await work.next(alpha))
      expect(again).toMatchObject({ id: parent.record.id, attempt: 1, generation: generation + 1 })
      expect(again!.continuation?.goesOnAfter).toBeUndefined()
    })

    test('however they end, and at once when they have ended', async () => {
      const { work, parent } = await begin()
      const [failed, cancelled] = [made(await addTo(work, parent)), made(await addTo(work, parent))]
      await goOnAfter(work, parent, [failed!, cancelled!])
      await work.cancel(cancelled!)
      const by = await hold(work, failed!)
      await work.fail(failed!, { ...alpha, generation: by.generation }, 'invalid')
      await tellDependents(work, [await work.record(failed!), await work.record(cancelled!)])
      expect((await work.record(parent.record)).state).toBe('queued')
      const again = await hold(work, parent.record)
      expect(await goOnAfter(work, again, [failed!])).toMatchObject({ task: { state: 'queued' } })
    })

    test('what it once depended on does not matter any more', async () => {
      const work = await nodes.work()
      const mission = missionIn(
        await createMission(work, (id) => [
          missionTask(id, { title: 'first' }),
          missionTask(id, { title: 'never ends' }),
          missionTask(id, { title: 'second', dependsOnNew: [0, 1], triggerRule: 'one_success' }),
        ]),
      )
      const [first, endless, second] = (await work.store.tasks(work.workspace, {}, 10))
        .map(({ record }) => record)
        .sort((a, b) => a.id - b.id)
      await finish(work, first!)
      const parent = await hold(work, second!)
      const child = made(await addTo(work, parent))
      await goOnAfter(work, parent, [child])
      await work.reset(first!)
      await work.cancel(endless!)
      await tellDependents(work, [await work.record(endless!), await work.record(first!)])
      expect((await work.record(second!)).state).toBe('pending')
      await finish(work, child)
      expect((await work.record(second!)).state).toBe('queued')
      expect((await missionNow(work, mission)).phase).toBe('running')
    })

    test('a dependency that is added meanwhile is waited for, too', async () => {
      const { work, parent } = await begin()
      const child = made(await addTo(work, parent))
      await goOnAfter(work, parent, [child])
      const other = await work.create({ missionId: parent.record.missionId })
      const { version } = await work.record(parent.record)
      const dependsOn = [{ id: other.id, uuid: other.uuid, place: 0 }]
      const patch = { ifVersion: null, patch: null, cycle: null }
      await work.command(parent.record, {
        ...{ kind: 'changeDependencies', dependsOn, triggerRule: 'all_success', version, ...patch },
      })
      await finish(work, child)
      expect((await work.record(parent.record)).state).toBe('pending')
      await finish(work, other)
      expect((await work.record(parent.record)).state).toBe('queued')
    })

    const addDependency = async (work: Work, task: TaskRecord, on: TaskRecord) => {
      const dependsOn = [{ id: on.id, uuid: on.uuid, place: 0 }]
      const { version } = await work.record(task)
      const patch = { ifVersion: null, patch: null, cycle: null }
      await work.command(task, {
        ...{ kind: 'changeDependencies', dependsOn, triggerRule: 'all_success', version, ...patch },
      })
    }
    const failForGood = async (work: Work, task: TaskRecord) => {
      const by = await hold(work, task)
      await work.fail(task, { ...alpha, generation: by.generation }, 'invalid')
      await tellDependents(work, [await work.record(task)])
    }

    test.each(['before it is claimed again', 'when it was claimed, and came back'])(
      'a dependency that is added afterwards, %s, is waited for alone: what failed before does not matter',
      async (when) => {
        const { work, parent } = await begin()
        const child = made(await addTo(work, parent))
        await goOnAfter(work, parent, [child])
        await failForGood(work, child)
        if (when !== 'before it is claimed again') {
          const { generation } = await hold(work, parent.record)
          await work.release(parent.record, { ...alpha, generation })
        }
        const { missionId } = parent.record
        const [good, bad] = [await work.create({ missionId }), await work.create({ missionId })]
        await addDependency(work, parent.record, good)
        await settleAll(work)
        expect((await work.record(parent.record)).state).toBe('pending')
        await finish(work, good)
        expect((await work.record(parent.record)).state).toBe('queued')
        expect((await work.record(parent.record)).continuation?.goesOnAfter).toBeUndefined()
        // What is added counts under its rule.
        await addDependency(work, parent.record, bad)
        await failForGood(work, bad)
        expect((await work.record(parent.record)).state).toBe('skipped')
      },
    )

    test('it is not divided afterwards, either: its parts would be judged together with what failed before', async () => {
      const { work, parent } = await begin()
      const child = made(await addTo(work, parent))
      await goOnAfter(work, parent, [child])
      await failForGood(work, child)
      const { id, uuid, missionId } = await work.record(parent.record)
      const part = { ...newTask({ missionId }), parent: { id, uuid }, merge: 'object' as const }
      expect(outcome(await work.tryCreate([part]))).toBe('WRONG_STATE')
      expect((await work.record(parent.record)).state).toBe('queued')
    })

    test('an end that was not reported to it is found by upkeep', async () => {
      const { work, parent } = await begin()
      const child = made(await addTo(work, parent))
      await goOnAfter(work, parent, [child])
      const by = await hold(work, child)
      await work.submit(child, { ...alpha, generation: by.generation })
      await settleAll(work)
      expect((await work.record(parent.record)).state).toBe('queued')
    })

    test('a late result of the holder that went does not count', async () => {
      const { work, parent } = await begin()
      const child = made(await addTo(work, parent))
      await goOnAfter(work, parent, [child])
      const late = () => work.submit(parent.record, { ...alpha, generation: parent.generation })
      expect(outcome(await late())).toBe('NO_CLAIM')
      await finish(work, child)
      expect(outcome(await late())).toBe('NO_CLAIM')
    })

    test('a person may pause, cancel and reset it, but not divide it', async () => {
      const { work, parent } = await begin()
      const child = made(await addTo(work, parent))
      await goOnAfter(work, parent, [child])
      const { id, uuid } = parent.record
      const part = { ...newTask({ missionId: parent.record.missionId }), parent: { id, uuid } }
      expect(outcome(await work.tryCreate([{ ...part, merge: 'object' }]))).toBe('WRONG_STATE')
      await work.pause(parent.record)
      await finish(work, child)
      await work.resume(parent.record)
      expect(await work.record(parent.record)).toMatchObject({ state: 'queued', blocked: false })
      expect((await work.record(parent.record)).continuation?.goesOnAfter).toBeUndefined()
      const again = await hold(work, parent.record)
      await goOnAfter(work, again, [made(await addTo(work, again))])
      await work.cancel(parent.record)
      expect((await work.record(parent.record)).continuation?.goesOnAfter).toBeUndefined()
      await work.reset(parent.record)
      expect((await work.record(parent.record)).state).toBe('queued')
    })

    test('only after tasks of its mission, and none that wait for it', async () => {
      const { work, parent } = await begin()
      const outside = await work.create()
      const refused = (after: readonly { uuid: string }[]) =>
        goOnAfter(work, parent, after).then(
          () => 'CONTINUING',
          ({ code, message }) => `${code}: ${message}`,
        )
      expect(await refused([outside])).toMatch(
        'VALIDATION_FAILED: after[0] names no task of the same mission',
      )
      expect(await refused([parent.record])).toMatch('VALIDATION_FAILED: after[0] is the task itself')
      const child = made(await addTo(work, parent))
      expect(await refused([child, child])).toMatch('VALIDATION_FAILED: after[1] is named twice')
      const { id, uuid } = parent.record
      const waiting = { ...childOf(parent), dependsOn: [id] }
      const behind = { ...waiting, details: { ...waiting.details, dependsOn: [uuid] } }
      const [dependent] = await work.createAll([behind])
      expect(await refused([child, dependent!])).toMatch('DEPENDENCY_CYCLE')
      expect((await work.record(parent.record)).state).toBe('assigned')
      const own = await hold(work, outside)
      await expect(goOnAfter(work, own, [child])).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    })

    test('a cycle that is closed at the same moment is found by upkeep', async () => {
      const { work, parent } = await begin()
      const child = made(await addTo(work, parent))
      const { id, uuid } = child
      const { record, generation } = parent
      const { version } = child
      const dependsOn = [{ id: record.id, uuid: record.uuid, place: 0 }]
      const patch = { ifVersion: null, patch: null, cycle: null }
      await work.command(child, {
        ...{ kind: 'changeDependencies', dependsOn, triggerRule: 'all_success', version, ...patch },
      })
      const due = () => settleDueTasks({ kernel: kernelOf(work), only: work.workspace })
      await due()
      expect((await work.record(child)).dueAt).toBeNull()
      // As if the search had come before.
      const after = { tasks: [{ id, uuid }], cycle: null }
      const fence = { session: alpha.session, generation }
      await work.command(record, { kind: 'continue', fence, after })
      await due()
      expect((await work.record(record)).state).toBe('failed')
      expect((await work.record(child)).state).toBe('failed')
    })
  })
})
