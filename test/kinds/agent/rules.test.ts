import { describe, expect, test } from 'vitest'
import type { AgentRecord } from '../../../src/kinds/agent/record.ts'
import type { AgentCommand } from '../../../src/kinds/agent/rules/command.ts'
import { decideAgent } from '../../../src/kinds/agent/rules/decide.ts'
import { backoffMs } from '../../../src/kinds/task/rules/retry.ts'
import { DEFAULT_LIMITS } from '../../../src/kinds/workspace/limits.ts'
import {
  agentEvents,
  aHeartbeat,
  commandAgent,
  heartbeat,
  holdingIn,
  judge,
  pause,
  recordIn,
  register,
  resume,
  settledIn,
} from '../../support/agents.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { granted, type Hold, holder, newTask, outcome, type Work } from '../../support/tasks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const STALE = 180 * SECOND
const alpha = holder('alpha')
const typesOf = async (work: Work) => (await agentEvents(work)).map(({ type }) => type)

/** An agent that is registered, has sent a heartbeat and holds so many tasks. */
async function heartbeating(count = 0, profile: Parameters<typeof register>[2] = {}) {
  const clock = manualClock()
  const { work } = clock
  await register(work, 'alpha', { maxConcurrentTasks: null, ...profile })
  await heartbeat(work, 'alpha')
  const tasks = await work.createAll(Array.from({ length: count }, () => newTask()))
  const holds: Hold[] = []
  for (const task of tasks) holds.push(granted(await work.claim(task, alpha)))
  return { ...clock, tasks, holds }
}

describe('an agent that registers', () => {
  test('with an interval or a threshold alone gets a matching value for the other', async () => {
    const { work } = manualClock()
    const times = async (profile: Parameters<typeof register>[2]) => {
      const { heartbeatMs, staleMs } = recordIn(await register(work, 'alpha', profile))
      return [heartbeatMs, staleMs]
    }
    expect(await times({ staleMs: 2 * SECOND })).toEqual([SECOND, 2 * SECOND])
    expect(await times({ heartbeatMs: 600 * SECOND })).toEqual([600 * SECOND, 1_200 * SECOND])
  })

  test('has the document’s defaults unless it says otherwise, and registering counts as seen', async () => {
    const { work, now } = manualClock()
    const reply = await register(work, 'alpha', { capabilities: ['sql'] })
    expect(reply).toMatchObject({ ok: true, isNew: true })
    expect(recordIn(reply)).toMatchObject({
      slug: 'alpha',
      name: 'alpha',
      adapterType: 'external',
      capabilities: ['sql'],
      maxConcurrentTasks: 1,
      heartbeatMs: 30 * SECOND,
      staleMs: STALE,
      coordinatorEnabled: true,
      batchSize: 1,
      state: 'idle',
      leaving: false,
      version: 1,
      health: {
        lastSeenAt: now(),
        hasHeartbeat: false,
        status: 'healthy',
        sentAt: null,
        dueAt: now() + STALE,
      },
    })
    expect(await typesOf(work)).toEqual(['agent_registered'])
  })

  test('again keeps what it does not mention, and updates the rest', async () => {
    const { work, pass } = manualClock()
    await register(work, 'alpha', { name: 'Dev', model: 'opus', maxConcurrentTasks: 7 })
    const before = recordIn(await heartbeat(work, 'alpha'))
    pass(SECOND)
    const again = await register(work, 'alpha', { model: null, name: undefined })
    expect(again).toMatchObject({ isNew: false })
    const { uuid, createdAt, health } = before
    const kept = { uuid, createdAt, health, name: 'Dev', maxConcurrentTasks: 7 }
    expect(recordIn(again)).toMatchObject({ ...kept, model: null, version: 2 })
    expect((await agentEvents(work)).at(-1)).toMatchObject({
      type: 'agent_updated',
      payload: { agent: 'alpha', fields: ['model'] },
    })
  })

  test.each([0, 2, 99])('under a version that is not its own (%i) changes nothing', async (version) => {
    const { work } = manualClock()
    await register(work, 'alpha')
    const refused = await register(work, 'alpha', { name: 'x' }, version)
    expect(refused).toMatchObject({ code: 'VERSION_MISMATCH', currentVersion: 1 })
    expect(await typesOf(work)).toEqual(['agent_registered'])
    expect(outcome(await register(work, 'alpha', { name: 'x' }, 1))).toBe('DONE')
    expect(outcome(await register(work, 'nobody', {}, 1)), 'unknown').toBe('VERSION_MISMATCH')
    expect(outcome(await register(work, 'new', {}, 0)), 'unknown').toBe('DONE')
  })

  test('may not be missed sooner than its heartbeat interval', async () => {
    const { work } = manualClock()
    expect(await register(work, 'alpha', { heartbeatMs: 10, staleMs: 9 })).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field: 'staleThresholdSeconds' }],
    })
    expect(outcome(await register(work, 'alpha', { heartbeatMs: 10, staleMs: 10 }))).toBe('DONE')
  })

  test('after heartbeats without registration gets what registered agents get', () => {
    // As Postgres stores an agent that only claimed.
    const context = { now: 1_000, actor: 'key:test', holding: [], limits: DEFAULT_LIMITS }
    const identity = { slug: 'alpha', uuid: 'u' }
    const fresh = decideAgent(null, identity, { kind: 'register', profile: {}, ifVersion: null }, context)
    const merelyClaiming: AgentRecord = {
      ...fresh.record!,
      maxConcurrentTasks: null,
      coordinatorEnabled: false,
      registered: false,
      health: null,
    }
    const heard = decideAgent(
      merelyClaiming,
      identity,
      { kind: 'heartbeat', heartbeat: aHeartbeat() },
      context,
    ).record
    for (const before of [merelyClaiming, heard]) {
      const { record } = decideAgent(
        before,
        identity,
        { kind: 'register', profile: {}, ifVersion: null },
        context,
      )
      expect(record).toMatchObject({ maxConcurrentTasks: 1, coordinatorEnabled: true })
    }
  })
})

describe('a heartbeat', () => {
  test.each(['heartbeat', 'pause', 'resume', 'terminate', 'remove', 'elapse'] as const)(
    'or another command (%s) to an unknown agent is NOT_FOUND',
    async (kind) => {
      const { work } = manualClock()
      const command = { kind, heartbeat: aHeartbeat(), reason: 'x', graceful: false } as AgentCommand
      expect(outcome(await commandAgent(work, 'nobody', command))).toBe('NOT_FOUND')
      expect(await work.events()).toEqual([])
    },
  )

  test('is stored unchanged, leaves no event and no new version', async () => {
    const { work, now, pass } = await heartbeating()
    pass(MINUTE)
    const reported = { status: 'degraded', step: 'testing', progressPercent: 40, memoryMb: 512.5 } as const
    const { version, health } = recordIn(
      await heartbeat(work, 'alpha', { ...reported, metadata: { a: [1] }, session: 's' }),
    )
    expect(version).toBe(1)
    expect(health).toMatchObject({ ...reported, lastSeenAt: now(), metadata: { a: [1] }, session: 's' })
    expect(await typesOf(work)).toEqual(['agent_registered'])
    expect(recordIn(await heartbeat(work, 'alpha')).health).toMatchObject({
      status: 'healthy',
      step: null,
      session: 's',
    })
  })

  test('from before the last one, or from more than a minute ahead, is refused and changes nothing', async () => {
    const { work, now, pass } = await heartbeating()
    const sentAt = now() + MINUTE
    expect(outcome(await heartbeat(work, 'alpha', { sentAt: sentAt + 1 }))).toBe('VALIDATION_FAILED')
    await heartbeat(work, 'alpha', { sentAt, step: 'kept' })
    pass(SECOND)
    expect(await heartbeat(work, 'alpha', { sentAt: sentAt - 1, step: 'late' })).toMatchObject({
      code: 'OUT_OF_ORDER',
      lastSentAt: new Date(sentAt).toISOString(),
    })
    expect(recordIn(await pause(work, 'alpha')).health).toMatchObject({ step: 'kept' })
    expect(outcome(await heartbeat(work, 'alpha', { sentAt })), 'the same again').toBe('DONE')
    await heartbeat(work, 'alpha')
    expect(outcome(await heartbeat(work, 'alpha', { sentAt: sentAt - 1 })), 'still known').toBe(
      'OUT_OF_ORDER',
    )
  })

  test('renews leases that are past 40 %, and nothing before that', async () => {
    const { work, now, pass, tasks } = await heartbeating(2)
    pass(120 * SECOND - 1)
    expect(settledIn(await heartbeat(work, 'alpha'))).toEqual([])
    pass(1)
    const renewed = settledIn(await heartbeat(work, 'alpha'))
    expect(renewed.map(({ taskId }) => taskId).sort()).toEqual(tasks.map(({ uuid }) => uuid).sort())
    expect((await work.record(tasks[0]!)).leaseExpiresAt).toBe(now() + 300 * SECOND)
    expect(settledIn(await heartbeat(work, 'alpha')), 'and not again at once').toEqual([])
  })

  test('renews in time work with a silence limit shorter than its lease', async () => {
    const { work, pass } = await heartbeating()
    const task = await work.create({ timers: { stallMs: 10 * SECOND } })
    const hold = granted(await work.claim(task, alpha))
    await work.start(task, hold)
    pass(4 * SECOND - 1)
    expect(settledIn(await heartbeat(work, 'alpha'))).toEqual([])
    for (let heartbeats = 0; heartbeats < 10; heartbeats++) {
      pass(5 * SECOND)
      await work.elapse(task)
      await heartbeat(work, 'alpha')
    }
    expect(await work.record(task)).toMatchObject({ state: 'running', generation: 1 })
  })

  test('of a session renews what that session holds, and one without a session all', async () => {
    const { work, pass } = await heartbeating()
    const [one, other] = [await work.create(), await work.create()]
    granted(await work.claim(one, holder('alpha', 's-1')))
    granted(await work.claim(other, holder('alpha', 's-2')))
    pass(150 * SECOND)
    const ids = async (session: string | null) =>
      settledIn(await heartbeat(work, 'alpha', { session })).map(({ taskId }) => taskId)
    expect(await ids('nobody’s')).toEqual([])
    expect(await ids('s-1')).toEqual([one.uuid])
    expect(await ids(null), 'the named session stays the one it works under').toEqual([other.uuid])
  })

  test('renews no expired lease, and no one else’s', async () => {
    const { work, pass } = await heartbeating(1)
    const theirs = await work.create()
    granted(await work.claim(theirs, holder('beta'), { leaseMs: 400 * SECOND }))
    pass(300 * SECOND)
    const replies = settledIn(await heartbeat(work, 'alpha')).map(({ reply }) => outcome(reply))
    expect(replies).toEqual(['ALREADY_EXPIRED'])
    expect((await work.record(theirs)).version).toBe(2)
  })

  test('a hundred of them leave one renewal on record', async () => {
    const { work, pass } = await heartbeating(1)
    pass(130 * SECOND)
    const before = (await work.events()).length
    for (let i = 0; i < 100; i++) await heartbeat(work, 'alpha', { sentAt: null, step: `${i}` })
    expect((await work.events()).length).toBe(before + 1)
  })
})

describe('silence', () => {
  test('of an agent with work costs it the work, the attempt and its health', async () => {
    const { work, now, pass, tasks } = await heartbeating(2)
    pass(STALE - 1)
    expect(recordIn(await judge(work, 'alpha')).state).toBe('idle')
    pass(1)
    const reply = await judge(work, 'alpha')
    expect(recordIn(reply)).toMatchObject({ state: 'error', stateReason: 'silent', health: { dueAt: null } })
    expect(holdingIn(reply)).toEqual([])
    expect((await agentEvents(work)).at(-1)).toMatchObject({
      type: 'agent_stale',
      actor: 'system',
      payload: { agent: 'alpha', silentMs: STALE, claims: 2 },
    })
    const waits: number[] = []
    for (const task of tasks) {
      const { dueAt, ...record } = await work.record(task)
      expect(record).toMatchObject({ state: 'awaiting_retry', attempt: 1, claimState: 'expired' })
      expect(await work.claims(task)).toMatchObject([{ state: 'expired', endReason: 'AGENT_LOST' }])
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({
        type: 'task_agent_lost',
        payload: { agent: 'alpha', attempt: 1, silentMs: STALE },
      })
      waits.push(dueAt! - now())
    }
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(backoffMs(1) * 0.75)
      expect(wait).toBeLessThanOrEqual(backoffMs(1) * 1.25)
    }
    expect(new Set(waits).size, 'not all at the same moment').toBe(2)
  })

  test('of an agent without work makes it offline; a heartbeat restores both', async () => {
    for (const count of [0, 1]) {
      const { work, pass } = await heartbeating(count)
      pass(STALE)
      const after = count > 0 ? 'error' : 'offline'
      expect(recordIn(await judge(work, 'alpha')).state).toBe(after)
      const { version } = recordIn(await judge(work, 'alpha'))
      pass(MINUTE)
      const back = recordIn(await heartbeat(work, 'alpha'))
      expect(back).toMatchObject({ state: 'idle', stateReason: null, version: version + 1 })
      expect((await agentEvents(work)).at(-1)).toMatchObject({
        type: 'agent_recovered',
        payload: { agent: 'alpha', after },
      })
      pass(STALE)
      expect(recordIn(await judge(work, 'alpha')).state, 'and is missed again').toBe('offline')
    }
  })

  test('at the last attempt fails the task', async () => {
    const { work, pass } = await heartbeating()
    const task = await work.create({ maxRetries: 0 })
    granted(await work.claim(task, alpha))
    pass(STALE)
    await judge(work, 'alpha')
    expect(await work.record(task)).toMatchObject({ state: 'failed' })
    expect(await work.details(task)).toMatchObject({
      error: 'The agent went silent.',
      exhausted: 'attempts',
      failureClass: 'infrastructure',
    })
  })

  test.each([
    [
      'that never sent a heartbeat',
      async (work: Work) => register(work, 'alpha', { maxConcurrentTasks: null }),
    ],
    [
      'that the coordinator does not monitor',
      async (work: Work) => {
        await register(work, 'alpha', { maxConcurrentTasks: null, coordinatorEnabled: false })
        await heartbeat(work, 'alpha')
      },
    ],
  ])('of an agent %s is shown, and revokes nothing', async (_who, begin) => {
    const { work, pass } = manualClock()
    await begin(work)
    const task = await work.create()
    granted(await work.claim(task, alpha, { leaseMs: 10 * STALE }))
    pass(STALE)
    expect(recordIn(await judge(work, 'alpha'))).toMatchObject({ state: 'offline' })
    expect(await work.record(task)).toMatchObject({ state: 'assigned', claimState: 'active' })
  })

  test.each(['running', 'continuing'] as const)('is none while it writes for %s work', async (state) => {
    const { work, now, pass, tasks, holds } = await heartbeating(1)
    if (state === 'running') await work.start(tasks[0]!, holds[0]!)
    else await work.continueLater(tasks[0]!, holds[0]!)
    pass(STALE - SECOND)
    await work.renew(tasks[0]!, holds[0]!)
    expect((await work.record(tasks[0]!)).state).toBe(state)
    const sign = now()
    pass(SECOND)
    expect(recordIn(await judge(work, 'alpha'))).toMatchObject({
      state: 'idle',
      version: 1,
      health: { dueAt: sign + STALE },
    })
    pass(STALE - SECOND)
    expect(recordIn(await judge(work, 'alpha')).state).toBe('error')
  })

  test('is not ended by claims, nor by work it has not started', async () => {
    const { work, pass, tasks, holds } = await heartbeating(1)
    pass(STALE - SECOND)
    await work.renew(tasks[0]!, holds[0]!)
    granted(await work.claim(await work.create(), alpha))
    pass(SECOND)
    expect(recordIn(await judge(work, 'alpha')).state).toBe('error')
  })

  test('is judged by a lowered threshold at once, and by a raised one from then on', async () => {
    const { work, now, pass } = await heartbeating(1)
    pass(100 * SECOND)
    const lowered = recordIn(await register(work, 'alpha', { staleMs: 50 * SECOND }))
    expect(lowered.health!.dueAt).toBe(now())
    const raised = recordIn(await register(work, 'alpha', { staleMs: 300 * SECOND }))
    expect(raised.health!.dueAt).toBe(now() + 200 * SECOND)
    pass(199 * SECOND)
    expect(recordIn(await judge(work, 'alpha')).state).toBe('idle')
    await register(work, 'alpha', { staleMs: 299 * SECOND })
    expect(recordIn(await judge(work, 'alpha')).state).toBe('error')
  })

  test('of a paused agent leaves it paused, and it comes back when it heartbeats after it is resumed', async () => {
    const { work, pass, tasks } = await heartbeating(1)
    await pause(work, 'alpha', 'lunch')
    pass(STALE)
    expect(recordIn(await judge(work, 'alpha'))).toMatchObject({ state: 'paused', stateReason: 'lunch' })
    expect((await work.record(tasks[0]!)).state).toBe('awaiting_retry')
    expect(recordIn(await resume(work, 'alpha')).state).toBe('offline')
    expect(recordIn(await heartbeat(work, 'alpha')).state).toBe('idle')
  })
})
