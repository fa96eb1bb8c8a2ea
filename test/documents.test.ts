import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const lines = readFileSync(join(root, 'docs/documents.md'), 'utf8').split('\n')

const DOCUMENTS = ['Mosaic', 'Automatos', 'ADE', 'Coditect', 'Paperclip']
const HEADER = ['§', 'Feature', 'Where', 'Test']

interface Row {
  line: number
  document: string
  cells: string[]
}

/** Cells without their padding; a bar inside a cell would show as one cell too many. */
const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const isTable = (line: string | undefined) => line?.startsWith('|') ?? false

function rowsOf(): Row[] {
  const rows: Row[] = []
  let document = ''
  for (const [index, line] of lines.entries()) {
    document = /^## (.+)$/.exec(line)?.[1] ?? document
    const isHead = isTable(line) && !isTable(lines[index - 1])
    const isRule = /^[|-]+$/.test(line)
    if (isTable(line) && !isHead && !isRule) rows.push({ line: index + 1, document, cells: cellsOf(line) })
  }
  return rows
}

const rows = rowsOf()
const at = ({ line, cells }: Row) => `line ${line}, ${cells[1]}`
/** Those that break the claim, by their place in the file: an empty list says all is well. */
const breaking = (broken: (row: Row) => boolean) => rows.filter(broken).map(at)

const NOT_FOLLOWED = /^not followed: .{10,}$/
const FILES = /^`[^`]+`(, `[^`]+`)*$/
const SHOWN_BY = /^`((?:test|bench)\/[^`]+\.ts)`(?: “(.+)”)?$/

type Standing = 'there' | 'not yet' | 'not followed' | 'unclear'

function standing({ cells: [, , where, shownBy] }: Row): Standing {
  if (NOT_FOLLOWED.test(where!)) return shownBy === '–' ? 'not followed' : 'unclear'
  if (where === 'not yet') return shownBy === '–' ? 'not yet' : 'unclear'
  if (!FILES.test(where!)) return 'unclear'
  if (shownBy === 'not yet') return 'not yet'
  return SHOWN_BY.test(shownBy!) ? 'there' : 'unclear'
}

/** A file with those of its own folder that it imports, and theirs: scenarios may live beside their test. */
function textOf(file: string, seen = new Set<string>()): string {
  if (seen.has(file)) return ''
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imports = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => resolve(dirname(file), path!))
  const own = imports.filter((path) => path.startsWith(join(root, 'test')) && existsSync(path))
  return [text, ...own.map((path) => textOf(path, seen))].join('\n')
}

describe('the map of the documents', () => {
  test('has tables of four columns, each headed alike', () => {
    const heads = lines.filter((line, index) => isTable(line) && !isTable(lines[index - 1]))
    expect(heads.length).toBeGreaterThan(0)
    for (const head of heads) expect(cellsOf(head)).toEqual(HEADER)
    const rules = lines.filter((_, index) => heads.includes(lines[index - 1]!))
    expect(new Set(rules)).toEqual(new Set(['|---|---|---|---|']))
    expect(breaking(({ cells }) => cells.length !== HEADER.length || cells.includes(''))).toEqual([])
  })

  test('has rows for each of the five documents, and for no other', () => {
    expect([...new Set(rows.map(({ document }) => document))]).toEqual(DOCUMENTS)
  })

  test('says of every feature where it is and what shows it, or not yet, or why not', () => {
    expect(breaking((row) => standing(row) === 'unclear')).toEqual([])
  })

  test('names each feature of a section once', () => {
    const names = rows.map(({ document, cells }) => `${document} ${cells[0]} ${cells[1]}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('names only files that are there', () => {
    const named = [...lines.join('\n').matchAll(/`((?:\.?[\w-]+\/)+[\w.-]+)`/g)].map(([, file]) => file!)
    const quoted = rows.flatMap(
      ({ cells: [, , where, shownBy] }) => `${where} ${shownBy}`.match(/`[^`]+`/g) ?? [],
    )
    expect(quoted.filter((file) => !named.includes(file.slice(1, -1)))).toEqual([])
    expect([...new Set(named)].filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  test('names only tests that are in their file', () => {
    const texts = new Map<string, string>()
    const missing = breaking(({ cells }) => {
      const [, file, name] = SHOWN_BY.exec(cells[3]!) ?? []
      if (file === undefined || name === undefined) return false
      const path = join(root, file)
      if (!texts.has(path)) texts.set(path, existsSync(path) ? textOf(path) : '')
      return !texts.get(path)!.includes(name)
    })
    expect(missing).toEqual([])
  })
})
