import {
  bigint,
  boolean,
  decimal,
  instant,
  int,
  json,
  orNull,
  type RecordOf,
  text,
  uuid,
} from '../../pure/fields.ts'
import type { Purpose } from '../task/record.ts'

/**
 * The ledger: what runs, and claims of agents that Baton does not run, have used. A source is one run or one claim. What it reports are
 * totals; each row of the ledger is the difference between a report and what was booked before.
 */

/**
 * How a cost is known. `reported`: its program tells it. `priced`: its tokens at list prices, or at those of the workspace. `notional`: one
 * of both, and nobody pays it, because a subscription covers it. `unknown`: there is none.
 */
export const COST_BASES = ['reported', 'priced', 'notional', 'unknown'] as const
export type CostBasis = (typeof COST_BASES)[number]

export interface Counts {
  /** Uncached input, with what was written to the cache. */
  inputTokens: number
  cachedInputTokens: number
  /** The parts of the input that were written to the cache, by how long it keeps them. */
  cacheWrite5mTokens: number
  cacheWrite1hTokens: number
  /** With reasoning. */
  outputTokens: number
  /** The part of the output that was reasoning; null: not told. */
  reasoningTokens: number | null
}

/**
 * The name under which the time of a run is booked, beside its models: from its start to its end, in which its agent works. What waits
 * for an agent is no run yet.
 */
export const RUN_TIME = 'run time'

/** What one model has used so far, or under `RUN_TIME` how long the run has worked. */
export interface ModelTotals extends Counts {
  workMs?: number | undefined
  /** Null: unknown. */
  costUsd: string | null
  basis: CostBasis
}

/** A run (generation 0), or the claim of a task under this generation. */
export interface SourceId {
  sourceId: string
  generation: number
}

export const sourceName = ({ sourceId, generation }: SourceId) => `${sourceId}/${generation}`

/** To what it is booked. */
export interface BookedTo {
  agent: string
  session: string | null
  /** Internal ids. */
  taskId: number | null
  missionId: number | null
  /** 0: none. */
  projectId: number
  taskType: string | null
  operation: Purpose
  /** Simulated money: it counts in the budgets of its own mission and task, and in no total. */
  isSimulated: boolean
}

/** What is booked of a source. */
export const SOURCE_FIELDS = {
  sourceId: uuid(),
  generation: int(),
  agent: text(),
  session: orNull(text()),
  taskId: orNull(bigint()),
  missionId: orNull(bigint()),
  projectId: int(),
  taskType: orNull(text()),
  operation: text<Purpose>(),
  isSimulated: boolean(),
  /** The number of the last report that was booked; 0: of none with a number. */
  number: int(),
  /** How many rows it has: the number of the last. */
  rows: int(),
  rowAt: orNull(instant()),
  /** By model. */
  booked: json<Readonly<Record<string, ModelTotals>>>(),
  startedAt: instant(),
  updatedAt: instant(),
  /** When the log was told last. */
  toldAt: orNull(instant()),
}

export interface UsageSource extends RecordOf<typeof SOURCE_FIELDS> {}

export interface UsageRow extends SourceId, ModelTotals {
  model: string
  number: number
  at: number
}

/** What a claim, or a run without a task, may still use of the budgets that it counts in. */
export const RESERVATION_FIELDS = {
  holderId: uuid(),
  generation: int(),
  budgetIds: json<readonly string[]>(),
  /** What is left of it. */
  tokens: bigint(),
  usd: decimal(),
  /** How much is taken at a time when it is used up. */
  stepTokens: bigint(),
  stepUsd: decimal(),
  reservedAt: instant(),
}

export interface Reservation extends RecordOf<typeof RESERVATION_FIELDS> {}
