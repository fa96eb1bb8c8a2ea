import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import type { NewTask } from '../../../src/kinds/task/command.ts'
import { PRIORITY_STEP_MS } from '../../../src/kinds/task/rules/retry.ts'
import { counting, earlier, NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import {
  granted,
  grantedTasks,
  holder,
  newTask,
  type Overrides,
  outcome,
  tally,
  type Work,
} from '../../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')
const titled = (title: string, rest: Overrides = {}): NewTask => newTask({ title, ...rest })

async function titles(work: Work, reply: Parameters<typeof grantedTasks>[0]): Promise<string[]> {
  return Promise.all(grantedTasks(reply).map(async (task) => (await work.details(task)).title))
}

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('next', () => {
    test('returns the higher priority first, and within a priority the first to arrive', async () => {
      const work = await nodes.work()
      const arrivals: [string, number][] = [
        ['low', 1],
        ['middle, first', 5],
        ['high', 10],
        ['middle, second', 5],
        ['middle, third', 5],
      ]
      await work.createAll(arrivals.map(([title, priority]) => titled(title, { priority })))
      expect(await titles(work, await work.next(alpha, { limit: 10 }))).toEqual([
        'high',
        'middle, first',
        'middle, second',
        'middle, third',
        'low',
      ])
    })

    test('returns tasks of one priority in order of arrival, whichever node created them', async () => {
      const [here, there] = await nodes.pair()
      for (let i = 0; i < 20; i++) await (i % 2 ? here : there).create()
      const arrived = grantedTasks(await here.next(alpha, { limit: 20 })).map(({ createdAt }) => createdAt)
      expect(arrived).toHaveLength(20)
      expect(arrived).toEqual(arrived.toSorted((a, b) => a - b))
    })

    test('lets waiting tasks age: each step of priority is worth ten minutes', async () => {
      const work = await nodes.work()
      const waited = (ms: number) => work.through(new Combiner(earlier(work.store, ms)))
      // Against a new task of priority 6, one of priority 5 wins once it has waited a step longer.
      await waited(PRIORITY_STEP_MS - 60_000).create({ title: '5, not quite a step older', priority: 5 })
      await waited(PRIORITY_STEP_MS + 60_000).create({ title: '5, more than a step older', priority: 5 })
      await work.create({ title: '6, new', priority: 6 })
      await waited(9 * PRIORITY_STEP_MS + 60_000).create({ title: '1, very old', priority: 1 })
      expect(await titles(work, await work.next(alpha, { limit: 4 }))).toEqual([
        '1, very old',
        '5, more than a step older',
        '6, new',
        '5, not quite a step older',
      ])
    })

    test('moves a task whose priority is raised, and keeps the time it has waited', async () => {
      const work = await nodes.work()
      const [first, second] = await work.createAll([titled('first'), titled('second')])
      await work.update(second!, { priority: 6 })
      await work.update(first!, { priority: 6 })
      expect(await titles(work, await work.next(alpha, { limit: 2 }))).toEqual(['first', 'second'])
    })

    test('passes over what is reserved for another agent', async () => {
      const work = await nodes.work()
      await work.createAll([
        titled('for beta', { onlyAgent: 'beta', priority: 10 }),
        titled('for anybody'),
        titled('for alpha', { onlyAgent: 'alpha', priority: 1 }),
      ])
      // One at a time: tasks that are passed over must not count against the limit.
      expect(await titles(work, await work.next(alpha))).toEqual(['for anybody'])
      expect(await titles(work, await work.next(alpha))).toEqual(['for alpha'])
      expect(await titles(work, await work.next(alpha))).toEqual([])
      expect(await titles(work, await work.next(beta))).toEqual(['for beta'])
    })

    test('passes over what needs a capability the agent lacks', async () => {
      const work = await nodes.work()
      await work.createAll([
        titled('both', { capabilities: ['typescript', 'sql'], priority: 10 }),
        titled('sql', { capabilities: ['sql'] }),
        titled('none', { capabilities: [], priority: 1 }),
      ])
      const sql = { capabilities: ['sql', 'rust'] }
      expect(await titles(work, await work.next(alpha, sql))).toEqual(['sql'])
      expect(await titles(work, await work.next(alpha, sql))).toEqual(['none'])
      expect(await titles(work, await work.next(alpha, sql))).toEqual([])
      const both = { capabilities: ['sql', 'typescript'] }
      expect(await titles(work, await work.next(beta, both))).toEqual(['both'])
    })

    test('passes over what is reserved for the agent itself but needs what it lacks', async () => {
      const work = await nodes.work()
      await work.createAll([
        titled('cannot', { onlyAgent: 'alpha', capabilities: ['sql'], priority: 10 }),
        titled('can', { onlyAgent: 'alpha' }),
      ])
      expect(await titles(work, await work.next(alpha))).toEqual(['can'])
    })

    test('passes over what is not queued: held, waiting, paused and finished tasks', async () => {
      const work = await nodes.work()
      const [held, retrying, paused, cancelled, upstream] = await work.createAll([
        ...['held', 'retrying', 'paused', 'cancelled', 'upstream'].map((title) => titled(title)),
      ])
      await work.create({ title: 'blocked' }, [upstream!])
      await work.create({ title: 'later', runAt: Date.now() + 86_400_000 })
      await work.claim(held!, beta)
      await work.fail(retrying!, granted(await work.claim(retrying!, beta)))
      await work.pause(paused!)
      await work.cancel(cancelled!)
      expect(await titles(work, await work.next(alpha, { limit: 10 }))).toEqual(['upstream'])
    })

    test('returns an empty answer when there is nothing', async () => {
      const work = await nodes.work()
      expect(await work.next(alpha)).toEqual({ ok: true, reason: 'NO_WORK', claims: [], shouldRetry: false })
    })

    test('shares the queue among agents in the same batch', async () => {
      const work = await nodes.work()
      await work.createAll(Array.from({ length: 3 }, () => newTask()))
      const store = counting(work.store)
      const batch = work.through(new Combiner(store))
      const replies = await Promise.all(['alpha', 'beta', 'gamma'].map((agent) => batch.next(holder(agent))))
      expect(store.transactions).toBe(1)
      // There is a task for each of them, so none may get an empty answer.
      expect(replies.map((reply) => grantedTasks(reply).length)).toEqual([1, 1, 1])
    })

    test('gives one batch of equal agents one task each, in order', async () => {
      const work = await nodes.work()
      const tasks = await work.createAll(Array.from({ length: 3 }, () => newTask()))
      const replies = await Promise.all([1, 2, 3].map((n) => work.next(holder('alpha', `session-${n}`))))
      expect(replies.map((reply) => grantedTasks(reply).map(({ id }) => id))).toEqual(
        tasks.map(({ id }) => [id]),
      )
    })

    test.each([
      ['equal agents', () => alpha],
      ['different agents', (i: number) => holder(`agent-${i}`)],
    ])('never assigns one task to two of 50 concurrent callers on two nodes: %s', async (_who, caller) => {
      const [here, there] = await nodes.pair({ maxConcurrentClaims: 1000 }, NO_COMPANY)
      const tasks = await here.createAll(Array.from({ length: 120 }, () => newTask()))
      const given: number[] = []
      const works = async (i: number) => {
        const node = i % 2 ? here : there
        // Empty only while others hold the rows: repeat until everything is assigned.
        while (given.length < tasks.length)
          given.push(...grantedTasks(await node.next(caller(i), { limit: 2 })).map(({ id }) => id))
      }
      await Promise.all(Array.from({ length: 50 }, (_, i) => works(i)))
      expect(given.toSorted((a, b) => a - b)).toEqual(tasks.map(({ id }) => id))
      for (const task of tasks) expect(await here.claims(task)).toHaveLength(1)
    })
  })

  describe('maxConcurrentClaims', () => {
    test('is what one batch can get, and a claim that ends makes room', async () => {
      const work = await nodes.work({ maxConcurrentClaims: 2 })
      const tasks = await work.createAll(Array.from({ length: 4 }, () => newTask()))
      const replies = await Promise.all(tasks.map((task) => work.claim(task, alpha)))
      expect(replies.map(outcome)).toEqual(['GRANTED', 'GRANTED', 'LIMIT_REACHED', 'LIMIT_REACHED'])
      expect(replies[3]).toMatchObject({ limit: 'maxConcurrentClaims' })
      expect(outcome(await work.next(alpha)), 'next reports it too').toBe('LIMIT_REACHED')
      await work.release(tasks[0]!, granted(replies[0]!))
      expect(grantedTasks(await work.next(alpha, { limit: 4 }))).toHaveLength(1)
    })

    test.each([
      ['submit', (work: Work, task: never, hold: never) => work.submit(task, hold)],
      ['fail', (work: Work, task: never, hold: never) => work.fail(task, hold)],
      ['cancel', (work: Work, task: never) => work.cancel(task)],
      ['pause', (work: Work, task: never) => work.pause(task)],
      ['reassignment', (work: Work, task: never) => work.update(task, { onlyAgent: 'beta' })],
    ])('has room again after %s', async (_how, end) => {
      const work = await nodes.work({ maxConcurrentClaims: 1 })
      const [one, two] = await work.createAll([newTask(), newTask()])
      const hold = granted(await work.claim(one!, alpha))
      expect(outcome(await work.claim(two!, alpha))).toBe('LIMIT_REACHED')
      expect((await end(work, one as never, hold as never)).ok).toBe(true)
      expect(outcome(await work.claim(two!, alpha))).toBe('GRANTED')
    })

    test('has room again after a lease expired', async () => {
      const work = await nodes.work({ maxConcurrentClaims: 1 })
      const [one, two] = await work.createAll([newTask(), newTask()])
      const aMinuteAgo = work.through(new Combiner(earlier(work.store, 60_000)))
      granted(await aMinuteAgo.claim(one!, alpha, { leaseMs: 1000 }))
      expect(outcome(await work.elapse(one!))).toBe('MOVED')
      expect(outcome(await work.claim(two!, beta))).toBe('GRANTED')
    })

    test('is never exceeded while two nodes race for the last places', async () => {
      const limit = 5
      const [here, there] = await nodes.pair({ maxConcurrentClaims: limit }, NO_COMPANY)
      const tasks = await here.createAll(Array.from({ length: 40 }, () => newTask()))
      const start = (await here.events()).at(-1)!.seq
      const replies = await Promise.all(
        tasks.map(async (task, i) => {
          const node = i % 2 ? here : there
          const first = await node.claim(task, alpha)
          if (first.ok && i % 3 === 0) await node.release(task, granted(first))
          return first
        }),
      )
      expect(Object.keys(tally(replies)).toSorted()).toEqual(['GRANTED', 'LIMIT_REACHED'])
      // The log shows how many were held at each moment.
      let held = 0
      for (const { type } of await here.events(start)) {
        if (type === 'task_assigned') held += 1
        if (type === 'task_released') held -= 1
        expect(held).toBeLessThanOrEqual(limit)
      }
      const free = await here.next(beta, { limit: 40 })
      expect(held + grantedTasks(free).length, 'all places can be filled, and no more').toBe(limit)
      expect(outcome(await there.next(beta))).toBe('LIMIT_REACHED')
    })
  })
})
