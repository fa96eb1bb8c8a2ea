import { listeningSince, listLeaderTerms, updateLeaderLease } from './cluster/leader-lease.ts'
import {
  beatNode,
  forgetOldNodes,
  listNodes,
  nodeStopped,
  nodesWithRuns,
  registerNode,
} from './cluster/nodes.ts'
import type { Connections } from './kernel/workspace-transaction.ts'
import { recordEvent } from './kernel/workspace-transaction.ts'
import { logOfTask, logOfWorkspace } from './reads/logs.ts'
import { tasksOfProject, triggerRulesOf } from './reads/plan-tasks.ts'
import { rejectedResults, resultData, resultHeads, resultsOfTask } from './reads/result-pages.ts'
import { findSession, readSessionMemory, usersOf } from './reads/session-memory.ts'
import { tallyOf } from './reads/tally.ts'
import { dueWakeups, takeWakeup, waitingClaims } from './runs/dispatch.ts'
import { RunLogRows } from './runs/run-logs.ts'
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
  runsToLookAt,
  timeoutsBefore,
  usageOfTask,
} from './runs/run-reads.ts'
import {
  appendRunEvents,
  askToCancel,
  beginRun,
  finishRun,
  logIsGone,
  recordProcess,
  reportRun,
} from './runs/runs.ts'
import {
  parkCredential,
  parkedUntil,
  resetSessions,
  runtimeStateOf,
  taskSessionsOf,
} from './runs/runtime-state.ts'
import {
  askForWakeups,
  dueTimers,
  forgetOldWakeups,
  listWakeups,
  windTimers,
  workWithoutWakeup,
} from './runs/wakeups.ts'
import { assignmentIn, similarTo, workspacesToAssignIn } from './upkeep/assignment.ts'
import { correctCounters, driftedCounters } from './upkeep/counters.ts'
import { dueAgents } from './upkeep/due.ts'
import { findAgent, givenTo, listAgents, pageOfAgents, rememberAgents } from './workspaces/agents.ts'
import { createKey, findKey, listKeys, namesOfKeys, revokeKey } from './workspaces/keys.ts'
import {
  createProject,
  findProject,
  listProjects,
  listTracks,
  planEvent,
  renameProject,
  setTracks,
  trackAssignments,
  trackProgress,
} from './workspaces/projects.ts'
import { changeLimits, createWorkspace, readWorkspace } from './workspaces/workspaces.ts'

type Bound<P, F> = {
  [K in keyof F]: F[K] extends (first: P, ...rest: infer A) => infer R ? (...args: A) => R : never
}

/** The same functions without their first parameter, which is given here. */
function bind<P, F extends Record<string, (first: P, ...rest: never[]) => unknown>>(first: P, functions: F) {
  const bound = Object.entries(functions).map(([name, act]) => [
    name,
    (...rest: never[]) => act(first, ...rest),
  ])
  return Object.fromEntries(bound) as Bound<P, F>
}

/** What a server asks of Postgres beside tasks and sessions, by subject, each on the pool it belongs to. */
export function serverQueries(store: Connections) {
  const { readers, writers, control } = store
  return {
    agents: {
      ...bind(readers, {
        assignedTo: givenTo,
        due: dueAgents,
        find: findAgent,
        list: listAgents,
        page: pageOfAgents,
      }),
      ...bind(writers, { remember: rememberAgents }),
    },
    assignment: {
      ...bind(readers, { read: assignmentIn, similarTo, workspaces: workspacesToAssignIn }),
    },
    cluster: {
      ...bind(control, {
        forgetOldNodes,
        heartbeat: beatNode,
        leaderTerms: listLeaderTerms,
        listeningSince,
        nodes: listNodes,
        register: registerNode,
        stopped: nodeStopped,
        updateLeaderLease,
      }),
      nodesWithRuns: () => nodesWithRuns(control, readers),
    },
    counters: {
      ...bind(readers, { drifted: driftedCounters }),
      ...bind(writers, { correct: correctCounters }),
    },
    keys: {
      ...bind(readers, { find: findKey, list: listKeys, names: namesOfKeys }),
      ...bind(store, { create: createKey, revoke: revokeKey }),
    },
    logs: {
      ...bind(readers, { ofTask: logOfTask, ofWorkspace: logOfWorkspace }),
    },
    projects: {
      ...bind(readers, {
        find: findProject,
        list: listProjects,
        tasks: tasksOfProject,
        trackAssignments,
        trackProgress,
        tracks: listTracks,
        triggerRules: triggerRulesOf,
      }),
      ...bind(writers, { create: createProject, recordPlan: planEvent, rename: renameProject, setTracks }),
    },
    resultPages: {
      ...bind(readers, {
        data: resultData,
        heads: resultHeads,
        ofTask: resultsOfTask,
        rejected: rejectedResults,
      }),
    },
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
        toCheck: runsToLookAt,
        usageOfTask,
      }),
      ...bind(store, {
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
      ...bind(store, { parkCredential, resetSessions }),
    },
    sessionMemory: {
      ...bind(readers, { find: findSession, read: readSessionMemory, usersOf }),
    },
    wakeups: {
      ...bind(readers, {
        due: dueWakeups,
        dueTimers,
        list: listWakeups,
        waitingClaims,
        workWithout: workWithoutWakeup,
      }),
      ...bind(store, {
        forgetOld: forgetOldWakeups,
        request: askForWakeups,
        scheduleTimers: windTimers,
        take: takeWakeup,
      }),
    },
    workspaces: {
      ...bind(readers, { read: readWorkspace, tally: tallyOf }),
      ...bind(writers, { changeLimits, create: createWorkspace, recordEvent }),
    },
    runLogs: new RunLogRows(readers),
  }
}

export type ServerQueries = ReturnType<typeof serverQueries>
