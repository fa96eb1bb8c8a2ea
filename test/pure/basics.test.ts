import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventType, StoredEvent } from '../../src/kinds/events.ts'
import {
  backoffMs,
  hasAttemptsLeft,
  leaseIsOver,
  PRIORITY_STEP_MS,
  queueRank,
  renewAfterMs,
} from '../../src/kinds/task/rules/retry.ts'
import {
  formatTaskKey,
  parentKey,
  parseTaskKey,
  workProductRef,
} from '../../src/kinds/task/rules/task-keys.ts'
import { countOf, outcomeOf, readinessOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import { isTaskKey, TASK_KEY_PATTERN } from '../../src/kinds/task/shapes/tasks.ts'
import { idCarriedBy, uuidCarrying } from '../../src/pure/ids.ts'
import { TASK_STATES, TASK_TRANSITIONS, type TaskState, taskStates } from '../../src/pure/states.ts'
import { replay } from '../support/replay.ts'

describe('retries', () => {
  test.each([
    [1, 10],
    [2, 20],
    [3, 40],
    [4, 80],
    [5, 160],
    [6, 300],
    [7, 300],
    [100, 300],
    [1_100, 300],
    [Number.MAX_SAFE_INTEGER, 300],
    [0, 10],
  ])('attempt %i waits %i s', (attempt, seconds) => {
    expect(backoffMs(attempt)).toBe(seconds * 1000)
  })

  test('the first attempt and maxRetries more are what a task has', () => {
    expect([1, 2, 3, 4].map((attempt) => hasAttemptsLeft(attempt, 3))).toEqual([true, true, true, false])
    expect(hasAttemptsLeft(1, 0)).toBe(false)
  })
})

describe('leases', () => {
  test('a lease is over at its end, not after it', () => {
    expect([999, 1000, 1001].map((now) => leaseIsOver(1000, now))).toEqual([false, true, true])
  })

  test('clients renew at 40 % of the lease, give or take 10 %', () => {
    expect(renewAfterMs(60_000, 0.5)).toBe(24_000)
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 3_600_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lease, random) => {
          const after = renewAfterMs(lease, random)
          expect(after).toBeGreaterThanOrEqual(Math.floor(lease * 0.3))
          expect(after).toBeLessThanOrEqual(Math.ceil(lease * 0.5))
        },
      ),
    )
  })
})

describe('the queue', () => {
  const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
  const priority = fc.integer({ min: 1, max: 10 })

  test('of two tasks that arrive together the higher priority is first', () => {
    expect(queueRank(1000, 6)).toBeLessThan(queueRank(1000, 5))
  })

  test('of two tasks of one priority the earlier one is first', () => {
    expect(queueRank(1000, 5)).toBeLessThan(queueRank(1001, 5))
  })

  test('no task waits behind one that arrived more than nine steps of ageing after it', () => {
    fc.assert(
      fc.property(instant, priority, priority, (queuedAt, mine, theirs) => {
        const later = queuedAt + 9 * PRIORITY_STEP_MS + 1
        expect(queueRank(queuedAt, mine)).toBeLessThan(queueRank(later, theirs))
      }),
    )
  })

  test('one step of priority equals exactly one step of waiting', () => {
    expect(queueRank(0, 5)).toBe(queueRank(PRIORITY_STEP_MS, 6))
  })
})

describe('task keys', () => {
  test.each([
    ['A-001-setup-authentication-module', { track: 'A', sequence: 1, subtask: null }],
    ['B-003-implement-user-dashboard::2', { track: 'B', sequence: 3, subtask: 2 }],
    ['INFRA-999-x', { track: 'INFRA', sequence: 999, description: 'x' }],
    ['Z-042-Fix_it-NOW', { description: 'Fix_it-NOW' }],
    [`A-001-${'x'.repeat(50)}`, { description: 'x'.repeat(50) }],
    ['A-001-x::999999', { subtask: 999_999 }],
    ['A-001--', { description: '-' }],
  ])('%s is valid', (text, parts) => {
    expect(parseTaskKey(text)).toMatchObject(parts)
  })

  test.each([
    '',
    'A-001',
    'A-001-',
    'a-001-x',
    '-001-x',
    'A-1-x',
    'A-0001-x',
    'A-000-x',
    'A-001-with space',
    'A-001-ünïcode',
    'A-001-x::0',
    'A-001-x::01',
    'A-001-x::-1',
    'A-001-x::',
    'A-001-x::1::2',
    'A-001-x:1',
    'A-001-x::1000000',
    `A-001-${'x'.repeat(51)}`,
    'TOOLONGTRACK-001-x',
    'A-001-x\n',
    ' A-001-x',
  ])('%j is invalid', (text) => {
    expect(parseTaskKey(text)).toBeNull()
  })

  const key = fc.record({
    track: fc.stringMatching(/^[A-Z]{1,8}$/),
    sequence: fc.integer({ min: 1, max: 999 }),
    description: fc.stringMatching(/^[a-zA-Z0-9_-]{1,50}$/),
    subtask: fc.option(fc.integer({ min: 1, max: 999_999 })),
  })

  test('a formatted key parses to the same parts', () => {
    fc.assert(
      fc.property(key, (parts) => {
        expect(parseTaskKey(formatTaskKey(parts))).toEqual(parts)
      }),
    )
  })

  test('the pattern in the API document accepts exactly the same texts', () => {
    const pattern = new RegExp(TASK_KEY_PATTERN)
    const almost = fc.stringMatching(/^[A-Ca-c]{0,9}-?[0-9]{2,4}-?[a-z_ -]{0,3}(:{1,2}[0-9]{0,2})?$/)
    fc.assert(
      fc.property(fc.oneof(key.map(formatTaskKey), almost, fc.string()), (text) => {
        expect(pattern.test(text)).toBe(isTaskKey(text))
      }),
    )
  })

  test('a subtask belongs to its task, and a task to itself', () => {
    expect(parentKey('B-003-dashboard::2')).toBe('B-003-dashboard')
    expect(parentKey('B-003-dashboard')).toBe('B-003-dashboard')
  })

  test('a work product names task, generation and the first six digits of its hash', () => {
    expect(workProductRef('B-003-repositories', 2, '9c4e1d77aa')).toBe('wp-B-003-repositories-gen2-9c4e1d')
  })
})

describe('ids', () => {
  const id = fc.integer({ min: 0, max: 2 ** 52 - 1 })
  const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 })
  const random = fc.integer({ min: 0, max: 2 ** 22 - 1 })

  test('a UUID contains its number, and converts back', () => {
    fc.assert(
      fc.property(id, instant, random, (n, at, r) => {
        expect(idCarriedBy(uuidCarrying(n, at, r))).toBe(n)
      }),
    )
  })

  test('it is a UUID of version 7: time first, then version, variant and no other fixed bit', () => {
    fc.assert(
      fc.property(id, instant, random, (n, at, r) => {
        const uuid = uuidCarrying(n, at, r)
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)).toBe(at)
        const bits =
          (Number.parseInt(uuid.slice(19, 22), 16) & 0x3ff) * 0x1000 + Number.parseInt(uuid.slice(15, 18), 16)
        expect(bits, 'all 22 random bits are in it').toBe(r)
      }),
    )
  })

  test('sorted as text, UUIDs are sorted by time', () => {
    fc.assert(
      fc.property(id, id, instant, instant, random, random, (n, m, at, later, r, s) => {
        fc.pre(at < later)
        expect(uuidCarrying(n, at, r) < uuidCarrying(m, later, s)).toBe(true)
      }),
    )
  })

  test.each([
    '',
    'nonsense',
    '0190b5f0-7a00-4abc-8def-000000000001',
    '0190b5f0-7a00-7abc-cdef-000000000001',
    '0190B5F0-7A00-7ABC-8DEF-000000000001',
    '{0190b5f0-7a00-7abc-8def-000000000001}',
    '0190b5f0-7a00-7abc-8def-00000000001',
    '0190b5f0-7a00-7abc-8def-0000000000012',
    '0190b5f0-7a00-7abc-8def-000000000001\n',
  ])('%j contains none', (text) => {
    expect(idCarriedBy(text)).toBeNull()
  })

  test('any text gets an answer, never an exception', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(idCarriedBy(text)).toBeNull()
      }),
    )
  })

  test.each([-1, 1.5, 2 ** 52, Number.NaN])('%s cannot be encoded', (n) => {
    expect(() => uuidCarrying(n, 0, 0)).toThrow(RangeError)
  })
})

describe('readiness', () => {
  const some = (...states: TaskState[]) => states
  test.each([
    ['all_success', some(), 'ready'],
    ['all_success', some('completed', 'completed'), 'ready'],
    ['all_success', some('completed', 'running'), 'wait'],
    ['all_success', some('queued', 'failed'), 'never'],
    ['all_success', some('completed', 'cancelled'), 'never'],
    ['all_success', some('skipped'), 'never'],
    ['all_success', some('awaiting_human'), 'wait'],
    ['all_done', some('failed', 'skipped', 'cancelled', 'completed'), 'ready'],
    ['all_done', some('failed', 'paused'), 'wait'],
    ['none_failed', some('completed', 'skipped', 'cancelled'), 'ready'],
    ['none_failed', some('completed', 'failed'), 'never'],
    ['none_failed', some('running', 'failed'), 'never'],
    ['none_failed', some('completed', 'verifying'), 'wait'],
    ['always', some('queued', 'failed', 'running'), 'ready'],
    ['one_success', some('failed', 'completed', 'running'), 'ready'],
    ['one_success', some('failed', 'skipped', 'running'), 'wait'],
    ['one_success', some('failed', 'skipped', 'cancelled'), 'never'],
  ] as const)('%s of [%s] is %s', (rule, upstream, readiness) => {
    expect(readinessOf(countOf(rule, upstream.map(outcomeOf)))).toBe(readiness)
  })
})

describe('the table of states', () => {
  test('every state can be reached, and all but terminal ones can be left by every running task', () => {
    const reached = new Set<TaskState>(['pending', 'queued', 'skipped'])
    for (const { to } of Object.values(TASK_TRANSITIONS)) reached.add(to)
    expect(taskStates.filter((state) => !reached.has(state))).toEqual([])
    const left = new Set(Object.values(TASK_TRANSITIONS).flatMap(({ from }) => from as readonly TaskState[]))
    expect(taskStates.filter((state) => !left.has(state))).toEqual([])
  })

  test('only an operator moves a task out of a terminal state', () => {
    for (const [name, { from, by }] of Object.entries(TASK_TRANSITIONS))
      if (from.some((state) => TASK_STATES[state].type === 'terminal'))
        expect([name, by]).toEqual([name, 'operator'])
  })
})

describe('replay', () => {
  let seq = 0
  const event = (type: EventType, from: TaskState | null, to: TaskState | null, generation: number) =>
    ({ seq: ++seq, type, from, to, generation, taskId: 1, actor: 'test', payload: {}, at: 0 }) as StoredEvent
  const created = () => event('task_created', null, 'queued', 0)

  test('gives the state and generation that a task’s events lead to', () => {
    const events = [
      created(),
      event('task_assigned', 'queued', 'assigned', 1),
      event('claim_renewed', null, null, 1),
      event('task_lease_expired', 'assigned', 'awaiting_retry', 1),
      event('task_assigned', 'awaiting_retry', 'assigned', 2),
      event('task_completed', 'assigned', 'completed', 2),
    ]
    expect(replay(events)).toEqual({ state: 'completed', generation: 2 })
    expect(replay(events.slice(0, 4))).toEqual({ state: 'awaiting_retry', generation: 1 })
    expect(replay([])).toBeNull()
  })

  test.each([
    [
      'leaves a state the task was not in',
      () => [created(), event('task_assigned', 'awaiting_retry', 'assigned', 1)],
    ],
    [
      'makes a change the table does not have',
      () => [created(), event('task_completed', 'queued', 'failed', 0)],
    ],
    ['starts from nothing', () => [event('task_assigned', 'queued', 'assigned', 1)]],
    [
      'lowers the generation',
      () => [
        created(),
        event('task_assigned', 'queued', 'assigned', 2),
        event('task_released', 'assigned', 'queued', 1),
      ],
    ],
  ])('refuses a log that %s', (_what, events) => {
    expect(() => replay(events())).toThrow(/event \d+/)
  })
})
