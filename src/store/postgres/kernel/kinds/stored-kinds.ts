import type { Changes, ReadSet, View } from '../../../../core/batch/requests.ts'
import { NO_RECORDS } from '../../../../core/kinds/kinds.ts'
import type { TaskRecord } from '../../../../core/records.ts'
import type { Questions } from '../questions.ts'
import type { Bound } from '../statements.ts'
import { storedAgents } from './agent.ts'
import { storedMissions } from './mission.ts'
import { storedRoutines } from './routine.ts'
import { storedSessions } from './session.ts'

/** All kinds that Postgres holds, in the order in which they are locked. A new kind is added here and in a file of its own. */

export const askForKinds = (questions: Questions, readSet: ReadSet) => ({
  session: storedSessions.ask(questions, readSet),
  agent: storedAgents.ask(questions, readSet),
  mission: storedMissions.ask(questions, readSet),
  routine: storedRoutines.ask(questions, readSet),
})

/** Null: nothing was asked for, since nothing is to change and nothing limits those that claim. */
export function readKinds(
  asked: ReturnType<typeof askForKinds> | null,
  records: ReadonlyMap<number, TaskRecord>,
): Pick<View, 'kinds' | 'workers' | 'claimingAgents'> {
  if (!asked) return { kinds: NO_RECORDS, workers: new Map(), claimingAgents: new Map() }
  const [session, agent] = [asked.session(records), asked.agent(records)]
  const [mission, routine] = [asked.mission(records), asked.routine(records)]
  return {
    kinds: { session: session.view, agent: agent.view, mission: mission.view, routine: routine.view },
    workers: session.claiming,
    claimingAgents: agent.claiming,
  }
}

export const kindWritesBeforeTasks = (workspaceId: number, view: View, changes: Changes): Bound[] =>
  storedMissions.writeFirst?.(workspaceId, view, changes) ?? []

export const kindWrites = (workspaceId: number, view: View, changes: Changes): Bound[] => [
  ...storedSessions.write(workspaceId, view, changes),
  ...storedAgents.write(workspaceId, view, changes),
  ...storedMissions.write(workspaceId, view, changes),
  ...storedRoutines.write(workspaceId, view, changes),
]

export const kindChecks = (workspaceId: number, view: View, changes: Changes): Bound[] => [
  ...storedSessions.checks(workspaceId, view, changes),
  ...storedAgents.checks(workspaceId, view, changes),
  ...storedMissions.checks(workspaceId, view, changes),
]
