import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fence } from '../support/http-workspace.ts'
import { type CuttableConnection, cuttableConnectionTo } from '../support/proxy.ts'
import { eventually, expectDoneOnce, type Served, useProcesses } from '../support/recovery.ts'
import { callsTo } from '../support/server.ts'

/** Mosaic's pattern 4: the database is unreachable for a while. */

const MINUTES = { timeout: 120_000 }
const processes = useProcesses()
let connection: CuttableConnection
let server: Served
beforeAll(async () => {
  connection = await cuttableConnectionTo(processes.databaseUrl())
  server = await processes.serve({
    DATABASE_URL: connection.url,
    BATON_NODE_NAME: 'cut',
    BATON_LOG_LEVEL: 'info',
  })
})
afterAll(async () => {
  server.child.kill('SIGKILL')
  connection.cut()
  await connection.close()
})

const get = async (path: string) => {
  const response = await fetch(`${server.url}${path}`)
  return { status: response.status, retryAfter: response.headers.get('retry-after') }
}

/** A request that needs the database gets 503, Retry-After, and the cause. */
async function expectNotNow(answer: { status: number; headers: Headers; body: { code: string } }) {
  expect(answer.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(answer.headers.get('content-type')).toContain('application/problem+json')
}

test(
  'while the database is unreachable the server stays, answers with Retry-After, and recovers on its own',
  MINUTES,
  async () => {
    const w = await processes.workspace(server.url)
    const tasks = await w.makeMany(60)
    const agents = [0, 1].map((i) =>
      w.agents(
        [0, 1, 2].map((j) => `agent-${i}-${j}`),
        { capacity: 2, stepMs: 50, staleSeconds: 600 },
      ),
    )
    const [mine] = await w.makeMany(1, { agent: 'me' })
    expect((await w.claim(mine!, 'me')).status).toBe(200)
    await w.isRecorded('task_completed', 10)
    connection.cut()

    await expectNotNow(await w.call('GET', `/tasks/${mine!.id}`))
    await expectNotNow(await w.post('/tasks', { title: 'In vain' }))
    await expectNotNow(await w.on(mine!, 'submit', { ...fence('s-me', 1), result: 1 }))
    await expectNotNow(await w.post('/claims/next', { agent: 'me', session: 's-me' }))
    await expectNotNow(await w.post('/agents/agent-0-0/heartbeat'))
    await expectNotNow(await w.call('GET', '/agents/agent-0-0/assignments?waitMs=1000'))
    await expectNotNow(await w.call('GET', '/coordinator/status'))
    expect(await get('/health/live')).toEqual({ status: 200, retryAfter: null })
    expect((await get('/health/ready')).status).toBe(503)
    expect(await get('/health/coordinator')).toEqual({ status: 503, retryAfter: '1' })
    await eventually(async () => server.stderr().includes('the database is unreachable'))

    connection.restore()
    await eventually(async () => (await get('/health/coordinator')).status === 200)
    await eventually(async () => server.stderr().includes('the database is reachable again'))
    expect((await w.on(mine!, 'submit', { ...fence('s-me', 1), result: 1 })).status).toBe(200)
    await w.isRecorded('task_completed', tasks.length + 1)
    await expectDoneOnce(w, [...tasks, mine!])
    expect((await w.claims()).every(({ generation }) => generation === 1)).toBe(true)
    // The same process, and the same agents.
    expect([server, ...agents].map(({ child }) => child.exitCode)).toEqual([null, null, null])
    for (const { child } of agents) child.kill('SIGKILL')
  },
)

test('the longer it is unreachable the less often it is retried', MINUTES, async () => {
  connection.cut()
  const before = connection.inVain()
  await sleep(5_000)
  const tries = connection.inVain() - before
  connection.restore()
  // Waits that do not grow would make hundreds of them; no waits at all, thousands.
  expect(tries).toBeGreaterThanOrEqual(3)
  expect(tries).toBeLessThanOrEqual(40)
  await eventually(async () => (await get('/health/coordinator')).status === 200)
})

test(
  'a leader without a database is followed by a server that has one, and serves again when it is back',
  MINUTES,
  async () => {
    const w = await processes.workspace(server.url)
    const other = await processes.serve({ BATON_NODE_NAME: 'other' })
    const agents = processes.agents({
      url: other.url,
      key: w.ownerKey,
      slugs: ['a', 'b', 'c'],
      capacity: 2,
      stepMs: 20,
      staleSeconds: 600,
    })
    await agents.reports('online', { agent: 'c' })
    const terms = () =>
      processes.rows<{ term: number; name: string; taken: number; renewed: number; reason: string | null }>(
        `select term, name, ms(taken_at)::float8 as taken, ms(renewed_at)::float8 as renewed, end_reason as reason
         from leader_leases join nodes using (workspace_id, node_id) order by term desc`,
      )
    expect((await terms())[0]!.name).toBe('cut')
    const before = await w.makeMany(25)
    await w.isRecorded('task_assigned', 5)
    connection.cut()
    const [newest, last] = await eventually(async () => {
      const found = await terms()
      return found[0]!.name === 'other' && found
    })
    expect(last).toMatchObject({ name: 'cut', reason: 'EXPIRED', term: newest!.term - 1 })
    const through = callsTo(`${other.url}/api/v1`, w.ownerKey)
    const body = { tasks: Array.from({ length: 25 }, (_, i) => ({ title: `Then ${i}` })) }
    const after = (await through('POST', '/tasks/batch', body)).body.items
    await w.isRecorded('task_completed', 50)

    connection.restore()
    const own = callsTo(`${server.url}/api/v1`, w.ownerKey)
    const status = await eventually(async () => {
      const answer = await own('GET', '/coordinator/status')
      return answer.status === 200 && answer.body
    })
    expect(status.thisNode.leads).toBe(false)
    expect(status.instanceId).not.toBe(status.thisNode.id)
    expect((await own('POST', '/tasks', { title: 'One more' })).status).toBe(201)
    await w.isRecorded('task_completed', 51)
    const all = (await own('GET', '/tasks?limit=200')).body.items as { id: string }[]
    expect(all).toHaveLength(before.length + after.length + 1)
    await expectDoneOnce(w, all)
    expect((await w.claims()).every(({ generation }) => generation === 1)).toBe(true)
  },
)
