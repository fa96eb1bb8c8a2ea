import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { promotion, rejectedResult } from '../../support/rejected.ts'
import type { Reply } from '../../support/replies.ts'
import {
  granted,
  grantedTasks,
  type Hold,
  holder,
  newTask,
  outcome,
  type Task,
  tally,
  type Work,
} from '../../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')
const PROJECT = 1
const MINUTE = 60_000

const keyed = (key: string) => newTask({ key, projectId: PROJECT })
const keys = (reply: Reply) => grantedTasks(reply).map(({ key }) => key)

/** A project whose track A may have this many agents, with some tasks on it. */
async function track(maxAgents: number | null | undefined, more: string[] = []) {
  const { work, pass } = manualClock()
  if (maxAgents !== undefined) await work.store.setTrack(work.workspace, PROJECT, 'A', maxAgents)
  const tasks = await work.createAll(['A-001-x', 'A-002-x', 'A-003-x', ...more].map(keyed))
  return { work, pass, one: tasks[0]!, two: tasks[1]!, three: tasks[2]!, tasks }
}

/** Every way in which a claim can end, with alpha at work. */
const ENDINGS: Record<
  string,
  (work: Work, task: Task, hold: Hold, pass: (ms: number) => void) => Promise<unknown>
> = {
  'its result': (work, task, hold) => work.submit(task, hold),
  'a failure': (work, task, hold) => work.fail(task, hold),
  'a request for a person': (work, task, hold) => work.fail(task, hold, 'human'),
  'its release': (work, task, hold) => work.release(task, hold),
  'a cancellation': (work, task) => work.cancel(task),
  'a pause': (work, task) => work.pause(task),
  'another agent’s reservation': (work, task) => work.update(task, { onlyAgent: 'gamma' }),
  'the end of its lease': (work, task, _hold, pass) => {
    pass(10 * MINUTE)
    return work.elapse(task)
  },
  'a stall': (work, task) => work.command(task, { kind: 'stall', silentMs: 0 }),
  'a promotion': async (work, task) => work.command(task, promotion((await work.results(task))[0]!)),
  'the end of its session': (work, _task, { session }) =>
    work.session(session, { kind: 'end', reason: 'done' }),
  'the silence of its worker': (work, _task, { session }, pass) => {
    pass(5 * MINUTE - 1)
    return work.session(session, { kind: 'elapse' })
  },
}

describe('a track', () => {
  test.each([
    ['was never declared', undefined],
    ['has no limit', null],
  ])('that %s takes any number of agents', async (_what, maxAgents) => {
    const { work, tasks } = await track(maxAgents)
    const replies = await Promise.all(tasks.map((task, i) => work.claim(task, holder(`agent-${i}`))))
    expect(tally(replies)).toEqual({ GRANTED: 3 })
  })

  test('of one agent refuses a second, with the reason', async () => {
    const { work, one, two } = await track(1)
    granted(await work.claim(one, alpha))
    expect(await work.claim(two, beta)).toMatchObject({ code: 'TRACK_FULL', track: 'A', maxAgents: 1 })
    expect(await work.record(two)).toMatchObject({ state: 'queued', generation: 0 })
  })

  test('gives its agent as many tasks as it requests, from any session', async () => {
    const { work, two } = await track(1)
    expect(keys(await work.next(alpha))).toEqual(['A-001-x'])
    granted(await work.claim(two, holder('alpha', 'another session')))
    expect(keys(await work.next(alpha))).toEqual(['A-003-x'])
  })

  test('of two agents has room for exactly two', async () => {
    const { work, tasks } = await track(2)
    const replies = [
      await work.claim(tasks[0]!, alpha),
      await work.claim(tasks[1]!, beta),
      await work.claim(tasks[2]!, holder('gamma')),
    ]
    expect(replies.map(outcome)).toEqual(['GRANTED', 'GRANTED', 'TRACK_FULL'])
  })

  test('does not limit parts of tasks: those are meant to be shared', async () => {
    const { work, one, tasks } = await track(1, ['A-004-x::1', 'A-004-x::2'])
    granted(await work.claim(one, alpha))
    granted(await work.claim(tasks[3]!, beta))
    granted(await work.claim(tasks[4]!, holder('gamma')))
  })

  test('is not filled by the holders of parts', async () => {
    const { work, one, tasks } = await track(1, ['A-004-x::1'])
    granted(await work.claim(tasks[3]!, beta))
    granted(await work.claim(one, alpha))
  })

  test('belongs to its project: a track of the same name in another, or in none, is separate', async () => {
    const { work, one } = await track(1)
    const [elsewhere, nowhere] = await work.createAll([
      newTask({ key: 'A-001-x', projectId: 2 }),
      newTask({ key: 'A-001-x', projectId: 0 }),
    ])
    granted(await work.claim(one, alpha))
    granted(await work.claim(elsewhere!, beta))
    granted(await work.claim(nowhere!, beta))
  })

  test('that is full is passed over by next, and other tracks are not', async () => {
    const { work, one } = await track(1, ['B-001-x', 'A-004-x::1'])
    granted(await work.claim(one, alpha))
    expect(keys(await work.next(beta, { limit: 9 }))).toEqual(['B-001-x', 'A-004-x::1'])
    expect(outcome(await work.next(beta))).toBe('NO_WORK')
    expect(keys(await work.next(alpha))).toEqual(['A-002-x'])
  })

  test('is counted within a batch too: of concurrent callers one agent is admitted', async () => {
    const { work, tasks } = await track(1)
    const byNext = await Promise.all(['alpha', 'beta', 'gamma'].map((agent) => work.next(holder(agent))))
    expect(byNext.map(keys)).toEqual([['A-001-x'], [], []])
    const { work: other, tasks: others } = await track(1)
    const byName = await Promise.all(others.map((task, i) => other.claim(task, holder(`agent-${i}`))))
    expect(byName.map(outcome)).toEqual(['GRANTED', 'TRACK_FULL', 'TRACK_FULL'])
    expect(await work.record(tasks[1]!)).toMatchObject({ generation: 0 })
  })

  test('is free within the batch in which its agent releases', async () => {
    const { work, one, two } = await track(1)
    const hold = granted(await work.claim(one, alpha))
    const [, claim] = await Promise.all([work.release(one, hold), work.claim(two, beta)])
    expect(outcome(claim)).toBe('GRANTED')
  })

  test('keeps an agent that holds two tasks of it until the last has ended', async () => {
    const { work, one, two, three } = await track(1)
    const holds = [granted(await work.claim(one, alpha)), granted(await work.claim(two, alpha))]
    await work.submit(one, holds[0]!)
    expect(outcome(await work.claim(three, beta))).toBe('TRACK_FULL')
    await work.submit(two, holds[1]!)
    expect(outcome(await work.claim(three, beta))).toBe('GRANTED')
  })

  test.each(Object.entries(ENDINGS))('is free after %s', async (_what, end) => {
    const { work, one, two, pass } = await track(1)
    await work.register(alpha.session, 5)
    await rejectedResult(work, one, alpha)
    const hold = granted(await work.claim(one, alpha))
    expect(outcome(await work.claim(two, beta))).toBe('TRACK_FULL')
    await end(work, one, hold, pass)
    expect((await work.record(one)).claimState).not.toBe('active')
    expect(outcome(await work.claim(two, beta))).toBe('GRANTED')
  })
})

describe('a worker', () => {
  const worker = holder('alpha', 'worker-1')
  async function hired(capacity: number) {
    const { work, pass } = manualClock()
    await work.register(worker.session, capacity)
    const tasks = await work.createAll(Array.from({ length: 6 }, () => newTask()))
    return { work, pass, tasks }
  }
  const given = (reply: Reply) => grantedTasks(reply).length

  test('gets no more than its capacity, however much it requests', async () => {
    const { work, tasks } = await hired(2)
    expect(given(await work.next(worker, { limit: 5 }))).toBe(2)
    expect(await work.claim(tasks[5]!, worker)).toMatchObject({ code: 'NO_CAPACITY', capacity: 2, held: 2 })
    expect(outcome(await work.next(worker)), 'that there is work, but not for it').toBe('NO_CAPACITY')
  })

  test('gets NO_WORK, and nothing else, when nothing waits', async () => {
    const { work } = manualClock()
    const task = await work.create()
    await work.register(worker.session, 1)
    granted(await work.claim(task, worker))
    expect(outcome(await work.next(worker)), 'full').toBe('NO_WORK')
    await work.session(worker.session, { kind: 'drain' })
    expect(outcome(await work.next(worker)), 'draining').toBe('NO_WORK')
  })

  test('is counted within a batch too, over all its requests', async () => {
    const { work } = await hired(3)
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => work.next(worker)))
    expect(tally(replies)).toEqual({ GRANTED: 3, NO_CAPACITY: 2 })
  })

  test('frees capacity by what it ends, within the batch as well', async () => {
    const { work, tasks } = await hired(1)
    const hold = granted(await work.claim(tasks[0]!, worker))
    const [, second] = await Promise.all([work.submit(tasks[0]!, hold), work.claim(tasks[1]!, worker)])
    expect(outcome(second)).toBe('GRANTED')
  })

  test('is limited by its session: its agent may hold more elsewhere', async () => {
    const { work, tasks } = await hired(1)
    granted(await work.claim(tasks[0]!, worker))
    granted(await work.claim(tasks[1]!, holder(worker.agent, 'no worker')))
  })

  test.each(Object.entries(ENDINGS))('has room again after %s', async (_what, end) => {
    const { work, tasks, pass } = await hired(1)
    await rejectedResult(work, tasks[0]!, worker)
    const hold = granted(await work.claim(tasks[0]!, worker))
    expect(outcome(await work.claim(tasks[1]!, worker))).toBe('NO_CAPACITY')
    await end(work, tasks[0]!, hold, pass)
    await work.register(worker.session, 1)
    expect(outcome(await work.claim(tasks[1]!, worker))).toBe('GRANTED')
  })

  test('that drains keeps what it has and gets nothing more', async () => {
    const { work, tasks } = await hired(3)
    const hold = granted(await work.claim(tasks[0]!, worker))
    await work.session(worker.session, { kind: 'drain' })
    expect(outcome(await work.claim(tasks[1]!, worker))).toBe('WORKER_DRAINING')
    expect(outcome(await work.next(worker))).toBe('WORKER_DRAINING')
    expect(outcome(await work.renew(tasks[0]!, hold))).toBe('RENEWED')
    expect(outcome(await work.submit(tasks[0]!, hold))).toBe('ACCEPTED')
  })

  test.each([
    [
      'lost',
      (work: Work, pass: (ms: number) => void) => {
        pass(MINUTE)
        return work.session(worker.session, { kind: 'elapse' })
      },
    ],
    ['ended', (work: Work) => work.session(worker.session, { kind: 'end', reason: 'done' })],
  ])('that is %s gets nothing until it registers again', async (state, end) => {
    const { work, tasks, pass } = await hired(3)
    await end(work, pass)
    expect((await work.store.session(work.workspace, worker.session))!.state).toBe(state)
    expect(outcome(await work.claim(tasks[0]!, worker))).toBe('WORKER_GONE')
    expect(outcome(await work.next(worker))).toBe('WORKER_GONE')
    await work.register(worker.session, 3)
    expect(outcome(await work.claim(tasks[0]!, worker))).toBe('GRANTED')
  })

  test('that is lost, ends or drains in a batch gets nothing later in it', async () => {
    for (const command of [{ kind: 'drain' }, { kind: 'end', reason: 'done' }] as const) {
      const { work } = await hired(3)
      const [, next] = await Promise.all([work.session(worker.session, command), work.next(worker)])
      expect(outcome(next)).toBe(command.kind === 'drain' ? 'WORKER_DRAINING' : 'WORKER_GONE')
    }
  })

  test('of less capacity than it holds keeps what it has', async () => {
    const { work, tasks } = await hired(2)
    const holds = tasks.slice(0, 2).map((task) => work.claim(task, worker))
    const [first] = await Promise.all(holds)
    await work.register(worker.session, 1)
    expect(await work.claim(tasks[2]!, worker)).toMatchObject({ code: 'NO_CAPACITY', capacity: 1, held: 2 })
    expect(outcome(await work.renew(tasks[0]!, granted(first!)))).toBe('RENEWED')
  })
})

describe('next', () => {
  test('says LIMIT_REACHED only when something waits, and returns what fits under the limit', async () => {
    const { work } = manualClock({ maxConcurrentClaims: 2 })
    expect(outcome(await work.next(alpha))).toBe('NO_WORK')
    await work.createAll([newTask(), newTask(), newTask()])
    const reply = await work.next(alpha, { limit: 3 })
    expect([outcome(reply), grantedTasks(reply).length]).toEqual(['GRANTED', 2])
    expect(await work.next(beta)).toMatchObject({ code: 'LIMIT_REACHED', limit: 'maxConcurrentClaims' })
  })

  test('says NO_WORK when all that waits is refused to the caller', async () => {
    const { work, one } = await track(1)
    granted(await work.claim(one, alpha))
    expect(await work.next(beta, { limit: 5 })).toEqual({
      ok: true,
      reason: 'NO_WORK',
      claims: [],
      shouldRetry: false,
    })
    const still = (await work.store.tasks(work.workspace, { states: ['queued'] }, 10)).map(
      ({ record }) => record,
    )
    expect(
      still.map(({ version }: TaskRecord) => version),
      'and leaves it as it was',
    ).toEqual([1, 1])
  })
})
