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
  says: 'A creation that is asked for again creates nothing more.',
  broken: ({ tasks }, { plan }) => tasks.size > plan.tasks.length && `${tasks.size} tasks`,
}

const acknowledgedTasksAreStored: WorldInvariant = {
  says: 'A task that somebody was told of exists.',
  broken: ({ tasks }, { ledger }) => {
    if (ledger.told.size <= tasks.size) return null
    return `${ledger.told.size} tasks were told of, ${tasks.size} are stored`
  },
}

export const worldInvariants = { claimsAreCounted, seqIsGapless, createdOnce, acknowledgedTasksAreStored }
