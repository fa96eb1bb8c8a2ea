import { rememberAgent } from '../store/postgres/agents.ts'
import { findProject } from '../store/postgres/projects.ts'
import type { PostgresStore } from '../store/postgres/store.ts'
import type { Directory } from './kernel.ts'

/** Names as the server knows them: agents and projects are rows of its database. */
export const serverDirectory = ({ writers, readers }: PostgresStore): Directory => ({
  async capabilitiesOf({ workspaceId, actor }, agent) {
    return (await rememberAgent(writers, workspaceId, agent, actor)).capabilities
  },
  async projectOf(workspaceId, slug) {
    return (await findProject(readers, workspaceId, slug))?.projectId ?? null
  },
})
