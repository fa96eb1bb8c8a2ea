import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { markdown, type Rows } from './text-table.ts'

const DOCUMENT = 'docs/benchmarks.md'
const GIB = 2 ** 30

/** The machine, as far as it explains figures. */
export const machine = () =>
  `${cpus().length} cores, ${Math.round(totalmem() / GIB)} GiB, Node ${process.versions.node}, ${process.platform}`

export type Tables = Record<string, Rows | null>

/**
 * Replaces the tables that this run has measured, between `<!-- figures: NAME -->` and `<!-- end -->`, and leaves the others.
 * `how` says below each where it comes from.
 */
export function withFigures(text: string, tables: Tables, how: string): string {
  let written = text
  for (const [name, rows] of Object.entries(tables)) {
    if (!rows) continue
    const place = new RegExp(`(<!-- figures: ${name} -->\n)[^]*?(<!-- end -->)`)
    if (!place.test(written)) throw new Error(`${DOCUMENT} has no place for ${name}.`)
    written = written.replace(place, (_, begin, end) => `${begin}${markdown(rows)}\n\n${how}\n${end}`)
  }
  return written
}

/** The tables that a document has a place for. */
export const placesIn = (text: string) =>
  [...text.matchAll(/<!-- figures: (\S+) -->/g)].map(([, name]) => name)

export function writeFigures(tables: Tables, how: string): void {
  writeFileSync(DOCUMENT, withFigures(readFileSync(DOCUMENT, 'utf8'), tables, how))
}
