import { type Refusal, refuseField } from '../../../pure/errors.ts'
import type { AgentProfile, AgentRecord } from '../record.ts'

/**
 * The model of an agent is one value, `model`. Where its adapter has a setting of that name, it is shown and may be written as
 * `adapterConfig.model`, too; it is not stored there.
 */

type WithModel = Pick<AgentRecord, 'model' | 'adapterConfig'>

const inConfig = (config: unknown): unknown =>
  typeof config === 'object' && config !== null ? (config as { model?: unknown }).model : undefined

/** Null: its program decides. Agents from before there was one value run with that of their settings. */
export function modelOfAgent(agent: WithModel & Pick<AgentRecord, 'adapterType'>): string | null {
  const setting = agent.adapterType === 'external' ? undefined : inConfig(agent.adapterConfig)
  return typeof setting === 'string' ? setting : agent.model
}

/** The settings as they are shown, with the model in them. */
export const configWithModel = ({ model, adapterConfig }: WithModel): unknown =>
  model === null || inConfig(adapterConfig) !== undefined
    ? adapterConfig
    : { ...(adapterConfig as object | null), model }

const configWithoutModel = (config: unknown): unknown => {
  if (inConfig(config) === undefined) return config
  const { model: _model, ...rest } = config as Record<string, unknown>
  return rest
}

/**
 * A profile with the model as one value, of an agent whose adapter has the setting. Settings replace the former ones as a whole,
 * so those without a model remove it, unless `model` names one.
 */
export function withOneModel(
  profile: Partial<AgentProfile>,
  known: WithModel | undefined,
): { ok: true; profile: Partial<AgentProfile> } | Refusal {
  const { model, adapterConfig } = profile
  if (adapterConfig === undefined) {
    if (model === undefined || inConfig(known?.adapterConfig) === undefined) return { ok: true, profile }
    return { ok: true, profile: { ...profile, adapterConfig: configWithoutModel(known?.adapterConfig) } }
  }
  const setting = (inConfig(adapterConfig) ?? null) as string | null
  if (setting !== null && model !== undefined && model !== setting)
    return refuseField(
      'VALIDATION_FAILED',
      'model',
      `is ${JSON.stringify(model)}, and adapterConfig.model is ${JSON.stringify(setting)}: they are one value`,
    )
  const one = { model: setting ?? model ?? null, adapterConfig: configWithoutModel(adapterConfig) }
  return { ok: true, profile: { ...profile, ...one } }
}
