import type { ReadSet, SessionView } from '../core/batch/requests.ts'
import type { Worker } from '../core/commands.ts'
import type { SessionRecord } from '../core/records.ts'

/** What a store found of one session. */
interface FoundSession {
  readonly record: SessionRecord
  /** Ids of the tasks it holds. */
  readonly holding: number[]
  readonly lost: SessionView['lost']
}

/** The sessions of a view: those that are to change, of those that the store found. */
export function sessionsOf(
  { sessions }: Pick<ReadSet, 'sessions'>,
  find: (name: string) => FoundSession | null,
): Map<string, SessionView> {
  const views = new Map<string, SessionView>()
  for (const name of sessions) {
    const found = find(name)
    if (found) views.set(name, found)
  }
  return views
}

/** The workers of a view: those of the claiming sessions that have a capacity. */
export function workersOf(
  { claimants }: Pick<ReadSet, 'claimants'>,
  find: (name: string) => Worker | null,
): Map<string, Worker> {
  const workers = new Map<string, Worker>()
  for (const name of claimants) {
    const found = find(name)
    if (found && found.record.capacity !== null) workers.set(name, found)
  }
  return workers
}
