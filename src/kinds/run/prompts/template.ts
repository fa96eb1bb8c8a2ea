import { positionsIn } from '../../mission/plan/lines.ts'
import { quote, short } from '../../mission/plan/problems.ts'
import { type Piece, piecesOf, type Tag } from './pieces.ts'
import { hintFor, isSensitive, type PromptPath, pathCalled } from './variables.ts'

/**
 * Prompt templates: text with `{{ a.variable }}`, with sections that are shown only when a variable has a value
 * (`{{#it}} … {{/it}}`) or only when it has none (`{{^it}} … {{/it}}`), and with `\{{` for literal braces.
 * There is nothing else: no code, no loops, and inserted values are not expanded again.
 */

export const LONGEST_TEMPLATE_BYTES = 64 * 1024
const DEEPEST_SECTIONS = 8
const MOST_PROBLEMS = 100

export type TemplateNode =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: PromptPath }
  | { kind: 'section'; path: PromptPath; isInverted: boolean; nodes: TemplateNode[] }

/** A position: an offset in characters from 0; line and column from 1. */
interface TextPosition {
  position: number
  line: number
  column: number
}

export interface TemplateProblem extends TextPosition {
  message: string
}

export interface Template {
  nodes: readonly TemplateNode[]
  /** Where the template uses sensitive values. */
  sensitiveUses: readonly (TextPosition & { path: PromptPath })[]
}

export type ParsedTemplate =
  | { ok: true; template: Template }
  | { ok: false; problems: readonly TemplateProblem[] }

export function parseTemplate(text: string): ParsedTemplate {
  const bytes = new TextEncoder().encode(text).length
  if (bytes > LONGEST_TEMPLATE_BYTES) {
    const message = `the template has ${bytes} bytes; at most ${LONGEST_TEMPLATE_BYTES} are allowed`
    return { ok: false, problems: [{ message, position: 0, line: 1, column: 1 }] }
  }
  const tree = new Tree()
  for (const piece of piecesOf(text)) tree.take(piece)
  tree.end()
  const placeAt = positionsIn(text)
  const placed = <T extends { position: number }>(one: T) => ({ ...one, ...placeAt(one.position) })
  if (tree.problems.length === 0)
    return { ok: true, template: { nodes: tree.nodes, sensitiveUses: tree.sensitiveUses.map(placed) } }
  const problems = tree.problems.sort((one, other) => one.position - other.position)
  const listed = problems.slice(0, MOST_PROBLEMS).map(placed)
  const left = problems.length - listed.length
  const last = listed.at(-1)!
  const more = left > 0 ? [{ ...last, message: `${left} more problems are not listed` }] : []
  return { ok: false, problems: [...listed, ...more] }
}

interface Open {
  tag: Tag
  nodes: TemplateNode[]
}

/** Nested sections, as they open and close. */
class Tree {
  readonly nodes: TemplateNode[] = []
  readonly problems: { position: number; message: string }[] = []
  readonly sensitiveUses: { position: number; path: PromptPath }[] = []
  readonly #open: Open[] = []

  take(piece: Piece): void {
    if (piece.kind === 'text') this.#add({ kind: 'text', text: piece.text })
    else if (piece.kind === 'fault') this.#report(piece.position, piece.message)
    else if (piece.sigil === '/') this.#close(piece)
    else this.#use(piece)
  }

  /** Sections that are still open were never closed. */
  end(): void {
    for (const { tag } of this.#open) this.#notClosed(tag)
  }

  #use(tag: Tag): void {
    const { sigil, name, position } = tag
    const path = pathCalled(name)
    if (!path) {
      // Comparing names is slow, and no one reads the hints after the first problems.
      const hint = this.problems.length < MOST_PROBLEMS ? hintFor(name) : ''
      this.#report(position, `there is no variable ${quote(name)}${hint}`)
    }
    if (sigil === '') {
      if (path && isSensitive(path)) this.sensitiveUses.push({ position, path })
      if (path) this.#add({ kind: 'value', path })
      return
    }
    const nodes: TemplateNode[] = []
    if (path) this.#add({ kind: 'section', path, isInverted: sigil === '^', nodes })
    this.#open.push({ tag, nodes })
    if (this.#open.length === DEEPEST_SECTIONS + 1)
      this.#report(position, `sections are nested more than ${DEEPEST_SECTIONS} deep`)
  }

  #close({ name, position }: Tag): void {
    const depth = this.#open.findLastIndex(({ tag }) => tag.name === name)
    if (depth === -1) {
      this.#report(position, `{{/${short(name)}}} closes a section that is not open`)
      return
    }
    for (const { tag } of this.#open.splice(depth).slice(1)) this.#notClosed(tag)
  }

  #notClosed({ sigil, name, position }: Tag): void {
    this.#report(position, `{{${sigil}${short(name)}}} is not closed; {{/${short(name)}}} is missing`)
  }

  #report(position: number, message: string): void {
    this.problems.push({ position, message })
  }

  #add(node: TemplateNode): void {
    const nodes = this.#open.at(-1)?.nodes ?? this.nodes
    nodes.push(node)
  }
}
