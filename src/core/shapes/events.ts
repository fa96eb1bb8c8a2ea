import { z } from 'zod'
import { type EventType, eventTypes } from '../events.ts'
import { missionStates } from '../kinds/mission/states.ts'
import { taskStates } from '../states.ts'
import { Uuid } from './common.ts'

/** A state of the task, or of the mission, that the event is about. */
const EventState = z.enum([...new Set([...taskStates, ...missionStates])])

export const EventView = z.object({
  seq: z.int(),
  type: z.enum(eventTypes as [EventType, ...EventType[]]),
  taskId: Uuid.nullable(),
  missionId: Uuid.nullable(),
  generation: z.int().nullable(),
  from: EventState.nullable(),
  to: EventState.nullable(),
  actor: z.string(),
  actorName: z.string().nullable().describe('The name of the key that acted'),
  payload: z.record(z.string(), z.unknown()),
  at: z.string(),
})

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
  z.object({ events: z.array(EventView) }),
  z.object({ output: OutputView }),
])
