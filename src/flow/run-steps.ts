import type { RunsStep } from '../core/runs/step.ts'
import type { RunsTransactor } from '../store/store.ts'

/** Lets a rule about runs and wakeups decide, in one transaction. */
export const runStep = <T>(
  store: RunsTransactor,
  workspaceId: number,
  { ask, decide }: RunsStep<T>,
): Promise<T> => store.transactRuns(workspaceId, ask, decide)
