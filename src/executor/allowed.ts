import type { AgentRunAdapter } from '../adapters/protocol.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { mayUseAdapter, type Objection, objectionsTo } from '../kinds/agent/rules/allowed-on-node.ts'
import { FIRST_WORKSPACE } from '../kinds/workspace/postgres.ts'
import type { ExecutorContext } from './context.ts'
import { isInDataFolder, rootBeside } from './folders/places.ts'

/** Whether this node may run an agent. Checked when its settings are stored and again before each run: another node may have
 * accepted them, or the policy of this node may have changed since. */

type AgentSettings = Pick<AgentRecord, 'adapterType' | 'adapterConfig'>

const isOfFirstWorkspace = (workspaceId: number) => workspaceId === FIRST_WORKSPACE

export const isAllowed = ({ policy }: ExecutorContext, workspaceId: number, adapterType: string) =>
  mayUseAdapter({ adapterType, isOfFirstWorkspace: isOfFirstWorkspace(workspaceId) }, policy)

/** What the operator's policy forbids. */
export const operatorsObjections = (
  { registry, policy }: ExecutorContext,
  workspaceId: number,
  { adapterType, adapterConfig }: AgentSettings,
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

/** The same, and whether the agent would work inside Baton's data folder. */
export async function allObjections(
  context: ExecutorContext,
  workspaceId: number,
  agent: AgentSettings,
): Promise<Objection[]> {
  const objections = operatorsObjections(context, workspaceId, agent)
  const { cwd } = (agent.adapterConfig ?? {}) as { cwd?: unknown }
  const adapter = context.registry.get(agent.adapterType)
  if (typeof cwd !== 'string' || !adapter || adapter.usesFolder === false) return objections
  if (!(await isInDataFolder(cwd, context.dataFolder, rootBeside(context.dataFolder)))) return objections
  return [
    ...objections,
    { field: 'adapterConfig.cwd', message: 'is in the data folder, which is reserved for Baton' },
  ]
}

/** From the schema of the settings; adapters declare it nowhere else. */
export function defaultCommandOf(adapter: AgentRunAdapter | undefined): string | undefined {
  const properties = adapter?.configSchema?.properties as Record<string, { default?: unknown }> | undefined
  const command = properties?.command?.default
  return typeof command === 'string' ? command : undefined
}
