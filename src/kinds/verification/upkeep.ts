import type { UpkeepStep } from '../../door/upkeep-step.ts'
import { systemCaller } from '../../kernel/caller.ts'
import type { RunStore } from '../../kernel/store/run-store.ts'
import { BATCH, type UpkeepContext } from '../../kernel/upkeep-context.ts'
import { cancelTasks } from './acts/verdicts.ts'

/** Tasks that nothing needs any longer, because the step that should have ended them was lost. */
async function cancelOrphans({ kernel, term, only }: UpkeepContext<RunStore>): Promise<number> {
  const orphans = await kernel.store.verifications.orphans(BATCH, only)
  for (const { workspaceId, id, uuid } of orphans)
    await cancelTasks(kernel, systemCaller(workspaceId, term), [{ id, uuid }])
  return orphans.length
}

export const verificationSteps: readonly UpkeepStep[] = [
  { name: 'orphansCancelled', phase: 'settle', everyMs: 5_000, run: cancelOrphans },
]
