import { EVENTS } from '../../../src/kinds/catalogue.ts'
import type { SeenTask } from '../observer.ts'
import type { WorldInvariant } from './invariant.ts'

const claimsAreCounted: WorldInvariant = {
  says: 'The counter of active claims is their number, and within the limit of the workspace.',
  broken: ({ view, tasks }) => {
    let active = 0
    for (const { claims } of tasks.values())
      for (const { state } of claims) if (state === 'active') active += 1
    const { activeClaims, limits } = view
    return (
      (activeClaims !== active || active > limits.maxConcurrentClaims) &&
      `counted ${activeClaims}, there are ${active} of ${limits.maxConcurrentClaims}`
    )
  },
}

const seqIsGapless: WorldInvariant = {
  says: 'Events are numbered without a gap, in the order of their commits.',
  broken: ({ newEvents, lastSeq }) => {
    const wrong = newEvents.findIndex(({ seq }, i) => seq !== lastSeq + i + 1)
    return wrong !== -1 && `event ${newEvents[wrong]!.seq} follows ${lastSeq + wrong}`
  },
}

const createdOnce: WorldInvariant = {
  says: 'A repeated creation creates nothing more.',
  broken: ({ tasks }, { taskPlans, partsRequested }) =>
    tasks.size > taskPlans.length + partsRequested && `${tasks.size} tasks`,
}

const acknowledgedTasksAreStored: WorldInvariant = {
  says: 'A task in an answer exists.',
  broken: ({ tasks }, { ledger }) => {
    if (ledger.answers.size <= tasks.size) return null
    return `${ledger.answers.size} tasks were answered, ${tasks.size} are stored`
  },
}

const mergedIsItsParts: WorldInvariant = {
  says: 'The result of a task that was merged is what its parts had as theirs at that moment, by their names.',
  broken: ({ changed, tasks }) => {
    for (const parent of changed) {
      const merge = parent.news.find(({ type }) => type === 'task_merged')
      if (!merge) continue
      const of = ({ record, events }: SeenTask) =>
        record.parentId === parent.record.id && events[0]!.seq < merge.seq
      const parts = [...tasks.values()].filter(of).sort((a, b) => a.record.id - b.record.id)
      const result = parent.results.find(({ generation }) => generation === merge.generation)
      const merged = (result?.data ?? {}) as Record<string, unknown>
      const wrong = parts.find((part) => {
        const { key, uuid } = part.record
        return !acceptedBeforeAndAfter(part, changed).includes(JSON.stringify(merged[key ?? uuid]))
      })
      if (wrong || Object.keys(merged).length !== parts.length)
        return `task ${parent.record.id} has ${JSON.stringify(merged)}; ${wrong?.record.id} of ${parts.length} parts differs`
    }
    return null
  },
}

/** What is accepted for a task, and what was before the last step if that changed it: a batch may do more than merge. */
function acceptedBeforeAndAfter(task: SeenTask, changed: readonly SeenTask[]): string[] {
  const { record, before, results, resultsBefore } = task
  const now = results.filter(({ epoch, accepted }) => epoch === record.epoch && accepted)
  const then = resultsBefore.filter(({ epoch, accepted }) => epoch === before?.epoch && accepted)
  return [...now, ...(changed.includes(task) ? then : [])].map(({ data }) => JSON.stringify(data))
}

const eventsOfNoTaskFit: WorldInvariant = {
  says: 'The payload of every event that is about no task fits the catalogue as well.',
  broken: ({ newEvents }) => {
    const wrong = newEvents.find(
      ({ taskId, type, payload }) => taskId === null && !EVENTS[type].safeParse(payload).success,
    )
    return wrong && `${wrong.type} ${JSON.stringify(wrong.payload)}`
  },
}

export const worldInvariants = {
  claimsAreCounted,
  seqIsGapless,
  createdOnce,
  acknowledgedTasksAreStored,
  mergedIsItsParts,
  eventsOfNoTaskFit,
}
