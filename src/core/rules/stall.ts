import type { Circumstances, Reply, TaskCommand } from '../commands.ts'
import type { TaskDraft } from '../records.ts'
import { backoffMs } from '../retry.ts'
import { isHeld } from '../states.ts'
import { expireLease, leaseRanOut, takeAway } from './fence.ts'

type Lose = Extract<TaskCommand, { kind: 'lose' }>

/** Its worker fell silent: the task is tried again as after any failure of the machinery. */
export function lose(draft: TaskDraft, { fence, silentMs }: Lose, around: Circumstances): Reply {
  const { record } = draft
  const isHeldByIt = record.claimState === 'active' && record.generation === fence.generation
  if (isHeldByIt)
    takeAway(draft, around, 'WORKER_LOST', 'Its worker fell silent.', backoffMs(record.attempt), { silentMs })
  return { ok: true, reason: isHeldByIt ? 'LOST' : 'NOTHING_DUE', record }
}

type Stall = Extract<TaskCommand, { kind: 'stall' }>

/** ADE's requeue of stalled work: a holder that gave no sign of life for so long loses the task, whatever its lease says. */
export function stall(draft: TaskDraft, { silentMs }: Stall, around: Circumstances): Reply {
  const { record } = draft
  if (leaseRanOut(record, around.now)) expireLease(draft, around)
  else if (isHeld(record.state) && around.now - record.updatedAt >= silentMs) {
    const error = `Its holder gave no sign of life for ${around.now - record.updatedAt} ms.`
    takeAway(draft, around, 'STALLED', error, backoffMs(record.attempt), {
      silentMs: around.now - record.updatedAt,
    })
  }
  return { ok: true, reason: draft.changed ? 'MOVED' : 'NOTHING_DUE', record }
}
