import type { EventDraft } from '../../events.ts'
import { itemsChanged } from '../../task/rules/inbox-events.ts'
import type { AgentRecord } from '../record.ts'
import type { AgentContext, AgentDecision } from './decision.ts'
import { agentEvent } from './decision.ts'

/** An agent in error waits for a person. */
const itemsOf = (record: AgentRecord | null) =>
  record?.state === 'error'
    ? [
        {
          ...{ id: `agent:${record.slug}`, kind: 'agent' as const, agent: record.slug },
          ...{
            reason: record.stateReason,
            since: record.updatedAt,
            generation: record.version,
            digest: null,
          },
        },
      ]
    : []

/** The events of a decision about an agent, and what they change in the inbox. */
export function withInbox(
  before: AgentRecord | null,
  { record, events, refusal }: AgentDecision,
  context: AgentContext,
): EventDraft[] {
  const about = record ?? before
  if (refusal || !about || events.length === 0) return events
  const changes = itemsChanged(itemsOf(before), itemsOf(record), events[0]!.type)
  const items = changes.map(([type, payload]) => agentEvent(type, about, payload, context))
  // What happened stays the last event of a decision.
  return [...events.slice(0, -1), ...items, ...events.slice(-1)]
}
