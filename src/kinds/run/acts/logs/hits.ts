import type { LogPage } from '../../../../door/execution.ts'
import type { AnswerOf } from '../../../../pure/shapes.ts'
import type { LogSearchView } from '../../shapes/logs.ts'

type Hit = AnswerOf<typeof LogSearchView>['hits'][number]

/** The longest excerpt before and after a hit, in UTF-16 units. */
const BEFORE = 80
const AFTER = 200
/** So much of a page is read again with the next one: no hit and no excerpt is cut by its end. */
export const MARGIN_BYTES = 4 * BEFORE

/** A text as a pattern that finds it literally. Letters differ by case alone if the Unicode standard says so. */
export const patternFor = (text: string, isCaseSensitive: boolean): RegExp =>
  new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), isCaseSensitive ? 'gu' : 'giu')

/** Which hits of a page are wanted: those from an offset on are counted, and the first ones are described. */
interface Wanted {
  from: number
  countFrom: number
  most: number
}

interface Hits {
  /** How many there are; those before `countFrom` are not among them. */
  count: number
  /** The first ones, as many as were wanted. */
  described: Hit[]
  isAllDescribed: boolean
  next: number
}

/**
 * The hits of a page, and where to go on. A page that is not the last leaves what is near its end to the next one. Time and memory
 * depend on the length of the page alone, however many hits there are and however long its lines.
 */
export function hitsIn(page: LogPage, pattern: RegExp, { from, countFrom, most }: Wanted): Hits {
  const { content, offset, spans } = page
  const text = Buffer.from(content)
  const isEnd = offset + text.length >= page.bytes
  const start = text.toString('utf8', 0, from - offset).length
  const last = isEnd ? content.length : unitBefore(content, Math.max(start, content.length - AFTER - 1))
  const described: Hit[] = []
  const places = new Places(content, offset)
  let count = 0
  let isAllDescribed = true
  let span = 0
  let next = start
  pattern.lastIndex = start
  for (let found = pattern.exec(content); found && found.index < last; found = pattern.exec(content)) {
    const [match] = found
    const at = places.of(found.index)
    next = found.index + match.length
    if (at >= countFrom) count++
    isAllDescribed = described.length < most
    if (!isAllDescribed) continue
    while (span < spans.length - 1 && spans[span]!.offset + spans[span]!.bytes <= at) span++
    described.push({
      offset: at,
      bytes: Buffer.byteLength(match),
      stream: (spans[span]?.stream ?? 'stdout') as Hit['stream'],
      ...excerptAround(content, found.index, match.length),
    })
  }
  return { count, described, isAllDescribed, next: places.of(Math.max(next, last)) }
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

/** Its line, or what is near the hit of a long one. Only that much is looked at: a line may be as long as the page. */
function excerptAround(content: string, at: number, length: number) {
  const start = Math.max(0, at - BEFORE)
  const line = start + content.slice(start, at).lastIndexOf('\n') + 1
  const from = unitBefore(content, line)
  const after = content.slice(at + length, at + length + AFTER)
  const newline = after.indexOf('\n')
  const end = at + length + (newline === -1 ? after.length : newline)
  return { excerpt: content.slice(from, end).toWellFormed(), at: at - from, length }
}

/** Not inside a character of two units. */
const unitBefore = (text: string, at: number): number => {
  const unit = text.charCodeAt(at)
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
