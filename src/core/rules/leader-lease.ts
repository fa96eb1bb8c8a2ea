/**
 * Who holds an office. There is one row a term, like one row a generation of a task: a term number is given once and only
 * grows, so whatever is written under an older one can be told from what the present holder writes.
 */

/** Of what the nodes on one database share, one node does it at a time. */
export const COORDINATOR = 'coordinator'

/** So long it is held without being renewed. Another node has taken over after two of these at most. */
export const LEADER_LEASE_MS = 1_000

/** Its lease ran out and somebody followed; or its holder let go of it. */
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
  /** `take` is for whoever may not hold it yet; `renew` only keeps what is held, `resign` lets go of it. */
  kind: 'take' | 'renew' | 'resign'
  nodeId: string
  /** The term that is meant; without it, whichever the node holds. */
  term?: number | undefined
  leaseMs: number
}

export interface LeaderLeaseDecision {
  /** The newest term as it is to be from now on; null: it stays as it is. */
  changed: LeaderTerm | null
  /** A new term, which begins after the change. */
  taken: LeaderTerm | null
  /** The term that the node holds afterwards. */
  holds: LeaderTerm | null
}

const NOTHING: LeaderLeaseDecision = { changed: null, taken: null, holds: null }

/** Whether a term counts at this time: a lease that ends now is over now. */
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
  // A lease that is over is never renewed: in between somebody may have acted as if it were over.
  return command.kind === 'take' ? take(newest, command, now) : NOTHING
}

function renew(newest: LeaderTerm, leaseMs: number, now: number): LeaderLeaseDecision {
  // A shorter wish does not shorten what was promised: whoever counts on the earlier answer is still right.
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
