import type { AgentRunAdapter } from '../adapters/protocol.ts'
import { mayUseAdapter, type Objection, objectionsTo } from '../core/agent-policy.ts'
import type { AgentRecord } from '../core/records.ts'
import { FIRST_WORKSPACE } from '../store/postgres/workspaces.ts'
import { isInDataFolder, rootBeside } from './folders/places.ts'
import type { Workshop } from './workshop.ts'

/** Whether this node runs an agent at all. Asked when its settings are stored, and again before each run: another node may have
 * taken them, or this one may be told otherwise since. */

type Settings = Pick<AgentRecord, 'adapterType' | 'adapterConfig'>

const isOfFirstWorkspace = (workspaceId: number) => workspaceId === FIRST_WORKSPACE

export const isAllowed = ({ policy }: Workshop, workspaceId: number, adapterType: string) =>
  mayUseAdapter({ adapterType, isOfFirstWorkspace: isOfFirstWorkspace(workspaceId) }, policy)

/** What its operator has against it. */
export const operatorsObjections = (
  { registry, policy }: Workshop,
  workspaceId: number,
  { adapterType, adapterConfig }: Settings,
): Objection[] =>
  objectionsTo(
    {
      adapterType,
      config: (adapterConfig ?? {}) as Record<string, unknown>,
      defaultCommand: defaultCommandOf(registry.get(adapterType)),
      isOfFirstWorkspace: isOfFirstWorkspace(workspaceId),
    },
    policy,
  )

/** The same, and whether it would work among what is Baton's own. */
export async function allObjections(
  workshop: Workshop,
  workspaceId: number,
  agent: Settings,
): Promise<Objection[]> {
  const objections = operatorsObjections(workshop, workspaceId, agent)
  const { cwd } = (agent.adapterConfig ?? {}) as { cwd?: unknown }
  const adapter = workshop.registry.get(agent.adapterType)
  if (typeof cwd !== 'string' || !adapter || adapter.usesFolder === false) return objections
  if (!(await isInDataFolder(cwd, workshop.dataFolder, rootBeside(workshop.dataFolder)))) return objections
  return [
    ...objections,
    { field: 'adapterConfig.cwd', message: "is in the data folder, which is Baton's own" },
  ]
}

/** As its schema says: adapters need not tell it otherwise. */
function defaultCommandOf(adapter: AgentRunAdapter | undefined): string | undefined {
  const properties = adapter?.configSchema?.properties as Record<string, { default?: unknown }> | undefined
  const command = properties?.command?.default
  return typeof command === 'string' ? command : undefined
}
