import { addChange, type SegmentKind, type Stretch } from '../../../src/views/timeline/segments.ts'
import { REAL_TIME, type Span } from './folded-time.ts'

/** What tasks did when, in rows, and what of it is on the screen. Pure: the present moment is an argument. */

export interface Bar extends Stretch {
  runId?: string | null
}

export interface Row {
  readonly task: string
  /** In the order of time, one after the other. */
  readonly bars: readonly Bar[]
}

type Change = Parameters<typeof addChange>[1]

/** The rows after one task got a new state. Other rows stay the same objects. */
export function afterChange(rows: readonly Row[], task: string, change: Change): readonly Row[] {
  return changed(rows, task, (bars) => {
    const next = [...bars]
    addChange(next, change)
    return next
  })
}

/** The rows after a run began for a claim of a task. */
export const withRun = (rows: readonly Row[], task: string, attempt: number, runId: string) =>
  changed(rows, task, (bars) =>
    bars.map((bar) => (bar.attempt === attempt && bar.kind === 'work' ? { ...bar, runId } : bar)),
  )

function changed(
  rows: readonly Row[],
  task: string,
  change: (bars: readonly Bar[]) => readonly Bar[],
): readonly Row[] {
  const place = rows.findIndex((row) => row.task === task)
  if (place === -1) return rows
  const next = [...rows]
  next[place] = { task, bars: change(rows[place]!.bars) }
  return next
}

/** What a bar looks like. Work is outlined until its holder begins. */
export type Look = 'waiting' | 'assigned' | 'running' | 'verifying' | 'person' | 'stopped'

const LOOKS = {
  waiting: 'waiting',
  queued: 'waiting',
  retry: 'waiting',
  work: 'running',
  verification: 'verifying',
  person: 'person',
  paused: 'stopped',
  budget: 'stopped',
} as const satisfies Record<SegmentKind, Look>

/** A stretch of time with one look. */
export interface Piece {
  readonly bar: Bar
  readonly look: Look
  readonly from: number
  readonly to: number
}

/** A bar as pieces of one look: work that was assigned before it began has two. A wrong order of times makes no negative piece. */
export function piecesOf(bar: Bar, now: number): Piece[] {
  const to = Math.max(bar.from, bar.to ?? now)
  if (bar.kind !== 'work') return [{ bar, look: LOOKS[bar.kind], from: bar.from, to }]
  const began = bar.startedAt === null ? to : Math.min(Math.max(bar.startedAt, bar.from), to)
  const pieces: Piece[] = []
  if (began > bar.from || bar.startedAt === null)
    pieces.push({ bar, look: 'assigned', from: bar.from, to: began })
  if (bar.startedAt !== null) pieces.push({ bar, look: 'running', from: began, to })
  return pieces
}

/** The time of all rows: up to now while something lasts. Null: nothing has happened. */
export function spanOf(rows: readonly Row[], now: number): Span | null {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const { bars } of rows) {
    const [first, last] = [bars[0], bars.at(-1)]
    if (!first || !last) continue
    from = Math.min(from, first.from)
    to = Math.max(to, last.to ?? now, last.from)
  }
  return from > to ? null : { from, to: Math.max(to, from + 1_000) }
}

export const isLasting = (rows: readonly Row[]) => rows.some(({ bars }) => bars.at(-1)?.to === null)

/** A piece in pixels. */
export interface Drawn extends Piece {
  readonly x: number
  readonly width: number
  /** How many others are too small to be drawn, and are in here. */
  readonly folded: number
}

/** Narrower than this nothing is told apart. */
const LEAST_PX = 2

/** The pieces of a row that are in view, which is a part of that clock. Those too small to be seen become one with the piece before them. */
export function drawnIn(row: Row, view: Span, width: number, now: number, time = REAL_TIME): Drawn[] {
  const perMs = width / (view.to - view.from)
  const [begin, end] = [time.at(view.from), time.at(view.to)]
  const drawn: Drawn[] = []
  for (let n = firstIn(row.bars, begin, now); n < row.bars.length && row.bars[n]!.from < end; n++)
    for (const piece of piecesOf(row.bars[n]!, now)) {
      const left = Math.max(0, (time.of(piece.from) - view.from) * perMs)
      const right = Math.min(width, (time.of(piece.to) - view.from) * perMs)
      if (right < 0 || left >= width) continue
      const last = drawn.at(-1)
      const isSmall = right - left < LEAST_PX
      if (isSmall && last && left - (last.x + last.width) < LEAST_PX)
        drawn[drawn.length - 1] = {
          ...last,
          width: Math.max(last.width, right - last.x),
          folded: last.folded + 1,
        }
      else drawn.push({ ...piece, x: left, width: Math.max(right - left, LEAST_PX), folded: 0 })
    }
  return drawn
}

/** The first bar that ends after this moment. */
function firstIn(bars: readonly Bar[], at: number, now: number): number {
  let [low, high] = [0, bars.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((bars[middle]!.to ?? Math.max(now, bars[middle]!.from)) <= at) low = middle + 1
    else high = middle
  }
  return low
}

/** How long a task waited before it was worked on first, and which of these tasks it waited for until the end of that. */
export function waitedFor(
  row: Row,
  upstream: readonly Row[],
  now: number,
): { waitedMs: number; last: string | null } {
  let waitedMs = 0
  let readyAt = row.bars[0]?.from ?? now
  for (const { kind, from, to } of row.bars) {
    if (kind !== 'waiting') break
    readyAt = Math.max(from, to ?? now)
    waitedMs += readyAt - from
  }
  let last: string | null = null
  let lastAt = Number.NEGATIVE_INFINITY
  for (const { task, bars } of upstream) {
    const endedAt = bars.at(-1) ? (bars.at(-1)!.to ?? now) : Number.NEGATIVE_INFINITY
    if (endedAt <= lastAt) continue
    lastAt = endedAt
    last = task
  }
  return { waitedMs, last: waitedMs > 0 ? last : null }
}
