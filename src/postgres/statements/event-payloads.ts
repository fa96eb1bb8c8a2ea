import type { EventDraft } from '../../kinds/events.ts'
import { workProductRef } from '../../kinds/task/rules/task-keys.ts'

/**
 * Payloads as they are stored. Three events are written in the life of every task. Of those, a payload is stored without what the
 * row of the event or of its task says, and without what has its usual value; readers put it back. All other events are stored as
 * they are.
 */

type Payload = EventDraft['payload']
type EventRow = Pick<EventDraft, 'type' | 'actor' | 'generation'>

/** Part of the format, whatever the defaults of requests are: of stored events, a field that is missing has this value. */
const USUAL: Partial<Record<EventDraft['type'], Payload>> = {
  task_created: { taskType: 'other', priority: 5, dependsOn: [] },
  task_assigned: { leaseMs: 300_000, attempt: 1, previousState: null },
  task_completed: { late: false },
}
const BY_AGENT = 'agent:'

/** Fields that are undefined are not written as JSON. */
export function storedPayload(event: EventRow & { readonly payload: Payload }): Payload {
  const { type, payload } = event
  const usual = USUAL[type]
  if (!usual) return payload
  const hash = type === 'task_completed' ? hashInReference(event) : null
  const stored: Record<string, unknown> = {}
  for (const name in payload) {
    if (isSame(payload[name], usual[name])) continue
    if (type !== 'task_created' && isInRow(name, event)) continue
    if (hash !== null && name === 'workProductRef') stored.hash = hash
    else stored[name] = payload[name]
  }
  return stored
}

const isSame = (value: unknown, usual: unknown) =>
  value === usual || (Array.isArray(usual) && (value as unknown[]).length === 0)

function isInRow(name: string, { actor, payload }: EventRow & { readonly payload: Payload }): boolean {
  if (name === 'agent') return actor === BY_AGENT + payload.agent
  return name === 'session' && payload.session === payload.agent
}

/** It is enough of the reference, since task and generation are in the row; null: the reference is not made of them. */
function hashInReference({ generation, payload }: { generation: number | null; payload: Payload }) {
  const reference = payload.workProductRef as string
  const hash = reference.slice(-6)
  return reference.endsWith(workProductRef('', generation!, hash).slice('wp-'.length)) ? hash : null
}

/** Of a stored payload, the one that was written. `task` is the key of its task, or its id if it has none. */
export function readPayload(
  { type, actor, generation }: EventRow,
  stored: Payload,
  task: string | null,
): Payload {
  const usual = USUAL[type]
  if (!usual) return stored
  if (type === 'task_created') return { ...usual, ...stored }
  const { agent = actor.slice(BY_AGENT.length), hash, ...rest } = stored
  const reference =
    hash === undefined ? {} : { workProductRef: workProductRef(task!, generation!, hash as string) }
  return { agent, session: agent, ...reference, ...usual, ...rest }
}
