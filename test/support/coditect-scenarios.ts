import { expect } from 'vitest'
import {
  ACCEPTED,
  accepted,
  agentA,
  agentB,
  agentC,
  byGeneration,
  completed,
  expired,
  granted,
  refused,
  rejected,
  type Scenario,
  STALE,
  TASK_101,
  type TaskRef,
  takenOver,
} from './coditect-driver.ts'
import { FAILURES } from './coditect-failures.ts'
import { until } from './nodes.ts'
import { atGeneration, type Holder } from './tasks.ts'

/**
 * Coditect's scenarios and rules as the document has them: the same agents, the same timeline, the same final states. Each
 * takes a driver, so that they run through any entry point.
 */
export const SCENARIOS: Record<string, Record<string, Scenario>> = {
  '4 Operational scenarios': {
    '4.1 Happy path: a single agent completes its task': async (coordinator) => {
      await coordinator.at(0)
      const task = await coordinator.newTask(TASK_101)
      expect(await coordinator.claims(task), 'no existing claim').toEqual([])
      const claim = await coordinator.claim(task, agentA, { leaseSeconds: 60 })
      expect(claim).toMatchObject(granted(1, agentA))
      const a = atGeneration(agentA, 1)

      await coordinator.at(1)
      expect(await coordinator.start(task, a)).toMatchObject({ ok: true })
      expect(await coordinator.state(task)).toMatchObject({ state: 'running', generation: 1 })

      await coordinator.at(5)
      const end = Date.parse((claim.claim as { leaseExpiresAt: string }).leaseExpiresAt)
      const extended = await until(async () => {
        const renewed = await coordinator.renew(task, a)
        expect(renewed).toMatchObject({ ok: true, reason: 'RENEWED' })
        return Date.parse(renewed.leaseExpiresAt as string) > end && renewed
      })
      expect(extended.ttlMs, 'a whole lease from now').toBeGreaterThan(0)

      await coordinator.at(10)
      expect(await coordinator.submit(task, a, { by: 'A' })).toMatchObject(ACCEPTED)

      expect(await coordinator.state(task)).toMatchObject({ state: 'completed', generation: 1 })
      expect(await coordinator.claims(task)).toMatchObject([completed(1, agentA)])
      expect(await coordinator.results(task)).toMatchObject([accepted(1, { by: 'A' })])
      const log = await coordinator.log(task)
      expect([...new Set(log.map(({ type }) => type))]).toEqual([
        'task_created',
        'task_assigned',
        'task_started',
        'claim_renewed',
        'task_completed',
      ])
      expect(
        log.slice(1).every(({ generation }) => generation === 1),
        'work is tagged with it',
      ).toBe(true)
    },

    '4.2 Conflict: two agents, and the lease of the first expires': async (coordinator) => {
      await coordinator.at(0)
      const task = await coordinator.newTask(TASK_101)
      expect(await coordinator.claim(task, agentA, { leaseSeconds: 15 })).toMatchObject(granted(1, agentA))
      await coordinator.at(10) // Agent-A's renewal does not get through, and it keeps working, unaware.
      expect(await coordinator.claim(task, agentB)).toMatchObject(refused('DENIED_ACTIVE_CLAIM'))

      await coordinator.at(15)
      await coordinator.letLeaseExpire(task)
      expect(await coordinator.claims(task)).toMatchObject([expired(1, agentA)])

      await coordinator.at(16)
      expect(await coordinator.claim(task, agentB)).toMatchObject(granted(2, agentB))
      await coordinator.at(20)
      expect(await coordinator.submit(task, atGeneration(agentB, 2), { by: 'B' })).toMatchObject(ACCEPTED)
      await coordinator.at(25)
      expect(await coordinator.submit(task, atGeneration(agentA, 1), { by: 'A' })).toMatchObject(STALE(2))

      expect(await coordinator.state(task)).toMatchObject({ state: 'completed', generation: 2 })
      expect(await coordinator.claims(task)).toMatchObject([expired(1, agentA), completed(2, agentB)])
      expect(byGeneration(await coordinator.results(task))).toMatchObject([
        { ...rejected(1, { by: 'A' }), session: 'session-1' },
        { ...accepted(2, { by: 'B' }), session: 'session-2' },
      ])
    },

    '4.3 Rapid failover: several failures one after the other': async (coordinator) => {
      await coordinator.at(0)
      const task = await coordinator.newTask(TASK_101)
      expect(await coordinator.claim(task, agentA, { leaseSeconds: 5 })).toMatchObject(granted(1, agentA))
      await coordinator.at(5) // Agent-A crashed at T=2.
      await coordinator.letLeaseExpire(task)
      await coordinator.at(6)
      expect(await coordinator.claim(task, agentB, { leaseSeconds: 6 })).toMatchObject(granted(2, agentB))
      await coordinator.at(12) // Agent-B crashed at T=8.
      await coordinator.letLeaseExpire(task)
      await coordinator.at(13)
      expect(await coordinator.claim(task, agentC, { leaseSeconds: 60 })).toMatchObject(granted(3, agentC))

      await coordinator.at(18)
      expect(await coordinator.submit(task, atGeneration(agentC, 3), { by: 'C' })).toMatchObject(ACCEPTED)
      await coordinator.at(20)
      expect(await coordinator.submit(task, atGeneration(agentA, 1), { by: 'A' })).toMatchObject(STALE(3))
      await coordinator.at(22)
      expect(await coordinator.submit(task, atGeneration(agentB, 2), { by: 'B' })).toMatchObject(STALE(3))

      expect(await coordinator.state(task)).toMatchObject({ state: 'completed', generation: 3 })
      expect(await coordinator.claims(task)).toMatchObject([
        expired(1, agentA),
        expired(2, agentB),
        completed(3, agentC),
      ])
      const results = byGeneration(await coordinator.results(task))
      expect(results.filter((result) => result.accepted)).toMatchObject([accepted(3, { by: 'C' })])
      expect(results, 'what the others did can still be read').toMatchObject([
        rejected(1, { by: 'A' }),
        rejected(2, { by: 'B' }),
        accepted(3, { by: 'C' }),
      ])
    },

    '4.4 Sub-task coordination': async (coordinator) => {
      const subtasks: TaskRef[] = []
      for (const n of [1, 2, 3, 4, 5]) subtasks.push(await coordinator.newTask(`${TASK_101}::${n}`))
      const [one, two, three, four, five] = subtasks as [TaskRef, TaskRef, TaskRef, TaskRef, TaskRef]
      const parent = await coordinator.newTask(TASK_101, subtasks)
      const claimAll = (tasks: TaskRef[], by: Holder, leaseSeconds: number) =>
        Promise.all(tasks.map((task) => coordinator.claim(task, by, { leaseSeconds })))

      await coordinator.at(0)
      const all = granted(1, agentA)
      expect(await claimAll([one, two, three], agentA, 6)).toMatchObject([all, all, all])
      await coordinator.at(1)
      expect(await claimAll([three, four, five], agentB, 60)).toMatchObject([
        refused('DENIED_ACTIVE_CLAIM', { currentHolder: 'agent-a', currentGeneration: 1 }),
        granted(1, agentB),
        granted(1, agentB),
      ])
      await coordinator.at(5)
      for (const [n, task] of [one, two].entries())
        expect(await coordinator.submit(task, atGeneration(agentA, 1), { part: n + 1 })).toMatchObject(
          ACCEPTED,
        )
      await coordinator.at(6)
      await coordinator.letLeaseExpire(three)
      await coordinator.at(7)
      expect(await coordinator.claim(three, agentB)).toMatchObject(granted(2, agentB))
      await coordinator.dependenciesMoved(parent)
      expect(await coordinator.claim(parent, agentB)).toMatchObject(refused('NOT_READY'))

      await coordinator.at(10)
      expect(await coordinator.submit(three, atGeneration(agentB, 2), { part: 3 })).toMatchObject(ACCEPTED)
      expect(await coordinator.submit(four, atGeneration(agentB, 1), { part: 4 })).toMatchObject(ACCEPTED)
      expect(await coordinator.submit(five, atGeneration(agentB, 1), { part: 5 })).toMatchObject(ACCEPTED)
      await coordinator.at(12)
      expect(await coordinator.submit(three, atGeneration(agentA, 1), { part: 'late' })).toMatchObject(
        STALE(2),
      )

      const final: [TaskRef, Holder, number][] = [
        [one, agentA, 1],
        [two, agentA, 1],
        [three, agentB, 2],
        [four, agentB, 1],
        [five, agentB, 1],
      ]
      const parts: unknown[] = []
      for (const [task, by, generation] of final) {
        expect(await coordinator.state(task)).toMatchObject({ state: 'completed', generation })
        expect((await coordinator.claims(task)).at(-1)).toMatchObject(completed(generation, by))
        const [taken, ...more] = (await coordinator.results(task)).filter((result) => result.accepted)
        expect(taken).toMatchObject({ generation, session: by.session })
        expect(more).toEqual([])
        parts.push((taken!.data as { part: number }).part)
      }
      // Parent task merge: all subtasks are complete, and an agent can merge their results.
      await coordinator.dependenciesMoved(parent)
      expect(await coordinator.claim(parent, agentB)).toMatchObject(granted(1, agentB))
      expect(await coordinator.submit(parent, atGeneration(agentB, 1), { parts })).toMatchObject(ACCEPTED)
      expect(await coordinator.results(parent)).toMatchObject([accepted(1, { parts: [1, 2, 3, 4, 5] })])
    },
  },

  '3.2.2 Generation increment rules': {
    'only a claim raises the generation': async (coordinator) => {
      const task = await coordinator.newTask(TASK_101)
      const generation = async () => (await coordinator.state(task)).generation
      expect(await generation()).toBe(0)
      await coordinator.claim(task, agentA, { leaseSeconds: 60 })
      expect(await generation(), 'first claim').toBe(1)
      await coordinator.renew(task, atGeneration(agentA, 1))
      expect(await generation(), 'lease renewal').toBe(1)
      await coordinator.release(task, atGeneration(agentA, 1))
      expect(await generation(), 'release').toBe(1)
      await coordinator.claim(task, agentB, { leaseSeconds: 60 })
      expect(await generation(), 'claim after RELEASED').toBe(2)
      await coordinator.letLeaseExpire(task)
      expect(await generation(), 'expiry').toBe(2)
      await coordinator.claim(task, agentC, { leaseSeconds: 60 })
      expect(await generation(), 'claim after EXPIRED').toBe(3)
      await coordinator.submit(task, atGeneration(agentC, 3), {})
      expect(await generation(), 'result submission').toBe(3)
      await coordinator.reset(task)
      expect(await generation(), 'reset').toBe(3)
    },
  },

  '6.2 Conflict resolution rules': {
    'RULE 1: the higher generation always wins, in any order': async (coordinator) => {
      const task = await takenOver(coordinator)
      expect(await coordinator.submit(task, atGeneration(agentA, 1), { by: 'A' })).toMatchObject(STALE(2))
      expect(await coordinator.state(task)).toMatchObject({ state: 'assigned', generation: 2 })
      expect(await coordinator.submit(task, atGeneration(agentB, 2), { by: 'B' })).toMatchObject(ACCEPTED)
      expect(byGeneration(await coordinator.results(task))).toMatchObject([
        rejected(1, { by: 'A' }),
        accepted(2, { by: 'B' }),
      ])
    },

    'RULE 2: of the same generation, the session that holds the claim wins': async (coordinator) => {
      const task = await coordinator.newTask(TASK_101)
      await coordinator.claim(task, agentA)
      const impostor = { ...agentA, session: 'session-9', generation: 1 }
      expect(await coordinator.submit(task, impostor, { by: 'impostor' })).toMatchObject(
        refused('SESSION_MISMATCH', { workLost: false }),
      )
      expect(await coordinator.submit(task, atGeneration(agentA, 1), { by: 'A' })).toMatchObject(ACCEPTED)
      expect(await coordinator.results(task)).toMatchObject([accepted(1, { by: 'A' })])
    },

    'RULE 3: a completed task rejects all, until it is reset': async (coordinator) => {
      const task = await coordinator.newTask(TASK_101)
      await coordinator.claim(task, agentA)
      const a = atGeneration(agentA, 1)
      await coordinator.submit(task, a, { version: 1 })
      expect(await coordinator.submit(task, a, { version: 2 })).toMatchObject(
        refused('TASK_ALREADY_COMPLETED'),
      )
      expect(await coordinator.claim(task, agentB)).toMatchObject(refused('DENIED_COMPLETED'))
      expect(await coordinator.submit(task, atGeneration(agentB, 2), {})).toMatchObject(
        refused('FUTURE_GENERATION'),
      )

      expect(await coordinator.reset(task)).toMatchObject({ ok: true })
      expect(await coordinator.submit(task, a, { version: 3 })).toMatchObject(refused('NO_CLAIM'))
      expect(await coordinator.claim(task, agentB)).toMatchObject(granted(2, agentB))
      expect(await coordinator.submit(task, atGeneration(agentB, 2), { version: 4 })).toMatchObject(ACCEPTED)
      const taken = (await coordinator.results(task)).filter((result) => result.accepted)
      expect(taken).toMatchObject([accepted(1, { version: 1 }), accepted(2, { version: 4 })])
    },

    'RULE 4: no claim, no acceptance': async (coordinator) => {
      const task = await coordinator.newTask(TASK_101)
      expect(await coordinator.submit(task, atGeneration(agentA, 1), {})).toMatchObject(
        refused('NO_CLAIM', { workLost: false }),
      )
      expect(await coordinator.results(task)).toEqual([])

      await coordinator.claim(task, agentA)
      await coordinator.release(task, atGeneration(agentA, 1))
      expect(await coordinator.submit(task, atGeneration(agentA, 1), { by: 'A' })).toMatchObject(
        refused('NO_CLAIM', { workLost: true }),
      )
      expect(await coordinator.results(task)).toMatchObject([rejected(1, { by: 'A' }, 'NO_CLAIM')])
      expect(await coordinator.state(task)).toMatchObject({ state: 'queued', generation: 1 })
    },
  },

  '6.3 Failure modes and recovery': FAILURES,
}
