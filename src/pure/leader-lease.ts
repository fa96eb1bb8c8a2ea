/**
 * Leader leases. There is one row per term, as there is one row per generation of a task: a term number is used once and
 * only grows, so writes under an older term can be distinguished from those of the present leader.
 */

/** The work that the nodes of a cluster share is done by one node at a time. */
export const COORDINATOR = 'coordinator'

/** How long a lease lasts without renewal. Another node takes over within two of these. */
export const LEADER_LEASE_MS = 1_000

/** Its lease expired and another node followed; or its holder resigned. */
type TermEnd = 'EXPIRED' | 'RESIGNED'

export interface LeaderTerm {
  term: number
  nodeId: string
  takenAt: number
  renewedAt: number
  expiresAt: number
  endedAt: number | null
  endReason: TermEnd | null
}

export interface LeaderLeaseCommand {
  /** `take` requests the lease; `renew` only extends a held lease, `resign` releases it. */
  kind: 'take' | 'renew' | 'resign'
  nodeId: string
  /** A specific term; without it, the term the node holds. */
  term?: number | undefined
  leaseMs: number
}

export interface LeaderLeaseDecision {
  /** The newest term after the decision; null: unchanged. */
  changed: LeaderTerm | null
  /** A new term, which begins after the change. */
  taken: LeaderTerm | null
  /** The term the node holds afterwards. */
  holds: LeaderTerm | null
}

const NOTHING: LeaderLeaseDecision = { changed: null, taken: null, holds: null }

/** Whether a term is valid at this time: a lease that ends now is over now. */
export const isTermCurrent = (
  { endedAt, expiresAt }: Pick<LeaderTerm, 'endedAt' | 'expiresAt'>,
  now: number,
) => endedAt === null && expiresAt > now

/** `now` is the store's clock, read after the newest term was locked. */
export function decideLeaderLease(
  newest: LeaderTerm | null,
  command: LeaderLeaseCommand,
  now: number,
): LeaderLeaseDecision {
  const isOwn = newest?.nodeId === command.nodeId && newest.term === (command.term ?? newest.term)
  if (command.kind === 'resign') return isOwn ? resign(newest, now) : NOTHING
  if (newest && isTermCurrent(newest, now)) return isOwn ? renew(newest, command.leaseMs, now) : NOTHING
  // An expired lease is never renewed: another node may have acted on the expiry.
  return command.kind === 'take' ? take(newest, command, now) : NOTHING
}

function renew(newest: LeaderTerm, leaseMs: number, now: number): LeaderLeaseDecision {
  // A shorter request does not shorten the lease: the earlier answer remains valid.
  const expiresAt = Math.max(newest.expiresAt, now + leaseMs)
  const renewed = { ...newest, renewedAt: now, expiresAt }
  return { changed: renewed, taken: null, holds: renewed }
}

function take(
  newest: LeaderTerm | null,
  { nodeId, leaseMs }: LeaderLeaseCommand,
  now: number,
): LeaderLeaseDecision {
  const taken: LeaderTerm = {
    term: (newest?.term ?? 0) + 1,
    nodeId,
    takenAt: now,
    renewedAt: now,
    expiresAt: now + leaseMs,
    endedAt: null,
    endReason: null,
  }
  const changed = newest?.endedAt === null ? ended(newest, 'EXPIRED', now) : null
  return { changed, taken, holds: taken }
}

function resign(newest: LeaderTerm, now: number): LeaderLeaseDecision {
  if (newest.endedAt !== null) return NOTHING
  return { ...NOTHING, changed: ended(newest, isTermCurrent(newest, now) ? 'RESIGNED' : 'EXPIRED', now) }
}

const ended = (term: LeaderTerm, endReason: TermEnd, now: number): LeaderTerm => ({
  ...term,
  endedAt: now,
  endReason,
})
