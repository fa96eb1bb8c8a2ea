import type { Connections } from '../../postgres/statements/connections.ts'
import { clusterQueries } from './cluster.ts'
import { readQueries } from './reads.ts'
import { runQueries } from './runs.ts'
import { upkeepQueries } from './upkeep.ts'
import { workspaceQueries } from './workspaces.ts'

/** What a server reads and writes in Postgres beside tasks and sessions, by subject, each query on its own pool. */
export const serverQueries = (connections: Connections) => ({
  ...workspaceQueries(connections),
  ...runQueries(connections),
  ...clusterQueries(connections),
  ...readQueries(connections),
  ...upkeepQueries(connections),
})

export type ServerQueries = ReturnType<typeof serverQueries>
