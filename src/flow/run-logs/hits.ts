import type { AnswerOf } from '../../core/shapes/common.ts'
import type { LogSearchView } from '../../core/shapes/run-logs.ts'
import type { LogPage } from '../execution.ts'

type Hit = AnswerOf<typeof LogSearchView>['hits'][number]

/** The longest excerpt before and after a hit, in UTF-16 units. */
const BEFORE = 80
const AFTER = 200
/** So much of a page is read again with the next one: no hit and no excerpt is cut by its end. */
export const MARGIN_BYTES = 4 * BEFORE

/** A text as a pattern that finds it literally. Letters differ by case alone if the Unicode standard says so. */
export const patternFor = (text: string, isCaseSensitive: boolean): RegExp =>
  new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), isCaseSensitive ? 'gu' : 'giu')

/**
 * The hits of a page that begin at `from` or later, and where to go on. A page that is not the last leaves what is near its
 * end to the next one.
 */
export function hitsIn(page: LogPage, pattern: RegExp, from: number): { hits: Hit[]; next: number } {
  const { content, offset, spans } = page
  const text = Buffer.from(content)
  const isEnd = offset + text.length >= page.bytes
  const start = text.toString('utf8', 0, from - offset).length
  const last = isEnd ? content.length : unitBefore(content, Math.max(start, content.length - AFTER - 1))
  const hits: Hit[] = []
  const places = new Places(content, offset)
  let span = 0
  let next = start
  pattern.lastIndex = start
  for (let found = pattern.exec(content); found && found.index < last; found = pattern.exec(content)) {
    const [match] = found
    const at = places.of(found.index)
    while (span < spans.length - 1 && spans[span]!.offset + spans[span]!.bytes <= at) span++
    next = found.index + match.length
    hits.push({
      offset: at,
      bytes: Buffer.byteLength(match),
      stream: (spans[span]?.stream ?? 'stdout') as Hit['stream'],
      ...excerptAround(content, found.index, match.length),
    })
  }
  return { hits, next: places.of(Math.max(next, last)) }
}

/** Positions in a text as offsets in bytes, asked for in order. */
class Places {
  readonly #text: string
  #at = 0
  #offset: number

  constructor(text: string, offset: number) {
    this.#text = text
    this.#offset = offset
  }

  of(at: number): number {
    this.#offset += Buffer.byteLength(this.#text.slice(this.#at, at))
    this.#at = at
    return this.#offset
  }
}

/** Its line, or what is near the hit of a long one. */
function excerptAround(content: string, at: number, length: number) {
  const line = content.lastIndexOf('\n', at - 1) + 1
  const from = unitBefore(content, Math.max(line, at - BEFORE))
  const newline = content.indexOf('\n', at + length)
  const end = Math.min(newline === -1 ? content.length : newline, at + length + AFTER)
  return { excerpt: content.slice(from, end).toWellFormed(), at: at - from, length }
}

/** Not inside a character of two units. */
const unitBefore = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
