import { piecesOf, type Tag } from '../../../src/kinds/run/prompts/pieces.ts'

/** The tags of a prompt template, as an editor draws them. Pure; they are read by the server's own reader. */

export interface TemplateVariable {
  path: string
  description: string
  sensitive: boolean
  aliasOf?: string | undefined
}

export interface TemplateTag extends Pick<Tag, 'sigil' | 'name'> {
  from: number
  to: number
}

export interface TemplateProblem {
  message: string
  line: number
  column: number
}

/** Whole tags in their order. What is malformed is no tag, and stays text. */
export const tagsIn = (text: string): TemplateTag[] =>
  [...piecesOf(text)].flatMap((piece) =>
    piece.kind === 'tag'
      ? [
          {
            from: piece.position,
            to: text.indexOf('}}', piece.position) + 2,
            sigil: piece.sigil,
            name: piece.name,
          },
        ]
      : [],
  )

const SPELLED: Readonly<Record<string, string>> = { api: 'API', url: 'URL' }

/** "task.successCriteria" is "task success criteria". */
export const wordsOf = (path: string): string =>
  path
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[. ]/)
    .map((word) => SPELLED[word] ?? word)
    .join(' ')

/** What the pill of a tag says. */
export function pillText({ sigil, name }: Pick<TemplateTag, 'sigil' | 'name'>): string {
  const words = wordsOf(name)
  if (sigil === '#') return `if ${words}`
  if (sigil === '^') return `if no ${words}`
  return sigil === '/' ? `end of ${words}` : words
}

export interface SensitiveUse {
  variable: TemplateVariable
  from: number
  line: number
}

/** Where the template puts a sensitive value into the prompt. A section only asks whether there is one. */
export const sensitiveUses = (text: string, variables: readonly TemplateVariable[]): SensitiveUse[] =>
  tagsIn(text).flatMap(({ sigil, name, from }) => {
    const variable = variables.find(({ path }) => path === name)
    return sigil === '' && variable?.sensitive
      ? [{ variable, from, line: text.slice(0, from).split('\n').length }]
      : []
  })

/** What to underline for a problem that the server places by line and column: the tag there, or what there is of it. */
export function rangeOf(
  text: string,
  { line, column }: Pick<TemplateProblem, 'line' | 'column'>,
): { from: number; to: number } {
  const lines = text.split('\n')
  const at = Math.min(line, lines.length) - 1
  const start = lines.slice(0, at).reduce((sum, one) => sum + one.length + 1, 0)
  const end = start + lines[at]!.length
  const from = Math.min(start + column - 1, end)
  const close = text.indexOf('}}', from)
  const isTag = text.startsWith('{{', from) && close !== -1 && close < end
  return { from, to: isTag ? close + 2 : Math.min(Math.max(from + 2, wordEnd(text, from)), end) }
}

const wordEnd = (text: string, from: number) => from + /^\S*/.exec(text.slice(from))![0].length

/** Two backslashes are a literal one, and the braces after them count. */
const OPEN_TAG = /(?:^|[^\\]|\\\\)\{\{[#^/]?[ \t]*([\w.-]*)$/

/** The name that is being written after `{{`, and what of the tag already follows it. Null: no tag is open here. */
export function nameAt(text: string, at: number): { from: number; to: number } | null {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const typed = OPEN_TAG.exec(line)?.[1]
  if (typed === undefined) return null
  const [rest] = /^[\w.-]*(?:[ \t]*\}\})?/.exec(text.slice(at))!
  return { from: at - typed.length, to: at + rest.length }
}
