import type { LeaseEnd, NextGranted, Reply, TaskReply } from '../replies.ts'

/**
 * The stored first answer, repeated later: the same claims, with the time that is left now. A client counts from the start
 * of the request that was answered, which may be a retry.
 */
export function asOfNow(reply: Reply, now: number): Reply {
  if (!reply.ok) return reply
  if ('claims' in reply) return handedOutAsOfNow(reply, now)
  if ('done' in reply) {
    const { next } = reply
    return next.ok ? { ...reply, next: handedOutAsOfNow(next, now) } : reply
  }
  if ('replies' in reply) return { ...reply, replies: reply.replies.map((one) => taskReplyAsOfNow(one, now)) }
  if ('settled' in reply) {
    const settled = reply.settled.map((one) => ({ ...one, reply: taskReplyAsOfNow(one.reply, now) }))
    return { ...reply, settled }
  }
  return 'records' in reply || 'isNew' in reply ? reply : taskReplyAsOfNow(reply, now)
}

const handedOutAsOfNow = (reply: NextGranted, now: number): NextGranted => ({
  ...reply,
  claims: reply.claims.map((one) => ({ ...one, claim: timeLeft(one.claim, now) })),
})

function taskReplyAsOfNow(reply: TaskReply, now: number): TaskReply {
  if (!reply.ok) return reply
  if ('ttlMs' in reply) return timeLeft(reply, now)
  return 'claim' in reply ? { ...reply, claim: timeLeft(reply.claim, now) } : reply
}

const timeLeft = <T extends LeaseEnd>(lease: T, now: number): T => ({
  ...lease,
  ttlMs: Math.max(0, Date.parse(lease.leaseExpiresAt) - now),
})
