import type { Caller, Kernel } from '../kernel/kernel.ts'
import type { AgentSeen } from '../kinds/agent/record.ts'
import {
  OWN_AGENT,
  reservedAgent,
  reservedField,
  whyNotAs,
  whyNotInSession,
} from '../kinds/task/rules/acting.ts'
import { Refused } from '../pure/errors.ts'
import { isUuid } from '../pure/ids.ts'
import type { RunKernel, ServerKernel } from './server-kernel.ts'

/** The agents that callers name, by slug or id: which they may act as, and which they may not name at all. */

export async function requireAgent(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  name: string,
): Promise<AgentSeen> {
  const agent = await kernel.store.agents.find(workspaceId, name)
  if (!agent) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
  return agent
}

/** The slug of an existing agent. */
export const slugOf = async (kernel: ServerKernel, caller: Caller, name: string) =>
  (await requireAgent(kernel, caller, name)).record.slug

/** The agent that a caller acts as, by its slug if it can be known. Synchronous for slugs, as most callers send them. */
export function actingAs(kernel: Kernel, caller: Caller, name: string): string | Promise<string> {
  if (!caller.outside) return name
  if (isUuid(name)) return byId(kernel, caller, name)
  return allowed(caller, name)
}

const byId = async (kernel: Kernel, caller: Caller, id: string) =>
  allowed(caller, (await kernel.agentOf(caller, id)).slug)

function allowed({ outside }: Caller, slug: string): string {
  const refusal = whyNotAs(outside, slug)
  if (refusal) throw Refused.because(refusal)
  return slug
}

/** A session that is cached was not asked for in this request, so no rule has seen it. */
export function mustUse({ outside }: Caller, name: string, session: { agent: string | null } | null): void {
  const refusal = whyNotInSession(outside, name, session)
  if (refusal) throw Refused.because(refusal)
}

const holdsAgents = (kernel: Kernel): kernel is RunKernel => 'agents' in kernel.store

/** Those of the names that are Baton's own agent: its slug or its id. */
export async function ownAgentAmong(
  kernel: Kernel,
  workspaceId: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const own = new Set<string>(names.filter((name) => name === OWN_AGENT))
  if (!names.some(isUuid) || !holdsAgents(kernel)) return own
  const [found] = await kernel.store.agents.list(workspaceId, { slugs: [OWN_AGENT] }, 1)
  const id = found?.record.uuid
  return id !== undefined && names.includes(id) ? own.add(id) : own
}

/** A field of a request that names an agent, if it does. */
export type NamedAgent = readonly [field: string, agent: string | null | undefined]

export async function refuseOwnAgent(
  kernel: Kernel,
  { workspaceId }: Caller,
  named: readonly NamedAgent[],
): Promise<void> {
  const agents = named.flatMap(([, agent]) => agent ?? [])
  if (agents.length === 0) return
  const own = await ownAgentAmong(kernel, workspaceId, agents)
  const [field] = named.find(([, agent]) => agent != null && own.has(agent)) ?? []
  if (field !== undefined) throw Refused.because(reservedField(field))
}

/** The slug of an existing agent that is not Baton's own. */
export const slugUnlessOwn = async (kernel: ServerKernel, caller: Caller, name: string): Promise<string> =>
  unlessOwn(name === OWN_AGENT ? name : await slugOf(kernel, caller, name))

export function unlessOwn(slug: string): string {
  if (slug === OWN_AGENT) throw Refused.because(reservedAgent())
  return slug
}
