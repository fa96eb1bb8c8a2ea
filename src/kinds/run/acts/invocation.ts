import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { InvocationView } from '../shapes/told.ts'
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
