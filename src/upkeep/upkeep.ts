import type { Kernel } from '../kernel/kernel.ts'
import type { NextUpkeep, Store } from '../kernel/store/store.ts'
import { BATCH, type UpkeepContext } from '../kernel/upkeep-context.ts'
import { expireSessions } from '../kinds/session/upkeep.ts'
import { settleDueTasks } from '../kinds/task/upkeep.ts'
import { pause } from './pause.ts'
import { applyRetention, unblockMissed } from './steps.ts'

/** Upkeep of a queue used as a library: every process runs it, and no coordinator is needed. */

interface UpkeepStep {
  run: (context: UpkeepContext) => Promise<number>
  everyMs: number
  /** Whether it may have something to do, where the store says what is due next. */
  mayBeDue: (next: NextUpkeep) => boolean
}

const isTime = ({ upkeepAt }: NextUpkeep) => upkeepAt !== null && upkeepAt <= performance.now()

const STEPS: UpkeepStep[] = [
  { run: settleDueTasks, everyMs: 250, mayBeDue: isTime },
  { run: expireSessions, everyMs: 500, mayBeDue: isTime },
  { run: unblockMissed, everyMs: 5_000, mayBeDue: ({ isLogAhead }) => isLogAhead },
  { run: applyRetention, everyMs: 600_000, mayBeDue: () => true },
]

/** Logger for failed steps, which are retried. */
export interface UpkeepLog {
  warn(about: { err: unknown; step: string }, message: string): void
}

/**
 * Runs each step at its interval if something may be due, and again at once after a full batch. The simulation has its own
 * time to wait in.
 */
export function startUpkeep(
  kernel: Kernel,
  logger: UpkeepLog,
  wait: typeof pause = pause,
): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const loops = STEPS.map((step) => runRepeatedly(step, { kernel }, logger, stopping.signal, wait))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function runRepeatedly(
  { run, everyMs, mayBeDue }: UpkeepStep,
  context: UpkeepContext,
  logger: UpkeepLog,
  stopping: AbortSignal,
  wait: typeof pause,
): Promise<void> {
  while (!stopping.aborted) {
    let done = 0
    try {
      done = await run(context)
    } catch (error) {
      logger.warn({ err: error, step: run.name }, 'an upkeep step failed; retrying')
    }
    if (done >= BATCH) continue
    // The answer is kept for a second, unless something is committed: a queue at rest asks one question a second.
    do await wait(everyMs, stopping)
    while (!stopping.aborted && !(await mayHaveWork(context.kernel.store, mayBeDue)))
  }
}

async function mayHaveWork(store: Store, mayBeDue: UpkeepStep['mayBeDue']): Promise<boolean> {
  // A step that can read what it needs must not wait for an answer that cannot be read.
  const next = await store.nextDue?.().catch(() => null)
  return next ? mayBeDue(next) : true
}
