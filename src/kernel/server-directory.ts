import { Refused } from '../core/errors.ts'
import type { Origin } from '../core/events.ts'
import { isUuid } from '../core/ids.ts'
import type { ServerStore } from '../store/server-store.ts'
import { BatchLoader } from './batch-loader.ts'
import type { Directory } from './kernel.ts'

/** The directory of a server: agents, projects and keys are rows in its database. */
export const serverDirectory = ({ agents, keys, projects }: ServerStore): Directory => {
  const capabilitiesOf = new BatchLoader(
    async (workspaceId, arriving: readonly { slug: string; by: Origin }[]) => {
      const origins = new Map(arriving.map(({ slug, by }) => [slug, by]))
      const known = await agents.registerByClaim(workspaceId, origins)
      const capabilities = new Map(known.map((agent) => [agent.slug, agent.capabilities]))
      return arriving.map(({ slug }) => capabilities.get(slug) ?? [])
    },
  )
  return {
    async agentOf(caller, name) {
      const { workspaceId } = caller
      const slug = isUuid(name) ? (await agents.find(workspaceId, name))?.record.slug : name
      // A UUID is always an id: an agent with such a slug could not be found again.
      if (slug === undefined) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
      return { slug, capabilities: (await capabilitiesOf.ask(workspaceId, [{ slug, by: caller }]))[0]! }
    },
    async projectOf(workspaceId, slug) {
      return (await projects.find(workspaceId, slug))?.projectId ?? null
    },
    namesOfKeys: keys.names,
  }
}
