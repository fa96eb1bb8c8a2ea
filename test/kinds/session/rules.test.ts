import { describe, expect, test } from 'vitest'
import { isTouched } from '../../../src/kinds/session/rules.ts'
import type { SessionOpening } from '../../../src/kinds/task/command.ts'
import type { SessionRecord } from '../../../src/kinds/task/record.ts'
import { spreadBackoffMs } from '../../../src/kinds/task/rules/retry.ts'
import { manualClock } from '../../support/manual-clock.ts'
import type { Reply } from '../../support/replies.ts'
import { granted, type Hold, holder, newTask, outcome, type Work } from '../../support/tasks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const opening = (more: Partial<SessionOpening> = {}): SessionOpening => ({
  agent: null,
  userId: null,
  project: null,
  capacity: null,
  capabilities: [],
  silenceMs: null,
  ...more,
})
const open = (work: Work, name: string, more: Partial<SessionOpening> = {}) =>
  work.session(name, { kind: 'open', opening: opening(more) })
const touch = (work: Work, name: string, agent = 'alpha') => work.session(name, { kind: 'touch', agent })
const heartbeat = (work: Work, name: string) => work.session(name, { kind: 'heartbeat' })
const end = (work: Work, name: string) => work.session(name, { kind: 'end', reason: 'done' })
const elapse = (work: Work, name: string, silentMs?: number) =>
  work.session(name, { kind: 'elapse', silentMs })
const seen = (work: Work, name: string) => work.store.session(work.workspace, name) as Promise<SessionRecord>
const types = async (work: Work) => (await work.events()).map(({ type }) => type)
const settled = (reply: Reply) => reply.settled as { taskId: string; generation: number; reply: Reply }[]

describe('a session', () => {
  test('opened explicitly has its details, and may be silent for an hour at most', async () => {
    const { work, now } = manualClock()
    const reply = await open(work, 's', { agent: 'alpha', userId: 'ann', project: 'shop' })
    expect(reply).toMatchObject({ ok: true, isNew: true, holds: 0, lost: [] })
    expect(await seen(work, 's')).toMatchObject({
      agent: 'alpha',
      userId: 'ann',
      project: 'shop',
      state: 'active',
      declared: true,
      capacity: null,
      startedAt: now(),
      dueAt: now() + HOUR,
    })
    expect(await types(work)).toEqual(['session_started'])
  })

  test('opened again is the same one, with the new details', async () => {
    const { work, now, pass } = manualClock()
    await open(work, 's', { agent: 'alpha', userId: 'ann' })
    const { uuid, startedAt } = await seen(work, 's')
    pass(MINUTE)
    expect(await open(work, 's', { userId: 'bob' })).toMatchObject({ isNew: false })
    expect(await seen(work, 's')).toMatchObject({
      uuid,
      startedAt,
      agent: 'alpha',
      userId: 'bob',
      dueAt: now() + HOUR,
    })
    expect(await types(work)).toEqual(['session_started'])
  })

  test('named by a claim is known from then on, undeclared, for a day', async () => {
    const { work, now } = manualClock()
    expect(await touch(work, 's')).toMatchObject({ isNew: true })
    expect(await seen(work, 's')).toMatchObject({ agent: 'alpha', declared: false, dueAt: now() + 24 * HOUR })
    expect(await touch(work, 's', 'beta')).toMatchObject({ isNew: false })
    expect(await seen(work, 's')).toMatchObject({ agent: 'beta' })
    expect(await types(work)).toEqual(['session_started'])
  })

  test.each(['heartbeat', 'drain', 'end', 'elapse'] as const)('that is unknown does not %s', async (kind) => {
    const { work } = manualClock()
    const command = kind === 'end' ? { kind, reason: 'x' } : { kind }
    expect(outcome(await work.session('nobody', command))).toBe('NOT_FOUND')
    expect(await seen(work, 'nobody')).toBeNull()
  })

  test('that ends releases all it holds, and returns the attempts', async () => {
    const { work, now } = manualClock()
    const tasks = await work.createAll([newTask(), newTask(), newTask()])
    await open(work, 's')
    for (const task of tasks) granted(await work.claim(task, holder('alpha', 's')))
    await work.submit(tasks[2]!, { ...holder('alpha', 's'), generation: 1 })
    const reply = await end(work, 's')
    expect(reply).toMatchObject({ holds: 2 })
    expect(settled(reply).map((one) => outcome(one.reply))).toEqual(['RELEASED', 'RELEASED'])
    for (const task of tasks.slice(0, 2))
      expect(await work.record(task)).toMatchObject({ state: 'queued', attempt: 0, claimState: 'released' })
    expect(await seen(work, 's')).toMatchObject({
      state: 'ended',
      endedAt: now(),
      endReason: 'done',
      dueAt: null,
    })
    expect(await types(work)).toContain('session_ended')
  })

  test('ends once: a second end does nothing', async () => {
    const { work } = manualClock()
    await open(work, 's')
    await end(work, 's')
    const before = await work.events()
    expect(outcome(await end(work, 's'))).toBe('DONE')
    expect(await work.events()).toEqual(before)
  })

  test('that ended comes back by being named or by a heartbeat, but replaces no other', async () => {
    const { work } = manualClock({ maxActiveSessions: 1 })
    for (const again of [heartbeat, touch]) {
      await open(work, 's')
      await end(work, 's')
      expect(outcome(await again(work, 's'))).toBe('DONE')
      expect(await seen(work, 's')).toMatchObject({ state: 'active', declared: false, endedAt: null })
    }
    expect(outcome(await open(work, 'another'))).toBe('DONE')
  })

  test('that holds nothing ends after its silence limit, not before', async () => {
    const { work, pass } = manualClock()
    await open(work, 's')
    pass(HOUR - 1)
    await elapse(work, 's')
    expect(await seen(work, 's')).toMatchObject({ state: 'active' })
    pass(1)
    await elapse(work, 's')
    expect(await seen(work, 's')).toMatchObject({ state: 'ended', endReason: 'expired', dueAt: null })
    expect((await work.events()).at(-1)).toMatchObject({
      type: 'session_ended',
      payload: { reason: 'expired' },
    })
  })

  test('that holds something is not ended by silence: its leases decide', async () => {
    const { work, now, pass } = manualClock()
    const task = await work.create()
    await open(work, 's', { silenceMs: MINUTE })
    granted(await work.claim(task, holder('alpha', 's')))
    pass(MINUTE)
    await elapse(work, 's')
    expect(await seen(work, 's')).toMatchObject({ state: 'active', dueAt: now() + MINUTE })
    expect((await work.record(task)).claimState).toBe('active')
  })

  test('is judged by another silence limit when one is given', async () => {
    const { work, pass } = manualClock()
    await open(work, 's')
    pass(MINUTE)
    await elapse(work, 's', 2 * MINUTE)
    expect(await seen(work, 's')).toMatchObject({ state: 'active' })
    await elapse(work, 's', MINUTE)
    expect(await seen(work, 's')).toMatchObject({ state: 'ended' })
  })

  test('is no worker, and cannot be drained', async () => {
    const { work } = manualClock()
    await open(work, 's')
    expect(outcome(await work.session('s', { kind: 'drain' }))).toBe('WRONG_STATE')
  })
})

function fallSilent(work: Work, pass: (ms: number) => void) {
  pass(MINUTE)
  return elapse(work, 'w')
}

describe('maxActiveSessions', () => {
  test('counts sessions that were opened explicitly, and only those', async () => {
    const { work } = manualClock({ maxActiveSessions: 2 })
    for (const name of ['m-1', 'm-2', 'm-3']) await touch(work, name)
    expect(outcome(await open(work, 's-1'))).toBe('DONE')
    expect(outcome(await work.register('w-1', 5))).toBe('DONE')
    expect(await open(work, 's-2')).toMatchObject({ code: 'LIMIT_REACHED', limit: 'maxActiveSessions' })
    expect(outcome(await open(work, 's-1')), 'one that is open already').toBe('DONE')
    expect(outcome(await touch(work, 'm-4'))).toBe('DONE')
    expect(outcome(await open(work, 'm-1')), 'opened on purpose now').toBe('LIMIT_REACHED')
    expect((await work.store.counts(work.workspace)).activeSessions).toBe(2)
  })

  test.each<[string, (work: Work, pass: (ms: number) => void) => unknown]>([
    ['ended', (work) => end(work, 'w')],
    ['lost', fallSilent],
  ])('has room again when one is %s', async (_how, over) => {
    const { work, pass } = manualClock({ maxActiveSessions: 1 })
    await work.register('w', 5)
    expect(outcome(await open(work, 's'))).toBe('LIMIT_REACHED')
    await over(work, pass)
    expect(outcome(await open(work, 's'))).toBe('DONE')
    expect(outcome(await work.register('w', 5)), 'its place was taken').toBe('LIMIT_REACHED')
  })

  test('is what one batch can get, and what one batch releases', async () => {
    const { work } = manualClock({ maxActiveSessions: 2 })
    const replies = await Promise.all(['a', 'b', 'c'].map((name) => open(work, name)))
    expect(replies.map(outcome)).toEqual(['DONE', 'DONE', 'LIMIT_REACHED'])
    const [, next] = await Promise.all([end(work, 'a'), open(work, 'c')])
    expect(outcome(next)).toBe('DONE')
  })
})

describe('a worker', () => {
  const by = holder('alpha', 'w')
  async function working(count: number, maxRetries = 3) {
    const clock = manualClock()
    await clock.work.register('w', 10)
    const tasks = await clock.work.createAll(Array.from({ length: count }, () => newTask({ maxRetries })))
    const holds: Hold[] = []
    for (const task of tasks) holds.push(granted(await clock.work.claim(task, by, { leaseMs: 5 * MINUTE })))
    return { ...clock, tasks, holds }
  }

  test('registers with its capacity and capabilities, and may be silent for a minute', async () => {
    const { work, now } = manualClock()
    await work.register('w', 3, { capabilities: ['sql'], agent: 'alpha' })
    expect(await seen(work, 'w')).toMatchObject({ capacity: 3, capabilities: ['sql'], dueAt: now() + MINUTE })
    expect(await types(work)).toEqual(['session_started', 'worker_registered'])
    await work.register('w', 4, { silenceMs: 5 * MINUTE })
    expect(await seen(work, 'w')).toMatchObject({ capacity: 4, capabilities: [], dueAt: now() + 5 * MINUTE })
    expect((await work.events()).at(-1)).toMatchObject({
      type: 'worker_registered',
      payload: { capacity: 4 },
    })
  })

  test('that heartbeats renews all it holds, and its own time', async () => {
    const { work, tasks, now, pass } = await working(3)
    pass(MINUTE - 1)
    const reply = await heartbeat(work, 'w')
    expect(reply).toMatchObject({ holds: 3, lost: [] })
    expect(settled(reply).map((one) => outcome(one.reply))).toEqual(['RENEWED', 'RENEWED', 'RENEWED'])
    expect(settled(reply).map(({ taskId }) => taskId)).toEqual(tasks.map(({ uuid }) => uuid))
    for (const task of tasks) expect((await work.record(task)).leaseExpiresAt).toBe(now() + 5 * MINUTE)
    expect(await seen(work, 'w')).toMatchObject({ lastSeenAt: now(), dueAt: now() + MINUTE })
  })

  test('that heartbeats learns what it lost since it was last seen, once', async () => {
    const { work, tasks, holds, pass } = await working(4)
    pass(10 * SECOND)
    await work.cancel(tasks[0]!)
    await work.update(tasks[1]!, { onlyAgent: 'beta' })
    await work.submit(tasks[2]!, holds[2]!)
    pass(10 * SECOND)
    const reply = await heartbeat(work, 'w')
    expect(reply.lost).toMatchObject([
      { taskId: tasks[0]!.uuid, generation: 1, reason: 'CANCELLED' },
      { taskId: tasks[1]!.uuid, generation: 1, reason: 'REASSIGNED' },
    ])
    expect(settled(reply).map(({ taskId }) => taskId)).toEqual([tasks[3]!.uuid])
    pass(10 * SECOND)
    expect((await heartbeat(work, 'w')).lost).toEqual([])
  })

  test('that heartbeats too late for a lease learns that, and the task continues without it', async () => {
    const { work, pass } = manualClock()
    await work.register('w', 10, { silenceMs: HOUR })
    const task = await work.create()
    granted(await work.claim(task, by, { leaseMs: MINUTE }))
    pass(MINUTE)
    const reply = await heartbeat(work, 'w')
    expect(settled(reply).map((one) => outcome(one.reply))).toEqual(['ALREADY_EXPIRED'])
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', claimState: 'expired' })
  })

  test('that is silent for too long loses everything, and each task is retried after its backoff', async () => {
    const { work, tasks, now, pass } = await working(2)
    pass(MINUTE - 1)
    await elapse(work, 'w')
    expect(await seen(work, 'w')).toMatchObject({ state: 'active' })
    pass(1)
    const reply = await elapse(work, 'w')
    expect(settled(reply).map((one) => outcome(one.reply))).toEqual(['LOST', 'LOST'])
    expect(await seen(work, 'w')).toMatchObject({ state: 'lost', endReason: 'silent', dueAt: null })
    for (const task of tasks) {
      const dueAt = now() + spreadBackoffMs(1, task.id, 1)
      expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', dueAt })
      expect(await work.claims(task)).toMatchObject([{ state: 'expired', endReason: 'WORKER_LOST' }])
    }
    expect((await work.events()).slice(-3)).toMatchObject([
      { type: 'worker_lost', payload: { session: 'w', silentMs: MINUTE, claims: 2 } },
      { type: 'task_worker_lost', payload: { session: 'w', silentMs: MINUTE, attempt: 1 } },
      { type: 'task_worker_lost' },
    ])
    expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
  })

  test('that is silent at the last attempt leaves a dead letter', async () => {
    const { work, tasks, pass } = await working(1, 0)
    pass(MINUTE)
    await elapse(work, 'w')
    expect(await work.record(tasks[0]!)).toMatchObject({ state: 'failed' })
    expect(await work.details(tasks[0]!)).toMatchObject({ exhausted: 'attempts' })
  })

  test('that was only slow may still submit its result, as long as no one else has claimed', async () => {
    const { work, tasks, holds, pass } = await working(1)
    pass(MINUTE)
    await elapse(work, 'w')
    expect(outcome(await work.submit(tasks[0]!, holds[0]!))).toBe('ACCEPTED')
  })

  test.each<[string, (work: Work, pass: (ms: number) => void) => unknown]>([
    ['lost', fallSilent],
    ['ended', (work) => end(work, 'w')],
  ])('that is %s must register again: neither heartbeats nor claims bring it back', async (state, over) => {
    const { work, pass } = await working(1)
    await over(work, pass)
    expect(outcome(await heartbeat(work, 'w'))).toBe('WORKER_GONE')
    await touch(work, 'w')
    expect(await seen(work, 'w')).toMatchObject({ state })
    expect(outcome(await work.session('w', { kind: 'drain' }))).toBe('WRONG_STATE')
    expect(await work.register('w', 2)).toMatchObject({ ok: true, isNew: false, holds: 0 })
    expect(await seen(work, 'w')).toMatchObject({ state: 'active', endedAt: null, endReason: null })
  })

  test('that drains learns it from its state, once, and keeps working by heartbeats', async () => {
    const { work, tasks } = await working(1)
    await work.session('w', { kind: 'drain' })
    await work.session('w', { kind: 'drain' })
    expect((await types(work)).filter((type) => type === 'worker_draining')).toHaveLength(1)
    await heartbeat(work, 'w')
    expect(await seen(work, 'w')).toMatchObject({ state: 'draining' })
    expect((await work.record(tasks[0]!)).claimState).toBe('active')
    await work.register('w', 10)
    expect(await seen(work, 'w'), 'until it registers again').toMatchObject({ state: 'active' })
  })

  test('that drains and goes silent is lost like any other', async () => {
    const { work, tasks, pass } = await working(1)
    await work.session('w', { kind: 'drain' })
    pass(MINUTE)
    await elapse(work, 'w')
    expect(await seen(work, 'w')).toMatchObject({ state: 'lost' })
    expect(await work.record(tasks[0]!)).toMatchObject({ state: 'awaiting_retry' })
  })

  test('loses what it claimed in the same batch too', async () => {
    const { work, pass } = manualClock()
    await work.register('w', 10)
    const task = await work.create()
    pass(MINUTE)
    const [claim, lost] = await Promise.all([work.claim(task, by), elapse(work, 'w')])
    expect([outcome(claim), settled(lost).map((one) => outcome(one.reply))]).toEqual(['GRANTED', ['LOST']])
    expect((await work.record(task)).claimState).toBe('expired')
  })
})

test('a session need not be touched again within a sixtieth of its silence, and at most a minute', () => {
  const at = 1_000_000
  const session = (silenceMs: number, more = {}) => ({
    agent: 'alpha',
    capacity: null,
    silenceMs,
    dueAt: at + silenceMs,
    ...more,
  })
  expect(isTouched(session(24 * HOUR), 'alpha', at + MINUTE - 1)).toBe(true)
  expect(isTouched(session(24 * HOUR), 'alpha', at + MINUTE)).toBe(false)
  expect(isTouched(session(MINUTE), 'alpha', at + SECOND - 1)).toBe(true)
  expect(isTouched(session(MINUTE), 'alpha', at + SECOND)).toBe(false)
  expect(isTouched(session(HOUR), 'beta', at)).toBe(false)
  expect(isTouched(session(HOUR, { dueAt: null }), 'alpha', at)).toBe(false)
  // A touch never changes a worker.
  expect(isTouched(session(HOUR, { capacity: 1, dueAt: null }), 'beta', at + HOUR)).toBe(true)
})
