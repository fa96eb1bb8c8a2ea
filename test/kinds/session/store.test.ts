import { describe, expect, test } from 'vitest'
import type { SessionOpening } from '../../../src/kinds/task/command.ts'
import { spreadBackoffMs } from '../../../src/kinds/task/rules/retry.ts'
import { NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import type { Reply } from '../../support/replies.ts'
import { rounds } from '../../support/rounds.ts'
import {
  granted,
  grantedTasks,
  holder,
  newTask,
  outcome,
  type Task,
  tally,
  type Work,
} from '../../support/tasks.ts'
import { ago, later } from '../../support/times.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const roomy = { maxConcurrentClaims: 1_000 }

const open = (work: Work, name: string, more: Partial<SessionOpening> = {}) => {
  const nothing = {
    agent: null,
    userId: null,
    project: null,
    capacity: null,
    capabilities: [],
    silenceMs: null,
  }
  return work.session(name, { kind: 'open', opening: { ...nothing, ...more } })
}
const heartbeat = (work: Work, name: string) => work.session(name, { kind: 'heartbeat' })
const elapse = (work: Work, name: string) => work.session(name, { kind: 'elapse' })
const seen = async (work: Work, name: string) => (await work.store.session(work.workspace, name))!
const settled = (reply: Reply) => reply.settled as { taskId: string; generation: number; reply: Reply }[]
const uuids = (tasks: readonly Task[]) => tasks.map(({ uuid }) => uuid).toSorted()

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  test('a session is the same for every node, with all its fields', async () => {
    const [here, there] = await nodes.pair()
    const reported = {
      agent: 'alpha',
      userId: 'ann',
      project: 'shop',
      capacity: 3,
      capabilities: ['rust', 'sql'],
    }
    const reply = await open(here, 'w', { ...reported, silenceMs: 5 * MINUTE })
    expect(reply).toMatchObject({ ok: true, isNew: true })
    const record = await seen(there, 'w')
    expect(record).toEqual(reply.record)
    expect(record).toMatchObject({ ...reported, state: 'active', declared: true, silenceMs: 5 * MINUTE })
    expect(record.dueAt).toBe(record.lastSeenAt + 5 * MINUTE)
    expect(await open(there, 'w', { userId: 'bob' })).toMatchObject({ isNew: false })
    expect(await seen(here, 'w')).toMatchObject({ ...reported, userId: 'bob', uuid: record.uuid })
    expect(await there.store.session(there.workspace, 'nobody')).toBeNull()
    const elsewhere = await nodes.work()
    expect(await elsewhere.store.session(elsewhere.workspace, 'w')).toBeNull()
  })

  test('sessions are listed newest first, on request only workers', async () => {
    const work = await nodes.work()
    await ago(work, 3 * MINUTE).register('w-1', 1)
    await open(ago(work, 2 * MINUTE), 's-1')
    await ago(work, MINUTE).register('w-2', 1)
    const names = async (workersOnly: boolean, limit: number) =>
      (await work.store.sessions(work.workspace, { workersOnly, limit })).map(({ name }) => name)
    expect(await names(false, 10)).toEqual(['w-2', 's-1', 'w-1'])
    expect(await names(false, 2)).toEqual(['w-2', 's-1'])
    expect(await names(true, 10)).toEqual(['w-2', 'w-1'])
  })

  test('the counts are those of the workspace, whatever happened to its sessions and claims', async () => {
    const [here, there] = await nodes.pair()
    const counts = () => there.store.counts(there.workspace)
    expect(await counts()).toEqual({ activeClaims: 0, activeSessions: 0 })
    await here.register('w', 5)
    await open(here, 's')
    await here.session('mentioned', { kind: 'touch', agent: 'alpha' })
    const tasks = await here.createAll([newTask(), newTask(), newTask()])
    for (const task of tasks) granted(await here.claim(task, holder('alpha', 'w')))
    expect(await counts()).toEqual({ activeClaims: 3, activeSessions: 2 })
    await here.cancel(tasks[0]!)
    await here.session('s', { kind: 'end', reason: 'done' })
    expect(await counts()).toEqual({ activeClaims: 2, activeSessions: 1 })
    await elapse(later(here, HOUR), 'w')
    expect(await counts()).toEqual({ activeClaims: 0, activeSessions: 0 })
  })

  describe('a worker', () => {
    const by = holder('alpha', 'w')

    test('never gets more than its capacity, even if two nodes race to fill it', async () => {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      await here.register('w', 5)
      const tasks = await here.createAll(Array.from({ length: 40 }, () => newTask()))
      const replies = await Promise.all(
        tasks.map((task, i) => {
          const node = i % 2 ? here : there
          return i % 4 < 2 ? node.claim(task, by) : node.next(by, { limit: 2 })
        }),
      )
      const granted = replies.flatMap((reply) => (reply.claim ? [reply.claim] : grantedTasks(reply)))
      expect(granted).toHaveLength(5)
      expect((await here.store.counts(here.workspace)).activeClaims).toBe(5)
      expect(await there.claim((await here.create())!, by)).toMatchObject({ code: 'NO_CAPACITY', held: 5 })
    })

    test('has room again after each end of a claim, on any node', async () => {
      const [here, there] = await nodes.pair(roomy)
      await here.register('w', 1)
      const tasks = await here.createAll(Array.from({ length: 5 }, () => newTask()))
      const hold = async (task: Task) => granted(await here.claim(task, by))
      await there.submit(tasks[0]!, await hold(tasks[0]!))
      await there.fail(tasks[1]!, await hold(tasks[1]!))
      await hold(tasks[2]!)
      await there.cancel(tasks[2]!)
      await hold(tasks[3]!)
      await later(there, HOUR).elapse(tasks[3]!)
      await hold(tasks[4]!)
      expect(outcome(await there.next(by))).toBe('NO_WORK')
    })

    test('that heartbeats on one node renews all it claimed on both, oldest task first, and learns what it lost', async () => {
      const [here, there] = await nodes.pair(roomy)
      await ago(here, 2 * MINUTE).register('w', 9, { silenceMs: HOUR })
      const tasks = await here.createAll(Array.from({ length: 5 }, () => newTask()))
      const claimed = ago(there, MINUTE)
      for (const task of tasks.toReversed()) granted(await claimed.claim(task, by, { leaseMs: 10 * MINUTE }))
      await there.cancel(tasks[0]!)
      await there.update(tasks[1]!, { onlyAgent: 'beta' })
      const reply = await heartbeat(here, 'w')
      expect(settled(reply).map(({ taskId }) => taskId)).toEqual(tasks.slice(2).map(({ uuid }) => uuid))
      expect(tally(settled(reply).map((one) => one.reply))).toEqual({ RENEWED: 3 })
      const lost = reply.lost as { taskId: string; generation: number; reason: string }[]
      expect(Object.fromEntries(lost.map(({ taskId, reason }) => [taskId, reason]))).toEqual({
        [tasks[0]!.uuid]: 'CANCELLED',
        [tasks[1]!.uuid]: 'REASSIGNED',
      })
      const { lastSeenAt } = await seen(there, 'w')
      for (const task of tasks.slice(2))
        expect((await there.record(task)).leaseExpiresAt).toBe(lastSeenAt + 10 * MINUTE)
      expect((await heartbeat(later(there, 1_000), 'w')).lost).toEqual([])
    })

    test('that went silent loses everything at once, and each task waits for its next attempt', async () => {
      const [here, there] = await nodes.pair(roomy)
      await here.register('w', 9)
      const tasks = await here.createAll(Array.from({ length: 4 }, () => newTask()))
      for (const task of tasks) granted(await there.claim(task, by))
      const reply = await elapse(later(there, MINUTE), 'w')
      expect(tally(settled(reply).map((one) => one.reply))).toEqual({ LOST: 4 })
      const { endedAt } = await seen(here, 'w')
      for (const task of tasks) {
        expect(await here.record(task)).toMatchObject({
          state: 'awaiting_retry',
          dueAt: endedAt! + spreadBackoffMs(1, task.id, 1),
        })
        expect(await here.claims(task)).toMatchObject([{ state: 'expired', endReason: 'WORKER_LOST' }])
      }
      const types = (await here.events()).slice(-5).map(({ type, taskId }) => [type, taskId !== null])
      expect(types).toEqual([['worker_lost', false], ...tasks.map(() => ['task_worker_lost', true])])
      expect(outcome(await heartbeat(here, 'w'))).toBe('WORKER_GONE')
      expect(outcome(await there.next(by))).toBe('NO_WORK')
      await here.create()
      expect(outcome(await there.next(by))).toBe('WORKER_GONE')
      await there.register('w', 9)
      expect(outcome(await here.next(by))).toBe('GRANTED')
    })

    test('that ends while it claims on another node holds nothing in the end', async () => {
      for (let round = 0; round < rounds(2, 5); round++) {
        const [here, there] = await nodes.pair(roomy, NO_COMPANY)
        await here.register('w', 50)
        const tasks = await here.createAll(Array.from({ length: 12 }, () => newTask()))
        const [, ...replies] = await Promise.all([
          there.session('w', { kind: 'end', reason: 'done' }),
          ...tasks.map((task, i) => (i % 2 ? here : there).claim(task, by)),
        ])
        expect(Object.keys(tally(replies)).every((one) => ['GRANTED', 'WORKER_GONE'].includes(one))).toBe(
          true,
        )
        for (const task of tasks)
          expect(await here.record(task)).toMatchObject({ state: 'queued', attempt: 0 })
        expect(await here.store.counts(here.workspace)).toEqual({ activeClaims: 0, activeSessions: 0 })
      }
    })

    test('that is judged silent while it heartbeats is either lost with all it holds or alive with all of it', async () => {
      for (let round = 0; round < rounds(3, 8); round++) {
        const [here, there] = await nodes.pair(roomy, NO_COMPANY)
        await ago(here, MINUTE).register('w', 9)
        const tasks = await here.createAll([newTask(), newTask(), newTask()])
        for (const task of tasks) granted(await ago(here, MINUTE - 1).claim(task, by))
        const [answer] = await Promise.all([heartbeat(here, 'w'), elapse(there, 'w')])
        const { state } = await seen(here, 'w')
        expect(state).toBe(answer.ok ? 'active' : 'lost')
        for (const task of tasks)
          expect((await here.record(task)).claimState).toBe(answer.ok ? 'active' : 'expired')
      }
    })

    test('is not disturbed by concurrent changes of its tasks: nothing deadlocks', async () => {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      await here.register('w', 30)
      const tasks = await here.createAll(Array.from({ length: 20 }, () => newTask()))
      const busy = tasks.map(async (task, i) => {
        const [one, other] = i % 2 ? [here, there] : [there, here]
        const claim = await one.claim(task, by)
        if (claim.ok && i % 3 === 0) await other.cancel(task)
        if (claim.ok && i % 3 === 1) await other.submit(task, granted(claim))
        return claim
      })
      const heartbeats = Array.from({ length: 12 }, (_, i) => heartbeat(i % 2 ? here : there, 'w'))
      const replies = await Promise.all([...busy, ...heartbeats])
      expect(tally(replies)).toEqual({ GRANTED: 20, DONE: 12 })
      const last = await heartbeat(here, 'w')
      expect(
        settled(last)
          .map(({ taskId }) => taskId)
          .toSorted(),
      ).toEqual(uuids(tasks.filter((_, i) => i % 3 === 2)))
    })
  })

  test('maxActiveSessions is never exceeded while two nodes race for the last places', async () => {
    const [here, there] = await nodes.pair({ maxActiveSessions: 4 }, NO_COMPANY)
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        open(i % 2 ? here : there, `s-${i}`, i % 3 ? {} : { capacity: 1 }),
      ),
    )
    expect(tally(replies)).toEqual({ DONE: 4, LIMIT_REACHED: 16 })
    expect((await here.store.counts(here.workspace)).activeSessions).toBe(4)
    const taken = replies.findIndex(({ ok }) => ok)
    await there.session(`s-${taken}`, { kind: 'end', reason: 'done' })
    const again = await Promise.all([open(here, 'x'), open(there, 'y')])
    expect(tally(again)).toEqual({ DONE: 1, LIMIT_REACHED: 1 })
  })

  test('one name opened on two nodes at once is one session', async () => {
    const [here, there] = await nodes.pair({}, NO_COMPANY)
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => open(i % 2 ? here : there, 's')))
    expect(replies.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect((await here.events()).filter(({ type }) => type === 'session_started')).toHaveLength(1)
    expect((await here.store.counts(here.workspace)).activeSessions).toBe(1)
  })

  test('silent sessions are found when they are due to be judged, on any node', async () => {
    const [here, there] = await nodes.pair()
    const due = async () =>
      (await there.store.dueSessions(10_000))
        .filter(({ workspaceId }) => workspaceId === here.workspace)
        .map(({ name }) => name)
        .toSorted()
    await open(here, 'fresh')
    await open(ago(here, 2 * HOUR), 'silent')
    await ago(here, 2 * MINUTE).register('worker', 1)
    await ago(here, 2 * MINUTE).register('patient', 1, { silenceMs: HOUR })
    await here.session('named', { kind: 'touch', agent: 'alpha' })
    await ago(here, 25 * HOUR).session('named long ago', { kind: 'touch', agent: 'alpha' })
    expect(await due()).toEqual(['named long ago', 'silent', 'worker'])
    for (const name of await due()) await elapse(here, name)
    expect(await due(), 'what was judged is not found again').toEqual([])
    expect((await seen(there, 'worker')).state).toBe('lost')
  })

  test('a silent session that holds a task is judged again later, not forever', async () => {
    const work = await nodes.work()
    const past = ago(work, 2 * HOUR)
    await open(past, 's')
    const task = await past.create()
    granted(await past.claim(task, holder('alpha', 's'), { leaseMs: 3 * HOUR }))
    await elapse(work, 's')
    const { state, dueAt } = await seen(work, 's')
    expect(state).toBe('active')
    expect(dueAt).toBeGreaterThan(Date.now() + HOUR / 2)
  })
})
