import { describe, expect, test } from 'vitest'
import { missedTasks } from '../../support/missed-tasks.ts'
import { NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import { merge, mergeOf, partsOf } from '../../support/parts.ts'
import { promotion, rejectedResult } from '../../support/rejected.ts'
import type { Reply } from '../../support/replies.ts'
import { rounds } from '../../support/rounds.ts'
import { granted, holder, newTask, outcome, type Task, tally, type Work } from '../../support/tasks.ts'
import { ago, later } from '../../support/times.ts'

const alpha = holder('alpha')
const beta = holder('beta')
const MINUTE = 60_000
const roomy = { maxConcurrentClaims: 1_000 }
const complete = async (work: Work, task: Task, result: unknown = 'done') =>
  work.submit(task, granted(await work.claim(task, alpha)), result)
const giveUp = async (work: Work, task: Task) =>
  work.fail(task, granted(await work.claim(task, alpha)), 'invalid')
const known = (reply: Reply) => (reply as Reply & { existing?: boolean[] }).existing

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('a request', () => {
    test('creates tasks that depend on each other, and every node sees the dependencies', async () => {
      const [here, there] = await nodes.pair()
      const upstream = await here.create()
      const [last, first, middle] = await here.createAll([
        newTask({ dependsOnNew: [1, 2] }),
        newTask(),
        { ...newTask({}, [upstream]), dependsOnNew: [1] },
      ])
      expect([first, middle, last].map((task) => task!.state)).toEqual(['queued', 'pending', 'pending'])
      const waitsFor = async (task: Task) => (await there.details(task)).dependsOn.toSorted()
      expect(await waitsFor(last!)).toEqual([first!.uuid, middle!.uuid].toSorted())
      expect(await waitsFor(middle!)).toEqual([first!.uuid, upstream.uuid].toSorted())
      for (const task of [first!, upstream]) await complete(there, task)
      await there.unblock(middle!)
      expect(await here.record(middle!)).toMatchObject({ state: 'queued', blocked: false })
    })

    test('with a dependency cycle creates nothing', async () => {
      const work = await nodes.work()
      const before = await work.events()
      const reply = await work.tryCreate([
        newTask({ key: 'A-001-x', unique: { key: 'k', bodyHash: 'a' } }),
        newTask({ dependsOnNew: [2] }),
        newTask({ dependsOnNew: [1] }),
      ])
      expect(outcome(reply)).toBe('VALIDATION_FAILED')
      expect(await work.events()).toEqual(before)
      const again = await work.tryCreate([newTask({ key: 'A-001-x', unique: { key: 'k', bodyHash: 'b' } })])
      expect(known(again), 'and it uses no key').toEqual([false])
    })

    test('may name tasks that are created once, however many nodes request them at once', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const ask = () => [
        newTask({ title: 'new' }),
        newTask({ title: 'once', unique: { key: 'k', bodyHash: 'a' } }),
      ]
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, i) => (i % 2 ? here : there).tryCreate(ask())),
      )
      expect(tally(replies)).toEqual({ CREATED: 10 })
      expect(replies.filter((reply) => known(reply)![1] === false)).toHaveLength(1)
      expect(new Set(replies.map((reply) => (reply.records as Task[])[1]!.uuid)).size).toBe(1)
      expect(await here.store.tasks(here.workspace, {}, 50)).toHaveLength(11)
      const other = [newTask(), newTask({ title: 'else', unique: { key: 'k', bodyHash: 'b' } })]
      expect(outcome(await there.tryCreate(other))).toBe('IDEMPOTENCY_KEY_REUSED')
      const elsewhere = await nodes.work()
      expect(known(await elsewhere.tryCreate(ask())), 'a key is its workspace’s own').toEqual([false, false])
    })
  })

  describe('a task that is divided', () => {
    async function divided(count = 2, mode: 'none' | 'task' = 'none') {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      const parent = await here.create()
      const parts = await there.createAll(partsOf(parent, count, { merge: mode }))
      return { here, there, parent, parts }
    }

    test('knows its parts, and they know it, on every node', async () => {
      const { here, there, parent, parts } = await divided()
      expect(await here.record(parent)).toMatchObject({
        state: 'pending',
        blocked: true,
        merge: 'object',
        rank: null,
      })
      for (const part of parts) {
        expect(await here.record(part)).toMatchObject({ parentId: parent.id, state: 'queued' })
        expect((await there.details(part)).parent).toBe(parent.uuid)
      }
      expect((await there.details(parent)).dependsOn.toSorted()).toEqual(
        parts.map(({ uuid }) => uuid).toSorted(),
      )
    })

    test('is merged into one result with a generation of its own', async () => {
      const { here, there, parent, parts } = await divided()
      for (const [i, part] of parts.entries()) await complete(i % 2 ? here : there, part, { n: i })
      expect(outcome(await merge(there, parent, parts))).toBe('MERGED')
      expect(await here.record(parent)).toMatchObject({
        state: 'completed',
        generation: 1,
        claimState: 'released',
      })
      expect(await here.claims(parent)).toMatchObject([
        { generation: 1, state: 'released', endReason: 'MERGED' },
      ])
      expect(await here.results(parent)).toMatchObject([
        { accepted: true, data: { parts: [{ n: 0 }, { n: 1 }] } },
      ])
      expect((await here.store.counts(here.workspace)).activeClaims).toBe(0)
      await here.reset(parent)
      expect(outcome(await merge(there, parent, parts))).toBe('MERGED')
      expect((await there.claims(parent)).map(({ generation }) => generation)).toEqual([1, 2])
    })

    test('is merged from parts that are unchanged since they were read, or not at all, while a part is reset', async () => {
      for (let round = 0; round < rounds(3, 8); round++) {
        const { here, there, parent, parts } = await divided()
        for (const part of parts) await complete(here, part)
        const read = await mergeOf(here, parent, parts)
        const [merged, reset] = await Promise.all([here.command(parent, read), there.reset(parts[1]!)])
        expect(outcome(reset)).toBe('DONE')
        const events = await here.events()
        const seq = (type: string) => events.find((event) => event.type === type)?.seq ?? Infinity
        const mergedFirst = seq('task_merged') < seq('task_reset')
        expect(outcome(merged)).toBe(mergedFirst ? 'MERGED' : 'NOTHING_DUE')
        expect((await there.record(parent)).state).toBe(mergedFirst ? 'completed' : 'pending')
      }
    })

    test('is merged once, by the first node', async () => {
      const { here, there, parent, parts } = await divided()
      for (const part of parts) await complete(here, part)
      const read = await mergeOf(here, parent, parts)
      const tries = Array.from({ length: 6 }, (_, i) => (i % 2 ? here : there).command(parent, read))
      expect(tally(await Promise.all(tries))).toEqual({ MERGED: 1, NOTHING_DUE: 5 })
      expect(await here.results(parent)).toHaveLength(1)
    })

    test('is divided or claimed, never both, while nodes race', async () => {
      for (let round = 0; round < rounds(3, 8); round++) {
        const [here, there] = await nodes.pair(roomy, NO_COMPANY)
        const parent = await here.create()
        const [claim, division] = await Promise.all([
          here.claim(parent, alpha),
          there.tryCreate(partsOf(parent, 2)),
        ])
        expect(claim.ok).not.toBe(division.ok)
        expect(await here.store.tasks(here.workspace, {}, 9)).toHaveLength(claim.ok ? 1 : 3)
        expect((await here.record(parent)).state).toBe(claim.ok ? 'assigned' : 'pending')
      }
    })
  })

  describe('tasks that wait', () => {
    test('for a task are found by it, with its state, until they have counted it', async () => {
      const [here, there] = await nodes.pair(roomy)
      const [one, two] = await here.createAll([newTask(), newTask()])
      const both = await here.create({ triggerRule: 'all_done' }, [one!, two!])
      const second = await here.create({}, [two!])
      const [part] = await here.createAll(partsOf(await here.create(), 1))
      await complete(here, one!)
      const found = async (...of: Task[]) =>
        (
          await there.store.downstreamOf(
            here.workspace,
            of.map(({ id }) => id),
          )
        ).toSorted((a, b) => a.taskId - b.taskId)
      const { workspace: workspaceId } = here
      const onBoth = {
        workspaceId,
        taskId: both.id,
        uuid: both.uuid,
        version: both.version,
        merge: 'none',
        upstream: { rule: 'all_done', waiting: 2, succeeded: 0, failed: 0, other: 0 },
        edges: [
          {
            dependsOn: one!.id,
            uuid: one!.uuid,
            version: (await here.record(one!)).version,
            outcome: 'completed',
          },
        ],
      }
      expect(await found(one!)).toEqual([onBoth])
      expect(await found(one!, one!, both, second), 'each once').toEqual([onBoth])
      expect(await found(two!), 'it has not ended').toEqual([])
      expect(await found(part!), 'counted again').toMatchObject([{ merge: 'object', upstream: null }])
      await giveUp(here, two!)
      expect((await found(one!, two!)).map(({ taskId }) => taskId)).toEqual([both.id, second.id])
      expect((await found(one!, two!))[0]!.edges.map(({ outcome }) => outcome).toSorted()).toEqual([
        'completed',
        'failed',
      ])
      await here.unblock(second)
      expect(
        (await found(two!)).map(({ taskId }) => taskId),
        'what continued waits no more',
      ).toEqual([both.id])
    })

    test('that have not counted what ended are found by a scan, paused ones, too', async () => {
      const [here, there] = await nodes.pair(roomy)
      const [done, failed, open] = await here.createAll([newTask(), newTask(), newTask()])
      const waiting = [
        await here.create({}, [done!]),
        await here.create({}, [failed!, open!]),
        await here.create({}, [open!]),
        await here.create({ runAt: Date.now() + 86_400_000 }, [done!]),
        await here.create({}, [done!]),
      ]
      const parent = await here.create()
      const [part] = await here.createAll(partsOf(parent, 1))
      await here.pause(waiting[4]!)
      await complete(here, done!)
      await complete(here, part!)
      await giveUp(here, failed!)
      const tasks = await missedTasks(there.store, 10_000)
      const forgotten = tasks
        .filter(({ workspaceId }) => workspaceId === here.workspace)
        .map(({ taskId }) => taskId)
      expect(forgotten.toSorted((a, b) => a - b)).toEqual([
        waiting[0]!.id,
        waiting[1]!.id,
        waiting[3]!.id,
        waiting[4]!.id,
        parent.id,
      ])
    })
  })

  test('tasks with something due are found: leases, retries, scheduled times and expiry times', async () => {
    const [here, there] = await nodes.pair(roomy)
    const past = ago(here, 60 * MINUTE)
    const make = async (overrides = {}) => past.create(overrides)
    const leased = await make()
    granted(await past.claim(leased, alpha, { leaseMs: MINUTE }))
    const renewed = await make()
    await ago(here, MINUTE).renew(
      renewed,
      granted(await past.claim(renewed, alpha, { leaseMs: 90 * MINUTE })),
    )
    const retried = await make()
    await past.fail(retried, granted(await past.claim(retried, alpha)))
    const begun = await make({ runAt: Date.now() - MINUTE })
    await make({ runAt: Date.now() + 60 * MINUTE })
    const expired = await make({ expiresAt: Date.now() - MINUTE })
    await make({ expiresAt: Date.now() + 60 * MINUTE })
    const heldOn = await make({ expiresAt: Date.now() - MINUTE })
    granted(await past.claim(heldOn, alpha, { leaseMs: 120 * MINUTE }))
    const verified = await make({ verification: 'verifier' })
    await past.submit(verified, granted(await past.claim(verified, alpha)))
    const due = async () =>
      (await there.store.dueTasks(10_000))
        .filter(({ workspaceId }) => workspaceId === here.workspace)
        .map(({ taskId }) => taskId)
        .toSorted((a, b) => a - b)
    const expected = [leased, retried, begun, expired, verified]
    expect(await due()).toEqual(expected.map(({ id }) => id).toSorted((a, b) => a - b))
    for (const task of expected) expect(outcome(await here.elapse(task))).toBe('MOVED')
    expect(await there.record(expired)).toMatchObject({ state: 'cancelled', dueAt: null })
    // The end of a lease is followed by a retry that is due at once.
    expect(await due()).toEqual([leased.id])
  })

  test('a task’s times and its estimate are stored', async () => {
    const [here, there] = await nodes.pair(roomy)
    const expiresAt = Date.now() + 60 * MINUTE
    const task = await here.create({ expiresAt })
    expect(await there.record(task)).toMatchObject({ expiresAt, dueAt: expiresAt, minLeaseMs: 0 })
    await here.fail(task, granted(await here.claim(task, alpha, { leaseMs: MINUTE })), 'timeout', 'slow')
    expect(await there.record(task)).toMatchObject({ minLeaseMs: 2 * MINUTE, expiresAt })
    await later(here, MINUTE).claim(task, alpha, { leaseMs: MINUTE })
    expect(await there.record(task)).toMatchObject({ leaseMs: 2 * MINUTE, dueAt: null })
  })

  describe('a rejected result', () => {
    test('that is promoted is the one accepted result of its task, on every node', async () => {
      const [here, there] = await nodes.pair(roomy)
      const task = await here.create()
      const late = await rejectedResult(here, task, alpha, { late: true })
      await here.submit(task, granted(await here.claim(task, beta)), { first: true })
      expect(outcome(await there.command(task, promotion(late)))).toBe('PROMOTED')
      expect(await here.record(task)).toMatchObject({
        state: 'completed',
        generation: 2,
        resultHash: late.hash,
      })
      expect(await here.results(task)).toMatchObject([
        { generation: 1, accepted: true, rejection: null, data: { late: true } },
        { generation: 2, accepted: false, rejection: 'REPLACED', data: { first: true } },
      ])
      await here.command(task, promotion((await here.results(task))[1]!))
      expect((await there.results(task)).map(({ accepted }) => accepted)).toEqual([false, true])
    })

    test('of an earlier epoch belongs to the present epoch from then on', async () => {
      const [here, there] = await nodes.pair(roomy)
      const task = await here.create()
      const late = await rejectedResult(here, task, alpha)
      await complete(here, task, 'of the first epoch')
      await here.reset(task)
      const hold = granted(await here.claim(task, beta))
      expect(outcome(await there.command(task, promotion(late)))).toBe('PROMOTED')
      expect((await here.claims(task)).at(-1)).toMatchObject({ state: 'superseded', endReason: 'PROMOTED' })
      expect(outcome(await here.renew(task, hold))).toBe('NO_CLAIM')
      const rows = (await there.results(task)).map(({ epoch, accepted, data }) => [epoch, accepted, data])
      expect(rows.toSorted()).toEqual([
        [1, true, 'of the first epoch'],
        [2, true, 'too late'],
      ])
    })

    test('is promoted or another accepted, one after the other, while nodes race', async () => {
      for (let round = 0; round < rounds(3, 6); round++) {
        const [here, there] = await nodes.pair(roomy, NO_COMPANY)
        const task = await here.create()
        const late = await rejectedResult(here, task, alpha)
        const hold = granted(await here.claim(task, beta))
        await Promise.all([here.submit(task, hold, 'mine'), there.command(task, promotion(late))])
        expect((await here.results(task)).filter(({ accepted }) => accepted)).toMatchObject([
          { data: 'too late' },
        ])
        expect((await here.store.counts(here.workspace)).activeClaims).toBe(0)
      }
    })
  })
})
