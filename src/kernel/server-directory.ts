import { Refused } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { PostgresStore } from '../store/postgres/store.ts'
import { findAgent, rememberAgents } from '../store/postgres/workspaces/agents.ts'
import { namesOfKeys } from '../store/postgres/workspaces/keys.ts'
import { findProject } from '../store/postgres/workspaces/projects.ts'
import { BatchLoader } from './batch-loader.ts'
import type { Directory } from './kernel.ts'

/** Names as the server knows them: agents and projects are rows of its database. */
export const serverDirectory = ({ readers, writers }: PostgresStore): Directory => {
  const agents = new BatchLoader(
    async (workspaceId, arriving: readonly { slug: string; actor: string }[]) => {
      const actors = new Map(arriving.map(({ slug, actor }) => [slug, actor]))
      const known = await rememberAgents(writers, workspaceId, actors)
      const capabilities = new Map(known.map((agent) => [agent.slug, agent.capabilities]))
      return arriving.map(({ slug }) => capabilities.get(slug) ?? [])
    },
  )
  return {
    async agentOf({ workspaceId, actor }, name) {
      const slug = isUuid(name) ? (await findAgent(readers, workspaceId, name))?.record.slug : name
      // What looks like an id is one: as a slug nobody would find it again.
      if (slug === undefined) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
      return { slug, capabilities: (await agents.ask(workspaceId, [{ slug, actor }]))[0]! }
    },
    async projectOf(workspaceId, slug) {
      return (await findProject(readers, workspaceId, slug))?.projectId ?? null
    },
    namesOfKeys: (workspaceId, keyIds) => namesOfKeys(readers, workspaceId, keyIds),
  }
}
