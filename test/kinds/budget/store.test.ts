import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import { releaseReservation } from '../../../src/kinds/usage/rules/release.ts'
import { picosOf, sumOfDollars } from '../../../src/pure/money.ts'
import { register } from '../../support/agents.ts'
import { used } from '../../support/ledger.ts'
import { createMission } from '../../support/missions.ts'
import {
  budgetOf,
  commandBudget,
  costing,
  elapseBudget,
  must,
  reportOf,
  setBudget,
  updateBudget,
  usageOf,
} from '../../support/money.ts'
import { earlier, NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import type { Reply } from '../../support/replies.ts'
import {
  atGeneration,
  granted,
  grantedTasks,
  type Hold,
  holder,
  outcome,
  type Task,
  tally,
  type Work,
} from '../../support/tasks.ts'

/** Reservations, the ledger and what it stops: one suite for every store that holds budgets. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const alpha = holder('alpha')
const beta = holder('beta')
const DAY_MS = 86_400_000

/** The same workspace, when it was so long ago. */
const ago = (work: Work, ms: number) => work.through(new Combiner(earlier(work.store, ms)))

const create = async (work: Work, ...about: Parameters<typeof costing>) =>
  (await work.createAll([costing(...about)]))[0]!
const claimed = async (work: Work, task: Task, by = alpha): Promise<Hold> =>
  granted(await work.claim(task, by))
const budgetsOf = ({ store }: Work) => (store as RunStore).budgets
const resumable = async (work: Work) =>
  (await budgetsOf(work).toResume(100, work.workspace)).map(({ id }) => id)
const resume = (work: Work, task: Task) => work.command(task, { kind: 'resume' }, 'system')
const typesOf = async (work: Work) => (await work.events()).map(({ type }) => type)

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  /** A workspace with two agents that Baton does not run. */
  async function money(limits = {}, options = {}) {
    const work = await nodes.work(limits, options)
    for (const slug of ['alpha', 'beta']) await register(work, slug, { maxConcurrentTasks: 100 })
    return work
  }
  const reserved = async (work: Work, id: string) => {
    const { reservedTokens, reservedUsd } = await budgetOf(work, id)
    return [reservedTokens, reservedUsd]
  }

  describe('a claim', () => {
    test('reserves what its task is estimated to use, in all budgets that cover it', async () => {
      const work = await money()
      const task = await create(work, 100, { budget: { maxTokens: 500 } })
      const ids = [
        await setBudget(work, { maxTokens: 1_000 }),
        await setBudget(work, { maxTokens: 1_000, period: 'day' }),
        await setBudget(work, {
          scope: 'agent',
          scopeKey: 'agent:alpha',
          scopeId: 'alpha',
          maxTokens: 1_000,
        }),
      ]
      const foreign = await setBudget(work, {
        ...{ scope: 'agent', scopeKey: 'agent:beta', scopeId: 'beta', maxTokens: 1_000 },
      })
      const { generation } = await claimed(work, task)
      const { reservation, budgets } = await usageOf(work, task, generation)
      expect(reservation).toMatchObject({ tokens: 100, stepTokens: 100, holderId: task.uuid, generation })
      expect(new Set(reservation!.budgetIds)).toEqual(new Set(budgets.map(({ budgetId }) => budgetId)))
      expect(budgets.map(({ scope, reservedTokens }) => [scope, reservedTokens]).sort()).toEqual([
        ['agent', 100],
        ['task', 100],
        ['workspace', 100],
        ['workspace', 100],
      ])
      for (const id of ids) expect(await reserved(work, id)).toEqual([100, '0'])
      expect(await reserved(work, foreign)).toEqual([0, '0'])
    })

    test('reserves what is usual where nobody estimated, cut to what is left', async () => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 10_000 })
      for (const tokens of [300, 100, 200]) {
        const task = await create(work, null)
        const hold = await claimed(work, task)
        await reportOf(work, task, hold, { opus: used(tokens) })
        must(await work.submit(task, hold))
      }
      await claimed(work, await create(work, null))
      expect(await reserved(work, id)).toEqual([200, '0'])
      must(await updateBudget(work, id, { maxTokens: 850 }))
      await claimed(work, await create(work, null))
      expect(await reserved(work, id), '850 less the 600 that are used and the 200 of the other one').toEqual(
        [250, '0'],
      )
      expect(outcome(await work.claim(await create(work, null), alpha))).toBe('BUDGET_RESERVED')
    })

    test.each<[string, (work: Work, task: Task, hold: Hold) => Promise<Reply>]>([
      ['is submitted', (work, task, hold) => work.submit(task, hold)],
      ['is released', (work, task, hold) => work.release(task, hold)],
      ['fails', (work, task, hold) => work.fail(task, hold)],
      ['is cancelled', (work, task) => work.cancel(task)],
      ['is paused', (work, task) => work.pause(task)],
    ])('has nothing reserved any more when it %s', async (_how, end) => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 1_000, maxUsd: '5' })
      const task = await create(work, 100)
      const hold = await claimed(work, task)
      await work.start(task, hold)
      await reportOf(work, task, hold, { opus: used(30, '0.5') })
      expect((await reserved(work, id))[0]).toBe(70)
      must(await end(work, task, hold))
      expect(await reserved(work, id)).toEqual([0, '0'])
      expect(await budgetOf(work, id)).toMatchObject({ consumedTokens: 30, consumedUsd: '0.5' })
      expect((await usageOf(work, task, hold.generation)).reservation).toBeNull()
    })

    test('that lapsed has nothing reserved any more, and the next one reserves for itself', async () => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 1_000 })
      const task = await create(work, 100)
      granted(await ago(work, 60_000).claim(task, alpha, { leaseMs: 1_000 }))
      expect((await reserved(work, id))[0]).toBe(100)
      must(await work.claim(task, beta))
      expect((await reserved(work, id))[0]).toBe(100)
      expect((await usageOf(work, task, 1)).reservation).toBeNull()
      expect((await usageOf(work, task, 2)).reservation).toMatchObject({ tokens: 100 })
    })

    test('that is repeated under its idempotency key reserves once', async () => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 1_000 })
      const task = await create(work, 100)
      const [first, second] = [
        await work.under('k').claim(task, alpha),
        await work.under('k').claim(task, alpha),
      ]
      expect(granted(second).generation).toBe(granted(first).generation)
      expect((await reserved(work, id))[0]).toBe(100)
    })
  })

  describe('without room', () => {
    test('an estimate above what is left parks the task, and a person is asked', async () => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 99 })
      const task = await create(work, 100)
      expect(outcome(await work.claim(task, alpha))).toBe('BUDGET_STOPPED')
      expect(await work.record(task)).toMatchObject({ state: 'budget_exceeded', generation: 0 })
      expect(await resumable(work), 'not while nothing has changed').toEqual([])
      must(await updateBudget(work, id, { maxTokens: 100 }))
      expect(await resumable(work)).toEqual([task.id])
      must(await resume(work, task))
      expect(await claimed(work, task)).toMatchObject({ generation: 1 })
      expect(await work.record(task)).toMatchObject({ attempt: 1 })
    })

    test('what others have reserved is waited for: the task stays queued', async () => {
      const work = await money()
      await setBudget(work, { maxTokens: 150 })
      const [first, second] = [await create(work, 100), await create(work, 100)]
      const hold = await claimed(work, first)
      expect(outcome(await work.claim(second, beta))).toBe('BUDGET_RESERVED')
      expect(await work.record(second)).toMatchObject({ state: 'queued' })
      await reportOf(work, first, hold, { opus: used(50) })
      must(await work.submit(first, hold))
      expect(granted(await work.claim(second, beta))).toMatchObject({ generation: 1 })
    })

    test('a caller that asks for the next task gets one that fits, and none where none does', async () => {
      const work = await money()
      await setBudget(work, { maxTokens: 150 })
      const [first, , small] = await work.createAll([costing(100), costing(100), costing(50)])
      const idsOf = async (by: typeof alpha) =>
        grantedTasks(await work.next(by, { limit: 3 })).map(({ id }) => id)
      expect(await idsOf(alpha)).toEqual([first!.id, small!.id])
      expect(await idsOf(beta)).toEqual([])
    })

    test('nothing begins under one that is spent, stopped or of another scope of the task', async () => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 10 })
      const first = await create(work, null)
      const hold = await claimed(work, first)
      await reportOf(work, first, hold, { opus: used(10) })
      const second = await create(work, 1)
      expect(outcome(await work.claim(second, beta))).toBe('BUDGET_STOPPED')
      expect(await work.record(second), 'what had not begun stays queued').toMatchObject({ state: 'queued' })
      must(await commandBudget(work, id, { kind: 'remove' }))
      expect(outcome(await work.claim(second, beta))).toBe('GRANTED')
    })
  })

  describe('claims at once on two nodes', () => {
    test.each([
      ['in batches', {}],
      ['one by one', NO_COMPANY],
    ])('never reserve more than there is, %s', async (_how, options) => {
      const [here, there] = await nodes.pair({ maxConcurrentClaims: 1_000 }, options)
      const id = await setBudget(here, { maxTokens: 1_000 })
      const tasks = await here.createAll(Array.from({ length: 30 }, () => costing(100)))
      const replies = await Promise.all(
        tasks.map((task, i) => (i % 2 === 0 ? here : there).claim(task, holder(`agent-${i}`))),
      )
      expect(tally(replies)).toEqual({ GRANTED: 10, BUDGET_RESERVED: 20 })
      expect(await reserved(here, id)).toEqual([1_000, '0'])
    })

    test('and ends and reports among them keep consumed and reserved right, under nested budgets', async () => {
      const [here, there] = await nodes.pair({ maxConcurrentClaims: 1_000 }, NO_COMPANY)
      const whole = await setBudget(here, { maxTokens: 2_000, maxUsd: '20' })
      const daily = await setBudget(here, { maxTokens: 1_500, period: 'day' })
      const agents = Array.from({ length: 4 }, (_, i) => holder(`agent-${i}`))
      const ofAgents = await Promise.all(
        agents.map(({ agent }) =>
          setBudget(here, { scope: 'agent', scopeKey: `agent:${agent}`, scopeId: agent, maxTokens: 700 }),
        ),
      )
      const tasks = await here.createAll(Array.from({ length: 24 }, () => costing(100)))
      let reports = 0
      const works = tasks.map(async (task, i) => {
        const [work, other] = i % 2 === 0 ? [here, there] : [there, here]
        const reply = await work.claim(task, agents[i % 4]!)
        if (!reply.ok) return
        const hold = granted(reply)
        reports += 1
        await Promise.all([
          reportOf(work, task, hold, { opus: used(30, '0.1') }),
          reportOf(other, task, hold, { opus: used(60, '0.2') }),
        ])
        must(await other.submit(task, hold))
      })
      await Promise.all(works)
      expect(reports).toBeGreaterThan(0)
      for (const id of [whole, daily, ...ofAgents]) expect(await reserved(here, id)).toEqual([0, '0'])
      for (const id of [whole, daily])
        expect(await budgetOf(here, id)).toMatchObject({ consumedTokens: 60 * reports })
      const each = await Promise.all(ofAgents.map((id) => budgetOf(here, id)))
      expect(each.reduce((sum, { consumedTokens }) => sum + consumedTokens, 0)).toBe(60 * reports)
      expect(picosOf(sumOfDollars(...each.map(({ consumedUsd }) => consumedUsd)))).toBe(
        picosOf((await budgetOf(here, whole)).consumedUsd),
      )
    })

    test.each([
      ['before them', { GRANTED: 2, BUDGET_RESERVED: 4 }],
      ['after them', { GRANTED: 6 }],
    ])(
      'with a limit that is lowered in the same batch, %s: it is decided once, and in order',
      async (when, ends) => {
        const work = await money()
        const id = await setBudget(work, { maxTokens: 1_000 })
        const tasks = await work.createAll(Array.from({ length: 6 }, () => costing(100)))
        const lower = () => updateBudget(work, id, { maxTokens: 250 }).then(must)
        const claims = () => tasks.map((task, i) => work.claim(task, holder(`agent-${i}`)))
        const [first, last] = when === 'before them' ? [lower, () => null] : [() => null, lower]
        const lowered = first()
        const replies = claims()
        await Promise.all([lowered, last()])
        expect(tally(await Promise.all(replies))).toEqual(ends)
        expect(await budgetOf(work, id)).toMatchObject({ maxTokens: 250, reservedTokens: ends.GRANTED * 100 })
        expect(outcome(await work.claim(await create(work, 1_000), beta))).toBe('BUDGET_STOPPED')
      },
    )
  })

  describe('a report', () => {
    test('of a claim that is over is booked, and one of a claim that never was is not', async () => {
      const work = await money()
      const id = await setBudget(work, { maxTokens: 1_000 })
      const task = await create(work, 100)
      const first = granted(await ago(work, 60_000).claim(task, alpha, { leaseMs: 1_000 }))
      const second = await claimed(work, task, beta)
      const booked = await reportOf(work, task, first, { opus: used(40) })
      expect(booked).toMatchObject({ isBooked: true, totals: { tokens: 40 } })
      await reportOf(work, task, second, { opus: used(2) })
      expect((await budgetOf(work, id)).consumedTokens).toBe(42)
      for (const never of [atGeneration(alpha, 2), atGeneration(beta, 1), atGeneration(alpha, 9)])
        expect(await reportOf(work, task, never, { opus: used(500) })).toBeNull()
      expect((await budgetOf(work, id)).consumedTokens).toBe(42)
    })

    test('that comes many times at once on two nodes is booked once', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const id = await setBudget(here, { maxTokens: 1_000, maxUsd: '10' })
      const task = await create(here, null)
      const hold = await claimed(here, task)
      const booked = await Promise.all(
        Array.from({ length: 16 }, (_, i) =>
          reportOf(
            i % 2 === 0 ? here : there,
            task,
            hold,
            { opus: used(40, '0.123456789012') },
            { number: 1 },
          ),
        ),
      )
      expect(booked.filter((one) => one!.isBooked)).toHaveLength(1)
      expect(await budgetOf(here, id)).toMatchObject({ consumedTokens: 40, consumedUsd: '0.123456789012' })
    })

    test('in any order ends with the last one', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const id = await setBudget(here, { maxTokens: 1_000, maxUsd: '10' })
      const task = await create(here, null)
      const hold = await claimed(here, task)
      await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          reportOf(
            i % 2 === 0 ? here : there,
            task,
            hold,
            { opus: used(10 * (i + 1), `0.${i + 1}`) },
            { number: i + 1 },
          ),
        ),
      )
      const last = await reportOf(here, task, hold, { opus: used(120, '1.2') }, { number: 12 })
      expect(last).toMatchObject({ isBooked: false, totals: { tokens: 120, costUsd: '0.12' } })
      expect(await budgetOf(here, id)).toMatchObject({ consumedTokens: 120, consumedUsd: '0.12' })
    })

    test('says what is left by the budget with the least, and that a spent one stops', async () => {
      const work = await money()
      await setBudget(work, { maxTokens: 1_000 })
      await setBudget(work, { scope: 'agent', scopeKey: 'agent:alpha', scopeId: 'alpha', maxTokens: 100 })
      const task = await create(work, null)
      const hold = await claimed(work, task)
      const first = await reportOf(work, task, hold, { opus: used(95) })
      expect(first?.budget).toMatchObject({
        scope: 'agent',
        percentUsed: 95,
        remainingTokens: 5,
        isSpent: false,
      })
      const second = await reportOf(work, task, hold, { opus: used(101) })
      expect(second?.budget).toMatchObject({ scope: 'agent', remainingTokens: 0, isSpent: true })
      const told = (await typesOf(work)).filter((type) => /^budget_(warning|exceeded)/.test(type))
      expect(told).toEqual(['budget_warning', 'budget_exceeded'])
    })
  })

  describe('what a budget counts', () => {
    test('is what the ledger has of its scope and period, also where it is set later', async () => {
      const work = await money()
      must(await createMission(work, (missionId) => [costing(null, { missionId })]))
      const inMission = grantedTasks(await work.next(beta))[0]!
      const projectId = await work.store.project(work.workspace, 'seven')
      const inProject = await create(work, null, { projectId })
      const ofOwn = await create(work, null)
      const yesterday = await create(work, null)
      const hold = async (task: Task, by = alpha) => {
        const { claimState, generation, agent, session } = await work.record(task)
        return claimState === 'active'
          ? { agent: agent!, session: session!, generation }
          : claimed(work, task, by)
      }
      await reportOf(work, inMission, await hold(inMission, beta), { opus: used(1, '0.1') })
      await reportOf(work, inProject, await hold(inProject), { opus: used(20, '0.02') })
      await reportOf(work, ofOwn, await hold(ofOwn), { opus: used(300, '0.003', { basis: 'notional' }) })
      const old = granted(await ago(work, 2 * DAY_MS).claim(yesterday, alpha, { leaseMs: 3 * DAY_MS }))
      await reportOf(work, yesterday, old, { opus: used(4_000, '4') }, { agoMs: 2 * DAY_MS })
      const count = async (of: Parameters<typeof setBudget>[1]) => {
        const { consumedTokens, consumedUsd } = await budgetOf(
          work,
          await setBudget(work, { maxUsd: '9', ...of }),
        )
        return [consumedTokens, consumedUsd]
      }
      expect(await count({ period: 'day' })).toEqual([321, '0.12'])
      expect(
        await count({ period: 'day', scope: 'agent', scopeKey: 'agent:alpha', scopeId: 'alpha' }),
      ).toEqual([320, '0.02'])
      expect(await count({ period: 'none' }), 'from now on').toEqual([0, '0'])
      expect(
        await count({ scope: 'task', scopeKey: `task:${yesterday.id}`, scopeId: yesterday.uuid }),
      ).toEqual([4_000, '4'])
      expect(
        await count({
          scope: 'task',
          scopeKey: `task:${ofOwn.id}`,
          scopeId: ofOwn.uuid,
          countNotional: true,
        }),
      ).toEqual([300, '0.003'])
      expect(
        await count({ scope: 'project', scopeKey: `project:${projectId}`, scopeId: 'seven', period: 'day' }),
      ).toEqual([20, '0.02'])
      const { missionId } = await work.record(inMission)
      expect(
        await count({ scope: 'mission', scopeKey: `mission:${missionId}`, scopeId: inMission.uuid }),
      ).toEqual([1, '0.1'])
    })

    test('is compared again and found right, whatever was reported', async () => {
      const work = await money()
      const id = await setBudget(work, { maxUsd: '100', maxTokens: 100_000 })
      const task = await create(work, null)
      const hold = await claimed(work, task)
      const reports: [number, string | null, 'reported' | 'priced' | 'notional'][] = [
        [10, '1', 'priced'],
        [40, '2', 'reported'],
        [20, '0.5', 'notional'],
        [70, '3', 'reported'],
        [70, null, 'priced'],
        [80, '0.1', 'priced'],
      ]
      for (const [i, [tokens, usd, basis]] of reports.entries()) {
        const model = usd === null ? used(tokens) : used(tokens, usd, { basis })
        await reportOf(work, task, hold, { opus: model }, { number: i + 1 })
      }
      const before = await budgetOf(work, id)
      expect(before).toMatchObject({ consumedTokens: 80, consumedUsd: '0.1' })
      // The first hour is over: it is due again.
      must(
        await ago(work, -2 * 3_600_000).run({
          on: 'budget',
          actor: 'system',
          key: id,
          uuid: id,
          command: { kind: 'elapse' },
        }),
      )
      expect(await budgetOf(work, id)).toMatchObject({ consumedTokens: 80, consumedUsd: '0.1' })
      expect(await typesOf(work)).not.toContain('budget_recounted')
    })

    test('moves on to a new period with what is reserved', async () => {
      const work = await money()
      const past = ago(work, DAY_MS)
      const id = await setBudget(past, { maxTokens: 100, period: 'day' })
      const task = await create(work, 60)
      const old = granted(await past.claim(task, alpha, { leaseMs: 3 * DAY_MS }))
      await reportOf(work, task, old, { opus: used(20) }, { agoMs: DAY_MS })
      expect(await budgetOf(work, id)).toMatchObject({ consumedTokens: 20, reservedTokens: 40 })
      expect((await budgetsOf(work).due(100, work.workspace)).map(({ budgetId }) => budgetId)).toEqual([id])
      expect(outcome(await work.claim(await create(work, 61), beta)), 'before it is turned in its row').toBe(
        'BUDGET_RESERVED',
      )
      expect(outcome(await work.claim(await create(work, 60), beta))).toBe('GRANTED')
      must(await elapseBudget(work, id))
      expect(await budgetOf(work, id)).toMatchObject({ consumedTokens: 0, reservedTokens: 100 })
      expect((await budgetOf(work, id)).periodEnd).toBeGreaterThan(Date.now())
    })
  })

  describe('a budget that is removed and set again', () => {
    test('knows what live claims have reserved: the end of one takes nothing from another', async () => {
      const work = await money()
      const first = await setBudget(work, { maxTokens: 150 })
      const [one, two, three] = await work.createAll([costing(100), costing(50), costing(100)])
      const held = await claimed(work, one!)
      must(await commandBudget(work, first, { kind: 'remove' }))
      const again = await setBudget(work, { maxTokens: 150 })
      expect(again, 'there is one of each').toBe(first)
      expect((await reserved(work, again))[0]).toBe(100)
      await claimed(work, two!, beta)
      must(await work.release(one!, held))
      expect((await reserved(work, again))[0]).toBe(50)
      expect(outcome(await work.claim(three!, alpha))).toBe('GRANTED')
      expect((await reserved(work, again))[0]).toBe(150)
    })
  })

  describe('reservations of claims that are over', () => {
    test('are swept, and those of live ones are not', async () => {
      const work = await money()
      const past = ago(work, 120_000)
      const id = await setBudget(past, { maxTokens: 1_000 })
      const [live, over] = await work.createAll([costing(100), costing(30)])
      must(await past.claim(live!, alpha))
      const gone = granted(await past.claim(over!, beta))
      // While no budget is there, ends are not looked at by budgets.
      must(await commandBudget(work, id, { kind: 'remove' }))
      must(await work.submit(over!, gone))
      await setBudget(work, { maxTokens: 1_000 })
      expect((await reserved(work, id))[0]).toBe(130)
      const orphans = await budgetsOf(work).orphans(100, work.workspace)
      expect(orphans).toMatchObject([{ holderId: over!.uuid, generation: 1 }])
      for (const { workspaceId: _of, ...orphan } of orphans)
        await (work.store as RunStore).transact(work.workspace, releaseReservation(orphan))
      expect((await reserved(work, id))[0]).toBe(100)
      expect(await budgetsOf(work).orphans(100, work.workspace)).toEqual([])
    })
  })

  describe('what a budget stopped', () => {
    /** A claim that its budget has stopped. */
    async function stopped(of: Parameters<typeof setBudget>[1], work: Work, agoMs = 0) {
      const id = await setBudget(work, of)
      const task = await create(work, null)
      const hold = granted(await work.claim(task, alpha, { leaseMs: 3 * DAY_MS }))
      must(await work.start(task, hold))
      await reportOf(work, task, hold, { opus: used(100) }, { agoMs })
      const command = {
        kind: 'fail',
        failureClass: 'budget',
        error: 'spent',
        budget: { budgetId: id, asks: false },
      } as const
      must(await work.command(task, { ...command, fence: hold }, 'agent:alpha'))
      expect(await work.record(task)).toMatchObject({ state: 'budget_exceeded', attempt: 0 })
      expect((await work.claims(task))[0]).toMatchObject({ endReason: 'OVER_BUDGET' })
      expect((await budgetOf(work, id)).reservedTokens).toBe(0)
      return { id, task }
    }

    test.each<[string, (work: Work, id: string) => Promise<Reply>]>([
      ['raised', (work, id) => updateBudget(work, id, { maxTokens: 1_000 })],
      ['removed', (work, id) => commandBudget(work, id, { kind: 'remove' })],
      ['without a limit in tokens', (work, id) => updateBudget(work, id, { maxTokens: null, maxUsd: '5' })],
    ])('continues when it is %s, as the same attempt', async (_how, open) => {
      const work = await money()
      const { id, task } = await stopped({ maxTokens: 100 }, work)
      expect(await resumable(work)).toEqual([])
      must(await open(work, id))
      expect(await resumable(work)).toEqual([task.id])
      must(await resume(work, task))
      expect(await work.record(task)).toMatchObject({ state: 'queued' })
      await claimed(work, task)
      expect(await work.record(task), 'no attempt is spent').toMatchObject({ attempt: 1, generation: 2 })
    })

    test('does not continue when it is raised by too little, nor where another one is spent', async () => {
      const work = await money()
      const { id, task } = await stopped({ maxTokens: 50 }, work)
      must(await updateBudget(work, id, { maxTokens: 100 }))
      expect(await resumable(work)).toEqual([])
      must(await updateBudget(work, id, { maxTokens: 101 }))
      expect(await resumable(work)).toEqual([task.id])
    })

    test('continues with the next period', async () => {
      const work = await money()
      const about = { maxTokens: 100, period: 'day' } as const
      const { id, task } = await stopped(about, ago(work, DAY_MS), DAY_MS)
      expect(await resumable(work), 'also before its row is turned').toEqual([task.id])
      must(await elapseBudget(work, id))
      must(await resume(work, task))
      await claimed(work, task)
    })

    test('continues when an amount is moved to it', async () => {
      const work = await money()
      const { id, task } = await stopped({ maxTokens: 100 }, work)
      const from = await setBudget(work, {
        ...{ scope: 'agent', scopeKey: 'agent:beta', scopeId: 'beta', maxTokens: 500 },
      })
      must(await commandBudget(work, from, { kind: 'move', to: id, usd: null, tokens: 400 }))
      expect(await budgetOf(work, from)).toMatchObject({ maxTokens: 100 })
      expect(await budgetOf(work, id)).toMatchObject({ maxTokens: 500 })
      expect(await resumable(work)).toEqual([task.id])
    })
  })

  test('the budget of a task is what the task says: new, changed, and gone', async () => {
    const work = await money()
    const task = await create(work, null, { budget: { maxTokens: 50 } })
    const own = async () => (await usageOf(work, task, 0)).budgets.filter(({ scope }) => scope === 'task')
    expect(await own()).toMatchObject([{ maxTokens: 50, maxUsd: null, period: 'none', periodStart: 0 }])
    const hold = await claimed(work, task)
    await reportOf(work, task, hold, { opus: used(60) })
    expect(await own()).toMatchObject([{ consumedTokens: 60 }])
  })

  test('budgets of one workspace cover nothing of another', async () => {
    const [work, other] = [await money(), await money()]
    const id = await setBudget(work, { maxTokens: 10 })
    const task = await create(other, 1_000)
    expect(outcome(await other.claim(task, alpha))).toBe('GRANTED')
    await expect(budgetOf(other, id)).rejects.toThrow('no budget')
    expect(await reserved(work, id)).toEqual([0, '0'])
  })
})
