import type { AgentRecord } from '../kinds/agent/record.ts'
import { modelOfAgent } from '../kinds/agent/rules/model.ts'
import { chooseModel, type ModelChoice, modelsInTurn } from '../kinds/run/rules/models.ts'
import { fallbackModelsOf, modelTiersOf } from '../kinds/run/rules/policy.ts'
import { parkCredential } from '../kinds/run/rules/runtime-state.ts'
import { modelOfTier } from '../kinds/run/rules/tiers.ts'
import { command } from '../kinds/task/acts/tasks.ts'
import type { ExecutorContext } from './context.ts'
import { asAgent, type Held } from './holding.ts'
import type { PlannedTask } from './task-plan.ts'

/** The model of a run: the task's, that of its tier (of the agent, else of the workspace), the agent's, or a fallback. */

/** Limits of one model, on one account. */
const keyOf = (credential: string, model: string | null) => `${credential} model ${model ?? ''}`

export async function modelOf(
  { kernel }: ExecutorContext,
  workspaceId: number,
  agent: AgentRecord,
  task: PlannedTask | null,
  credential: string,
): Promise<ModelChoice> {
  const plan = task?.plan ?? null
  const own = plan?.model ?? (await ofTier(kernel, workspaceId, agent, task)) ?? modelOfAgent(agent)
  const ofAgent = fallbackModelsOf(agent.runtimeConfig)
  const models = task ? modelsInTurn(own, plan?.fallbackModels ?? [], ofAgent) : [own]
  const { modelSwitches: switches = 0, usedModel: used } = task?.record.modelUse ?? {}
  // Most have no other: nothing is read for them.
  const parked = models.length > 1 ? await parkedAmong(kernel, workspaceId, credential, models) : new Map()
  const choice = chooseModel(models, { switches, used }, (model) => !parked.has(model))
  return switches === 0 && parked.size === 0 ? { ...choice, fallback: null } : choice
}

/** Null: no model is named for tasks like this one. Only work has a tier: who judges or plans was chosen for that. */
async function ofTier(
  kernel: ExecutorContext['kernel'],
  workspaceId: number,
  { runtimeConfig, adapterType }: AgentRecord,
  task: PlannedTask | null,
): Promise<string | null> {
  if (task?.record.purpose !== 'work') return null
  const { complexity, estimatedTokens } = task.plan ?? {}
  const size = { priority: task.record.priority, taskType: task.taskType, complexity, estimatedTokens }
  const ofAgent = modelTiersOf(runtimeConfig)
  if (ofAgent) return modelOfTier(size, ofAgent)
  const named = await kernel.store.modelTiers.list(workspaceId)
  return modelOfTier(size, named.find((one) => one.adapterType === adapterType) ?? null)
}

async function parkedAmong(
  kernel: ExecutorContext['kernel'],
  workspaceId: number,
  credential: string,
  models: ModelChoice['models'],
): Promise<Map<string | null, number>> {
  const times = await Promise.all(
    models.map((model) => kernel.store.runtime.parkedUntil(workspaceId, keyOf(credential, model))),
  )
  return new Map(models.flatMap((model, i) => (times[i] == null ? [] : [[model, times[i]]])))
}

/**
 * The model of a run is rate limited and has a fallback: only the model rests, and the task need not wait. False: there
 * is no fallback, so the whole account has to rest.
 */
export async function restModel(
  { kernel }: ExecutorContext,
  workspaceId: number,
  {
    agent,
    credential,
    choice,
    resetAt,
  }: { agent: string; credential: string; choice: ModelChoice; resetAt: number | undefined },
): Promise<boolean> {
  const { models, model } = choice
  if (models.length < 2) return false
  const parked = await parkedAmong(kernel, workspaceId, credential, models)
  if (!models.some((other) => other !== model && !parked.has(other))) return false
  const one = { credential: keyOf(credential, model), agents: [agent], resetAt, model: model ?? '' }
  await kernel.step({ workspaceId }, parkCredential(one))
  return true
}

/** On record before the run begins. */
export async function announceModel(
  { kernel }: ExecutorContext,
  workspaceId: number,
  agent: string,
  { uuid, session, generation }: Held,
  { fallback }: ModelChoice,
  reason: string | null,
): Promise<void> {
  if (!fallback) return
  const fence = { session, generation }
  await command(kernel, asAgent(workspaceId, agent), uuid, { kind: 'useModel', fence, ...fallback, reason })
}
