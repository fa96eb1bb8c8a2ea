import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import type { AgentProfile, AgentRecord } from '../record.ts'

/** Settings of adapters: how they are masked, and how masked ones come back. */

type Config = Record<string, unknown>

const MASKED = '********'

/** The environment of child processes and the headers for endpoints may contain secrets. */
const MAY_BE_SECRET = ['env', 'headers'] as const

/** The limit for all these values together: searching for them in all output of a run takes memory and time. */
const MOST_SECRET_BYTES = 64 * 1024

/** Shows that a value is set, but not the value. For an unknown kind of adapter it is unknown which values are secret. */
export function maskedConfig(config: unknown, isKnown: boolean): unknown {
  if (config === null || config === undefined) return null
  if (!isKnown) return maskedValues(config)
  const shown = { ...(config as Config) }
  for (const field of MAY_BE_SECRET) if (shown[field] != null) shown[field] = maskedValues(shown[field])
  return shown
}

const maskedValues = (values: unknown) =>
  typeof values === 'object' && !Array.isArray(values)
    ? Object.fromEntries(Object.keys(values!).map((name) => [name, MASKED]))
    : MASKED

/**
 * Settings that may change while masked values are kept. Any other change may decide who gets to see the value: then a
 * caller who knows the value must send it again.
 */
const FREE = new Set([
  ...['promptTemplate', 'timeoutSec', 'graceSec', 'heartbeatTimeoutSec', 'cleanup'],
  ...['model', 'maxTurnsPerRun', 'maxBudgetUsd', 'headers'],
])

/** A value that was shown masked and comes back masked is unchanged. */
export function unmasked(
  profile: Partial<AgentProfile>,
  known: Pick<AgentRecord, 'adapterType' | 'adapterConfig'> | undefined,
): { ok: true; profile: Partial<AgentProfile> } | Refusal {
  if (profile.adapterConfig == null) return { ok: true, profile }
  const given = profile.adapterConfig as Config
  const before = (known?.adapterConfig ?? {}) as Config
  const masks = masksIn(given)
  if (masks.length === 0) return { ok: true, profile }
  // A mask must not become the value: a mask copied from another agent would only show as a failed login.
  const empty = masks.find((path) => at(before, path) === undefined)
  if (empty)
    return refuseField(
      'VALIDATION_FAILED',
      `adapterConfig.${empty.join('.')}`,
      'is masked, and there is no value behind the mask',
    )
  const adapterConfig = filledIn(given, before)
  const changed = changesIn(adapterConfig, before)
  if (profile.adapterType !== undefined && profile.adapterType !== known?.adapterType)
    changed.unshift('adapterType')
  if (changed.length > 0) return sayAgain(masks, changed)
  return { ok: true, profile: { ...profile, adapterConfig } }
}

function sayAgain(masks: string[][], changed: string[]): Refusal {
  const message = `is masked, and ${changed.join(', ')} changed: send the value again`
  const errors = masks.map((path) => ({ field: `adapterConfig.${path.join('.')}`, message }))
  const fields = errors.map(({ field }) => field).join(', ')
  return refuse(
    'VALIDATION_FAILED',
    `Send the value again: ${fields}. A mask keeps the old value only while ${changed.join(', ')} stays unchanged.`,
    { errors },
  )
}

/** The paths of masks: whole settings, and single variables and headers. */
function masksIn(config: Config): string[][] {
  return Object.entries(config).flatMap(([field, value]) => {
    if (value === MASKED) return [[field]]
    if (!isRecord(value) || !(MAY_BE_SECRET as readonly string[]).includes(field)) return []
    return Object.keys(value)
      .filter((name) => value[name] === MASKED)
      .map((name) => [field, name])
  })
}

/** Settings without their masks. */
export function withoutMasks(config: Config): Config {
  const masks = new Set(masksIn(config).map((path) => path.join('\0')))
  const kept = Object.entries(config).filter(([field]) => !masks.has(field))
  return Object.fromEntries(
    kept.map(([field, value]) => [
      field,
      isRecord(value)
        ? Object.fromEntries(Object.entries(value).filter(([name]) => !masks.has(`${field}\0${name}`)))
        : value,
    ]),
  )
}

const isRecord = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (config: unknown, name: string): unknown =>
  isRecord(config) && Object.hasOwn(config, name) ? config[name] : undefined

const at = (config: Config, path: readonly string[]) =>
  path.reduce<unknown>((inner, name) => own(inner, name), config)

function filledIn(given: Config, before: Config): Config {
  const filled = (value: unknown, was: unknown) => (value === MASKED ? was : value)
  return Object.fromEntries(
    Object.entries(given).map(([field, value]) => {
      const was = own(before, field)
      if (!isRecord(value) || !(MAY_BE_SECRET as readonly string[]).includes(field))
        return [field, filled(value, was)]
      const values = Object.entries(value).map(([name, one]) => [name, filled(one, own(was, name))])
      return [field, Object.fromEntries(values)]
    }),
  )
}

/** Which settings that matter have changed. */
const changesIn = (config: Config, before: Config): string[] =>
  [...new Set([...Object.keys(config), ...Object.keys(before)])].filter(
    (field) =>
      !FREE.has(field) &&
      !isSame(own(config, field), own(before, field)) &&
      !(field === 'secretEnv' && includesAll(own(config, field), own(before, field))),
  )

/** Naming more variables as secret shows nobody a value; naming fewer may. */
const includesAll = (names: unknown, before: unknown = []) =>
  Array.isArray(names) && Array.isArray(before) && before.every((name) => names.includes(name))

/** Whether two JSON values are equal. Not recursive: values may be nested very deep. */
function isSame(one: unknown, other: unknown): boolean {
  const waiting: [unknown, unknown][] = [[one, other]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [a, b] = next
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    const names = Object.keys(a)
    if (Array.isArray(a) !== Array.isArray(b) || names.length !== Object.keys(b).length) return false
    for (const name of names) {
      if (!Object.hasOwn(b, name)) return false
      waiting.push([(a as Config)[name], (b as Config)[name]])
    }
  }
  return true
}

/** Why the secret values are too large; null when they are not. */
export function tooManySecrets(config: unknown): string | null {
  const values = MAY_BE_SECRET.flatMap((field) => {
    const value = own(config, field)
    return isRecord(value) ? Object.entries(value).flat() : []
  })
  const encoder = new TextEncoder()
  const bytes = values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? encoder.encode(value).length : 0),
    0,
  )
  if (bytes <= MOST_SECRET_BYTES) return null
  return `env and headers have ${bytes} bytes in total; at most ${MOST_SECRET_BYTES} are allowed. Put larger values into files.`
}

type SetUp = Pick<AgentProfile, 'adapterType' | 'adapterConfig' | 'model'>

/** Whether what a test looks at is the same: all but the prompt, which has an editor of its own. */
export const isSetUpAlike = (one: SetUp, other: SetUp): boolean =>
  one.adapterType === other.adapterType &&
  one.model === other.model &&
  isSame(withoutPrompt(one.adapterConfig), withoutPrompt(other.adapterConfig))

function withoutPrompt(config: unknown): unknown {
  const { promptTemplate: _prompt, ...rest } = (config ?? {}) as Config
  return rest
}

type Configuring = Pick<AgentProfile, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>
const NOT_CONFIGURED: Configuring = { adapterType: 'external', adapterConfig: null, runtimeConfig: null }

/** Which of the settings that decide what is run this would change. */
export function configuringIn(profile: Partial<AgentProfile>, known: Configuring | undefined): string[] {
  const { adapterType, adapterConfig, runtimeConfig } = known ?? NOT_CONFIGURED
  // Compared with the masked values: a caller who may not see a secret must not learn whether a guess is right.
  const now: Configuring = { adapterType, adapterConfig: maskedConfig(adapterConfig, true), runtimeConfig }
  return (Object.keys(now) as (keyof Configuring)[]).filter(
    (field) => profile[field] !== undefined && !isSame(profile[field], now[field]),
  )
}

/** The profile without them. */
export const withoutConfiguring = ({
  adapterType: _type,
  adapterConfig: _config,
  runtimeConfig: _runtime,
  ...rest
}: Partial<AgentProfile>): Partial<AgentProfile> => rest
