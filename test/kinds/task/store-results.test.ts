import { describe, expect, test } from 'vitest'
import { decideAll } from '../../../src/kernel/batch/decide-all.ts'
import { type Request, readSetOf } from '../../../src/kernel/batch/requests.ts'
import { Combiner } from '../../../src/kernel/combiner.ts'
import type { TaskCommand } from '../../../src/kinds/task/command.ts'
import { batchStep, earlier, storeKinds, useNodes, withLimits } from '../../support/nodes.ts'
import {
  atGeneration,
  granted,
  holder,
  outcome,
  submissionOf,
  type Task,
  type Work,
} from '../../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')

/** A claim of a minute ago whose lease is over; no upkeep has noticed yet. */
async function lapsed(work: Work, task: Task) {
  const aMinuteAgo = work.through(new Combiner(earlier(work.store, 60_000)))
  return granted(await aMinuteAgo.claim(task, alpha, { leaseMs: 1000 }))
}

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('a result after the lease', () => {
    test.each([
      ['before upkeep noticed', async () => undefined],
      ['after the sweep', (work: Work, task: Task) => work.elapse(task)],
    ])('is accepted while no one has claimed since, %s', async (_when, meanwhile) => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = await lapsed(work, task)
      await meanwhile(work, task)
      expect(outcome(await work.submit(task, hold, { late: true }))).toBe('ACCEPTED')
      expect(await work.record(task)).toMatchObject({ state: 'completed', generation: 1, dueAt: null })
      expect(await work.results(task)).toMatchObject([
        { generation: 1, accepted: true, data: { late: true } },
      ])
      const completed = (await work.eventsOf(task)).at(-1)!
      expect(completed).toMatchObject({ type: 'task_completed', payload: { late: true } })
    })

    test('is stored as rejected where late results are disabled, and the task continues', async () => {
      const work = await nodes.work({ lateResults: false })
      const task = await work.create()
      const hold = await lapsed(work, task)
      expect(await work.submit(task, hold, { late: true })).toMatchObject({
        code: 'NO_CLAIM',
        workLost: true,
      })
      expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', claimState: 'expired' })
      expect(await work.results(task)).toMatchObject([{ accepted: false, rejection: 'NO_CLAIM' }])
      expect(outcome(await work.claim(task, beta))).toBe('GRANTED')
    })

    test.each<[string, (work: Work, task: Task) => Promise<unknown>]>([
      ['paused and resumed', async (work, task) => [await work.pause(task), await work.resume(task)]],
      ['retried', (work, task) => work.retry(task)],
      ['cancelled and reset', async (work, task) => [await work.cancel(task), await work.reset(task)]],
    ])('is stored as rejected once a person has %s the task', async (_act, meanwhile) => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = await lapsed(work, task)
      await work.elapse(task)
      await meanwhile(work, task)
      expect(await work.submit(task, hold, { late: true })).toMatchObject({
        code: 'NO_CLAIM',
        workLost: true,
      })
      expect(await work.record(task)).toMatchObject({ state: 'queued', generation: 1, resultHash: null })
      expect(await work.results(task)).toMatchObject([{ accepted: false, rejection: 'NO_CLAIM' }])
    })

    test('that was refused by a limit and is accepted when the limit is lifted is one row, accepted', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = await lapsed(work, task)
      const strict = work.through(new Combiner(withLimits(work.store, { lateResults: false })))
      expect(outcome(await strict.submit(task, hold, { answer: 42 }))).toBe('NO_CLAIM')
      expect(outcome(await work.submit(task, hold, { answer: 42 }))).toBe('ACCEPTED')
      expect(await work.record(task)).toMatchObject({ state: 'completed' })
      expect(await work.results(task), 'a completed task has its accepted result').toMatchObject([
        { accepted: true, rejection: null, data: { answer: 42 } },
      ])
    })
  })

  describe('a result of an older generation', () => {
    async function superseded() {
      const work = await nodes.work()
      const task = await work.create({ key: 'B-003-implement-dashboard' })
      const old = granted(await work.claim(task, alpha))
      await work.release(task, old)
      const present = granted(await work.claim(task, beta))
      return { work, task, old, present }
    }

    test('is stored as rejected, can be read and compared, and changes nothing else', async () => {
      const { work, task, old } = await superseded()
      const before = await work.record(task)
      const reply = await work.submit(task, old, { by: 'alpha' }, 'too late')
      expect(reply).toMatchObject({ code: 'STALE_GENERATION', currentGeneration: 2, workLost: true })
      expect(await work.record(task)).toEqual(before)
      const [result] = await work.results(task)
      expect(result).toMatchObject({
        generation: 1,
        session: alpha.session,
        accepted: false,
        rejection: 'STALE_GENERATION',
        data: { by: 'alpha' },
        summary: 'too late',
        ref: expect.stringMatching(/^wp-B-003-implement-dashboard-gen1-[0-9a-f]{6}$/),
      })
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({
        type: 'task_result_rejected',
        payload: { code: 'STALE_GENERATION', givenGeneration: 1, workLost: true },
      })
    })

    test('is one row however often it is sent, and another row when it is other work', async () => {
      const { work, task, old } = await superseded()
      for (let i = 0; i < 3; i++) await work.submit(task, old, { draft: 1 })
      await Promise.all([1, 2, 2].map((draft) => work.submit(task, old, { draft })))
      const drafts = (await work.results(task)).map(({ data }) => (data as { draft: number }).draft)
      expect(drafts.toSorted()).toEqual([1, 2])
    })

    test('is stale even when the generation is 0, which was never held', async () => {
      const { work, task } = await superseded()
      expect(outcome(await work.submit(task, atGeneration(alpha, 0)))).toBe('STALE_GENERATION')
    })
  })

  test.each([null, 'B-003-implement-dashboard'])(
    'a stored result has the reference that its holder got, with key %s',
    async (key) => {
      const work = await nodes.work()
      const task = await work.create({ key })
      const released = granted(await work.claim(task, alpha))
      await work.release(task, released)
      const hold = granted(await work.claim(task, beta))
      const { workProductRef } = (await work.submit(task, hold)) as { workProductRef?: string }
      await work.submit(task, released, { late: true })
      const refs = (await work.results(task)).map(({ generation, ref }) => ({ generation, ref }))
      const name = key ?? task.uuid
      expect(workProductRef).toMatch(new RegExp(`^wp-${name}-gen2-[0-9a-f]{6}$`))
      expect(refs).toContainEqual({ generation: 2, ref: workProductRef })
      expect(refs).toContainEqual({ generation: 1, ref: expect.stringMatching(`^wp-${name}-gen1-`) })
    },
  )

  test('a result of a generation that was never granted is refused and not stored', async () => {
    const work = await nodes.work()
    const task = await work.create()
    granted(await work.claim(task, alpha))
    const reply = await work.submit(task, atGeneration(alpha, 2))
    expect(reply).toMatchObject({ code: 'FUTURE_GENERATION', currentGeneration: 1, workLost: false })
    expect(await work.results(task)).toEqual([])
  })

  test('the same submission again gets the first answer; other work for a completed task is refused', async () => {
    const work = await nodes.work()
    const task = await work.create()
    const hold = granted(await work.claim(task, alpha))
    const first = await work.submit(task, hold, { answer: 42 })
    const again = await work.submit(task, hold, { answer: 42 })
    expect(again).toMatchObject({ ok: true, reason: 'ACCEPTED', workProductRef: first.workProductRef })
    expect(outcome(await work.submit(task, hold, { answer: 43 }))).toBe('TASK_ALREADY_COMPLETED')
    const accepted = (await work.results(task)).filter((result) => result.accepted)
    expect(accepted).toMatchObject([{ data: { answer: 42 } }])
  })

  test('a result that asks for review waits for its verdict: approval completes the task', async () => {
    const work = await nodes.work()
    const task = await work.create({ verification: 'human' })
    await work.submit(task, granted(await work.claim(task, alpha)), { draft: 1 })
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_human', claimState: 'released' })
    expect(await work.results(task)).toMatchObject([{ accepted: null, rejection: null }])
    await work.approve(task, 'well done')
    expect(await work.record(task)).toMatchObject({ state: 'completed' })
    expect(await work.results(task)).toMatchObject([{ accepted: true }])
  })

  test('a result that a person rejects stays readable, and the next attempt produces another', async () => {
    const work = await nodes.work()
    const task = await work.create({ verification: 'human' })
    await work.submit(task, granted(await work.claim(task, alpha)), { draft: 1 })
    await work.reject(task, 'no tests')
    expect(await work.record(task)).toMatchObject({ state: 'awaiting_retry', resultHash: null })
    await work.retry(task)
    await work.submit(task, granted(await work.claim(task, beta)), { draft: 2 })
    await work.approve(task)
    expect(await work.results(task)).toMatchObject([
      { generation: 1, accepted: false, rejection: 'HUMAN_REJECTED', data: { draft: 1 } },
      { generation: 2, accepted: true, rejection: null, data: { draft: 2 } },
    ])
  })

  test('a reset opens a new epoch: the old result stays, the generation continues, one more is accepted', async () => {
    const work = await nodes.work()
    const task = await work.create()
    await work.submit(task, granted(await work.claim(task, alpha)), { epoch: 1 })
    expect(outcome(await work.reset(task, 'requirements changed'))).toBe('DONE')
    expect(await work.record(task)).toMatchObject({ state: 'queued', generation: 1, epoch: 2, attempt: 0 })
    await work.submit(task, granted(await work.claim(task, alpha)), { epoch: 2 })
    expect(await work.results(task)).toMatchObject([
      { generation: 1, epoch: 1, accepted: true },
      { generation: 2, epoch: 2, accepted: true },
    ])
  })

  test('verdicts and results of several attempts, decided in one batch, are written in their order', async () => {
    const work = await nodes.work()
    const task = await work.create({ verification: 'human' })
    await work.submit(task, granted(await work.claim(task, alpha)), { draft: 1 })
    const at = (generation: number) => ({ ...beta, generation })
    const claim = { kind: 'claim', ...beta, leaseMs: 60_000, capabilities: [] } as const
    const submit = (generation: number, draft: number): TaskCommand => ({
      kind: 'submit',
      fence: at(generation),
      submission: submissionOf(JSON.stringify({ draft })),
    })
    const replies = await inOneBatch(work, task, [
      { kind: 'reject', comment: 'no tests' },
      { kind: 'retry', reason: null },
      claim,
      submit(2, 2),
      { kind: 'reject', comment: 'still none' },
      { kind: 'retry', reason: null },
      claim,
      submit(3, 3),
      { kind: 'approve', comment: null },
    ])
    expect(replies.filter(({ ok }) => !ok)).toEqual([])
    expect(await work.results(task)).toMatchObject([
      { generation: 1, accepted: false, rejection: 'HUMAN_REJECTED', data: { draft: 1 } },
      { generation: 2, accepted: false, rejection: 'HUMAN_REJECTED', data: { draft: 2 } },
      { generation: 3, accepted: true, rejection: null, data: { draft: 3 } },
    ])
    expect((await work.claims(task)).map(({ generation, endReason }) => [generation, endReason])).toEqual([
      [1, 'SUBMITTED'],
      [2, 'SUBMITTED'],
      [3, 'SUBMITTED'],
    ])
  })

  describe('an operator promotes', () => {
    const promote = async (work: Work, task: Task, data: unknown) => {
      const { generation, session, hash, ref } = (await work.results(task)).find(
        (result) => JSON.stringify(result.data) === JSON.stringify(data),
      )!
      const command = { kind: 'promote', generation, session, hash, ref, reason: null } as const
      expect(outcome(await work.command(task, command))).toBe('PROMOTED')
    }
    const standing = async (work: Work, task: Task) =>
      (await work.results(task))
        .filter(({ accepted }) => accepted)
        .map(({ generation, epoch, data }) => ({ generation, epoch, data }))
        .sort((a, b) => a.epoch - b.epoch)

    test('one result of a generation after the other: each replaces the previous one', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = granted(await work.claim(task, alpha))
      for (const draft of [1, 2, 3]) await work.submit(task, hold, { draft })
      for (const draft of [2, 3, 1, 3]) {
        await promote(work, task, { draft })
        expect(await standing(work, task)).toEqual([{ generation: 1, epoch: 1, data: { draft } }])
      }
      const rejections = (await work.results(task)).filter(({ accepted }) => !accepted)
      expect(rejections.map(({ rejection, data }) => [rejection, data])).toEqual([
        ['REPLACED', { draft: 1 }],
        ['REPLACED', { draft: 2 }],
      ])
      expect(await work.claims(task)).toMatchObject([{ generation: 1, endReason: 'COMPLETED' }])
    })

    test('a second result of a generation in the next epoch: the first stays that of its epoch', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = granted(await work.claim(task, alpha))
      await work.submit(task, hold, { draft: 1 })
      await work.reset(task)
      expect(outcome(await work.submit(task, hold, { draft: 1 })), 'kept already').toBe('NO_CLAIM')
      expect(outcome(await work.submit(task, hold, { draft: 2 }))).toBe('NO_CLAIM')
      expect(await work.results(task)).toHaveLength(2)
      await promote(work, task, { draft: 2 })
      expect(await standing(work, task)).toEqual([
        { generation: 1, epoch: 1, data: { draft: 1 } },
        { generation: 1, epoch: 2, data: { draft: 2 } },
      ])
      expect(await work.record(task)).toMatchObject({ state: 'completed', generation: 1, epoch: 2 })
      expect(await work.claims(task)).toHaveLength(1)
    })
  })
})

/** Decided one after the other in one transaction, whatever the combiner would do. */
const inOneBatch = (work: Work, task: Task, commands: readonly TaskCommand[]) => {
  const requests = commands.map((command): Request => {
    const { id: taskId, uuid } = task
    return { on: 'task', actor: 'key:test', taskId, uuid, command }
  })
  return work.store.transact(
    work.workspace,
    batchStep(readSetOf(requests), (view) => {
      const { replies, changes } = decideAll(view, requests)
      return { answer: replies, changes }
    }),
  )
}
