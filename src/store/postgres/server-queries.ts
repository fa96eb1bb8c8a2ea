import { clusterQueries } from './cluster/queries.ts'
import type { Connections } from './kernel/connections.ts'
import { readQueries } from './reads/queries.ts'
import { runQueries } from './runs/queries.ts'
import { upkeepQueries } from './upkeep/queries.ts'
import { workspaceQueries } from './workspaces/queries.ts'

/** What a server reads and writes in Postgres beside tasks and sessions, by subject, each query on its own pool. */
export const serverQueries = (connections: Connections) => ({
  ...workspaceQueries(connections),
  ...runQueries(connections),
  ...clusterQueries(connections),
  ...readQueries(connections),
  ...upkeepQueries(connections),
})

export type ServerQueries = ReturnType<typeof serverQueries>
