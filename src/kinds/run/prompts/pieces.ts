import { quote } from '../../mission/plan/problems.ts'

/** A template as a sequence of pieces: text, tags, and malformed tags. */

export interface Tag {
  kind: 'tag'
  /** `#` and `^` open a section, `/` closes it; without a sigil, a value is inserted. */
  sigil: '' | '#' | '^' | '/'
  name: string
  /** Of its first brace, in characters. */
  position: number
}

export type Piece =
  | { kind: 'text'; text: string }
  | Tag
  | { kind: 'fault'; position: number; message: string }

/** No name is nearly as long: a brace that closes after more than this belongs to something else. */
const LONGEST_TAG = 200

const INSIDE = /^([#^/]?)[ \t]*([A-Za-z_][\w-]*(?:\.[\w-]+)*)$/

export function* piecesOf(text: string): Generator<Piece> {
  const closing = closingsIn(text)
  let at = 0
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', at)) {
    const slashes = slashesBefore(text, open, at)
    if (slashes === 1) {
      yield { kind: 'text', text: `${text.slice(at, open - 1)}{{` }
      at = open + 2
      continue
    }
    // Two backslashes are one literal backslash: the tag after them counts.
    const before = text.slice(at, slashes === 2 ? open - 1 : open)
    const { piece, end } = tagAt(text, open, closing(open + 2))
    const line = piece.kind === 'tag' && piece.sigil !== '' ? lineAloneAround(text, open, end) : null
    const shown = line ? before.slice(0, before.length - line.indent) : before
    if (shown !== '') yield { kind: 'text', text: shown }
    yield piece
    at = line?.end ?? end
  }
  if (at < text.length) yield { kind: 'text', text: text.slice(at) }
}

/** The position of the next `}}`. Called with growing offsets, it scans the text once. */
function closingsIn(text: string): (from: number) => number {
  let found = 0
  return (from) => {
    if (found !== -1 && found < from) found = text.indexOf('}}', from)
    return found
  }
}

/** None, one or two: more have no meaning. */
function slashesBefore(text: string, open: number, since: number): number {
  if (open - 1 < since || text[open - 1] !== '\\') return 0
  return open - 2 >= since && text[open - 2] === '\\' ? 2 : 1
}

/** The tag that begins here, and where the text continues after it. */
function tagAt(text: string, open: number, close: number): { piece: Piece; end: number } {
  const fault = (message: string, end: number) => ({
    piece: { kind: 'fault' as const, position: open, message },
    end,
  })
  const isNear = close !== -1 && close - open <= LONGEST_TAG
  const inner = isNear ? text.slice(open + 2, close) : null
  const isTriple = text[open + 2] === '{' && text[open + 3] !== '{'
  if (isTriple) return fault('{{{ has one brace too many; write a variable as {{ name }}', open + 3)
  if (inner === null || inner.includes('\n'))
    return fault('{{ is not closed on its line; add }}, or write \\{{ for literal braces', open + 2)
  if (inner.includes('{{')) return fault('another {{ begins before this one is closed', open + 2)
  const said = inner.trim()
  const [, sigil, name] = INSIDE.exec(said) ?? []
  const end = close + 2
  if (name !== undefined)
    return { piece: { kind: 'tag', sigil: sigil as Tag['sigil'], name, position: open }, end }
  if (/^[#^/]?$/.test(said)) return fault(`{{${said}}} names no variable`, end)
  return fault(`${quote(said)} is not a variable name; write \\{{ for literal braces`, end)
}

/**
 * A section tag that is alone on its line removes the line, so that sections which are left out leave no gaps. Null when
 * there is other text on the line.
 */
function lineAloneAround(text: string, open: number, end: number): { indent: number; end: number } | null {
  let start = open
  while (isBlank(text[start - 1])) start--
  if (start > 0 && text[start - 1] !== '\n') return null
  let rest = end
  while (isBlank(text[rest])) rest++
  if (rest < text.length && text[rest] !== '\n') return null
  return { indent: open - start, end: Math.min(rest + 1, text.length) }
}

const isBlank = (character: string | undefined) =>
  character === ' ' || character === '\t' || character === '\r'
