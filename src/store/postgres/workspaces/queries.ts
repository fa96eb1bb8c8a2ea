import { bind, type Connections } from '../kernel/connections.ts'
import { tasksOfProject, triggerRulesOf } from '../reads/plan-tasks.ts'
import { tallyOf } from '../reads/tally.ts'
import { contractorsToSettle } from '../upkeep/contractors.ts'
import { dueAgents } from '../upkeep/due.ts'
import { workOfAgents } from './agent-work.ts'
import { findAgent, listAgents, pageOfAgents, registerByClaim, tasksAssignedTo } from './agents.ts'
import {
  beginSession,
  endSession,
  endSessionsOf,
  findByCookie,
  findById,
  listSessions,
} from './browser-sessions.ts'
import { findClaimants } from './claimants.ts'
import { createKey, findKey, listKeys, namesOfKeys, revokeKey } from './keys.ts'
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
} from './projects.ts'
import { createLink, createTicket, hasBeenSignedInTo, takeTicket, useLink } from './sign-in-links.ts'
import { changeLimits, createWorkspace, readWorkspace, recordEvent } from './workspaces.ts'

/** Workspaces, their keys, agents and projects. */
export function workspaceQueries(connections: Connections) {
  const { readers } = connections
  return {
    agents: {
      ...bind(readers, {
        assignedTo: tasksAssignedTo,
        claimants: findClaimants,
        contractorsToSettle,
        due: dueAgents,
        find: findAgent,
        list: listAgents,
        page: pageOfAgents,
        work: workOfAgents,
      }),
      ...bind(connections, { registerByClaim }),
    },
    browserSessions: {
      ...bind(readers, { findByCookie, findById, list: listSessions }),
      ...bind(connections, { begin: beginSession, end: endSession, endAll: endSessionsOf }),
    },
    signInLinks: {
      ...bind(readers, { create: createLink, createTicket, haveBeenUsed: hasBeenSignedInTo, takeTicket }),
      ...bind(connections, { use: useLink }),
    },
    keys: {
      ...bind(readers, { find: findKey, list: listKeys, names: namesOfKeys }),
      ...bind(connections, { create: createKey, revoke: revokeKey }),
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
      ...bind(connections, {
        create: createProject,
        recordPlan: planEvent,
        rename: renameProject,
        setTracks,
      }),
    },
    workspaces: {
      ...bind(readers, { read: readWorkspace, tally: tallyOf }),
      ...bind(connections, { changeLimits, create: createWorkspace, recordEvent }),
    },
  }
}
