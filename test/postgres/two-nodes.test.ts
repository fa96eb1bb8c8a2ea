import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { type Baton, start } from '../../src/start.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser, until } from '../support/nodes.ts'
import { callsTo, type ServerUnderTest } from '../support/server.ts'

const CALLERS = 20

let database: Awaited<ReturnType<typeof freshDatabase>>
let folder: string
const nodes: Baton[] = []
let calls: ServerUnderTest['call'][]

beforeAll(async () => {
  database = await freshDatabase()
  folder = mkdtempSync(join(tmpdir(), 'baton-nodes-'))
  const common = { DATABASE_URL: database.url, BATON_PORT: '0', BATON_LOG_LEVEL: 'silent' }
  for (const name of ['a', 'b'])
    nodes.push(await start(readConfig({ ...common, BATON_DATA: folder, BATON_NODE_NAME: name })))
  const key = readFileSync(join(folder, 'owner-key'), 'utf8').trim()
  calls = nodes.map(({ url }) => callsTo(`${url}/api/v1`, key))
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

const post = async (node: number, path: string, body: unknown) => {
  const answer = await calls[node]!('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

test('callers that wait on one node each get a task that was created through the other, and finish it there', async () => {
  const waiting = Array.from({ length: CALLERS }, async (_, i) => {
    const who = { agent: `agent-${i}`, session: `session-${i}` }
    const { claims } = await post(0, '/claims/next', { ...who, waitMs: 60_000 })
    expect(claims).toHaveLength(1)
    const [{ taskId, generation }] = claims
    await post(1, `/tasks/${taskId}/submit`, { session: who.session, generation, result: { by: who.agent } })
    return taskId as string
  })
  // A caller is known as an agent before it first queries the queue.
  await until(async () =>
    superuser(database.url, async (client) => {
      const { rows } = await client.query('select count(*)::int as agents from baton.agents')
      return rows[0].agents === CALLERS
    }),
  )
  const made: string[] = []
  for (let i = 0; i < CALLERS; i++) made.push((await post(1, '/tasks', { title: `Task ${i}` })).id)
  expect((await Promise.all(waiting)).sort()).toEqual(made.sort())
  const { body } = await calls[0]!('GET', `/tasks?state=completed&limit=${CALLERS + 1}`)
  expect(body.items).toHaveLength(CALLERS)
})
