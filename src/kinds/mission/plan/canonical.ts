import type { MissionPlan } from './mission-plan.ts'
import type { Plan } from './plan.ts'
import { planAsWritten } from './write.ts'

/** A JSON value as text that does not depend on the order of keys. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const fields = Object.entries(value)
    .filter(([, content]) => content !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([key, content]) => `${JSON.stringify(key)}:${canonicalJson(content)}`).join(',')}}`
}

/**
 * The same text for plans that mean the same: neither spelling, nor the order of keys, nor defaults that are written out
 * change it. Its sha-256 is the plan's digest.
 */
export const canonicalPlan = (plan: Plan | MissionPlan): string => canonicalJson(planAsWritten(plan))
