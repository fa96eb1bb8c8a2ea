import type { SeenTask, Sight } from '../observer.ts'
import type { World } from '../world.ts'
import { agentInvariants } from './agents.ts'
import { claimInvariants } from './claims.ts'
import { countInvariants, countTaskInvariants } from './counts.ts'
import type { TaskInvariant } from './invariant.ts'
import { beliefs, promises } from './promises.ts'
import { resultInvariants } from './results.ts'
import { sessionInvariants } from './sessions.ts'
import { stateInvariants } from './states.ts'
import { termInvariants } from './terms.ts'
import { timerInvariants } from './timers.ts'
import { viewInvariants } from './views.ts'
import { waitingInvariants, waitingTaskInvariants } from './waiting.ts'
import { worldInvariants } from './world.ts'

const whole = {
  ...worldInvariants,
  ...sessionInvariants,
  ...agentInvariants,
  ...termInvariants,
  ...waitingInvariants,
  ...countInvariants,
  ...viewInvariants,
}
const rows = {
  ...claimInvariants,
  ...resultInvariants,
  ...stateInvariants,
  ...timerInvariants,
  ...waitingTaskInvariants,
  ...countTaskInvariants,
}
/** Found by the actors themselves rather than by reading the store. */
const heard = {
  oneTaskUnderItsKey: { says: 'A task that is created once under a key is the same one in every answer.' },
  sameKeyGivesTheSameReply: { says: 'The same idempotency key gives the same reply.' },
  rulesNeverThrow: { says: 'No request makes the rules throw.' },
  clientsNeverThrow: { says: 'No reply surprises a client.' },
  everyTaskEnds: { says: 'In a calm world every task that waits for no person reaches a terminal state.' },
}

export const INVARIANTS = { ...rows, ...promises, ...beliefs, ...whole, ...heard }
export type InvariantName = keyof typeof INVARIANTS

/** Checks every invariant against what the last step has left behind. */
export function check(world: World, sight: Sight): void {
  for (const task of sight.changed) holdAgainst(rows, task, world)
  // Nothing was written and nothing answered: then only time can have broken something.
  const quiet = !world.ledger.news && isQuiet(sight)
  world.ledger.news = false
  for (const task of sight.tasks.values()) {
    if (!quiet) holdAgainst(promises, task, world)
    holdAgainst(beliefs, task, world)
  }
  if (quiet) return
  for (const [name, { broken }] of Object.entries(whole)) {
    const detail = broken(sight, world)
    if (detail) world.breaks(name, detail)
  }
}

const isQuiet = ({ changed, changedSessions, changedAgents, newEvents }: Sight) =>
  changed.length + changedSessions.length + changedAgents.length + newEvents.length === 0

function holdAgainst(invariants: Record<string, TaskInvariant>, task: SeenTask, world: World): void {
  for (const name in invariants) {
    const detail = guarded(() => invariants[name]!.broken(task, world))
    if (detail) world.breaks(name, `task ${task.record.id}: ${detail}`)
  }
}

/** `replay` throws when the log contradicts itself: that is a violation too. */
function guarded<T>(ask: () => T): T | string {
  try {
    return ask()
  } catch (error) {
    return (error as Error).message
  }
}
