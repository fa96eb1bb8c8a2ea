import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { pause, register } from '../../support/agents.ts'
import { counting, earlier, NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import type { Reply } from '../../support/replies.ts'
import {
  atGeneration,
  granted,
  grantedTasks,
  type Hold,
  holder,
  LONG_LEASE_MS,
  newTask,
  outcome,
  type Task,
  type Work,
} from '../../support/tasks.ts'

/** A worker submits its result and gets its next task in one transaction. */

const alpha = holder('alpha')
const beta = holder('beta')
const nextIn = (reply: Reply) => (reply as { next?: unknown }).next as Reply
/** The task that came with the reply. */
const given = (reply: Reply) => grantedTasks(nextIn(reply))[0]!
const tasksIn = (work: Work, count: number) => work.createAll(Array.from({ length: count }, () => newTask()))
const stateOf = async (work: Work, task: Task) => (await work.record(task)).state

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('a result and the request for the next task', () => {
    test('are one transaction, and give what two requests give', async () => {
      const work = await nodes.work()
      const [first, second, third] = await tasksIn(work, 3)
      const counted = counting(work.store)
      const combined = work.through(new Combiner(counted))
      const hold = granted(await work.claim(first!, alpha))
      const reply = await combined.submitThenNext(first!, hold)
      expect(counted.transactions).toBe(1)
      expect(reply).toMatchObject({ ok: true, reason: 'ACCEPTED', done: { record: { state: 'completed' } } })
      expect(given(reply)).toMatchObject({ id: second!.id, generation: 1, session: alpha.session })
      expect(await stateOf(work, third!)).toBe('queued')
      const types = (await work.events()).map(({ type }) => type)
      expect(types.slice(-2)).toEqual(['task_completed', 'task_assigned'])
      expect(outcome(await work.submit(second!, atGeneration(alpha, 1)))).toBe('ACCEPTED')
      expect((await work.store.counts(work.workspace)).activeClaims).toBe(0)
    })

    test('hand out nothing when the result is refused', async () => {
      const work = await nodes.work()
      const [first, second] = await tasksIn(work, 2)
      const hold = granted(await work.claim(first!, alpha))
      expect(outcome(await work.submitThenNext(first!, { ...hold, session: 'another' }))).toBe(
        'SESSION_MISMATCH',
      )
      await work.release(first!, hold)
      granted(await work.claim(first!, beta))
      expect(await work.submitThenNext(first!, hold)).toMatchObject({
        code: 'STALE_GENERATION',
        workLost: true,
      })
      expect(outcome(await work.submitThenNext({ id: 999_999, uuid: first!.uuid }, hold))).toBe('NOT_FOUND')
      expect(await work.record(second!)).toMatchObject({ state: 'queued', generation: 0 })
    })

    test('are accepted when no task is left', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const reply = await work.submitThenNext(task, granted(await work.claim(task, alpha)))
      expect(outcome(reply)).toBe('ACCEPTED')
      expect(nextIn(reply)).toMatchObject({ reason: 'NO_WORK', claims: [] })
    })

    test('do not hand out what only this result makes ready', async () => {
      const work = await nodes.work()
      const first = await work.create()
      const after = await work.create({}, [first])
      const reply = await work.submitThenNext(first, granted(await work.claim(first, alpha)))
      expect(outcome(nextIn(reply))).toBe('NO_WORK')
      expect(await stateOf(work, after)).toBe('pending')
    })

    test('need no second place of a worker, and no second claim of the workspace', async () => {
      const work = await nodes.work({ maxConcurrentClaims: 1 })
      const [first, second] = await tasksIn(work, 3)
      await work.register(alpha.session, 1)
      const hold = granted(await work.claim(first!, alpha))
      expect(outcome(await work.next(alpha)), 'its only place is taken').toMatch(/NO_CAPACITY|LIMIT_REACHED/)
      const reply = await work.submitThenNext(first!, hold)
      expect(given(reply).id).toBe(second!.id)
      expect(outcome(await work.next(alpha)), 'it is taken again').toMatch(/NO_CAPACITY|LIMIT_REACHED/)
    })

    test('do not exceed the capacity of a worker that holds more', async () => {
      const work = await nodes.work()
      const [first, second, third] = await tasksIn(work, 3)
      await work.register(alpha.session, 2)
      const hold = granted(await work.claim(first!, alpha))
      granted(await work.claim(second!, alpha))
      await work.register(alpha.session, 1)
      const reply = await work.submitThenNext(first!, hold)
      expect(outcome(reply)).toBe('ACCEPTED')
      expect(outcome(nextIn(reply))).toBe('NO_CAPACITY')
      expect(await stateOf(work, third!)).toBe('queued')
    })

    test('keep the result of a worker that may not claim any more', async () => {
      const work = await nodes.work()
      const [first, second] = await tasksIn(work, 2)
      await work.register(alpha.session, 1)
      const hold = granted(await work.claim(first!, alpha))
      await work.session(alpha.session, { kind: 'drain' })
      const reply = await work.submitThenNext(first!, hold)
      expect(outcome(reply)).toBe('ACCEPTED')
      expect(outcome(nextIn(reply))).toBe('WORKER_DRAINING')
      expect(await stateOf(work, first!)).toBe('completed')
      expect(await stateOf(work, second!)).toBe('queued')
    })

    test('use the place on a full track that the result frees, and leave none for others', async () => {
      const work = await nodes.work()
      const projectId = await work.store.project(work.workspace, 'shop')
      await work.store.setTrack(work.workspace, projectId, 'A', 1)
      const [first, second, third] = await work.createAll(
        [1, 2, 3].map((n) => newTask({ key: `A-00${n}-x`, projectId })),
      )
      const hold = granted(await work.claim(first!, alpha))
      const replies = await Promise.all([work.submitThenNext(first!, hold), work.next(beta)])
      expect(given(replies[0]!).id).toBe(second!.id)
      expect(grantedTasks(replies[1]!)).toEqual([])
      expect(await stateOf(work, third!)).toBe('queued')
    })

    test('have one answer under an idempotency key: the same claim, with the time that is left', async () => {
      const work = await nodes.work()
      const [first, , third] = await tasksIn(work, 3)
      const hold = granted(await work.claim(first!, alpha))
      const keyed = work.under('once')
      const reply = await keyed.submitThenNext(first!, hold)
      const aMinuteLater = work.through(new Combiner(earlier(work.store, -60_000))).under('once')
      const again = await aMinuteLater.submitThenNext(first!, hold)
      expect(given(again)).toEqual(given(reply))
      expect(nextIn(again)).toMatchObject({ claims: [{ claim: { generation: 1 } }] })
      const [{ claim }] = (nextIn(again) as unknown as { claims: [{ claim: { ttlMs: number } }] }).claims
      expect(claim.ttlMs).toBeLessThanOrEqual(LONG_LEASE_MS - 60_000)
      expect(await stateOf(work, third!)).toBe('queued')
      expect(outcome(await keyed.submitThenNext(first!, hold, 1_000))).toBe('IDEMPOTENCY_KEY_REUSED')
    })

    test('without a key claim again when repeated, as a repeated request for the next task does', async () => {
      const work = await nodes.work()
      const [first, second, third] = await tasksIn(work, 3)
      const hold = granted(await work.claim(first!, alpha))
      expect(given(await work.submitThenNext(first!, hold)).id).toBe(second!.id)
      const again = await work.submitThenNext(first!, hold)
      expect(outcome(again)).toBe('ACCEPTED')
      expect(given(again).id).toBe(third!.id)
      expect((await work.events()).filter(({ type }) => type === 'task_completed')).toHaveLength(1)
    })

    test.each([{}, NO_COMPANY])(
      'do every task once, with callers on two nodes racing for it (%o)',
      async (options) => {
        const pair = await nodes.pair({ maxConcurrentClaims: 1_000 }, options)
        const tasks = await tasksIn(pair[0], 120)
        const done: number[] = []
        const workOff = async (n: number) => {
          const by = holder(`agent-${n}`)
          const work = pair[n % 2]!
          let [task] = grantedTasks(await work.next(by))
          while (task) {
            const hold: Hold = atGeneration(by, task.generation)
            const reply: Reply = await work.submitThenNext(task, hold)
            expect(outcome(reply)).toBe('ACCEPTED')
            done.push(task.id)
            task = given(reply)
          }
        }
        await Promise.all(Array.from({ length: 12 }, (_, n) => workOff(n)))
        expect(done.toSorted((a, b) => a - b)).toEqual(tasks.map(({ id }) => id).toSorted((a, b) => a - b))
        expect(await pair[1].store.counts(pair[1].workspace)).toMatchObject({ activeClaims: 0 })
      },
    )
  })

  describe.runIf(kind === 'memory' || kind === 'postgres')('an agent with a limit of one task', () => {
    test('gets its next one with its result, and none once it is paused', async () => {
      const work = await nodes.work()
      const [first, second] = await tasksIn(work, 3)
      await register(work, 'alpha', { maxConcurrentTasks: 1 })
      const hold = granted(await work.claim(first!, alpha))
      expect(outcome(await work.next(alpha))).toBe('NO_CAPACITY')
      const reply = await work.submitThenNext(first!, hold)
      expect(given(reply).id).toBe(second!.id)
      await pause(work, 'alpha')
      const last = await work.submitThenNext(second!, atGeneration(alpha, 1))
      expect(outcome(last)).toBe('ACCEPTED')
      expect(outcome(nextIn(last))).toBe('AGENT_PAUSED')
    })
  })
})
