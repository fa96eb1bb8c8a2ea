import type { Check, ProbedAgent } from '../door/execution.ts'
import { parseTemplate } from '../kinds/run/prompts/template.ts'
import { DEFAULT_TEMPLATE } from '../kinds/run/prompts/texts.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf } from './environment.ts'
import { adapterOf, tryFolder } from './prepare.ts'
import { settingsOf } from './task-plan.ts'

const PROBE_TIMEOUT_MS = 30_000

/** Whether an agent could run on this node: what is there, what is missing, and how to fix it. Leaves nothing behind. */
export async function probe(
  context: ExecutorContext,
  workspaceId: number,
  agent: ProbedAgent,
): Promise<Check[]> {
  if (agent.adapterType === 'external')
    return [{ name: 'adapter', ok: true, detail: 'The agent is external; there is nothing to check here.' }]
  const config = settingsOf(context.registry.get(agent.adapterType), agent)
  const checks: Check[] = []
  const attempt = async (name: string, hint: string, check: () => Promise<string> | string) => {
    try {
      checks.push({ name, ok: true, detail: await check() })
    } catch (error) {
      if (!(error instanceof CannotPrepare)) throw error
      checks.push({ name, ok: false, detail: error.message, hint })
    }
  }
  await attempt('settings', 'Correct adapterType or adapterConfig with PUT /agents/:slug.', () => {
    adapterOf(context, workspaceId, agent)
    return `The settings are valid for ${agent.adapterType}.`
  })
  const adapter = context.registry.get(agent.adapterType)
  if (!adapter) return checks
  await attempt('template', 'Correct adapterConfig.promptTemplate.', () => {
    const parsed = parseTemplate(
      typeof config.promptTemplate === 'string' ? config.promptTemplate : DEFAULT_TEMPLATE,
    )
    if (!parsed.ok)
      throw new CannotPrepare(
        'invalid_configuration',
        parsed.problems.map(({ line, message }) => `line ${line}: ${message}`).join('; '),
      )
    return 'The prompt template is valid.'
  })
  let cwd: string | null = null
  if (adapter.usesFolder !== false)
    await attempt(
      'folder',
      'Create the folder, or set adapterConfig.cwd to one that Baton may write to.',
      async () => {
        cwd = await tryFolder(context, workspaceId, agent)
        return cwd === null ? 'The agent gets a folder of its own.' : `${cwd} can be used.`
      },
    )
  if (checks.some(({ ok }) => !ok) || !adapter.probe) return checks
  const env = environmentOf(adapter, context.own, config)
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
  const more = await adapter.probe({ cwd, adapterConfig: config, env }, signal)
  return [...checks, ...more.filter(({ name }) => !checks.some((check) => check.name === name))]
}
