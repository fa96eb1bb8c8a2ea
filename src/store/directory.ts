import type pg from 'pg'
import { BatchLoader } from '../kernel/batch-loader.ts'
import { freshUuid } from '../kernel/fresh-uuid.ts'
import type { Caller, Claiming, Directory, KnownAgent, KnownClaimant } from '../kernel/kernel.ts'
import { runTogether } from '../kernel/store/run-alone.ts'
import { agentsNamed, findAgent } from '../kinds/agent/postgres/agents.ts'
import { findClaimants } from '../kinds/agent/postgres/claimants.ts'
import { isContractorSlug } from '../kinds/agent/rules/contractors.ts'
import type { Origin } from '../kinds/events.ts'
import { namesOfKeys } from '../kinds/key/postgres.ts'
import { findProject } from '../kinds/project/postgres.ts'
import type { Connections } from '../postgres/statements/connections.ts'
import { Refused } from '../pure/errors.ts'
import { idCarriedBy, isUuid } from '../pure/ids.ts'

/** The directory of a server: agents, projects and keys are rows in its database. */
export const serverDirectory = (store: Connections): Directory => {
  const { readers } = store
  const registered = new BatchLoader(
    async (workspaceId, arriving: readonly { slug: string; by: Origin }[]) => {
      const origins = new Map(arriving.map(({ slug, by }) => [slug, by]))
      const found = await registerByClaim(store, workspaceId, origins)
      return arriving.map(({ slug }) => found.get(slug)!)
    },
  )
  const claimants = new BatchLoader((workspaceId, arriving: readonly Claiming[]) =>
    findAll(readers, workspaceId, arriving),
  )
  return {
    claimantOf: async (workspaceId, claiming) => (await claimants.ask(workspaceId, [claiming]))[0]!,
    async agentOf(caller, name) {
      const { workspaceId } = caller
      // A UUID is always an id: an agent with such a slug could not be found again. Only its mission creates a contractor. A key
      // that is bound to an agent does not bring it back when it was deleted.
      const isKnown = isUuid(name) || isContractorSlug(name) || isBound(caller)
      const slug = isKnown ? (await findAgent(readers, workspaceId, name))?.record.slug : name
      if (slug === undefined) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
      return (await registered.ask(workspaceId, [{ slug, by: caller }]))[0]!
    },
    async projectOf(workspaceId, slug) {
      return (await findProject(readers, workspaceId, slug))?.projectId ?? null
    },
    namesOfKeys: (workspaceId, keyIds) => namesOfKeys(readers, workspaceId, keyIds),
  }
}

/** The agents of these slugs; new ones are registered as external. `origins` says by whom. */
export async function registerByClaim(
  store: Connections,
  workspaceId: number,
  origins: ReadonlyMap<string, Origin>,
): Promise<Map<string, KnownAgent>> {
  const known = await agentsNamed(store.readers, workspaceId, [...origins.keys()])
  const found = new Map<string, KnownAgent>(known.map((agent) => [agent.slug, agent]))
  const claims = [...origins].flatMap(([slug, origin]) =>
    found.has(slug) ? [] : [{ ...FIRST_CLAIM, key: slug, uuid: freshUuid(), actor: origin.actor, origin }],
  )
  for (const { record } of await runTogether(store, workspaceId, claims)) found.set(record.slug, record)
  return found
}

const FIRST_CLAIM = { on: 'agent', command: { kind: 'firstClaim' } } as const

const isBound = ({ outside }: Caller) => outside !== undefined && outside.agent !== null

async function findAll(
  readers: pg.Pool,
  workspaceId: number,
  arriving: readonly Claiming[],
): Promise<KnownClaimant[]> {
  const distinct = <T>(values: readonly T[]) => [...new Set(values)]
  const found = await findClaimants(readers, workspaceId, {
    agents: distinct(arriving.map(({ agent }) => agent)),
    sessions: distinct(arriving.map(({ session }) => session)),
    taskIds: distinct(arriving.flatMap(({ tasks }) => tasks.map(idCarriedBy).filter((id) => id !== null))),
  })
  const byName = new Map(
    found.agents.flatMap((agent) => [agent.slug, agent.agentId].map((name) => [name, agent])),
  )
  const sessions = new Map(found.sessions.map((session) => [session.name, session]))
  // A task is known by its whole id, not by the number that it carries.
  const tasks = new Set(found.tasks)
  return arriving.map((claiming) => ({
    limits: found.limits,
    agent: byName.get(claiming.agent) ?? null,
    session: sessions.get(claiming.session) ?? null,
    now: found.now,
    namesATask: claiming.tasks.some((uuid) => tasks.has(uuid)),
  }))
}
