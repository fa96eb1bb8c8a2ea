import { bind, type Connections } from '../kernel/connections.ts'
import { dueWakeups, takeWakeup, waitingClaims } from './dispatch.ts'
import { RunLogRows } from './run-logs.ts'
import {
  claimsWithoutRun,
  findRun,
  findRunByToken,
  isHeldUnder,
  listRuns,
  oldLogs,
  runEventsAfter,
  runsOfNodes,
  runsThatAreOver,
  runsToCheck,
  timeoutsBefore,
  usageOfTask,
} from './run-reads.ts'
import {
  appendRunEvents,
  askToCancel,
  beginRun,
  finishRun,
  logIsGone,
  recordProcess,
  reportRun,
} from './runs.ts'
import {
  parkCredential,
  parkedUntil,
  resetSessions,
  runtimeStateOf,
  taskSessionsOf,
} from './runtime-state.ts'
import {
  askForWakeups,
  deleteOldWakeups,
  dueTimers,
  listWakeups,
  scheduleTimers,
  workWithoutWakeup,
} from './wakeups.ts'

/** Runs of agents, their wakeups, and the state kept between runs. */
export function runQueries(connections: Connections) {
  const { readers } = connections
  return {
    runs: {
      ...bind(readers, {
        claimsWithout: claimsWithoutRun,
        eventsAfter: runEventsAfter,
        find: findRun,
        findByToken: findRunByToken,
        finishedAmong: runsThatAreOver,
        isHeldUnder,
        list: listRuns,
        ofNodes: runsOfNodes,
        oldLogs,
        timeoutsBefore,
        toCheck: runsToCheck,
        usageOfTask,
      }),
      ...bind(connections, {
        appendEvents: appendRunEvents,
        begin: beginRun,
        finish: finishRun,
        logIsGone,
        recordProcess,
        report: reportRun,
        requestCancel: askToCancel,
      }),
    },
    runtime: {
      ...bind(readers, { parkedUntil, state: runtimeStateOf, taskSessions: taskSessionsOf }),
      ...bind(connections, { parkCredential, resetSessions }),
    },
    wakeups: {
      ...bind(readers, {
        due: dueWakeups,
        dueTimers,
        list: listWakeups,
        waitingClaims,
        workWithout: workWithoutWakeup,
      }),
      ...bind(connections, {
        forgetOld: deleteOldWakeups,
        request: askForWakeups,
        scheduleTimers: scheduleTimers,
        take: takeWakeup,
      }),
    },
    runLogs: new RunLogRows(readers),
  }
}
