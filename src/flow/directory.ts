import { rememberAgents } from '../store/postgres/agents.ts'
import { findProject } from '../store/postgres/projects.ts'
import type { PostgresStore } from '../store/postgres/store.ts'
import type { Directory } from './kernel.ts'

/** Names as the server knows them: agents and projects are rows of its database. */
export const serverDirectory = (store: PostgresStore): Directory => {
  const arrivals = new AgentArrivals(store)
  return {
    capabilitiesOf: ({ workspaceId, actor }, agent) => arrivals.capabilitiesOf(workspaceId, agent, actor),
    async projectOf(workspaceId, slug) {
      return (await findProject(store.readers, workspaceId, slug))?.projectId ?? null
    },
  }
}

interface Gathered {
  actors: Map<string, string>
  capabilities: Promise<Map<string, readonly string[]>>
}

/**
 * Agents that are asked for together are one transaction, and a workspace has one at a time: a fleet that arrives in one
 * workspace must not stand between others and the database.
 */
class AgentArrivals {
  readonly #store: PostgresStore
  readonly #gathered = new Map<number, Gathered>()
  readonly #underWay = new Map<number, Promise<unknown>>()

  constructor(store: PostgresStore) {
    this.#store = store
  }

  async capabilitiesOf(workspaceId: number, agent: string, actor: string): Promise<readonly string[]> {
    const gathered = this.#gathered.get(workspaceId) ?? this.#gather(workspaceId)
    if (!gathered.actors.has(agent)) gathered.actors.set(agent, actor)
    return (await gathered.capabilities).get(agent) ?? []
  }

  #gather(workspaceId: number): Gathered {
    const before = this.#underWay.get(workspaceId) ?? Promise.resolve()
    const actors = new Map<string, string>()
    const capabilities = before
      .catch(() => undefined)
      .then(async () => {
        this.#gathered.delete(workspaceId)
        const agents = await rememberAgents(this.#store.writers, workspaceId, actors)
        return new Map(agents.map(({ slug, capabilities }) => [slug, capabilities]))
      })
    const gathered = { actors, capabilities }
    this.#gathered.set(workspaceId, gathered)
    this.#underWay.set(workspaceId, capabilities)
    capabilities
      .catch(() => undefined)
      .then(() => {
        if (this.#underWay.get(workspaceId) === capabilities) this.#underWay.delete(workspaceId)
      })
    return gathered
  }
}
