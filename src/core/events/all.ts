import { agentEvents } from './agent.ts'
import { alertEvents } from './alert.ts'
import { commentEvents } from './comment.ts'
import { inboxEvents } from './inbox.ts'
import { keyEvents } from './key.ts'
import { missionEvents } from './mission.ts'
import { projectEvents } from './project.ts'
import { reportEvents } from './report.ts'
import { routineEvents } from './routine.ts'
import { runEvents } from './run.ts'
import { sessionEvents } from './session.ts'
import { taskEvents } from './task.ts'
import { workspaceEvents } from './workspace.ts'

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
