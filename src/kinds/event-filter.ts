import { actorIn } from '../pure/actors.ts'
import type { LogLevel } from '../pure/event.ts'
import { eventTypes } from './catalogue.ts'
import { type EntityType, entityOf, textOrNull } from './event-entities.ts'
import type { EventType } from './events.ts'
import { levelOf } from './log.ts'

/** A part of the log: what a reader asked for. All conditions that are given must hold. */
export interface EventFilter {
  task?: Named | undefined
  mission?: Named | undefined
  /** The slug of an agent that caused the event, or that the event names. */
  agent?: string | undefined
  types?: ReadonlySet<EventType> | undefined
  /** One of a kind, or all of it; of tasks and missions also the number. */
  entity?: { type: EntityType; id: string | null; number: number | null } | undefined
  /** Who caused it: one actor, or all of its kind. */
  by?: { kind: string; id: string | null } | undefined
  levels?: readonly LogLevel[] | undefined
  /** When it was written, in milliseconds since 1970: for lists alone, streams have all that is new. */
  period?: { from: number | null; to: number | null } | undefined
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
export function isIn(
  { task, mission, agent, types, entity, by, levels }: EventFilter,
  event: Shown,
): boolean {
  if (task && event.taskId !== task.uuid) return false
  if (mission && event.missionId !== mission.uuid) return false
  if (types && !types.has(event.type)) return false
  if (agent !== undefined && event.actor !== `agent:${agent}` && textOrNull(event.payload.agent) !== agent)
    return false
  if (levels && !levels.includes(levelOf(event))) return false
  if (by && !isBy(by, event.actor)) return false
  if (!entity) return true
  const about = entityOf(event)
  return about.type === entity.type && (entity.id === null || about.id === entity.id)
}

function isBy({ kind, id }: NonNullable<EventFilter['by']>, actor: string): boolean {
  const acted = actorIn(actor, null)
  return acted.kind === kind && (id === null || acted.id === id)
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
