import type { z } from 'zod'
import { requireAgent } from '../../../door/named-agents.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { isManaged } from '../../agent/rules/health.ts'
import { billedCost } from '../../run/prices/billed.ts'
import type { PriceTable } from '../../run/prices/cost.ts'
import { type ClaimBooked, reportClaim } from '../../usage/rules/claim-report.ts'
import { ledgerOf } from '../../usage/rules/priced.ts'
import type { ReportedUsage } from '../../usage/shapes.ts'
import type { Fence } from '../command.ts'
import { OWN_AGENT, whyNotHolder } from '../rules/acting.ts'
import { readTask } from './tasks.ts'

/** What holders report that Baton does not run. */

export type Reported = z.output<typeof ReportedUsage>

/** The totals of a claim by model, at the prices of now. */
function bookedAs(
  reported: Reported,
  agentsModel: string | null,
  isSubscription: boolean,
  table: PriceTable,
) {
  const models = Array.isArray(reported) ? reported : [reported]
  const names = models.map(({ model }) => model ?? agentsModel ?? 'unknown')
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw Refused.field('VALIDATION_FAILED', 'usage', `names the model ${twice} twice`)
  const all = models.map(({ model = agentsModel, costUsd, ...usage }) => {
    const known = { ...usage, ...inputWith(usage) }
    const billing = isSubscription ? ('subscription' as const) : ('api' as const)
    return ledgerOf(billedCost({ model, usage: known, told: costUsd ?? null, billing, table }))
  })
  return Object.fromEntries(all.flatMap((one) => Object.entries(one)))
}

function inputWith({
  inputTokens,
  cacheWriteInputTokens = 0,
  cacheWrite1hInputTokens = 0,
}: {
  inputTokens: number
  cacheWriteInputTokens?: number | undefined
  cacheWrite1hInputTokens?: number | undefined
}) {
  if (cacheWriteInputTokens > inputTokens)
    throw Refused.field(
      'VALIDATION_FAILED',
      'usage.cacheWriteInputTokens',
      'is a part of inputTokens: it cannot be more',
    )
  if (cacheWrite1hInputTokens > cacheWriteInputTokens)
    throw Refused.field(
      'VALIDATION_FAILED',
      'usage.cacheWrite1hInputTokens',
      'is a part of cacheWriteInputTokens: it cannot be more',
    )
  return { cacheWriteInputTokens, cacheWrite1hInputTokens }
}

export interface HolderReport extends Fence {
  usage: Reported
  number?: number | undefined
}

/** Books what a holder has used, also one whose claim is over. */
export async function reportUsage(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  { session, generation, usage, number }: HolderReport,
): Promise<ClaimBooked | null> {
  const { record } = await readTask(kernel, caller, uuid)
  const claims = await kernel.store.claims(caller.workspaceId, record.id)
  const holder = claims.find((one) => one.generation === generation && one.session === session)
  if (!holder) return null
  const { agent, endedAt } = holder
  const refusal = whyNotHolder(caller.outside, agent, record.purpose)
  if (refusal) throw Refused.because(refusal)
  const { record: known } = await requireAgent(kernel, caller, agent)
  if (agent === OWN_AGENT || isManaged(known))
    throw new Refused('FORBIDDEN', `Baton runs ${agent}: what its runs report is what they have used.`)
  const { billing } = (known.adapterConfig ?? {}) as { billing?: unknown }
  const prices = await kernel.prices(caller.workspaceId)
  const models = bookedAs(usage, known.model, billing === 'subscription', prices)
  return kernel.step(
    { workspaceId: caller.workspaceId },
    reportClaim({
      taskId: record.id,
      taskUuid: record.uuid,
      generation,
      session,
      agent,
      number: number ?? null,
      endedAt,
      models,
    }),
  )
}

/** The same with what a holder says anyway. Nothing is said of what it has used: nothing is booked. */
export async function reportedWith(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  { usage, ...fence }: Fence & { usage?: Reported | undefined },
  ifVersion: number | null = null,
): Promise<void> {
  if (usage === undefined) return
  if (ifVersion !== null) await refuseIfChanged(kernel, caller, uuid, fence, ifVersion)
  await reportUsage(kernel, caller, uuid, { ...fence, usage })
}

/** What will be refused by If-Match books nothing. To those whose claim is over another refusal is due, and what they used counts. */
async function refuseIfChanged(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  { session, generation }: Fence,
  ifVersion: number,
): Promise<void> {
  const { record } = await readTask(kernel, caller, uuid)
  const isHeld =
    record.claimState === 'active' && record.session === session && record.generation === generation
  if (isHeld && record.version !== ifVersion)
    throw new Refused('VERSION_MISMATCH', `The task is at version ${record.version}.`, {
      currentVersion: record.version,
    })
}
