import { describe, expect, test } from 'vitest'
import { NO_COMPANY, storeKinds, useNodes } from '../../support/nodes.ts'
import type { Reply } from '../../support/replies.ts'
import {
  granted,
  grantedTasks,
  type Holder,
  holder,
  newTask,
  type Overrides,
  outcome,
  type Task,
  tally,
  type Work,
} from '../../support/tasks.ts'
import { ago } from '../../support/times.ts'

const alpha = holder('alpha')
const MINUTE = 60_000
const roomy = { maxConcurrentClaims: 1_000 }
const titles = (work: Work, reply: Reply) =>
  Promise.all(grantedTasks(reply).map(async (task) => (await work.details(task)).title))
const projectOf = (work: Work, slug: string) => work.store.project(work.workspace, slug)
const many = (count: number, overrides: Overrides) => Array.from({ length: count }, () => newTask(overrides))

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('a project', () => {
    test('has one number, on every node, even if all request it at once', async () => {
      const [here, there] = await nodes.pair()
      const asked = await Promise.all(
        Array.from({ length: 8 }, (_, i) => projectOf(i % 2 ? here : there, 'shop')),
      )
      expect(new Set(asked).size).toBe(1)
      const other = await projectOf(there, 'bank')
      expect(other).not.toBe(asked[0])
      expect(asked[0]! > 0 && other > 0).toBe(true)
      expect(await projectOf(here, 'bank')).toBe(other)
    })

    test('is stored with its tasks, and so is their owner', async () => {
      const [here, there] = await nodes.pair()
      const projectId = await projectOf(here, 'shop')
      const task = await here.create({ projectId, project: 'shop', userId: 'ann', key: 'A-007-x' })
      expect(await there.record(task)).toMatchObject({
        projectId,
        key: 'A-007-x',
        trackQueue: 'A',
        parentId: null,
      })
      expect(await there.details(task)).toMatchObject({ project: 'shop', userId: 'ann', parent: null })
      expect(await there.record(task)).toEqual(task)
    })

    test('uses a key once, and another project may use it too, while nodes race for it', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const [shop, bank] = [await projectOf(here, 'shop'), await projectOf(here, 'bank')]
      const tries = Array.from({ length: 12 }, (_, i) => {
        const projectId = [shop, bank, 0][i % 3]!
        return (i % 2 ? here : there).tryCreate([newTask({ key: 'A-001-x', projectId })])
      })
      expect(tally(await Promise.all(tries))).toEqual({ CREATED: 3, ALREADY_EXISTS: 9 })
      const elsewhere = await nodes.work()
      expect((await elsewhere.tryCreate([newTask({ key: 'A-001-x' })])).ok, 'another workspace').toBe(true)
    })
  })

  describe('next', () => {
    test('finds the first task of every project behind a flood', async () => {
      const work = await nodes.work(roomy)
      const flood = await projectOf(work, 'flood')
      await work.createAll(many(300, { projectId: flood, title: 'flood', priority: 9 }))
      const others = await Promise.all(Array.from({ length: 12 }, (_, i) => projectOf(work, `p-${i}`)))
      for (const projectId of others) await work.create({ projectId, title: `${projectId}` })
      const given: string[] = []
      for (let i = 0; i < 13; i++) given.push(...(await titles(work, await work.next(alpha))))
      expect(given.toSorted()).toEqual([...others.map(String), 'flood'].toSorted())
    })

    test('finds the first task of every track of a project when the others are refused', async () => {
      const work = await nodes.work(roomy)
      const projectId = await projectOf(work, 'shop')
      await work.store.setTrack(work.workspace, projectId, 'A', 1)
      const keys = Array.from({ length: 40 }, (_, i) => `A-${String(i + 1).padStart(3, '0')}-x`)
      await work.createAll(keys.map((key) => newTask({ key, projectId, priority: 9 })))
      expect(grantedTasks(await work.next(alpha))).toMatchObject([{ trackQueue: 'A' }])
      const lines = ['B-001-x', 'B-001-x::1', 'C-001-x', 'A-050-x::1']
      await work.createAll(lines.map((key) => newTask({ key, projectId, title: key })))
      await work.create({ projectId, title: 'no line' })
      const given: string[] = []
      for (let i = 0; i < 6; i++) given.push(...(await titles(work, await work.next(holder('beta')))))
      expect(given).toEqual([...lines, 'no line'])
    })

    test('respects the requested projects and tracks, subtasks included', async () => {
      const work = await nodes.work(roomy)
      const [shop, bank] = [await projectOf(work, 'shop'), await projectOf(work, 'bank')]
      const place = (projectId: number, key: string | null, title: string) =>
        newTask({ projectId, key, title })
      await work.createAll([
        place(shop, 'A-001-x', 'shop A'),
        place(shop, 'A-002-x::1', 'shop A part'),
        place(shop, 'B-001-x', 'shop B'),
        place(shop, null, 'shop'),
        place(bank, 'A-001-x', 'bank A'),
        place(0, null, 'none'),
      ])
      const ask = async (where: { projectId?: number; tracks?: string[] }) => {
        const reply = await work.next(alpha, { limit: 9, ...where })
        const given = await titles(work, reply)
        for (const record of grantedTasks(reply))
          await work.release(record, { ...alpha, generation: record.generation })
        return given.toSorted()
      }
      expect(await ask({ projectId: shop })).toEqual(['shop', 'shop A', 'shop A part', 'shop B'])
      expect(await ask({ projectId: 0 })).toEqual(['none'])
      expect(await ask({ tracks: ['A'] })).toEqual(['bank A', 'shop A', 'shop A part'])
      expect(await ask({ projectId: bank, tracks: ['A', 'B'] })).toEqual(['bank A'])
      expect(await ask({ projectId: shop, tracks: ['B'] })).toEqual(['shop B'])
      expect(await ask({ tracks: ['Z'] })).toEqual([])
    })

    test('finds for each agent what it can do, in every project, behind what it cannot', async () => {
      const work = await nodes.work(roomy)
      const [shop, bank] = [await projectOf(work, 'shop'), await projectOf(work, 'bank')]
      await work.createAll(many(50, { projectId: shop, capabilities: ['sql'], priority: 9 }))
      await work.createAll([
        newTask({ projectId: shop, title: 'easy' }),
        newTask({ projectId: bank, title: 'too' }),
      ])
      expect((await titles(work, await work.next(alpha, { limit: 9 }))).toSorted()).toEqual(['easy', 'too'])
      expect(grantedTasks(await work.next(holder('beta'), { limit: 9, capabilities: ['sql'] }))).toHaveLength(
        9,
      )
    })
  })

  describe('a track', () => {
    const key = (n: number, part = '') => `A-${String(n).padStart(3, '0')}-x${part}`
    async function track(maxAgents: number | null, count = 20) {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      const projectId = await projectOf(here, 'shop')
      await here.store.setTrack(here.workspace, projectId, 'A', maxAgents)
      const tasks = await here.createAll(
        Array.from({ length: count }, (_, i) => newTask({ key: key(i + 1), projectId })),
      )
      return { here, there, projectId, tasks }
    }
    const agentsOn = async (work: Work, tasks: readonly Task[]) => {
      const records = await Promise.all(tasks.map((task) => work.record(task)))
      return new Set(records.filter(({ claimState }) => claimState === 'active').map(({ agent }) => agent))
    }
    const claims = (work: Work, task: Task, by: Holder, i: number) =>
      i % 4 < 2 ? work.claim(task, by) : work.next(by)

    test.each([1, 2, 3])(
      'of %i is never exceeded, even if agents on two nodes race for it',
      async (maxAgents) => {
        const { here, there, tasks } = await track(maxAgents)
        const replies = await Promise.all(
          tasks.map((task, i) => claims(i % 2 ? here : there, task, holder(`agent-${i % 7}`), i)),
        )
        expect(replies.some(({ ok }) => ok)).toBe(true)
        expect((await agentsOn(here, tasks)).size).toBe(maxAgents)
        expect(outcome(await there.claim(tasks.at(-1)!, holder('late')))).toMatch(
          /TRACK_FULL|DENIED_ACTIVE_CLAIM/,
        )
      },
    )

    test('counts agents, not tasks or sessions, and not those that hold subtasks', async () => {
      const { here, there, projectId, tasks } = await track(1)
      const parts = await here.createAll([1, 2].map((n) => newTask({ key: key(99, `::${n}`), projectId })))
      granted(await here.claim(parts[0]!, holder('beta')))
      granted(await here.claim(tasks[0]!, alpha))
      granted(await there.claim(tasks[1]!, holder('alpha', 'another session')))
      expect(await there.claim(tasks[2]!, holder('beta'))).toMatchObject({ code: 'TRACK_FULL', maxAgents: 1 })
      granted(await there.claim(parts[1]!, holder('gamma')))
    })

    test('is free when its agent’s last claim has ended, and only then', async () => {
      const { here, there, tasks } = await track(1)
      const holds = [granted(await here.claim(tasks[0]!, alpha)), granted(await here.claim(tasks[1]!, alpha))]
      await there.submit(tasks[0]!, holds[0]!)
      expect(outcome(await there.claim(tasks[2]!, holder('beta')))).toBe('TRACK_FULL')
      await there.cancel(tasks[1]!)
      expect(outcome(await here.claim(tasks[2]!, holder('beta')))).toBe('GRANTED')
    })

    test('may get another limit, and none', async () => {
      const { here, there, projectId, tasks } = await track(1)
      granted(await here.claim(tasks[0]!, alpha))
      await there.store.setTrack(there.workspace, projectId, 'A', 2)
      granted(await here.claim(tasks[1]!, holder('beta')))
      expect(outcome(await here.claim(tasks[2]!, holder('gamma')))).toBe('TRACK_FULL')
      await there.store.setTrack(there.workspace, projectId, 'A', null)
      granted(await here.claim(tasks[2]!, holder('gamma')))
    })

    test('of another project or workspace, or in none, is another track', async () => {
      const { here, tasks } = await track(1)
      const other = await projectOf(here, 'bank')
      const [there, nowhere] = await here.createAll([
        newTask({ key: key(1), projectId: other }),
        newTask({ key: key(1), projectId: 0 }),
      ])
      granted(await here.claim(tasks[0]!, alpha))
      for (const task of [there!, nowhere!]) granted(await here.claim(task, holder('beta')))
    })
  })

  describe('a list', () => {
    test('has one user’s tasks, newest first, page by page', async () => {
      const work = await nodes.work()
      const ann = await work.createAll(many(5, { userId: 'ann' }))
      await work.createAll([newTask({ userId: 'bob' }), newTask()])
      const page = (before?: number) => work.store.tasks(work.workspace, { userId: 'ann', before }, 2)
      const ids: number[] = []
      for (let next = await page(); next.length > 0; next = await page(ids.at(-1)))
        ids.push(...next.map(({ record }) => record.id))
      expect(ids).toEqual(ann.map(({ id }) => id).toReversed())
      expect(await work.store.tasks(work.workspace, { userId: 'nobody' }, 9)).toEqual([])
    })

    test('has the dead letters: failed because attempts or generations ran out, and nothing else', async () => {
      const work = await nodes.work({ maxGenerationsPerTask: 2 })
      const fails = async (task: Task, failureClass: 'infrastructure' | 'invalid') =>
        work.fail(task, granted(await work.claim(task, alpha)), failureClass, 'no luck')
      const [attempts, generations, invalid, retried, cancelled] = await work.createAll([
        newTask({ maxRetries: 0, userId: 'ann' }),
        newTask(),
        newTask(),
        newTask({ maxRetries: 0 }),
        newTask(),
      ])
      await fails(attempts!, 'infrastructure')
      for (let i = 0; i < 2; i++)
        await work.release(generations!, granted(await work.claim(generations!, alpha)))
      await fails(invalid!, 'invalid')
      await fails(retried!, 'infrastructure')
      await work.cancel(cancelled!)
      const letters = async (more = {}) =>
        (await work.store.tasks(work.workspace, { deadLetters: true, ...more }, 10)).map(
          ({ record }) => record.id,
        )
      expect(await letters()).toEqual([retried!.id, generations!.id, attempts!.id])
      expect(await letters({ userId: 'ann' })).toEqual([attempts!.id])
      await work.retry(retried!)
      expect(await letters()).toEqual([generations!.id, attempts!.id])
      expect(await work.details(attempts!)).toMatchObject({
        exhausted: 'attempts',
        failureClass: 'infrastructure',
        error: 'no luck',
      })
      expect(await work.details(generations!)).toMatchObject({ exhausted: 'generations' })
    })
  })

  test('held tasks without recent activity are found, in their workspace, and no others', async () => {
    const [here, there] = await nodes.pair(roomy)
    const elsewhere = await nodes.work()
    const [silent, renewed, fresh, over] = [
      await here.create(),
      await here.create(),
      await here.create(),
      await here.create(),
    ]
    await here.create()
    const longAgo = ago(here, 10 * MINUTE)
    const hold = async (work: Work, task: Task) =>
      granted(await work.claim(task, alpha, { leaseMs: 60 * MINUTE }))
    await hold(longAgo, silent)
    const kept = await hold(longAgo, renewed)
    await hold(here, fresh)
    await ago(here, 9 * MINUTE).submit(over, await hold(longAgo, over))
    await here.renew(renewed, kept)
    await hold(ago(elsewhere, 10 * MINUTE), await elsewhere.create())
    const found = async (limit: number) =>
      (await there.store.heldUntouchedSince(here.workspace, Date.now() - 5 * MINUTE, limit)).map(
        ({ taskId }) => taskId,
      )
    expect(await found(10)).toEqual([silent.id])
    const [one] = await there.store.heldUntouchedSince(here.workspace, Date.now() - 5 * MINUTE, 10)
    expect(one).toEqual({ workspaceId: here.workspace, taskId: silent.id, uuid: silent.uuid })
    const { reason } = await there.command(silent, { kind: 'stall', silentMs: 5 * MINUTE })
    expect([reason, await found(10)]).toEqual(['MOVED', []])
  })
})
