import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newLinkToken, refusalOf, sendAs, signedIn } from '../../support/browser.ts'
import { openWorkspace } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { type ServerUnderTest, startAnother, startServer } from '../../support/server.ts'

/** One-time links: what `npm start` prints and `npm run link` makes. */

let here: ServerUnderTest
let there: ServerUnderTest
beforeAll(async () => {
  here = await startServer({ BATON_NODE_NAME: 'here' })
  there = await startAnother(here)
})
afterAll(async () => {
  await there.close()
  await here.close()
})

const use = (token: string, on = here) => sendAs(on, 'POST', '/api/v1/session', {}, { token })
const change = (statement: string) => superuser(here.databaseUrl, (client) => client.query(statement))

describe('a link', () => {
  test('leads to the sign-in page, with a token that no server sees, and signs in as the key that made it', async () => {
    const { body } = await here.call('POST', '/session/link', {})
    expect(body.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#[A-Za-z0-9_-]{43}$/)
    expect(Math.round((Date.parse(body.expiresAt) - Date.now()) / 60_000)).toBe(10)
    const { session } = await signedIn(here, { token: new URL(body.url).hash.slice(1) })
    expect(session).toMatchObject({ role: 'owner', key: { name: 'owner' } })
  })

  test('signs in once; after that it says so, and what to do', async () => {
    const token = await newLinkToken(here)
    expect((await use(token)).status).toBe(201)
    for (const node of [here, there]) {
      const again = await use(token, node)
      expect([again.status, again.body.code]).toEqual([401, 'UNAUTHENTICATED'])
      expect(again.body.detail).toBe('This sign-in link was used already; "npm run link" makes a new one.')
    }
  })

  test('signs in one of many who use it at the same time, on two nodes', async () => {
    for (let round = 0; round < 5; round++) {
      const token = await newLinkToken(here)
      const nodes = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? here : there))
      const answers = await Promise.all(nodes.map((node) => use(token, node)))
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses).toEqual([201, ...Array(9).fill(401)])
    }
  })

  test('that has expired is refused, and is not used up', async () => {
    const token = await newLinkToken(here)
    await change(`update baton.sign_in_links set expires_at = now() - interval '1 ms' where used_at is null`)
    expect((await use(token)).body.detail).toContain('has expired')
    await change(`update baton.sign_in_links set expires_at = now() + interval '1 min' where used_at is null`)
    expect((await use(token)).status).toBe(201)
  })

  test('of a key that was revoked is refused', async () => {
    const w = await openWorkspace(here)
    const { key, id } = (await w.post('/keys', { name: 'gone', role: 'admin' })).body
    const token = await newLinkToken(here, key)
    await w.call('DELETE', `/keys/${id}`)
    expect((await use(token, there)).body.detail).toContain('revoked')
  })

  test('is for admins, and for a key or a session alike', async () => {
    const w = await openWorkspace(here)
    const { key } = (await w.post('/keys', { name: 'bert', role: 'member' })).body
    expect((await here.call('POST', '/session/link', {}, { key })).status).toBe(403)
    const { call } = await signedIn(here, { key: w.ownerKey })
    const made = await call('POST', '/session/link', {})
    const token = new URL(made.body.url).hash.slice(1)
    expect((await use(token)).body.workspace.name).toBe('a team')
  })
})

test('wrong tokens, keys, sessions and tickets count as wrong keys; a cookie alone does not', async () => {
  const strict = await startServer({ BATON_WRONG_KEYS_PER_MINUTE: '4' })
  try {
    const { cookie, headers } = await signedIn(strict, { key: strict.ownerKey })
    const get = (given: Record<string, string>, path = '/api/v1/limits') => sendAs(strict, 'GET', path, given)
    for (let i = 0; i < 10; i++) expect((await get({ cookie })).status).toBe(401)
    const wrong = 'x'.repeat(43)
    const ATTEMPTS = [
      () => use(wrong, strict),
      () => sendAs(strict, 'POST', '/api/v1/session', {}, { key: wrong }),
      () => get({ cookie, 'baton-session': wrong }),
      () => get({}, `/api/v1/events/ws?ticket=${wrong}`),
    ]
    for (const attempt of ATTEMPTS) expect((await attempt()).status).toBe(401)
    for (const attempt of ATTEMPTS.slice(0, 3))
      expect((await attempt()).body.code).toBe('TOO_MANY_WRONG_KEYS')
    expect((await get(headers)).status).toBe(200)
  } finally {
    await strict.close()
  }
})

test('no link, cookie, value or ticket is ever in the log, whatever its level', async () => {
  let log = ''
  const spy = vi.spyOn(fs, 'write').mockImplementation(((_fd: number, data: string, ...rest: unknown[]) => {
    log += data
    process.nextTick(rest.at(-1) as (error: null, written: number) => void, null, Buffer.byteLength(data))
  }) as typeof fs.write)
  const loud = await startServer({ BATON_LOG_LEVEL: 'trace' })
  try {
    const token = await newLinkToken(loud)
    const { cookie, pageValue, call, socket } = await signedIn(loud, { token })
    const { ticket } = (await call('POST', '/session/ticket', {})).body
    await use(token, loud)
    await call('POST', '/session/ticket', { nonsense: 1 })
    await sendAs(loud, 'GET', `/api/v1/events/ws?ticket=${ticket}&after=x`)
    await refusalOf(await socket())
    for (const secret of [token, cookie.split('=')[1]!, pageValue, ticket]) expect(log).not.toContain(secret)
    expect(log).not.toBe('')
  } finally {
    await loud.close()
    spy.mockRestore()
  }
})
