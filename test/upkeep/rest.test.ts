import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ExecutorContext } from '../../src/executor/context.ts'
import { Executor } from '../../src/executor/executor.ts'
import { StoreRetry } from '../../src/executor/store-retry.ts'
import { realTimers, type Timers } from '../../src/executor/timers.ts'
import { FOLLOWERS } from '../../src/kinds/all.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { serverDirectory } from '../../src/store/directory.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { Coordinator } from '../../src/upkeep/coordinator.ts'
import { Leadership } from '../../src/upkeep/leadership.ts'
import { Node } from '../../src/upkeep/node.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { startUpkeep } from '../../src/upkeep/upkeep.ts'
import { heartbeat, register } from '../support/agents.ts'
import { appendEvents } from '../support/append-events.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser, until } from '../support/nodes.ts'
import { granted, holder, Work } from '../support/tasks.ts'

/** A node without work asks one question a second, and runs its steps when the answer says so. */

const HOUR = 3_600_000
const opened: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of opened.reverse()) await close()
})

async function freshStore() {
  const database = await freshDatabase()
  const store = await PostgresStore.open(database.url)
  opened.push(
    () => database.drop(),
    () => store.close(),
  )
  const { workspaceId } = await createWorkspace(store, 'test', 'test')
  const rows = (text: string, values: unknown[] = []) =>
    superuser(database.url, async (client) => {
      await client.query('set search_path = baton')
      return (await client.query(text, values)).rows
    })
  /** Nothing is left to be followed. */
  const follow = async () => {
    for (const name of Object.keys(FOLLOWERS))
      for (const range of await store.followers.behind(name))
        await store.followers.advance(range, range.upTo, false)
  }
  return { store, rows, follow, url: database.url, work: new Work(store, workspaceId) }
}

describe('what is due next', () => {
  type Under = Awaited<ReturnType<typeof freshStore>>
  const inOneHour = (at: number | null) => {
    expect(at).toBeGreaterThan(performance.now() + HOUR / 2)
    expect(at).toBeLessThanOrEqual(performance.now() + HOUR)
  }
  const later = `clock_timestamp() + interval '1 hour'`

  test('is nothing in a new workspace, once its log is followed', async () => {
    const { store, follow, work } = await freshStore()
    expect(await store.nextDue()).toMatchObject({ isLogAhead: true })
    await follow()
    await work.update(await work.create(), { title: 'x' })
    expect(await store.nextDue(), 'a commit since').toMatchObject({ isLogAhead: true })
    await follow()
    // Not asked again within a second, unless something is committed.
    await appendEvents(store, work.workspace, [['project_created', { actor: 'test' }, { project: 'x' }]])
    await follow()
    expect(await store.nextDue()).toEqual({
      ...{ upkeepAt: null, isLogAhead: false, wakeupAt: null, areClaimsWaiting: false },
    })
  })

  const KINDS: [what: string, make: (under: Under) => Promise<unknown>][] = [
    ['a task with a start time', ({ work }) => work.create({ runAt: Date.now() + HOUR })],
    [
      'a lease that expires',
      async ({ work }) => granted(await work.claim(await work.create(), holder('a'), { leaseMs: HOUR })),
    ],
    [
      'a session that may fall silent',
      ({ rows, work }) =>
        rows(
          `insert into sessions (workspace_id, session, session_id, due_at) values ($1, 's', gen_random_uuid(), ${later})`,
          [work.workspace],
        ),
    ],
    [
      'an agent that may fall silent',
      async ({ rows, work }) => {
        await register(work, 'alpha', { adapterType: 'external' })
        await heartbeat(work, 'alpha')
        await rows(`update agent_health set due_at = ${later}`)
      },
    ],
    [
      'a timer of an agent',
      async ({ rows, work }) => {
        await register(work, 'alpha', { adapterType: 'process' })
        await rows(`update agents set runtime_config = '{"heartbeat":{"intervalSec":3600}}'`)
        await runtimeOf(rows, work, 'next_timer_at')
      },
    ],
    [
      'a parked credential',
      async ({ rows, work }) => {
        await register(work, 'alpha', { adapterType: 'process' })
        await runtimeOf(rows, work, 'parked_until')
      },
    ],
  ]
  const runtimeOf = (rows: Under['rows'], { workspace }: Work, column: string) =>
    rows(
      `insert into agent_runtime_state (workspace_id, agent, adapter_type, ${column}) values ($1, 'alpha', 'process', ${later})`,
      [workspace],
    )

  test.each(KINDS)('is %s', async (_what, make) => {
    const under = await freshStore()
    await make(under)
    inOneHour((await under.store.nextDue()).upkeepAt)
  })

  test('is a queued wakeup, for those who run agents', async () => {
    const { store, rows, work } = await freshStore()
    await register(work, 'alpha', { adapterType: 'process' })
    await rows(
      `insert into wakeups (workspace_id, wakeup_id, agent, source, status, requested_by, priority, requested_at, due_at)
       values ($1, gen_random_uuid(), 'alpha', 'timer', 'queued', 'system', 1, now(), ${later})`,
      [work.workspace],
    )
    const { upkeepAt, wakeupAt, areClaimsWaiting } = await store.nextDue()
    inOneHour(wakeupAt)
    expect([upkeepAt, areClaimsWaiting]).toEqual([null, false])
  })
})

test('a library queue without work asks what is due next, and runs no step until something is', async () => {
  const { store, rows, work, follow } = await freshStore()
  await follow()
  const asked = vi.spyOn(store, 'nextDue')
  const steps = [vi.spyOn(store, 'dueTasks'), vi.spyOn(store, 'dueSessions')]
  const kernel = openKernel(store, serverDirectory(store))
  const upkeep = startUpkeep(kernel, { warn: () => undefined })
  opened.push(() => upkeep.stop())
  const askedLater = async (count: number) => {
    const { length } = asked.mock.calls
    await until(async () => asked.mock.calls.length >= length + count)
  }
  await askedLater(10)
  expect(steps.map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  const task = await work.create({ runAt: Date.now() + HOUR })
  await askedLater(10)
  expect(steps.map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  // By time alone, and without a notice: only the row says so.
  await rows(`update tasks set due_at = now() where id = $1`, [task.id])
  await until(async () => (await work.record(task)).state === 'queued')
})

test('an executor without work asks what is due once a second, until a commit makes it tick as with runs', async () => {
  const { store, work, follow } = await freshStore()
  await follow()
  const delays: number[] = []
  const timers: Timers = {
    ...realTimers,
    after(ms, act) {
      delays.push(ms)
      return realTimers.after(ms, act)
    },
  }
  const executor = new Executor({
    kernel: openKernel(store, serverDirectory(store)),
    ...{ timers, storeRetry: new StoreRetry(timers), log: pino({ level: 'silent' }) },
    ...{ node: { id: randomUUID(), name: 'here' }, mostRuns: 1 },
  } as unknown as ExecutorContext).start()
  opened.push(() => executor.stop())
  const rests = () => delays.filter((ms) => ms === 1_000).length
  await until(async () => rests() >= 3)
  expect(delays.slice(-2), 'it stays at rest').toEqual([1_000, 1_000])
  delays.length = 0
  await work.create()
  await until(async () => delays.includes(250))
  await until(async () => rests() > 0)
})

describe('a coordinator without work', () => {
  let under: Awaited<ReturnType<typeof freshStore>>
  let coordinator: Coordinator
  beforeAll(async () => {
    under = await freshStore()
    const { store } = under
    const kernel = openKernel(store, serverDirectory(store))
    const node = await Node.start(store, { version: 'test' })
    // It leads to the end, also of a test that moves the clock.
    const leadership = new Leadership(store, node.id, { leaseMs: HOUR })
    coordinator = new Coordinator(kernel, leadership, node.id, pino({ level: 'silent' }))
    opened.push(
      () => node.stop(),
      () => coordinator.stop(),
    )
  })

  test('runs no step until something is committed or due, and then runs them', async () => {
    const { store, work, rows } = under
    const steps = vi.spyOn(store, 'dueTasks')
    coordinator.start()
    const passesLater = async (count: number) => {
      const { passes } = coordinator.state()
      await until(async () => coordinator.state().passes >= passes + count)
    }
    // The first pass, and the one after the commits of the first.
    await passesLater(4)
    const atRest = steps.mock.calls.length
    await passesLater(4)
    expect(steps.mock.calls.length, 'nothing happened').toBe(atRest)
    const task = await work.create({ runAt: Date.now() + HOUR })
    await until(async () => steps.mock.calls.length > atRest)
    await passesLater(4)
    // By time alone, and without a notice: only the row says so.
    await rows(`update tasks set due_at = now() + interval '1 second' where id = $1`, [task.id])
    await until(async () => (await work.record(task)).state === 'queued')
  })

  test('runs steps with an interval of their own only after a commit, too', async () => {
    const { store, work } = under
    const counted = vi.spyOn(store.missionCounters, 'drifted')
    const others = vi.spyOn(store, 'dueTasks')
    const passesLater = async (count: number) => {
      const { passes } = coordinator.state()
      await until(async () => coordinator.state().passes >= passes + count)
    }
    // Time stands still, after one in which all steps run.
    const now = performance.now() + 30_000
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now)
    opened.push(async () => clock.mockRestore())
    await until(async () => counted.mock.calls.length > 0)
    for (let before = -1; others.mock.calls.length > before; ) {
      before = others.mock.calls.length
      await passesLater(3)
    }
    const atRest = counted.mock.calls.length
    // More than its interval, and less than the time after which all steps run.
    clock.mockReturnValue(now + 12_000)
    await passesLater(3)
    expect(counted.mock.calls.length, 'nothing happened').toBe(atRest)
    await work.create({ runAt: Date.now() + HOUR })
    await until(async () => counted.mock.calls.length > atRest)
    clock.mockRestore()
  })
})
