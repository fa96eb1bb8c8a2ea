import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentRecord } from '../../../src/kinds/agent/record.ts'
import type { AgentCommand } from '../../../src/kinds/agent/rules/command.ts'
import { decideAgent, shownState, whyNoWorkFor } from '../../../src/kinds/agent/rules/decide.ts'
import type { AgentDecision } from '../../../src/kinds/agent/rules/decision.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { DEFAULT_LIMITS } from '../../../src/kinds/workspace/limits.ts'
import {
  agentEvents,
  aHeartbeat,
  heartbeat,
  holdingIn,
  judge,
  pause,
  recordIn,
  register,
  remove,
  resume,
  terminate,
} from '../../support/agents.ts'
import { assign } from '../../support/assign.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { rounds } from '../../support/rounds.ts'
import { granted, grantedTasks, type Hold, holder, newTask, outcome, type Work } from '../../support/tasks.ts'

/** Agents that are paused, leaving or terminated, and how much they may hold. */

const STALE = 180_000
const alpha = holder('alpha')
const lastEvent = async (work: Work) => (await agentEvents(work)).at(-1)!

async function holding(count: number, profile: Parameters<typeof register>[2] = {}) {
  const clock = manualClock()
  const { work } = clock
  await register(work, 'alpha', { maxConcurrentTasks: null, ...profile })
  await heartbeat(work, 'alpha')
  const tasks = await work.createAll(Array.from({ length: count }, () => newTask()))
  const holds: Hold[] = []
  for (const task of tasks) holds.push(granted(await work.claim(task, alpha)))
  return { ...clock, tasks, holds }
}

/** Every kind of claim. */
async function claimsAnyWay(work: Work): Promise<string[]> {
  const [one, two, three] = [await work.create(), await work.create(), await work.create()]
  const many = await work.run({
    on: 'many',
    actor: 'key:test',
    items: [two!].map(({ id, uuid }) => ({
      taskId: id,
      uuid,
      command: { kind: 'claim', ...alpha, leaseMs: 1_000, capabilities: [] },
    })),
  })
  const replies = [await work.claim(one!, alpha), await work.next(alpha), await assign(work, three!, alpha)]
  return [...replies, (many.replies as (typeof many)[])[0]!].map(outcome)
}

describe('a paused agent', () => {
  test('gets nothing by any kind of claim, and finishes what it holds', async () => {
    const { work, tasks, holds } = await holding(2)
    expect(recordIn(await pause(work, 'alpha', 'lunch'))).toMatchObject({
      state: 'paused',
      stateReason: 'lunch',
      version: 2,
    })
    expect(await claimsAnyWay(work)).toEqual(Array(4).fill('AGENT_PAUSED'))
    expect(outcome(await work.renew(tasks[0]!, holds[0]!))).toBe('RENEWED')
    expect(outcome(await work.submit(tasks[0]!, holds[0]!))).toBe('ACCEPTED')
    expect(outcome(await heartbeat(work, 'alpha')), 'and may heartbeat').toBe('DONE')
    expect(recordIn(await pause(work, 'alpha', 'again')), 'twice is once').toMatchObject({
      stateReason: 'lunch',
      version: 2,
    })
    expect(recordIn(await resume(work, 'alpha'))).toMatchObject({ state: 'idle', stateReason: null })
    expect(outcome(await work.next(alpha))).toBe('GRANTED')
    expect(outcome(await resume(work, 'alpha'))).toBe('WRONG_STATE')
  })

  test('may start what it was assigned before, under the session it was assigned to', async () => {
    const { work } = await holding(0)
    const task = await work.create()
    granted(await assign(work, task, alpha))
    await pause(work, 'alpha')
    expect(outcome(await work.claim(task, alpha))).toBe('GRANTED')
    expect(outcome(await work.claim(task, holder('alpha', 'another')))).toBe('DENIED_ACTIVE_CLAIM')
  })

  test('that is resumed after it was silent for too long is offline, not idle', async () => {
    const { work, pass } = await holding(0)
    await pause(work, 'alpha')
    pass(STALE - 1)
    await resume(work, 'alpha')
    await pause(work, 'alpha')
    pass(1)
    expect(recordIn(await resume(work, 'alpha')).state).toBe('offline')
  })
})

test('an agent whose silence was judged while it was paused is monitored again once it is resumed', async () => {
  const { work, pass } = await holding(0)
  await pause(work, 'alpha')
  pass(STALE)
  await judge(work, 'alpha')
  await register(work, 'alpha', { staleMs: 3 * STALE })
  expect(recordIn(await resume(work, 'alpha'))).toMatchObject({ state: 'idle' })
  granted(await work.claim(await work.create(), alpha, { leaseMs: 10 * STALE }))
  pass(2 * STALE)
  expect(recordIn(await judge(work, 'alpha')).state, 'silent for three times as long').toBe('error')
})

describe('an agent that is leaving', () => {
  test('gets nothing more, finishes what it holds, and is terminated when that is done', async () => {
    const { work, tasks, holds } = await holding(2)
    expect(recordIn(await terminate(work, 'alpha', true))).toMatchObject({ state: 'idle', leaving: true })
    expect(await lastEvent(work)).toMatchObject({ type: 'agent_leaving', payload: { claims: 2 } })
    expect(await claimsAnyWay(work)).toEqual(Array(4).fill('AGENT_TERMINATED'))
    for (const command of [pause, resume])
      expect(outcome(await command(work, 'alpha'))).toBe('AGENT_TERMINATED')
    expect(recordIn(await terminate(work, 'alpha', true)).version, 'twice is once').toBe(2)
    expect(outcome(await work.submit(tasks[0]!, holds[0]!))).toBe('ACCEPTED')
    expect(recordIn(await judge(work, 'alpha')).leaving).toBe(true)
    expect(outcome(await heartbeat(work, 'alpha'))).toBe('DONE')
    await work.release(tasks[1]!, holds[1]!)
    expect(recordIn(await judge(work, 'alpha'))).toMatchObject({
      state: 'terminated',
      leaving: false,
      stateReason: 'too dear',
    })
    expect(await lastEvent(work)).toMatchObject({
      type: 'agent_terminated',
      payload: { reason: 'too dear', claims: 0 },
    })
  })

  test('without tasks is terminated at once', async () => {
    const { work } = await holding(0)
    expect(recordIn(await terminate(work, 'alpha', true))).toMatchObject({
      state: 'terminated',
      leaving: false,
    })
  })

  test('can be terminated early: what it holds is requeued then', async () => {
    const { work, tasks } = await holding(1)
    await terminate(work, 'alpha', true)
    expect(recordIn(await terminate(work, 'alpha', false, 'now'))).toMatchObject({
      state: 'terminated',
      leaving: false,
      stateReason: 'now',
    })
    expect(await work.record(tasks[0]!)).toMatchObject({ state: 'queued', attempt: 0 })
  })

  test.each([
    ['goes silent', async () => undefined],
    [
      'goes silent and heartbeats again',
      async (work: Work) => {
        await heartbeat(work, 'alpha')
      },
    ],
  ])('and %s is terminated for the reason given with the request to leave', async (_how, then) => {
    const { work, pass } = await holding(1)
    await terminate(work, 'alpha', true, 'too dear')
    pass(STALE)
    await judge(work, 'alpha')
    await then(work)
    expect(recordIn(await judge(work, 'alpha'))).toMatchObject({
      state: 'terminated',
      stateReason: 'too dear',
    })
    expect((await lastEvent(work)).payload).toMatchObject({ reason: 'too dear' })
  })

  test('stays when it registers again', async () => {
    const { work, pass, tasks } = await holding(1)
    await terminate(work, 'alpha', true)
    expect(recordIn(await register(work, 'alpha'))).toMatchObject({ state: 'idle', leaving: false })
    expect((await work.record(tasks[0]!)).state).toBe('assigned')
    expect(outcome(await work.next(alpha))).toBe('NO_WORK')
    pass(1)
    expect(recordIn(await judge(work, 'alpha')).state).toBe('idle')
  })
})

describe('an agent that is terminated', () => {
  test('loses what it holds without harm: requeued, the attempt returned', async () => {
    const { work, tasks, holds } = await holding(2)
    await work.start(tasks[0]!, holds[0]!)
    const reply = await terminate(work, 'alpha', false)
    expect(recordIn(reply)).toMatchObject({ state: 'terminated', health: { dueAt: null } })
    expect(holdingIn(reply)).toEqual([])
    for (const task of tasks) {
      expect(await work.record(task)).toMatchObject({ state: 'queued', attempt: 0, generation: 1 })
      expect(await work.claims(task)).toMatchObject([{ endReason: 'AGENT_TERMINATED' }])
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({
        type: 'task_requeued',
        payload: { because: 'too dear' },
      })
    }
    expect(await claimsAnyWay(work)).toEqual(Array(4).fill('AGENT_TERMINATED'))
    for (const command of [heartbeat, pause, resume])
      expect(outcome(await command(work, 'alpha'))).toBe('AGENT_TERMINATED')
    expect(outcome(await work.submit(tasks[0]!, holds[0]!))).toMatch(/NO_CLAIM|ACCEPTED/)
    expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
  })

  test('comes back by registering, as if it had never sent a heartbeat', async () => {
    const { work, now } = await holding(1)
    await heartbeat(work, 'alpha', { sentAt: now() })
    await terminate(work, 'alpha', false)
    const back = recordIn(await register(work, 'alpha'))
    expect(back).toMatchObject({
      state: 'idle',
      maxConcurrentTasks: null,
      health: { hasHeartbeat: false, sentAt: null, dueAt: now() + STALE },
    })
    expect((await lastEvent(work)).type).toBe('agent_registered')
    expect(outcome(await heartbeat(work, 'alpha', { sentAt: now() - 5 })), 'a new start, a new clock').toBe(
      'DONE',
    )
    expect(outcome(await work.next(alpha))).toBe('GRANTED')
  })

  test('a task whose generations are used up becomes a dead letter with it', async () => {
    const { work } = manualClock({ maxGenerationsPerTask: 1 })
    await register(work, 'alpha')
    const task = await work.create()
    granted(await work.claim(task, alpha))
    await terminate(work, 'alpha', false)
    expect(await work.record(task)).toMatchObject({ state: 'failed' })
  })
})

test('an agent is removed only when it holds nothing, and is unknown then', async () => {
  const { work, tasks, holds } = await holding(1)
  expect(outcome(await remove(work, 'alpha'))).toBe('WRONG_STATE')
  await work.release(tasks[0]!, holds[0]!)
  expect(await remove(work, 'alpha')).toMatchObject({ ok: true })
  expect(outcome(await remove(work, 'alpha'))).toBe('NOT_FOUND')
  expect(recordIn(await register(work, 'alpha'))).toMatchObject({ version: 1, maxConcurrentTasks: 1 })
})

describe('an agent’s limit of tasks', () => {
  test('is never exceeded in one batch, and lowering it revokes nothing', async () => {
    const { work } = manualClock()
    await register(work, 'alpha', { maxConcurrentTasks: 3 })
    const tasks = await work.createAll(Array.from({ length: 8 }, () => newTask()))
    const replies = await Promise.all([
      ...tasks.slice(0, 4).map((task) => work.claim(task, alpha)),
      work.next(alpha, { limit: 4 }),
    ])
    expect(replies.map(outcome)).toEqual([
      ...['GRANTED', 'GRANTED', 'GRANTED'],
      ...['NO_CAPACITY', 'NO_CAPACITY'],
    ])
    await register(work, 'alpha', { maxConcurrentTasks: 1 })
    expect(await work.next(alpha)).toMatchObject({ code: 'NO_CAPACITY', capacity: 1, held: 3 })
    expect((await work.store.counts(work.workspace)).activeClaims).toBe(3)
    await register(work, 'alpha', { maxConcurrentTasks: null })
    expect(grantedTasks(await work.next(alpha, { limit: 9 }))).toHaveLength(5)
  })

  test('counts what it released and what it was registered with in the same batch', async () => {
    const { work } = manualClock()
    await register(work, 'alpha', { maxConcurrentTasks: 1 })
    const [one, two, three, four] = await work.createAll(Array.from({ length: 4 }, () => newTask()))
    const hold = granted(await work.claim(one!, alpha))
    const replies = await Promise.all([
      work.claim(two!, alpha),
      work.submit(one!, hold),
      work.claim(two!, alpha),
      register(work, 'alpha', { maxConcurrentTasks: 2 }),
      work.claim(three!, alpha),
      pause(work, 'alpha'),
      work.claim(four!, alpha),
    ])
    expect(replies.map(outcome)).toEqual([
      ...['NO_CAPACITY', 'ACCEPTED', 'GRANTED', 'DONE'],
      ...['GRANTED', 'DONE', 'AGENT_PAUSED'],
    ])
  })

  test('does not prevent a new claim of a task whose lease the agent let expire', async () => {
    const { work, pass } = manualClock()
    await register(work, 'alpha', { maxConcurrentTasks: 1 })
    const task = await work.create()
    granted(await work.claim(task, alpha, { leaseMs: 1_000 }))
    pass(1_000)
    expect(outcome(await work.claim(task, alpha))).toBe('GRANTED')
  })

  test('an agent that was removed in a batch has no limit in the rest of it', async () => {
    const { work } = manualClock()
    await register(work, 'alpha', { maxConcurrentTasks: 1 })
    await pause(work, 'alpha')
    const task = await work.create()
    const replies = await Promise.all([remove(work, 'alpha'), work.claim(task, alpha)])
    expect(replies.map(outcome)).toEqual(['DONE', 'GRANTED'])
  })
})

describe('in any history of an agent', () => {
  const profile = fc.record(
    {
      name: fc.constant('x'),
      staleMs: fc.constantFrom(60_000, 180_000, 900_000),
      maxConcurrentTasks: fc.constantFrom(null, 1, 2),
      coordinatorEnabled: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  const command: fc.Arbitrary<AgentCommand> = fc.oneof(
    fc.record({ kind: fc.constant('register' as const), profile, ifVersion: fc.constantFrom(null, null, 1) }),
    fc.record({
      kind: fc.constant('heartbeat' as const),
      heartbeat: fc.record({ sentAt: fc.constantFrom(null, 5_000, 500_000) }).map(aHeartbeat),
    }),
    fc.record({
      kind: fc.constantFrom('pause' as const),
      graceful: fc.boolean(),
      reason: fc.constantFrom(null, 'lunch'),
    }),
    fc.record({ kind: fc.constantFrom('resume' as const, 'remove' as const, 'elapse' as const) }),
    fc.constant({ kind: 'elapse' as const }),
    fc.record({
      kind: fc.constant('terminate' as const),
      graceful: fc.boolean(),
      reason: fc.constant('too dear'),
    }),
  )
  const steps = fc.array(
    fc.record({ waitMs: fc.constantFrom(0, 1_000, 200_000), command, holds: fc.nat(2) }),
    {
      maxLength: 40,
      size: 'max',
    },
  )

  test('a terminated agent comes back only by registering; versions grow; a leaving agent with tasks is not terminated', () => {
    const reached = new Set<string>()
    fc.assert(
      fc.property(steps, (life) => {
        let record: AgentRecord | null = null
        let now = 0
        for (const { waitMs, command, holds } of life) {
          now += waitMs
          const held = Array.from({ length: holds }, () => ({ state: 'assigned' }) as TaskRecord)
          const before: AgentRecord | null = record && Object.freeze(record)
          const decision: AgentDecision = decideAgent(before, { slug: 'a', uuid: 'u' }, command, {
            now,
            actor: 'key:test',
            holding: held,
            limits: DEFAULT_LIMITS,
          })
          const after: AgentRecord | null = decision.record
          if (decision.refusal) expect([after, decision.events]).toEqual([before, []])
          if (before && after) {
            expect(after.version - before.version).toBe(decision.events.length)
            if (before.state === 'terminated' && after.state !== 'terminated')
              expect(command.kind).toBe('register')
            if (after.state !== before.state) expect(decision.events).toHaveLength(1)
          }
          if (after) {
            expect(after.leaving && after.state === 'terminated').toBe(false)
            if (after.state === 'terminated' || after.leaving)
              expect(whyNoWorkFor(after, 0)?.code).toBe('AGENT_TERMINATED')
            if (after.state === 'terminated') expect(after.health?.dueAt ?? null).toBeNull()
            if (decision.fate === 'lost')
              expect(after.health!.hasHeartbeat && after.coordinatorEnabled).toBe(true)
            const isMissed = after.state === 'error' || after.state === 'offline'
            if (!isMissed && after.state !== 'terminated' && after.state !== 'paused')
              expect(after.health!.dueAt, 'it will be checked').not.toBeNull()
            reached.add(after.leaving ? `${after.state} leaving` : after.state)
          } else if (before) expect([command.kind, holds]).toEqual(['remove', 0])
          record = after && { ...after }
        }
      }),
      { numRuns: rounds(300, 2_000) },
    )
    for (const state of [
      'idle',
      'paused',
      'error',
      'offline',
      'terminated',
      'idle leaving',
      'paused leaving',
    ])
      expect(reached).toContain(state)
  })
})

test('an idle agent with work is shown as running, and no other', () => {
  const shown = (state: AgentRecord['state'], holds: number) => shownState({ state } as AgentRecord, holds)
  expect([shown('idle', 1), shown('idle', 0)]).toEqual(['running', 'idle'])
  for (const state of ['paused', 'error', 'offline', 'terminated'] as const)
    expect(shown(state, 1)).toBe(state)
})
