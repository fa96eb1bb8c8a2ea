import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listLeaderTerms, updateLeaderLease } from '../../src/postgres/cluster/leader-lease.ts'
import {
  deleteOldNodes,
  heartbeatNode,
  listNodes,
  nodeStopped,
  registerNode,
} from '../../src/postgres/cluster/nodes.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { Node } from '../../src/upkeep/node.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser, until } from '../support/nodes.ts'
import { cuttableConnectionTo } from '../support/proxy.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let store: PostgresStore
beforeAll(async () => {
  database = await freshDatabase()
  store = await PostgresStore.open(database.url)
})
afterAll(async () => {
  await store.close()
  await database.drop()
})
beforeEach(() => sql('truncate baton.leader_leases, baton.nodes'))

const sql = (text: string, values: unknown[] = []) =>
  superuser(database.url, async (client) => (await client.query(text, values)).rows)
const lastSeen = (nodeId: string, ago: string) =>
  sql(`update baton.nodes set last_seen_at = clock_timestamp() - $2::interval where node_id = $1`, [
    nodeId,
    ago,
  ])

async function newNode(name = 'node'): Promise<string> {
  const nodeId = randomUUID()
  await registerNode(store.control, { nodeId, name, pid: 4711, version: '1.2.3' })
  return nodeId
}
const listed = async (nodeId: string) =>
  (await listNodes(store.control)).find((node) => node.nodeId === nodeId)
const names = async () => (await listNodes(store.control)).map(({ name }) => name)

describe('nodes', () => {
  test('are listed with what they reported', async () => {
    const nodeId = await newNode('east-1')
    const node = await listed(nodeId)
    expect(node).toMatchObject({ nodeId, name: 'east-1', pid: 4711, version: '1.2.3' })
    expect(node).toMatchObject({ state: 'alive', leadsTerm: null, stoppedAt: null })
    expect(node!.lastSeenAt).toBeGreaterThanOrEqual(node!.startedAt)
    // One of a version that says no more.
    expect(node).toMatchObject({ mostRuns: null, cpu: null, lagMs: null })
    await heartbeatNode(store.control, nodeId, { cpu: 0.25, lagMs: 3 })
    expect(await listed(nodeId)).toMatchObject({ cpu: 0.25, lagMs: 3 })
  })

  test('are silent when three heartbeats are missing, alive with the next one, and stopped when they say so', async () => {
    const nodeId = await newNode()
    await lastSeen(nodeId, '5 s')
    expect(await listed(nodeId)).toMatchObject({ state: 'alive' })
    await lastSeen(nodeId, '6001 ms')
    expect(await listed(nodeId)).toMatchObject({ state: 'silent' })
    expect(await heartbeatNode(store.control, nodeId)).toBe(true)
    expect(await listed(nodeId)).toMatchObject({ state: 'alive' })
    await nodeStopped(store.control, nodeId)
    expect(await listed(nodeId)).toMatchObject({ state: 'stopped', stoppedAt: expect.any(Number) })
  })

  test('are listed with the term they lead under, while it lasts', async () => {
    const [a, b] = [await newNode('a'), await newNode('b')]
    const { term } = (await updateLeaderLease(store.control, { kind: 'take', nodeId: a, leaseMs: 60_000 }))!
    expect([(await listed(a))!.leadsTerm, (await listed(b))!.leadsTerm]).toEqual([term, null])
    await sql(
      `update baton.leader_leases set renewed_at = renewed_at - interval '2 min', expires_at = clock_timestamp()`,
    )
    expect((await listed(a))!.leadsTerm).toBeNull()
  })

  test('are ordered by importance: alive, silent, stopped', async () => {
    await newNode('alive')
    await lastSeen(await newNode('silent'), '1 min')
    await nodeStopped(store.control, await newNode('stopped'))
    expect(await names()).toEqual(['alive', 'silent', 'stopped'])
  })

  test('that are unknown cannot heartbeat, and get no term', async () => {
    const nodeId = randomUUID()
    expect(await heartbeatNode(store.control, nodeId)).toBe(false)
    await expect(
      updateLeaderLease(store.control, { kind: 'take', nodeId, leaseMs: 1_000 }),
    ).rejects.toMatchObject({
      code: '23503',
    })
    expect(await listLeaderTerms(store.control, 10)).toEqual([])
  })
})

describe('retention', () => {
  test('of nodes is a day, unless a stored term was theirs', async () => {
    await newNode('alive')
    await lastSeen(await newNode('inactive for some hours'), '23 h')
    await lastSeen(await newNode('silent'), '25 h')
    const stopped = await newNode('stopped')
    await nodeStopped(store.control, stopped)
    await lastSeen(stopped, '25 h')
    const leader = await newNode('led once')
    await updateLeaderLease(store.control, { kind: 'take', nodeId: leader, leaseMs: 1_000 })
    await updateLeaderLease(store.control, { kind: 'resign', nodeId: leader, leaseMs: 1_000 })
    await lastSeen(leader, '25 h')
    await deleteOldNodes(store.control)
    expect((await names()).sort()).toEqual(['alive', 'inactive for some hours', 'led once'])
  })

  test('of leader terms is thirty days, and the last hundred terms in any case', async () => {
    const nodeId = await newNode()
    // Terms 1 to 150: the first 80 ended forty days ago, the others today; the last one is active.
    await sql(
      `insert into baton.leader_leases (role, term, node_id, taken_at, renewed_at, expires_at, ended_at, end_reason)
       select 'coordinator', i, $1, at, at, at + interval '1 s', case when i < 150 then at end,
              case when i < 150 then 'RESIGNED' end
         from generate_series(1, 150) i, lateral (select clock_timestamp() - case when i <= 80 then interval '40 days'
              else interval '1 s' end as at) x`,
      [nodeId],
    )
    await deleteOldNodes(store.control)
    const terms = (await listLeaderTerms(store.control, 1_000)).map(({ term }) => term)
    expect([terms.length, terms[0], terms.at(-1)]).toEqual([100, 150, 51])
    await sql(`update baton.leader_leases set ended_at = ended_at - interval '40 days' where term <= 149`)
    await sql(`delete from baton.leader_leases where term between 52 and 120`)
    await deleteOldNodes(store.control)
    expect(
      await listLeaderTerms(store.control, 1_000),
      'by their number, not by how many there are',
    ).toHaveLength(31)
  })
})

describe('a process', () => {
  test('is known by its host and pid unless it is named, and is a new node after each start', async () => {
    const [one, other] = [
      await Node.start(store, { version: '1' }),
      await Node.start(store, { version: '1', name: 'mine' }),
    ]
    expect(one.id).not.toBe(other.id)
    expect(await listed(one.id)).toMatchObject({ name: `${hostname()}-${process.pid}`, pid: process.pid })
    expect(await listed(other.id)).toMatchObject({ name: 'mine', state: 'alive' })
    await Promise.all([one.stop(), other.stop()])
    expect((await listNodes(store.control)).map(({ state }) => state)).toEqual(['stopped', 'stopped'])
  })

  test('sends heartbeats automatically, also after the database was unreachable and after it was deleted', async () => {
    const connection = await cuttableConnectionTo(database.url)
    const mine = await PostgresStore.open(connection.url)
    const node = await Node.start(mine, { version: '1', name: 'mine' })
    const seenAt = async () => (await listed(node.id))?.lastSeenAt ?? 0
    const started = await seenAt()
    await until(async () => (await seenAt()) > started)
    connection.cut()
    await sql('delete from baton.nodes')
    connection.restore()
    await until(async () => (await listed(node.id)) !== undefined)
    expect(await listed(node.id)).toMatchObject({ name: 'mine', state: 'alive', version: '1' })
    await node.stop()
    expect(await listed(node.id)).toMatchObject({ state: 'stopped' })
    await mine.close()
    await connection.close()
  })

  test('that stops while the database is unreachable still stops', async () => {
    const connection = await cuttableConnectionTo(database.url)
    const mine = await PostgresStore.open(connection.url)
    const node = await Node.start(mine, { version: '1' })
    connection.cut()
    await expect(node.stop()).resolves.toBeUndefined()
    expect(await listed(node.id)).toMatchObject({ state: 'alive' })
    await mine.close()
    connection.restore()
    await connection.close()
  })
})
