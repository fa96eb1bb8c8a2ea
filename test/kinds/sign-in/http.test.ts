import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BrowserAnswer, cookieIn, newLinkToken, sendAs, signedIn } from '../../support/browser.ts'
import { inOneHour, type Json, KEY, openWorkspace, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../../support/server.ts'

/** People in browsers: a session is a cookie and a value of the page, acts as its key, and is over with it. */

let server: ServerUnderTest
let w: Workspace
beforeAll(async () => {
  server = await startServer()
  w = await openWorkspace(server)
})
afterAll(() => server.close())

const browser = (key = w.ownerKey) => signedIn(server, { key })
const keyOf = async (more: Json = {}, of = w) => (await of.post('/keys', { name: 'anna', ...more })).body
const codeOf = ({ status, body }: BrowserAnswer) => [status, body.code]

describe('a session', () => {
  test('says who it is: workspace, role, rights, log, inbox, version and database', async () => {
    const key = await keyOf({ role: 'member' })
    const task = await w.held()
    await w.on(task, 'ask', { session: 's-alpha', generation: 1, question: 'Which?' })
    const { session, call, pageValue } = await browser(key.key)
    const { items } = (await w.call('GET', '/workspaces')).body
    const known = {
      id: session.id,
      workspace: items[0],
      key: { id: key.id, name: 'anna' },
      role: 'member',
      rights: ['read', 'work', 'operate'],
      inboxCount: 1,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
    }
    const read = await call('GET', '/session')
    expect(read.body).toMatchObject(known)
    expect(session).toMatchObject({ ...known, pageValue })
    expect(read.body).not.toHaveProperty('pageValue')
    expect(read.body.head).toBe((await w.events()).at(-1).seq)
    await w.on(task, 'answer', { answer: 'this' })
  })

  test('acts as its key, in the log and in its rights', async () => {
    const key = await keyOf({ role: 'member' })
    const { call } = await browser(key.key)
    const made = await call('POST', '/tasks', { title: 'From a browser' })
    expect(made.status).toBe(201)
    const [event] = (await w.read(made.body, '/events')).items
    expect(event.actor).toMatch(KEY)
    expect(event.actor).toBe(`key:${key.id}`)
    const viewer = await browser((await keyOf({ role: 'viewer' })).key)
    expect((await viewer.call('GET', '/tasks')).status).toBe(200)
    expect(codeOf(await viewer.call('POST', '/tasks', { title: 'x' }))).toEqual([403, 'FORBIDDEN'])
    expect(codeOf(await viewer.call('POST', '/session/link', {}))).toEqual([403, 'FORBIDDEN'])
  })

  test('has a cookie that pages cannot read, that goes to the API alone and to no other site', async () => {
    const answer = await sendAs(server, 'POST', '/api/v1/session', {}, { key: w.ownerKey })
    const { workspace } = answer.body
    expect(String(answer.headers['set-cookie'])).toMatch(
      new RegExp(
        `^baton-${workspace.id}=[A-Za-z0-9_-]{43}; Path=/api/v1; Max-Age=25920(00|01|\\d\\d); HttpOnly; SameSite=Strict$`,
      ),
    )
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('has a Secure cookie when the page came over https, and only then', async () => {
    const proxied = await startServer({
      BATON_ALLOWED_ORIGINS: 'https://baton.example',
      BATON_PUBLIC_URL: 'https://baton.example',
    })
    try {
      const by = { key: proxied.ownerKey }
      const cookieFrom = async (headers: Record<string, string>) =>
        String((await sendAs(proxied, 'POST', '/api/v1/session', headers, by)).headers['set-cookie'])
      expect(await cookieFrom({ origin: 'https://baton.example' })).toContain('; Secure')
      expect(await cookieFrom({})).toContain('; Secure')
      expect(await cookieFrom({ origin: proxied.url })).not.toContain('Secure')
      const link = await proxied.call('POST', '/session/link', {})
      expect(link.body.url).toMatch(/^https:\/\/baton\.example\/sign-in#[A-Za-z0-9_-]{43}$/)
    } finally {
      await proxied.close()
    }
  })

  test('is in the database as hashes alone', async () => {
    const token = await newLinkToken(server, w.ownerKey)
    const { cookie, pageValue, call } = await browser()
    const { ticket } = (await call('POST', '/session/ticket', {})).body
    const secrets = [cookie.split('=')[1]!, pageValue, token, ticket]
    const text = await superuser(server.databaseUrl, async (client) => {
      const rows: unknown[] = []
      for (const table of ['browser_sessions', 'sign_in_links', 'socket_tickets', 'api_keys', 'events'])
        rows.push(...(await client.query(`select t::text from baton.${table} t`)).rows)
      return JSON.stringify(rows)
    })
    for (const secret of secrets) {
      expect(text).not.toContain(secret)
      expect(text).toContain(createHash('sha256').update(secret).digest('hex'))
    }
  })
})

describe('a request is from a session', () => {
  test('with the cookie and the value of the page, and with nothing less', async () => {
    const { headers, cookie, pageValue } = await browser()
    const other = await browser()
    const status = async (given: Record<string, string>) =>
      (await sendAs(server, 'GET', '/api/v1/limits', given)).status
    expect(await status(headers)).toBe(200)
    const LESS: Record<string, Record<string, string>> = {
      nothing: {},
      'the cookie alone': { cookie },
      'the value alone': { 'baton-session': pageValue },
      'another value': { cookie, 'baton-session': other.pageValue },
      'a shorter value': { cookie, 'baton-session': pageValue.slice(1) },
      'the cookie as the value': { cookie, 'baton-session': cookie.split('=')[1]! },
      'the cookie under another name': { cookie: `x${cookie}`, 'baton-session': pageValue },
      'the value as a key': { authorization: `Bearer ${pageValue}` },
    }
    for (const [what, given] of Object.entries(LESS)) expect([what, await status(given)]).toEqual([what, 401])
  })

  test.each(['cross-site', 'same-site', 'none', 'nonsense'])(
    'and not when the browser says that it is "%s"',
    async (site) => {
      const { headers } = await browser()
      const from = { ...headers, 'sec-fetch-site': site }
      expect(codeOf(await sendAs(server, 'GET', '/api/v1/limits', from))).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
      const signIn = await sendAs(
        server,
        'POST',
        '/api/v1/session',
        { 'sec-fetch-site': site },
        { key: w.ownerKey },
      )
      expect(codeOf(signIn)).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    },
  )

  test('and not from another origin, nor from another port of this host', async () => {
    const { headers } = await browser()
    const { hostname, port } = new URL(server.url)
    const { 'sec-fetch-site': _site, ...without } = headers
    for (const origin of ['https://evil.example', `http://${hostname}:${Number(port) + 1}`, 'null'])
      for (const given of [headers, without])
        expect(codeOf(await sendAs(server, 'GET', '/api/v1/limits', { ...given, origin }))).toEqual([
          403,
          'ORIGIN_NOT_ALLOWED',
        ])
    expect((await sendAs(server, 'GET', '/api/v1/limits', { ...headers, origin: server.url })).status).toBe(
      200,
    )
  })

  test('and with Authorization it is not: only the key counts', async () => {
    const { headers } = await browser()
    const viewer = await keyOf({ role: 'viewer' })
    const as = (authorization: string) => ({ ...headers, authorization })
    const make = (given: Record<string, string>) =>
      sendAs(server, 'POST', '/api/v1/tasks', given, { title: 'x' })
    expect((await make(headers)).status).toBe(201)
    expect((await make(as(`Bearer ${viewer.key}`))).status).toBe(403)
    expect((await make(as(`Bearer baton_${'x'.repeat(43)}`))).status).toBe(401)
    expect((await make(as('nonsense'))).status).toBe(401)
    expect((await sendAs(server, 'GET', '/api/v1/session', as(`Bearer ${viewer.key}`))).body).toMatchObject({
      id: null,
      role: 'viewer',
      key: { id: viewer.id },
    })
  })

  test('of the workspace that it names, when the browser is signed in to several', async () => {
    const other = await openWorkspace(server)
    const [one, two] = [await browser(), await browser(other.ownerKey)]
    const cookie = `theme=dark; ${one.cookie}; ${two.cookie}`
    const ask = (pageValue: string, more: Record<string, string> = {}) =>
      sendAs(server, 'GET', '/api/v1/session', { cookie, 'baton-session': pageValue, ...more })
    for (const { pageValue, session } of [one, two]) {
      const answer = await ask(pageValue, { 'x-workspace-id': session.workspace.id })
      expect(answer.body.workspace.id).toBe(session.workspace.id)
    }
    expect((await ask(one.pageValue)).body.detail).toContain('several workspaces')
    const crossed = await ask(one.pageValue, { 'x-workspace-id': two.session.workspace.id })
    expect(crossed.status).toBe(401)
    const third = { 'x-workspace-id': (await browser(server.ownerKey)).session.workspace.id }
    expect((await ask(one.pageValue, third)).body.detail).toContain('not signed in to that workspace')
  })
})

describe('signing in', () => {
  test('takes a link or a key, and says what is wrong with anything else', async () => {
    const signIn = (body: unknown) => sendAs(server, 'POST', '/api/v1/session', {}, body)
    const token = await newLinkToken(server)
    expect(codeOf(await signIn({}))).toEqual([400, 'VALIDATION_FAILED'])
    expect(codeOf(await signIn({ token, key: w.ownerKey }))).toEqual([400, 'VALIDATION_FAILED'])
    for (const wrong of [{ token: 'x'.repeat(43) }, { key: `baton_${'x'.repeat(43)}` }, { key: 'brun_x' }])
      expect(codeOf(await signIn(wrong)), JSON.stringify(wrong)).toEqual([401, 'UNAUTHENTICATED'])
    expect((await signIn({ token })).status).toBe(201)
  })

  test('again in the same browser ends the session that it had there', async () => {
    const before = await browser()
    const headers = { cookie: before.cookie, 'baton-session': `${'x'.repeat(43)}, ${before.pageValue}` }
    const again = await sendAs(server, 'POST', '/api/v1/session', headers, { key: w.ownerKey })
    expect((await before.call('GET', '/limits')).status).toBe(401)
    const now = { cookie: cookieIn(again), 'baton-session': again.body.pageValue }
    const listed = (await sendAs(server, 'GET', '/api/v1/session/all', now)).body.items.map(
      ({ id }: Json) => id,
    )
    expect(listed).toContain(again.body.id)
    expect(listed).not.toContain(before.session.id)
  })
})

describe('a session ends', () => {
  test('when it signs out, and its cookie is removed', async () => {
    const { call, session } = await browser()
    const out = await call('DELETE', '/session')
    expect(out.status).toBe(204)
    expect(String(out.headers['set-cookie'])).toMatch(
      new RegExp(`^baton-${session.workspace.id}=; Path=/api/v1; Max-Age=0; HttpOnly; SameSite=Strict$`),
    )
    expect(codeOf(await call('GET', '/session'))).toEqual([401, 'UNAUTHENTICATED'])
  })

  test('with its key: revoked, expired, or revoked with the key that made it', async () => {
    const admin = await keyOf({ role: 'admin' })
    const child = (await server.call('POST', '/keys', { name: 'child' }, { key: admin.key })).body
    const brief = await keyOf({ expiresAt: inOneHour() })
    const browsers = [await browser(admin.key), await browser(child.key)]
    const expiring = await browser(brief.key)
    expect(Date.parse(expiring.session.expiresAt)).toBe(Date.parse(brief.expiresAt))
    expect((await w.call('DELETE', `/keys/${admin.id}`)).status).toBe(204)
    for (const { call } of browsers) expect((await call('GET', '/session')).status).toBe(401)
    expect((await expiring.call('GET', '/session')).status).toBe(200)
    await superuser(server.databaseUrl, (client) =>
      client.query('update baton.api_keys set expires_at = now() where key_id = $1', [brief.id]),
    )
    await until(async () => (await expiring.call('GET', '/session')).status === 401)
  })

  test('with its key also on a node that was not notified', async () => {
    const key = await keyOf()
    const { call } = await browser(key.key)
    await superuser(server.databaseUrl, (client) =>
      client.query('update baton.api_keys set revoked_at = now() where key_id = $1', [key.id]),
    )
    await until(async () => (await call('GET', '/session')).status === 401)
  })

  test('after thirty days, whatever becomes of its key', async () => {
    const { call, session } = await browser()
    expect(Math.round((Date.parse(session.expiresAt) - Date.now()) / 86_400_000)).toBe(30)
    await superuser(server.databaseUrl, (client) =>
      client.query(
        `update baton.browser_sessions set created_at = now() - interval '31 days', expires_at = now() - interval '1 s' where session_id = $1`,
        [session.id],
      ),
    )
    await until(async () => (await call('GET', '/session')).status === 401)
  })

  test('when a person ends it in the list: of their key, or of any as an admin', async () => {
    const [anna, bert] = [await keyOf({ role: 'member' }), await keyOf({ role: 'member' })]
    const [one, two, three] = [await browser(anna.key), await browser(anna.key), await browser(bert.key)]
    const listed = (await one.call('GET', '/session/all')).body.items
    expect(listed.map(({ id }: Json) => id).sort()).toEqual([one.session.id, two.session.id].sort())
    expect(listed.find(({ isCurrent }: Json) => isCurrent).id).toBe(one.session.id)
    const foreign = await one.call('DELETE', `/session/all/${three.session.id}`)
    expect(codeOf(foreign)).toEqual([404, 'NOT_FOUND'])
    expect((await one.call('DELETE', `/session/all/${two.session.id}`)).status).toBe(204)
    expect((await two.call('GET', '/session')).status).toBe(401)
    const all = (await w.call('GET', '/session/all')).body.items
    expect(all.map(({ id }: Json) => id)).toEqual(expect.arrayContaining([one.session.id, three.session.id]))
    expect((await w.call('DELETE', `/session/all/${three.session.id}`)).status).toBe(204)
    expect((await three.call('GET', '/session')).status).toBe(401)
    expect((await one.call('GET', '/session')).status).toBe(200)
  })

  test('and not by a key of another workspace', async () => {
    const other = await openWorkspace(server)
    const { session, call } = await browser()
    for (const id of [session.id, 'nonsense'])
      expect((await other.call('DELETE', `/session/all/${id}`)).body.code).toBe('NOT_FOUND')
    expect((await other.call('GET', '/session/all')).body.items).toEqual([])
    expect((await call('GET', '/session')).status).toBe(200)
  })

  test('and a key that has none gets NOT_FOUND', async () => {
    for (const [method, path] of [
      ['DELETE', '/session'],
      ['POST', '/session/ticket'],
    ])
      expect((await w.call(method!, path!)).body.code).toBe('NOT_FOUND')
  })
})

test('when it was last in use is written at most once a minute', async () => {
  const { call, session } = await browser()
  const seen = () =>
    superuser(server.databaseUrl, async (client) => {
      const text = 'select last_seen_at as at, xmin::text from baton.browser_sessions where session_id = $1'
      return (await client.query(text, [session.id])).rows[0]
    })
  const before = await seen()
  // More than a second apart: what is known of a session is cached for a second.
  await until(async () => (await call('GET', '/limits')).status === 200 && Date.now() - before.at > 1_500)
  expect(await seen()).toEqual(before)
  await superuser(server.databaseUrl, (client) =>
    client.query(
      `update baton.browser_sessions set created_at = created_at - interval '1 hour', last_seen_at = now() - interval '2 minutes' where session_id = $1`,
      [session.id],
    ),
  )
  await until(async () => (await call('GET', '/limits')).status === 200 && (await seen()).at >= before.at)
})
