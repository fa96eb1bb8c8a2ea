import { Combiner } from '../../src/kernel/combiner.ts'
import { type Store, StoreUnavailable, type Transactor } from '../../src/kernel/store/store.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { idCarriedBy } from '../../src/pure/ids.ts'
import { PostgresStore } from '../../src/store/store.ts'
import type { Answer, CoditectDriver, TaskRef } from './coditect-driver.ts'
import { freshDatabase } from './database.ts'
import { superuser, until } from './nodes.ts'
import { cuttableConnectionTo } from './proxy.ts'
import { type Hold, LONG_LEASE_MS, type Task, Work } from './tasks.ts'

export type StoreDriver = CoditectDriver & { close(): Promise<void> }

const inside = ({ uuid }: TaskRef): Task => ({ uuid, id: idCarriedBy(uuid)! })

/** An unreachable store is an answer here, as it is over HTTP. */
const answer = (asked: Promise<Answer>): Promise<Answer> =>
  asked.catch((error) => {
    if (error instanceof StoreUnavailable) return { ok: false, code: 'UNAVAILABLE' }
    throw error
  })

/** What all stores have in common: requests through a combiner, reads from the store. */
function throughCombiner(work: () => Work, leaseMs: (seconds: number | undefined) => number) {
  const held =
    (act: (work: Work, task: Task, by: Hold) => Promise<unknown>) =>
    (task: TaskRef, by: Hold): Promise<Answer> =>
      answer(act(work(), inside(task), by) as Promise<Answer>)
  return {
    newTask: (key, after = []) => work().create({ key }, after.map(inside)),
    claim: (task, by, { leaseSeconds, idempotencyKey } = {}) => {
      const on = idempotencyKey ? work().under(idempotencyKey) : work()
      return answer(on.claim(inside(task), by, { leaseMs: leaseMs(leaseSeconds) }) as Promise<Answer>)
    },
    start: held((on, task, by) => on.start(task, by)),
    renew: held((on, task, by) => on.renew(task, by)),
    release: held((on, task, by) => on.release(task, by)),
    submit: (task, by, result) => answer(work().submit(inside(task), by, result) as Promise<Answer>),
    reset: (task) => answer(work().reset(inside(task)) as Promise<Answer>),
    dependenciesMoved: async (task) => void (await work().unblock(inside(task))),
    state: (task) => work().record(inside(task)),
    claims: (task) => work().claims(inside(task)),
    results: (task) => work().results(inside(task)),
    log: (task) => work().eventsOf(inside(task)),
  } satisfies Partial<CoditectDriver>
}

/** Here the test moves time: the document's timeline and leases hold to the second. */
export async function memoryDriver(): Promise<StoreDriver> {
  let now = Date.UTC(2026, 0, 4, 6)
  let beganAt = now
  let gone = false
  let workspace = 0
  const store = new MemoryStore({ now: () => now })
  const reachable: Transactor = {
    transact: (...args) =>
      gone ? Promise.reject(new StoreUnavailable('The database is unreachable.')) : store.transact(...args),
  }
  let work: Work
  const restart = async () => {
    work = new Work(store, workspace, new Combiner(reachable))
  }
  return {
    ...throughCombiner(
      () => work,
      (seconds) => (seconds === undefined ? LONG_LEASE_MS : seconds * 1000),
    ),
    async begin() {
      store.addWorkspace(++workspace)
      beganAt = now
      await restart()
    },
    async at(seconds) {
      now = Math.max(now, beganAt + seconds * 1000)
    },
    async letLeaseExpire(task) {
      const { leaseExpiresAt } = await work.record(inside(task))
      now = Math.max(now, leaseExpiresAt!)
      await hasExpired(work, inside(task))
    },
    restart,
    async whileDatabaseIsUnreachable(act) {
      gone = true
      await act().finally(() => (gone = false))
    },
    close: async () => undefined,
  }
}

async function hasExpired(work: Work, task: Task): Promise<void> {
  await until(async () => (await work.elapse(task)).reason === 'MOVED')
}

/**
 * Real time and a real connection to the database. Leases are long, so that no step depends on speed, and end on request.
 */
export async function postgresDriver(): Promise<StoreDriver> {
  const database = await freshDatabase()
  const connection = await cuttableConnectionTo(database.url)
  let store: PostgresStore
  let work: Work
  const open = async (workspace: number) => {
    store = await PostgresStore.open(connection.url)
    work = new Work(store as Store, workspace)
  }
  await open(0)
  return {
    ...throughCombiner(
      () => work,
      () => LONG_LEASE_MS,
    ),
    async begin() {
      const { workspaceId } = await createWorkspace(store, 'coditect', 'test')
      work = new Work(store, workspaceId)
    },
    at: async () => undefined,
    async letLeaseExpire(task) {
      // The end of a real lease, without waiting for it and without racing the machine's speed: it is moved to now.
      const now = 'update baton.tasks set lease_expires_at = clock_timestamp() where id = $1'
      await superuser(database.url, (client) => client.query(now, [inside(task).id]))
      await hasExpired(work, inside(task))
    },
    async restart() {
      await store.close()
      await open(work.workspace)
    },
    async whileDatabaseIsUnreachable(act) {
      connection.cut()
      await act().finally(connection.restore)
    },
    async close() {
      await store.close()
      await connection.close()
      await database.drop()
    },
  }
}
