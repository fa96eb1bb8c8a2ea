import { bind, type Connections } from '../kernel/connections.ts'
import { tasksOfProject, triggerRulesOf } from '../reads/plan-tasks.ts'
import { tallyOf } from '../reads/tally.ts'
import { contractorsToSettle } from '../upkeep/contractors.ts'
import { dueAgents } from '../upkeep/due.ts'
import { workOfAgents } from './agent-work.ts'
import { findAgent, listAgents, pageOfAgents, registerByClaim, tasksAssignedTo } from './agents.ts'
import { findByCookie, findById, keyOfSession, listSessions, sessionsWith } from './browser-sessions.ts'
import { findClaimants } from './claimants.ts'
import { findKey, listKeys, namesOfKeys } from './keys.ts'
import {
  findProject,
  listProjects,
  listTracks,
  newProjectId,
  trackAssignments,
  trackProgress,
} from './projects.ts'
import { findLink, hasBeenSignedInTo, takeTicket } from './sign-in-links.ts'
import { createWorkspace, makeWorkspace, readWorkspace } from './workspaces.ts'

/** Workspaces, their keys, agents and projects. */
export function workspaceQueries(connections: Connections) {
  const { readers, writers } = connections
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
      ...bind(readers, { findById, keyOf: keyOfSession, list: listSessions, with: sessionsWith }),
      ...bind(connections, { findByCookie }),
    },
    signInLinks: {
      ...bind(readers, { find: findLink, haveBeenUsed: hasBeenSignedInTo }),
      ...bind(writers, { takeTicket }),
    },
    keys: bind(readers, { find: findKey, list: listKeys, names: namesOfKeys }),
    projects: bind(readers, {
      find: findProject,
      list: listProjects,
      newId: newProjectId,
      tasks: tasksOfProject,
      trackAssignments,
      trackProgress,
      tracks: listTracks,
      triggerRules: triggerRulesOf,
    }),
    workspaces: {
      ...bind(readers, { read: readWorkspace, tally: tallyOf }),
      ...bind(connections, { create: createWorkspace, make: makeWorkspace }),
    },
  }
}
