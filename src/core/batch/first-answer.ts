import type { Reply } from '../commands.ts'

/**
 * The first answer, told again later: the same claims, but the time left is what is left now. A client counts from the
 * start of the request that was answered, which may be a retry.
 */
export function asOfNow(reply: Reply, now: number): Reply {
  const { claim, claims, replies, settled } = reply as {
    claim?: Timed
    claims?: { claim: Timed }[]
    replies?: Reply[]
    settled?: { reply: Reply }[]
  }
  if (!reply.ok) return reply
  if ('ttlMs' in reply) return { ...reply, ...timeLeft(reply as unknown as Timed, now) } as Reply
  if (claim) return { ...reply, claim: timeLeft(claim, now) } as Reply
  if (claims)
    return { ...reply, claims: claims.map((one) => ({ ...one, claim: timeLeft(one.claim, now) })) } as Reply
  if (replies) return { ...reply, replies: replies.map((one) => asOfNow(one, now)) } as Reply
  if (settled)
    return { ...reply, settled: settled.map((one) => ({ ...one, reply: asOfNow(one.reply, now) })) } as Reply
  return reply
}

interface Timed {
  leaseExpiresAt: string
  ttlMs: number
}

const timeLeft = (claim: Timed, now: number) => ({
  ...claim,
  ttlMs: Math.max(0, Date.parse(claim.leaseExpiresAt) - now),
})
