import { isOnTrack, trackName } from '../../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { Sight } from '../observer.ts'
import { CAPABILITY } from '../plan-tasks.ts'
import type { WorldInvariant } from './invariant.ts'

const recordsOf = ({ view }: Sight) => [...view.records.values()]
const isHeld = ({ claimState }: TaskRecord) => claimState === 'active'
const isBefore = (a: TaskRecord, b: TaskRecord) => a.rank! < b.rank! || (a.rank === b.rank && a.id < b.id)

const headsAreFound: WorldInvariant = {
  says: 'Each request for work sees the first task of every track queue of every project.',
  broken: (sight) => {
    const first = new Map<string, TaskRecord>()
    for (const record of recordsOf(sight)) {
      const fits = record.capabilities.every((one) => one === CAPABILITY)
      if (record.rank === null || record.onlyAgent !== null || !fits) continue
      const name = trackName(record.projectId, record.trackQueue)
      const known = first.get(name)
      if (!known || isBefore(record, known)) first.set(name, record)
    }
    const shown = new Set(sight.view.waiting[0])
    const missing = [...first.values()].find(({ id }) => !shown.has(id))
    return (
      missing &&
      `task ${missing.id}, the first of "${missing.trackQueue}" of project ${missing.projectId}, is not shown`
    )
  },
}

const onlyTheQueueIsShown: WorldInvariant = {
  says: 'Each request for work sees no task that is not queued.',
  broken: ({ view }) => {
    const wrong = view.waiting[0]!.find((id) => {
      const record = view.records.get(id)
      return record?.state !== 'queued' || record.onlyAgent !== null
    })
    return wrong !== undefined && `task ${wrong} is ${view.records.get(wrong)?.state}`
  },
}

const holdingsAreTrue: WorldInvariant = {
  says: 'What sessions, agents and tracks are recorded to hold is what they hold.',
  broken: (sight) => {
    const { view } = sight
    const held = recordsOf(sight).filter(isHeld)
    for (const [name, { holding }] of view.kinds.session.seen) {
      const own = held.filter(({ session }) => session === name).map(({ id }) => id)
      if ([...holding].sort().join() !== own.sort().join())
        return `${name} holds ${own}, recorded are ${holding}`
      const worker = view.workers.get(name)
      if (worker && worker.held !== own.length)
        return `${name} holds ${own.length}, recorded are ${worker.held}`
    }
    for (const [slug, { holding }] of view.kinds.agent.seen) {
      const own = held.filter(({ agent }) => agent === slug).map(({ id }) => id)
      if ([...holding].sort().join() !== own.sort().join())
        return `${slug} holds ${own}, recorded are ${holding}`
      const claiming = view.claimingAgents.get(slug)
      if (claiming && claiming.held !== own.length)
        return `${slug} holds ${own.length}, recorded are ${claiming.held}`
    }
    for (const record of recordsOf(sight)) {
      const track = isOnTrack(record) && view.tracks.get(trackName(record.projectId, record.trackQueue))
      if (!track || !isHeld(record)) continue
      const own = held.filter(
        ({ agent, projectId, trackQueue }) =>
          agent === record.agent && projectId === record.projectId && trackQueue === record.trackQueue,
      )
      if (track.holders.get(record.agent!) !== own.length)
        return `${record.agent} holds ${own.length} of "${record.trackQueue}", recorded are ${track.holders.get(record.agent!)}`
    }
    return null
  },
}

/** About what stores show to the rules: checked on the read of everything, which is such a view. */
export const viewInvariants = { headsAreFound, onlyTheQueueIsShown, holdingsAreTrue }
