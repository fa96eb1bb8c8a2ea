import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { dollarText } from '../../pure/money.ts'
import { PERIODS, SCOPES } from './record.ts'

const event = eventsAbout(
  { entity: 'budget', namedIn: 'budgetId' },
  {
    budgetId: text,
    scope: z.enum(SCOPES),
    scopeId: text.nullable(),
    period: z.enum(PERIODS),
    percentUsed: z.number(),
    consumedUsd: text,
    maxUsd: text.nullable(),
    consumedTokens: z.int(),
    maxTokens: z.int().nullable(),
  },
)

interface Scoped {
  scope: (typeof SCOPES)[number]
  scopeId: string | null
}

/** Agents and projects have names that people know; the page adds those of missions and tasks. */
const ofWhat = ({ scope, scopeId }: Scoped) =>
  scope === 'workspace'
    ? 'the workspace'
    : scope === 'agent' || scope === 'project'
      ? `the ${scope} ${scopeId}`
      : `a ${scope}`

interface Limits {
  maxUsd: string | null
  maxTokens: number | null
}
const limitWords = ({ maxUsd, maxTokens }: Limits) =>
  [
    ...(maxUsd === null ? [] : [dollarText(maxUsd)]),
    ...(maxTokens === null ? [] : [`${maxTokens} tokens`]),
  ].join(' and ') || 'no limit'

export const budgetEvents = {
  budget_changed: event.info(
    { change: z.enum(['created', 'changed', 'removed']), by: text },
    (budget) => `The budget of ${ofWhat(budget)} was ${budget.change}: ${limitWords(budget)}.`,
  ),
  budget_warning: event.warn(
    {},
    (budget) => `The budget of ${ofWhat(budget)} is ${budget.percentUsed} % used.`,
  ),
  budget_exceeded: event.error(
    { reason: z.enum(['spent', 'unknown_price']), model: text.nullable() },
    (budget) =>
      budget.reason === 'spent'
        ? `The budget of ${ofWhat(budget)} is spent.`
        : `${budget.model} has no price, so the budget of ${ofWhat(budget)} cannot count it.`,
  ),
  budget_increased: event.info(
    {
      oldUsd: text.nullable(),
      newUsd: text.nullable(),
      oldTokens: z.int().nullable(),
      newTokens: z.int().nullable(),
      by: text,
    },
    (budget) => `The budget of ${ofWhat(budget)} was raised to ${limitWords(budget)}.`,
  ),
  budget_moved: event.info(
    { toBudgetId: text, usd: text.nullable(), tokens: z.int().nullable(), by: text },
    (budget) => `A part of the budget of ${ofWhat(budget)} was moved to another budget.`,
  ),
  budget_stopped: event.warn(
    { by: text, reason: text.nullable() },
    (budget) => `All spending in ${ofWhat(budget)} was stopped.`,
  ),
  budget_released: event.info({ by: text }, (budget) => `Spending in ${ofWhat(budget)} is allowed again.`),
  budget_renewed: event.info({}, (budget) => `A new period of the budget of ${ofWhat(budget)} began.`),
  budget_recounted: event.warn(
    { countedUsd: text, countedTokens: z.int() },
    (budget) => `The budget of ${ofWhat(budget)} was counted again.`,
  ),
}

type BudgetEvents = typeof budgetEvents
declare module '../events.ts' {
  interface Catalogue extends BudgetEvents {}
}
