import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Combiner } from '../../src/kernel/combiner.ts'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { listLeaderTerms, updateLeaderLease } from '../../src/postgres/cluster/leader-lease.ts'
import { registerNode } from '../../src/postgres/cluster/nodes.ts'
import { keepTerms } from '../../src/postgres/statements/statements.ts'
import { decideLeaderLease, type LeaderLeaseCommand, type LeaderTerm } from '../../src/pure/leader-lease.ts'
import { serverDirectory } from '../../src/store/directory.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { Leadership } from '../../src/upkeep/leadership.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { freshDatabase } from '../support/database.ts'
import { NO_COMPANY, superuser, until } from '../support/nodes.ts'
import { cuttableConnectionTo } from '../support/proxy.ts'
import type { Reply } from '../support/replies.ts'
import { rounds } from '../support/rounds.ts'
import { newTask, outcome } from '../support/tasks.ts'

/** Longer than any test: such a lease ends only when the test moves the time. */
const LONG = 60_000

let database: Awaited<ReturnType<typeof freshDatabase>>
/** Two nodes on one database, each with connections of its own. */
let first: PostgresStore
let second: PostgresStore
let a: string
let b: string
let workspace: number

beforeAll(async () => {
  database = await freshDatabase()
  first = await PostgresStore.open(database.url)
  second = await PostgresStore.open(database.url)
})
afterAll(async () => {
  await Promise.all([first.close(), second.close()])
  await database.drop()
})
beforeEach(async () => {
  await sql('truncate baton.leader_leases, baton.nodes')
  ;[a, b] = [await newNode(first), await newNode(second)]
  workspace = (await createWorkspace(first, 'test', 'test')).workspaceId
})

const sql = (text: string, values: unknown[] = []) =>
  superuser(database.url, async (client) => (await client.query(text, values)).rows)

async function newNode(store: PostgresStore): Promise<string> {
  const nodeId = randomUUID()
  await registerNode(store.control, { nodeId, name: 'node', pid: 1, version: 'test' })
  return nodeId
}

/** As much time passes for the current term. */
const timePasses = (ms: number) =>
  sql(
    `update baton.leader_leases set taken_at = taken_at - $1 * interval '1 ms', renewed_at = renewed_at - $1 * interval '1 ms',
            expires_at = expires_at - $1 * interval '1 ms' where ended_at is null`,
    [ms],
  )

const requestLease = (
  store: PostgresStore,
  kind: LeaderLeaseCommand['kind'],
  nodeId: string,
  leaseMs = LONG,
) => updateLeaderLease(store.control, { kind, nodeId, leaseMs })
const numberOf = (term: LeaderTerm | null) => term?.term ?? null
const history = async () =>
  (await listLeaderTerms(second.control, 200)).map(({ term, nodeId, endReason }) => [term, nodeId, endReason])

/** Repeats while the answer is no, or the store is unreachable. */
const whileStoreIsUnreachable = <T>(ask: () => Promise<T | null>) =>
  until(() => ask().catch((error) => (error instanceof StoreUnavailable ? null : Promise.reject(error))))

/** A write under a term; the log shows which. */
const fenced = (by: Combiner, term: number): Promise<Reply> =>
  by.run(workspace, { on: 'new', actor: `term:${term}`, term, tasks: [newTask()] })

const writtenUnder = async (term: number): Promise<number> =>
  (
    await sql(`select count(*)::int as n from baton.events where workspace_id = $1 and actor = $2`, [
      workspace,
      `term:${term}`,
    ])
  )[0].n

describe('the leader lease', () => {
  test('is acquired by one node, renewed by it and refused to another', async () => {
    const taken = await requestLease(first, 'take', a)
    expect(taken).toMatchObject({ term: 1, nodeId: a })
    expect(await requestLease(second, 'take', b)).toBeNull()
    await timePasses(1_000)
    const renewed = await requestLease(first, 'renew', a)
    expect(renewed!.term).toBe(1)
    expect(renewed!.expiresAt).toBeGreaterThanOrEqual(taken!.expiresAt)
    expect(await requestLease(second, 'renew', b)).toBeNull()
    expect(await history()).toEqual([[1, a, null]])
  })

  test('is renewed as the rule says, never for less time than an earlier answer', async () => {
    await requestLease(first, 'take', a)
    for (const leaseMs of [2 * LONG, LONG]) {
      await timePasses(1_000)
      const [before] = await listLeaderTerms(second.control, 1)
      const renewed = await requestLease(first, 'renew', a, leaseMs)
      const command = { kind: 'renew', nodeId: a, leaseMs } as const
      expect(renewed).toEqual(decideLeaderLease(before!, command, renewed!.renewedAt).holds)
      expect(await listLeaderTerms(second.control, 1)).toEqual([renewed])
    }
  })

  test('that expires while its renewal waits for the lock is not renewed', async () => {
    await requestLease(first, 'take', a)
    const renewing = await superuser(database.url, async (client) => {
      await client.query('begin')
      await client.query('select from baton.leader_leases for update')
      const asked = requestLease(first, 'renew', a)
      await until(async () => (await sql('select from pg_locks where not granted')).length > 0)
      await client.query(`update baton.leader_leases set expires_at = clock_timestamp() + interval '1 ms'`)
      await client.query('select pg_sleep(0.01)')
      await client.query('commit')
      return asked
    })
    expect(renewing).toBeNull()
  })

  test('is free when it has expired, and is then never renewed, but acquired again', async () => {
    await requestLease(first, 'take', a)
    await timePasses(LONG)
    expect(await requestLease(first, 'renew', a)).toBeNull()
    expect(await requestLease(second, 'take', b)).toMatchObject({ term: 2, nodeId: b })
    expect(await requestLease(first, 'take', a)).toBeNull()
    await timePasses(LONG)
    expect(numberOf(await requestLease(second, 'take', b))).toBe(3)
    expect(await history()).toEqual([
      [3, b, null],
      [2, b, 'EXPIRED'],
      [1, a, 'EXPIRED'],
    ])
  })

  test('is free at once when it is resigned, and only its holder can resign', async () => {
    await requestLease(first, 'take', a)
    expect(await requestLease(second, 'resign', b)).toBeNull()
    expect(await requestLease(second, 'take', b)).toBeNull()
    await requestLease(first, 'resign', a)
    expect(numberOf(await requestLease(second, 'take', b))).toBe(2)
    expect(await history()).toEqual([
      [2, b, null],
      [1, a, 'RESIGNED'],
    ])
  })

  test.each([
    ['that was never held', () => sql('truncate baton.leader_leases')],
    ['whose lease expired', () => timePasses(LONG)],
    [
      'that was resigned',
      () => Promise.all([requestLease(first, 'resign', a), requestLease(first, 'resign', b)]),
    ],
  ])('%s goes to exactly one of all nodes that request it, round after round', async (_, becomesFree) => {
    for (let round = 1; round <= rounds(5, 20); round++) {
      await becomesFree()
      const [{ max }] = await sql('select coalesce(max(term), 0)::int as max from baton.leader_leases')
      const answers = await Promise.all([
        requestLease(first, 'take', a),
        requestLease(second, 'take', b),
        requestLease(first, 'take', a),
        requestLease(second, 'take', b),
      ])
      const winners = answers.filter((answer) => answer !== null)
      expect(new Set(winners.map(({ nodeId }) => nodeId)).size).toBe(1)
      expect(new Set(winners.map(({ term }) => term))).toEqual(new Set([max + 1]))
    }
  })

  test('is lost by a node that waited for the lock while its lease expired', async () => {
    await requestLease(first, 'take', a)
    await superuser(database.url, async (blocker) => {
      await blocker.query('begin')
      await blocker.query('select 1 from baton.leader_leases for update')
      const renewal = requestLease(first, 'renew', a)
      await waitingForLocks(blocker, 1)
      await blocker.query(
        `update baton.leader_leases set renewed_at = renewed_at - interval '61 s', expires_at = clock_timestamp()`,
      )
      await blocker.query('commit')
      expect(await renewal).toBeNull()
    })
  })
})

/** Resolves when as many connections of the stores wait for locks. */
const waitingForLocks = (client: pg.Client, count: number) =>
  until(async () => {
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity where datname = current_database()
          and application_name = 'baton' and wait_event_type = 'Lock'`,
    )
    return rows[0].n === count
  })

describe('a write under a term', () => {
  test('is accepted while the term lasts, and refused with NOT_LEADER when another node has followed', async () => {
    const kernel = openKernel(first, serverDirectory(first))
    const caller = { workspaceId: workspace, actor: 'system', rights: new Set<never>() }
    const create = (term: number) => kernel.run({ ...caller, term }, { on: 'new', tasks: [newTask()] })
    await requestLease(first, 'take', a)
    expect(outcome((await create(1)) as Reply)).toBe('CREATED')
    await timePasses(LONG)
    await requestLease(second, 'take', b)
    const before = await sql('select * from baton.events where workspace_id = $1', [workspace])
    expect(outcome((await create(1)) as Reply)).toBe('NOT_LEADER')
    expect(await sql('select * from baton.events where workspace_id = $1', [workspace])).toEqual(before)
    expect(
      await sql('select count(*)::int as n from baton.tasks where workspace_id = $1', [workspace]),
    ).toEqual([{ n: 1 }])
    expect(outcome((await create(2)) as Reply)).toBe('CREATED')
    await kernel.close()
  })

  test('is refused when the lease expired, even without a successor, when it was resigned, and for future terms', async () => {
    const combiner = new Combiner(first)
    expect(outcome(await fenced(combiner, 1))).toBe('NOT_LEADER')
    await requestLease(first, 'take', a)
    expect(outcome(await fenced(combiner, 2))).toBe('NOT_LEADER')
    await timePasses(LONG)
    expect(outcome(await fenced(combiner, 1))).toBe('NOT_LEADER')
    await requestLease(first, 'take', a)
    expect(outcome(await fenced(combiner, 1))).toBe('NOT_LEADER')
    expect(outcome(await fenced(combiner, 2))).toBe('CREATED')
    await requestLease(first, 'resign', a)
    expect(outcome(await fenced(combiner, 2))).toBe('NOT_LEADER')
  })

  test('is refused alone: others in the same batch are accepted', async () => {
    const combiner = new Combiner(first)
    const [late, anybody] = await Promise.all([
      fenced(combiner, 7),
      combiner.run(workspace, { on: 'new', actor: 'key:test', tasks: [newTask()] }),
    ])
    expect([outcome(late), outcome(anybody)]).toEqual(['NOT_LEADER', 'CREATED'])
  })

  test('is finished before another node follows, while its own node renews undisturbed', async () => {
    await requestLease(first, 'take', a)
    const combiner = new Combiner(first)
    await superuser(database.url, async (blocker) => {
      await blocker.query('begin')
      await blocker.query('select 1 from baton.workspace_counters where workspace_id = $1 for update', [
        workspace,
      ])
      const write = fenced(combiner, 1)
      await waitingForLocks(blocker, 1)
      expect(numberOf(await requestLease(first, 'renew', a)), 'the renewal did not wait').toBe(1)
      await timePasses(LONG)
      let followed = false
      const following = requestLease(second, 'take', b).finally(() => {
        followed = true
      })
      await waitingForLocks(blocker, 2)
      expect(followed).toBe(false)
      const { rows } = await blocker.query('select baton.ms(clock_timestamp())::float as now')
      await blocker.query('commit')
      expect(outcome(await write)).toBe('CREATED')
      const { term, takenAt } = (await following)!
      expect(term).toBe(2)
      expect(takenAt, 'decided after the write').toBeGreaterThanOrEqual(rows[0].now)
    })
    expect(await writtenUnder(1)).toBe(1)
    expect(outcome(await fenced(combiner, 1))).toBe('NOT_LEADER')
  })

  test('never commits after another node has followed, however they race', { timeout: 120_000 }, async () => {
    const leaseMs = 100
    const combiner = new Combiner(first, NO_COMPANY)
    let written = 0
    for (let round = 1; round <= rounds(10, 50); round++) {
      const [node, nextNode] = round % 2 ? [a, b] : [b, a]
      const { term } = await whileStoreIsUnreachable(() => requestLease(first, 'take', node, leaseMs))
      const writeOn = async () => {
        for (;;) {
          const reply = await fenced(combiner, term).catch(() => null)
          if (reply && outcome(reply) === 'NOT_LEADER') return
        }
      }
      const writing = Promise.all([writeOn(), writeOn(), writeOn()])
      const next = await whileStoreIsUnreachable(() => requestLease(second, 'take', nextNode, LONG))
      const committed = await writtenUnder(term)
      await writing
      expect(next.term).toBeGreaterThan(term)
      expect(await writtenUnder(term), `round ${round}`).toBe(committed)
      const late = `select 1 from baton.events where workspace_id = $1 and actor = $2 and baton.ms(at) > $3`
      expect(await sql(late, [workspace, `term:${term}`, next.takenAt])).toEqual([])
      written += committed
      await requestLease(second, 'resign', nextNode)
    }
    expect(written, 'written under any of the terms').toBeGreaterThan(0)
  })

  test('delays its successor no longer than a lease when its node stops in the middle of it', async () => {
    await requestLease(first, 'take', a, 300)
    const stopped = await first.writers.connect()
    const broken = new Promise<Error>((resolve) => stopped.on('error', resolve))
    await stopped.query('begin')
    await stopped.query(`select set_config('baton.workspace_id', $1, true)`, [String(workspace)])
    expect((await stopped.query({ ...keepTerms, values: ['{1}'] })).rowCount).toBe(1)
    // Any other transaction may stop for fifteen seconds before it is terminated.
    const { rows } = await stopped.query('show idle_in_transaction_session_timeout')
    expect(Number.parseInt(rows[0].idle_in_transaction_session_timeout, 10)).toBeLessThanOrEqual(300)
    expect(rows[0].idle_in_transaction_session_timeout).toMatch(/^\d+ms$/)
    const followed = await whileStoreIsUnreachable(() => requestLease(second, 'take', b))
    expect(followed.term).toBe(2)
    const { expiresAt } = (await listLeaderTerms(second.control, 2))[1]!
    expect(followed.takenAt).toBeGreaterThanOrEqual(expiresAt)
    expect(await broken).toMatchObject({ code: '25P03' })
    stopped.release(true)
  })
})

describe('a node’s leadership', () => {
  test('is held by one of two nodes, and goes to the other as soon as it is resigned', async () => {
    const [one, other] = [new Leadership(first, a, { leaseMs: LONG }), new Leadership(second, b)]
    expect(one.term).toBeNull()
    expect(await one.hold()).toBe(1)
    expect(one.term).toBe(1)
    expect(await other.hold()).toBeNull()
    await one.resign()
    expect(one.term).toBeNull()
    expect(await until(() => other.hold())).toBe(2)
    expect(await history()).toEqual([
      [2, b, null],
      [1, a, 'RESIGNED'],
    ])
    await one.resign()
    expect(other.term, 'a node that does not hold it cannot resign it').toBe(2)
  })

  test('goes to another node when the lease has expired, and not before', async () => {
    const leaseMs = 1_500
    const [one, other] = [new Leadership(first, a, { leaseMs }), new Leadership(second, b, { leaseMs })]
    expect(await one.hold()).toBe(1)
    // Held for longer than one lease, by renewals.
    const renewals = new Set<number>()
    await until(async () => {
      expect(await one.hold()).toBe(1)
      expect(await other.hold()).toBeNull()
      renewals.add((await listLeaderTerms(first.control, 1))[0]!.renewedAt)
      return renewals.size === 5
    })
    expect(await until(() => other.hold())).toBe(2)
    expect(one.term, 'it knew before the other could follow').toBeNull()
    const [newest, before] = await listLeaderTerms(first.control, 2)
    expect(newest!.takenAt).toBeGreaterThanOrEqual(before!.expiresAt)
    expect(before).toMatchObject({ endReason: 'EXPIRED', endedAt: newest!.takenAt })
  })

  test('queries the database a few times a lease, however often it is asked for', async () => {
    const leadership = new Leadership(first, a, { leaseMs: LONG })
    let questions = 0
    const counted = () => {
      questions += 1
    }
    first.control.on('acquire', counted)
    for (let i = 0; i < 100; i++) expect(await leadership.hold()).toBe(1)
    expect(await Promise.all(Array.from({ length: 100 }, () => leadership.hold()))).toEqual(
      Array(100).fill(1),
    )
    first.control.off('acquire', counted)
    expect(questions).toBe(1)
  })

  test('asked for concurrently is one query, and all get its answer', async () => {
    const leadership = new Leadership(first, a, { leaseMs: LONG })
    expect(await Promise.all(Array.from({ length: 20 }, () => leadership.hold()))).toEqual(Array(20).fill(1))
    expect(await history()).toHaveLength(1)
  })

  test('is released in time by a node that cannot reach the database, and another acquires it', async () => {
    const connection = await cuttableConnectionTo(database.url)
    const store = await PostgresStore.open(connection.url)
    const leaseMs = 500
    const leadership = new Leadership(store, a, { leaseMs })
    expect(await leadership.hold()).toBe(1)
    connection.cut()
    const holdOn = async () => {
      await leadership.hold()
      return false
    }
    await expect(until(holdOn)).rejects.toThrow(StoreUnavailable)
    await until(async () => leadership.term === null)
    const other = new Leadership(second, b, { leaseMs })
    expect(await until(() => other.hold())).toBe(2)
    await expect(leadership.resign(), 'nothing to report').resolves.toBeUndefined()
    connection.restore()
    await store.close()
    await connection.close()
  })

  test('delays no one when its node stops while it acquires the lease', async () => {
    const connection = await cuttableConnectionTo(database.url)
    const store = await PostgresStore.open(connection.url)
    const { takenAt: firstTakenAt } = (await requestLease(first, 'take', b))!
    await timePasses(LONG)
    connection.loseAnswersTo('lock_for_takeover')
    const taking = expect(requestLease(store, 'take', a, 300)).rejects.toThrow(StoreUnavailable)
    await superuser(database.url, (client) =>
      until(async () => {
        const locked = `select 1 from baton.leader_leases for update skip locked`
        return (await client.query(locked)).rowCount === 0
      }),
    )
    const { term, takenAt } = (await requestLease(second, 'take', b))!
    expect(term).toBe(2)
    // Before the node itself would have given up retrying.
    expect(takenAt - firstTakenAt).toBeLessThan(4_500)
    await taking
    await store.close()
    await connection.close()
  })

  test('uses another connection when the first one is dead', async () => {
    const connection = await cuttableConnectionTo(database.url)
    const store = await PostgresStore.open(connection.url)
    connection.loseAnswersTo('newest_term')
    const leadership = new Leadership(store, a, { leaseMs: LONG })
    await expect(leadership.hold()).rejects.toThrow(StoreUnavailable)
    connection.restore()
    expect(numberOf(await requestLease(store, 'take', a))).toBe(1)
    await store.close()
    await connection.close()
  })

  test('whose answer was lost is found again: the same node has the same term', async () => {
    await requestLease(first, 'take', a)
    expect(await new Leadership(first, a).hold()).toBe(1)
  })
})

describe('in memory', () => {
  test('terms are judged by the same rules, and a successor waits for transactions under way', async () => {
    let now = 1_000
    let continueTask: () => void = () => undefined
    const store = new MemoryStore({
      now: () => now,
      pause: (where) =>
        where === 'before commit'
          ? new Promise<void>((resolve) => (continueTask = resolve))
          : Promise.resolve(),
    })
    store.addWorkspace(1)
    const combiner = new Combiner(store)
    const create = (term: number) => combiner.run(1, { on: 'new', actor: 'system', term, tasks: [newTask()] })
    expect(await store.leaderLease.command({ kind: 'take', nodeId: 'a', leaseMs: 100 })).toMatchObject({
      term: 1,
    })
    expect(await store.leaderLease.command({ kind: 'take', nodeId: 'b', leaseMs: 100 })).toBeNull()
    const underWay = create(1)
    await new Promise((resolve) => setImmediate(resolve))
    now += 100
    const order: string[] = []
    const following = store.leaderLease.command({ kind: 'take', nodeId: 'b', leaseMs: 100 }).then((term) => {
      order.push('followed')
      return term
    })
    const written = underWay.then((reply) => {
      order.push('written')
      return reply
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(order).toEqual([])
    continueTask()
    expect(outcome(await written)).toBe('CREATED')
    expect(await following).toMatchObject({ term: 2 })
    expect(store.leaderLease.terms.map(({ endReason }) => endReason)).toEqual(['EXPIRED', null])
    const late = create(1)
    await new Promise((resolve) => setImmediate(resolve))
    continueTask()
    expect(outcome(await late)).toBe('NOT_LEADER')
  })
})
