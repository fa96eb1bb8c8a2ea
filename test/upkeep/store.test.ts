import { describe, expect, test } from 'vitest'
import { missedTasks, skipMissedTasks } from '../support/missed-tasks.ts'
import { storeKinds, useNodes } from '../support/nodes.ts'
import { granted, holder, newTask, type Work } from '../support/tasks.ts'
import { ago } from '../support/times.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const alpha = holder('alpha')
/** How much upkeep takes at a time here, and more than that. */
const LIMIT = 60
const BACKLOG = 65

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const newWork = () => nodes.work({ maxConcurrentClaims: 1_000, maxActiveSessions: 1_000 })
  const batch = (count: number) => Array.from({ length: count }, () => newTask())

  /** What upkeep finds, and how to create it, so many times, the given time ago. */
  const KINDS = {
    'leases that are over': {
      async make(work: Work, count: number, msAgo: number) {
        const then = ago(work, msAgo)
        for (const task of await then.createAll(batch(count)))
          granted(await then.claim(task, alpha, { leaseMs: MINUTE }))
      },
      due: (limit: number, only?: number) => nodes.store().dueTasks(limit, only),
    },
    'due scheduled times': {
      async make(work: Work, count: number, msAgo: number) {
        const runAt = Date.now() - msAgo + MINUTE
        await ago(work, msAgo).createAll(batch(count).map((task) => ({ ...task, runAt })))
      },
      due: (limit: number, only?: number) => nodes.store().dueTasks(limit, only),
    },
    'silent sessions': {
      async make(work: Work, count: number, msAgo: number) {
        const then = ago(work, msAgo)
        await Promise.all(Array.from({ length: count }, (_, i) => then.register(`worker-${i}`, 1)))
      },
      due: (limit: number, only?: number) => nodes.store().dueSessions(limit, only),
    },
    'tasks that were not unblocked': {
      async make(work: Work, count: number) {
        const upstream = await work.create()
        await work.createAll(batch(count).map((task) => ({ ...task, ...newTask({}, [upstream]) })))
        await work.submit(upstream, granted(await work.claim(upstream, alpha)))
      },
      due: (limit: number, only?: number) => missedTasks(nodes.store(), limit, only),
    },
  }

  describe.each(Object.entries(KINDS))('%s', (_, { make, due }) => {
    test('are found in one workspace only, when only that one is requested', async () => {
      const [own, other] = [await newWork(), await newWork()]
      await make(other, BACKLOG, 3 * HOUR)
      await make(own, 2, 2 * HOUR)
      const found = await due(LIMIT, own.workspace)
      expect(found.map(({ workspaceId }) => workspaceId)).toEqual([own.workspace, own.workspace])
    })

    test('of one workspace, even more than one batch of them, do not hide the single one of another', async () => {
      // Of waiting tasks, Postgres checks some workspaces at a time: those of other tests must not be among them.
      await skipMissedTasks(nodes.store())
      const [first, single, last] = [await newWork(), await newWork(), await newWork()]
      await make(first, BACKLOG, 3 * HOUR)
      await make(last, BACKLOG, 3 * HOUR)
      await make(single, 1, 2 * HOUR)
      const found = await due(LIMIT)
      expect(found.filter(({ workspaceId }) => workspaceId === single.workspace)).toHaveLength(1)
    })
  })

  test('places that other workspaces do not need are used for the one with a backlog', async () => {
    const [many, single] = [await newWork(), await newWork()]
    for (const what of ['leases that are over', 'silent sessions'] as const) {
      await KINDS[what].make(many, BACKLOG, 3 * HOUR)
      await KINDS[what].make(single, 1, 2 * HOUR)
      expect((await KINDS[what].due(LIMIT)).length).toBeGreaterThanOrEqual(LIMIT)
    }
  })

  test('expired leases do not hide the scheduled tasks of another workspace', async () => {
    const [many, single] = [await newWork(), await newWork()]
    await KINDS['leases that are over'].make(many, BACKLOG, 3 * HOUR)
    await KINDS['due scheduled times'].make(single, 1, 2 * HOUR)
    const found = await nodes.store().dueTasks(LIMIT)
    expect(found.filter(({ workspaceId }) => workspaceId === single.workspace)).toHaveLength(1)
  })
})
