import { isRoot } from '../adapters/child/identity.ts'
import { sentencesOf } from '../adapters/config.ts'
import type {
  ChangesAsked,
  Check,
  Execution,
  LogRange,
  MissionChangesAsked,
  ProbedAgent,
  RemovableWork,
  WorkToDiscard,
} from '../door/execution.ts'
import type { ServerStore } from '../door/server-store.ts'
import { TtlCache } from '../kernel/ttl-cache.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { runsAs } from '../kinds/agent/rules/allowed-on-node.ts'
import { tooManySecrets } from '../kinds/agent/rules/config.ts'
import type { MissionWork } from '../kinds/mission/record.ts'
import { previewTemplate } from '../kinds/run/prompts/render.ts'
import { parseTemplate, type TemplateProblem } from '../kinds/run/prompts/template.ts'
import { DEFAULT_TEMPLATE } from '../kinds/run/prompts/texts.ts'
import type { Run } from '../kinds/run/record.ts'
import { takeCallback } from '../kinds/run/rules/callbacks.ts'
import { nodeIn, RuntimeConfig } from '../kinds/run/rules/policy.ts'
import type { CallbackMessage } from '../kinds/run/shapes/callbacks.ts'
import { type LogStoreType, LogUnavailable } from '../logs/protocol.ts'
import { Refused, refuse } from '../pure/errors.ts'
import { inHome } from '../pure/home-folder.ts'
import { redactDeep } from '../pure/secrets/redaction.ts'
import { allObjections, isAllowed } from './allowed.ts'
import { AgentClis } from './clis.ts'
import type { ExecutorContext } from './context.ts'
import { changesOf } from './folders/changes.ts'
import { missionChanges } from './folders/mission-changes.ts'
import { knownSecrets } from './known-secrets.ts'
import { credentialOf, gitOf } from './prepare.ts'
import { nodeCheck, probe, runtimeCheck } from './probe.ts'
import { exampleValues } from './prompt.ts'
import { OutputRelay } from './relay.ts'
import type { RunSecrets } from './run-secrets.ts'
import { hasModelSetting } from './task-plan.ts'
import { discardWork } from './work/discard-work.ts'
import { commitForResult } from './work/hand-in.ts'

type AgentSettings = Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>

/** The interface of the executor for the rest of Baton. */
export class NodeExecution implements Execution {
  readonly #context: ExecutorContext
  readonly #store: ServerStore
  readonly #relay: OutputRelay
  readonly #secrets: TtlCache<RunSecrets>
  readonly #clis: AgentClis

  constructor(context: ExecutorContext, store: ServerStore) {
    this.#context = context
    this.#store = store
    this.#relay = new OutputRelay({
      ...{ store, live: context.live, timers: context.timers, log: context.log },
      readHere: (workspaceId, runId, range) => this.#readHere(workspaceId, runId, range),
      onCallback: (runId) => context.callbacks.wake(runId),
    }).start()
    this.#secrets = new TtlCache(SECRETS_KNOWN_MS, MOST_SECRETS)
    this.#clis = new AgentClis(context)
  }

  get live() {
    return this.#context.live
  }

  adapters(workspaceId: number) {
    const { registry, mostRuns } = this.#context
    return registry.list().map((kind) => ({
      ...kind,
      allowed: isAllowed(this.#context, workspaceId, kind.type),
      runsAs: mostRuns === 0 ? null : runsAs(kind.type, isRoot()),
    }))
  }

  knows(adapterType: string) {
    return adapterType === 'external' || this.#context.registry.get(adapterType) !== undefined
  }

  hasModelSetting(adapterType: string) {
    const adapter = this.#context.registry.get(adapterType)
    return adapter !== undefined && hasModelSetting(adapter)
  }

  faultsOfModel(adapterType: string, model: string) {
    const adapter = this.#context.registry.get(adapterType)
    if (!adapter) return []
    const faultsIn = (config: object) => {
      const valid = adapter.validateConfig(config)
      return valid.ok ? [] : valid.errors
    }
    // Settings that are missing are faults without a model, too.
    const usual = new Set(faultsIn({}))
    return faultsIn({ model }).filter((fault) => !usual.has(fault))
  }

  objectionsTo(workspaceId: number, agent: Pick<AgentSettings, 'adapterType' | 'adapterConfig'>) {
    return allObjections(this.#context, workspaceId, agent)
  }

  withWholeFolder({ adapterType, adapterConfig }: Pick<AgentSettings, 'adapterType' | 'adapterConfig'>) {
    const { registry, own } = this.#context
    const { cwd } = (adapterConfig ?? {}) as { cwd?: unknown }
    const adapter = registry.get(adapterType)
    if (typeof cwd !== 'string' || !adapter || adapter.usesFolder === false)
      return { ok: true as const, adapterConfig }
    const folder = inHome(cwd, own.HOME || null)
    if (!folder.ok) return { ok: false as const, field: 'adapterConfig.cwd', message: folder.message }
    return { ok: true as const, adapterConfig: { ...(adapterConfig as object), cwd: folder.path } }
  }

  faultsOf(agent: AgentSettings) {
    return [...this.#faultsOfAdapter(agent), ...faultsOfRuntime(agent.runtimeConfig)]
  }

  #faultsOfAdapter({ adapterType, adapterConfig }: AgentSettings) {
    // External agents may store anything in their settings.
    if (adapterType === 'external') return []
    const { registry } = this.#context
    const adapter = registry.get(adapterType)
    const isForPeople = registry.list().some(({ type }) => type === adapterType)
    if (!adapter || !isForPeople) {
      const known = ['external', ...registry.list().map(({ type }) => type)].join(', ')
      return [{ field: 'adapterType', message: `is unknown; known types are ${known}` }]
    }
    const valid = adapter.validateConfig(adapterConfig ?? {})
    const excess = tooManySecrets(adapterConfig)
    const errors = [...(valid.ok ? [] : valid.errors), ...(excess ? [excess] : [])]
    const faults = errors.map((message) => ({ field: 'adapterConfig', message }))
    const parsed = parseTemplate(templateIn(adapterConfig))
    return parsed.ok ? faults : [...faults, ...parsed.problems.map(faultOfTemplate)]
  }

  async probe(workspaceId: number, agent: ProbedAgent): Promise<Check[]> {
    const node = nodeIn(agent.runtimeConfig)
    const wrong = runtimeCheck(faultsOfRuntime(agent.runtimeConfig))
    const nodes = node === null || node === this.#context.node.name ? null : await this.#store.cluster.nodes()
    const checks = await probe(this.#context, workspaceId, agent)
    return [...checks, ...wrong, ...(nodes && node !== null ? [nodeCheck(node, nodes)] : [])]
  }

  clis(adapterTypes: readonly string[]) {
    return this.#clis.find(adapterTypes)
  }

  accountOf(agent: AgentRecord) {
    const adapter = this.#context.registry.get(agent.adapterType)
    return adapter ? credentialOf(this.#context, adapter, agent) : null
  }

  async preview(workspaceId: number, agent: AgentRecord) {
    const parsed = parseTemplate(templateIn(agent.adapterConfig))
    if (!parsed.ok) {
      const errors = parsed.problems.map(faultOfTemplate)
      const [{ field, message }] = errors as [(typeof errors)[number]]
      throw Refused.because(refuse('VALIDATION_FAILED', `${field}: ${message}`, { errors }))
    }
    const values = await exampleValues(this.#context.kernel, workspaceId, agent, this.#context.baseUrl())
    const sensitive = [...new Set(parsed.template.sensitiveUses.map(({ path }) => path))]
    return { prompt: previewTemplate(parsed.template, values), sensitive }
  }

  close(): void {
    this.#relay.stop()
  }

  /** From its store, or from the node that has it. */
  async readLog(run: Run, range: LogRange) {
    const page = await this.#pageOf(run, range)
    return page ?? ((await this.#hasOthers()) ? this.#relay.read(run.workspaceId, run.id, range) : null)
  }

  async #hasOthers(): Promise<boolean> {
    const nodes = await this.#store.cluster.nodes()
    return nodes.some(({ nodeId, state }) => nodeId !== this.#context.node.id && state === 'alive')
  }

  /** For another node, which cannot read it. */
  async #readHere(workspaceId: number, runId: string, range: LogRange) {
    const run = await this.#store.runs.find(workspaceId, runId)
    return run && this.#pageOf(run, range)
  }

  async #pageOf(run: Run, range: LogRange) {
    const store = this.#context.logStores.get(run.logStore as LogStoreType)
    if (!store || run.logRef === null) return null
    try {
      return await store.read({ store: store.type, logRef: run.logRef }, range)
    } catch (error) {
      if (error instanceof LogUnavailable) return null
      throw error
    }
  }

  commitForResult(run: { workspaceId: number; runId: string }) {
    return commitForResult(this.#context, run)
  }

  changesOf(folder: unknown, asked: ChangesAsked) {
    return changesOf(gitOf(this.#context.own), folder, asked)
  }

  missionChanges(works: readonly MissionWork[], asked: MissionChangesAsked) {
    return missionChanges(gitOf(this.#context.own), works, asked)
  }

  discard(work: WorkToDiscard, record: (found: RemovableWork) => Promise<void>) {
    return discardWork(this.#context, gitOf(this.#context.own), work, record)
  }

  async redact<T>(run: TokenRun, token: string, reported: T): Promise<T> {
    const { runId } = run
    const secrets =
      this.#context.secrets.get(runId) ??
      (await this.#secrets.get(runId, () => secretsWithToken(this.#context, run, token)))
    return redactDeep(reported, await secrets.current())
  }

  async deliver(workspaceId: number, runId: string, message: CallbackMessage) {
    const delivery = await this.#store.transact(workspaceId, takeCallback(runId, message))
    if (delivery === 'taken') {
      this.#context.callbacks.wake(runId)
      this.#store.broadcast({ callback: { workspaceId, runId } })
    }
    return delivery
  }
}

const SECRETS_KNOWN_MS = 60_000
const MOST_SECRETS = 1_000

interface TokenRun {
  workspaceId: number
  runId: string
  agent: string
}

/** The secrets of a run of another node: those of its agent's settings, the token, and what is in the login files of this node. */
async function secretsWithToken(
  context: ExecutorContext,
  { workspaceId, agent: slug }: TokenRun,
  token: string,
) {
  const [found] = await context.kernel.store.agents.list(workspaceId, { slugs: [slug], withEnded: true }, 1)
  return knownSecrets(context, found?.record ?? null, token)
}

/** External agents may store anything under this name. */
function templateIn(adapterConfig: unknown): string {
  const { promptTemplate } = (adapterConfig ?? {}) as { promptTemplate?: unknown }
  return typeof promptTemplate === 'string' ? promptTemplate : DEFAULT_TEMPLATE
}

const faultOfTemplate = ({ line, column, position, message }: TemplateProblem) => ({
  field: 'adapterConfig.promptTemplate',
  message: `line ${line}, column ${column}: ${message}`,
  line,
  column,
  position,
})

function faultsOfRuntime(runtimeConfig: unknown) {
  const parsed = RuntimeConfig.safeParse(runtimeConfig ?? {})
  if (parsed.success) return []
  return parsed.error.issues
    .flatMap((issue) => sentencesOf(issue, 'runtimeConfig'))
    .map((message) => ({ field: 'runtimeConfig', message }))
}
