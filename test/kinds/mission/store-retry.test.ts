import { describe, expect, test } from 'vitest'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import type { TaskState } from '../../../src/pure/states.ts'
import { passOfMissions, settleAll } from '../../support/mission-upkeep.ts'
import {
  commandMission,
  createMission,
  missionEvents,
  missionIn,
  missionNow,
  missionTask,
} from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { grantedTasks, holder, type Overrides, outcome, type Work } from '../../support/tasks.ts'

/** Doing again what failed in a mission. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const alpha = holder('alpha')

/** Tasks by title, each with the places of those it depends on. */
const graph =
  (...nodes: [title: string, on: number[], more?: Overrides][]) =>
  (missionId: number) =>
    nodes.map(([title, dependsOnNew, more]) => missionTask(missionId, { title, dependsOnNew, ...more }))

const statesOf = async (work: Work): Promise<Record<string, TaskState>> => {
  const tasks = await work.store.tasks(work.workspace, {}, 200)
  return Object.fromEntries(tasks.map(({ record, details }) => [details.title, record.state]))
}

async function finishNext(work: Work, how: 'submit' | 'fail'): Promise<void> {
  const [task] = grantedTasks(await work.next(alpha))
  const hold = { ...alpha, generation: task!.generation }
  const reply =
    how === 'submit' ? await work.submit(task!, hold) : await work.fail(task!, hold, 'invalid', 'no')
  expect(reply.ok).toBe(true)
  await settleAll(work)
}

const retry = (work: Work, { uuid }: Pick<MissionRecord, 'uuid'>) =>
  commandMission(work, uuid, { kind: 'retry', reason: 'Once more.' })

describe.each(kinds)('on %s, retrying a mission', (kind) => {
  const nodes = useNodes(kind)

  test('queues what failed, and what was skipped because of it waits again', async () => {
    const work = await nodes.work()
    const chain = graph(['c', [1]], ['b', [2]], ['a', []], ['d', []])
    const mission = missionIn(await createMission(work, chain))
    await finishNext(work, 'fail')
    await finishNext(work, 'submit')
    expect(await statesOf(work)).toEqual({ a: 'failed', b: 'skipped', c: 'skipped', d: 'completed' })
    expect((await missionNow(work, mission)).phase).toBe('failed')
    expect(missionIn(await retry(work, mission))).toMatchObject({ phase: 'running', completedAt: null })
    await settleAll(work)
    expect(await statesOf(work)).toEqual({ a: 'queued', b: 'pending', c: 'pending', d: 'completed' })
    for (let i = 0; i < 3; i++) await finishNext(work, 'submit')
    expect(await missionNow(work, mission)).toMatchObject({
      phase: 'completed',
      retryAt: null,
      counts: { byState: { completed: 4 } },
    })
    const types = (await missionEvents(work, mission)).map(({ type }) => type)
    expect(types.slice(-4)).toEqual([
      'mission_failed',
      'mission_reopened',
      'mission_retrying',
      'mission_completed',
    ])
  })

  test('leaves skipped what a cancelled task, or a person, keeps from running', async () => {
    const work = await nodes.work()
    // d depends on both; e is skipped by its holder; f only needs one of them.
    const nodesOf = graph(
      ['a', []],
      ['b', [], { runAt: Date.now() + 3_600_000 }],
      ['d', [0, 1]],
      ['e', []],
      ['f', [0, 1], { triggerRule: 'one_success' }],
    )
    const mission = missionIn(await createMission(work, nodesOf))
    const b = (await work.store.tasks(work.workspace, { states: ['pending'] }, 10)).find(
      ({ details }) => details.title === 'b',
    )
    await work.cancel(b!.record)
    await finishNext(work, 'fail')
    const [e] = grantedTasks(await work.next(alpha))
    await work.fail(e!, { ...alpha, generation: 1 }, 'dependency', 'not needed')
    await settleAll(work)
    expect(await statesOf(work)).toEqual({
      ...{ a: 'failed', b: 'cancelled', d: 'skipped', e: 'skipped', f: 'skipped' },
    })
    await retry(work, mission)
    await settleAll(work)
    expect(await statesOf(work)).toEqual({
      ...{ a: 'queued', b: 'cancelled', d: 'skipped', e: 'skipped', f: 'pending' },
    })
    const reopened = (await work.events()).filter(({ type }) => type === 'task_reopened')
    expect(reopened).toHaveLength(1)
  })

  test('of a mission that still runs leaves the rest of it alone', async () => {
    const work = await nodes.work()
    const mission = missionIn(await createMission(work, graph(['a', []], ['b', []])))
    await finishNext(work, 'fail')
    const [b] = grantedTasks(await work.next(alpha))
    await retry(work, mission)
    await settleAll(work)
    expect(await statesOf(work)).toEqual({ a: 'queued', b: 'assigned' })
    expect((await work.store.recordsById(work.workspace, [b!.id]))[0]!.generation).toBe(1)
  })

  test('does not end the mission while its tasks are not queued yet, nor stop it for what failed before', async () => {
    const work = await nodes.work()
    const config = { autonomy: 'full_auto', onFailure: 'stop' } as const
    const mission = missionIn(await createMission(work, graph(['a', []]), config))
    await finishNext(work, 'fail')
    expect((await missionNow(work, mission)).phase).toBe('failed')
    await retry(work, mission)
    expect(await missionNow(work, mission)).toMatchObject({ phase: 'running', closedBy: [] })
    await settleAll(work)
    expect(await missionNow(work, mission)).toMatchObject({ phase: 'running', closedBy: [], retryAt: null })
    await finishNext(work, 'fail')
    expect((await missionNow(work, mission)).phase).toBe('failed')
  })

  test('continues where a crash interrupted it', async () => {
    const work = await nodes.work()
    const wide = graph(...Array.from({ length: 4 }, (_, i): [string, number[]] => [`r${i}`, []]), [
      ...(['z', [0, 1, 2, 3]] as [string, number[]]),
    ])
    const mission = missionIn(await createMission(work, wide))
    for (let i = 0; i < 4; i++) await finishNext(work, 'fail')
    await retry(work, mission)
    // The first batch is queued; the node that did it is gone before the skipped task waits again.
    expect(await passOfMissions(work)).toBe(1)
    expect(await statesOf(work)).toMatchObject({ r0: 'queued', z: 'skipped' })
    await settleAll(work)
    expect(await statesOf(work)).toMatchObject({ r3: 'queued', z: 'pending' })
    expect((await missionNow(work, mission)).retryAt).toBeNull()
  })

  test('is one request when it is asked for twice, and ends what a cancel ends', async () => {
    const work = await nodes.work()
    const mission = missionIn(await createMission(work, graph(['a', []], ['b', []])))
    await finishNext(work, 'fail')
    const first = missionIn(await retry(work, mission))
    expect(missionIn(await retry(work, mission)).version).toBe(first.version)
    await commandMission(work, mission.uuid, { kind: 'cancel', reason: null })
    expect(outcome(await retry(work, mission))).toBe('WRONG_STATE')
    await settleAll(work)
    expect(await statesOf(work)).toEqual({ a: 'failed', b: 'cancelled' })
    expect((await missionNow(work, mission)).phase).toBe('failed')
  })

  test('is refused when nothing failed, and before the plan is approved', async () => {
    const work = await nodes.work()
    const running = missionIn(await createMission(work, graph(['a', []])))
    expect(outcome(await retry(work, running))).toBe('WRONG_STATE')
    const planned = missionIn(await createMission(work, graph(['a', []]), { autonomy: 'approve' }))
    expect(outcome(await retry(work, planned))).toBe('WRONG_STATE')
  })
})
