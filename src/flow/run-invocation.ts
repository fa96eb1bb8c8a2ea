import { Refused } from '../core/errors.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { InvocationView } from '../core/shapes/told.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { requireRun } from './runs.ts'

/** What a run was told. A run may read its own only: the prompts of others are none of its business. */
export async function showInvocation(
  kernel: ServerKernel,
  caller: Caller,
  runId: string,
): Promise<AnswerOf<typeof InvocationView>> {
  const run = await requireRun(kernel, caller, runId)
  if (caller.run && caller.run.runId !== run.id)
    throw new Refused('FORBIDDEN', 'A run token reads only what its own run was told.')
  const kept = await kernel.store.runs.invocation(caller.workspaceId, run.id)
  const status = kept ? 'available' : run.startedAt === null ? 'not_started' : 'unavailable'
  return {
    runId: run.id,
    status,
    prompt: kept?.told.prompt ?? null,
    systemPrompt: kept?.told.systemPrompt ?? null,
    program: kept?.call?.program ?? null,
    request: kept?.call?.request ?? null,
  }
}
