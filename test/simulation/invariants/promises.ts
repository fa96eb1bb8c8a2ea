import type { SeenTask } from '../observer.ts'
import type { World } from '../world.ts'
import type { TaskInvariant } from './invariant.ts'
import { REVIEWED } from './results.ts'

const answeredFor = ({ record }: SeenTask, { ledger }: World) => ledger.answers.get(record.uuid)

const acknowledgedGrantsAreStored: TaskInvariant = {
  says: 'A granted claim is in the lineage of its task.',
  broken: (task, world) => {
    const lost = answeredFor(task, world)?.grants.find(
      ({ generation, session }) => task.claims[generation - 1]?.session !== session,
    )
    return lost && `${lost.session} was granted g${lost.generation}`
  },
}

const acknowledgedResultsAreStored: TaskInvariant = {
  says: "A result that was answered as accepted is stored as its holder's, accepted or under review.",
  broken: (task, world) => {
    for (const { ref, session, generation } of answeredFor(task, world)?.results ?? []) {
      const found = task.results.find((result) => result.ref === ref)
      if (found?.session !== session || found.generation !== generation)
        return `${session} was answered ${ref}`
      if (found.accepted === false && !REVIEWED.includes(found.rejection!))
        return `${ref} was answered as accepted and is stored as ${found.rejection}`
    }
    return null
  },
}

const acceptedTwiceIsOneProduct: TaskInvariant = {
  says: 'A submission that is accepted twice has one work product, unless a person chose another one of the same holder.',
  broken: (task, world) => {
    const results = answeredFor(task, world)?.results ?? []
    const chosen = task.events
      .filter(({ type }) => type === 'task_result_promoted')
      .map(({ payload }) => payload.promotedGeneration)
    const other = results.find(
      ({ generation, ref }) =>
        results.find((first) => first.generation === generation)!.ref !== ref && !chosen.includes(generation),
    )
    return other && `g${other.generation} was accepted as ${other.ref} too`
  },
}

const grantsDoNotOverlap: TaskInvariant = {
  says: 'No one is granted a task while another holds it by its last answer, unless an action ended that claim.',
  broken: (task, world) => {
    for (const { generation, session, until } of answeredFor(task, world)?.grants ?? []) {
      const claim = task.claims[generation - 1]
      if (claim?.session !== session) continue
      const ended = task.endedAt.get(generation) ?? Infinity
      if (claim.endReason === 'EXPIRED' && ended < until)
        return `g${generation} expired ${until - ended} ms before the time it was promised`
      const byAct = claim.endReason !== null && claim.endReason !== 'EXPIRED'
      const next = task.openedAt.get(generation + 1) ?? Infinity
      if (next < (byAct ? Math.min(until, ended) : until))
        return `g${generation + 1} began while g${generation} held`
    }
    return null
  },
}

const beliefsAreTrue: TaskInvariant = {
  says: 'A client that counts its lease from its first try never believes in it longer than the store does.',
  broken: ({ record, claims }, { agents, scheduler: { now } }) => {
    for (const { life } of agents)
      for (const { task, generation, session, believesUntil } of life?.holdings ?? []) {
        if (task.id !== record.id || believesUntil <= now) continue
        const claim = claims[generation - 1]
        if (claim?.session !== session || claim.endReason === 'EXPIRED')
          return `${session} believes in g${generation} for ${believesUntil - now} ms more`
      }
    return null
  },
}

const judgementsAreOfWhatWasSeen: TaskInvariant = {
  says: 'A verdict judges the result it was made for, not one that came after it.',
  broken: (task, world) => {
    const wrong = answeredFor(task, world)?.judgements.find(({ seen, struck }) => seen !== struck)
    return wrong && `${wrong.kind} of g${wrong.seen} struck g${wrong.struck}`
  },
}

/** About the answers clients got: checked when something was written or answered, */
export const promises = {
  acknowledgedGrantsAreStored,
  acknowledgedResultsAreStored,
  acceptedTwiceIsOneProduct,
  grantsDoNotOverlap,
  judgementsAreOfWhatWasSeen,
}
/** and what time alone can break: after every step. */
export const beliefs = { beliefsAreTrue }
