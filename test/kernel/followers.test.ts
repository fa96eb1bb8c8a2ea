import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Follower } from '../../src/kernel/follower.ts'
import type { Kernel } from '../../src/kernel/kernel.ts'
import {
  DEPENDENTS,
  type FollowedEvent,
  type FollowedStore,
  type LogRange,
} from '../../src/kernel/store/log-followers.ts'
import { FOLLOWERS } from '../../src/kinds/all.ts'
import { Refused } from '../../src/pure/errors.ts'
import { Beside, following } from '../../src/upkeep/follower.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { openStore, type StoreUnderTest } from '../support/stores.ts'
import { newTask, Work } from '../support/tasks.ts'

/** Every event of the tests is one of tasks that were queued. */
const CREATED: Follower['wants'] = { to: ['queued'] }

describe.each(['memory', 'postgres'] as const)('followers of the log on %s', (kind) => {
  let under: StoreUnderTest
  let here: FollowedStore
  let there: FollowedStore
  beforeAll(async () => {
    under = await openStore[kind]()
    here = under.store as FollowedStore
    there = (await under.another()) as FollowedStore
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
  const next = (name: string, on = here) => on.followers.behind(name)

  test('get what happened since the beginning, or since they follow', async () => {
    const work = await workspaceWith(3)
    const [old, young] = [newName(), newName()]
    const before = await lastSeqOf(work)
    await here.followers.follow(work.workspace, old, 'beginning')
    await here.followers.follow(work.workspace, young, 'now')
    expect((await next(old)).map(rangeOf)).toEqual([[work.workspace, 0, before]])
    expect(await next(young)).toEqual([])
    await work.create()
    const after = await lastSeqOf(work)
    expect((await next(young)).map(rangeOf)).toEqual([[work.workspace, before, after]])
  })

  test('keep their place when they are asked to follow again', async () => {
    const work = await workspaceWith(2)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [range] = await next(name)
    await here.followers.advance(range!, range!.upTo, true)
    await here.followers.follow(work.workspace, name, 'beginning')
    expect(await next(name)).toEqual([])
  })

  test('get only workspaces that they follow, and only the one that is asked for', async () => {
    const name = newName()
    const works = [await workspaceWith(5), await workspaceWith(5)]
    await workspaceWith(5)
    for (const { workspace } of works) await here.followers.follow(workspace, name, 'beginning')
    const all = (await next(name)).map(({ workspaceId }) => workspaceId)
    expect(all.sort()).toEqual(works.map(({ workspace }) => workspace))
    const [, { workspace }] = works as [Work, Work]
    expect(await here.followers.behind(name, workspace)).toMatchObject([{ workspaceId: workspace }])
  })

  test('follow every new workspace from its first event; one that is older than a follower is found', async () => {
    const { workspace } = await workspaceWith(1)
    const own = async () =>
      (await here.followers.unfollowed()).filter(({ workspaceId }) => workspaceId === workspace)
    expect(await own()).toEqual([])
    const [range] = await here.followers.behind('reports', workspace)
    expect(range).toMatchObject({ after: 0 })
    await here.followers.unfollow(workspace, 'reports')
    expect(await own()).toEqual([{ workspaceId: workspace, follower: 'reports' }])
  })

  test('never go back: a node that was too slow moves nothing', async () => {
    const work = await workspaceWith(4)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [late] = await next(name)
    const [again] = await next(name, there)
    await there.followers.advance(again!, again!.upTo, true)
    await here.followers.advance(late!, 1, true)
    for (const store of [here, there]) expect(await next(name, store)).toEqual([])
  })

  test('get a postponed range after the wait, and know how often it failed', async () => {
    const work = await workspaceWith(1)
    const name = newName()
    await here.followers.follow(work.workspace, name, 'beginning')
    const [first] = await next(name)
    await here.followers.postpone(first!, 0, { waitMs: 0, failures: 1 })
    const [second] = await next(name, there)
    expect([first!.failures, second!.failures]).toEqual([0, 1])
    await here.followers.postpone(second!, 0, { waitMs: 3_600_000, failures: 2 })
    expect(await next(name, there)).toEqual([])
  })

  test('are all waited for: the slowest says what every one of them has seen', async () => {
    const work = await workspaceWith(6)
    const { workspace } = work
    const [fast, slow] = [newName(), newName()]
    for (const name of Object.keys(FOLLOWERS)) await here.followers.unfollow(workspace, name)
    expect(await here.followers.followedByAll(workspace), 'nobody follows').toBe(await lastSeqOf(work))
    for (const name of [fast, slow]) await here.followers.follow(workspace, name, 'beginning')
    const [all] = await next(fast)
    await here.followers.advance(all!, all!.upTo, true)
    expect(await here.followers.followedByAll(workspace)).toBe(0)
    const [some] = await next(slow)
    await here.followers.advance(some!, 2, true)
    expect(await here.followers.followedByAll(workspace)).toBe(2)
    await here.followers.unfollow(workspace, slow)
    expect(await here.followers.followedByAll(workspace)).toBe(await lastSeqOf(work))
  })

  describe('that run', () => {
    const kernelOn = (store: FollowedStore, fault: (error: unknown) => void = () => undefined) =>
      openKernel(store, { agentOf: nobody, projectOf: nobody }, fault) as Kernel<FollowedStore>
    const nobody = () => Promise.reject(new Error('nobody is named here'))
    /** A follower of new workspaces, and what it handled in each. */
    async function followed(works: readonly Work[], handle?: Follower['handle']) {
      const handled = new Map<number, number[]>(works.map(({ workspace }) => [workspace, []]))
      const name = newName()
      for (const { workspace } of works) await here.followers.follow(workspace, name, 'beginning')
      const follower: Follower = {
        name,
        wants: CREATED,
        async handle(context, workspaceId, events) {
          const answer = await handle?.(context, workspaceId, events)
          handled.get(workspaceId)!.push(...events.map(({ seq }) => seq))
          return answer ?? { did: events.length }
        },
      }
      return { step: following(follower), handled, name }
    }
    const wantedIn = async ({ workspace }: Work) =>
      (await here.events(workspace, 0, 10_000)).filter(({ to }) => to === 'queued').map(({ seq }) => seq)

    test('handle every wanted event once and in order, on two nodes in turn', async () => {
      const works = [await workspaceWith(20), await workspaceWith(20)]
      const { step, handled } = await followed(works)
      for (const store of [here, there, here]) {
        await step({ kernel: kernelOn(store) })
        for (const work of works) await work.create()
      }
      await step({ kernel: kernelOn(there) })
      for (const work of works) expect(handled.get(work.workspace)).toEqual(await wantedIn(work))
    })

    test('get events again when the node died after handling and before advancing', async () => {
      const work = await workspaceWith(5)
      const { step, handled } = await followed([work])
      const dead = new Refused('NOT_LEADER', 'dead')
      const dying = vi.spyOn(here.followers, 'advance').mockRejectedValue(dead)
      await expect(step({ kernel: kernelOn(here) })).rejects.toThrow('dead')
      dying.mockRestore()
      await step({ kernel: kernelOn(there) })
      const wanted = await wantedIn(work)
      expect(handled.get(work.workspace)).toEqual([...wanted, ...wanted])
    })

    test('try again what failed after a wait, and another workspace does not wait for it', async () => {
      const [bad, good] = [await workspaceWith(3), await workspaceWith(3)]
      let isDown = true
      const { step, handled, name } = await followed([bad, good], async (_context, workspaceId) => {
        if (isDown && workspaceId === bad.workspace) throw new Error('no')
        return { did: 1 }
      })
      await expect(step({ kernel: kernelOn(here) })).rejects.toThrow('no')
      expect(handled.get(good.workspace)).toEqual(await wantedIn(good))
      isDown = false
      await step({ kernel: kernelOn(there) })
      expect(handled.get(bad.workspace), 'it waits, on any node').toEqual([])
      const waiting = { workspaceId: bad.workspace, follower: name, after: 0, upTo: 0, lastSeq: 0 }
      await here.followers.postpone({ ...waiting, failures: 1, isIdle: false }, 0, { waitMs: 0, failures: 1 })
      await step({ kernel: kernelOn(there) })
      expect(handled.get(bad.workspace)).toEqual(await wantedIn(bad))
    })

    test('can say from where they have to wait, and go on there', async () => {
      const work = await workspaceWith(4)
      const [, , third] = await wantedIn(work)
      const { step, name } = await followed([work], async () => ({ did: 2, waitsAt: third }))
      await step({ kernel: kernelOn(here) })
      expect(await next(name), 'not yet').toEqual([])
      const waiting = { workspaceId: work.workspace, follower: name, after: 0, upTo: 0, lastSeq: 0 }
      await here.followers.postpone({ ...waiting, failures: 0, isIdle: false }, 0, { waitMs: 0, failures: 0 })
      expect(await next(name)).toMatchObject([{ after: third! - 1 }])
    })

    test('beside a pass hold up neither the pass nor other workspaces, and continue when they are done', async () => {
      const [slow, fast] = [await workspaceWith(2), await workspaceWith(2)]
      let finish = () => {}
      const blocked = new Promise<void>((resolve) => {
        finish = resolve
      })
      const { step, handled } = await followed([slow, fast], async (_context, workspaceId) => {
        if (workspaceId === slow.workspace) await blocked
        return { did: 1 }
      })
      let again = () => {}
      const asked = new Promise<void>((resolve) => {
        again = resolve
      })
      const beside = new Beside(() => again())
      const context = { kernel: kernelOn(here), beside }
      await step(context)
      for (const work of [slow, fast]) await work.create()
      const before = handled.get(fast.workspace)!
      while (before.length < (await wantedIn(fast)).length) await step(context)
      expect(handled.get(slow.workspace), 'one range of a log at a time').toEqual([])
      finish()
      await asked
      await step(context)
      await beside.ended()
      expect(handled.get(slow.workspace)).toEqual(await wantedIn(slow))
    })

    test('beside a pass tell of what failed', async () => {
      const work = await workspaceWith(1)
      const { step } = await followed([work], () => Promise.reject(new Error('no')))
      const faults: unknown[] = []
      const beside = new Beside(() => undefined)
      await step({ kernel: kernelOn(here, (error) => faults.push(error)), beside })
      await beside.ended()
      expect(faults).toMatchObject([{ message: 'no' }])
    })

    test('are asked for nothing where no event is wanted, and where nothing concerns them', async () => {
      const work = await workspaceWith(3)
      const asked: FollowedEvent[] = []
      const unwanted: [name: string, wants: Follower['wants']][] = [
        [newName(), { to: ['failed'] }],
        // Nothing is blocked here.
        [DEPENDENTS, CREATED],
      ]
      for (const [name, wants] of unwanted) {
        await here.followers.follow(work.workspace, name, 'beginning')
        const handle: Follower['handle'] = async (_context, _workspaceId, events) => {
          asked.push(...events)
          return { did: 0 }
        }
        await following({ name, wants, handle })({ kernel: kernelOn(here), only: work.workspace })
        const left = await here.followers.behind(name, work.workspace)
        expect(left, 'its place is the end of the log').toEqual([])
      }
      expect(asked).toEqual([])
    })
  })
})
