import { type Refusal, refuse, refuseField } from './errors.ts'
import type { AgentProfile, AgentRecord } from './records.ts'

/** Settings of adapters, as they are shown and as they come back. */

type Config = Record<string, unknown>

const MASKED = '********'

/** What children get in their environment, and endpoints in their headers, may be secret. */
const MAY_BE_SECRET = ['env', 'headers'] as const

/** All values of these together: to look for them in everything a run leaves takes memory and time. */
const MOST_SECRET_BYTES = 64 * 1024

/** That it is set is shown, what it is set to is not. Of a kind that is not known here, nobody can tell what is secret. */
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
 * Settings that may change while a mask stands for what it hid. Whatever else is changed may decide who gets to see the value:
 * then it must be said again, by somebody who knows it.
 */
const FREE = new Set([
  ...['promptTemplate', 'timeoutSec', 'graceSec', 'heartbeatTimeoutSec', 'cleanup'],
  ...['model', 'maxTurnsPerRun', 'maxBudgetUsd', 'headers'],
])

/** What was shown masked and comes back so is what it was. */
export function unmasked(
  profile: Partial<AgentProfile>,
  known: Pick<AgentRecord, 'adapterType' | 'adapterConfig'> | undefined,
): { ok: true; profile: Partial<AgentProfile> } | Refusal {
  if (profile.adapterConfig == null) return { ok: true, profile }
  const given = profile.adapterConfig as Config
  const before = (known?.adapterConfig ?? {}) as Config
  const masks = masksIn(given)
  if (masks.length === 0) return { ok: true, profile }
  // A mask must not become the value: whoever copied it from another agent would find out by a failed login.
  const empty = masks.find((path) => at(before, path) === undefined)
  if (empty)
    return refuseField(
      'VALIDATION_FAILED',
      `adapterConfig.${empty.join('.')}`,
      'is masked, and there is no value it could stand for',
    )
  const adapterConfig = filledIn(given, before)
  const changed = changesIn(adapterConfig, before)
  if (profile.adapterType !== undefined && profile.adapterType !== known?.adapterType)
    changed.unshift('adapterType')
  if (changed.length > 0) return sayAgain(masks, changed)
  return { ok: true, profile: { ...profile, adapterConfig } }
}

function sayAgain(masks: string[][], changed: string[]): Refusal {
  const message = `is masked, and ${changed.join(', ')} changed: say it again`
  const errors = masks.map((path) => ({ field: `adapterConfig.${path.join('.')}`, message }))
  const fields = errors.map(({ field }) => field).join(', ')
  return refuse(
    'VALIDATION_FAILED',
    `Say it again: ${fields}. A mask stands for the old value only while ${changed.join(', ')} stays as it was.`,
    { errors },
  )
}

/** Where masks stand: whole settings, and single variables and headers. */
function masksIn(config: Config): string[][] {
  return Object.entries(config).flatMap(([field, value]) => {
    if (value === MASKED) return [[field]]
    if (!isRecord(value) || !(MAY_BE_SECRET as readonly string[]).includes(field)) return []
    return Object.keys(value)
      .filter((name) => value[name] === MASKED)
      .map((name) => [field, name])
  })
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

/** Which settings that matter are others than before. */
const changesIn = (config: Config, before: Config): string[] =>
  [...new Set([...Object.keys(config), ...Object.keys(before)])].filter(
    (field) => !FREE.has(field) && !isSame(own(config, field), own(before, field)),
  )

/** Whether two JSON values are the same. Not by recursion: values may be nested very deep. */
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

/** What is wrong with the size of what must be kept secret; null when nothing is. */
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
  return `env and headers have ${bytes} bytes in all; ${MOST_SECRET_BYTES} are allowed. Put larger things into files.`
}

type Configuring = Pick<AgentProfile, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>
const UNTOLD: Configuring = { adapterType: 'external', adapterConfig: null, runtimeConfig: null }

/** Which of the settings that decide what is run this would change. */
export function configuringIn(profile: Partial<AgentProfile>, known: Configuring | undefined): string[] {
  const { adapterType, adapterConfig, runtimeConfig } = known ?? UNTOLD
  // Compared with what is shown: whoever may not see a secret must not find out either whether he guessed it.
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
