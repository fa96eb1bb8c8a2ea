import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { RESERVATION_FIELDS } from '../../usage/record.ts'
import { BUDGET_FIELDS } from '../record.ts'

/** Budgets, and what is reserved in them, as rows. */

export const reservationRows = plainRows('budget_reservations', RESERVATION_FIELDS, { keyWidth: 2 })
export const budgetRows = plainRows('budgets', BUDGET_FIELDS)
