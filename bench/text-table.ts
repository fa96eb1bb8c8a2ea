import type { Spread } from './rounds.ts'

/** Rows of cells, the first row being the heads. */
export type Rows = readonly (readonly string[])[]

export const whole = (value: number) => Math.round(value).toLocaleString('en-US')

/** The median, and the range it lies in. */
export const ranged = ({ median, min, max }: Spread, worded: (value: number) => string = whole) =>
  `${worded(median)} (${worded(min)}–${worded(max)})`

/** For a terminal. */
export function aligned(rows: Rows): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n')
}

/** For a document. */
export function markdown([heads, ...rows]: Rows): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads!), `|${'---|'.repeat(heads!.length)}`, ...rows.map(line)].join('\n')
}
