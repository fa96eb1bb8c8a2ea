import type { TaskState } from '../../pure/states.ts'
import type { MissionConfig } from './shapes/missions.ts'
import type { GateReason, MissionPhase } from './states.ts'

/** A mission: a goal, the plan that leads to it, and how far it has come. */
export interface MissionRecord {
  readonly id: number
  readonly uuid: string
  /** As the person wrote it; it never changes. */
  readonly goal: string
  title: string
  description: string | null
  tags: readonly string[]
  /** Its tasks inherit it. */
  priority: number
  config: MissionConfig
  /** The project its tasks belong to; 0: none. */
  readonly projectId: number
  /** Its slug. */
  readonly project: string | null
  phase: MissionPhase
  closedBy: readonly GateReason[]
  /** How long its gate was closed before, and since when it is. */
  closedMs: number
  closedAt: number | null
  /** The newest plan, or again the approved one after a newer one was rejected; null before there is one. */
  plan: PlanVersion | null
  /** The plan that its tasks follow; null before the first approval. */
  approved: { version: number; digest: string } | null
  /** The versions that a person rejected. */
  rejected: readonly number[]
  /** Before this time it does not begin. */
  startAt: number | null
  /** The mission that must have ended before it begins, by number and by outside id. */
  readonly afterId: number | null
  readonly after: string | null
  counts: MissionCounts
  /** Slugs of all contractors that were made for it. */
  contractors: readonly string[]
  /** How many reports were written about it and its tasks. */
  reportCount: number
  /** What it had spent at its last cost_snapshot; null: there was none. */
  snapshot: Pick<MissionCounts, 'usd' | 'tokens'> | null
  readonly createdBy: string
  version: number
  readonly createdAt: number
  updatedAt: number
  startedAt: number | null
  completedAt: number | null
  /** Why it failed or was cancelled. */
  error: string | null
  /** When a retry was asked for that upkeep has not finished: what had failed by then is to be done again. */
  retryAt: number | null
  /** When time moves it on: its start. */
  dueAt: number | null
}

/** One version of a plan. Once it is approved, it never changes. */
export interface PlanVersion {
  readonly version: number
  readonly digest: string
  readonly taskCount: number
  readonly strategy: string | null
  readonly estimatedTokens: number
  /** Null: the price of a model is unknown. */
  readonly estimatedUsd: string | null
  /** The plan as JSON text; null in a record that was read without it. */
  readonly body: string | null
  readonly proposedBy: string
  readonly at: number
}

/** Work tasks by state. Verifications, planning and reports are not counted. */
export interface MissionCounts {
  readonly byState: Readonly<Partial<Record<TaskState, number>>>
  /** Of the failed ones, those that the plan calls optional. */
  readonly failedOptional: number
  /** All that agents added while they worked, whatever has become of them. */
  readonly children: number
  readonly tokens: number
  /** Exact dollars, of the runs whose cost is known. */
  readonly usd: string
  /** Runs that have ended, and those of them whose cost is unknown. */
  readonly runs: number
  readonly unknownRuns: number
}

export const NO_COUNTS: MissionCounts = {
  ...{ byState: {}, failedOptional: 0, children: 0, tokens: 0, usd: '0', runs: 0, unknownRuns: 0 },
}
