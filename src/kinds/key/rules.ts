import { type Refusal, refuse } from '../../pure/errors.ts'
import type { Right } from '../../pure/rights.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import { endsItsChildren, expiryOfChild, refuseNewKey, refuseRevocation } from './granting.ts'
import type { KeyRecord } from './record.ts'

/** What a command does to the keys of a workspace. */

/** The key that creates or revokes a key, when it belongs to the same workspace. */
export interface KeyHolder {
  keyId: string
  rights: ReadonlySet<Right>
}

type NewKey = Omit<KeyRecord, 'keyId' | 'createdBy' | 'createdAt' | 'revokedAt'>

export type KeyCommand =
  | { kind: 'create'; key: NewKey; by: KeyHolder | null }
  | { kind: 'revoke'; by: KeyHolder }

interface KeyContext {
  now: number
  origin: Origin
  /** All keys of the workspace that are not revoked. */
  standing: readonly KeyRecord[]
}

export interface KeyDecision {
  refusal: Refusal | null
  record: KeyRecord | null
  /** Keys that are revoked with it. */
  others: KeyRecord[]
  events: EventDraft[]
}

const refused = (record: KeyRecord | null, refusal: Refusal): KeyDecision => ({
  ...{ refusal, record, others: [], events: [] },
})

const isExpired = ({ expiresAt }: KeyRecord, now: number) => expiresAt !== null && expiresAt <= now

/** The key of the caller, if it is still valid: it may have ended since the request began. */
const holderIn = ({ standing, now }: KeyContext, { keyId }: KeyHolder) =>
  standing.find((key) => key.keyId === keyId && !isExpired(key, now))

const noLonger = () => refuse('UNAUTHENTICATED', 'This key has been revoked or has expired.')

export function decideKey(
  before: KeyRecord | null,
  keyId: string,
  command: KeyCommand,
  context: KeyContext,
): KeyDecision {
  return command.kind === 'create'
    ? create(keyId, command, context)
    : revoke(before, keyId, command.by, context)
}

function create(
  keyId: string,
  { key, by }: Extract<KeyCommand, { kind: 'create' }>,
  context: KeyContext,
): KeyDecision {
  const { now, origin } = context
  const refusal = by && refuseNewKey(by.rights, key)
  if (refusal) return refused(null, refusal)
  const maker = by ? holderIn(context, by) : null
  if (maker === undefined) return refused(null, noLonger())
  const record = {
    ...key,
    keyId,
    createdBy: maker?.keyId ?? null,
    createdAt: now,
    expiresAt: maker ? expiryOfChild(maker, key.expiresAt) : key.expiresAt,
    revokedAt: null,
  }
  const { name, role, agent } = key
  const payload = { keyId, name, role, ...(agent !== null && { agent }) }
  const events = [workspaceEvent('key_created', payload, { ...origin, now })]
  return { refusal: null, record, others: [], events }
}

function revoke(key: KeyRecord | null, keyId: string, by: KeyHolder, context: KeyContext): KeyDecision {
  const { now, origin, standing } = context
  if (!holderIn(context, by)) return refused(key, noLonger())
  const all = standing.map((one) => ({ ...one, isExpired: isExpired(one, now) }))
  const known = all.find((one) => one.keyId === keyId)
  if (!key || !known) return refused(key, refuse('NOT_FOUND', `There is no key ${keyId} in this workspace.`))
  const refusal = refuseRevocation(by.rights, known, all)
  if (refusal) return refused(key, refusal)
  const [record, ...others] = [key, ...(endsItsChildren(key) ? madeBy([key], standing) : [])].map((one) => ({
    ...one,
    revokedAt: now,
  }))
  const events = [record!, ...others].map(({ keyId: ended, name }) => {
    const payload = { keyId: ended, name, endedWith: ended === keyId ? null : keyId }
    return workspaceEvent('key_revoked', payload, { ...origin, now })
  })
  return { refusal: null, record: record!, others, events }
}

/** The keys that these keys created, those that they created in turn, and so on. */
function madeBy(makers: readonly KeyRecord[], standing: readonly KeyRecord[]): KeyRecord[] {
  if (makers.length === 0) return []
  const ids = new Set(makers.map(({ keyId }) => keyId))
  const made = standing.filter(({ createdBy }) => createdBy !== null && ids.has(createdBy))
  return [...made, ...madeBy(made, standing)]
}
