import { asText, type Fact, titleOf } from './facts.ts'
import { isObject, type Json, list, record, text } from './json.ts'

/** Calls of tools, as any program makes them. */

/** The argument that says most, first. */
const TELLING = [
  'command',
  'file_path',
  'filePath',
  'absolute_path',
  'path',
  'dir_path',
  'notebook_path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'question',
]
const PATHS = ['file_path', 'filePath', 'absolute_path', 'path', 'notebook_path']
const BEFORE = ['old_string', 'oldString', 'old_str']
const AFTER = ['new_string', 'newString', 'new_str', 'new_source', 'content', 'file_text']
const EDITS = /^(multi_?)?(edit|write|replace|str_replace\w*|write_file|create_file|notebook_?edit|patch)$/i

const firstOf = (input: Json, names: readonly string[]): string | null => {
  for (const name of names) {
    const value = input[name]
    if (typeof value === 'string') return value
  }
  return null
}

/** A call of a tool with its input. One that changes a file is an edit, with what it changes as a diff. */
export function callOf(tool: string, given: unknown): Fact {
  const input = record(given)
  const path = firstOf(input, PATHS)
  const diff = EDITS.test(tool) && path !== null ? diffOf(input) : null
  if (diff !== null)
    return { kind: 'edit', tool, title: `${path} +${diff.added} −${diff.removed}`, text: diff.text }
  const [telling] = TELLING.flatMap((name) => text(input[name]) ?? [])
  const command = text(input.command)
  return {
    kind: 'call',
    tool,
    title: titleOf(telling ?? (isObject(given) ? Object.values(input).map(asText).join(' ') : asText(given))),
    text: command ?? asText(given),
  }
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function diffOf(input: Json): { text: string; added: number; removed: number } | null {
  const pairs = list(input.edits).length > 0 ? list(input.edits).map(record) : [input]
  const changes = pairs.map((pair) => ({ before: firstOf(pair, BEFORE) ?? '', after: firstOf(pair, AFTER) }))
  if (changes.some(({ after }) => after === null)) return null
  const [removed, added] = [
    changes.flatMap(({ before }) => linesOf(before)),
    changes.flatMap(({ after }) => linesOf(after!)),
  ]
  const text = changes.flatMap(({ before, after }) => [
    ...linesOf(before).map((line) => `-${line}`),
    ...linesOf(after!).map((line) => `+${line}`),
  ])
  return { text: text.join('\n'), added: added.length, removed: removed.length }
}
