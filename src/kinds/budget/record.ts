import {
  bigint,
  boolean,
  decimal,
  instant,
  int,
  orNull,
  type RecordOf,
  text,
  texts,
  uuid,
} from '../../pure/fields.ts'

/**
 * What may be used at most, in a scope and for a period. Scopes are nested: what a run uses counts in the budgets of its task, its
 * mission, its project, its agent and its workspace.
 */

export const SCOPES = ['workspace', 'project', 'mission', 'task', 'agent'] as const
export type Scope = (typeof SCOPES)[number]
/** Limits of missions and tasks are said with them, and their budgets follow. */
export const isOfWork = ({ scope }: { scope: Scope }): boolean => scope === 'mission' || scope === 'task'

export const PERIODS = ['none', 'day', 'week', 'month'] as const
export type Period = (typeof PERIODS)[number]
/** What happens when a model without a price works under a budget in dollars. */
export const UNKNOWN_PRICE = ['ask', 'stop', 'allow'] as const
export type OnUnknownPrice = (typeof UNKNOWN_PRICE)[number]

export const BUDGET_FIELDS = {
  budgetId: uuid(),
  scope: text<Scope>(),
  /** What it is about, inside: `mission:17`, `agent:dev-1`, `workspace`. */
  scopeKey: text(),
  /** The same, outside: the id of a mission or a task, the slug of an agent or a project; null: the workspace. */
  scopeId: orNull(text()),
  period: text<Period>(),
  periodStart: instant(),
  /** Null: it has no period. */
  periodEnd: orNull(instant()),
  /** Null: no limit of that kind. */
  maxUsd: orNull(decimal()),
  maxTokens: orNull(bigint()),
  /** Whether it counts what is not paid by use, as by a subscription. */
  countNotional: boolean(),
  onUnknownPrice: text<OnUnknownPrice>(),
  /** Models without a price that a person has allowed. */
  allowedModels: texts(),
  /** A model without a price that has worked under it, and that nobody has allowed. */
  unknownModel: orNull(text()),
  consumedUsd: decimal(),
  consumedTokens: bigint(),
  reservedUsd: decimal(),
  reservedTokens: bigint(),
  /** Hands out work only at the pace at which it lasts until the end of its period. */
  isPaced: boolean(),
  warnedAt: orNull(instant()),
  exceededAt: orNull(instant()),
  /** Since when a person has stopped all spending in it. */
  stoppedAt: orNull(instant()),
  stoppedBy: orNull(text()),
  /** When its counters are compared with the ledger next. */
  countDueAt: orNull(instant()),
  version: int(),
  createdBy: text(),
  createdAt: instant(),
  updatedAt: instant(),
}

export interface BudgetRecord extends RecordOf<typeof BUDGET_FIELDS> {}

/** In which budgets something counts. */
export interface Covered {
  agent: string
  taskId: number | null
  missionId: number | null
  /** 0: none. */
  projectId: number
}

export const scopeKeysOf = ({ agent, taskId, missionId, projectId }: Covered): string[] => [
  'workspace',
  `agent:${agent}`,
  ...(projectId === 0 ? [] : [`project:${projectId}`]),
  ...(missionId === null ? [] : [`mission:${missionId}`]),
  ...(taskId === null ? [] : [`task:${taskId}`]),
]
