/** Tables as text for spreadsheets. */

type Cell = string | number | null

const NUMBER = /^-?\d+(\.\d+)?$/
/** A spreadsheet takes text that begins like this for a formula, which could call programs or send data. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

function cell(value: Cell): string {
  if (value === null) return ''
  const text = String(value)
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n;\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** With a line of names first, as RFC 4180 has it. */
export function csvOf<T extends object>(columns: readonly (keyof T & string)[], rows: readonly T[]): string {
  const lines = rows.map((row) => columns.map((name) => cell((row[name] ?? null) as Cell)).join(','))
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`
}
