import type { ProjectFairness } from '../fairness.ts'
import { trackOfQueue } from '../keys.ts'
import type { TaskRecord } from '../records.ts'
import { type Pick, trackName } from './requests.ts'

type Lookup = (id: number) => TaskRecord | undefined

/** One line of one project, in the order of the queue. */
interface Line {
  projectId: number
  /** Anybody's; what is kept for one agent is few, and is offered one by one. */
  isCommon: boolean
  /** Last first, so that what is taken can be dropped from the end. */
  ids: number[]
}

/** The waiting tasks of one head, and in which order callers of a batch are given them. */
export class ReadyQueue {
  readonly #lines: Line[]
  readonly #lookUp: Lookup

  constructor(ids: readonly number[], lookUp: Lookup) {
    this.#lookUp = lookUp
    this.#lines = linesOf(
      ids.map((id) => lookUp(id)!),
      true,
    )
  }

  /**
   * What nobody in this batch has taken yet, and what is kept for the agent: the project whose turn it is, and in it the
   * first of the queue. Told that the track of a task is full, it offers nothing of that line any more.
   */
  *of(
    own: readonly TaskRecord[],
    fairness: ProjectFairness,
  ): Generator<TaskRecord, void, 'taken' | 'refused' | 'full'> {
    const lines = own.length === 0 ? this.#lines : [...this.#lines, ...linesOf(own, false)]
    const refused = new Map<Line, number>()
    for (;;) {
      let best: { trackQueue: Line; record: TaskRecord; turn: number } | null = null
      for (const trackQueue of lines) {
        const record = this.#first(trackQueue, refused.get(trackQueue) ?? 0)
        if (!record) continue
        const turn = fairness.of(trackQueue.projectId)
        if (!best || turn < best.turn || (turn === best.turn && isBefore(record, best.record)))
          best = { trackQueue, record, turn }
      }
      if (!best) return
      const { trackQueue, record } = best
      const answer = yield record
      if (answer === 'taken') fairness.served(trackQueue.projectId)
      else if (answer === 'full' && trackQueue.isCommon) refused.set(trackQueue, trackQueue.ids.length)
      else if (this.#lookUp(record.id)!.rank !== null)
        refused.set(trackQueue, (refused.get(trackQueue) ?? 0) + 1)
    }
  }

  #first({ ids }: Line, passedOver: number): TaskRecord | undefined {
    // Many callers may share a line; what the ones before took is passed over once, not by each of them.
    while (ids.length > 0 && this.#lookUp(ids.at(-1)!)!.rank === null) ids.pop()
    for (let i = ids.length - 1 - passedOver; i >= 0; i--) {
      const record = this.#lookUp(ids[i]!)!
      if (record.rank !== null) return record
    }
    return undefined
  }
}

function linesOf(records: readonly TaskRecord[], isCommon: boolean): Line[] {
  const lines = new Map<string, { projectId: number; records: TaskRecord[] }>()
  for (const record of records) {
    const name = trackName(record.projectId, record.trackQueue)
    const trackQueue = lines.get(name)
    if (trackQueue) trackQueue.records.push(record)
    else lines.set(name, { projectId: record.projectId, records: [record] })
  }
  return [...lines.values()].map(({ projectId, records }) => ({
    projectId,
    isCommon,
    ids: inOrder(records).map(({ id }) => id),
  }))
}

/** Last first. Lists come in order from most stores, and checking is much cheaper than sorting. */
function inOrder(records: TaskRecord[]): TaskRecord[] {
  const isSorted = records.every((record, i) => i === 0 || isBefore(records[i - 1]!, record))
  return (isSorted ? records : records.sort((a, b) => (isBefore(a, b) ? -1 : 1))).reverse()
}

const isBefore = (a: TaskRecord, b: TaskRecord) => a.rank! < b.rank! || (a.rank === b.rank && a.id < b.id)

export const fits = (record: TaskRecord, { agent, projectId, tracks }: Pick) =>
  record.onlyAgent === agent &&
  record.rank !== null &&
  (projectId === undefined || record.projectId === projectId) &&
  (tracks === undefined || tracks.includes(trackOfQueue(record.trackQueue)))
