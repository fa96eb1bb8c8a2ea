import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ServerKernel } from '../../src/door/server-kernel.ts'
import type { Caller } from '../../src/kernel/kernel.ts'
import { claimBatch, claimNext, claimTask } from '../../src/kinds/task/acts/claims.ts'
import { createTasks } from '../../src/kinds/task/acts/tasks.ts'
import { TaskCreateBatch } from '../../src/kinds/task/shapes/tasks.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { serverDirectory } from '../../src/store/directory.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'

/** What a claim asks of the database when this node knows nothing of its agent and session. */

let database: TestDatabase
let store: PostgresStore
let caller: Caller

beforeAll(async () => {
  database = await freshDatabase()
  store = await PostgresStore.open(database.url)
})

afterAll(async () => {
  await store.close()
  await database.drop()
})

beforeEach(async () => {
  const { workspaceId } = await createWorkspace(store, randomUUID(), 'test')
  caller = { workspaceId, actor: 'test', rights: new Set() }
})

/** A kernel with empty caches. */
const fresh = (): ServerKernel => openKernel(store, serverDirectory(store))
const ALPHA = { agent: 'alpha', session: 's-1', leaseSeconds: 60 }
const NEVER = { gone: new AbortController().signal }

const make = (kernel: ServerKernel, ...tasks: object[]) =>
  createTasks(kernel, caller, TaskCreateBatch.parse({ tasks }).tasks)

async function tasks(count: number): Promise<string[]> {
  const made = await make(fresh(), ...Array.from({ length: count }, () => ({ title: 'task' })))
  return made.map(({ id }) => id)
}

/** How often a connection was taken for reading and for writing: each time is a transaction. */
async function counted(act: () => Promise<unknown>): Promise<{ reads: number; writes: number }> {
  const reading = vi.spyOn(store.readers, 'connect')
  const writing = vi.spyOn(store.writers, 'connect')
  try {
    await act()
    // Notices to other nodes are single statements after the commit: `pool.query`, which connects with a callback.
    const taken = ({ mock }: typeof reading) =>
      (mock.calls as unknown[][]).filter((given) => given.length === 0).length
    return { reads: taken(reading), writes: taken(writing) }
  } finally {
    reading.mockRestore()
    writing.mockRestore()
  }
}

const eventTypes = async () => (await store.events(caller.workspaceId, 0, 100)).map(({ type }) => type)

test('the first claim of a registered agent is one read before the one transaction that claims', async () => {
  const [first, second, third, fourth] = (await tasks(4)) as [string, string, string, string]
  await claimTask(fresh(), caller, first, ALPHA)
  const once = { reads: 1, writes: 1 }
  expect(await counted(() => claimTask(fresh(), caller, second, ALPHA))).toEqual(once)
  expect(await counted(() => claimTask(fresh(), caller, third, { ...ALPHA, session: 's-2' }))).toEqual(once)
  const batch = { ...ALPHA, session: 's-3', taskIds: [fourth] }
  expect(await counted(() => claimBatch(fresh(), caller, batch))).toEqual(once)
})

test('the first request for the next task is one read before it, and at most one for the details after it', async () => {
  const [first] = await tasks(2)
  await claimTask(fresh(), caller, first!, ALPHA)
  const next = { ...ALPHA, limit: 1, waitMs: 0 }
  const { reads, writes } = await counted(() => claimNext(fresh(), caller, next, NEVER))
  expect(writes).toBe(1)
  expect(reads).toBeLessThanOrEqual(2)
})

test('a second claim reads nothing before', async () => {
  const [first, second] = await tasks(2)
  const kernel = fresh()
  await claimTask(kernel, caller, first!, ALPHA)
  expect(await counted(() => claimTask(kernel, caller, second!, ALPHA))).toEqual({ reads: 0, writes: 1 })
})

test('a hundred first claims at once share their reads and transactions', async () => {
  const ids = await tasks(100)
  const kernel = fresh()
  const { reads, writes } = await counted(() =>
    Promise.all(ids.map((id, n) => claimTask(kernel, caller, id, { ...ALPHA, session: `s-${n}` }))),
  )
  expect(reads).toBeLessThanOrEqual(3)
  // One of them registers the agent.
  expect(writes).toBeLessThanOrEqual(6)
})

test('a new session is on record before what it claims', async () => {
  const [id] = await tasks(1)
  await claimTask(fresh(), caller, id!, ALPHA)
  const types = await eventTypes()
  expect(types.indexOf('session_started')).toBeGreaterThan(-1)
  expect(types.indexOf('session_started')).toBeLessThan(types.indexOf('task_assigned'))
})

test('a claim of a task that does not exist registers neither agent nor session', async () => {
  const [id] = await tasks(1)
  // The same number inside, another id outside.
  const other = id!.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  await expect(claimTask(fresh(), caller, other, ALPHA)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await eventTypes()).toEqual(expect.not.arrayContaining(['agent_registered', 'session_started']))
})

test('the capabilities of a worker count for its first claim on this node', async () => {
  const kernel = fresh()
  await kernel.run(caller, {
    on: 'session',
    key: 's-1',
    uuid: randomUUID(),
    command: {
      kind: 'open',
      opening: {
        agent: 'alpha',
        userId: null,
        project: null,
        capacity: 1,
        capabilities: ['cobol'],
        silenceMs: null,
      },
    },
  })
  await make(kernel, { title: 'task', requiredCapabilities: ['cobol'] })
  const next = { ...ALPHA, limit: 1, waitMs: 0 }
  expect((await claimNext(fresh(), caller, next, NEVER)).claims).toHaveLength(1)
  expect((await claimNext(fresh(), caller, { ...next, session: 's-2' }, NEVER)).claims).toHaveLength(0)
})

describe('a session that claims', () => {
  const dueAt = () =>
    superuser(database.url, async (client) => {
      const { rows } = await client.query(
        'select due_at from baton.sessions where workspace_id = $1 and session = $2',
        [caller.workspaceId, ALPHA.session],
      )
      return (rows[0].due_at as Date).getTime()
    })

  const forgetUntil = (ago: string) =>
    superuser(database.url, (client) =>
      client.query('update baton.sessions set due_at = due_at - $2::interval where workspace_id = $1', [
        caller.workspaceId,
        ago,
      ]),
    )

  test('is not written again within a minute: that would lock all it holds', async () => {
    const [first, second] = await tasks(2)
    await claimTask(fresh(), caller, first!, ALPHA)
    await forgetUntil('30 s')
    const due = await dueAt()
    await claimTask(fresh(), caller, second!, ALPHA)
    expect(await dueAt()).toBe(due)
  })

  test('is written again after a minute, or for another agent', async () => {
    const [first, second, third] = await tasks(3)
    await claimTask(fresh(), caller, first!, ALPHA)
    const due = await dueAt()
    await forgetUntil('61 s')
    await claimTask(fresh(), caller, second!, ALPHA)
    expect(await dueAt()).toBeGreaterThanOrEqual(due)
    await forgetUntil('30 s')
    await claimTask(fresh(), caller, third!, { ...ALPHA, agent: 'beta' })
    expect(await dueAt()).toBeGreaterThanOrEqual(due)
  })
})
