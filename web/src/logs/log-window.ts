import {
  joined,
  type Line,
  type LogPageText,
  linesOf,
  linesOfAll,
  linesOfPage,
  type Piece,
  startOf,
} from './lines.ts'
import { utf8Bytes } from './utf8.ts'

/**
 * The part of a log that is in memory: neighbouring pages, at most MOST_PAGES, extended at either end and dropped at the other. All
 * addresses are byte offsets in the log, so that a log of 100 MB costs what the window costs.
 */

export const PAGE_BYTES = 256 * 1024
export const MOST_PAGES = 16

interface Page {
  readonly start: number
  readonly end: number
  /** Split separately: its first line may be the rest of one, its last the beginning of one. */
  readonly lines: readonly Line[]
}

export interface LogWindow {
  readonly pages: readonly Page[]
  readonly lines: readonly Line[]
  readonly start: number
  readonly end: number
  /** The whole log, as far as it is known. */
  readonly logBytes: number
}

export interface ByteRange {
  readonly from: number
  readonly to: number
}

export const EMPTY_WINDOW: LogWindow = { pages: [], lines: [], start: 0, end: 0, logBytes: 0 }

export const isAtLogEnd = ({ end, logBytes }: LogWindow) => end >= logBytes

const parsed = (page: LogPageText): Page => {
  const start = startOf(page)
  return { start, end: start + utf8Bytes(page.content), lines: linesOfPage(page) }
}

const windowOf = (pages: readonly Page[], logBytes: number): LogWindow => {
  const start = pages[0]?.start ?? 0
  const end = pages.at(-1)?.end ?? 0
  return {
    pages,
    lines: linesOfAll(pages.map(({ lines }) => lines)),
    start,
    end,
    logBytes: Math.max(logBytes, end),
  }
}

/** A new window somewhere in the log. */
export const openedAt = (page: LogPageText, logBytes: number): LogWindow => windowOf([parsed(page)], logBytes)

/** The window with a neighbouring page. Pages that are no longer neighbours, because the window has moved, change nothing. */
export function extended(window: LogWindow, text: LogPageText, logBytes = 0): LogWindow {
  const page = parsed(text)
  const known = Math.max(window.logBytes, logBytes, page.end)
  if (page.start === page.end) return { ...window, logBytes: known }
  if (page.start === window.end)
    return windowOf(withoutSmall([...window.pages, page]).slice(-MOST_PAGES), known)
  if (page.end === window.start)
    return windowOf(withoutSmall([page, ...window.pages]).slice(0, MOST_PAGES), known)
  return { ...window, logBytes: known }
}

/** Small neighbours become one page: a hole may be a few bytes, and pages are counted. */
function withoutSmall(pages: readonly Page[]): Page[] {
  const merged: Page[] = []
  for (const page of pages) {
    const last = merged.at(-1)
    if (last && page.end - last.start <= PAGE_BYTES)
      merged[merged.length - 1] = { start: last.start, end: page.end, lines: joined(last.lines, page.lines) }
    else merged.push(page)
  }
  return merged
}

/**
 * The window after live output. At the end of the window it is appended; beyond it there is a hole, which must be read first; before it, it
 * is known. For a reader who does not follow, a window elsewhere in the log only learns that the log has grown, and so does a full one:
 * what is read never moves and is never dropped.
 */
export function withOutput(
  window: LogWindow,
  output: Piece,
  isFollowing: boolean,
): { window: LogWindow; hole: ByteRange | null } {
  const bytes = utf8Bytes(output.text)
  const to = output.offset + bytes
  if (bytes === 0 || to <= window.end) return { window, hole: null }
  const grown = { ...window, logBytes: Math.max(window.logBytes, to) }
  if (!isFollowing && !isAtLogEnd(window)) return { window: grown, hole: null }
  const isPageFull = isFull(window.pages.at(-1))
  if (isPageFull && window.pages.length >= MOST_PAGES && !isFollowing) return { window: grown, hole: null }
  // Not grown: the window is still the end of what is known, so that output after the hole is looked at, too.
  if (output.offset !== window.end) return { window, hole: { from: window.end, to } }
  return { window: appended(grown, linesOf(output), to, isPageFull), hole: null }
}

const isFull = (page: Page | undefined) => !page || page.end - page.start >= PAGE_BYTES

function appended(window: LogWindow, lines: readonly Line[], end: number, isNewPage: boolean): LogWindow {
  const last = window.pages.at(-1)
  if (isNewPage || !last) {
    const pages = [...window.pages, { start: window.end, end, lines }]
    if (pages.length > MOST_PAGES) return windowOf(pages.slice(-MOST_PAGES), window.logBytes)
    return { ...window, pages, end, lines: joined(window.lines, lines) }
  }
  const page: Page = { ...last, end, lines: joined(last.lines, lines) }
  return { ...window, pages: [...window.pages.slice(0, -1), page], end, lines: joined(window.lines, lines) }
}

/** The page before the window, if there is one. */
export const pageBefore = ({ start }: LogWindow): ByteRange | null =>
  start > 0 ? { from: Math.max(0, start - PAGE_BYTES), to: start } : null

/** The page after it. */
export const pageAfter = (window: LogWindow): ByteRange | null =>
  isAtLogEnd(window) ? null : { from: window.end, to: Math.min(window.end + PAGE_BYTES, window.logBytes) }

/** The page to open for a reader who wants to see this byte: some text before it, more after it. */
export function pageAround(offset: number, logBytes: number): ByteRange {
  const from = Math.max(0, Math.min(offset - PAGE_BYTES / 4, logBytes - PAGE_BYTES))
  return { from, to: Math.min(from + PAGE_BYTES, logBytes) }
}

/**
 * The lines to show. A window that does not begin at the start of the log begins somewhere in a line, and is shown from the next one on;
 * if that line fills the window, its part is shown.
 */
export const wholeLines = ({ lines, start }: LogWindow): readonly Line[] =>
  start > 0 && lines.length > 1 ? lines.slice(1) : lines

/** Output that follows directly, as one piece: a busy run writes hundreds of small ones a second. */
export function mergedOutput(outputs: readonly Piece[]): Piece[] {
  const merged: (Piece & { end: number })[] = []
  for (const output of outputs) {
    const bytes = utf8Bytes(output.text)
    const last = merged.at(-1)
    if (
      last &&
      last.stream === output.stream &&
      last.end === output.offset &&
      last.text.length < PAGE_BYTES / 4
    )
      merged[merged.length - 1] = { ...last, text: last.text + output.text, end: last.end + bytes }
    else merged.push({ ...output, end: output.offset + bytes })
  }
  return merged.map(({ end: _end, ...output }) => output)
}
