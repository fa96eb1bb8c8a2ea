import { CATALOGUE } from './all-events.ts'
import { type EventType, eventTypes } from './events.ts'

/** What an event is about, and who caused it. Both follow from what the log has; nothing more is stored. */

export type EntityType = NonNullable<(typeof CATALOGUE)[EventType]['about']['entity']>

type Subject = (typeof CATALOGUE)[EventType]['about']
const UNKNOWN: Subject = { entity: null }

/** Nodes of a newer version may have written types that this one does not know. */
const subjectOf = (type: EventType): Subject => CATALOGUE[type]?.about ?? UNKNOWN
const SUBJECTS = eventTypes.map(subjectOf)

export const ENTITY_TYPES = [...new Set(SUBJECTS.flatMap(({ entity }) => entity ?? []))]

/** The field of the payload that names it. Tasks and missions are named by the event itself. */
export const NAMED_IN: Partial<Record<EntityType, string>> = Object.fromEntries(
  SUBJECTS.flatMap(({ entity, namedIn }) => (entity && namedIn ? [[entity, namedIn]] : [])),
)

/** The same entity for all events of the type; null: it depends on the event. */
export const entityTypeOf = (type: EventType): EntityType | null => subjectOf(type).entity

/** The types that are always about an entity of this kind, and those that may be. */
export function typesAbout(entity: EntityType): { always: EventType[]; perhaps: EventType[] } {
  const mayBe = entity === 'task' || entity === 'mission' || entity === 'workspace'
  return {
    always: eventTypes.filter((type) => entityTypeOf(type) === entity),
    perhaps: mayBe ? eventTypes.filter((type) => entityTypeOf(type) === null) : [],
  }
}

interface Shown {
  type: EventType
  taskId: string | null
  missionId: string | null
  payload: Record<string, unknown>
}

export interface Entity {
  type: EntityType
  /** Null: the workspace itself. */
  id: string | null
}

export function entityOf({ type, taskId, missionId, payload }: Shown): Entity {
  const entity = entityTypeOf(type) ?? (taskId ? 'task' : missionId ? 'mission' : 'workspace')
  if (entity === 'task') return { type: entity, id: taskId }
  if (entity === 'mission') return { type: entity, id: missionId }
  const name = NAMED_IN[entity]
  return { type: entity, id: name === undefined ? null : textOrNull(payload[name]) }
}

export const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)

export const ACTOR_KINDS = ['key', 'agent', 'coordinator', 'system', 'other'] as const
type ActorKind = (typeof ACTOR_KINDS)[number]

/** "agent:dev-1" in its parts. Agents are shown by their slug, keys by their name. */
export function actorIn(actor: string, name: string | null) {
  const [, given, id = null] = /^([a-z]+)(?::(.*))?$/s.exec(actor) ?? []
  const kind = ACTOR_KINDS.find((one) => one === given) ?? 'other'
  return { kind: kind as ActorKind, id, name: name ?? (kind === 'agent' ? id : null) }
}
