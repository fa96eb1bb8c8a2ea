import { z } from 'zod'

/** What something may use at most. A limit that is not given is none. */

/** Exact dollars. */
export const Dollars = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/)
  .describe('Such as "2.50"')

/** What these fields were called. The old names are still read, in requests, plans and stored values; nothing is written with them. */
export const OLD_NAMES = { limitUsd: 'maxUsd', limitTokens: 'maxTokens' } as const

export const BudgetFields = z
  .strictObject({
    maxUsd: Dollars.optional(),
    maxTokens: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  })
  .meta({ oldNames: OLD_NAMES })

export type Budget = z.output<typeof BudgetFields>

/** The budget of a task, a mission or a routine. */
export const Budget = z.preprocess((given: z.input<typeof BudgetFields>, context) => {
  if (typeof given !== 'object' || given === null) return given
  const named = { ...given }
  const twice = underNewNames(named, OLD_NAMES)
  if (twice)
    context.issues.push({ code: 'custom', input: given, path: [twice.field], message: twice.message })
  return named
}, BudgetFields)

/** Gives the fields of an object their new names. Returns the field that has two values, one under each name; null: there is none. */
export function underNewNames(
  given: object,
  names: Readonly<Record<string, string>>,
): { field: string; message: string } | null {
  const values = given as Record<string, unknown>
  for (const [old, field] of Object.entries(names)) {
    if (!Object.hasOwn(values, old)) continue
    if (Object.hasOwn(values, field) && values[field] !== values[old])
      return { field, message: `is not what ${old} says, which is its old name; give one of them` }
    values[field] = values[old]
    delete values[old]
  }
  return null
}

/** A stored value with a budget, as it is read: old names may be in it. */
export function withStoredBudget<T extends { budget?: object | null | undefined } | null>(stored: T): T {
  if (stored?.budget) underNewNames(stored.budget, OLD_NAMES)
  return stored
}

/** The field that somebody means by a name that was never one: `costLimit` is `maxUsd`. Outside of a budget only names of limits are near. */
export function nearBudgetField(name: string, isInBudget: boolean): string | null {
  const said = name.toLowerCase()
  if (!isInBudget && !/max|limit|budget/.test(said)) return null
  const field = /token/.test(said)
    ? 'maxTokens'
    : /usd|cost|dollar|money|price|spen[dt]/.test(said)
      ? 'maxUsd'
      : null
  return field === null || isInBudget ? field : `budget.${field}`
}
