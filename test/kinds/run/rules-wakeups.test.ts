import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentRecord } from '../../../src/kinds/agent/record.ts'
import { type DispatchContext, decideDispatch, type TaskHold } from '../../../src/kinds/run/rules/dispatch.ts'
import { policyOf, RuntimeConfig, watchSettingsOf } from '../../../src/kinds/run/rules/policy.ts'
import {
  decideWakeup,
  nextTimerAt,
  PRIORITY_OF,
  SKIP_REASONS,
  WAKEUP_SOURCES,
  type WakeupCause,
  type WakeupContext,
  type WakeupSource,
} from '../../../src/kinds/run/rules/wakeups.ts'
import { rounds } from '../../support/rounds.ts'

/** Whether an agent is woken, and whether a waiting wakeup is run: the rules alone. */

const NOW = 1_800_000_000_000
const HOUR_MS = 3_600_000

const agent = (more: Partial<AgentRecord> = {}, heartbeat: Record<string, unknown> = {}): AgentRecord => ({
  slug: 'alpha',
  uuid: '0190a0b0-0000-7000-8000-000000000001',
  name: 'Alpha',
  model: null,
  adapterType: 'process',
  adapterConfig: null,
  runtimeConfig: { heartbeat },
  capabilities: [],
  taskTypes: [],
  maxConcurrentTasks: 1,
  heartbeatMs: 30_000,
  staleMs: 180_000,
  coordinatorEnabled: true,
  batchSize: 1,
  state: 'idle',
  stateReason: null,
  leaving: false,
  stopsRuns: false,
  registered: true,
  testedAt: null,
  failedChecks: [],
  ...{ kind: 'roster', template: null, missionId: null, mission: null },
  version: 1,
  createdAt: 0,
  updatedAt: 0,
  health: null,
  ...more,
})
const TASK = { id: 7, uuid: '0190a0b0-0000-7000-8000-000000000007', generation: null }
const HELD = { ...TASK, generation: 3 }
const asked = (more: Partial<WakeupCause> = {}): WakeupCause => ({
  id: 'w-new',
  source: 'on_demand',
  triggerDetail: null,
  reason: 'because',
  payload: undefined,
  actor: 'key:ci',
  task: null,
  idempotencyKey: null,
  depth: 0,
  isContinuation: false,
  delayMs: 0,
  ...more,
})
const context = (more: Partial<WakeupContext> = {}): WakeupContext => ({
  now: NOW,
  agent: agent(),
  waiting: null,
  running: null,
  recently: 0,
  lastStartedAt: null,
  parkedUntil: null,
  isStopped: false,
  ...more,
})
const why = (ask: Partial<WakeupCause>, more: Partial<WakeupContext>) => {
  const decision = decideWakeup(asked(ask), context(more))
  return decision.status === 'skipped' ? decision.because : null
}
const dueAt = (ask: Partial<WakeupCause>, more: Partial<WakeupContext>) => {
  const decision = decideWakeup(asked(ask), context(more))
  return decision.status === 'skipped' ? null : decision.dueAt - NOW
}

describe('an agent is woken', () => {
  test.each(WAKEUP_SOURCES)('by %s, when nothing prevents it', (source) => {
    const decision = decideWakeup(asked({ source }), context({ agent: agent({}, { intervalSec: 60 }) }))
    expect(decision).toEqual({
      status: 'queued',
      dueAt: NOW,
      priority: PRIORITY_OF[source],
      events: [
        expect.objectContaining({
          type: 'wakeup_requested',
          actor: 'key:ci',
          payload: { agent: 'alpha', wakeupId: 'w-new', source, reason: 'because', taskId: null },
        }),
      ],
    })
  })

  test('by people before tasks, by tasks before schedules and programs', () => {
    const { on_demand, assignment, timer, automation } = PRIORITY_OF
    expect(on_demand).toBeGreaterThan(assignment)
    expect(assignment).toBeGreaterThan(timer)
    expect(timer).toBe(automation)
  })
})

/** Agents of every kind, and what each of them is woken by. */
const OFF = { wakeOnAssignment: false, wakeOnOnDemand: false, wakeOnAutomation: false }
const ALL = ['timer', 'assignment', 'on_demand', 'automation'] as const
const table: [name: string, AgentRecord, because: string, exceptBy: readonly WakeupSource[]][] = [
  ['runs elsewhere', agent({ adapterType: 'external' }), 'NOT_MANAGED', []],
  ['is terminated', agent({ state: 'terminated' }), 'AGENT_TERMINATED', []],
  ['is leaving', agent({ leaving: true }), 'AGENT_TERMINATED', []],
  ['is paused', agent({ state: 'paused' }), 'AGENT_PAUSED', []],
  ['cannot work', agent({ state: 'error' }, { intervalSec: 1 }), 'AGENT_FAULTY', ['on_demand']],
  ['is disabled', agent({}, { enabled: false, intervalSec: 1 }), 'DISABLED', []],
  ['has no interval', agent(), 'SOURCE_OFF', ['assignment', 'on_demand', 'automation']],
  ['is woken by nothing', agent({}, OFF), 'SOURCE_OFF', []],
  ['is woken by its timer', agent({}, { ...OFF, intervalSec: 1 }), 'SOURCE_OFF', ['timer']],
  ['is woken by work', agent({}, { ...OFF, wakeOnAssignment: true }), 'SOURCE_OFF', ['assignment']],
  ['is woken by people', agent({}, { ...OFF, wakeOnOnDemand: true }), 'SOURCE_OFF', ['on_demand']],
  ['is woken by programs', agent({}, { ...OFF, wakeOnAutomation: true }), 'SOURCE_OFF', ['automation']],
]

describe('an agent that', () => {
  test.each(table)('%s is woken by what it should', (_name, who, because, exceptBy) => {
    for (const source of ALL)
      expect([source, why({ source }, { agent: who })]).toEqual([
        source,
        exceptBy.includes(source) ? null : because,
      ])
  })

  test.each(table)(
    '%s: a request that does not wake it gets the reason, whatever else applies',
    (_name, who, because, exceptBy) => {
      const source = ALL.find((one) => !exceptBy.includes(one))!
      const else_ = { waiting: { id: 'w-1', dueAt: NOW, priority: 1 }, running: { id: 'w-0' } }
      const decision = decideWakeup(asked({ source }), context({ agent: who, ...else_ }))
      expect(decision).toEqual({
        status: 'skipped',
        because,
        events: [
          expect.objectContaining({ type: 'wakeup_skipped', payload: expect.objectContaining({ because }) }),
        ],
      })
      expect(SKIP_REASONS).toHaveProperty(because)
    },
  )

  test('is leaving is woken for what it holds, and for nothing else', () => {
    const leaving = agent({ leaving: true })
    expect(why({ task: HELD, source: 'assignment' }, { agent: leaving })).toBe(null)
    expect(why({ task: TASK, source: 'assignment' }, { agent: leaving })).toBe('AGENT_TERMINATED')
    expect(why({ task: HELD }, { agent: agent({ state: 'terminated' }) })).toBe('AGENT_TERMINATED')
  })

  test('whose budget is spent is woken for what it holds, and for nothing else', () => {
    expect(why({ task: HELD, source: 'assignment' }, { isStopped: true })).toBe(null)
    expect(why({ task: TASK, source: 'assignment' }, { isStopped: true })).toBe('BUDGET_STOPPED')
    expect(why({ source: 'on_demand' }, { isStopped: true })).toBe('BUDGET_STOPPED')
  })

  test('caused it itself is not woken; its own name in another form, and other agents, do not matter', () => {
    expect(why({ actor: 'agent:alpha' }, {})).toBe('SELF_AUTHORED')
    for (const actor of [
      'agent:alphabet',
      'agent:alph',
      'alpha',
      'key:alpha',
      'system',
      'coordinator',
      'agent:beta',
    ])
      expect(why({ actor }, {}), actor).toBe(null)
  })

  test('is not woken by programs continues its own work', () => {
    const quiet = { agent: agent({}, { wakeOnAutomation: false }) }
    expect(why({ source: 'automation', actor: 'system', task: HELD }, quiet)).toBe(null)
    expect(why({ source: 'automation', actor: 'key:ci' }, quiet)).toBe('SOURCE_OFF')
  })

  test('was woken for a task as often as allowed is not woken for it again', () => {
    const capped = agent({}, { maxWakeupsPerTaskPerHour: 3 })
    for (const [recently, because] of [
      [0, null],
      [2, null],
      [3, 'RATE_CAPPED'],
      [4, 'RATE_CAPPED'],
    ] as const)
      expect(why({ task: TASK }, { agent: capped, recently })).toBe(because)
    expect(why({}, { agent: capped, recently: 100 }), 'about no task').toBe(null)
    expect(why({ task: TASK }, { recently: 59 })).toBe(null)
    expect(why({ task: TASK }, { recently: 60 }), 'sixty by default').toBe('RATE_CAPPED')
  })
})

describe('a wakeup is due', () => {
  test('at once, or after its delay', () => {
    expect(dueAt({}, {})).toBe(0)
    expect(dueAt({ delayMs: 1_000 }, {})).toBe(1_000)
  })

  test('when the agent’s cooldown since its last start is over, or after its delay if that is later', () => {
    const resting = { agent: agent({}, { cooldownSec: 10 }) }
    expect(dueAt({}, { ...resting, lastStartedAt: NOW - 4_000 })).toBe(6_000)
    expect(dueAt({}, { ...resting, lastStartedAt: NOW - 10_000 })).toBe(0)
    expect(dueAt({}, { ...resting, lastStartedAt: NOW - HOUR_MS })).toBe(0)
    expect(dueAt({}, resting)).toBe(0)
    expect(dueAt({ delayMs: 9_000 }, { ...resting, lastStartedAt: NOW - 4_000 })).toBe(9_000)
    expect(dueAt({ delayMs: 1_000 }, { ...resting, lastStartedAt: NOW - 4_000 })).toBe(6_000)
    expect(dueAt({ task: TASK }, { ...resting, lastStartedAt: NOW })).toBe(10_000)
  })

  test('without a cooldown for what the agent holds', () => {
    const resting = { agent: agent({}, { cooldownSec: 10 }), lastStartedAt: NOW }
    expect(dueAt({ task: HELD }, resting)).toBe(0)
    expect(dueAt({ task: HELD, delayMs: 1_000 }, resting)).toBe(1_000)
  })

  test('not before its account’s rate limit resets, whatever it is about', () => {
    expect(dueAt({}, { parkedUntil: NOW + 5_000 })).toBe(5_000)
    expect(dueAt({ task: HELD }, { parkedUntil: NOW + 5_000 })).toBe(5_000)
    expect(dueAt({}, { parkedUntil: NOW - 5_000 })).toBe(0)
  })
})

describe('a wakeup equal to another', () => {
  const waiting = { id: 'w-waits', dueAt: NOW + 5_000, priority: 2 }

  test('is merged into the waiting one, rather than into the one whose run is active', () => {
    const decision = decideWakeup(asked(), context({ waiting, running: { id: 'w-runs' } }))
    expect(decision).toMatchObject({ status: 'coalesced', into: 'w-waits' })
    expect(decision.events).toMatchObject([{ type: 'wakeup_coalesced', payload: { into: 'w-waits' } }])
    expect(decideWakeup(asked(), context({ running: { id: 'w-runs' } }))).toMatchObject({
      status: 'coalesced',
      into: 'w-runs',
    })
  })

  test('advances it when it is more urgent, and its priority is the higher of the two', () => {
    const one = (ask: Partial<WakeupCause>) => decideWakeup(asked(ask), context({ waiting }))
    expect(one({})).toMatchObject({ dueAt: NOW, priority: 3 })
    expect(one({ delayMs: 3_000, source: 'automation' })).toMatchObject({ dueAt: NOW + 3_000, priority: 2 })
    expect(one({ delayMs: 9_000, source: 'automation' })).toMatchObject({ dueAt: NOW + 5_000, priority: 2 })
  })
})

const anySource = fc.constantFrom(...WAKEUP_SOURCES)
const anyAgent = fc
  .record({
    adapterType: fc.constantFrom('external', 'process', 'claude_local'),
    state: fc.constantFrom('idle', 'paused', 'error', 'offline', 'terminated') as fc.Arbitrary<
      AgentRecord['state']
    >,
    leaving: fc.boolean(),
    maxConcurrentTasks: fc.option(fc.integer({ min: 1, max: 5 })),
    heartbeat: fc.record(
      {
        enabled: fc.boolean(),
        intervalSec: fc.option(fc.integer({ min: 1, max: 1_000 })),
        wakeOnAssignment: fc.boolean(),
        wakeOnOnDemand: fc.boolean(),
        wakeOnAutomation: fc.boolean(),
        cooldownSec: fc.integer({ min: 0, max: 1_000 }),
        maxWakeupsPerTaskPerHour: fc.integer({ min: 1, max: 5 }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ heartbeat, ...more }) => agent(more, heartbeat))
const aTime = fc.integer({ min: NOW - HOUR_MS, max: NOW + HOUR_MS })
const anyRequest = fc
  .record({
    source: anySource,
    actor: fc.constantFrom('system', 'key:ci', 'agent:alpha', 'agent:beta'),
    task: fc.constantFrom(null, TASK, HELD),
    delayMs: fc.constantFrom(0, 1_000, HOUR_MS),
  })
  .map(asked)
const anyContext = fc
  .record({
    agent: anyAgent,
    waiting: fc.option(
      fc.record({ id: fc.constant('w-waits'), dueAt: aTime, priority: fc.constantFrom(1, 2, 3) }),
    ),
    running: fc.option(fc.constant({ id: 'w-runs' })),
    recently: fc.integer({ min: 0, max: 6 }),
    lastStartedAt: fc.option(aTime),
    parkedUntil: fc.option(aTime),
  })
  .map((more) => context(more))

test('any wakeup gets one answer, is never due in the past, and never violates the policy', () => {
  fc.assert(
    fc.property(anyRequest, anyContext, (ask, context) => {
      const decision = decideWakeup(ask, context)
      const { agent: who, waiting, running } = context
      expect(decision.events).toHaveLength(1)
      if (decision.status === 'skipped') {
        expect(SKIP_REASONS).toHaveProperty(decision.because)
        return
      }
      expect(Number.isFinite(decision.dueAt)).toBe(true)
      expect(decision.dueAt).toBeGreaterThanOrEqual(Math.min(NOW, waiting?.dueAt ?? NOW))
      if (waiting) expect(decision.dueAt).toBeLessThanOrEqual(waiting.dueAt)
      if (waiting) expect(decision.priority).toBeGreaterThanOrEqual(waiting.priority)
      expect(decision.priority).toBeGreaterThanOrEqual(PRIORITY_OF[ask.source])
      expect(decision.status === 'coalesced').toBe(waiting !== null || running !== null)
      expect(who.adapterType).not.toBe('external')
      expect(['paused', 'terminated']).not.toContain(who.state)
      expect(who.state === 'error' && ask.source !== 'on_demand').toBe(false)
      expect(who.leaving && ask.task?.generation == null).toBe(false)
      expect(policyOf(who.runtimeConfig).enabled).toBe(true)
      expect(ask.actor).not.toBe('agent:alpha')
      if (ask.task)
        expect(context.recently).toBeLessThan(policyOf(who.runtimeConfig).maxWakeupsPerTaskPerHour)
    }),
    { numRuns: rounds(300, 2_000) },
  )
})

const aDispatch = (more: Partial<DispatchContext> = {}): DispatchContext => ({
  now: NOW,
  agent: agent(),
  active: 0,
  lastStartedAt: null,
  isAskedFor: false,
  standing: 'none',
  isStopped: false,
  ...more,
})

describe('a waiting wakeup is', () => {
  const rows: [string, Partial<DispatchContext>, object][] = [
    ['run, when nothing prevents it', {}, { kind: 'run' }],
    ['run, when it may be claimed', { standing: 'free' }, { kind: 'run' }],
    ['run, when it is held', { standing: 'held' }, { kind: 'run' }],
    [
      'not run, when its budget allows nothing',
      { isStopped: true },
      { kind: 'skip', because: 'BUDGET_STOPPED' },
    ],
    [
      'run under a spent budget, to end what it holds',
      { isStopped: true, standing: 'held' },
      { kind: 'run' },
    ],
    ['not run, when its task was deleted', { standing: 'gone' }, { kind: 'skip', because: 'TASK_NOT_READY' }],
    [
      'not run by an agent that runs elsewhere by now',
      { agent: agent({ adapterType: 'external' }) },
      { kind: 'skip', because: 'NOT_MANAGED' },
    ],
    [
      'not run by a paused agent',
      { agent: agent({ state: 'paused' }), standing: 'held' },
      { kind: 'skip', because: 'AGENT_PAUSED' },
    ],
    [
      'not run by a terminated agent',
      { agent: agent({ state: 'terminated' }), standing: 'held' },
      { kind: 'skip', because: 'AGENT_TERMINATED' },
    ],
    [
      'not run by a leaving agent',
      { agent: agent({ leaving: true }), standing: 'free' },
      { kind: 'skip', because: 'AGENT_TERMINATED' },
    ],
    [
      'run by a leaving agent, when it holds it',
      { agent: agent({ leaving: true }), standing: 'held' },
      { kind: 'run' },
    ],
    [
      'not run by an agent in error',
      { agent: agent({ state: 'error' }), standing: 'held' },
      { kind: 'skip', because: 'AGENT_FAULTY' },
    ],
    [
      'run by an agent in error, when a person requests it',
      { agent: agent({ state: 'error' }), isAskedFor: true },
      { kind: 'run' },
    ],
    [
      'not run by a disabled agent',
      { agent: agent({}, { enabled: false }), isAskedFor: true },
      { kind: 'skip', because: 'DISABLED' },
    ],
    ['left waiting, when there is no room', { active: 1 }, { kind: 'busy' }],
    ['left waiting, when there are too many', { active: 7 }, { kind: 'busy' }],
    [
      'run, when there is room for one more',
      { agent: agent({ maxConcurrentTasks: 3 }), active: 2 },
      { kind: 'run' },
    ],
    [
      'run, when there is no limit',
      { agent: agent({ maxConcurrentTasks: null }), active: 1_000 },
      { kind: 'run' },
    ],
    [
      'skipped and not left waiting, when its agent is paused and has no room',
      { agent: agent({ state: 'paused' }), active: 1 },
      { kind: 'skip', because: 'AGENT_PAUSED' },
    ],
    [
      'delayed until its agent’s cooldown is over',
      { agent: agent({}, { cooldownSec: 10 }), lastStartedAt: NOW - 1 },
      { kind: 'later', at: NOW + 9_999 },
    ],
    [
      'run when its agent’s cooldown is over',
      { agent: agent({}, { cooldownSec: 10 }), lastStartedAt: NOW - 10_000 },
      { kind: 'run' },
    ],
    [
      'run without a cooldown, when it is held',
      { agent: agent({}, { cooldownSec: 10 }), lastStartedAt: NOW, standing: 'held' },
      { kind: 'run' },
    ],
    ['run, when its agent had no run before', { agent: agent({}, { cooldownSec: 10 }) }, { kind: 'run' }],
  ]
  test.each(rows)('%s', (_name, more, decision) => {
    expect(decideDispatch(aDispatch(more))).toEqual(decision)
  })

  test('never run beyond the limit of its agent, nor by an agent that may not, whatever the context', () => {
    const anyDispatch = fc.record({
      agent: anyAgent,
      active: fc.integer({ min: 0, max: 6 }),
      lastStartedAt: fc.option(aTime),
      isAskedFor: fc.boolean(),
      standing: fc.constantFrom<TaskHold>('none', 'held', 'free', 'gone'),
    })
    fc.assert(
      fc.property(anyDispatch, (more) => {
        const decision = decideDispatch(aDispatch(more))
        const { agent: who, active, standing } = more
        if (decision.kind === 'skip') expect(SKIP_REASONS).toHaveProperty(decision.because)
        if (decision.kind === 'later') expect(decision.at).toBeGreaterThan(NOW)
        if (decision.kind === 'skip' || decision.kind === 'later') return
        expect(standing).not.toBe('gone')
        expect(['paused', 'terminated']).not.toContain(who.state)
        expect(who.adapterType).not.toBe('external')
        const hasRoom = who.maxConcurrentTasks === null || active < who.maxConcurrentTasks
        expect(decision.kind).toBe(hasRoom ? 'run' : 'busy')
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })
})

describe('settings', () => {
  const DEFAULTS = {
    enabled: true,
    intervalSec: null,
    wakeOnAssignment: true,
    wakeOnOnDemand: true,
    wakeOnAutomation: true,
    cooldownSec: 0,
    maxWakeupsPerTaskPerHour: 60,
  }

  test.each([[null], [undefined], [{}], [{ heartbeat: {} }], [{ other: 1 }]])(
    '%j have their defaults',
    (config) => {
      expect(policyOf(config)).toEqual(DEFAULTS)
    },
  )

  test('keep the given values, and have defaults for the rest', () => {
    const said = { intervalSec: 300, wakeOnAutomation: false, cooldownSec: 0.5 }
    expect(policyOf({ heartbeat: said, node: 'gpu-1', note: 'ours' })).toEqual({ ...DEFAULTS, ...said })
  })

  test.each([
    [{ heartbeat: { intervalSec: 0 } }],
    [{ heartbeat: { intervalSec: -1 } }],
    [{ heartbeat: { intervalSec: 1.5 } }],
    [{ heartbeat: { intervalSec: '60' } }],
    [{ heartbeat: { intervalSec: 30 * 86_400 + 1 } }],
    [{ heartbeat: { cooldownSec: -1 } }],
    [{ heartbeat: { cooldownSec: 86_401 } }],
    [{ heartbeat: { enabled: 'yes' } }],
    [{ heartbeat: { maxWakeupsPerTaskPerHour: 0 } }],
    [{ heartbeat: { everySec: 60 } }],
    [{ heartbeat: null }],
    [{ heartbeat: [] }],
    [{ node: '' }],
    ['on'],
    [7],
    [[]],
  ])('%j are refused, and ignored where they are stored already', (config) => {
    expect(RuntimeConfig.safeParse(config).success).toBe(false)
    expect(policyOf(config)).toEqual(DEFAULTS)
    expect(watchSettingsOf(config)).toEqual(watchSettingsOf({}))
  })

  test('whatever is stored, there is a policy', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (config) => {
        expect(RuntimeConfig.safeParse({ heartbeat: policyOf(config) }).success).toBe(true)
        expect(Object.keys(policyOf({ heartbeat: config })).sort()).toEqual(Object.keys(DEFAULTS).sort())
      }),
    )
  })
})

test('the timer is set from now on; without an interval, or disabled, it is not set', () => {
  expect(nextTimerAt(agent({}, { intervalSec: 60 }), NOW)).toBe(NOW + 60_000)
  expect(nextTimerAt(agent(), NOW)).toBe(null)
  expect(nextTimerAt(agent({}, { intervalSec: 60, enabled: false }), NOW)).toBe(null)
  expect(nextTimerAt(agent({ runtimeConfig: { heartbeat: { intervalSec: 'soon' } } }), NOW)).toBe(null)
})
