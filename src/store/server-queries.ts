import { listeningSince, listLeaderTerms, updateLeaderLease } from '../postgres/cluster/leader-lease.ts'
import {
  deleteOldNodes,
  heartbeatNode,
  listNodes,
  nodeStopped,
  nodesWithRuns,
  registerNode,
} from '../postgres/cluster/nodes.ts'
import { bind, type Connections } from '../postgres/statements/connections.ts'
import { readQueries } from './reads.ts'
import { runQueries } from './runs.ts'
import { upkeepQueries } from './upkeep.ts'
import { workspaceQueries } from './workspaces.ts'

/** The nodes on one database, and which of them leads. */
function clusterQueries({ control, readers }: Connections) {
  return {
    cluster: {
      ...bind(control, {
        deleteOldNodes,
        heartbeat: heartbeatNode,
        leaderTerms: listLeaderTerms,
        listeningSince,
        nodes: listNodes,
        register: registerNode,
        stopped: nodeStopped,
        updateLeaderLease,
      }),
      nodesWithRuns: () => nodesWithRuns(control, readers),
    },
  }
}

/** What a server reads and writes in Postgres beside tasks and sessions, by subject, each query on its own pool. */
export const serverQueries = (connections: Connections) => ({
  ...workspaceQueries(connections),
  ...runQueries(connections),
  ...clusterQueries(connections),
  ...readQueries(connections),
  ...upkeepQueries(connections),
})

export type ServerQueries = ReturnType<typeof serverQueries>
