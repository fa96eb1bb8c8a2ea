import type { AgentRunAdapter } from '../adapters/protocol.ts'
import type { Billing } from '../kinds/run/prices/billed.ts'
import { readLogin } from './login-file.ts'

/** What decides who pays for a run. */
interface Paid {
  adapter: Pick<AgentRunAdapter, 'keyVariables' | 'loginHasKey' | 'loginFiles'>
  /** The environment of its program: only names, and whether something is set, are looked at. */
  env: Record<string, string>
  config: Record<string, unknown>
}

/**
 * Whether the tokens of a run are billed, or a subscription covers them: as the agent's settings say, else by whether its program has
 * a key. A login without a key is that of a subscription.
 */
export async function billingOf({ adapter, env, config }: Paid): Promise<Billing> {
  const { billing } = config
  if (billing === 'api' || billing === 'subscription') return billing
  const { keyVariables } = adapter
  if (!keyVariables || keyVariables.some((name) => isSet(env[name]))) return 'api'
  return (await hasKeyInLogin(adapter, env)) ? 'api' : 'subscription'
}

/** `CLAUDE_CODE_USE_BEDROCK=0` turns it off. */
const isSet = (value: string | undefined) => value !== undefined && !/^(?:|0|false)$/i.test(value)

async function hasKeyInLogin(adapter: Paid['adapter'], env: Record<string, string>): Promise<boolean> {
  if (!adapter.loginHasKey) return false
  try {
    const logins = await Promise.all((adapter.loginFiles?.(env) ?? []).map(readLogin))
    return logins.some((login) => login !== null && adapter.loginHasKey!(login) === true)
  } catch {
    // An adapter of a third party must not fail the run.
    return false
  }
}
