import type { Reply, TaskReply } from '../../kinds/replies.ts'
import type { TaskCommand } from '../../kinds/task/command.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import type { Request } from './requests.ts'

/** A batch that was committed, with what each request is answered: for those who count what happens. */
export interface Answered {
  requests: readonly Request[]
  replies: readonly Reply[]
  /** The tasks as they were before. */
  records: ReadonlyMap<number, TaskRecord>
  /** Idempotency keys that were used for the first time: what others are answered has happened before. */
  newKeys: ReadonlySet<string>
}

/** A command on a task, and what it was answered. */
interface AnsweredCommand {
  kind: TaskCommand['kind']
  taskId: number
  reply: TaskReply
}

/** The commands on tasks in a batch. Those of repeated requests are left out if they were granted. */
export function answeredCommands({ requests, replies, newKeys }: Answered): AnsweredCommand[] {
  return requests.flatMap((request, place) => {
    const { idempotency } = request
    const reply = replies[place]!
    if (reply.ok && idempotency && !newKeys.has(idempotency.key)) return []
    return commandsOf(request, reply)
  })
}

function commandsOf(request: Request, reply: Reply): AnsweredCommand[] {
  if (request.on === 'task') return [answered(request, reply as TaskReply)]
  if (request.on === 'taskThenNext') {
    const { item } = request
    return [answered(item, (reply.ok ? (reply as { done: TaskReply }).done : reply) as TaskReply)]
  }
  if (request.on !== 'many' || !('replies' in reply)) return []
  const each = reply.replies as readonly TaskReply[]
  return each.map((one, i) => answered(request.items[i]!, one))
}

const answered = (
  { taskId, command }: { taskId: number; command: TaskCommand },
  reply: TaskReply,
): AnsweredCommand => ({ kind: command.kind, taskId, reply })
