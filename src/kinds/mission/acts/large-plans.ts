import { setTimeout as sleep } from 'node:timers/promises'

/** A plan of ten thousand tasks keeps the process busy for a good part of a second. */

const LARGE = 1_000
/** A claim takes two round trips to the database; those that came meanwhile can end in this time. */
const PAUSE_MS = 20

/** Pauses between two steps of work on a large plan, so that other requests are served. */
export const yieldToOthers = (tasks: number): Promise<void> | undefined =>
  tasks < LARGE ? undefined : sleep(PAUSE_MS)
