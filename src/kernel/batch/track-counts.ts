import type { Effects, TaskRecord } from '../../kinds/task/record.ts'
import { isOnTrack, trackName, type View } from './requests.ts'

/** How many agents work on each track by now: those that were read, and the claims of this batch. */
export class TrackCounts {
  readonly #tracks: View['tracks']
  readonly #changes = new Map<string, Map<string, number>>()

  constructor(tracks: View['tracks']) {
    this.#tracks = tracks
  }

  get isEmpty(): boolean {
    return this.#tracks.size === 0
  }

  count({ agent }: Pick<Effects['claims'][number], 'agent'>, record: TaskRecord, change: number): void {
    if (!isOnTrack(record)) return
    const name = trackName(record.projectId, record.trackQueue)
    const changes = this.#changes.get(name) ?? new Map<string, number>()
    changes.set(agent, (changes.get(agent) ?? 0) + change)
    this.#changes.set(name, changes)
  }

  /** How many agents the track of this task has, if there is no place for this one; else null. */
  fullFor(record: TaskRecord, agent: string): number | null {
    const name = trackName(record.projectId, record.trackQueue)
    const track = this.#tracks.get(name)
    if (!track || track.maxAgents === null) return null
    const changes = this.#changes.get(name)
    const holds = (one: string) => (track.holders.get(one) ?? 0) + (changes?.get(one) ?? 0)
    if (holds(agent) > 0) return null
    const agents = new Set([...track.holders.keys(), ...(changes?.keys() ?? [])])
    const busy = [...agents].filter((one) => holds(one) > 0).length
    return busy >= track.maxAgents ? track.maxAgents : null
  }
}
