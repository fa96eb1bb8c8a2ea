import { failuresIn } from '../insight/failures.ts'
import { bottlenecksIn, durationsIn, retriesIn } from '../insight/finished.ts'
import { overviewOf } from '../insight/overview.ts'
import { searchWorkspace } from '../insight/search.ts'
import { telemetryOf } from '../insight/telemetry.ts'
import { timelineOf } from '../insight/timeline.ts'
import { bind, type Connections } from '../kernel/connections.ts'
import { costliestTasks, missionsToSettle, skippedInMission, tasksForChore } from '../upkeep/missions.ts'
import {
  acceptedAnswer,
  materialOfMission,
  materialOfTasks,
  settlingTasks,
} from '../upkeep/report-material.ts'
import { newestPlanning } from '../upkeep/verifications.ts'
import { readBoard } from './board.ts'
import { cardsOfTasks } from './cards.ts'
import { findComment, listComments, unreadComments } from './comments.ts'
import { eligibleFor } from './eligible.ts'
import { eventPage } from './event-pages.ts'
import { readInbox, readInboxItem, storedReplyUnder } from './inbox.ts'
import { logOfTask, logOfWorkspace } from './logs.ts'
import {
  findMission,
  freshMissionId,
  graphOfMission,
  listMissions,
  planOfMission,
  plansOfMission,
  planTasksOf,
} from './missions.ts'
import { listAllReports, listReports, newestReport, reportById, reportedEnds } from './reports.ts'
import { rejectedResults, resultData, resultHeads, resultSummaries, resultsOfTask } from './result-pages.ts'
import {
  figuresOfMission,
  findRoutine,
  freshRoutineId,
  listRoutines,
  routinesDue,
  routinesMissions,
  runsOfRoutine,
} from './routines.ts'
import { findSession, readSessionMemory, usersOf } from './session-memory.ts'
import { tasksAround, tasksByKeys } from './task-graph.ts'

/** Pages for people. */
export function readQueries({ readers }: Connections) {
  return {
    missions: bind(readers, {
      costliest: costliestTasks,
      find: findMission,
      freshId: freshMissionId,
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
    routines: bind(readers, {
      due: routinesDue,
      figures: figuresOfMission,
      find: findRoutine,
      freshId: freshRoutineId,
      list: listRoutines,
      runs: runsOfRoutine,
      underWay: routinesMissions,
    }),
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
