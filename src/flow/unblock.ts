import type { TaskRecord } from '../core/records.ts'
import { readinessOf } from '../core/rules/create.ts'
import { isTerminal } from '../core/states.ts'
import { type BlockedTask, downstreamOf } from '../store/postgres/due.ts'
import type { Caller, Kernel } from './kernel.ts'

const system = (workspaceId: number): Caller => ({ workspaceId, actor: 'system', rights: new Set() })

/** Tasks have ended: those that waited for them go on, or are skipped, and so do those that waited for the skipped ones. */
export async function unblockDownstream(
  kernel: Kernel,
  workspaceId: number,
  ended: readonly number[],
): Promise<void> {
  try {
    let wave = ended
    while (wave.length > 0) {
      const waiting = await downstreamOf(kernel.store.readers, workspaceId, wave)
      wave = await unblockAll(kernel, waiting)
    }
  } catch {
    // The store is away; upkeep finds the forgotten tasks when it is back.
  }
}

/** Answers with those that ended in turn. */
export async function unblockAll(kernel: Kernel, waiting: readonly BlockedTask[]): Promise<number[]> {
  const ended = await Promise.all(
    waiting.map(async ({ workspaceId, taskId, uuid, triggerRule, upstream }) => {
      const readiness = readinessOf(triggerRule, upstream)
      if (readiness === 'wait') return null
      const because =
        readiness === 'never'
          ? `a task it depends on is ${upstream.find((s) => isTerminal(s) && s !== 'completed')}`
          : 'ready'
      const reply = await kernel.run(system(workspaceId), {
        on: 'task',
        taskId,
        uuid,
        command: { kind: 'unblock', readiness, because },
      })
      return reply.ok && isTerminal((reply.record as TaskRecord).state) ? taskId : null
    }),
  )
  return ended.filter((id) => id !== null)
}
