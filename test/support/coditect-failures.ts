import { expect, vi } from 'vitest'
import {
  ACCEPTED,
  accepted,
  agentA,
  agentB,
  byGeneration,
  completed,
  expired,
  granted,
  refused,
  rejected,
  type Scenario,
  STALE,
  TASK_101,
  takenOver,
} from './coditect-driver.ts'
import { until } from './nodes.ts'
import { replay } from './replay.ts'
import { atGeneration } from './tasks.ts'

const a = atGeneration(agentA, 1)
const b = atGeneration(agentB, 2)
const A_DAY_MS = 86_400_000

/** Coditect 6.3, row by row: the failure, how it is detected, how work continues. */
export const FAILURES: Record<string, Scenario> = {
  'Agent crash: its lease expires, and the next claim is one generation higher': async (coordinator) => {
    const task = await coordinator.newTask(TASK_101)
    await coordinator.claim(task, agentA, { leaseSeconds: 60 })
    await coordinator.start(task, a)
    await coordinator.at(60)
    await coordinator.letLeaseExpire(task)
    expect(await coordinator.claim(task, agentB)).toMatchObject(granted(2, agentB))
    expect(await coordinator.submit(task, b, { by: 'B' })).toMatchObject(ACCEPTED)
    expect(await coordinator.claims(task)).toMatchObject([expired(1, agentA), completed(2, agentB)])
  },

  'Network partition: the renewal that comes too late fails, and the next claim is one generation higher':
    async (coordinator) => {
      const task = await coordinator.newTask(TASK_101)
      await coordinator.claim(task, agentA, { leaseSeconds: 60 })
      expect(await coordinator.renew(task, a)).toMatchObject({ ok: true, reason: 'RENEWED' })
      await coordinator.at(120)
      await coordinator.letLeaseExpire(task)
      expect(await coordinator.renew(task, a)).toMatchObject(refused('ALREADY_EXPIRED'))
      expect(await coordinator.claim(task, agentB)).toMatchObject(granted(2, agentB))
      expect(await coordinator.renew(task, a)).toMatchObject(
        refused('GENERATION_MISMATCH', { currentGeneration: 2 }),
      )
      expect(await coordinator.release(task, a)).toMatchObject(refused('STALE_GENERATION'))
      expect(await coordinator.state(task), 'nothing of it touched the holder').toMatchObject({
        state: 'assigned',
        generation: 2,
      })
    },

  'Coordinator crash: after a restart claims still hold, and the log replays to the state': async (
    coordinator,
  ) => {
    const task = await takenOver(coordinator)
    await coordinator.start(task, b)
    const before = [
      await coordinator.state(task),
      await coordinator.claims(task),
      await coordinator.log(task),
    ]
    await coordinator.restart()
    expect([
      await coordinator.state(task),
      await coordinator.claims(task),
      await coordinator.log(task),
    ]).toEqual(before)
    expect(replay(await coordinator.log(task))).toEqual({ state: 'running', generation: 2 })

    expect(await coordinator.claim(task, agentA)).toMatchObject(refused('DENIED_ACTIVE_CLAIM'))
    expect(await coordinator.renew(task, b)).toMatchObject({ ok: true, reason: 'RENEWED' })
    expect(await coordinator.submit(task, b, { by: 'B' })).toMatchObject(ACCEPTED)
    expect(replay(await coordinator.log(task))).toEqual({ state: 'completed', generation: 2 })
  },

  'Database unavailable: requests fail at once, and tried again they are done once': async (coordinator) => {
    const task = await coordinator.newTask(TASK_101)
    const once = { idempotencyKey: 'claim-of-agent-a' }
    await coordinator.whileDatabaseIsUnreachable(async () => {
      expect(await coordinator.claim(task, agentA, once)).toMatchObject(refused('UNAVAILABLE'))
      expect(await coordinator.submit(task, a, { by: 'A' })).toMatchObject(refused('UNAVAILABLE'))
    })
    const back = await until(async () => {
      const answer = await coordinator.claim(task, agentA, once)
      return answer.code !== 'UNAVAILABLE' && answer
    })
    expect(back).toMatchObject(granted(1, agentA))
    expect(await coordinator.claim(task, agentA, once), 'the same answer again').toMatchObject(
      granted(1, agentA),
    )
    expect(await coordinator.claims(task)).toMatchObject([{ generation: 1, state: 'active' }])
    expect(await coordinator.submit(task, a, { by: 'A' })).toMatchObject(ACCEPTED)
  },

  'Duplicate submission: the same again gets the same answer, a stale one is rejected once': async (
    coordinator,
  ) => {
    const task = await takenOver(coordinator)
    const first = await coordinator.submit(task, b, { by: 'B' })
    expect(first).toMatchObject(ACCEPTED)
    expect(await coordinator.submit(task, b, { by: 'B' })).toMatchObject({
      ...ACCEPTED,
      workProductRef: first.workProductRef,
    })
    expect(await coordinator.submit(task, b, { by: 'B', other: true })).toMatchObject(
      refused('TASK_ALREADY_COMPLETED'),
    )
    for (let n = 0; n < 3; n++) expect(await coordinator.submit(task, a, { by: 'A' })).toMatchObject(STALE(2))
    const results = await coordinator.results(task)
    expect(results.filter((result) => result.accepted)).toMatchObject([accepted(2, { by: 'B' })])
    expect(results.filter(({ generation }) => generation === 1)).toMatchObject([rejected(1, { by: 'A' })])
    expect(await coordinator.state(task)).toMatchObject({ state: 'completed', generation: 2 })
  },

  'Split-brain agents: both submit at once, and the higher generation wins': async (coordinator) => {
    const task = await takenOver(coordinator)
    const [ofA, ofB] = await Promise.all([
      coordinator.submit(task, a, { by: 'A' }),
      coordinator.submit(task, b, { by: 'B' }),
    ])
    expect(ofA).toMatchObject(STALE(2))
    expect(ofB).toMatchObject(ACCEPTED)
    expect(byGeneration(await coordinator.results(task))).toMatchObject([
      rejected(1, { by: 'A' }),
      accepted(2, { by: 'B' }),
    ])
  },

  'Lease renewal race: of the late renewal and the new claim, one wins and the loser gets an error': async (
    coordinator,
  ) => {
    const task = await coordinator.newTask(TASK_101)
    await coordinator.claim(task, agentA, { leaseSeconds: 60 })
    const inTime = await Promise.all([coordinator.claim(task, agentB), coordinator.renew(task, a)])
    expect(inTime).toMatchObject([refused('DENIED_ACTIVE_CLAIM'), { ok: true, reason: 'RENEWED' }])

    await coordinator.at(120)
    await coordinator.letLeaseExpire(task)
    const [renewal, claim] = await Promise.all([coordinator.renew(task, a), coordinator.claim(task, agentB)])
    expect(claim).toMatchObject(granted(2, agentB))
    expect(renewal.ok).toBe(false)
    expect(['ALREADY_EXPIRED', 'GENERATION_MISMATCH']).toContain(renewal.code)
    expect(await coordinator.claims(task)).toMatchObject([
      expired(1, agentA),
      { generation: 2, ...agentB, state: 'active', endReason: null },
    ])
  },

  'Clock skew: the clocks of agents and coordinators decide nothing': async (coordinator) => {
    const task = await coordinator.newTask(TASK_101)
    expect(await coordinator.claim(task, agentA, { leaseSeconds: 60 })).toMatchObject(granted(1, agentA))
    const { at } = (await coordinator.log(task)).at(-1)!
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      for (const skew of [A_DAY_MS, -A_DAY_MS]) {
        vi.setSystemTime(at + skew)
        // By this process's clock the lease ended a day ago, or begins tomorrow. Neither is true.
        expect(await coordinator.claim(task, agentB)).toMatchObject(refused('DENIED_ACTIVE_CLAIM'))
        const renewed = await coordinator.renew(task, a)
        expect(renewed).toMatchObject({ ok: true, reason: 'RENEWED' })
        const end = Date.parse(renewed.leaseExpiresAt as string)
        expect(Math.abs(end - at), 'the lease ends near its beginning').toBeLessThan(A_DAY_MS / 2)
      }
    } finally {
      vi.useRealTimers()
    }
    expect(await coordinator.submit(task, a, { by: 'A' })).toMatchObject(ACCEPTED)
  },
}
