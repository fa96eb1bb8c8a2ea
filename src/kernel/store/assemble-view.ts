import type { Worker } from '../../kinds/task/command.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import type { ReadSet, TrackUse } from '../batch/requests.ts'
import type { SeenSession } from './portable.ts'

/** The parts of a view that every store puts together in the same way, from whatever it read. */

/** The sessions of a view: those that are to change, of those that the store found. */
export function sessionsOf(
  names: readonly string[],
  find: (name: string) => SeenSession | null,
): Map<string, SeenSession> {
  const views = new Map<string, SeenSession>()
  for (const name of names) {
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

/** Declared tracks, by `trackName`, and the agents that hold tasks on them. */
export class TrackUses {
  readonly byName = new Map<string, TrackUse & { holders: Map<string, number> }>()

  declare(name: string, maxAgents: number | null): void {
    this.byName.set(name, { maxAgents, holders: new Map() })
  }

  /** Of a track that is not declared nothing is counted. */
  holds(name: string, agent: string, tasks: number): void {
    this.byName.get(name)?.holders.set(agent, tasks)
  }
}

/** Generations that results are offered for and that are past: only for these the holder must be read, which is rare. */
export const pastGenerations = (
  { offered }: Pick<ReadSet, 'offered'>,
  records: ReadonlyMap<number, TaskRecord>,
) => offered.filter(({ taskId, generation }) => generation < (records.get(taskId)?.generation ?? 0))
