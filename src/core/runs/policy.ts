import { z } from 'zod'
import { WatchSettings } from './watchdog.ts'

/** When an agent that Baton runs is woken (Paperclip 8.4). What is not said has its default. */

const Heartbeat = z.strictObject({
  enabled: z.boolean().default(true).describe('Nothing wakes it when this is false'),
  intervalSec: z
    .int()
    .min(1)
    .max(30 * 86_400)
    .nullable()
    .default(null)
    .describe('Woken every so often, whether there is work or not; null: never by the clock'),
  wakeOnAssignment: z
    .boolean()
    .default(true)
    .describe('The coordinator gives it work; else it takes some when it is woken otherwise'),
  wakeOnOnDemand: z.boolean().default(true),
  wakeOnAutomation: z.boolean().default(true),
  cooldownSec: z
    .number()
    .min(0)
    .max(86_400)
    .default(0)
    .describe('Between the starts of two runs at least this long, work it was given apart'),
  maxWakeupsPerTaskPerHour: z
    .int()
    .min(1)
    .max(100_000)
    .default(60)
    .describe('For the same task, or by programs without one, it is not woken more often than this'),
})

/** How Baton sees to it, beside what its adapter is told. */
export const RuntimeConfig = z.looseObject({
  heartbeat: Heartbeat.prefault({}),
  watch: WatchSettings.prefault({}),
  node: z.string().min(1).max(200).optional().describe('Only the node of this name runs it'),
})

export type WakeupPolicy = z.output<typeof Heartbeat>

/** Settings were checked when they were stored; those from before there was anything to check count as not said. */
function settingsOf(runtimeConfig: unknown): z.output<typeof RuntimeConfig> {
  const parsed = RuntimeConfig.safeParse(runtimeConfig ?? {})
  return parsed.success ? parsed.data : RuntimeConfig.parse({})
}

export const policyOf = (runtimeConfig: unknown): WakeupPolicy => settingsOf(runtimeConfig).heartbeat
export const watchSettingsOf = (runtimeConfig: unknown): WatchSettings => settingsOf(runtimeConfig).watch
