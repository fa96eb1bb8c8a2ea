import { itemsChanged } from '../../inbox-events.ts'
import type { MissionRecord } from './record.ts'
import { isEnd } from './states.ts'

/** What a mission has in the inbox: the plan that waits for approval, and the budget that is spent. The query says the same. */
function itemsOf({ uuid, phase, closedBy, plan, approved, version, updatedAt, error }: MissionRecord) {
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
  ]
}

export const missionItemsChanged = (before: MissionRecord | null, after: MissionRecord, because: string) =>
  itemsChanged(before ? itemsOf(before) : [], itemsOf(after), because)
