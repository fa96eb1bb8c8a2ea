import { assignmentIn, similarTo, workspacesToAssignIn } from '../kinds/agent/postgres/assignment.ts'
import { lookForAlerts, scheduleAlertCheck, workspacesWithUntaken } from '../kinds/alert/postgres.ts'
import { MissionCounters } from '../kinds/mission/postgres/counters.ts'
import { driftedCounters, driftedTaskCounts } from '../kinds/task/postgres/counters.ts'
import { busySince, orphanTasks, verificationRows, verificationsOf } from '../kinds/verification/postgres.ts'
import { bind, type Connections } from '../postgres/statements/connections.ts'

/** What the coordinator reads and corrects. */
export function upkeepQueries({ readers, writers }: Connections) {
  return {
    alerts: {
      ...bind(readers, { look: lookForAlerts, workspaces: workspacesWithUntaken }),
      ...bind(writers, { schedule: scheduleAlertCheck }),
    },
    assignment: bind(readers, { read: assignmentIn, similarTo, workspaces: workspacesToAssignIn }),
    verifications: bind(readers, {
      of: verificationsOf,
      busySince,
      orphans: orphanTasks,
      views: verificationRows,
    }),
    missionCounters: new MissionCounters(readers),
    counters: bind(readers, { drifted: driftedCounters }),
    taskCounts: bind(readers, { drifted: driftedTaskCounts }),
  }
}
