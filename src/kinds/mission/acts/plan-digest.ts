import { createHash } from 'node:crypto'
import { canonicalPlan } from '../plan/canonical.ts'
import type { MissionPlan } from '../plan/mission-plan.ts'
import type { Plan } from '../plan/plan.ts'

/** The sha-256 of a plan in hex: the same for plans that mean the same, whatever their spelling and order of keys. */
export const planDigest = (plan: Plan | MissionPlan): string =>
  createHash('sha256').update(canonicalPlan(plan)).digest('hex')
