import { bind, type Connections } from '../kernel/connections.ts'
import { verificationRows } from '../reads/verifications.ts'
import { lookForAlerts, scheduleAlertCheck, workspacesWithUntaken } from './alerts.ts'
import { assignmentIn, similarTo, workspacesToAssignIn } from './assignment.ts'
import { correctCounters, correctTaskCounts, driftedCounters, driftedTaskCounts } from './counters.ts'
import { MissionCounters } from './mission-counters.ts'
import { busySince, orphanTasks, verificationsOf } from './verifications.ts'

/** What the coordinator reads and corrects. */
export function upkeepQueries(connections: Connections) {
  const { readers, writers } = connections
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
    missionCounters: new MissionCounters(connections),
    counters: {
      ...bind(readers, { drifted: driftedCounters }),
      ...bind(connections, { correct: correctCounters }),
    },
    taskCounts: {
      ...bind(readers, { drifted: driftedTaskCounts }),
      ...bind(connections, { correct: correctTaskCounts }),
    },
  }
}
