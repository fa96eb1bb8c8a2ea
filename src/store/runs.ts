import { dueWakeups, waitingClaims } from '../kinds/run/postgres/dispatch.ts'
import { claimsLeft } from '../kinds/run/postgres/lost-claims.ts'
import { lastEventSeq, messagesOfRun } from '../kinds/run/postgres/messages.ts'
import { RunLogRows } from '../kinds/run/postgres/run-logs.ts'
import {
  claimsWithoutRun,
  findRun,
  findRunByToken,
  invocationOf,
  listRuns,
  madeIn,
  oldLogs,
  runEventsAfter,
  runsOfNodes,
  runsThatAreOver,
  runsToCheck,
  timeoutsBefore,
  usageOfTask,
  workOf,
} from '../kinds/run/postgres/run-reads.ts'
import { parkedUntil, runtimeStateOf, taskSessionsOf } from '../kinds/run/postgres/runtime-state.ts'
import { deleteOldWakeups, dueTimers, listWakeups, workWithoutWakeup } from '../kinds/run/postgres/wakeups.ts'
import { hasLiveRun, oldWorkIn, repositoriesOfWork, workOfMission } from '../kinds/run/postgres/work-reads.ts'
import { bind, type Connections } from '../postgres/statements/connections.ts'

/** Runs of agents, their wakeups, and the state kept between runs. */
export function runQueries(connections: Connections) {
  const { readers } = connections
  return {
    runs: {
      ...bind(readers, {
        claimsLeft,
        claimsWithout: claimsWithoutRun,
        eventsAfter: runEventsAfter,
        find: findRun,
        findByToken: findRunByToken,
        finishedAmong: runsThatAreOver,
        invocation: invocationOf,
        lastEventSeq,
        list: listRuns,
        messages: messagesOfRun,
        ofNodes: runsOfNodes,
        oldLogs,
        madeIn,
        timeoutsBefore,
        toCheck: runsToCheck,
        usageOfTask,
        workOf,
      }),
    },
    runtime: {
      ...bind(readers, { parkedUntil, state: runtimeStateOf, taskSessions: taskSessionsOf }),
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
      }),
    },
    work: {
      ...bind(readers, {
        hasLiveRun,
        ofMission: workOfMission,
        oldIn: oldWorkIn,
        repositories: repositoriesOfWork,
      }),
    },
    runLogs: new RunLogRows(connections),
  }
}
