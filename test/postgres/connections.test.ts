import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { inside } from '../../src/postgres/statements/scoped-query.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser, until } from '../support/nodes.ts'
import { type CuttableConnection, cuttableConnectionTo } from '../support/proxy.ts'
import { granted, holder, outcome, type Task, Work } from '../support/tasks.ts'

const alpha = holder('alpha')

let database: Awaited<ReturnType<typeof freshDatabase>>
let connection: CuttableConnection
let store: PostgresStore
let work: Work

beforeAll(async () => {
  database = await freshDatabase()
  connection = await cuttableConnectionTo(database.url)
  store = await PostgresStore.open(connection.url)
  work = new Work(store, (await createWorkspace(store, 'test', 'test')).workspaceId)
})
afterAll(async () => {
  await store.close()
  await connection.close()
  await database.drop()
})

/** Repeats while the store is unreachable, as a client with an idempotency key may. */
const whileStoreIsUnreachable = <T>(ask: () => Promise<T>) =>
  until(() =>
    ask().catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return null
      throw error
    }),
  )

const committedClaims = (task: Task) =>
  superuser(database.url, async (client) => {
    const { rows } = await client.query(`select from baton.tasks where id = $1 and claim_state = 'active'`, [
      task.id,
    ])
    return rows.length
  })

const POOLS = ['writers', 'readers', 'control', 'output'] as const

test.each(POOLS)('a connection in use that breaks does not end the process: %s', async (pool) => {
  // pg emits 'error' on the client besides failing its queries; without a listener Node ends the process.
  const client = await store[pool].connect()
  try {
    expect(client.listenerCount('error')).toBeGreaterThan(0)
  } finally {
    client.release()
  }
})

test('the pool for readers refuses every write, and no other pool does', async () => {
  const { workspaceId } = await createWorkspace(store, 'read', 'test')
  const writes = [
    `insert into socket_tickets (workspace_id) values ($1)`,
    `update workspaces set name = 'written' where workspace_id = $1`,
    `delete from idempotency_keys where workspace_id = $1`,
    `select from limits where workspace_id = $1 for update`,
    `select nextval('task_ids') where $1::int > 0`,
  ]
  const refused = { code: '25006', message: expect.stringContaining('read-only transaction') }
  for (const text of writes)
    await expect(inside(store.readers, workspaceId, text), text).rejects.toMatchObject(refused)
  expect(
    await inside(store.readers, workspaceId, 'select name from workspaces where workspace_id = $1'),
  ).toEqual([{ name: 'read' }])
  const isReadOnly = async (pool: (typeof POOLS)[number]) =>
    (await store[pool].query('show transaction_read_only')).rows[0].transaction_read_only
  expect(await Promise.all(POOLS.map(isReadOnly))).toEqual(['off', 'on', 'off', 'off'])
})

describe('when the connection to the database is cut', () => {
  test('requests and reads are refused as UNAVAILABLE, and work again when it is restored', async () => {
    const task = await work.create()
    connection.cut()
    await expect(work.claim(task, alpha)).rejects.toThrow(StoreUnavailable)
    await expect(work.claims(task)).rejects.toThrow(StoreUnavailable)
    connection.restore()
    expect(outcome(await whileStoreIsUnreachable(() => work.claim(task, alpha)))).toBe('GRANTED')
    expect(await whileStoreIsUnreachable(() => work.claims(task))).toHaveLength(1)
  })

  test('a transaction that waits for a lock leaves nothing behind', async () => {
    const task = await work.create()
    await superuser(database.url, async (blocker) => {
      await blocker.query('begin')
      await blocker.query('select 1 from baton.tasks where id = $1 for update', [task.id])
      const claim = work.claim(task, alpha)
      await until(async () => {
        const waiting = `select 1 from pg_stat_activity where datname = current_database()
                          and application_name = 'baton' and wait_event_type = 'Lock'`
        return (await blocker.query(waiting)).rowCount
      })
      connection.cut()
      await expect(claim).rejects.toThrow(StoreUnavailable)
      await blocker.query('commit')
    })
    connection.restore()
    expect(outcome(await whileStoreIsUnreachable(() => work.claim(task, alpha)))).toBe('GRANTED')
    expect(await whileStoreIsUnreachable(() => work.record(task))).toMatchObject({
      generation: 1,
      attempt: 1,
    })
  })

  test('a claim whose answer is lost after commit gets the same answer under its key, once', async () => {
    const task = await work.create()
    connection.loseAnswersTo('commit')
    const lost = work.under('claim-1').claim(task, alpha)
    await until(async () => (await committedClaims(task)) === 1)
    connection.cut()
    await expect(lost).rejects.toThrow(StoreUnavailable)
    connection.restore()
    const again = await whileStoreIsUnreachable(() => work.under('claim-1').claim(task, alpha))
    expect(granted(again)).toMatchObject({ ...alpha, generation: 1 })
    expect(await whileStoreIsUnreachable(() => work.claims(task))).toHaveLength(1)
    expect(outcome(await work.claim(task, alpha)), 'without the key').toBe('DENIED_ACTIVE_CLAIM')
  })

  test('a submission whose answer is lost after commit gets the accepted answer again', async () => {
    const task = await work.create()
    const hold = granted(await work.claim(task, alpha))
    connection.loseAnswersTo('commit')
    const lost = work.submit(task, hold, { answer: 42 })
    await until(async () =>
      superuser(database.url, async (client) => {
        const done = `select 1 from baton.tasks where id = $1 and state = 'completed'`
        return (await client.query(done, [task.id])).rowCount
      }),
    )
    connection.cut()
    await expect(lost).rejects.toThrow(StoreUnavailable)
    connection.restore()
    expect(outcome(await whileStoreIsUnreachable(() => work.submit(task, hold, { answer: 42 })))).toBe(
      'ACCEPTED',
    )
    expect(await whileStoreIsUnreachable(() => work.results(task))).toMatchObject([{ accepted: true }])
  })
})
