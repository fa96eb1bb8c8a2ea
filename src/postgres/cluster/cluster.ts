import { bind, type Connections } from '../statements/connections.ts'
import { listeningSince, listLeaderTerms, updateLeaderLease } from './leader-lease.ts'
import {
  deleteOldNodes,
  heartbeatNode,
  listNodes,
  nodeStopped,
  nodesWithRuns,
  registerNode,
} from './nodes.ts'

/** The nodes on one database, and which of them leads. */
export const clusterOf = ({ control, readers }: Connections) => ({
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
})

export type Cluster = ReturnType<typeof clusterOf>
