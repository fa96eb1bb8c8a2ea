import type { z } from 'zod'
import type { Execution } from '../../../door/execution.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { type ErrorCode, Refused, refuse } from '../../../pure/errors.ts'
import type { AgentProfile, AgentRecord } from '../record.ts'
import { configuringIn, unmasked, withoutConfiguring } from '../rules/config.ts'
import { configWithModel, modelOfAgent, withOneModel } from '../rules/model.ts'
import type { AgentBody } from '../shapes.ts'

/** The settings of an agent, as they are asked for and as they can be saved. */

const seconds = (value: number | undefined) => (value === undefined ? undefined : value * 1000)

export function profileOf(body: z.output<typeof AgentBody>): Partial<AgentProfile> {
  const { heartbeatIntervalSeconds, staleThresholdSeconds, capabilities, taskTypes, ...rest } = body
  return {
    ...(rest as Partial<AgentProfile>),
    capabilities: capabilities && [...new Set(capabilities)].sort(),
    taskTypes: taskTypes && [...new Set(taskTypes)].sort(),
    heartbeatMs: seconds(heartbeatIntervalSeconds),
    staleMs: seconds(staleThresholdSeconds),
  } as Partial<AgentProfile>
}

export const mayConfigure = ({ rights }: Caller) => rights.has('configure_agents')

/** As it is stored. */
export function oneModel(
  execution: Execution,
  profile: Partial<AgentProfile>,
  known: AgentRecord | undefined,
): Partial<AgentProfile> {
  if (!execution.hasModelSetting(typeOf(profile, known))) return profile
  const one = withOneModel(profile, known)
  if (!one.ok) throw Refused.because(one)
  return one.profile
}

const typeOf = ({ adapterType }: Partial<AgentProfile>, known: AgentRecord | undefined) =>
  adapterType ?? known?.adapterType ?? 'external'

/** Configuring what an agent runs means running code as Baton's user, so it needs more than the right to operate agents. */
export function unconfigured(
  profile: Partial<AgentProfile>,
  known: AgentRecord | undefined,
): Partial<AgentProfile> {
  const { model } = profile
  // The model of an agent that claims its work itself decides nothing here.
  const isRun = known !== undefined && known.adapterType !== 'external'
  const changed: string[] = configuringIn(profile, known)
  if (isRun && model !== undefined && model !== modelOfAgent(known)) changed.push('model')
  if (changed.length > 0)
    throw new Refused(
      'FORBIDDEN',
      `Setting ${changed.join(', ')} needs the right "configure_agents", which this key lacks.`,
      { errors: changed.map((field) => ({ field, message: 'needs the right "configure_agents"' })) },
    )
  // A caller with the right may change these fields concurrently, and that change must not be overwritten.
  const { model: _model, ...rest } = withoutConfiguring(profile)
  return isRun || model === undefined ? rest : { ...rest, model }
}

/** The settings as they can be saved, with the values that masked ones stand for. */
export async function usableProfile(
  execution: Execution,
  { workspaceId }: Caller,
  given: Partial<AgentProfile>,
  known: AgentRecord | undefined,
): Promise<Partial<AgentProfile>> {
  const said = unmasked(given, known)
  if (!said.ok) throw Refused.because(said)
  const profile = withWholeFolder(execution, said.profile, known)
  await refuseUnusable(execution, workspaceId, profile, known)
  return profile
}

/** A folder is stored as a whole path: another node, or another user, would read `~` as another one. */
function withWholeFolder(
  execution: Execution,
  profile: Partial<AgentProfile>,
  known: AgentRecord | undefined,
): Partial<AgentProfile> {
  if (!profile.adapterConfig) return profile
  const adapterType = typeOf(profile, known)
  const whole = execution.withWholeFolder({ adapterType, adapterConfig: profile.adapterConfig })
  if (!whole.ok) refuseFaults('VALIDATION_FAILED', [whole])
  return whole.ok ? { ...profile, adapterConfig: whole.adapterConfig } : profile
}

/** Unusable settings are refused when they are set, not when the agent runs. */
async function refuseUnusable(
  execution: Execution,
  workspaceId: number,
  profile: Partial<AgentProfile>,
  known: AgentRecord | undefined,
): Promise<void> {
  const { adapterType, adapterConfig, runtimeConfig, model } = profile
  const hasModel = model != null && execution.hasModelSetting(typeOf(profile, known))
  const isNothingSet = adapterType === undefined && adapterConfig === undefined && runtimeConfig === undefined
  if (isNothingSet && !hasModel) return
  const config = adapterConfig === undefined ? (known?.adapterConfig ?? null) : adapterConfig
  const agent = {
    adapterType: typeOf(profile, known),
    adapterConfig: hasModel ? configWithModel({ model, adapterConfig: config }) : config,
    runtimeConfig: runtimeConfig === undefined ? (known?.runtimeConfig ?? null) : runtimeConfig,
  }
  refuseFaults('VALIDATION_FAILED', execution.faultsOf(agent))
  refuseFaults('NOT_ALLOWED_HERE', await execution.objectionsTo(workspaceId, agent))
}

function refuseFaults(code: ErrorCode, errors: { field: string; message: string }[]): void {
  const [first] = errors
  if (first) throw Refused.because(refuse(code, `${first.field}: ${first.message}`, { errors }))
}
