import { isContractorSlug } from '../../kinds/agent/rules/contractors.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import { trackOfQueue } from '../../kinds/task/rules/task-keys.ts'
import type { ProjectFairness } from '../../pure/fairness.ts'
import { ONLY_WORK, type QueueFilter, queryName } from './queue-filter.ts'
import { type Request, trackName, type View } from './requests.ts'

type Lookup = (id: number) => TaskRecord | undefined

/** One track queue of one project, in rank order. */
interface TrackQueue {
  projectId: number
  /** For any agent. Tasks reserved for one agent are few, and are offered one by one. */
  isCommon: boolean
  /** Last first, so that claimed tasks are dropped from the end. */
  ids: number[]
}

/** That of each query of a batch, by its name. */
export function readyQueuesFor(
  requests: readonly Request[],
  waiting: View['waiting'],
  lookUp: Lookup,
): ReadonlyMap<string, ReadyQueue> {
  const queries = new Set<string>()
  for (const request of requests) {
    if (request.on === 'next') queries.add(queryName(request.pick))
    else if (request.on === 'taskThenNext') queries.add(queryName(request.next.pick))
  }
  // In the order of `ReadSet.waiting`, which is that of their first mention.
  return new Map(Array.from(queries, (name, i) => [name, new ReadyQueue(waiting[i]!, lookUp)]))
}

/** The ready tasks of one queue query, and the order in which the callers of a batch get them. */
export class ReadyQueue {
  readonly #trackQueues: TrackQueue[]
  readonly #lookUp: Lookup

  constructor(ids: readonly number[], lookUp: Lookup) {
    this.#lookUp = lookUp
    this.#trackQueues = trackQueuesIn(
      ids.map((id) => lookUp(id)!),
      true,
    )
  }

  /**
   * Tasks not yet claimed in this batch, and those reserved for the agent: from the project that is next by fairness, the
   * first by rank. When the answer is that a track is full, nothing more of that track queue is offered.
   */
  *of(
    own: readonly TaskRecord[],
    fairness: ProjectFairness,
  ): Generator<TaskRecord, void, 'taken' | 'refused' | 'full'> {
    const trackQueues =
      own.length === 0 ? this.#trackQueues : [...this.#trackQueues, ...trackQueuesIn(own, false)]
    const refused = new Map<TrackQueue, number>()
    for (;;) {
      let best: { trackQueue: TrackQueue; record: TaskRecord; step: number } | null = null
      for (const trackQueue of trackQueues) {
        const record = this.#first(trackQueue, refused.get(trackQueue) ?? 0)
        if (!record) continue
        const step = fairness.of(trackQueue.projectId)
        if (!best || step < best.step || (step === best.step && isBefore(record, best.record)))
          best = { trackQueue, record, step }
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

  #first({ ids }: TrackQueue, passedOver: number): TaskRecord | undefined {
    // Many callers may share a track queue; tasks claimed by earlier callers are dropped once, not by each of them.
    while (ids.length > 0 && this.#lookUp(ids.at(-1)!)!.rank === null) ids.pop()
    for (let i = ids.length - 1 - passedOver; i >= 0; i--) {
      const record = this.#lookUp(ids[i]!)!
      if (record.rank !== null) return record
    }
    return undefined
  }
}

function trackQueuesIn(records: readonly TaskRecord[], isCommon: boolean): TrackQueue[] {
  const trackQueues = new Map<string, { projectId: number; records: TaskRecord[] }>()
  for (const record of records) {
    const name = trackName(record.projectId, record.trackQueue)
    const trackQueue = trackQueues.get(name)
    if (trackQueue) trackQueue.records.push(record)
    else trackQueues.set(name, { projectId: record.projectId, records: [record] })
  }
  return [...trackQueues.values()].map(({ projectId, records }) => ({
    projectId,
    isCommon,
    ids: inOrder(records).map(({ id }) => id),
  }))
}

/** Last first. Most stores return sorted lists, and checking is much cheaper than sorting. */
function inOrder(records: TaskRecord[]): TaskRecord[] {
  const isSorted = records.every((record, i) => i === 0 || isBefore(records[i - 1]!, record))
  return (isSorted ? records : records.sort((a, b) => (isBefore(a, b) ? -1 : 1))).reverse()
}

const isBefore = (a: TaskRecord, b: TaskRecord) => a.rank! < b.rank! || (a.rank === b.rank && a.id < b.id)

export const fits = (record: TaskRecord, { agent, projectId, tracks, purposes }: QueueFilter) =>
  record.onlyAgent === agent &&
  (purposes ?? ONLY_WORK).includes(record.purpose) &&
  record.rank !== null &&
  (projectId === undefined || record.projectId === projectId) &&
  (tracks === undefined || tracks.includes(trackOfQueue(record.trackQueue)))

/** They get no task that is for any agent. Contractors are recognized by their slugs, however they ask. */
export const takesOnlyReserved = ({ agent, isReservedOnly }: QueueFilter) =>
  isReservedOnly || isContractorSlug(agent)
