import { isHeld } from '../../../src/pure/states.ts'
import type { TaskInvariant } from './invariant.ts'

const generationNeverFalls: TaskInvariant = {
  says: 'The generation of a task never falls.',
  broken: ({ record, before }) =>
    before !== null &&
    record.generation < before.generation &&
    `generation ${before.generation}, then ${record.generation}`,
}

const oneActiveClaim: TaskInvariant = {
  says: 'A task has at most one active claim.',
  broken: ({ claims }) => {
    const active = claims.filter(({ state }) => state === 'active')
    return active.length > 1 && `active: ${active.map(({ generation }) => `g${generation}`).join(' ')}`
  },
}

const claimRowsAreOneToGeneration: TaskInvariant = {
  says: 'The claims of a task are exactly the generations 1 to its own.',
  broken: ({ claims, record }) =>
    (claims.length !== record.generation || claims.some(({ generation }, i) => generation !== i + 1)) &&
    `g${record.generation} has the claims ${claims.map(({ generation }) => generation).join(' ')}`,
}

const heldMeansActiveClaim: TaskInvariant = {
  says: 'A task is held exactly while its newest claim is active, and that claim is the one its row names.',
  broken: ({ record, claims }) => {
    const { state, claimState, session, agent } = record
    const newest = claims.at(-1)
    const agree =
      newest === undefined
        ? claimState === null
        : newest.state === claimState && newest.session === session && newest.agent === agent
    return (
      (!agree || isHeld(state) !== (claimState === 'active')) &&
      `${state}, ${claimState} by ${session}; its claim is ${newest?.state} by ${newest?.session}`
    )
  },
}

const leasesAreExtendedOnlyWhileLive: TaskInvariant = {
  says: 'A lease that is over is never extended.',
  broken: ({ events }) => {
    let lease = 0
    for (const { type, at, payload } of events) {
      if (type === 'task_assigned') lease = at + (payload.leaseMs as number)
      if (type !== 'claim_renewed') continue
      if (at >= lease) return `renewed ${at - lease} ms after its end`
      lease = payload.leaseExpiresAt as number
    }
    return null
  },
}

export const claimInvariants = {
  generationNeverFalls,
  oneActiveClaim,
  claimRowsAreOneToGeneration,
  heldMeansActiveClaim,
  leasesAreExtendedOnlyWhileLive,
}
