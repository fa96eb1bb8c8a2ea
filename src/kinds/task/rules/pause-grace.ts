import type { Fence } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import { without } from './groups.ts'

/** A task that is paused because its mission was closed. */

/** How long its holder may still hand in what it has done. */
const GRACE_MS = 30_000

/** Whether a result is by the holder from whom the task was taken with the mission, a moment ago. */
export function isInGrace(record: TaskRecord, { generation, session }: Fence, now: number): boolean {
  const { state, continuation } = record
  if (state !== 'paused' || !continuation?.pausedByMission || continuation.pausedAt === undefined)
    return false
  return (
    generation === record.generation && session === record.session && now < continuation.pausedAt + GRACE_MS
  )
}

export function endMissionPause(record: TaskRecord): void {
  record.continuation = without(record.continuation, 'pausedByMission', 'pausedAt')
}
