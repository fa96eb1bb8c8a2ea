import type { AgentRunAdapter } from '../adapters/protocol.ts'
import type { Check, ProbedAgent } from '../door/execution.ts'
import { tooManySecrets } from '../kinds/agent/rules/config.ts'
import { type FieldProblem, preciseProblem, problemIn, topSettingOf } from '../kinds/agent/rules/problems.ts'
import { parseTemplate } from '../kinds/run/prompts/template.ts'
import { DEFAULT_TEMPLATE } from '../kinds/run/prompts/texts.ts'
import { operatorsObjections } from './allowed.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf } from './environment.ts'
import { tryFolder } from './prepare.ts'
import { settingsOf } from './task-plan.ts'

const PROBE_TIMEOUT_MS = 30_000

type Settings = Record<string, unknown>

/**
 * Whether an agent could run on this node: what is there, what is missing, and how to fix it. Each check reports, whatever the
 * others found, so that everything can be fixed at once. Leaves nothing behind.
 */
export async function probe(
  context: ExecutorContext,
  workspaceId: number,
  agent: ProbedAgent,
): Promise<Check[]> {
  const { adapterType } = agent
  if (adapterType === 'external')
    return [{ name: 'adapter', ok: true, detail: 'The agent is external; there is nothing to check here.' }]
  const adapter = context.registry.get(adapterType)
  const config = settingsOf(adapter, agent)
  if (!adapter) {
    const problems = [{ field: 'adapterType', message: `is "${adapterType}", which this node does not have` }]
    const detail = `There is no adapter "${adapterType}" on this node.`
    return [{ name: 'settings', ok: false, detail, hint: 'Choose another type for the agent.', problems }]
  }
  const wrong = problemsOf(adapter, config, agent)
  const objections = operatorsObjections(context, workspaceId, agent)
  const { check: folder, cwd } = await folderCheck(context, workspaceId, adapter, agent)
  const checks = [
    settingsCheck([...wrong, ...objections]),
    templateCheck(config),
    ...(folder ? [folder] : []),
  ]
  // What may not be run here is not even asked for its version.
  if (!adapter.probe || objections.length > 0) return checks
  const sound = without(config, wrong)
  const env = environmentOf(adapter, context.own, sound)
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
  const more = await adapter.probe({ cwd, adapterConfig: sound, env }, signal)
  return [...checks, ...more.filter(({ name }) => !checks.some((check) => check.name === name)).map(named)]
}

function problemsOf(adapter: AgentRunAdapter, config: Settings, agent: ProbedAgent): FieldProblem[] {
  const valid = adapter.validateConfig(config)
  const excess = tooManySecrets(agent.adapterConfig)
  const sentences = [...(valid.ok ? [] : valid.errors), ...(excess ? [excess] : [])]
  return sentences.map((sentence) => problemIn(sentence, 'adapterConfig'))
}

function settingsCheck(problems: FieldProblem[]): Check {
  const name = 'settings'
  if (problems.length === 0) return { name, ok: true, detail: 'The settings are valid.' }
  const detail = problems.map(({ field, message }) => sentence(field, message)).join(' ')
  return { name, ok: false, detail, hint: 'Correct what is named.', problems }
}

const sentence = (field: string, message: string) => {
  const said = field === 'adapterConfig' ? message : `${field.replace(/^adapterConfig\./, '')} ${message}`
  return /[.!?]$/.test(said) ? said : `${said}.`
}

function templateCheck({ promptTemplate }: Settings): Check {
  const name = 'template'
  const parsed = parseTemplate(typeof promptTemplate === 'string' ? promptTemplate : DEFAULT_TEMPLATE)
  if (parsed.ok) return { name, ok: true, detail: 'The prompt template is valid.' }
  const detail = parsed.problems.map(({ line, message }) => `line ${line}: ${message}`).join('; ')
  const problems = [{ field: 'adapterConfig.promptTemplate', message: detail }]
  return { name, ok: false, detail, hint: 'Correct the prompt.', problems }
}

async function folderCheck(
  context: ExecutorContext,
  workspaceId: number,
  adapter: AgentRunAdapter,
  agent: ProbedAgent,
): Promise<{ check: Check | null; cwd: string | null }> {
  if (adapter.usesFolder === false) return { check: null, cwd: null }
  const name = 'folder'
  // Settings that were stored before validation existed may have anything in its place.
  const { cwd: asked } = (agent.adapterConfig ?? {}) as { cwd?: unknown }
  if (asked !== undefined && typeof asked !== 'string') return { check: null, cwd: null }
  try {
    const cwd = await tryFolder(context, workspaceId, agent)
    const detail = cwd === null ? 'The agent gets a folder of its own.' : `${cwd} can be used.`
    return { check: { name, ok: true, detail }, cwd }
  } catch (error) {
    if (!(error instanceof CannotPrepare)) throw error
    const detail = error.message
    const problems = [{ field: 'adapterConfig.cwd', message: detail }]
    const hint = 'Create the folder, or name one that Baton may write to.'
    return { check: { name, ok: false, detail, hint, problems }, cwd: null }
  }
}

/** The settings that are usable by themselves: a number that is wrong must not hide that the program is missing. */
function without(config: Settings, problems: readonly FieldProblem[]): Settings {
  const wrong = new Set(problems.map(topSettingOf))
  return Object.fromEntries(Object.entries(config).filter(([name]) => !wrong.has(name)))
}

/** Adapters say what is wrong, and not with which field. */
const named = (check: Check): Check =>
  check.ok || check.name !== 'program'
    ? check
    : { ...check, problems: [{ field: 'adapterConfig.command', message: check.detail }] }

/** How Baton runs it, beside the settings of its adapter. */
export function runtimeCheck(faults: readonly FieldProblem[]): Check[] {
  if (faults.length === 0) return []
  const problems = faults.map(preciseProblem)
  const detail = faults.map(({ message }) => message).join(' ')
  return [{ name: 'schedule', ok: false, detail, hint: 'Correct what is named.', problems }]
}

/** The node that alone may run the agent is another one than this. */
export function nodeCheck(name: string, nodes: readonly { name: string; state: string }[]): Check {
  if (nodes.some((node) => node.name === name && node.state === 'alive')) {
    const detail = `It is run by the node ${name}. This test looked at another one.`
    return { name: 'node', ok: true, detail, isUnknown: true }
  }
  const message = `names ${name}, and no node of that name is running`
  const detail = `No node is called ${name} at the moment: its runs would wait for one.`
  const problems = [{ field: 'runtimeConfig.node', message }]
  return { name: 'node', ok: false, detail, hint: 'Start that node, or name no node.', problems }
}
