import { param } from '../../search-params.ts'

/** The parts of the address of the budgets. */

export const GROUPS = ['mission', 'project', 'agent', 'model', 'taskType', 'day'] as const
export type Group = (typeof GROUPS)[number]

export const PERIODS_BACK = ['24h', '7d', '30d', '90d'] as const
export type PeriodBack = (typeof PERIODS_BACK)[number]

export const BUDGETS_SEARCH = {
  /** How what was used is grouped. */
  by: param.oneOf(GROUPS),
  window: param.oneOf(PERIODS_BACK),
  /** Opens one budget beside the list. */
  budget: param.text,
}
