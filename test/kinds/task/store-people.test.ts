import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { watchOf } from '../../../src/kernel/store/watch-column.ts'
import type { Budget } from '../../../src/pure/budget.ts'
import { earlier, storeKinds, useNodes } from '../../support/nodes.ts'
import {
  granted,
  grantedTasks,
  type Hold,
  holder,
  outcome,
  submissionOf,
  type Task,
  type Work,
} from '../../support/tasks.ts'

/** Pipeline of holders, and what people decide about tasks: the same on every store. */

const alpha = holder('alpha')
const beta = holder('beta')
const ELEVEN_MINUTES = 11 * 60_000

const ask = (work: Work, task: Task, { agent, session, generation }: Hold, options: string[] = []) =>
  work.command(
    task,
    { kind: 'ask', fence: { session, generation }, question: 'Which database?', options },
    `agent:${agent}`,
  )
const answer = (work: Work, task: Task, text: string, generation?: number) =>
  work.command(task, { kind: 'answer', answer: text, generation })

async function asked(work: Work, options: string[] = [], more: Parameters<Work['create']>[0] = {}) {
  const task = await work.create(more)
  const hold = granted(await work.claim(task, alpha))
  expect(outcome(await ask(work, task, hold, options))).toBe('ASKED')
  return { task, hold }
}

/** A result of another task, to be judged. */
async function somethingJudged(work: Work) {
  const judged = await work.create({ verification: 'baton' })
  const { id, uuid } = judged
  await work.submit(judged, granted(await work.claim(judged, beta)))
  return { taskId: id, uuid, generation: 1, notAgents: [] }
}

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('a question', () => {
    test('ends the claim, spends no attempt, and is kept with its options', async () => {
      const work = await nodes.work()
      const { task } = await asked(work, ['Frankfurt', 'Dublin'])
      expect(await work.record(task)).toMatchObject({
        state: 'awaiting_human',
        attempt: 0,
        generation: 1,
        claimState: 'released',
        dueAt: null,
      })
      expect(await work.claims(task)).toMatchObject([{ generation: 1, endReason: 'NEEDS_HUMAN' }])
      expect(await work.details(task)).toMatchObject({
        question: {
          question: 'Which database?',
          options: ['Frankfurt', 'Dublin'],
          askedBy: 'alpha',
          generation: 1,
          answer: null,
        },
        waitsKind: 'question',
        waitsBecause: 'question',
        waitsSince: expect.any(Number),
      })
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({
        type: 'task_human_review_requested',
        payload: { reason: 'question', question: 'Which database?', options: ['Frankfurt', 'Dublin'] },
      })
    })

    test('is refused behind a wrong fence, and of a verification', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = granted(await work.claim(task, alpha))
      expect(outcome(await ask(work, task, { ...hold, generation: 2 }))).toBe('FUTURE_GENERATION')
      expect(outcome(await ask(work, task, { ...hold, session: 'another' }))).toBe('SESSION_MISMATCH')
      expect((await work.record(task)).state).toBe('assigned')
      const judging = await work.create({ purpose: 'verification', serves: await somethingJudged(work) })
      const judge = granted(await work.claim(judging, alpha))
      expect(outcome(await ask(work, judging, judge))).toBe('WRONG_STATE')
    })

    test('is answered once: the task is queued, and its next holder has question and answer', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      expect(outcome(await answer(work, task, 'The one in Dublin', 1))).toBe('DONE')
      expect(outcome(await answer(work, task, 'No, the other'))).toBe('WRONG_STATE')
      expect(await work.record(task)).toMatchObject({ state: 'queued', attempt: 0 })
      expect(watchOf(await work.record(task))).toEqual(expect.anything())
      expect(watchOf(await work.record(task))).not.toHaveProperty('asks')
      expect(await work.details(task)).toMatchObject({
        question: { answer: 'The one in Dublin', answeredBy: 'key:test', question: 'Which database?' },
        waitsKind: null,
        waitsSince: null,
        waitsBecause: null,
      })
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({
        type: 'task_answered',
        payload: { question: 'Which database?', answer: 'The one in Dublin' },
      })
      const again = granted(await work.claim(task, alpha))
      expect(again).toMatchObject({ generation: 2, attempt: 1 })
    })

    test('takes no other answer than one of its options', async () => {
      const work = await nodes.work()
      const { task } = await asked(work, ['Frankfurt', 'Dublin'])
      expect(await answer(work, task, 'Paris')).toMatchObject({
        code: 'VALIDATION_FAILED',
        detail: 'answer must be one of: Frankfurt, Dublin.',
      })
      expect((await work.record(task)).state).toBe('awaiting_human')
      expect(outcome(await answer(work, task, 'Dublin'))).toBe('DONE')
    })

    test('of another generation than the one that was seen is not answered', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      expect(await answer(work, task, 'yes', 2)).toMatchObject({
        code: 'STALE_GENERATION',
        currentGeneration: 1,
      })
      expect((await work.record(task)).state).toBe('awaiting_human')
    })

    test('is no result: it is neither approved nor rejected', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      for (const act of [work.approve, work.reject])
        expect(await act(task)).toMatchObject({
          code: 'WRONG_STATE',
          detail: 'The task waits for the answer to a question; there is no result to judge.',
        })
      expect(outcome(await work.retry(task))).toBe('DONE')
      expect(watchOf(await work.record(task))).toBeNull()
      expect(await work.details(task)).toMatchObject({ waitsKind: null })
    })

    test('that nobody asked is not answered', async () => {
      const work = await nodes.work()
      const task = await work.create()
      expect(await answer(work, task, 'yes')).toMatchObject({
        code: 'WRONG_STATE',
        detail: 'The task has no question that waits for an answer.',
      })
      const reviewed = await work.create({ verification: 'human' })
      await work.submit(reviewed, granted(await work.claim(reviewed, alpha)))
      expect(outcome(await answer(work, reviewed, 'yes'))).toBe('WRONG_STATE')
    })

    test('goes with a reset', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      await work.cancel(task)
      await work.reset(task)
      expect(await work.details(task)).toMatchObject({ question: null, waitsKind: null })
      expect(outcome(await answer(work, task, 'late'))).toBe('WRONG_STATE')
    })
  })

  describe('a task that was answered', () => {
    test('is reserved for the agent that asked, and for nobody ten minutes later', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      await answer(work, task, 'yes')
      expect(await work.record(task)).toMatchObject({ onlyAgent: 'alpha', state: 'queued' })
      expect(outcome(await work.claim(task, beta))).toBe('WRONG_AGENT')
      expect(grantedTasks(await work.next(beta))).toEqual([])
      expect(outcome(await work.elapse(task))).toBe('NOTHING_DUE')
      const later = work.through(new Combiner(earlier(work.store, -ELEVEN_MINUTES)))
      expect(outcome(await later.elapse(task))).toBe('MOVED')
      expect(await work.record(task)).toMatchObject({ onlyAgent: null, state: 'queued', dueAt: null })
      expect(grantedTasks(await work.next(beta))).toMatchObject([{ id: task.id }])
    })

    test('is found by upkeep when the reservation is over', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      const before = work.through(new Combiner(earlier(work.store, ELEVEN_MINUTES)))
      await answer(before, task, 'yes')
      const due = await work.store.dueTasks(100, work.workspace)
      expect(due).toMatchObject([{ taskId: task.id }])
    })

    test('is not reserved any more once it was taken, paused or given to another agent', async () => {
      const work = await nodes.work()
      const taken = await asked(work)
      await answer(work, taken.task, 'yes')
      await work.release(taken.task, granted(await work.claim(taken.task, alpha)))
      expect(await work.record(taken.task)).toMatchObject({ onlyAgent: null, dueAt: null })

      const paused = await asked(work)
      await answer(work, paused.task, 'yes')
      await work.pause(paused.task)
      await work.resume(paused.task)
      expect(await work.record(paused.task)).toMatchObject({ onlyAgent: null, state: 'queued', dueAt: null })

      const given = await asked(work)
      await answer(work, given.task, 'yes')
      await work.update(given.task, { onlyAgent: 'beta' })
      expect(await work.record(given.task)).toMatchObject({ onlyAgent: 'beta', dueAt: null })
      const later = work.through(new Combiner(earlier(work.store, -ELEVEN_MINUTES)))
      expect(outcome(await later.elapse(given.task))).toBe('NOTHING_DUE')
      expect((await work.record(given.task)).onlyAgent).toBe('beta')
    })

    test('that is reserved by its creator stays so', async () => {
      const work = await nodes.work()
      const { task } = await asked(work, [], { onlyAgent: 'alpha' })
      await answer(work, task, 'yes')
      expect(await work.record(task)).toMatchObject({ onlyAgent: 'alpha', dueAt: null })
    })

    test('works in the folder of the generation that asked first, and the next attempt in its own', async () => {
      const work = await nodes.work()
      const { task } = await asked(work)
      await answer(work, task, 'yes')
      const second = granted(await work.claim(task, alpha))
      expect((await work.record(task)).continuation).toMatchObject({ goesOn: { generation: 2 } })
      await ask(work, task, second)
      await answer(work, task, 'yes again')
      expect((await work.record(task)).continuation).toMatchObject({ goesOn: { generation: 3 } })
      await work.fail(task, granted(await work.claim(task, alpha)))
      const later = work.through(new Combiner(earlier(work.store, -ELEVEN_MINUTES)))
      const fourth = granted(await later.claim(task, beta))
      expect(fourth.generation).toBe(4)
      expect((await work.record(task)).continuation?.goesOn?.generation).toBe(3)
    })
  })

  describe('a verdict of a person', () => {
    async function submitted(work: Work, verification: 'human' | 'verifier' = 'human') {
      const task = await work.create({ verification })
      const hold = granted(await work.claim(task, alpha))
      await work.submit(task, hold, { n: 1 })
      return { task, digest: (await work.record(task)).resultHash! }
    }

    test('on another result than the one that was seen is refused with what it is now', async () => {
      const work = await nodes.work()
      const { task, digest } = await submitted(work)
      for (const act of ['approve', 'reject'] as const)
        expect(await work.command(task, { kind: act, comment: null, digest: 'other' })).toMatchObject({
          code: 'CHANGED_SINCE',
          taskState: 'awaiting_human',
          currentGeneration: 1,
          resultDigest: digest,
        })
      expect(outcome(await work.command(task, { kind: 'approve', comment: null, digest }))).toBe('DONE')
      expect(await work.command(task, { kind: 'reject', comment: null, digest })).toMatchObject({
        code: 'CHANGED_SINCE',
        taskState: 'completed',
      })
      expect(await work.command(task, { kind: 'reject', comment: null })).toMatchObject({
        code: 'WRONG_STATE',
      })
    })

    test('may come before that of the verifier', async () => {
      const work = await nodes.work()
      const one = await submitted(work, 'verifier')
      expect((await work.record(one.task)).state).toBe('verifying')
      expect(outcome(await work.approve(one.task))).toBe('DONE')
      expect(await work.record(one.task)).toMatchObject({ state: 'completed', dueAt: null })
      expect(await work.results(one.task)).toMatchObject([{ accepted: true }])
      const other = await submitted(work, 'verifier')
      expect(outcome(await work.reject(other.task, 'too short'))).toBe('DONE')
      const again = await work.record(other.task)
      expect(again.state).toBe('awaiting_retry')
      // A person wants it done again now: it does not rest as after a failure.
      expect(again.dueAt).toBeLessThanOrEqual(again.updatedAt)
      expect(await work.results(other.task)).toMatchObject([{ accepted: false, rejection: 'HUMAN_REJECTED' }])
    })

    test('may fail the task for good, whatever attempts are left', async () => {
      const work = await nodes.work()
      const { task } = await submitted(work)
      const reply = await work.command(task, { kind: 'reject', comment: 'wrong path', forGood: true })
      expect(outcome(reply)).toBe('DONE')
      expect(await work.record(task)).toMatchObject({ state: 'failed', resultHash: null })
      expect(await work.details(task)).toMatchObject({
        error: 'wrong path',
        exhausted: null,
        waitsKind: null,
      })
    })
  })

  describe('a person', () => {
    const complete = (work: Work, task: Task, more: { generation?: number } = {}) =>
      work.command(task, {
        kind: 'complete',
        submission: submissionOf('{"by":"hand"}', 'done by hand'),
        comment: 'I did it',
        ...more,
      })

    test('completes a task that nobody has claimed yet, in a generation of its own', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const dependent = await work.create({}, [task])
      expect(outcome(await complete(work, task))).toBe('COMPLETED')
      expect(await work.record(task)).toMatchObject({ state: 'completed', generation: 1, attempt: 0 })
      expect(await work.results(task)).toMatchObject([
        { accepted: true, generation: 1, data: { by: 'hand' }, summary: 'done by hand' },
      ])
      expect(await work.claims(task)).toMatchObject([
        { generation: 1, agent: 'key:test', state: 'released', endReason: 'COMPLETED' },
      ])
      await work.unblock(dependent)
      expect((await work.record(dependent)).state).toBe('queued')
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({
        type: 'task_completed_by_person',
        payload: { comment: 'I did it', workProductRef: expect.stringContaining('gen1') },
      })
      expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
    })

    test('completes a task in place of its holder, whose own result comes too late', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const hold = granted(await work.claim(task, alpha))
      expect(outcome(await complete(work, task, { generation: 2 }))).toBe('STALE_GENERATION')
      expect(outcome(await complete(work, task, { generation: 1 }))).toBe('COMPLETED')
      expect(outcome(await work.submit(task, hold, { by: 'alpha' }))).toBe('STALE_GENERATION')
      expect(await work.claims(task)).toMatchObject([
        { generation: 1, state: 'superseded', endReason: 'SUPERSEDED' },
        { generation: 2, state: 'released' },
      ])
      expect(await work.results(task)).toMatchObject([
        { generation: 2, accepted: true },
        { generation: 1, accepted: false },
      ])
      expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
    })

    test('replaces a result that waits for a verdict, so that each epoch has one', async () => {
      const work = await nodes.work()
      const task = await work.create({ verification: 'human' })
      await work.submit(task, granted(await work.claim(task, alpha)), { n: 1 })
      expect(outcome(await complete(work, task))).toBe('COMPLETED')
      const results = await work.results(task)
      expect(results.filter(({ accepted }) => accepted !== false)).toMatchObject([{ generation: 2 }])
      expect(results.find(({ generation }) => generation === 1)).toMatchObject({ rejection: 'REPLACED' })
      expect(outcome(await complete(work, task))).toBe('WRONG_STATE')
      await work.reset(task)
      expect(outcome(await complete(work, task))).toBe('COMPLETED')
      expect(await work.record(task)).toMatchObject({ epoch: 2, generation: 3 })
    })

    test('gives no verdict by completing a verification', async () => {
      const work = await nodes.work()
      const task = await work.create({ purpose: 'verification', serves: await somethingJudged(work) })
      expect(outcome(await complete(work, task))).toBe('WRONG_STATE')
    })

    test('skips a task, also one that is held, and its dependents see it skipped', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const dependent = await work.create({}, [task])
      const hold = granted(await work.claim(task, alpha))
      expect(outcome(await work.command(task, { kind: 'skip', reason: 'not needed' }))).toBe('DONE')
      expect(await work.record(task)).toMatchObject({ state: 'skipped', claimState: 'superseded' })
      expect((await work.eventsOf(task)).at(-1)).toMatchObject({ payload: { because: 'not needed' } })
      await work.unblock(dependent)
      expect((await work.record(dependent)).state).toBe('skipped')
      expect(outcome(await work.submit(task, hold))).toBe('NO_CLAIM')
      expect(outcome(await work.command(task, { kind: 'skip', reason: 'again' }))).toBe('WRONG_STATE')
    })
  })

  // On MySQL, tasks have no plans.
  describe.skipIf(kind === 'mysql')('another budget for a task', () => {
    const spent = { inputTokens: 900, cachedInputTokens: null, outputTokens: 100, costUsd: '0.5' }
    const change = (budget: Budget | null, version: number) => ({
      budget: { budget, plan: { budget }, spent, version },
    })

    test('that is more than was spent lets it continue where it stood; one that is not is refused', async () => {
      const work = await nodes.work()
      const task = await work.create()
      await work.fail(task, granted(await work.claim(task, alpha)), 'budget', 'no money left')
      const { version } = await work.record(task)
      for (const used of [{ maxTokens: 1_000 }, { maxUsd: '0.5' }, { maxTokens: 2_000, maxUsd: '0.1' }])
        expect(outcome(await work.update(task, change(used, version)))).toBe('VALIDATION_FAILED')
      expect(await work.record(task)).toMatchObject({ state: 'budget_exceeded', version })
      const budget = { maxTokens: 1_001, maxUsd: '0.51' }
      expect(outcome(await work.update(task, change(budget, version)))).toBe('DONE')
      expect(await work.record(task)).toMatchObject({
        ...{
          state: 'queued',
          onlyAgent: 'alpha',
          attempt: 0,
          continuation: { goesOn: { generation: 2 } },
        },
      })
      expect(await work.details(task)).toMatchObject({ plan: { budget }, waitsKind: null })
      const events = (await work.eventsOf(task)).slice(-3)
      expect(events).toMatchObject([
        { type: 'task_updated', payload: { fields: ['budget'] } },
        { type: 'inbox_closed', payload: { id: `task:${task.uuid}:1`, because: 'task_unpaused' } },
        { type: 'task_unpaused', from: 'budget_exceeded' },
      ])
    })

    test('is refused when the task has changed since what its plan says was read', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const { version } = await work.record(task)
      await work.update(task, { title: 'another' })
      const reply = await work.update(task, change(null, version))
      expect(reply).toMatchObject({ code: 'VERSION_MISMATCH', shouldRetry: true })
      expect(outcome(await work.update(task, change(null, version + 1)))).toBe('DONE')
      expect((await work.record(task)).state).toBe('queued')
    })
  })

  describe('what waits for a person is noted while it does', () => {
    test('reviews, budget stops and dead letters', async () => {
      const work = await nodes.work()
      const waits = async (task: Task) => {
        const { waitsKind, waitsBecause } = await work.details(task)
        return [waitsKind ?? null, waitsBecause ?? null]
      }
      const reviewed = await work.create({ verification: 'human' })
      await work.submit(reviewed, granted(await work.claim(reviewed, alpha)))
      expect(await waits(reviewed)).toEqual(['review', 'The task requires review.'])
      await work.approve(reviewed)
      expect(await waits(reviewed)).toEqual([null, null])

      const spent = await work.create()
      await work.fail(spent, granted(await work.claim(spent, alpha)), 'budget', 'no money left')
      expect(await waits(spent)).toEqual(['budget', 'no money left'])
      await work.resume(spent)
      expect(await waits(spent)).toEqual([null, null])

      const dead = await work.create({ maxRetries: 0 })
      await work.fail(dead, granted(await work.claim(dead, alpha)), 'quality', 'wrong')
      expect(await waits(dead)).toEqual(['dead_letter', 'wrong'])
      await work.retry(dead)
      expect(await waits(dead)).toEqual([null, null])
      await work.fail(dead, granted(await work.claim(dead, alpha)), 'quality', 'wrong')
      await work.archive(dead)
      expect(await waits(dead)).toEqual([null, null])

      const invalid = await work.create()
      await work.fail(invalid, granted(await work.claim(invalid, alpha)), 'invalid', 'nonsense')
      expect(await waits(invalid), 'failed, but not for lack of attempts').toEqual([null, null])
    })
  })
})
