import { z } from 'zod'
import { Dollars } from '../../../pure/budget.ts'
import type { Timed } from '../../usage/rules/time.ts'
import { ModelTiersShape } from './tiers.ts'
import { WatchSettings } from './watchdog.ts'

/** When an agent that Baton runs is woken (Paperclip 8.4). Missing settings get their defaults. */

const Heartbeat = z.strictObject({
  enabled: z.boolean().default(true).describe('When false, nothing wakes the agent'),
  intervalSec: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .nullable()
    .default(null)
    .describe('Wakes the agent at this interval, with or without work; null: no timer'),
  wakeOnAssignment: z
    .boolean()
    .default(true)
    .describe('The coordinator assigns work to it; otherwise it claims work when something else wakes it'),
  wakeOnOnDemand: z.boolean().default(true),
  wakeOnAutomation: z.boolean().default(true),
  cooldownSec: z
    .number()
    .min(0)
    .max(86_400)
    .default(0)
    .describe('The shortest time between the starts of two runs; does not apply to assigned work'),
  maxWakeupsPerTaskPerHour: z
    .int()
    .min(1)
    .max(100_000)
    .default(60)
    .describe('How often per hour it can be woken for the same task, or by programs without a task'),
})

/** How Baton runs the agent, beside the settings of its adapter. */
export const RuntimeConfig = z.looseObject({
  heartbeat: Heartbeat.prefault({}),
  watch: WatchSettings.prefault({}),
  fallbackModels: z
    .array(z.string().min(1).max(200))
    .max(20)
    .default([])
    .describe('Stand in for its model, in turn, after a rate limit or a result that was not good enough'),
  modelTiers: ModelTiersShape.optional().describe(
    'The models for small, medium and large tasks that name none; where none is named, that of the agent. They replace those of the workspace, also without any',
  ),
  usdPerHour: Dollars.optional().describe(
    'What an hour of its runs costs beside their tokens, as of the machine that they work on; without it their time costs nothing',
  ),
  node: z.string().min(1).max(200).optional().describe('Only the node with this name runs it'),
  fresh: z
    .boolean()
    .default(false)
    .describe('Each of its attempts at a task starts over: from the base, in a new session'),
  reservedOnly: z.boolean().default(false).describe('It gets only tasks that name it as their agent'),
})

export type WakeupPolicy = z.output<typeof Heartbeat>

type Settings = z.output<typeof RuntimeConfig>

/** Settings are replaced, never changed: those of an agent in memory are parsed once. */
const parsedSettings = new WeakMap<object, Settings>()
const DEFAULTS = RuntimeConfig.parse({})

/** Settings are checked when they are stored; older ones that are not valid count as missing. */
function settingsOf(runtimeConfig: unknown): Settings {
  if (typeof runtimeConfig !== 'object' || runtimeConfig === null) return DEFAULTS
  const known = parsedSettings.get(runtimeConfig)
  if (known) return known
  const parsed = RuntimeConfig.safeParse(runtimeConfig)
  const settings = parsed.success ? parsed.data : DEFAULTS
  parsedSettings.set(runtimeConfig, settings)
  return settings
}

interface Kind {
  adapterType: string
  kind: string
  runtimeConfig: unknown
}

/** These agents only get tasks reserved for them: Baton's own, contractors, and those configured so. */
export const isReservedOnly = ({ adapterType, kind, runtimeConfig }: Kind): boolean =>
  adapterType === 'command' || kind === 'contractor' || settingsOf(runtimeConfig).reservedOnly

/** Whether each of its attempts starts over. */
export const isFreshAgent = (runtimeConfig: unknown) => settingsOf(runtimeConfig).fresh
export const policyOf = (runtimeConfig: unknown): WakeupPolicy => settingsOf(runtimeConfig).heartbeat
export const fallbackModelsOf = (runtimeConfig: unknown) => settingsOf(runtimeConfig).fallbackModels
export const modelTiersOf = (runtimeConfig: unknown) => settingsOf(runtimeConfig).modelTiers ?? null
/** What the time of its runs costs. */
export const timeOf = ({ runtimeConfig }: { runtimeConfig: unknown }): Timed => ({
  usdPerHour: settingsOf(runtimeConfig).usdPerHour ?? null,
})
/** The name of the node that alone runs it; null: any may. */
export const nodeIn = (runtimeConfig: unknown): string | null => settingsOf(runtimeConfig).node ?? null
export const watchSettingsOf = (runtimeConfig: unknown): WatchSettings => settingsOf(runtimeConfig).watch
