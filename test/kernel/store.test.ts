import { describe, expect, test } from 'vitest'
import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import { type Request, readSetOf } from '../../src/kernel/batch/requests.ts'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { uuidCarrying } from '../../src/pure/ids.ts'
import {
  batchStep,
  databaseUrlOf,
  NO_COMPANY,
  type StoreKind,
  storeKinds,
  superuser,
  until,
  useNodes,
} from '../support/nodes.ts'
import { atGeneration, granted, holder, newTask, outcome, tally, Work } from '../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')

describe.each(storeKinds)('on %s', (kind: StoreKind) => {
  const nodes = useNodes(kind)

  /** Everything that can be read about these tasks, and the last seq of the log. */
  async function everything(work: Work, tasks: readonly { id: number; uuid: string }[]) {
    const each = tasks.map(async (task) => ({
      task: await work.store.task(work.workspace, task.id),
      claims: await work.claims(task),
      results: await work.results(task),
    }))
    return { tasks: await Promise.all(each), events: await work.events() }
  }

  describe('a transaction', () => {
    test('writes record, claim, result and events together', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const before = (await work.events()).at(-1)!.seq
      const hold = granted(await work.claim(task, alpha))
      await work.submit(task, hold, { answer: 42 })

      expect(await work.record(task)).toMatchObject({
        state: 'completed',
        generation: 1,
        claimState: 'released',
      })
      expect(await work.claims(task)).toMatchObject([
        { generation: 1, state: 'released', endReason: 'COMPLETED' },
      ])
      expect(await work.results(task)).toMatchObject([
        { generation: 1, accepted: true, data: { answer: 42 } },
      ])
      expect((await work.events(before)).map(({ seq, type }) => [seq, type])).toEqual([
        [before + 1, 'task_assigned'],
        [before + 2, 'task_completed'],
      ])
    })

    test('writes nothing when the decision throws', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const before = await everything(work, [task])
      const claim: Request = {
        on: 'task',
        actor: 'agent:alpha',
        taskId: task.id,
        uuid: task.uuid,
        command: { kind: 'claim', ...alpha, leaseMs: 60_000, capabilities: [] },
      }
      const failing = work.store.transact(
        work.workspace,
        batchStep(readSetOf([claim]), (view) => {
          decideAll(view, [claim])
          throw new Error('decided, then thrown')
        }),
      )
      const error = await failing.catch((error: unknown) => error)
      expect(error).toMatchObject({ message: 'decided, then thrown' })
      expect(error, 'a bug of ours, not of the connection to the store').not.toBeInstanceOf(StoreUnavailable)
      expect(await everything(work, [task])).toEqual(before)
    })

    test('writes nothing when the store refuses a part of it', async () => {
      const work = await nodes.work({ maxConcurrentClaims: 1 })
      const task = await work.create()
      const hold = granted(await work.claim(task, alpha))
      const before = await everything(work, [task])
      await expect(work.submitText(task, hold, '{"this is": no JSON')).rejects.toThrow()
      expect(await everything(work, [task])).toEqual(before)
      expect(outcome(await work.submit(task, hold)), 'the task continues').toBe('ACCEPTED')
    })

    test('that failed leaves the count of active claims right', async () => {
      const work = await nodes.work({ maxConcurrentClaims: 2 })
      const [held, second, third] = await work.createAll([newTask(), newTask(), newTask()])
      const hold = granted(await work.claim(held!, alpha))
      await expect(work.submitText(held!, hold, 'no JSON')).rejects.toThrow()
      await expect(work.claim(second!, alpha, { leaseMs: Number.NaN })).rejects.toThrow()
      // One claim is still held, so of two more exactly one fits.
      expect(outcome(await work.claim(second!, alpha))).toBe('GRANTED')
      expect(outcome(await work.claim(third!, alpha))).toBe('LIMIT_REACHED')
    })

    test('is visible to the next reader as soon as it is answered', async () => {
      const [here, there] = await nodes.pair()
      const task = await here.create()
      for (let generation = 1; generation <= 20; generation++) {
        const hold = granted(await here.claim(task, alpha))
        expect(await there.record(task)).toMatchObject({ generation, state: 'assigned' })
        await here.release(task, hold)
        expect((await there.claims(task)).at(-1)).toMatchObject({ generation, state: 'released' })
      }
    })

    test('of a workspace that does not exist is refused', async () => {
      const work = new Work(nodes.store(), 987_654)
      await expect(work.create()).rejects.toThrow('987654')
    })
  })

  describe('the log', () => {
    test('is gapless and in commit order under 200 concurrent requests on two nodes', async () => {
      const [here, there] = await nodes.pair({ maxConcurrentClaims: 1000 }, NO_COMPANY)
      const start = (await here.events()).at(-1)?.seq ?? 0
      const tasks = await here.createAll(Array.from({ length: 100 }, () => newTask()))
      let working = true
      const requests = tasks.flatMap((task, i) => {
        const node = i % 2 === 0 ? here : there
        return [node.claim(task, alpha), node.submit(task, atGeneration(beta, 7))]
      })
      const allDone = Promise.all(requests).finally(() => (working = false))

      // A reader that has seen event n must have missed nothing below n, at any moment.
      const seen: number[] = []
      for (let last = start; ; ) {
        // Memory answers at once; without this turn of the event loop the writers would never get theirs.
        await new Promise((resolve) => setImmediate(resolve))
        const finished = !working
        const page = await there.store.events(there.workspace, last, 1000)
        for (const { seq } of page) expect(seq).toBe(++last)
        seen.push(...page.map(({ seq }) => seq))
        if (finished && page.length === 0) break
      }
      await allDone
      expect(seen).toHaveLength(tasks.length * 3)
    })

    test('is read in pages, each after the last event seen', async () => {
      const work = await nodes.work()
      const start = (await work.events()).at(-1)?.seq ?? 0
      await work.createAll(Array.from({ length: 5 }, () => newTask()))
      const page = await work.store.events(work.workspace, start + 1, 3)
      expect(page.map(({ seq }) => seq)).toEqual([start + 2, start + 3, start + 4])
      expect(await nodes.store().lastSeq(work.workspace)).toBe((await work.events()).at(-1)!.seq)
    })

    test('records for each event what, which task, by whom and when', async () => {
      const work = await nodes.work()
      const task = await work.create({ title: 'Fix login', priority: 8 })
      const claim = await work.claim(task, alpha)
      const [created, assigned] = await work.eventsOf(task)
      expect(created).toMatchObject({
        type: 'task_created',
        generation: 0,
        from: null,
        to: 'queued',
        actor: 'key:test',
        payload: { title: 'Fix login', taskType: 'coding', priority: 8, dependsOn: [] },
        at: task.createdAt,
      })
      expect(assigned).toMatchObject({
        type: 'task_assigned',
        generation: 1,
        from: 'queued',
        to: 'assigned',
        actor: 'agent:alpha',
        payload: { ...alpha, leaseMs: 300_000, attempt: 1, previousState: null },
      })
      expect(claim).toMatchObject({
        claim: { leaseExpiresAt: new Date(assigned!.at + 300_000).toISOString(), ttlMs: 300_000 },
      })
    })
  })

  describe('a workspace', () => {
    test('does not find the tasks of another', async () => {
      const [ours, theirs] = [await nodes.work(), await nodes.work()]
      const task = await ours.create()
      const asked = await Promise.all([
        theirs.claim(task, alpha),
        theirs.renew(task, atGeneration(alpha, 1)),
        theirs.submit(task, atGeneration(alpha, 1)),
        theirs.cancel(task),
        theirs.elapse(task),
      ])
      expect(asked.map(outcome)).toEqual(Array(5).fill('NOT_FOUND'))
      expect(await theirs.store.task(theirs.workspace, task.id)).toBeNull()
      expect(await theirs.claims(task)).toEqual([])
      expect(await theirs.results(task)).toEqual([])
      expect((await theirs.events()).filter(({ taskId }) => taskId === task.id)).toEqual([])
      expect(await ours.record(task)).toMatchObject({ state: 'queued', generation: 0, version: 1 })
    })

    test('does not hand out the tasks of another', async () => {
      const [ours, theirs] = [await nodes.work(), await nodes.work()]
      await ours.create()
      expect(await theirs.next(alpha)).toMatchObject({ ok: true, claims: [] })
    })

    test('has idempotency keys of its own', async () => {
      const [ours, theirs] = [await nodes.work(), await nodes.work()]
      const mine = await ours.under('key').create({ title: 'ours' })
      const other = await theirs.under('key').create({ title: 'theirs' })
      expect(other.uuid).not.toBe(mine.uuid)
    })

    test('uses a task key once, and leaves it free for other workspaces', async () => {
      const [ours, theirs] = [await nodes.work(), await nodes.work()]
      const keyed = newTask({ key: 'B-003-implement-dashboard' })
      expect(outcome(await ours.tryCreate([keyed]))).toBe('CREATED')
      expect(outcome(await theirs.tryCreate([keyed]))).toBe('CREATED')
      const before = (await ours.events()).length
      expect(outcome(await ours.tryCreate([newTask(), keyed]))).toBe('ALREADY_EXISTS')
      const twice = newTask({ key: 'B-004-export' })
      expect(outcome(await ours.tryCreate([twice, twice]))).toBe('ALREADY_EXISTS')
      expect((await ours.events()).length, 'all of a request or nothing').toBe(before)
    })

    test('uses a task key once when requests race for it, in a batch or on two nodes', async () => {
      for (const options of [{}, NO_COMPANY]) {
        const [here, there] = await nodes.pair({}, options)
        const asked = Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? here : there).tryCreate([newTask({ key: 'B-003-implement-dashboard' })]),
        )
        expect(tally(await Promise.all(asked))).toEqual({ CREATED: 1, ALREADY_EXISTS: 19 })
      }
    })

    test('finds a task only under its whole UUID, not under the number inside it', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const guessed = { id: task.id, uuid: uuidCarrying(task.id, task.createdAt + 1, 0) }
      expect(outcome(await work.claim(guessed, alpha))).toBe('NOT_FOUND')
    })
  })
})

describe('the clock is read after the lock', () => {
  const nodes = useNodes('postgres')

  test('on postgres: a renewal that waited for the row past the end of its lease is ALREADY_EXPIRED', async () => {
    const work = await nodes.work()
    const url = databaseUrlOf(work.store)
    await superuser(url, async (blocker) => {
      await superuser(url, async (watcher) => {
        for (let leaseMs = 300; ; leaseMs *= 2) {
          const task = await work.create()
          const hold = granted(await work.claim(task, alpha, { leaseMs }))
          await blocker.query('begin')
          await blocker.query('select 1 from baton.tasks where id = $1 for update', [task.id])
          const renewal = work.renew(task, hold)
          const waiting = await until(async () => {
            const { rows } = await watcher.query<{ in_time: boolean }>(
              `select a.xact_start < t.lease_expires_at as in_time from pg_stat_activity a, baton.tasks t
                where a.application_name = 'baton' and a.datname = current_database()
                  and a.wait_event_type = 'Lock' and t.id = $1`,
              [task.id],
            )
            return rows[0]
          })
          await until(async () => {
            const over = 'select clock_timestamp() >= lease_expires_at as over from baton.tasks where id = $1'
            return (await watcher.query<{ over: boolean }>(over, [task.id])).rows[0]!.over
          })
          await blocker.query('commit')
          expect(outcome(await renewal)).toBe('ALREADY_EXPIRED')
          // Only a renewal that began in time shows anything; on a slow machine use a longer lease.
          if (waiting.in_time) break
        }
      })
    })
  })

  test('in memory: a renewal that waited past the end of its lease is ALREADY_EXPIRED', async () => {
    let now = 1_000_000
    let letCommit: () => void = () => undefined
    let hold = false
    const store = new MemoryStore({
      now: () => now,
      pause: async (where) => {
        if (hold && where === 'before commit') await new Promise<void>((resolve) => (letCommit = resolve))
      },
    })
    store.addWorkspace(1)
    const work = new Work(store, 1)
    const task = await work.create()
    const held = granted(await work.claim(task, alpha, { leaseMs: 1000 }))
    hold = true
    const other = new Work(store, 1).update(task, { priority: 9 })
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const renewal = new Work(store, 1).renew(task, held)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    hold = false
    now += 1000
    letCommit()
    expect(outcome(await other)).toBe('DONE')
    expect(outcome(await renewal)).toBe('ALREADY_EXPIRED')
  })
})
