import { createHash } from 'node:crypto'
import fs, { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/start.ts'
import { freshDatabase } from '../support/database.ts'
import { allOf, pathTo, type Route, send, takesPlan } from '../support/http-routes.ts'
import { all, label, problemIn, serverUnderAttack } from '../support/http-under-attack.ts'
import { expectRefusal, type Json, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { cuttableConnectionTo } from '../support/proxy.ts'
import { startServer } from '../support/server.ts'

/** Authentication, and what each key may do. */

const { server, routes, w, nothingIsWrittenBy, close } = await serverUnderAttack()
afterAll(close)
const closed = routes.filter(({ isOpen }) => !isOpen)

async function keyWith(workspace: Workspace, more: Json): Promise<{ id: string; key: string }> {
  const made = await workspace.post('/keys', { name: 'a key', ...more })
  expect(made.status).toBe(201)
  return made.body
}
const statusWith = async (key: string, path = '/limits') => (await send(server, 'GET', path, { key })).status

/** A request that is admitted or not, and can do nothing if it is: its body is no object, its id unknown. */
function tryKey(route: Route, options: { key?: string; headers?: Record<string, string> }) {
  const unknownId = '01890000-0000-7000-8000-00000000ffff'
  const path = pathTo(route, allOf(unknownId))
  const query = route.path === '/events/stream' ? '?after=x' : ''
  const takesBody = route.body !== null || takesPlan(route)
  return send(server, route.method, path + query, { ...options, ...(takesBody ? { body: '[]' } : {}) })
}

describe('a request without a valid key', () => {
  const BAD: [what: string, header: string][] = [
    ['no key', ''],
    ['an unknown key', `Bearer baton_${'x'.repeat(43)}`],
    ['a key with one letter more', `Bearer ${w.ownerKey}x`],
    ['a key with one letter less', `Bearer ${w.ownerKey.slice(0, -1)}`],
    ['a key and something else', `Bearer ${w.ownerKey} ${w.ownerKey}`],
    ['a key without its scheme', w.ownerKey],
    ['a password', `Basic ${Buffer.from(`owner:${w.ownerKey}`).toString('base64')}`],
    ['an SQL', "Bearer ' or 1=1 --"],
    ['a novel', `Bearer ${'x'.repeat(8_000)}`],
  ]
  test.each(BAD)(
    'that shows %s is UNAUTHENTICATED on every route, whatever its body',
    async (what, authorization) => {
      await nothingIsWrittenBy(() =>
        all(closed, async (route) => {
          const reply = await tryKey(route, { headers: { authorization } })
          expect(problemIn(reply, `${what} at ${label(route)}`)).toMatchObject({
            status: 401,
            code: 'UNAUTHENTICATED',
          })
        }),
      )
    },
  )

  test('learns how to authenticate, and a key in the URL is no key', async () => {
    const answer = await fetch(`${server.api}/tasks?key=${w.ownerKey}&access_token=${w.ownerKey}`)
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test('may read health and the API document, and nothing else', async () => {
    for (const path of [
      '/health/live',
      '/health/ready',
      '/health/coordinator',
      '/openapi.json',
      '/api/v1/health/live',
    ])
      expect((await fetch(`${server.url}${path}`)).status, path).toBe(200)
    expect(closed.length).toBeGreaterThan(30)
  })
})

describe('a key may do what its role and scopes say', () => {
  const RIGHTS: Record<string, string[]> = {
    viewer: ['read'],
    member: ['read', 'work', 'operate'],
    admin: ['read', 'work', 'operate', 'configure_agents', 'admin'],
    owner: ['read', 'work', 'operate', 'configure_agents', 'admin'],
  }
  /** What reading and writing need, by tag; those of others need what is usual. */
  const NEEDS: Record<string, [reading: string, writing: string]> = {
    tasks: ['read', 'operate'],
    claims: ['read', 'work'],
    sessions: ['read', 'work'],
    workers: ['read', 'work'],
    agents: ['read', 'operate'],
    coordinator: ['admin', 'admin'],
    results: ['read', 'operate'],
    projects: ['read', 'operate'],
    missions: ['read', 'operate'],
    inbox: ['read', 'operate'],
    board: ['read', 'operate'],
    insight: ['read', 'none'],
    comments: ['read', 'work'],
    reports: ['read', 'work'],
    routines: ['read', 'operate'],
    events: ['read', 'none'],
    logs: ['read', 'work'],
    limits: ['read', 'admin'],
    workspaces: ['read', 'instance'],
    keys: ['admin', 'admin'],
    'sign-in': ['read', 'read'],
    runs: ['read', 'operate'],
    // Only read, and tried on what the request itself contains.
    prompts: ['read', 'read'],
    prices: ['read', 'admin'],
    'model tiers': ['read', 'admin'],
    webhooks: ['read', 'admin'],
    hooks: ['read', 'admin'],
    budgets: ['read', 'operate'],
    alerts: ['read', 'operate'],
    // Holders report what they have used.
    usage: ['read', 'work'],
  }
  const USUAL = ['read', 'operate']
  /** Routes that need another right than the rest of their tag. */
  const NEEDS_OTHER: Record<string, string> = {
    // Only reads; the ids of so many tasks would be too long for a URL.
    'POST /tasks/states': 'read',
    'POST /tasks/cards': 'read',
    'POST /runs/tails': 'read',
    // A dry run, of what the request itself contains.
    'POST /plans/check': 'read',
    // What the workspace is told of.
    'PUT /thresholds/{cause}': 'admin',
    'DELETE /thresholds/{cause}': 'admin',
    // Revokes tasks from holders that may still be alive: no agent should do that to others.
    'POST /workers/requeue-stalled': 'operate',
    // Shows keys, limits and all agents.
    'GET /coordinator/logs': 'admin',
    // What agents do themselves.
    'POST /agents/{id}/heartbeat': 'work',
    'GET /agents/{id}/assignments': 'work',
    'POST /agents/{id}/wakeup': 'work',
    'POST /agents/{id}/heartbeat/invoke': 'work',
    'POST /runs/{id}/callback': 'work',
    // The prompt of an agent is a part of its settings.
    'GET /agents/{id}/prompt-preview': 'configure_agents',
    // For those who run the server.
    'GET /nodes': 'instance',
    'GET /metrics': 'metrics',
    'GET /workspaces/{id}/limits': 'instance',
    'PATCH /workspaces/{id}/limits': 'instance',
    // Begins sessions.
    'POST /session/link': 'admin',
    // Starts the program of the agent.
    'POST /agents/{id}/test': 'configure_agents',
    'POST /adapters/{type}/test': 'configure_agents',
    'POST /hooks/{id}/test': 'operate',
  }
  const needOf = (route: Route) => {
    const [reading, writing] = NEEDS[route.tag] ?? USUAL
    const need = NEEDS_OTHER[label(route)] ?? (route.method === 'GET' ? reading : writing)
    expect(need, `what does ${label(route)} need? Add it to this test`).toBeDefined()
    return need!
  }
  /** Each of these routes admits the key, or refuses it, by the right that it needs. */
  async function expectRights(on: readonly Route[], role: string, scopes?: string[]) {
    const { key } = await keyWith(w, { role, ...(scopes && { scopes }) })
    const rights = RIGHTS[role]!.filter((right) => !scopes || scopes.includes(right))
    await nothingIsWrittenBy(() =>
      all(on, async (route) => {
        const reply = await tryKey(route, { key })
        if (rights.includes(needOf(route)))
          expect([200, 204, 400, 404, 422, 426], `${label(route)}: ${reply.text}`).toContain(reply.status)
        else expect(problemIn(reply, label(route))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      }),
    )
  }

  test.each(Object.keys(RIGHTS))('%s, on every route', (role) => expectRights(closed, role))

  test.each(RIGHTS.owner!)('an owner with the scope %s alone, on every route', (scope) =>
    expectRights(closed, 'owner', [scope]),
  )

  test('every role with any scopes, on a route for each right', async () => {
    const some = [...new Map(closed.map((route) => [needOf(route), route])).values()]
    for (const role of Object.keys(RIGHTS).filter((role) => role !== 'owner'))
      for (const scopes of [...RIGHTS.owner!.map((scope) => [scope]), ['read', 'work']])
        await expectRights(some, role, scopes)
  })

  test('only the key of the first start creates workspaces', async () => {
    const { key } = await keyWith(await openWorkspace(server), { role: 'owner' })
    for (const other of [key, w.ownerKey])
      expectRefusal(
        await server.call('POST', '/workspaces', { name: 'mine' }, { key: other }),
        403,
        'FORBIDDEN',
      )
    expect((await server.call('POST', '/workspaces', { name: 'ours' })).status).toBe(201)
  })

  test.each([
    { maker: { role: 'admin', scopes: ['admin'] }, wanted: { role: 'admin' } },
    { maker: { role: 'owner', scopes: ['admin', 'read'] }, wanted: { role: 'member' } },
    { maker: { role: 'admin' }, wanted: { role: 'owner' } },
  ])('$maker creates no key that may do more than itself: $wanted', async ({ maker, wanted }) => {
    const { key } = await keyWith(w, maker)
    expectRefusal(await server.call('POST', '/keys', { name: 'more', ...wanted }, { key }), 403, 'FORBIDDEN')
  })
})

test('a key with another workspace than its own gets 404', async () => {
  const own = (await server.call('GET', '/workspaces')).body.items[0].id
  const other = (await server.call('POST', '/workspaces', { name: 'other' })).body.id
  const naming = (id: string) =>
    server.call('GET', '/limits', undefined, { headers: { 'x-workspace-id': id } })
  expect((await naming(own)).status).toBe(200)
  for (const id of [other, 'nonsense'])
    expect(await naming(id)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
})

describe('a key', () => {
  const secretsIn = async (needle: string) => {
    const database = new pg.Client({ connectionString: server.databaseUrl })
    await database.connect()
    try {
      const tables = await database.query(
        `select table_name from information_schema.tables where table_schema = 'baton'`,
      )
      const found: string[] = []
      for (const { table_name: table } of tables.rows) {
        const { rowCount } = await database.query(
          `select 1 from baton.${table} t where position($1 in t::text) > 0`,
          [needle],
        )
        if (rowCount) found.push(table)
      }
      return found
    } finally {
      await database.end()
    }
  }

  test('is shown once, and is afterwards in no answer, no event and no table, except as a hash', async () => {
    const made = await w.post('/keys', { name: 'once' }, { 'idempotency-key': 'k-1' })
    const { key, id, prefix } = made.body
    expect(key).toMatch(/^baton_[A-Za-z0-9_-]{43}$/)
    expect(key.startsWith(prefix) && prefix.length <= 12, 'the prefix reveals little').toBe(true)
    const listed = (await w.call('GET', '/keys')).body.items
    expect(listed.find((item: Json) => item.id === id)).toMatchObject({
      name: 'once',
      role: 'member',
      prefix,
    })
    const said = JSON.stringify([listed, await w.events(), await w.call('GET', '/workspaces')])
    for (const secret of [key, w.ownerKey, server.ownerKey]) {
      expect(said).not.toContain(secret.slice(13))
      expect(await secretsIn(secret.slice(13))).toEqual([])
      expect(await secretsIn(createHash('sha256').update(secret).digest('hex'))).toEqual(['api_keys'])
    }
  })

  test('that is revoked grants nothing from that moment on, even if it was in use just then', async () => {
    const keys = await Promise.all(Array.from({ length: 30 }, () => keyWith(w, { role: 'viewer' })))
    await Promise.all(
      keys.flatMap(({ id, key }) => [
        statusWith(key),
        w.call('DELETE', `/keys/${id}`),
        statusWith(key, '/events'),
      ]),
    )
    expect(await Promise.all(keys.map(({ key }) => statusWith(key)))).toEqual(Array(30).fill(401))
    expectRefusal(await w.call('DELETE', `/keys/${keys[0]!.id}`), 404, 'NOT_FOUND')
    const listed = (await w.call('GET', '/keys')).body.items.find((item: Json) => item.id === keys[0]!.id)
    expect(listed.revokedAt).toEqual(expect.any(String))
  })

  test('that expires works until then and not after, even if it was cached', async () => {
    const soon = await keyWith(w, { expiresAt: new Date(Date.now() + 1_500).toISOString() })
    expect(await statusWith(soon.key)).toBe(200)
    await until(async () => (await statusWith(soon.key)) === 401)
    const past = await keyWith(w, { expiresAt: '2020-01-01T00:00:00+02:00' })
    expect(await statusWith(past.key)).toBe(401)
  })

  test('of the last owner stays; of two that revoke each other at once, one stays', async () => {
    const team = await openWorkspace(server)
    const [first] = (await team.call('GET', '/keys')).body.items
    expectRefusal(await team.call('DELETE', `/keys/${first.id}`), 409, 'WRONG_STATE')
    const second = await keyWith(team, { role: 'owner' })
    const answers = await Promise.all([
      server.call('DELETE', `/keys/${first.id}`, undefined, { key: second.key }),
      team.call('DELETE', `/keys/${second.id}`),
    ])
    const left = await Promise.all([statusWith(team.ownerKey), statusWith(second.key)])
    expect(left.sort(), JSON.stringify(answers.map(({ status }) => status))).toEqual([200, 401])
  })

  test.each([
    ['has expired', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['may only read', { scopes: ['read'] }],
  ])('of an owner that %s does not count as an owner’s key', async (_what, more) => {
    const team = await openWorkspace(server)
    const [first] = (await team.call('GET', '/keys')).body.items
    await keyWith(team, { role: 'owner', ...more })
    expectRefusal(await team.call('DELETE', `/keys/${first.id}`), 409, 'WRONG_STATE')
    expect((await team.call('GET', '/keys')).status, 'one can still administer').toBe(200)
  })
})

test('the owner’s key is in a file for its owner alone, whatever the umask, and survives a restart', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'baton-access-'))
  const database = await freshDatabase()
  const before = process.umask(0)
  try {
    const env = {
      BATON_DATA: join(parent, 'data'),
      BATON_PORT: '0',
      DATABASE_URL: database.url,
      BATON_LOG_LEVEL: 'silent',
    }
    const keys = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const baton = await start(readConfig(env))
      const file = join(env.BATON_DATA, 'owner-key')
      expect([statSync(file).mode & 0o777, statSync(env.BATON_DATA).mode & 0o777]).toEqual([0o600, 0o700])
      const key = readFileSync(file, 'utf8').trim()
      keys.add(key)
      expect(
        (await fetch(`${baton.url}/api/v1/keys`, { headers: { authorization: `Bearer ${key}` } })).status,
      ).toBe(200)
      await baton.stop()
    }
    expect(keys.size).toBe(1)
  } finally {
    process.umask(before)
    await database.drop()
    rmSync(parent, { recursive: true })
  }
})

test('no key is ever in the log, whatever the log level and the error', async () => {
  let log = ''
  const spy = vi.spyOn(fs, 'write').mockImplementation(((_fd: number, data: string, ...rest: unknown[]) => {
    log += data
    process.nextTick(rest.at(-1) as (error: null, written: number) => void, null, Buffer.byteLength(data))
  }) as typeof fs.write)
  const database = await freshDatabase()
  const connection = await cuttableConnectionTo(database.url)
  const loud = await startServer({ BATON_LOG_LEVEL: 'trace', DATABASE_URL: connection.url })
  try {
    const { key } = (await loud.call('POST', '/keys', { name: 'loud' })).body
    await loud.call('POST', '/tasks', '{', { key })
    await fetch(`${loud.api}/tasks`, { headers: { authorization: `Bearer ${key} x` } })
    connection.cut()
    for (const secret of [key, loud.ownerKey])
      expect((await loud.call('POST', '/keys', { name: 'cut off' }, { key: secret })).status).toBeGreaterThan(
        400,
      )
    expect(log).toContain('the store is unavailable')
    for (const secret of [loud.ownerKey, key]) expect(log).not.toContain(secret.slice(13))
  } finally {
    connection.restore()
    await loud.close()
    await connection.close()
    await database.drop()
    spy.mockRestore()
  }
})
