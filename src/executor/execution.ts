import type { Callbacks } from '../adapters/callbacks.ts'
import { sentencesOf } from '../adapters/config.ts'
import { tooManySecrets } from '../core/agent-config.ts'
import { Refused, refuse } from '../core/errors.ts'
import { previewTemplate } from '../core/prompts/render.ts'
import { parseTemplate, type TemplateProblem } from '../core/prompts/template.ts'
import { DEFAULT_TEMPLATE } from '../core/prompts/texts.ts'
import type { AgentRecord } from '../core/records.ts'
import { redactDeep } from '../core/redaction.ts'
import { RuntimeConfig } from '../core/runs/policy.ts'
import type { Run } from '../core/runs/records.ts'
import type { Check, Execution, LogRange } from '../flow/execution.ts'
import { type LogStoreType, LogUnavailable } from '../logs/protocol.ts'
import { allObjections, isAllowed } from './allowed.ts'
import type { ExecutorContext } from './context.ts'
import { probe } from './probe.ts'
import { exampleValues } from './prompt.ts'

type AgentSettings = Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>

/** The interface of the executor for the rest of Baton. */
export class NodeExecution implements Execution {
  readonly #context: ExecutorContext
  readonly #callbacks: Callbacks

  constructor(context: ExecutorContext, callbacks: Callbacks) {
    this.#context = context
    this.#callbacks = callbacks
  }

  get live() {
    return this.#context.live
  }

  adapters(workspaceId: number) {
    return this.#context.registry
      .list()
      .map((kind) => ({ ...kind, allowed: isAllowed(this.#context, workspaceId, kind.type) }))
  }

  knows(adapterType: string) {
    return adapterType === 'external' || this.#context.registry.get(adapterType) !== undefined
  }

  objectionsTo(workspaceId: number, agent: Pick<AgentSettings, 'adapterType' | 'adapterConfig'>) {
    return allObjections(this.#context, workspaceId, agent)
  }

  faultsOf(agent: AgentSettings) {
    return [...this.#faultsOfAdapter(agent), ...faultsOfRuntime(agent.runtimeConfig)]
  }

  #faultsOfAdapter({ adapterType, adapterConfig }: AgentSettings) {
    // External agents may store anything in their settings.
    if (adapterType === 'external') return []
    const { registry } = this.#context
    const adapter = registry.get(adapterType)
    if (!adapter) {
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

  probe(workspaceId: number, agent: AgentRecord): Promise<Check[]> {
    return probe(this.#context, workspaceId, agent)
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

  async readLog(run: Run, range: LogRange) {
    const store = this.#context.logStores.get(run.logStore as LogStoreType)
    if (!store || run.logRef === null) return null
    try {
      return await store.read({ store: store.type, logRef: run.logRef }, range)
    } catch (error) {
      if (error instanceof LogUnavailable) return null
      throw error
    }
  }

  redact<T>(runId: string, reported: T): T {
    const secrets = this.#context.secrets.get(runId)
    return secrets ? redactDeep(reported, secrets) : reported
  }

  requestsOf(runId: string) {
    return this.#context.requests.get(runId) ?? []
  }

  deliver(runId: string, message: Parameters<Callbacks['deliver']>[1]) {
    return this.#callbacks.deliver(runId, message)
  }
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
