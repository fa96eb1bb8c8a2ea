import { CATALOGUE } from './all.ts'
import { eventTypes } from './catalogue.ts'
import type { Catalogue, EventType } from './events.ts'

/** What an event is about, and who caused it. Both follow from what the log has; nothing more is stored. */

export type EntityType = NonNullable<Catalogue[EventType]['about']['entity']>

type Subject = Catalogue[EventType]['about']
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
