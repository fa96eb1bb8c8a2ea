import type { CLAIM_ENDS } from '../../../../src/pure/states.ts'
import type { SessionMemory } from './use-sessions.ts'

/** What a session remembers, in words. Pure. */

type Entry = SessionMemory['taskLog'][number]

/** Agents that Baton runs hold their tasks under a name of their own, which begins with what they are. */
export const sessionWords = (session: string) => session.replace(/^agent:/, '')

/** Why a claim ended, as the end of "It was lost: …". */
const END_WORDS: Partial<Record<keyof typeof CLAIM_ENDS, string>> = {
  VOLUNTARY: 'it was given back',
  NEEDS_HUMAN: 'a person is needed',
  OVER_BUDGET: 'the budget is spent',
  ERROR: 'the attempt failed',
  EXPIRED: 'its lease expired',
  WORKER_LOST: 'the worker was silent',
  AGENT_LOST: 'the agent was silent',
  AGENT_TERMINATED: 'the agent was terminated',
  AGENT_PAUSED: 'the agent was paused',
  NOT_STARTED: 'it was not started in time',
  HUNG: 'it made no progress',
  STALLED: 'there was no sign of life',
  SUPERSEDED: 'another holder took it',
  CANCELLED: 'the task was cancelled',
  PAUSED: 'the task was paused',
  REASSIGNED: 'it was given to another agent',
  PROMOTED: 'another result was accepted',
}

function endOf({ details }: Entry): string {
  const { endReason } = details
  const words = typeof endReason === 'string' ? END_WORDS[endReason as keyof typeof END_WORDS] : undefined
  return words === undefined ? '' : `: ${words}`
}

/** One line of the log: what happened to its task. */
export function entryWords(entry: Entry): string {
  switch (entry.event) {
    case 'CLAIM_ACQUIRED':
      return 'Taken'
    case 'LEASE_RENEWED':
      return 'Lease renewed'
    case 'CLAIM_LOST':
      return `Lost${endOf(entry)}`
    case 'CLAIM_RELEASED':
      return `Given back${endOf(entry)}`
    case 'RESULT_SUBMITTED':
      return entry.outcome === 'ACCEPTED'
        ? 'Result accepted'
        : entry.outcome === 'REJECTED'
          ? 'Result rejected'
          : 'Result handed in, waiting for review'
  }
}

interface Line {
  readonly entry: Entry
  /** How many of the same kind, of the same task, in a row. */
  readonly times: number
}

/** Newest first; renewals in a row are one line. */
export function linesOf(log: readonly Entry[]): Line[] {
  const lines: { entry: Entry; times: number }[] = []
  for (const entry of [...log].reverse()) {
    const last = lines.at(-1)
    const isSame =
      last?.entry.event === 'LEASE_RENEWED' &&
      entry.event === 'LEASE_RENEWED' &&
      last.entry.taskId === entry.taskId
    if (isSame) last.times += 1
    else lines.push({ entry, times: 1 })
  }
  return lines
}
