import type { z } from 'zod'
import type { Execution } from '../../../door/execution.ts'
import { requireAgent } from '../../../door/named-agents.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { usableProfile } from '../../../kinds/agent/acts/settings.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { TryAnswer, TryBody } from '../shapes.ts'

/** Whether an agent with these settings could run on this node. They are checked as if they were saved. */
export async function tryAdapter(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  adapterType: string,
  { config, agent }: z.output<typeof TryBody>,
): Promise<AnswerOf<typeof TryAnswer>> {
  if (!execution.adapters(caller.workspaceId).some(({ type }) => type === adapterType))
    throw new Refused('NOT_FOUND', `There is no adapter "${adapterType}" on this node.`)
  const known = agent === undefined ? undefined : (await requireAgent(kernel, caller, agent)).record
  const given = { adapterType, adapterConfig: config }
  const { adapterConfig, model } = await usableProfile(execution, caller, given, known).catch(inItsOwnWords)
  const checks = await execution.probe(caller.workspaceId, {
    adapterType,
    adapterConfig: adapterConfig ?? null,
    model: model ?? null,
    slug: known?.slug ?? null,
  })
  return { type: adapterType, ok: checks.every(({ ok }) => ok), checks }
}

/** The settings of an agent are its adapterConfig; here they are the config. */
function inItsOwnWords(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  const own = (text: string) => text.replaceAll('adapterConfig', 'config')
  const { code, detail, ok: _ok, errors, ...extra } = error.refusal
  const named = (errors as { field: string; message: string }[] | undefined)?.map((one) => ({
    ...one,
    field: own(one.field),
  }))
  throw new Refused(code, own(detail), { ...extra, ...(named && { errors: named }) })
}
