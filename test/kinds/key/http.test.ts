import { describe, expect, test } from 'vitest'
import { signedIn } from '../../support/browser.ts'
import { expectRefusal, type Json, KEY, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'

/** Who may create and revoke keys, what ends with a key, and how keys are named in the log. */

const { served, workspace } = useServer()

interface Key {
  id: string
  key: string
  expiresAt: string | null
  createdBy: string | null
}
/** A key made by the owner, or by another key. */
async function made(w: Workspace, more: Json, by = w.ownerKey): Promise<Key> {
  const answer = await served().call('POST', '/keys', { name: 'a key', ...more }, { key: by })
  expect(answer.body).toMatchObject({ key: expect.any(String) })
  return answer.body
}
const revoke = (id: string, by: string) => served().call('DELETE', `/keys/${id}`, undefined, { key: by })
const opens = async ({ key }: Pick<Key, 'key'>) =>
  (await served().call('GET', '/limits', undefined, { key })).status === 200
const listed = async (w: Workspace): Promise<(Key & Json)[]> => (await w.call('GET', '/keys')).body.items
const later = (ms: number) => new Date(Date.now() + ms).toISOString()

test('a key says when it was last used, by a program or in a browser', async () => {
  const w = await workspace()
  const [program, person] = [await made(w, { role: 'viewer' }), await made(w, { role: 'viewer' })]
  const useOf = async ({ id }: Key) => (await listed(w)).find((key) => key.id === id)!.lastUsedAt
  expect([await useOf(program), await useOf(person)]).toEqual([null, null])
  expect(await opens(program)).toBe(true)
  const signedIn = await served().call('POST', '/session', { key: person.key })
  expect(signedIn.status).toBe(201)
  for (const key of [program, person])
    expect(Date.parse(String(await useOf(key)))).toBeGreaterThan(Date.now() - 60_000)
})

test('a key opens while that it is used cannot be written, and so does a session', async () => {
  const w = await workspace()
  const { key } = await made(w, { role: 'viewer' })
  const person = await signedIn(served(), { key: w.ownerKey })
  // As Postgres answers when no room is left for what is written.
  await superuser(served().databaseUrl, (client) =>
    client.query(`create function baton.no_use() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file' using errcode = '53100'; end $$;
      create trigger no_use before update on baton.api_keys for each row when (new.name = 'a key') execute function baton.no_use();
      update baton.browser_sessions set last_seen_at = now() - interval '2 minutes';
      create trigger no_use before update on baton.browser_sessions for each row execute function baton.no_use()`),
  )
  try {
    expect([await opens({ key }), (await person.call('GET', '/limits')).status]).toEqual([true, 200])
  } finally {
    await superuser(served().databaseUrl, (client) => client.query('drop function baton.no_use cascade'))
  }
})

describe('a key is revoked', () => {
  test('by no key that could not do what it can', async () => {
    const w = await workspace()
    const [owner] = await listed(w)
    const second = await made(w, { role: 'owner' })
    const admin = await made(w, { role: 'admin' })
    const adminOnly = await made(w, { role: 'admin', scopes: ['admin'] })
    const member = await made(w, { role: 'member' })
    for (const { id } of [owner!, second]) expectRefusal(await revoke(id, admin.key), 403, 'FORBIDDEN')
    for (const { id } of [admin, member]) expectRefusal(await revoke(id, adminOnly.key), 403, 'FORBIDDEN')
    expect((await revoke(member.id, admin.key)).status).toBe(204)
    expect((await revoke(second.id, w.ownerKey)).status).toBe(204)
    expect(await Promise.all([admin, member, second].map(opens))).toEqual([true, false, false])
  })

  test('that creates workspaces, only by another such key, and the last one by none', async () => {
    const call = served().call
    const own = async () => (await call('GET', '/keys')).body.items as (Key & Json)[]
    const first = (await own()).find(({ instanceAdmin }) => instanceAdmin)!
    const owner = (await call('POST', '/keys', { name: 'owner too', role: 'owner' })).body
    expectRefusal(await revoke(first.id, owner.key), 403, 'FORBIDDEN')
    expectRefusal(await call('DELETE', `/keys/${first.id}`), 409, 'WRONG_STATE')
    const wanted = { name: 'first too', role: 'owner', instanceAdmin: true }
    expectRefusal(await call('POST', '/keys', wanted, { key: owner.key }), 403, 'FORBIDDEN')
    expectRefusal(await call('POST', '/keys', { ...wanted, role: 'admin' }), 400, 'VALIDATION_FAILED')
    const second = (await call('POST', '/keys', wanted)).body
    expect(second).toMatchObject({ instanceAdmin: true, createdBy: first.id })
    expect((await call('POST', '/workspaces', { name: 'more' }, { key: second.key })).status).toBe(201)
    expect((await revoke(second.id, served().ownerKey)).status).toBe(204)
    expectRefusal(await call('DELETE', `/keys/${first.id}`), 409, 'WRONG_STATE')
  })

  test('with all keys it created and those they created, each recorded, at once', async () => {
    const w = await workspace()
    const admin = await made(w, { role: 'admin', name: 'admin' })
    const child = await made(w, { role: 'admin', name: 'child' }, admin.key)
    const grandchild = await made(w, { role: 'member', name: 'grandchild' }, child.key)
    const other = await made(w, { role: 'member', name: 'other' })
    expect([child.createdBy, grandchild.createdBy]).toEqual([admin.id, child.id])
    expect((await revoke(admin.id, w.ownerKey)).status).toBe(204)
    expect(await Promise.all([admin, child, grandchild, other].map(opens))).toEqual([
      false,
      false,
      false,
      true,
    ])
    const [owner] = await listed(w)
    const said = await w.happens('key_revoked', 3)
    expect(said.map(({ payload }) => payload)).toEqual([
      { keyId: admin.id, name: 'admin', endedWith: null },
      { keyId: child.id, name: 'child', endedWith: admin.id },
      { keyId: grandchild.id, name: 'grandchild', endedWith: admin.id },
    ])
    expect(new Set(said.map(({ actor, actorName }) => `${actor} ${actorName}`))).toEqual(
      new Set([`key:${owner!.id} owner`]),
    )
  })

  test('and keys it created meanwhile are revoked, too', async () => {
    const w = await workspace()
    for (let round = 0; round < 5; round++) {
      const admin = await made(w, { role: 'admin' })
      const children = Array.from({ length: 10 }, () =>
        served().call('POST', '/keys', { name: 'quick', role: 'admin' }, { key: admin.key }),
      )
      await Promise.race(children)
      await revoke(admin.id, w.ownerKey)
      const answers = await Promise.all(children)
      const keys = answers.filter(({ status }) => status === 201).map(({ body }) => body as Key)
      expect(keys.length).toBeGreaterThan(0)
      expect(await Promise.all(keys.map(opens))).toEqual(keys.map(() => false))
      for (const { status } of answers) expect([201, 401]).toContain(status)
    }
  })

  test('and keys an owner created stay', async () => {
    const w = await workspace()
    const owner = await made(w, { role: 'owner', expiresAt: later(3_600_000) })
    const child = await made(w, { role: 'admin' }, owner.key)
    expect([child.createdBy, child.expiresAt]).toEqual([owner.id, null])
    expect((await revoke(owner.id, w.ownerKey)).status).toBe(204)
    expect(await opens(child)).toBe(true)
  })
})

test('a key expires no later than its creator, unless an owner created it', async () => {
  const w = await workspace()
  const admin = await made(w, { role: 'admin', expiresAt: later(3_600_000) })
  const [longer, never] = [
    await made(w, { role: 'viewer', expiresAt: later(7_200_000) }, admin.key),
    await made(w, { role: 'viewer' }, admin.key),
  ]
  expect([longer.expiresAt, never.expiresAt]).toEqual([admin.expiresAt, admin.expiresAt])
  const expiresAt = later(1_800_000)
  expect((await made(w, { role: 'viewer', expiresAt }, admin.key)).expiresAt).toBe(expiresAt)
})

test('the first key of a workspace has no creator there, and stays when the one that created it is revoked', async () => {
  const call = served().call
  const instance = { name: 'for a while', role: 'owner', instanceAdmin: true }
  const maker = (await call('POST', '/keys', instance)).body
  const { ownerKey } = (await call('POST', '/workspaces', { name: 'theirs' }, { key: maker.key })).body
  const { items } = (await call('GET', '/keys', undefined, { key: ownerKey })).body
  expect(items).toMatchObject([{ name: 'owner', createdBy: null }])
  expect((await call('DELETE', `/keys/${maker.id}`)).status).toBe(204)
  expect(await opens({ key: ownerKey })).toBe(true)
})

test('the actor is recorded as the id of a key, with its name beside it, in every view of the log', async () => {
  const w = await workspace()
  const [one, two] = [await made(w, { name: 'ci' }), await made(w, { name: 'ci' })]
  const as = (key: Key, title: string) => served().call('POST', '/tasks', { title }, { key: key.key })
  const tasks = [(await as(one, 'first')).body, (await as(two, 'second')).body]
  const created = await w.happens('task_created', 2)
  expect(created).toMatchObject([
    { actor: `key:${one.id}`, actorName: 'ci' },
    { actor: `key:${two.id}`, actorName: 'ci' },
  ])
  expect((await w.read(tasks[0], '/events')).items).toMatchObject([
    { actor: `key:${one.id}`, actorName: 'ci' },
  ])
  expect((await w.read(tasks[0], '/logs')).items).toMatchObject([{ actor: `key:${one.id}`, actorName: 'ci' }])
  const stream = await fetch(`${served().api}/events/stream?after=0`, {
    headers: { authorization: `Bearer ${w.ownerKey}` },
  })
  let text = ''
  for await (const chunk of stream.body!) {
    text += Buffer.from(chunk)
    if (text.includes('second')) break
  }
  const reported = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!))
  expect(reported.filter(({ type }) => type === 'task_created')).toEqual(created)
  const [first] = await w.events()
  expect(first, 'by a key of another workspace').toMatchObject({
    ...{ type: 'workspace_created', actor: expect.stringMatching(KEY), actorName: null },
  })
})

test('answers that contain a key must not be cached', async () => {
  const w = await workspace()
  const answers = [
    await w.post('/keys', { name: 'once' }),
    await served().call('POST', '/workspaces', { name: 'more' }),
  ]
  expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(['no-store', 'no-store'])
})
