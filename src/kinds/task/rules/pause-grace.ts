import type { Fence } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import type { TaskWatch } from './watch-fields.ts'

/** A task that is paused because its mission was closed. */

/** How long its holder may still hand in what it has done. */
const GRACE_MS = 30_000

/** Whether a result is by the holder from whom the task was taken with the mission, a moment ago. */
export function isInGrace(record: TaskRecord, { generation, session }: Fence, now: number): boolean {
  const { state, watch } = record
  if (state !== 'paused' || !watch?.pausedByMission || watch.pausedAt === undefined) return false
  return generation === record.generation && session === record.session && now < watch.pausedAt + GRACE_MS
}

export function withoutMissionPause(watch: TaskWatch): TaskWatch | null {
  const { pausedByMission: _paused, pausedAt: _at, ...rest } = watch
  return Object.keys(rest).length === 0 ? null : rest
}
