import {
  bigint,
  boolean,
  decimal,
  instant,
  int,
  ints,
  json,
  orNull,
  type RecordOf,
  smallint,
  text,
  texts,
  uuid,
} from '../../pure/fields.ts'
import type { TaskState } from '../../pure/states.ts'
import { storedConfig } from './rules/stored-config.ts'
import type { GateReason, MissionPhase } from './states.ts'

export const MISSION_FIELDS = {
  id: bigint('mission_id'),
  uuid: uuid(),
  /** As the person wrote it; it never changes. */
  goal: text(),
  title: text(),
  description: orNull(text()),
  tags: texts(),
  /** Its tasks inherit it. */
  priority: smallint(),
  config: json({ parse: storedConfig }),
  /** The project its tasks belong to; 0: none. */
  projectId: int(),
  phase: text<MissionPhase>(),
  closedBy: texts<readonly GateReason[]>(),
  /** How long its gate was closed before, and since when it is. */
  closedMs: bigint(),
  closedAt: orNull(instant()),
  /** Before this time it does not begin. */
  startAt: orNull(instant()),
  createdBy: text(),
  version: int(),
  createdAt: instant(),
  updatedAt: instant(),
  startedAt: orNull(instant()),
  completedAt: orNull(instant()),
  /** When time moves it on: its start. */
  dueAt: orNull(instant()),
  /** Why it failed or was cancelled. */
  error: orNull(text()),
  /** What it had spent at its last cost_snapshot; null: there was none. */
  snapshot: orNull(json<Pick<MissionCounts, 'usd' | 'tokens'>>()),
  /** When a retry was asked for that upkeep has not finished: what had failed by then is to be done again. */
  retryAt: orNull(instant()),
  /** The mission that must have ended before it begins. */
  afterId: orNull(bigint('after_mission')),
  /** Slugs of all contractors that were made for it. */
  contractors: texts(),
  /** The versions that a person rejected. */
  rejected: ints('rejected_versions'),
  /** How many reports were written about it and its tasks. */
  reportCount: int(),
  /** It has ended, and nobody has seen that yet. */
  unseen: boolean(),
}

/** A mission: a goal, the plan that leads to it, and how far it has come. */
export interface MissionRecord extends RecordOf<typeof MISSION_FIELDS> {
  /** The slug of its project. */
  readonly project: string | null
  /** The outside id of the mission that must have ended before. */
  readonly after: string | null
  /** The newest plan, or again the approved one after a newer one was rejected; null before there is one. */
  plan: PlanVersion | null
  /** The plan that its tasks follow; null before the first approval. */
  approved: { version: number; digest: string } | null
  counts: MissionCounts
}

export const PLAN_FIELDS = {
  version: int(),
  digest: text(),
  taskCount: int(),
  strategy: orNull(text()),
  estimatedTokens: bigint(),
  /** Null: the price of a model is unknown. */
  estimatedUsd: orNull(decimal()),
  proposedBy: text(),
  at: instant('proposed_at'),
}

/** One version of a plan. Once it is approved, it never changes. */
export interface PlanVersion extends Readonly<RecordOf<typeof PLAN_FIELDS>> {
  /** The plan as JSON text; null in a record that was read without it. */
  readonly body: string | null
}

export const COUNT_FIELDS = {
  /** Of the failed ones, those that the plan calls optional. */
  failedOptional: int(),
  /** All that agents added while they worked, whatever has become of them. */
  children: int(),
  tokens: bigint(),
  /** Exact dollars, of the runs whose cost is known. */
  usd: decimal(),
  /** What is not paid by use, as with a subscription. */
  notionalUsd: decimal(),
  /** Runs that have ended, and those of them whose cost is unknown. */
  runs: int(),
  unknownRuns: int(),
}

/** Work tasks by state. Verifications, planning and reports are not counted. */
export interface MissionCounts extends Readonly<RecordOf<typeof COUNT_FIELDS>> {
  readonly byState: Readonly<Partial<Record<TaskState, number>>>
}

export const NO_COUNTS: MissionCounts = {
  ...{
    byState: {},
    failedOptional: 0,
    children: 0,
    tokens: 0,
    usd: '0',
    notionalUsd: '0',
    runs: 0,
    unknownRuns: 0,
  },
}

/** The accepted work of a task of a mission, and where it was done; without a repository, that is not known any more. */
export interface MissionWork {
  taskUuid: string
  number: number | null
  title: string
  generation: number
  agent: string | null
  commit: string
  repository: string | null
  branch: string | null
  baseCommit: string | null
  node: string | null
}
