import { eligibleFor } from '../kinds/agent/postgres/eligible.ts'
import { findComment, listComments, unreadComments } from '../kinds/comment/postgres.ts'
import {
  costliestTasks,
  missionsToSettle,
  skippedInMission,
  tasksForChore,
} from '../kinds/mission/postgres/due.ts'
import {
  findMission,
  freshMissionId,
  graphOfMission,
  listMissions,
  planOfMission,
  plansOfMission,
  planTasksOf,
} from '../kinds/mission/postgres/reads.ts'
import {
  acceptedAnswer,
  listAllReports,
  listReports,
  materialOfMission,
  materialOfTasks,
  newestReport,
  reportById,
  reportedEnds,
  settlingTasks,
} from '../kinds/report/postgres.ts'
import {
  figuresOfMission,
  findRoutine,
  freshRoutineId,
  listRoutines,
  routinesDue,
  routinesMissions,
  runsOfRoutine,
} from '../kinds/routine/postgres.ts'
import { findSession, readSessionMemory, usersOf } from '../kinds/session/postgres/memory.ts'
import { tasksAround, tasksByKeys } from '../kinds/task/postgres/graph.ts'
import {
  rejectedResults,
  resultData,
  resultHeads,
  resultSummaries,
  resultsOfTask,
} from '../kinds/task/postgres/result-pages.ts'
import { newestPlanning } from '../kinds/verification/postgres.ts'
import { bind, type Connections } from '../postgres/statements/connections.ts'
import { readBoard } from '../views/board/postgres/board.ts'
import { cardsOfTasks } from '../views/board/postgres/cards.ts'
import { eventPage } from '../views/events/postgres.ts'
import { readInbox, readInboxItem, storedReplyUnder } from '../views/inbox/postgres.ts'
import { failuresIn } from '../views/insight/postgres/failures.ts'
import { bottlenecksIn, durationsIn, retriesIn } from '../views/insight/postgres/finished.ts'
import { searchWorkspace } from '../views/insight/postgres/search.ts'
import { telemetryOf } from '../views/insight/postgres/telemetry.ts'
import { logOfTask, logOfWorkspace } from '../views/logs/postgres.ts'
import { overviewOf } from '../views/overview/postgres.ts'
import { timelineOf } from '../views/timeline/postgres.ts'

/** Pages for people. */
export function readQueries({ readers, writers }: Connections) {
  return {
    missions: {
      ...bind(readers, {
        costliest: costliestTasks,
        find: findMission,
        graph: graphOfMission,
        list: listMissions,
        newestPlanning,
        plan: planOfMission,
        plans: plansOfMission,
        planTasks: planTasksOf,
        tasksFor: tasksForChore,
        timeline: timelineOf,
        skipped: skippedInMission,
        toSettle: missionsToSettle,
      }),
      ...bind(writers, { freshId: freshMissionId }),
    },
    routines: {
      ...bind(readers, {
        due: routinesDue,
        figures: figuresOfMission,
        find: findRoutine,
        list: listRoutines,
        runs: runsOfRoutine,
        underWay: routinesMissions,
      }),
      ...bind(writers, { freshId: freshRoutineId }),
    },
    comments: bind(readers, { list: listComments, find: findComment, unread: unreadComments }),
    reports: bind(readers, {
      acceptedAnswer,
      settling: settlingTasks,
      find: reportById,
      list: listReports,
      listAll: listAllReports,
      materialOfMission,
      materialOfTasks,
      newest: newestReport,
      reported: reportedEnds,
    }),
    logs: bind(readers, { ofTask: logOfTask, ofWorkspace: logOfWorkspace, page: eventPage }),
    resultPages: bind(readers, {
      data: resultData,
      heads: resultHeads,
      ofTask: resultsOfTask,
      rejected: rejectedResults,
      summaries: resultSummaries,
    }),
    board: bind(readers, { read: readBoard, cards: cardsOfTasks }),
    insight: bind(readers, {
      bottlenecks: bottlenecksIn,
      durations: durationsIn,
      failures: failuresIn,
      overview: overviewOf,
      retries: retriesIn,
      search: searchWorkspace,
      telemetry: telemetryOf,
    }),
    inbox: bind(readers, { read: readInbox, item: readInboxItem, storedReply: storedReplyUnder }),
    taskGraph: bind(readers, { around: tasksAround, byKey: tasksByKeys, eligible: eligibleFor }),
    sessionMemory: bind(readers, { find: findSession, read: readSessionMemory, usersOf }),
  }
}
