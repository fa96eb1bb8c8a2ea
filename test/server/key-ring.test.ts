import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshUuid } from '../../src/kernel/fresh-uuid.ts'
import { hashOf, newToken } from '../../src/kernel/store/new-key.ts'
import { runAlone } from '../../src/kernel/store/run-alone.ts'
import { createKey } from '../../src/kinds/key/postgres.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { KeyRing } from '../../src/server/key-ring.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'

/** What one node caches about keys, and what is open under them. */

let database: Awaited<ReturnType<typeof freshDatabase>>
let store: PostgresStore
let workspace: number
beforeAll(async () => {
  database = await freshDatabase()
  store = await PostgresStore.open(database.url)
  workspace = (await createWorkspace(store, 'test', 'test')).workspaceId
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

/** A key, and a request that was admitted with it. */
async function admitted(ring: KeyRing) {
  const made = await createKey(store, workspace, { name: 'a key', role: 'member' }, { actor: 'test' })
  const key = await ring.find(made.key)
  const request = {
    key,
    caller: {},
    headers: { authorization: `Bearer ${made.key}` },
  } as unknown as FastifyRequest
  return { ...made, request }
}
const revokeWithoutNotice = ({ keyId }: { keyId: string }) =>
  superuser(database.url, (client) =>
    client.query('update baton.api_keys set revoked_at = now() where key_id = $1', [keyId]),
  )
async function withRing(act: (ring: KeyRing) => Promise<void>, lookAgainMs?: number): Promise<void> {
  const ring = new KeyRing(store, 50, lookAgainMs)
  try {
    await act(ring)
  } finally {
    ring.close()
  }
}

describe('a revocation', () => {
  test('is done when everything that was open under the key has ended, not when the end was requested', () =>
    withRing(async (ring) => {
      const { keyId, request } = await admitted(ring)
      const openings = [ring.open(request), ring.open(request, true)]
      let isDone = false
      const ending = ring.revoked([keyId]).then(() => {
        isDone = true
      })
      expect(openings.map(({ over }) => over.aborted)).toEqual([true, true])
      openings[0]!.close()
      await nextTurn()
      expect(isDone).toBe(false)
      openings[1]!.close()
      await ending
    }))

  test('outlasts a concurrent lookup, and ends what is opened too late', () =>
    withRing(async (ring) => {
      const { key, keyId, request } = await admitted(ring)
      const other = new KeyRing(store, 50)
      const found = other.find(key)
      await other.revoked([keyId])
      expect(await found, 'it was valid when it was read').toBeNull()
      expect(other.open(request).over.aborted).toBe(true)
      other.close()
    }))

  test('without a notification is found when the keys in use are checked', () =>
    withRing(async (ring) => {
      const { request, ...key } = await admitted(ring)
      const opening = ring.open(request)
      const over = once(opening.over, 'abort')
      await revokeWithoutNotice(key)
      await over
      opening.close()
    }, 20))
})

test('of two browser sessions of a key, the one that ended is found when those in use are checked, and the other continues', () =>
  withRing(async (ring) => {
    const { keyId } = await admitted(ring)
    const opened = async () => {
      const begun = { cookie: newToken(), pageValue: newToken(), sessionId: freshUuid() }
      const [cookieHash, pageHash] = [begun.cookie, begun.pageValue].map((one) => hashOf(one).toString('hex'))
      const session = {
        ...begun,
        cookieHash: cookieHash!,
        pageHash: pageHash!,
        userAgent: null,
        replaces: null,
      }
      const command = { kind: 'signIn', session } as const
      await runAlone(store, workspace, { on: 'signIn', key: keyId, uuid: keyId, command, actor: 'test' })
      const key = await ring.ofSession({ workspaceId: workspace, ...begun })
      const request = { key, caller: {}, headers: {} } as unknown as FastifyRequest
      return { ...begun, opening: ring.open(request) }
    }
    const [other, ended] = [await opened(), await opened()]
    const over = once(ended.opening.over, 'abort')
    await superuser(database.url, (client) =>
      client.query('delete from baton.browser_sessions where session_id = $1', [ended.sessionId]),
    )
    await over
    await expect(other.opening.confirm()).resolves.toBeUndefined()
    expect(other.opening.over.aborted).toBe(false)
    for (const { opening } of [other, ended]) opening.close()
  }, 20))

test('nothing is kept of what was closed', () =>
  withRing(async (ring) => {
    const { keyId, request } = await admitted(ring)
    for (let i = 0; i < 500; i++) ring.open(request, i % 2 === 0).close()
    await nextTurn()
    for (let i = 0; i < 50; i++) ring.open(request, true)
    expect(() => ring.open(request, true)).toThrow(expect.objectContaining({ code: 'TOO_MANY_STREAMS' }))
    void ring.revoked([keyId])
  }))
