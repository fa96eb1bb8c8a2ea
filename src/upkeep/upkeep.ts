import type { Kernel } from '../kernel/kernel.ts'
import { pause } from './pause.ts'
import {
  applyRetention,
  BATCH,
  expireSessions,
  settleDueTasks,
  type UpkeepContext,
  unblockMissed,
} from './steps.ts'

/** Upkeep of a queue used as a library: every process runs it, and no coordinator is needed. */

interface UpkeepStep {
  run: (context: UpkeepContext) => Promise<number>
  everyMs: number
}

const STEPS: UpkeepStep[] = [
  { run: settleDueTasks, everyMs: 250 },
  { run: expireSessions, everyMs: 500 },
  { run: unblockMissed, everyMs: 5_000 },
  { run: applyRetention, everyMs: 600_000 },
]

/** Logger for failed steps, which are retried. */
export interface UpkeepLog {
  warn(about: { err: unknown; step: string }, message: string): void
}

/** Runs each step at its interval, and again at once after a full batch. */
export function startUpkeep(kernel: Kernel, logger: UpkeepLog): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const loops = STEPS.map((step) => runRepeatedly(step, { kernel }, logger, stopping.signal))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function runRepeatedly(
  { run, everyMs }: UpkeepStep,
  context: UpkeepContext,
  logger: UpkeepLog,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    let done = 0
    try {
      done = await run(context)
    } catch (error) {
      logger.warn({ err: error, step: run.name }, 'an upkeep step failed; retrying')
    }
    if (done < BATCH) await pause(everyMs, stopping)
  }
}
