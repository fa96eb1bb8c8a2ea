import type { AgentRecord } from '../../agent/record.ts'
import { shownState } from '../../agent/rules/decide.ts'
import { agentEvent } from '../../agent/rules/decision.ts'
import type { EventDraft } from '../../events.ts'

/**
 * The event when the first live run of an agent makes it running, or the last one leaves it idle. An agent that is paused or in
 * error stays so, whatever it runs: nothing about it changes. Claims are not counted: they are decided elsewhere, for many agents
 * at a time.
 */
export function statusChange(
  agent: AgentRecord | undefined,
  live: { before: number; after: number },
  now: number,
): EventDraft[] {
  // It was removed meanwhile.
  if (!agent) return []
  const from = shownState(agent, live.before)
  const to = shownState(agent, live.after)
  return from === to
    ? []
    : [agentEvent('agent_status_changed', agent, { from, to }, { actor: `agent:${agent.slug}`, now })]
}
