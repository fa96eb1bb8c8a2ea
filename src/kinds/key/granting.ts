import { type Refusal, refuse, refuseField } from '../../pure/errors.ts'
import { type Right, type Role, rightsOf } from '../../pure/rights.ts'

/** No key can grant or revoke more than it has. The rights of a key never change, so these rules need only the keys. */

export interface KeyGrant {
  role: Role
  scopes?: readonly Right[] | null | undefined
  /** May also create workspaces. */
  instanceAdmin?: boolean | undefined
  /** The only agent that it may act as. */
  agent?: string | null | undefined
}

/** A key that is not revoked. */
interface StandingKey extends KeyGrant {
  isExpired: boolean
}

/** What an agent needs. A key that is bound to one has no other rights, whatever its role: all that it writes, it writes as its agent. */
const RIGHTS_OF_AGENTS: readonly Right[] = ['read', 'work']

export function allRightsOf({ role, scopes, instanceAdmin, agent }: KeyGrant): ReadonlySet<Right> {
  const rights = rightsOf(role, scopes)
  if (agent != null) return new Set(rights.filter((right) => RIGHTS_OF_AGENTS.includes(right)))
  // Of the instance, so no role has it: who runs the server has it, and keys that are given this scope.
  if (scopes?.includes('metrics')) rights.push('metrics')
  return new Set(instanceAdmin ? [...rights, 'instance', 'metrics'] : rights)
}

const beyond = (key: KeyGrant, rights: ReadonlySet<Right>) =>
  [...allRightsOf(key)].find((right) => !rights.has(right))

/** Why a key with these rights may not create the requested one. */
export function refuseNewKey(maker: ReadonlySet<Right>, wanted: KeyGrant): Refusal | null {
  if (wanted.instanceAdmin && (wanted.role !== 'owner' || wanted.scopes || wanted.agent != null))
    return refuseField(
      'VALIDATION_FAILED',
      'instanceAdmin',
      'is only for keys of the role owner without scopes and without an agent',
    )
  const right = beyond(wanted, maker)
  return right
    ? refuse('FORBIDDEN', `The new key would have the right "${right}", which this key lacks.`)
    : null
}

/** Keys created by an owner outlive the owner's key. */
export const endsItsChildren = (maker: KeyGrant) => !allRightsOf(maker).has('own')

/** When a new key expires: not after its creator, unless an owner creates it. */
export function expiryOfChild(maker: KeyGrant & { expiresAt: number | null }, wanted: number | null) {
  if (!endsItsChildren(maker) || maker.expiresAt === null) return wanted
  return wanted === null ? maker.expiresAt : Math.min(wanted, maker.expiresAt)
}

/** Why a caller with these rights may not revoke a key; `standing` are all keys of its workspace. */
export function refuseRevocation<K extends StandingKey>(
  revoker: ReadonlySet<Right>,
  key: K,
  standing: readonly K[],
): Refusal | null {
  const right = beyond(key, revoker)
  if (right) return refuse('FORBIDDEN', `That key has the right "${right}", which this key lacks.`)
  const isLast = (counts: (one: K) => boolean | undefined) => {
    const others = standing.filter((one) => one !== key && !one.isExpired && counts(one))
    return !key.isExpired && counts(key) && others.length === 0
  }
  if (isLast((one) => allRightsOf(one).has('own')))
    return refuse('WRONG_STATE', 'This is the last owner key; create another one first.')
  if (isLast((one) => one.instanceAdmin))
    return refuse('WRONG_STATE', 'This is the last key that can create workspaces; create another one first.')
  return null
}
