import { resolve } from 'node:path'
import type { AgentRunAdapter } from '../adapters/protocol.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf, secretsOf } from './environment.ts'
import { RunSecrets } from './run-secrets.ts'

interface Secretive {
  adapter: AgentRunAdapter
  config: Record<string, unknown>
  token: string
  cwd: string
}

/** What is redacted in a run: secrets of the node and of the agent, and the tokens in login files, if it has a program to read them. */
export function runSecretsOf(
  { nodeSecrets, own, registry }: ExecutorContext,
  { adapter, config, token, cwd }: Secretive,
): RunSecrets {
  const env = environmentOf(adapter, own, config)
  const files = adapter.usesFolder === false ? [] : registry.loginFiles(env)
  return new RunSecrets(
    [...nodeSecrets, ...secretsOf(adapter, own, config, token)],
    files.map((path) => resolve(cwd, path)),
  )
}
