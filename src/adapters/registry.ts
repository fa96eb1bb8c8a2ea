import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StartRefused } from '../pure/refusal.ts'
import { isObject } from '../transcript/json.ts'
import { COMMAND } from './command.ts'
import { type AgentRunAdapter, PROTOCOL_VERSION } from './protocol.ts'

/** The known adapters. */

/** Agents that Baton does not run: they claim tasks themselves. */
const RESERVED = new Set(['external'])
const TYPE = /^[a-z][a-z0-9_]{0,62}$/
const CAPABILITIES = ['resumableSession', 'statusUpdates', 'logStreaming', 'tokenUsage'] as const

export class AdapterRegistry {
  readonly #adapters = new Map<string, AgentRunAdapter>()

  /** Throws when the type is taken: no adapter replaces another unnoticed. */
  register(adapter: AgentRunAdapter): void {
    const { type } = adapter
    if (RESERVED.has(type)) throw new StartRefused(`No adapter may have the type "${type}": it is reserved.`)
    if (this.#adapters.has(type)) throw new StartRefused(`There is already an adapter of type "${type}".`)
    this.#adapters.set(type, adapter)
  }

  get(type: string): AgentRunAdapter | undefined {
    return this.#adapters.get(type)
  }

  /** The login files of all programs, with this environment: an agent may read those of other programs, too. */
  loginFiles(env: Record<string, string>): string[] {
    return [...new Set([...this.#adapters.values()].flatMap((adapter) => loginFilesOf(adapter, env)))]
  }

  /** Those that people may choose. */
  list(): Pick<AgentRunAdapter, 'type' | 'capabilities' | 'configSchema'>[] {
    return [...this.#adapters.values()]
      .filter(({ type }) => type !== COMMAND)
      .map(({ type, capabilities, configSchema }) => ({ type, capabilities, configSchema }))
      .sort((a, b) => (a.type < b.type ? -1 : 1))
  }
}

/**
 * Adds the adapters of third parties: modules whose default export is an adapter or a list of them. Paths are files, relative
 * to the folder Baton was started in, or names of installed packages.
 */
export async function loadAdapters(paths: readonly string[], registry: AdapterRegistry): Promise<void> {
  for (const path of paths) {
    const found = await defaultExportOf(path)
    const adapters: unknown[] = Array.isArray(found) ? found : [found]
    if (adapters.length === 0) throw new StartRefused(`${path} exports an empty list of adapters.`)
    for (const adapter of adapters) {
      const fault = faultOf(adapter)
      if (fault) throw new StartRefused(`${path} is not an adapter: ${fault}.`)
      try {
        registry.register(adapter as AgentRunAdapter)
      } catch (error) {
        throw new StartRefused(`${path} cannot be used: ${(error as Error).message}`)
      }
    }
  }
}

async function defaultExportOf(path: string): Promise<unknown> {
  const isFile = isAbsolute(path) || path.startsWith('.')
  const file = resolve(path)
  if (isFile && !existsSync(file)) throw new StartRefused(`There is no adapter at ${path}.`)
  try {
    const module: Record<string, unknown> = await import(isFile ? pathToFileURL(file).href : path)
    return module.default
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StartRefused(`The adapter at ${path} cannot be loaded: ${reason}`)
  }
}

/** One adapter of a third party must not fail the runs of all others. */
function loginFilesOf(adapter: AgentRunAdapter, env: Record<string, string>): string[] {
  try {
    const files: unknown = adapter.loginFiles?.(env) ?? []
    return isListOfText(files) ? files : []
  } catch {
    return []
  }
}

const OPTIONAL_METHODS = [
  ...['resume', 'credentialOf', 'loginFiles', 'loginHasKey', 'probe', 'readLines', 'readLineStream'],
]

/** Why a value is not an adapter, as half a sentence; null when it is one. */
function faultOf(value: unknown): string | null {
  if (!isObject(value)) return 'its default export is neither an adapter nor a list of them'
  const { type, protocolVersion, capabilities, configSchema, inheritsEnv, keyVariables, takes } = value
  if (typeof type !== 'string' || !TYPE.test(type))
    return 'its type must be a name of lowercase letters, digits and _'
  if (protocolVersion !== PROTOCOL_VERSION)
    return `"${type}" has protocol version ${JSON.stringify(protocolVersion)}, not ${PROTOCOL_VERSION}`
  if (!isObject(capabilities) || !CAPABILITIES.every((name) => typeof capabilities[name] === 'boolean'))
    return `the capabilities of "${type}" must set ${CAPABILITIES.join(', ')} to true or false`
  for (const method of ['validateConfig', 'invoke'])
    if (typeof value[method] !== 'function') return `"${type}" has no function ${method}`
  for (const method of OPTIONAL_METHODS)
    if (value[method] !== undefined && typeof value[method] !== 'function')
      return `${method} of "${type}" is not a function`
  if (configSchema !== undefined && !isObject(configSchema))
    return `configSchema of "${type}" is not an object`
  if (inheritsEnv !== undefined && !isListOfText(inheritsEnv))
    return `inheritsEnv of "${type}" is not a list of names`
  if (keyVariables !== undefined && !isListOfText(keyVariables))
    return `keyVariables of "${type}" is not a list of names`
  if (takes !== undefined && !isListOfText(takes)) return `takes of "${type}" is not a list of names`
  return null
}

const isListOfText = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string')
