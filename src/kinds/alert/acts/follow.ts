import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Follower } from '../../../kernel/follower.ts'
import { ALERTS, type FollowedEvent } from '../../../kernel/store/log-followers.ts'
import type { RunStore } from '../../../kernel/store/run-store.ts'
import { toldIn } from '../postgres/look.ts'
import { FACT_TYPES, fromEvents } from '../rules/facts.ts'
import { settleAlerts } from './look.ts'
import { raiseOne, resolveOne } from './raise.ts'

/** Follows the log: some events are alerts, and after others something may be wrong, or right again. */

/** After these, the workspace is looked at. */
const WORTH_A_LOOK = [
  'inbox_added',
  'inbox_closed',
  'agent_faulted',
  'agent_resumed',
  'agent_recovered',
  'agent_paused',
  'agent_stale',
  'agent_terminated',
  'agent_removed',
  'budget_warning',
  'budget_exceeded',
  'budget_increased',
  'budget_changed',
  'budget_moved',
  'budget_renewed',
  'budget_recounted',
  'mission_completed',
  'mission_failed',
  'mission_cancelled',
  'task_failed',
  'task_lease_expired',
  'threshold_changed',
  'threshold_removed',
]

const isFact = ({ type, from }: FollowedEvent) => FACT_TYPES.includes(type) || from === 'failed'

export const alerts: Follower<RunStore> = {
  name: ALERTS,
  wants: { to: [], from: ['failed'], types: [...new Set([...WORTH_A_LOOK, ...FACT_TYPES])] },
  async handle({ kernel, term }, workspaceId, events) {
    // Only a server runs it.
    const into = { kernel: kernel as unknown as ServerKernel, workspaceId, term }
    const facts = events.filter(isFact)
    const told =
      facts.length === 0
        ? []
        : await toldIn(
            into.kernel.store.readers,
            workspaceId,
            facts.map(({ seq }) => seq),
          )
    // In the order of the log: what ends an alert may follow what opened it.
    for (const one of fromEvents(told)) {
      if (one.does === 'resolve') await resolveOne(into, one.cause, one.subject)
      else await raiseOne(into, one.finding, { seq: one.seq, times: one.times })
    }
    const isWorthALook = events.some(({ type }) => WORTH_A_LOOK.includes(type))
    return { did: facts.length + (isWorthALook ? await settleAlerts(into) : 0) }
  },
}
