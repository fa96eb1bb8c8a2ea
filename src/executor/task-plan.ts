import { atItsHead } from '../adapters/cli-task.ts'
import type { AdapterInvokeInput, AgentRunAdapter } from '../adapters/protocol.ts'
import type { RunKernel } from '../door/server-kernel.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { configWithModel } from '../kinds/agent/rules/model.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import type { TaskPlan } from '../kinds/task/rules/plan-fields.ts'
import { configOf } from './adapter-config.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import type { Held } from './holding.ts'

/** What the plan of a task says about how its agent is run. */

export interface PlannedTask {
  record: TaskRecord
  plan: TaskPlan | null
  taskType: string
  /** Why the last attempt failed. */
  failureClass: string | null
}

export async function plannedTask(
  kernel: RunKernel,
  workspaceId: number,
  held: Held | null,
): Promise<PlannedTask | null> {
  const [found] = held ? await kernel.store.tasksById(workspaceId, [held.taskId]) : []
  if (!found) return null
  const { plan = null, taskType, failureClass = null } = found.details
  return { record: found.record, plan, taskType, failureClass }
}

export const hasModelSetting = ({ configSchema }: AgentRunAdapter) =>
  Object.hasOwn((configSchema?.properties ?? {}) as object, 'model')

/** The settings of an agent as its adapter knows them: with the model, which may be required. */
export const settingsOf = (
  adapter: AgentRunAdapter | undefined,
  agent: Pick<AgentRecord, 'adapterConfig' | 'model'>,
): Record<string, unknown> =>
  configOf(adapter && hasModelSetting(adapter) ? { adapterConfig: configWithModel(agent) } : agent)

/**
 * The settings of the agent with the model of its task. What is wrong then is the fault of the task: its agent can continue
 * with others.
 */
export function withModel(
  adapter: AgentRunAdapter,
  config: Record<string, unknown>,
  model: string | null,
): Record<string, unknown> {
  if (model === null || !hasModelSetting(adapter)) return config
  const merged = { ...config, model }
  const valid = adapter.validateConfig(merged)
  if (valid.ok) return merged
  throw new CannotPrepare(
    'invalid_task',
    `The model of the task does not suit its agent: ${valid.errors.join(' ')}`.slice(0, 2_000),
  )
}

/** What the adapter takes of the task beside the prompt. */
export function askedBy(
  { takes = [] }: AgentRunAdapter,
  plan: TaskPlan | null,
  model: string | null,
): Pick<AdapterInvokeInput, 'model' | 'systemPrompt' | 'tools'> {
  const { systemPrompt = null, toolsRequested = [] } = plan ?? {}
  return {
    ...(model !== null && { model }),
    ...(systemPrompt && takes.includes('systemPrompt') && { systemPrompt }),
    ...(toolsRequested.length > 0 && takes.includes('tools') && { tools: toolsRequested }),
  }
}

/** An adapter that does not take the task's own instructions gets them at the head of the prompt. */
export const promptWith = ({ takes = [] }: AgentRunAdapter, plan: TaskPlan | null, prompt: string) =>
  plan?.systemPrompt && !takes.includes('systemPrompt') ? atItsHead(prompt, plan.systemPrompt) : prompt
