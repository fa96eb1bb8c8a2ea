import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogPage } from '../../../../door/execution.ts'
import type { AnswerOf } from '../../../../pure/shapes.ts'
import type { LogSearchView } from '../../shapes/logs.ts'
import { hitsIn, MARGIN_BYTES, patternFor } from './hits.ts'
import { isInside, PAGE_BYTES, type RunLog, wholeCharacters } from './run-log.ts'

type Answer = AnswerOf<typeof LogSearchView>

/** Where a search continues: it lists hits from `listFrom` on, and has counted those up to `countedTo`. */
export interface SearchCursor {
  listFrom: number
  counted: number
  countedTo: number
}

/** As much as is searched without a pause: with a hit at every character, some ten milliseconds. */
const SEARCHED_AT_ONCE_BYTES = 256 * 1024

const BEGINNING: SearchCursor = { listFrom: 0, counted: 0, countedTo: 0 }

export interface Search {
  q: string
  isCaseSensitive: boolean
  limit: number
  cursor: SearchCursor | null
}

/**
 * Lists the next hits and counts all of them, until the log ends or the time is up. What is counted already is not counted
 * again with the next page of hits.
 */
export async function searchLog(
  log: RunLog,
  { q, isCaseSensitive, limit, cursor }: Search,
  isTimeUp: () => boolean,
): Promise<Omit<Answer, 'nextCursor'> & { next: SearchCursor | null }> {
  const pattern = patternFor(q, isCaseSensitive)
  const pages = new ShortPages(log)
  let { listFrom, counted, countedTo } = cursor ?? BEGINNING
  const listed: Answer['hits'][number][] = []
  let isEnd = false
  let bytes = 0
  do {
    const isListing = listed.length < limit
    const from = isListing ? listFrom : countedTo
    const start = Math.max(0, from - MARGIN_BYTES)
    const page = await pages.at(start, SEARCHED_AT_ONCE_BYTES + MARGIN_BYTES)
    const { count, described, isAllDescribed, next } = hitsIn(page, pattern, {
      from: Math.min(from, page.bytes),
      countFrom: countedTo,
      most: isListing ? limit - listed.length : 0,
    })
    bytes = page.bytes
    counted += count
    countedTo = Math.max(countedTo, next)
    const last = described.at(-1)
    listed.push(...described)
    // What is not listed is listed with the next page.
    if (isAllDescribed) listFrom = listFrom === from ? next : listFrom
    else if (last) listFrom = last.offset + last.bytes
    isEnd = countedTo >= bytes
    // A page that is in memory already comes without a pause.
    await nextTurn()
  } while (!(isEnd && (listed.length === limit || listFrom >= bytes)) && !isTimeUp())
  const isAllListed = isEnd && listFrom >= bytes
  return {
    runId: log.run.id,
    status: log.status,
    bytes,
    readBytes: countedTo,
    hits: listed,
    total: counted,
    isComplete: isEnd,
    next: isAllListed ? null : { listFrom, counted, countedTo },
  }
}

/** Short pages of a log, cut from long ones: to read each of them would unpack the same text many times. */
class ShortPages {
  readonly #log: RunLog
  #page: LogPage | null = null
  #text = Buffer.alloc(0)

  constructor(log: RunLog) {
    this.#log = log
  }

  async at(offset: number, limitBytes: number): Promise<LogPage> {
    if (!this.#page || !this.#covers(this.#page, offset, limitBytes)) {
      this.#page = await this.#log.pageAt(offset, Math.max(PAGE_BYTES, limitBytes))
      this.#text = Buffer.from(this.#page.content)
    }
    return this.#cut(this.#page, offset, limitBytes)
  }

  #covers(page: LogPage, offset: number, limitBytes: number): boolean {
    const end = page.offset + this.#text.length
    return offset >= page.offset && (offset + limitBytes <= end || (end >= page.bytes && offset < end))
  }

  #cut(page: LogPage, offset: number, limitBytes: number): LogPage {
    let start = Math.max(0, offset - page.offset)
    while (start < this.#text.length && isInside(this.#text[start]!)) start++
    const bytes = wholeCharacters(this.#text.subarray(start), limitBytes)
    const content = this.#text.toString('utf8', start, start + bytes)
    return { ...page, content, offset: page.offset + start }
  }
}
