import type { Continuation } from './groups.ts'

/** How a task continues after it waited for a person, and which work of earlier generations it takes over. */

interface Continuing {
  readonly generation: number
  continuation: Continuation | null
}

/** The next generation takes over where this one stood. Called before the task is queued. */
export function goOn(record: Continuing): void {
  record.continuation = { ...record.continuation, goesOn: { generation: record.generation + 1 } }
}

/** The next generation starts over: from the base, in a new session. Called before the task is queued. */
export function startOver(record: Continuing): void {
  record.continuation = { ...record.continuation, freshFrom: record.generation + 1 }
}

/** The first generation whose work and session the present one may take over. */
export function takesOverFrom(
  { generation, continuation }: Readonly<Continuing>,
  isAgentFresh: boolean,
): number {
  // After a question, a pause or a budget stop an attempt continues, whatever is chosen for new attempts.
  const isNewAttempt = continuation?.goesOn?.generation !== generation
  const isFresh = isNewAttempt && (isAgentFresh || continuation?.isFresh === true)
  return isFresh ? generation : (continuation?.freshFrom ?? 1)
}
