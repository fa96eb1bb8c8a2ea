import type { AgentRunAdapter } from '../adapters/protocol.ts'
import { matches } from '../kinds/agent/rules/allowed-on-node.ts'
import { partsOfHeader, partsOfValue } from '../pure/secrets/parts.ts'
import { isSecretValue, secretsInJsonText } from '../pure/secrets/values.ts'

/** The environment of agents' programs: only the variables listed here and those of their settings. */

export type Environment = Readonly<Record<string, string | undefined>>

const INHERITED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TZ', 'TERM', 'TMPDIR', 'XDG_*'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
]

/** The variables of Baton's own environment that agents of this adapter inherit. */
function inheritedBy(adapter: AgentRunAdapter, own: Environment): Record<string, string> {
  const allowed = [...INHERITED, ...(adapter.inheritsEnv ?? [])]
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && matches(name, allowed)) found[name] = value
  return found
}

const envIn = (config: Record<string, unknown>) => (config.env ?? {}) as Record<string, string>

export const environmentOf = (
  adapter: AgentRunAdapter,
  own: Environment,
  config: Record<string, unknown>,
  baton: Record<string, string> = {},
): Record<string, string> => ({ ...inheritedBy(adapter, own), ...envIn(config), ...baton })

/** Variables that are never secret, whatever their value, unless the settings say so. */
const HARMLESS =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|TMPDIR|PWD|NODE_ENV|NODE_OPTIONS|CI|DEBUG|LOG_LEVEL|XDG_\w+|NO_PROXY|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|\w+_MODEL)$/

/**
 * What is redacted in a run: headers, and of the variables those that are secret by their name, by the shape of their value, or
 * because `secretEnv` lists them. Secret parts of a value are included too: an agent that prints a token without the "Bearer"
 * before it has leaked it.
 */
export function secretsOf(
  adapter: AgentRunAdapter,
  own: Environment,
  config: Record<string, unknown>,
  token: string,
): string[] {
  const variables = Object.entries({ ...inheritedBy(adapter, own), ...envIn(config) })
  const listed = Array.isArray(config.secretEnv) ? config.secretEnv : []
  const values = variables.filter(
    ([name, value]) =>
      typeof value === 'string' &&
      (listed.includes(name) || (!HARMLESS.test(name) && isSecretValue(name, value))),
  )
  const headers = Object.values((config.headers ?? {}) as Record<string, unknown>)
  return [
    token,
    ...values.flatMap(([, value]) => [value, ...partsOfValue(value), ...secretsInJsonText(value)]),
    ...headers.filter(isText).flatMap((value) => [value, ...partsOfHeader(value)]),
  ]
}

const isText = (value: unknown) => typeof value === 'string'
