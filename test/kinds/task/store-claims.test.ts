import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { StoreUnavailable, type Transactor } from '../../../src/kernel/store/store.ts'
import { counting, earlier, NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import type { Reply } from '../../support/replies.ts'
import {
  atGeneration,
  granted,
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
const gamma = holder('gamma')

/** A repeated answer is the same except for the remaining time, which is computed again. */
const sameClaim = (reply: Reply) => ({ ...reply, claim: { ...granted(reply), ttlMs: expect.any(Number) } })

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('100 callers that want one task', () => {
    const callers = Array.from({ length: 100 }, (_, i) => holder(`agent-${i}`))

    async function exactlyOneIsGranted(work: Work, task: { id: number; uuid: string }, replies: Reply[]) {
      expect(tally(replies)).toEqual({ GRANTED: 1, DENIED_ACTIVE_CLAIM: 99 })
      const winner = granted(replies.find(({ ok }) => ok)!)
      expect(await work.record(task)).toMatchObject({ generation: 1, agent: winner.agent, attempt: 1 })
      expect(await work.claims(task)).toMatchObject([{ generation: 1, state: 'active', agent: winner.agent }])
      for (const reply of replies)
        if (!reply.ok) expect(reply).toMatchObject({ currentHolder: winner.agent, currentGeneration: 1 })
    }

    test('get one claim in total through one combiner', async () => {
      const work = await nodes.work()
      const task = await work.create()
      await exactlyOneIsGranted(work, task, await Promise.all(callers.map((by) => work.claim(task, by))))
    })

    test.each([
      ['in batches', {}],
      ['one by one', NO_COMPANY],
    ])('get one claim in total on two nodes, %s', async (_how, options) => {
      const [here, there] = await nodes.pair({}, options)
      const task = await here.create()
      const replies = callers.map((by, i) => (i % 2 === 0 ? here : there).claim(task, by))
      await exactlyOneIsGranted(here, task, await Promise.all(replies))
    })
  })

  test('of two claims on a lapsed lease one is granted, at the next generation', async () => {
    const [here, there] = await nodes.pair({}, NO_COMPANY)
    const task = await here.create()
    granted(
      await here.through(new Combiner(earlier(here.store, 60_000))).claim(task, alpha, { leaseMs: 1000 }),
    )
    const replies = await Promise.all([here.claim(task, beta), there.claim(task, gamma)])
    expect(tally(replies)).toEqual({ GRANTED: 1, DENIED_ACTIVE_CLAIM: 1 })
    expect(await here.claims(task)).toMatchObject([
      { generation: 1, state: 'expired', endReason: 'EXPIRED' },
      { generation: 2, state: 'active', endReason: null },
    ])
    expect((await here.eventsOf(task)).map(({ type }) => type)).toEqual([
      'task_created',
      'task_assigned',
      'task_lease_expired',
      'task_assigned',
    ])
  })

  describe('an idempotency key', () => {
    test('gives the same request its first answer again, whatever happened since', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const first = await work.under('claim-1').claim(task, alpha)
      await work.submit(task, granted(first))
      expect(sameClaim(await work.under('claim-1').claim(task, alpha))).toEqual(sameClaim(first))
      expect(await work.claims(task)).toHaveLength(1)
      expect(outcome(await work.claim(task, alpha)), 'without the key').toBe('DENIED_COMPLETED')
    })

    test.each<[string, (work: Work, task: Task) => Promise<Reply>]>([
      ['a claim', (work, task) => work.under('k').claim(task, alpha, { leaseMs: 60_000 })],
      ['a renewal', (work, task) => work.under('k').renew(task, atGeneration(alpha, 1), 60_000)],
      ['next', (work) => work.under('k').next(alpha, { leaseMs: 60_000 })],
    ])('repeats an answer with the time left now, not the time left then: %s', async (what, ask) => {
      const work = await nodes.work()
      const halfAMinuteAgo = work.through(new Combiner(earlier(work.store, 30_000)))
      const task = await halfAMinuteAgo.create()
      if (what === 'a renewal') await halfAMinuteAgo.claim(task, alpha, { leaseMs: 1000 })
      const ttlMs = (reply: Reply) => {
        const claims = reply.claims as { claim: { ttlMs: number } }[] | undefined
        const claim = (claims?.[0]?.claim ?? reply.claim ?? reply) as { ttlMs: number }
        return claim.ttlMs
      }
      expect(ttlMs(await ask(halfAMinuteAgo, task))).toBe(60_000)
      const left = ttlMs(await ask(work, task))
      expect(left).toBeLessThanOrEqual(30_000)
      expect(left).toBeGreaterThanOrEqual(0)
    })

    test('covers a request on many tasks as a whole: each is decided separately, once', async () => {
      const work = await nodes.work()
      const [free, taken] = await work.createAll([newTask(), newTask()])
      await work.claim(taken!, beta)
      const items = [free!, taken!].map(({ id, uuid }) => ({
        taskId: id,
        uuid,
        command: { kind: 'claim', ...alpha, leaseMs: 60_000, capabilities: [] } as const,
      }))
      const ask = () => work.under('k').run({ on: 'many', actor: 'agent:alpha', items })
      const outcomes = (reply: Reply) => (reply.replies as Reply[]).map(outcome)
      expect(outcomes(await ask())).toEqual(['GRANTED', 'DENIED_ACTIVE_CLAIM'])
      await work.cancel(taken!)
      expect(outcomes(await ask()), 'the first answer, whole').toEqual(['GRANTED', 'DENIED_ACTIVE_CLAIM'])
      expect(await work.claims(free!)).toHaveLength(1)
    })

    test('is refused for another request', async () => {
      const work = await nodes.work()
      const [one, two] = await work.createAll([newTask(), newTask()])
      await work.under('k').claim(one!, alpha)
      expect(outcome(await work.under('k').claim(two!, alpha))).toBe('IDEMPOTENCY_KEY_REUSED')
      expect(await work.record(two!)).toMatchObject({ state: 'queued', generation: 0 })
    })

    test('is free again after a refusal, which changed nothing', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = granted(await work.claim(task, alpha))
      expect(outcome(await work.under('k').claim(task, beta))).toBe('DENIED_ACTIVE_CLAIM')
      await work.release(task, hold)
      expect(outcome(await work.under('k').claim(task, beta))).toBe('GRANTED')
    })

    test.each([
      ['in batches', {}],
      ['one by one', NO_COMPANY],
    ])('makes 40 concurrent claims on two nodes one claim with one answer, %s', async (_how, options) => {
      const [here, there] = await nodes.pair({}, options)
      const task = await here.create()
      const asked = Array.from({ length: 40 }, (_, i) => (i % 2 ? here : there).under('k').claim(task, alpha))
      const [first, ...others] = await Promise.all(asked)
      expect(outcome(first!)).toBe('GRANTED')
      for (const other of others) expect(sameClaim(other)).toEqual(sameClaim(first!))
      expect(await here.claims(task)).toHaveLength(1)
    })

    test.each([
      ['in batches', {}],
      ['one by one', NO_COMPANY],
    ])('makes 40 concurrent creations on two nodes one task, %s', async (_how, options) => {
      const [here, there] = await nodes.pair({}, options)
      const before = (await here.events()).length
      const asked = Array.from({ length: 40 }, (_, i) => (i % 2 ? here : there).under('k').create())
      const [first, ...others] = await Promise.all(asked)
      for (const other of others) expect(other).toEqual(first)
      expect((await here.events()).length - before).toBe(1)
    })

    test('holds when two different requests race for it on two nodes: one wins, the other is refused', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const replies = await Promise.all([
        here.under('k').tryCreate([newTask({ title: 'one' })]),
        there.under('k').tryCreate([newTask({ title: 'two' })]),
      ])
      expect(tally(replies)).toEqual({ CREATED: 1, IDEMPOTENCY_KEY_REUSED: 1 })
    })
  })

  describe('requests in one batch', () => {
    test('see what the ones before them did to the same task', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const store = counting(work.store)
      const batch = work.through(new Combiner(store))
      const first = atGeneration(alpha, 1)
      const replies = await Promise.all([
        batch.claim(task, alpha),
        batch.claim(task, beta),
        batch.start(task, first),
        batch.renew(task, first),
        batch.release(task, first),
        batch.claim(task, beta),
        batch.submit(task, first, { by: 'alpha' }),
        batch.submit(task, atGeneration(beta, 2), { by: 'beta' }),
        batch.claim(task, gamma),
      ])
      expect(store.transactions).toBe(1)
      expect(replies.map(outcome)).toEqual([
        'GRANTED',
        'DENIED_ACTIVE_CLAIM',
        'STARTED',
        'RENEWED',
        'RELEASED',
        'GRANTED',
        'STALE_GENERATION',
        'ACCEPTED',
        'DENIED_COMPLETED',
      ])
      expect(await work.record(task)).toMatchObject({ state: 'completed', generation: 2, agent: 'beta' })
      expect(await work.claims(task)).toMatchObject([
        { generation: 1, agent: 'alpha', state: 'released', endReason: 'VOLUNTARY' },
        { generation: 2, agent: 'beta', state: 'released', endReason: 'COMPLETED' },
      ])
      const results = await work.results(task)
      expect(results.find(({ accepted }) => accepted)).toMatchObject({ generation: 2, data: { by: 'beta' } })
      expect(results.find(({ accepted }) => !accepted)).toMatchObject({ rejection: 'STALE_GENERATION' })
    })

    test('share one idempotency key as if they came one after the other', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const [first, again] = await Promise.all([
        work.under('k').claim(task, alpha),
        work.under('k').claim(task, alpha),
      ])
      expect(again).toEqual(first)
      expect(outcome(first)).toBe('GRANTED')
    })

    test('end one claim and open the next on one task, after a verdict too', async () => {
      const work = await nodes.work()
      const task = await work.create({ verification: 'human' })
      await work.submit(task, granted(await work.claim(task, alpha)), { draft: 1 })
      const replies = await Promise.all([
        work.retry(task, 'not good enough'),
        work.claim(task, beta),
        work.submit(task, atGeneration(beta, 2), { draft: 2 }),
      ])
      expect(replies.map(outcome)).toEqual(['DONE', 'GRANTED', 'ACCEPTED'])
      expect(await work.record(task)).toMatchObject({ state: 'awaiting_human', generation: 2 })
      expect(await work.results(task)).toMatchObject([
        { generation: 1, accepted: false, rejection: 'RETRIED' },
        { generation: 2, accepted: null, rejection: null },
      ])
    })

    test.each<[string, (work: Work, task: Task, hold: Hold) => Promise<Reply>]>([
      ['makes the rules throw', (work, task, hold) => work.renew(task, hold, Number.NaN)],
      ['the store refuses', (work, task, hold) => work.submitText(task, hold, '{')],
    ])('are not failed by one that %s', async (_what, badRequest) => {
      const work = await nodes.work()
      const tasks = await work.createAll(Array.from({ length: 8 }, () => newTask()))
      const hold = granted(await work.claim(tasks[5]!, alpha))
      const store = counting(work.store)
      const batch = work.through(new Combiner(store))
      const settled = await Promise.allSettled(
        tasks.map((task, i) => (i === 5 ? badRequest(batch, task, hold) : batch.claim(task, beta))),
      )
      // The batch as a whole, then halves: the bad half is halved again until the bad request is alone.
      expect(store.transactions).toBe(7)
      expect(settled.map(({ status }) => status)).toEqual(
        tasks.map((_, i) => (i === 5 ? 'rejected' : 'fulfilled')),
      )
      for (const [i, task] of tasks.entries())
        expect(await work.claims(task)).toMatchObject([{ generation: 1, agent: i === 5 ? 'alpha' : 'beta' }])
      const seqs = (await work.events()).map(({ seq }) => seq)
      expect(seqs).toEqual(seqs.map((_, i) => i + 1))
    })
  })

  describe('a combiner', () => {
    test('that is closed answers what was begun, accepts nothing new, and then ends', async () => {
      const work = await nodes.work()
      const begun = work.create()
      const closed = work.combiner.close()
      await expect(work.create()).rejects.toThrow(StoreUnavailable)
      await closed
      expect((await begun).state).toBe('queued')
    })

    test('can be closed after requests that followed each other', async () => {
      const work = await nodes.work()
      const task = await work.create()
      await work.claim(task, alpha)
      await work.cancel(task)
      await work.combiner.close()
    })

    test('fails everyone in the batch when the store is unreachable, and does not retry', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const unreachable = counting({
        transact: () => Promise.reject(new StoreUnavailable('gone')),
      } as Transactor)
      const cut = work.through(new Combiner(unreachable))
      const settled = await Promise.allSettled([cut.claim(task, alpha), cut.claim(task, beta)])
      for (const outcome of settled)
        expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StoreUnavailable)
      expect(unreachable.transactions).toBe(1)
    })
  })
})
