import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { titlesOf } from '../support/test-titles.ts'

const root = resolve(import.meta.dirname, '../..')
const lines = readFileSync(join(root, 'docs/internal/documents.md'), 'utf8').split('\n')

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
/** The rows that break the claim, by their line in the file: an empty list means success. */
const breaking = (broken: (row: Row) => boolean) => rows.filter(broken).map(at)

const NOT_FOLLOWED = /^not followed: .{10,}$/
const FILES = /^`[^`]+`(, `[^`]+`)*$/
/** A test by its file and its title, or a measurement. */
const SHOWN_BY = /^(?:`((?:web\/)?test\/[^`]+\.test\.ts)` “(.+)”|`bench\/[^`]+\.ts`)$/

type Standing = 'there' | 'not yet' | 'not followed' | 'unclear'

function standing({ cells: [, , where, shownBy] }: Row): Standing {
  if (NOT_FOLLOWED.test(where!)) return shownBy === '–' ? 'not followed' : 'unclear'
  if (where === 'not yet') return shownBy === '–' ? 'not yet' : 'unclear'
  if (!FILES.test(where!)) return 'unclear'
  if (shownBy === 'not yet') return 'not yet'
  return SHOWN_BY.test(shownBy!) ? 'there' : 'unclear'
}

/** A file and the test files it imports, recursively: a suite may live there, and its scenarios. */
function sourcesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imports = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => resolve(dirname(file), path!))
  const own = imports.filter((path) => path.startsWith(join(root, 'test')) && existsSync(path))
  return [text, ...own.flatMap((path) => sourcesOf(path, seen))]
}

/** Whether a test of that title is run by that file. */
function isTestOf(file: string): (title: string) => boolean {
  const sources = existsSync(file) ? sourcesOf(file) : []
  const titles = new Set(sources.flatMap(titlesOf))
  // A title of `%s` alone is searched for where its values are: as a key, or first in a list.
  const isRowName = (title: string) => {
    const text = `'${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}'`
    const given = new RegExp(`\\[\\s*${text},|${text}:\\s`)
    return titles.has('%s') && sources.some((source) => given.test(source))
  }
  return (title) => titles.has(title) || isRowName(title)
}

describe('the map of the documents', () => {
  test('has tables of four columns with the same header', () => {
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

  test('says for every feature where it is and which test shows it, or not yet, or why not', () => {
    expect(breaking((row) => standing(row) === 'unclear')).toEqual([])
  })

  test('names each feature of a section once', () => {
    const names = rows.map(({ document, cells }) => `${document} ${cells[0]} ${cells[1]}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('names only files that exist', () => {
    const named = [...lines.join('\n').matchAll(/`((?:\.?[\w-]+\/)+[\w.-]+)`/g)].map(([, file]) => file!)
    const quoted = rows.flatMap(
      ({ cells: [, , where, shownBy] }) => `${where} ${shownBy}`.match(/`[^`]+`/g) ?? [],
    )
    expect(quoted.filter((file) => !named.includes(file.slice(1, -1)))).toEqual([])
    expect([...new Set(named)].filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  test('names only tests that are in their file, by their titles', () => {
    const known = new Map<string, (title: string) => boolean>()
    const missing = breaking(({ cells }) => {
      const [, file, title] = SHOWN_BY.exec(cells[3]!) ?? []
      if (file === undefined) return false
      if (!known.has(file)) known.set(file, isTestOf(join(root, file)))
      return !known.get(file)!(title!)
    })
    expect(missing).toEqual([])
  })
})

describe('the titles of tests in a source', () => {
  test.each([
    [`test('a claim', () => {})`, ['a claim']],
    [`test("it's \\"so\\"", async () => {})`, [`it's "so"`]],
    [`test(\`every one of \${SEEDS} runs\`, { timeout: 1 }, f)`, [`every one of \${SEEDS} runs`]],
    [`test.each([['a', '(']])('%s opens', f)`, ['%s opens']],
    [`test.each<[string]>(ROWS)('%s', f)`, ['%s']],
    [`test.skipIf(x(1))('only here', f)`, ['only here']],
    [`const linuxTest = test.skipIf(p)\nlinuxTest(\n  'on Linux', f)`, ['on Linux']],
    [
      `test('outer', () => {\n  expect(latest('x')).toBe(/'/.test(y))\n})\ntest('next', f)`,
      ['outer', 'next'],
    ],
    [`expect(title).toBe('a claim') // test of it`, []],
    [`test(name, f)`, []],
  ])('%j', (source, titles) => {
    expect(titlesOf(source)).toEqual(titles)
  })
})
