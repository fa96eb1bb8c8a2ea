import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { RoutineRecord } from '../../../src/kinds/routine/record.ts'
import { commandMission, freshMission, idOf } from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import {
  commandRoutine,
  createRoutine,
  elapse,
  missionFor,
  routineIn,
  startedBy,
} from '../../support/routines.ts'
import { grantedTasks, holder, newTask, type Work } from '../../support/tasks.ts'
import { ago } from '../../support/times.ts'

/** Routines are held by the server's store, and by the one it is compared with. */
const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const HOUR = 3_600_000
const HOURLY = { cron: '0 * * * *' }
const alpha = holder('alpha')
const nobody = freshMission()

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  /** One whose time came two hours ago and again since. */
  const neglected = async (work: Work, schedule: object = {}) =>
    routineIn(await createRoutine(ago(work, 3 * HOUR), { ...HOURLY, ...schedule }))
  const storeOf = (work: Work) => work.store as RunStore
  const found = async (work: Work, { id }: Pick<RoutineRecord, 'id'>) =>
    (await storeOf(work).routines.find(work.workspace, id))!
  const due = (work: Work) => storeOf(work).routines.due(10, work.workspace)
  const missionOf = async (work: Work, uuid: string) =>
    (await storeOf(work).missions.find(work.workspace, idOf({ uuid })))!
  const finish = async (work: Work) => {
    const [task] = grantedTasks(await work.next(alpha))
    await work.submit(task!, { ...alpha, generation: task!.generation })
  }

  test('a routine is read as it was saved', async () => {
    const work = await nodes.work()
    const routine = routineIn(await createRoutine(work, { ...HOURLY, timeZone: 'Europe/Berlin' }))
    expect(await found(work, routine)).toEqual({ ...routine, plan: expect.anything() })
    expect(JSON.parse((await found(work, routine)).plan!)).toEqual({ tasks: [] })
    expect(routine).toMatchObject({
      ...{ name: 'Hourly', isEnabled: true, approvedBy: 'key:test', waiting: [], version: 1 },
      schedule: { cron: '0 * * * *', timeZone: 'Europe/Berlin', overlap: 'skip', catchUp: 'last' },
    })
    const patch = { plan: '{"tasks":[{"tempId":"b"}]}', name: 'Other' }
    const changed = await commandRoutine(work, routine.uuid, { kind: 'update', ifVersion: 1, patch }, 'key:b')
    expect(routineIn(changed)).toMatchObject({ name: 'Other', version: 2, approvedBy: 'key:b' })
    expect(JSON.parse((await found(work, routine)).plan!)).toEqual({ tasks: [{ tempId: 'b' }] })
    await commandRoutine(work, routine.uuid, { kind: 'remove' })
    expect(await found(work, routine)).toBeNull()
  })

  test('a routine whose time has come starts one mission, approved by the caller that saved it', async () => {
    const work = await nodes.work()
    const routine = await neglected(work)
    expect(await due(work)).toEqual([{ workspaceId: work.workspace, uuid: routine.uuid, chore: 'elapse' }])
    const uuid = startedBy(await elapse(work, routine))!
    const mission = await missionOf(work, uuid)
    expect(mission).toMatchObject({ phase: 'running', config: { routine: { id: routine.uuid } } })
    const scheduledFor = Date.parse(mission.config.routine!.scheduledFor!)
    expect(scheduledFor % HOUR).toBe(0)
    expect(scheduledFor).toBeGreaterThan(Date.now() - HOUR - 60_000)
    expect(await due(work)).toEqual([])
    expect(startedBy(await elapse(work, routine))).toBeNull()
    const events = await work.events()
    expect(events.map(({ type }) => type).filter((type) => /^(mission|routine)_/.test(type))).toEqual([
      ...['routine_created', 'mission_created', 'mission_plan_ready', 'mission_approved'],
      ...['routine_missed', 'routine_started'],
    ])
    expect(events.find(({ type }) => type === 'mission_approved')!.payload).toMatchObject({
      approvedBy: 'key:saver',
    })
    expect(await found(work, routine)).toMatchObject({ lastFor: scheduledFor })
  })

  test('of many that notice the same time, one starts a mission', async () => {
    const work = await nodes.work()
    const routine = await neglected(work)
    const replies = await Promise.all(Array.from({ length: 8 }, () => elapse(work, routine)))
    expect(replies.map(startedBy).filter((uuid) => uuid !== null)).toHaveLength(1)
  })

  test('a mission that is refused leaves the routine due, with nothing written', async () => {
    const work = await nodes.work()
    const routine = await neglected(work)
    const before = await found(work, routine)
    const broken = missionFor(routine, (id) => [newTask({ missionId: id }, [nobody])])
    expect((await elapse(work, routine, broken)).ok).toBe(false)
    expect(await found(work, routine)).toEqual(before)
    expect(await storeOf(work).missions.find(work.workspace, idOf(broken))).toBeNull()
    expect(startedBy(await elapse(work, routine))).not.toBeNull()
  })

  test('a time is skipped while a mission of the routine has not ended, also one started by hand', async () => {
    const work = await nodes.work()
    const routine = await neglected(work)
    const command = { kind: 'run', version: 1, mission: missionFor(routine) } as const
    // In one batch, as a caller and upkeep may be.
    const [byHand, byTime] = await Promise.all([
      commandRoutine(work, routine.uuid, command),
      elapse(work, routine),
    ])
    expect(startedBy(byHand)).toBe(command.mission.uuid)
    expect(startedBy(byTime)).toBeNull()
    expect(await found(work, routine)).toMatchObject({ skippedInRow: 1, waiting: [] })
  })

  test('a queued time starts when the mission before has ended', async () => {
    const work = await nodes.work()
    const routine = await neglected(work, { overlap: 'queue' })
    await commandRoutine(work, routine.uuid, { kind: 'run', version: 1, mission: missionFor(routine) })
    expect(startedBy(await elapse(work, routine))).toBeNull()
    expect(await found(work, routine)).toMatchObject({ waiting: [expect.any(Number)] })
    expect(await due(work)).toEqual([])
    await finish(work)
    expect(await due(work)).toMatchObject([{ uuid: routine.uuid, chore: 'elapse' }])
    expect(startedBy(await elapse(work, routine))).not.toBeNull()
    expect(await due(work)).toEqual([])
  })

  test('a mission that is to be replaced is found until it is cancelled, and the next starts after it', async () => {
    const work = await nodes.work()
    const routine = await neglected(work, { overlap: 'replace' })
    const first = missionFor(routine)
    await commandRoutine(work, routine.uuid, { kind: 'run', version: 1, mission: first })
    expect(startedBy(await elapse(work, routine))).toBeNull()
    expect(await due(work)).toMatchObject([{ uuid: routine.uuid, chore: 'replace' }])
    expect(await storeOf(work).routines.underWay(work.workspace, routine.id)).toEqual([first.uuid])
    await commandMission(work, first.uuid, { kind: 'cancel', reason: null })
    expect(await due(work)).toEqual([])
    const [task] = await storeOf(work).missions.tasksFor(work.workspace, idOf(first), 'cancel', 10)
    await work.command(task!, { kind: 'cancel', reason: null })
    expect(await due(work)).toMatchObject([{ chore: 'elapse' }])
    expect(startedBy(await elapse(work, routine))).not.toBeNull()
  })

  test('what is due in one workspace is not due in another', async () => {
    const [work, other] = [await nodes.work(), await nodes.work()]
    const routine = await neglected(work)
    expect(await due(other)).toEqual([])
    expect(await storeOf(other).routines.find(other.workspace, routine.id)).toBeNull()
    expect(await elapse(other, routine)).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect((await storeOf(work).routines.due(100)).map(({ uuid }) => uuid)).toContain(routine.uuid)
  })
})
