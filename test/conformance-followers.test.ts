import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoredEvent } from '../src/core/events.ts'
import type { LogFollowers, LogRange } from '../src/store/log-followers.ts'
import type { Store } from '../src/store/store.ts'
import { type Follower, FollowerRunner } from '../src/upkeep/follower.ts'
import { until } from './support/nodes.ts'
import { openStore, type StoreUnderTest } from './support/stores.ts'
import { newTask, Work } from './support/tasks.ts'

type Followed = Store & { followers: LogFollowers }
const LONG = { workspaces: 10, events: 1_000, leaseMs: 3_600_000 }
/** A lease that has run out when it is looked at again. */
const GONE = { ...LONG, leaseMs: 0 }
const silent = { warn: () => undefined }

describe.each(['memory', 'postgres'] as const)('followers of the log on %s', (kind) => {
  let under: StoreUnderTest
  let here: Followed
  let there: Followed
  beforeAll(async () => {
    under = await openStore[kind]()
    here = under.store as Followed
    there = (await under.another()) as Followed
  })
  afterAll(async () => {
    if (there !== here) await there.close()
    await under.close()
  })

  let names = 0
  const newName = () => `follower-${++names}`
  /** A workspace with so many events from tasks. */
  async function workspaceWith(tasks: number): Promise<Work> {
    const work = new Work(here, await under.addWorkspace())
    await work.createAll(Array.from({ length: tasks }, () => newTask()))
    return work
  }
  const lastSeqOf = async ({ workspace }: Work) => (await here.events(workspace, 0, 10_000)).length
  const rangeOf = ({ workspaceId, after, upTo }: LogRange) => [workspaceId, after, upTo]

  test('get what happened since the beginning, or since they follow', async () => {
    const work = await workspaceWith(3)
    const [old, young] = [newName(), newName()]
    const before = await lastSeqOf(work)
    await here.followers.follow(work.workspace, old, 'beginning')
    await here.followers.follow(work.workspace, young, 'now')
    expect((await here.followers.next(old, LONG)).map(rangeOf)).toEqual([[work.workspace, 0, before]])
    expect(await here.followers.next(young, LONG)).toEqual([])
    await work.create()
    const after = await lastSeqOf(work)
    expect((await here.followers.next(young, LONG)).map(rangeOf)).toEqual([[work.workspace, before, after]])
  })

  test('keep their place when they are asked to follow again', async () => {
    const work = await workspaceWith(2)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [range] = await here.followers.next(name, LONG)
    expect(await here.followers.advance(range!)).toBe(true)
    await here.followers.follow(work.workspace, name, 'beginning')
    expect(await here.followers.next(name, LONG)).toEqual([])
  })

  test('get only workspaces that they follow, a limited number of them and of events', async () => {
    const name = newName()
    const works = [await workspaceWith(5), await workspaceWith(5), await workspaceWith(5)]
    await workspaceWith(5)
    for (const { workspace } of works) await here.followers.follow(workspace, name, 'beginning')
    const two = await here.followers.next(name, { ...LONG, workspaces: 2, events: 2 })
    const third = await here.followers.next(name, { ...LONG, workspaces: 2, events: 2 })
    const all = [...two, ...third]
    expect(two).toHaveLength(2)
    expect(all.map(({ workspaceId }) => workspaceId).sort()).toEqual(works.map(({ workspace }) => workspace))
    expect(all.map(({ after, upTo }) => [after, upTo])).toEqual([
      [0, 2],
      [0, 2],
      [0, 2],
    ])
  })

  test('share the work between nodes: while one has the lease, no other gets the range', async () => {
    const work = await workspaceWith(4)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const asked = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? here : there).followers.next(name, LONG)),
    )
    expect(asked.flat()).toHaveLength(1)
    expect(await here.followers.advance(asked.flat()[0]!)).toBe(true)
    expect(await there.followers.next(name, LONG), 'nothing is left').toEqual([])
  })

  test('get a range again when its lease has run out, and the late holder moves nothing', async () => {
    const work = await workspaceWith(4)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [late] = await here.followers.next(name, { ...GONE, events: 1 })
    const [again] = await until(async () => {
      const ranges = await there.followers.next(name, LONG)
      return ranges.length > 0 && ranges
    })
    expect(again).toMatchObject({ after: 0, upTo: await lastSeqOf(work) })
    expect(await here.followers.renew(late!, 1_000), 'the lease is lost').toBe(false)
    expect(await here.followers.advance(late!), 'the lease is lost').toBe(false)
    await here.followers.postpone(late!, 0)
    expect(await here.followers.next(name, LONG), 'the other one still has it').toEqual([])
    expect(await there.followers.advance(again!)).toBe(true)
    expect(await here.followers.next(name, LONG)).toEqual([])
  })

  test('keep a range for as long as its lease is renewed', async () => {
    const work = await workspaceWith(1)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [range] = await here.followers.next(name, GONE)
    expect(await here.followers.renew(range!, LONG.leaseMs)).toBe(true)
    expect(await there.followers.next(name, LONG)).toEqual([])
  })

  test('get a postponed range after the wait, and know how often it failed', async () => {
    const work = await workspaceWith(1)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [first] = await here.followers.next(name, LONG)
    await here.followers.postpone(first!, 0)
    const [second] = await here.followers.next(name, LONG)
    expect([first!.failures, second!.failures]).toEqual([0, 1])
    await here.followers.postpone(second!, LONG.leaseMs)
    expect(await there.followers.next(name, LONG)).toEqual([])
  })

  test('are all waited for: the slowest says what every one of them has seen', async () => {
    const work = await workspaceWith(6)
    const { workspace } = work
    const [fast, slow] = [newName(), newName()]
    await here.followers.unfollow(workspace, 'dependents')
    expect(await here.followers.followedByAll(workspace), 'nobody follows').toBe(await lastSeqOf(work))
    for (const name of [fast, slow]) await here.followers.follow(workspace, name, 'beginning')
    const [all] = await here.followers.next(fast, LONG)
    await here.followers.advance(all!)
    expect(await here.followers.followedByAll(workspace)).toBe(0)
    const [some] = await here.followers.next(slow, { ...LONG, events: 2 })
    await here.followers.advance(some!)
    expect(await here.followers.followedByAll(workspace)).toBe(2)
    await here.followers.unfollow(workspace, slow)
    expect(await here.followers.followedByAll(workspace)).toBe(await lastSeqOf(work))
  })

  describe('that run', () => {
    const numbersIn = (handled: readonly StoredEvent[]) => handled.map(({ seq }) => seq)
    const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)
    const runner = (on: Followed, follower: Follower, options = {}) =>
      new FollowerRunner(on, follower, silent, { pollMs: 5, waitMs: () => 0, ...options })

    test('handle every event once and in order, on two nodes, while nothing fails', async () => {
      const name = newName()
      const works = [await workspaceWith(20), await workspaceWith(20), await workspaceWith(20)]
      const seen = new Map<number, StoredEvent[]>(works.map(({ workspace }) => [workspace, []]))
      for (const { workspace } of works) await here.followers.follow(workspace, name, 'beginning')
      const follower = {
        name,
        handle: async (workspace: number, events: readonly StoredEvent[]) =>
          void seen.get(workspace)!.push(...events),
      }
      const runners = [here, there].map((store) => runner(store, follower, { events: 3 }).start())
      await Promise.all(works.map((work) => work.createAll(Array.from({ length: 10 }, () => newTask()))))
      for (const work of works) {
        const last = await lastSeqOf(work)
        await until(async () => seen.get(work.workspace)!.length >= last)
      }
      await Promise.all(runners.map((one) => one.stop()))
      for (const work of works)
        expect(numbersIn(seen.get(work.workspace)!)).toEqual(upTo(await lastSeqOf(work)))
    })

    test('are woken by a commit, on whichever node', async () => {
      const name = newName()
      const work = await workspaceWith(0)
      await here.followers.follow(work.workspace, name, 'now')
      let isHandled: () => void
      const handled = new Promise<void>((resolve) => {
        isHandled = resolve
      })
      const never = { pollMs: 2 ** 31 - 1 }
      const follower = { name, handle: async () => isHandled() }
      const running = runner(there, follower, never).start()
      await work.create()
      await handled
      await running.stop()
    })

    test('get a range again when the node died after handling and before advancing', async () => {
      const name = newName()
      const work = await workspaceWith(5)
      await here.followers.follow(work.workspace, name, 'beginning')
      const handled: number[][] = []
      const handle = async (_: number, events: readonly StoredEvent[]) => void handled.push(numbersIn(events))
      let isDead: () => void
      const died = new Promise<void>((resolve) => {
        isDead = resolve
      })
      /** Nothing that it does after handling its first range reaches the store. */
      let starts = 0
      const gone = async () => {
        isDead()
        throw new Error('dead')
      }
      const dying = {
        events: here.events.bind(here),
        onCommit: () => () => undefined,
        followers: {
          ...({} as LogFollowers),
          next: async (of: string) => (starts++ === 0 ? here.followers.next(of, { ...GONE, events: 3 }) : []),
          advance: gone,
          postpone: gone,
        },
      }
      const first = new FollowerRunner(dying, { name, handle }, silent).start()
      await died
      const second = runner(there, { name, handle }, { events: 3 }).start()
      const last = await lastSeqOf(work)
      await until(async () => handled.flat().includes(last))
      await Promise.all([first.stop(), second.stop()])
      expect(handled.flat()).toEqual([1, 2, 3, ...upTo(last)])
    })

    test('try again what failed, and go no further until it is handled', async () => {
      const name = newName()
      const work = await workspaceWith(4)
      await here.followers.follow(work.workspace, name, 'beginning')
      const [tried, handled]: [number[], number[]] = [[], []]
      const handle = async (_: number, events: readonly StoredEvent[]) => {
        tried.push(...numbersIn(events))
        if (tried.filter((seq) => seq === 2).length < 3 && numbersIn(events).includes(2))
          throw new Error('no')
        handled.push(...numbersIn(events))
      }
      const last = await lastSeqOf(work)
      const running = runner(here, { name, handle }, { events: 1 }).start()
      await until(async () => handled.includes(last))
      await running.stop()
      expect(handled).toEqual(upTo(last))
      expect(tried).toEqual([1, 2, 2, ...upTo(last).slice(1)])
    })
  })
})
