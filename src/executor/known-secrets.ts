import type { AgentRecord } from '../kinds/agent/record.ts'
import { configOf } from './adapter-config.ts'
import type { ExecutorContext } from './context.ts'
import { RunSecrets } from './run-secrets.ts'
import { runSecretsOf } from './secrets-of-run.ts'

/** The secrets of a run that this node did not prepare: those of the node, of its agent's settings, and its token. */
export function knownSecrets(
  context: ExecutorContext,
  agent: AgentRecord | null,
  token: string | null = null,
): RunSecrets {
  const adapter = agent && context.registry.get(agent.adapterType)
  if (!adapter) return new RunSecrets([...context.nodeSecrets, ...(token === null ? [] : [token])])
  return runSecretsOf(context, {
    ...{ adapter, config: configOf(agent), token: token ?? '', cwd: context.dataFolder },
  })
}
