import type { Card } from '../../live/card.ts'
import { columnNamed, type ListColumnName, type Names, NUMBER_WORDS, numberText } from './list-values.ts'

/** Rows of the list as a file for spreadsheets. Pure. */

/** What a spreadsheet would take for a formula is text: tasks are written by agents, too. */
const FORMULA = /^[=+\-@\t\r]/

function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  // Amounts are numbers, also as text.
  const safe = FORMULA.test(value) && !/^-?\d+(\.\d+)?$/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) || /^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function csvOf(cards: readonly Card[], columns: readonly ListColumnName[], names: Names): string {
  const head = [NUMBER_WORDS, ...columns.map((name) => HEADS[name] ?? columnNamed(name).words)]
  const rows = cards.map((card) => [
    numberText(card),
    ...columns.map((name) => columnNamed(name).text(card, names)),
  ])
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** With their units, which a table shows in its cells. */
const HEADS: Partial<Record<ListColumnName, string>> = { cost: 'Cost (USD)', worked: 'Worked (s)' }
