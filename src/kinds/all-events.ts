import { inboxEvents } from '../views/inbox/events.ts'
import { agentEvents } from './agent/events.ts'
import { alertEvents } from './alert/events.ts'
import { commentEvents } from './comment/events.ts'
import { keyEvents } from './key/events.ts'
import { missionEvents } from './mission/events.ts'
import { projectEvents } from './project/events.ts'
import { reportEvents } from './report/events.ts'
import { routineEvents } from './routine/events.ts'
import { runEvents } from './run/events.ts'
import { sessionEvents } from './session/events.ts'
import { taskEvents } from './task/events.ts'
import { workspaceEvents } from './workspace/events.ts'

/** The event catalogue: what is said about each type, once. The log, its filters, the API and the docs are made from it. */
export const CATALOGUE = {
  ...taskEvents,
  ...missionEvents,
  ...routineEvents,
  ...runEvents,
  ...agentEvents,
  ...sessionEvents,
  ...projectEvents,
  ...keyEvents,
  ...workspaceEvents,
  ...alertEvents,
  ...inboxEvents,
  ...commentEvents,
  ...reportEvents,
}
