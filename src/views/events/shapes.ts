import { z } from 'zod'
import { eventTypes } from '../../kinds/catalogue.ts'
import { ENTITY_TYPES, type EntityType } from '../../kinds/event-entities.ts'
import type { EventType } from '../../kinds/events.ts'
import { missionStates } from '../../kinds/mission/states.ts'
import { PURPOSES } from '../../kinds/task/record.ts'
import { ACTOR_KINDS } from '../../pure/actors.ts'
import { LOG_LEVELS } from '../../pure/event.ts'
import { Instant, include, listOf, Name, Uuid } from '../../pure/shapes.ts'
import { taskStates } from '../../pure/states.ts'

/** A state of the task, or of the mission, that the event is about. */
const EventState = z.enum([...new Set([...taskStates, ...missionStates])])

export const EventView = z.object({
  seq: z.int(),
  type: z.enum(eventTypes as [EventType, ...EventType[]]),
  entityType: z.enum(ENTITY_TYPES as [EntityType, ...EntityType[]]).describe('What it is about'),
  entityId: z.string().nullable().describe('A slug for agents and projects, a name for sessions'),
  taskId: Uuid.nullable(),
  missionId: Uuid.nullable(),
  runId: Uuid.nullable(),
  generation: z.int().nullable(),
  version: z
    .int()
    .nullable()
    .describe('Of the task, after the event; null in events of earlier versions of Baton'),
  number: z.int().nullable().describe('The place of the task in the plan of its mission'),
  purpose: z.enum(PURPOSES).nullable().describe('Of the task'),
  from: EventState.nullable(),
  to: EventState.nullable(),
  actor: z.string(),
  actorName: z.string().nullable().describe('The name of the key that acted'),
  by: z
    .object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable(), name: z.string().nullable() })
    .describe('The actor in its parts'),
  payload: z.record(z.string(), z.unknown()),
  level: z.enum(LOG_LEVELS).describe('Its severity in the logs'),
  at: z.string(),
})

/** In a list, which has a sentence for people on request. */
const ListedEvent = EventView.extend({
  message: z.string().optional().describe('What happened, in a sentence; with include=message'),
})

const UpTo = z
  .int()
  .describe('The log was read up to this number: what is not here up to it is outside of the filter')

export const EventList = listOf(ListedEvent).extend({
  upTo: UpTo.describe(
    'The log was read up to this number, or down to it if the newest come first: what is not here until there is outside of the filter',
  ),
})

/** Which part of the log. */
export const EventFilterQuery = {
  mission: Uuid.optional().describe('Events of this mission and of its tasks'),
  task: Uuid.optional(),
  agent: Name.optional().describe('Events that the agent of this slug caused, or that name it'),
  type: z
    .string()
    .max(1000)
    .regex(/^[a-z_]*\*?(,[a-z_]*\*?)*$/)
    .optional()
    .describe('Types separated by commas; "task_*" matches all that begin with task_'),
  entity: z
    .string()
    .max(300)
    .regex(new RegExp(`^(${ENTITY_TYPES.join('|')})(:.+)?$`))
    .optional()
    .describe('What the events are about, such as "run" or "run:<id>"'),
  by: z
    .string()
    .max(300)
    .regex(new RegExp(`^(other|(${ACTOR_KINDS.filter((kind) => kind !== 'other').join('|')})(:.+)?)$`))
    .optional()
    .describe('Who caused them, such as "key", "agent" or "agent:<slug>"'),
  level: z
    .string()
    .max(100)
    .regex(new RegExp(`^(${LOG_LEVELS.join('|')})(,(${LOG_LEVELS.join('|')}))*$`))
    .optional()
    .describe('Levels separated by commas'),
}

/** Which way a list goes, when it happened, and what is said of it. */
export const EventListQuery = {
  include: include('message'),
  order: z.enum(['asc', 'desc']).optional().describe('Oldest first (asc) by default'),
  from: Instant.optional().describe('Written at this time or later'),
  to: Instant.optional().describe('Written before this time'),
}

/** Output of an agent, as it arrives. */
const OutputView = z.object({
  runId: Uuid,
  agent: z.string(),
  stream: z.enum(['stdout', 'stderr', 'system']),
  chunk: z.string(),
  offset: z.int().describe('Where in the log of the run it begins'),
})

/** A message of the WebSocket. */
export const EventFrame = z.union([
  z.object({ events: z.array(EventView), upTo: UpTo }),
  z.object({ output: OutputView }),
  z.object({
    following: z.union([z.literal('all'), z.array(Uuid)]).describe('Whose output is sent from now on'),
  }),
  z.object({ refused: z.string().describe('Why a message of the client changed nothing') }),
  z
    .object({
      head: z.int().describe('The number of the last event'),
      now: z.int().describe('The time of the server, in milliseconds'),
      instance: Uuid.describe('The id of the database'),
    })
    .describe('The first message, and one every 15 seconds'),
])

/** What a client may send over the WebSocket: whose output it follows from now on. */
export const FollowOutput = z.strictObject({ output: z.union([z.literal('all'), z.array(Uuid).max(16)]) })
