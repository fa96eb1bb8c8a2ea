import { rememberAgents } from '../store/postgres/agents.ts'
import { findProject } from '../store/postgres/projects.ts'
import type { PostgresStore } from '../store/postgres/store.ts'
import { Gathering } from './gathering.ts'
import type { Directory } from './kernel.ts'

/** Names as the server knows them: agents and projects are rows of its database. */
export const serverDirectory = ({ readers, writers }: PostgresStore): Directory => {
  const agents = new Gathering(async (workspaceId, arriving: readonly { slug: string; actor: string }[]) => {
    const actors = new Map(arriving.map(({ slug, actor }) => [slug, actor]))
    const known = await rememberAgents(writers, workspaceId, actors)
    const capabilities = new Map(known.map((agent) => [agent.slug, agent.capabilities]))
    return arriving.map(({ slug }) => capabilities.get(slug) ?? [])
  })
  return {
    async capabilitiesOf({ workspaceId, actor }, slug) {
      return (await agents.ask(workspaceId, [{ slug, actor }]))[0]!
    },
    async projectOf(workspaceId, slug) {
      return (await findProject(readers, workspaceId, slug))?.projectId ?? null
    },
  }
}
