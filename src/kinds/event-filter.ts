import { eventTypes } from './catalogue.ts'
import { type EntityType, entityOf, textOrNull } from './event-entities.ts'
import type { EventType } from './events.ts'

/** A part of the log: what a reader asked for. All conditions that are given must hold. */
export interface EventFilter {
  task?: Named | undefined
  mission?: Named | undefined
  /** The slug of an agent that caused the event, or that the event names. */
  agent?: string | undefined
  types?: ReadonlySet<EventType> | undefined
  /** One of a kind, or all of it; of tasks and missions also the number. */
  entity?: { type: EntityType; id: string | null; number: number | null } | undefined
}

interface Named {
  id: number
  uuid: string
}

interface Shown {
  type: EventType
  taskId: string | null
  missionId: string | null
  actor: string
  payload: Record<string, unknown>
}

/** Whether an event is in this part of the log. The stores' queries say the same. */
export function isIn({ task, mission, agent, types, entity }: EventFilter, event: Shown): boolean {
  if (task && event.taskId !== task.uuid) return false
  if (mission && event.missionId !== mission.uuid) return false
  if (types && !types.has(event.type)) return false
  if (agent !== undefined && event.actor !== `agent:${agent}` && textOrNull(event.payload.agent) !== agent)
    return false
  if (!entity) return true
  const about = entityOf(event)
  return about.type === entity.type && (entity.id === null || about.id === entity.id)
}

/** The types that any of these patterns names: a type, or its beginning and an asterisk. */
export function typesNamed(patterns: readonly string[]): { types: Set<EventType>; unknown: string[] } {
  const types = new Set<EventType>()
  const unknown: string[] = []
  for (const pattern of patterns) {
    const found = eventTypes.filter((type) =>
      pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern,
    )
    if (found.length === 0) unknown.push(pattern)
    for (const type of found) types.add(type)
  }
  return { types, unknown }
}
