import type { AgentGranted, NextGranted, Reply, ReplyAsStored, TaskReply } from '../../kinds/replies.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import { recordOf, type TaskAsStored, taskAsStored } from '../store/task-as-stored.ts'

/** Replies under idempotency keys, as they are stored: tasks in them look as they do in a row, whatever a record is like inside. */

export const storedReply = (reply: Reply): ReplyAsStored => withTasks(reply, taskAsStored)

export const replyOf = (stored: ReplyAsStored): Reply =>
  withTasks(stored as Reply, (task) => recordOf(task as TaskRecord & TaskAsStored)) as Reply

type Change = (task: TaskRecord) => object

function withTasks(reply: Reply, change: Change): ReplyAsStored {
  if (!reply.ok) return reply
  const ofClaims = (next: NextGranted) => ({
    ...next,
    claims: next.claims.map((one) => ({ ...one, record: change(one.record) })),
  })
  const ofTask = (one: TaskReply) =>
    one.ok && 'record' in one ? { ...one, record: change(one.record) } : one
  if ('claims' in reply) return ofClaims(reply)
  if ('done' in reply) {
    const { done, next } = reply
    return { ...reply, done: ofTask(done), next: next.ok ? ofClaims(next) : next }
  }
  if ('replies' in reply) return { ...reply, replies: reply.replies.map(ofTask) }
  if ('records' in reply) return { ...reply, records: reply.records.map(change) }
  // The answer of a step is JSON already.
  if ('answer' in reply) return reply
  if (!('isNew' in reply)) return ofTask(reply)
  const { settled, holding } = reply as typeof reply & Partial<Pick<AgentGranted, 'holding'>>
  return {
    ...reply,
    ...(settled && { settled: settled.map((one) => ({ ...one, reply: ofTask(one.reply) })) }),
    ...(holding && { holding: holding.map(change) }),
  }
}
