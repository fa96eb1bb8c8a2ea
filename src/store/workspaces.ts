import {
  agentsNamed,
  findAgent,
  listAgents,
  pageOfAgents,
  tasksAssignedTo,
} from '../kinds/agent/postgres/agents.ts'
import { findClaimants } from '../kinds/agent/postgres/claimants.ts'
import { contractorsToSettle } from '../kinds/agent/postgres/contractors.ts'
import { workOfAgents } from '../kinds/agent/postgres/work.ts'
import { findKey, listKeys, namesOfKeys } from '../kinds/key/postgres.ts'
import {
  findProject,
  listProjects,
  listTracks,
  newProjectId,
  trackAssignments,
  trackProgress,
} from '../kinds/project/postgres.ts'
import {
  findByCookie,
  findById,
  findLink,
  hasBeenSignedInTo,
  keyOfSession,
  listSessions,
  sessionsWith,
  takeTicket,
} from '../kinds/sign-in/postgres.ts'
import { dueAgents } from '../kinds/task/postgres/due.ts'
import { tasksOfProject, triggerRulesOf } from '../kinds/task/postgres/plan-tasks.ts'
import { createWorkspace, makeWorkspace, readWorkspace } from '../kinds/workspace/postgres.ts'
import { bind, type Connections } from '../postgres/statements/connections.ts'
import { tallyOf } from '../views/board/postgres/tally.ts'

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
        named: agentsNamed,
        page: pageOfAgents,
        work: workOfAgents,
      }),
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
      ...bind(writers, { newId: newProjectId }),
    },
    workspaces: {
      ...bind(readers, { read: readWorkspace, tally: tallyOf }),
      ...bind(connections, { create: createWorkspace, make: makeWorkspace }),
    },
  }
}
