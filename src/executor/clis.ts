import { tmpdir } from 'node:os'
import { lookUp } from '../adapters/child/lookup.ts'
import type { AgentRunAdapter, ProbeCheck } from '../adapters/protocol.ts'
import type { FoundCli } from '../door/execution.ts'
import { TtlCache } from '../kernel/ttl-cache.ts'
import { defaultCommandOf } from './allowed.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf } from './environment.ts'

/** The programs of agents on this node, as they are without any settings. */

const PROBE_TIMEOUT_MS = 8_000
/** Somebody who logs in and looks again must not wait for long; a page that is reloaded must not start programs each time. */
const KNOWN_MS = 5_000

export class AgentClis {
  readonly #context: ExecutorContext
  readonly #known = new TtlCache<FoundCli>(KNOWN_MS, 100)

  constructor(context: ExecutorContext) {
    this.#context = context
  }

  /** Those of these adapters that have a program of their own; all at the same time. */
  find(adapterTypes: readonly string[]): Promise<FoundCli[]> {
    const probes = adapterTypes.flatMap((type) => {
      const adapter = this.#context.registry.get(type)
      const command = defaultCommandOf(adapter)
      if (!adapter?.probe || command === undefined) return []
      return [this.#known.get(type, () => this.#probe(adapter, command))]
    })
    return Promise.all(probes)
  }

  async #probe(adapter: AgentRunAdapter, command: string): Promise<FoundCli> {
    const env = environmentOf(adapter, this.#context.own, {})
    const isFound = (await lookUp(command, tmpdir(), env.PATH)).kind === 'program'
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
    const checks = await adapter.probe!({ cwd: null, adapterConfig: {}, env }, signal).catch(() => [])
    return { adapterType: adapter.type, command, isFound, ...toldBy(checks, isFound) }
  }
}

/** In words of our own: what programs print may hold parts of keys. */
function toldBy(checks: readonly ProbeCheck[], isFound: boolean) {
  const program = checks.find(({ name }) => name === 'program')
  const login = checks.find(({ name }) => name === 'login')
  const version = program?.ok ? (/\d+(?:\.\d+){1,3}/.exec(program.detail)?.[0] ?? null) : null
  const isKnown = login !== undefined && !login.isUnknown
  const hint = checks.find(({ ok }) => !ok)?.hint ?? null
  return { version, login: isFound ? (isKnown ? (login.ok ? 'in' : 'out') : 'unknown') : null, hint } as const
}
