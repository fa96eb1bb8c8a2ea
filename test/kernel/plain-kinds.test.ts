import { beforeEach, describe, expect, test } from 'vitest'
import type { Idempotency, OnRecord } from '../../src/kernel/batch/requests.ts'
import { newKey } from '../../src/kernel/store/new-key.ts'
import { runAlone } from '../../src/kernel/store/run-alone.ts'
import { allRightsOf } from '../../src/kinds/key/granting.ts'
import type { GrantedOf, KindName } from '../../src/kinds/kind.ts'
import { THE_WORKSPACE } from '../../src/kinds/workspace/record.ts'
import { MemoryStore } from '../../src/memory/store.ts'

/** Keys, projects, limits and sign-ins, decided in a batch on the store in memory. */

const WORKSPACE = 1
let now: number
let store: MemoryStore
beforeEach(() => {
  now = 1_000_000
  store = new MemoryStore({ now: () => now })
  store.addWorkspace(WORKSPACE)
})

const run = <K extends KindName>(request: OnRecord<K>, idempotency?: Idempotency) =>
  runAlone(store, WORKSPACE, { ...request, actor: 'test', idempotency } as never) as Promise<never>
const events = async () =>
  (await store.events(WORKSPACE, 0, 100)).map(({ type, payload }) => ({ type, ...payload }))
const refusal = (code: string) => expect.objectContaining({ code })

describe('a key', () => {
  const make = async (role: 'owner' | 'member' | 'admin', by: string | null = null, expiresAt?: number) => {
    const maker = by === null ? null : { keyId: by, rights: allRightsOf({ role: 'admin' }) }
    const { request } = newKey({ name: role, role, expiresAt }, maker)
    await run(request)
    return request.key
  }
  const revoke = (keyId: string, by: string) => {
    const command = { kind: 'revoke', by: { keyId: by, rights: allRightsOf({ role: 'owner' }) } } as const
    return run({ on: 'key', key: keyId, uuid: keyId, command })
  }

  test('is revoked with the keys that it made, and with those that they made', async () => {
    const [owner, admin] = [await make('owner'), await make('admin')]
    const child = await make('admin', admin)
    const grandchild = await make('member', child)
    const apart = await make('member')
    expect(await revoke(admin, owner)).toMatchObject({ others: [child, grandchild] })
    const revoked = (await events()).filter(({ type }) => type === 'key_revoked')
    expect(revoked.map(({ keyId, endedWith }: Record<string, unknown>) => [keyId, endedWith])).toEqual([
      [admin, null],
      [child, admin],
      [grandchild, admin],
    ])
    await expect(revoke(child, owner)).rejects.toEqual(refusal('NOT_FOUND'))
    expect(await revoke(apart, owner)).toMatchObject({ others: [] })
  })

  test('makes no other key once it is revoked or has expired', async () => {
    const [owner, admin] = [await make('owner'), await make('admin', null, now + 10)]
    await make('member', admin)
    now += 10
    await expect(make('member', admin)).rejects.toEqual(refusal('UNAUTHENTICATED'))
    const other = await make('admin')
    await revoke(other, owner)
    await expect(make('member', other)).rejects.toEqual(refusal('UNAUTHENTICATED'))
  })

  test('that is the last one of an owner is not revoked', async () => {
    const owner = await make('owner')
    await expect(revoke(owner, owner)).rejects.toEqual(refusal('WRONG_STATE'))
    await make('owner')
    await revoke(owner, owner)
  })

  test('is made once under an idempotency key: the repeat names it, and stores no secret', async () => {
    const idempotency = { key: 'test k', bodyHash: 'hash' }
    const { request } = newKey({ name: 'ci', role: 'member' }, null)
    await run(request, idempotency)
    const again = newKey({ name: 'ci', role: 'member' }, null).request
    await expect(run(again, idempotency)).rejects.toThrow(request.key)
    await expect(run(again, { ...idempotency, bodyHash: 'other' })).rejects.toEqual(
      refusal('IDEMPOTENCY_KEY_REUSED'),
    )
    expect((await events()).filter(({ type }) => type === 'key_created')).toHaveLength(1)
  })
})

describe('a project', () => {
  const on = (command: OnRecord<'project'>['command']) =>
    run({ on: 'project', key: 'shop', uuid: '01890a5d-ac96-774b-8000-000000000007', command })

  test('is created once', async () => {
    await on({ kind: 'create', name: 'Shop' })
    await expect(on({ kind: 'create', name: 'Other' })).rejects.toEqual(refusal('ALREADY_EXISTS'))
    expect(await on({ kind: 'create', name: 'Other', orKeep: true })).toMatchObject({
      record: { name: 'Shop', projectId: 7 },
    })
  })

  test('keeps what a change of its tracks leaves out, and says nothing of what stays', async () => {
    await expect(on({ kind: 'setTracks', tracks: [] })).rejects.toEqual(refusal('NOT_FOUND'))
    await on({ kind: 'create', name: 'Shop' })
    await on({ kind: 'setTracks', tracks: [{ track: 'A', maxAgents: 1, sequential: true, purpose: 'pay' }] })
    const { record } = (await on({ kind: 'setTracks', tracks: [{ track: 'A', maxAgents: 2 }] })) as {
      record: object
    }
    expect(record).toMatchObject({ tracks: [{ maxAgents: 2, sequential: true, purpose: 'pay' }] })
    await on({ kind: 'setTracks', tracks: [{ track: 'A', maxAgents: 2 }] })
    expect((await events()).filter(({ type }) => type === 'track_changed')).toHaveLength(2)
  })
})

describe('signing in', () => {
  let keyId: string
  beforeEach(async () => {
    const { request } = newKey({ name: 'ann', role: 'member', expiresAt: now + 3_600_000 }, null)
    keyId = request.key
    await run(request)
  })
  const on = (command: OnRecord<'signIn'>['command']) =>
    run<'signIn'>({ on: 'signIn', key: keyId, uuid: keyId, command }) as Promise<GrantedOf['signIn']>
  const session = (sessionId: string, replaces: string | null = null) => ({
    ...{ sessionId, cookieHash: '', pageHash: '', userAgent: null, replaces },
  })
  const use = () => on({ kind: 'useLink', hash: 'link', session: session('s') })

  test('with a link begins one session', async () => {
    await expect(use()).rejects.toThrow('not valid')
    await on({ kind: 'makeLink', hash: 'link' })
    expect((await use()).record).toMatchObject({ signedInAt: now, sessions: [{ sessionId: 's' }] })
    await expect(use()).rejects.toThrow('was used already')
  })

  test('with a link begins none after ten minutes', async () => {
    await on({ kind: 'makeLink', hash: 'link' })
    now += 10 * 60_000
    await expect(use()).rejects.toThrow('link has expired')
  })

  test('with a link begins none after the end of its key', async () => {
    now += 3_600_000 - 1
    await on({ kind: 'makeLink', hash: 'link' })
    now += 1
    await expect(use()).rejects.toThrow('The key of this sign-in link')
  })

  test('ends the sessions of a key that has too many, the longest unused one first', async () => {
    for (let i = 0; i < 20; i++) {
      now += 1
      await on({ kind: 'signIn', session: session(`s-${i}`) })
    }
    expect((await on({ kind: 'signIn', session: session('next') })).ended).toEqual(['s-0'])
    expect((await on({ kind: 'signIn', session: session('other', 's-7') })).ended).toEqual(['s-7'])
  })

  test('is over everywhere when all sessions end, and unused links end, too', async () => {
    await on({ kind: 'makeLink', hash: 'link' })
    await on({ kind: 'signIn', session: session('s') })
    expect((await on({ kind: 'endAll' })).ended).toEqual(['s'])
    await expect(use()).rejects.toThrow('not valid')
  })
})

describe('limits', () => {
  const change = (changed: object, mayWiden = true, isAsRead = true) => {
    const command = { kind: 'changeLimits', changed, mayWiden, areAsRead: () => isAsRead } as const
    return run({ on: 'workspace', key: THE_WORKSPACE, uuid: THE_WORKSPACE, command })
  }

  test('apply from the next request on', async () => {
    await change({ maxActiveSessions: 7 })
    expect((await store.limits(WORKSPACE)).maxActiveSessions).toBe(7)
    expect(await events()).toEqual([{ type: 'limits_changed', changed: { maxActiveSessions: 7 } }])
    await change({})
    expect(await events()).toHaveLength(1)
  })

  test.each([
    ['VERSION_MISMATCH', { maxActiveSessions: 7 }, true, false],
    ['FORBIDDEN', { maxActiveSessions: 10_000 }, false, true],
    ['VALIDATION_FAILED', { minLeaseSeconds: 3_600, maxLeaseSeconds: 60 }, true, true],
  ])('are refused with %s', async (code, changed, mayWiden, isAsRead) => {
    await expect(change(changed, mayWiden, isAsRead)).rejects.toEqual(refusal(code))
    expect(await events()).toEqual([])
  })
})
