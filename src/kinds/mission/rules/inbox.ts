import { itemsChanged } from '../../task/rules/inbox-events.ts'
import type { MissionRecord } from '../record.ts'
import { isEnd } from '../states.ts'
import { awaitsAcceptance } from './outcome.ts'

/** What a mission has in the inbox: the plan that waits for approval, the budget that is spent, and the outcome to accept. The query says the same. */
function itemsOf(mission: MissionRecord) {
  const { uuid, phase, closedBy, plan, approved, version, updatedAt, error, config } = mission
  if (isEnd(phase)) return []
  const isNewer = approved && plan && approved.version < plan.version
  const common = { agent: null, reason: error, since: updatedAt }
  const generation = plan?.version ?? null
  const digest = approved?.version === plan?.version ? null : (plan?.digest ?? null)
  return [
    ...(phase === 'awaiting_approval' || isNewer
      ? [{ ...common, id: `plan:${uuid}:${generation ?? 0}`, kind: 'plan' as const, generation, digest }]
      : []),
    ...(closedBy.includes('budget')
      ? [{ ...common, id: `budget:${uuid}`, kind: 'budget' as const, generation: version, digest: null }]
      : []),
    ...(awaitsAcceptance(mission)
      ? [
          {
            ...{ agent: null, since: updatedAt, reason: config.outcome!.missing },
            ...{ id: `outcome:${uuid}`, kind: 'outcome' as const, generation: version, digest: null },
          },
        ]
      : []),
  ]
}

export const missionItemsChanged = (before: MissionRecord | null, after: MissionRecord, because: string) =>
  itemsChanged(before ? itemsOf(before) : [], itemsOf(after), because)
