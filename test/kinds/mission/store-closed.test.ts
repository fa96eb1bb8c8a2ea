import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { NO_GROUPS, watchOf } from '../../../src/kernel/store/watch-column.ts'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import { settleAll } from '../../support/mission-upkeep.ts'
import { commandMission, createMission, missionIn, missionNow, missionTask } from '../../support/missions.ts'
import { earlier, storeKinds, useNodes } from '../../support/nodes.ts'
import { grantedTasks, holder, type Overrides, outcome, type Work } from '../../support/tasks.ts'

/** What happens to tasks while the gate of their mission is closed. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const alpha = holder('alpha')

const pause = (work: Work, { uuid }: MissionRecord) =>
  commandMission(work, uuid, { kind: 'pause', reason: null })
const resume = (work: Work, { uuid }: MissionRecord) => commandMission(work, uuid, { kind: 'resume' })

describe.each(kinds)('on %s, while a mission is paused', (kind) => {
  const nodes = useNodes(kind)
  const begin = async (more: Overrides = {}) => {
    const work = await nodes.work()
    const mission = missionIn(await createMission(work, (id) => [missionTask(id, more)]))
    return { work, mission }
  }
  const later = (work: Work, ms: number) => work.through(new Combiner(earlier(work.store, -ms)))

  describe('a result of the holder from whom the task was taken', () => {
    test('counts, and is one result when it is handed in twice', async () => {
      const { work, mission } = await begin()
      const [task] = grantedTasks(await work.next(alpha))
      await pause(work, mission)
      await settleAll(work)
      const hold = { ...alpha, generation: 1 }
      const [paused] = await work.store.recordsById(work.workspace, [task!.id])
      expect(paused).toMatchObject({ state: 'paused', attempt: 0 })
      expect(outcome(await work.submit(task!, hold))).toBe('ACCEPTED')
      expect(outcome(await work.submit(task!, hold))).toBe('ACCEPTED')
      const [after] = await work.store.recordsById(work.workspace, [task!.id])
      expect(after).toMatchObject({ state: 'completed', attempt: 1, ...NO_GROUPS })
      expect(await work.store.results(work.workspace, task!.id)).toMatchObject([{ accepted: true }])
      expect(await missionNow(work, mission)).toMatchObject({
        phase: 'completed',
        counts: { byState: { completed: 1 } },
      })
    })

    test('waits for its review as any other', async () => {
      const { work, mission } = await begin({ verification: 'human' })
      const [task] = grantedTasks(await work.next(alpha))
      await pause(work, mission)
      await settleAll(work)
      await work.submit(task!, { ...alpha, generation: 1 })
      expect((await missionNow(work, mission)).counts.byState).toEqual({ awaiting_human: 1 })
    })

    test('does not count after the grace, from others, or when a person paused the task', async () => {
      const { work, mission } = await begin()
      const [task] = grantedTasks(await work.next(alpha))
      await pause(work, mission)
      await settleAll(work)
      const hold = { ...alpha, generation: 1 }
      expect(outcome(await work.submit(task!, { ...holder('beta'), generation: 1 }))).not.toBe('ACCEPTED')
      expect(outcome(await later(work, 31_000).submit(task!, hold))).toBe('NO_CLAIM')
      expect(outcome(await later(work, 29_000).submit(task!, hold))).toBe('ACCEPTED')
      const own = await work.create()
      await work.claim(own, alpha)
      await work.pause(own)
      expect(outcome(await work.submit(own, hold))).toBe('NO_CLAIM')
    })
  })

  describe('a clock of a task', () => {
    const HOUR_MS = 3_600_000
    const elapse = (work: Work, task: { id: number; uuid: string }) => work.command(task, { kind: 'elapse' })
    const first = async (work: Work) => {
      const [task] = await work.store.tasks(work.workspace, {}, 1)
      return task!.record
    }

    test('is stopped: it does not expire, and has as long as before when the mission continues', async () => {
      const { work, mission } = await begin({ expiresAt: Date.now() + HOUR_MS })
      await pause(work, mission)
      const late = later(work, 3 * HOUR_MS)
      expect(outcome(await elapse(late, await first(work)))).toBe('MOVED')
      expect(await first(work)).toMatchObject({ state: 'queued' })
      expect(outcome(await late.claim(await first(work), alpha))).toBe('MISSION_CLOSED')
      expect((await first(work)).state).toBe('queued')
      await resume(late, mission)
      // Found open a moment later, it has about an hour left, and may be claimed.
      const found = later(work, 3 * HOUR_MS + 60_000)
      await elapse(found, await first(work))
      const task = await first(work)
      const { dueAt } = task
      expect(task.state).toBe('queued')
      expect(watchOf(task)).toEqual({ expiresAt: dueAt })
      expect(dueAt! - Date.now()).toBeGreaterThan(3.9 * HOUR_MS)
      await elapse(later(work, 4.1 * HOUR_MS), await first(work))
      expect((await first(work)).state).toBe('cancelled')
    })

    test('that ran out meanwhile does not keep an agent from the task when the mission is open again', async () => {
      const { work, mission } = await begin({ expiresAt: Date.now() + HOUR_MS })
      await pause(work, mission)
      await elapse(later(work, 2 * HOUR_MS), await first(work))
      await resume(later(work, 2 * HOUR_MS), mission)
      const soon = later(work, 2 * HOUR_MS + 120_000)
      expect((await soon.claim(await first(work), alpha)).ok).toBe(true)
      expect(watchOf(await first(work))).toBeNull()
    })

    test('for a verdict is stopped, too', async () => {
      const { work, mission } = await begin({ verification: 'verifier', timers: { verifyMs: HOUR_MS } })
      const [task] = grantedTasks(await work.next(alpha))
      await work.submit(task!, { ...alpha, generation: 1 })
      await pause(work, mission)
      await elapse(later(work, 2 * HOUR_MS), task!)
      expect((await first(work)).state).toBe('verifying')
      await resume(later(work, 2 * HOUR_MS), mission)
      await elapse(later(work, 2.1 * HOUR_MS), task!)
      expect((await first(work)).state).toBe('verifying')
      await elapse(later(work, 3.2 * HOUR_MS), task!)
      expect((await first(work)).state).toBe('awaiting_human')
    })

    test('that starts a task or a retry continues: the task queues behind the gate', async () => {
      const { work, mission } = await begin({ runAt: Date.now() + HOUR_MS })
      await pause(work, mission)
      await elapse(later(work, 2 * HOUR_MS), await first(work))
      expect((await first(work)).state).toBe('queued')
      expect(grantedTasks(await later(work, 2 * HOUR_MS).next(alpha))).toEqual([])
    })
  })

  test('a task that was paused with it continues with it, and takes no result of before', async () => {
    const { work, mission } = await begin()
    const [task] = grantedTasks(await work.next(alpha))
    await pause(work, mission)
    await settleAll(work)
    await resume(work, mission)
    await settleAll(work)
    expect((await missionNow(work, mission)).counts.byState).toEqual({ queued: 1 })
    expect(outcome(await work.submit(task!, { ...alpha, generation: 1 }))).toBe('NO_CLAIM')
  })
})
