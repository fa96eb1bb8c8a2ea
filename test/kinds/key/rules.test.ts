import { describe, expect, test } from 'vitest'
import { principalOf } from '../../../src/kernel/kernel.ts'
import {
  allRightsOf,
  endsItsChildren,
  expiryOfChild,
  type KeyGrant,
  refuseNewKey,
  refuseRevocation,
} from '../../../src/kinds/key/granting.ts'

const KEYS = {
  first: { role: 'owner', instanceAdmin: true },
  owner: { role: 'owner' },
  scopedOwner: { role: 'owner', scopes: ['read', 'admin'] },
  admin: { role: 'admin' },
  adminOnly: { role: 'admin', scopes: ['admin'] },
  member: { role: 'member' },
  viewer: { role: 'viewer' },
} satisfies Record<string, KeyGrant>
const names = Object.keys(KEYS) as (keyof typeof KEYS)[]
const grant = (name: keyof typeof KEYS): KeyGrant => KEYS[name]
const pairs = names.flatMap((one) => names.map((other) => [one, other] as const))

describe('no key grants or revokes what it cannot do itself', () => {
  test.each(pairs)('%s and %s', (one, other) => {
    const rights = allRightsOf(grant(one))
    const isWithin = [...allRightsOf(grant(other))].every((right) => rights.has(right))
    expect(refuseNewKey(rights, grant(other))).toEqual(
      isWithin ? null : expect.objectContaining({ code: 'FORBIDDEN' }),
    )
    const key = { ...grant(other), isExpired: false }
    const spare = [KEYS.first, KEYS.first].map((one) => ({ ...one, isExpired: false }))
    const refusal = refuseRevocation(rights, key, [key, ...spare])
    expect(refusal).toEqual(isWithin ? null : expect.objectContaining({ code: 'FORBIDDEN' }))
  })

  test('and of these, an admin may neither create nor revoke an owner, nor an owner a key that creates workspaces', () => {
    for (const [who, whom] of [
      ['admin', 'owner'],
      ['owner', 'first'],
      ['scopedOwner', 'member'],
    ] as const) {
      expect(refuseNewKey(allRightsOf(grant(who)), grant(whom))).toMatchObject({ code: 'FORBIDDEN' })
      const key = { ...grant(whom), isExpired: false }
      expect(refuseRevocation(allRightsOf(grant(who)), key, [key, key])).toMatchObject({ code: 'FORBIDDEN' })
    }
  })

  test('a key that creates workspaces is an owner’s without restrictions', () => {
    for (const wanted of [{ role: 'admin' }, { role: 'owner', scopes: ['read'] }] as const)
      expect(refuseNewKey(allRightsOf(KEYS.first), { ...wanted, instanceAdmin: true })).toMatchObject({
        code: 'VALIDATION_FAILED',
        errors: [{ field: 'instanceAdmin' }],
      })
  })
})

test('child keys end with their creator, and not after it, unless an owner creates them', () => {
  expect(names.filter((name) => endsItsChildren(grant(name)))).toEqual([
    ...['scopedOwner', 'admin', 'adminOnly', 'member', 'viewer'],
  ])
  const [admin, owner] = [KEYS.admin, KEYS.owner]
  expect(expiryOfChild({ ...admin, expiresAt: 100 }, null)).toBe(100)
  expect(expiryOfChild({ ...admin, expiresAt: 100 }, 200)).toBe(100)
  expect(expiryOfChild({ ...admin, expiresAt: 100 }, 50)).toBe(50)
  expect(expiryOfChild({ ...admin, expiresAt: null }, 200)).toBe(200)
  expect(expiryOfChild({ ...admin, expiresAt: null }, null)).toBeNull()
  expect(expiryOfChild({ ...owner, expiresAt: 100 }, null)).toBeNull()
})

describe('the last one cannot be revoked', () => {
  const rights = allRightsOf(KEYS.first)
  const standing = (...keys: (keyof typeof KEYS)[]) =>
    keys.map((name) => ({ ...grant(name), isExpired: false }))
  const lastIn = (keys: ReturnType<typeof standing>) => refuseRevocation(rights, keys[0]!, keys)

  test('owner', () => {
    expect(lastIn(standing('owner', 'admin', 'scopedOwner'))).toMatchObject({ code: 'WRONG_STATE' })
    expect(lastIn(standing('owner', 'owner'))).toBeNull()
    const [key, expired] = standing('owner', 'owner')
    expect(lastIn([key!, { ...expired!, isExpired: true }])).toMatchObject({ code: 'WRONG_STATE' })
    expect(lastIn([{ ...expired!, isExpired: true }, key!])).toBeNull()
  })

  test('key that creates workspaces, even if there are other owners', () => {
    expect(lastIn(standing('first', 'owner'))).toMatchObject({ code: 'WRONG_STATE' })
    expect(lastIn(standing('first', 'first'))).toBeNull()
    expect(lastIn(standing('owner', 'first'))).toBeNull()
  })
})

test('a run has idempotency keys of its own, not those of its agent', () => {
  const agent = { workspaceId: 1, actor: 'agent:dev', rights: new Set<never>() }
  const run = { agent: 'dev', agentId: 'a', taskUuid: null, generation: null, depth: 0 }
  const of = (runId: string) => principalOf({ ...agent, run: { ...run, runId } })
  expect(new Set([of('one'), of('two'), principalOf(agent)]).size).toBe(3)
})
