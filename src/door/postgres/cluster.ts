import { listeningSince, listLeaderTerms, updateLeaderLease } from '../../postgres/cluster/leader-lease.ts'
import {
  deleteOldNodes,
  heartbeatNode,
  listNodes,
  nodeStopped,
  nodesWithRuns,
  registerNode,
} from '../../postgres/cluster/nodes.ts'
import { bind, type Connections } from '../../postgres/statements/connections.ts'

/** The nodes on one database, and which of them leads. */
export function clusterQueries({ control, readers }: Connections) {
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
