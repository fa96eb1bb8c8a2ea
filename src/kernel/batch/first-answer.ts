import {
  type AnyGranted,
  isRecordGranted,
  type KindGranted,
  type LeaseEnd,
  type NextGranted,
  type Reply,
  type TaskReply,
} from '../../kinds/replies.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import { refuse } from '../../pure/errors.ts'
import { type Idempotency, isOnRecord, kindOf, type Request, type StoredReply } from './requests.ts'
import { replyOf, storedReply } from './stored-replies.ts'

const CHANGED_NOTHING: ReadonlySet<string> = new Set(['NO_WORK', 'ALL_REFUSED', 'NOT_LOCKED'])

/** The answers under idempotency keys: those that were stored, and those of this batch. */
export class FirstAnswers {
  readonly #stored: ReadonlyMap<string, StoredReply>
  readonly #now: number
  readonly #fresh = new Map<string, { key: string } & StoredReply>()

  constructor(stored: ReadonlyMap<string, StoredReply>, now: number) {
    this.#stored = stored
    this.#now = now
  }

  get fresh(): ({ key: string } & StoredReply)[] {
    return [...this.#fresh.values()]
  }

  under = (key: string): StoredReply | undefined => this.#fresh.get(key) ?? this.#stored.get(key)

  /** The task that was created under this key, as it was then. */
  taskUnder(key: string): TaskRecord | undefined {
    const stored = this.under(key)
    const reply = stored && replyOf(stored.reply)
    return reply?.ok && isRecordGranted(reply) ? reply.record : undefined
  }

  /** The answer to a request whose key was used before; null: it was not. */
  to = (idempotency: Idempotency | undefined): Reply | null =>
    idempotency ? firstAnswer(idempotency, this.under(idempotency.key), this.#now) : null

  /** A refusal or an empty queue changed nothing, so repeating it under the same key is a new request. */
  keep(request: Request, reply: Reply): void {
    const { idempotency } = request
    if (!idempotency || !reply.ok || CHANGED_NOTHING.has(reply.reason)) return
    this.store(idempotency.key, idempotency.bodyHash, forARepeat(request, reply))
  }

  store(key: string, bodyHash: string, reply: Reply): void {
    this.#fresh.set(key, { key, bodyHash, reply: storedReply(reply) })
  }
}

/** What a repeated request is answered: the same, unless that may have a secret in it. */
const forARepeat = (request: Request, reply: AnyGranted): Reply =>
  (isOnRecord(request) && kindOf(request).repeated?.(reply as KindGranted, request.command)) || reply

/** The answer to a request whose idempotency key was used before; null: it was not. */
export function firstAnswer(
  { bodyHash }: Idempotency,
  stored: StoredReply | undefined,
  now: number,
): Reply | null {
  if (!stored) return null
  return stored.bodyHash === bodyHash
    ? asOfNow(replyOf(stored.reply), now)
    : refuse('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used for another request.')
}

/**
 * The stored first answer, repeated later: the same claims, with the time that is left now. A client counts from the start
 * of the request that was answered, which may be a retry.
 */
function asOfNow(reply: Reply, now: number): Reply {
  if (!reply.ok) return reply
  if ('claims' in reply) return handedOutAsOfNow(reply, now)
  if ('done' in reply) {
    const { next } = reply
    return next.ok ? { ...reply, next: handedOutAsOfNow(next, now) } : reply
  }
  if ('replies' in reply) return { ...reply, replies: reply.replies.map((one) => taskReplyAsOfNow(one, now)) }
  if ('settled' in reply && reply.settled) {
    const settled = reply.settled.map((one) => ({ ...one, reply: taskReplyAsOfNow(one.reply, now) }))
    return { ...reply, settled }
  }
  if ('answer' in reply) return reply
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
