import type { Span } from '../../../graphs/folded-time.ts'
import { type Drawn, type Look, type Piece, piecesOf, type Row, waitedFor } from '../../../graphs/timeline.ts'
import { clockText, countText, durationText } from '../../../parts/wording.ts'

/** What a timeline says in words. Pure. */

export const LOOK_WORDS: Record<Look, string> = {
  waiting: 'Waiting',
  assigned: 'Assigned',
  running: 'Running',
  verifying: 'Verifying',
  person: 'Waiting for a person',
  stopped: 'Paused or out of budget',
}

const attemptOf = ({ bar }: Piece) =>
  bar.attempt > 1 && bar.kind === 'work' ? `, attempt ${bar.attempt}` : ''

/** "Running, 3 m 10 s, attempt 2, from 14:02:10". */
export function barWords(piece: Drawn | Piece): string {
  const { look, from, to, bar } = piece
  const hasBegun = look === 'assigned' && bar.startedAt !== null
  const until = bar.to === null && !hasBegun ? ' until now' : ` to ${clockText(to)}`
  const folded = 'folded' in piece && piece.folded > 0 ? `, and ${countText(piece.folded)} shorter ones` : ''
  return `${LOOK_WORDS[look]}, ${durationText(to - from)}${attemptOf(piece)}, from ${clockText(from)}${until}${folded}`
}

/** Where the mark of the strip is, or what is drawn with it. */
export function brushWords(mark: number, drawn: Span | null, atOnce: number): string {
  const count = atOnce === 0 ? 'none at once' : `${countText(atOnce)} at once`
  if (!drawn) return `${clockText(mark)}, ${count}`
  return `${clockText(drawn.from)} to ${clockText(drawn.to)}, ${durationText(drawn.to - drawn.from)}. Enter shows it`
}

const MOST_PIECES = 12

/** A row for those who do not see it. */
export function rowWords({ bars }: Row, now: number): string {
  if (bars.length === 0) return 'nothing so far'
  const pieces = bars.flatMap((bar) => piecesOf(bar, now))
  const shown = pieces.slice(-MOST_PIECES)
  const left = pieces.length - shown.length
  const words = shown.map(
    (piece) =>
      `${LOOK_WORDS[piece.look].toLowerCase()} ${durationText(piece.to - piece.from)}${attemptOf(piece)}`,
  )
  return `${left > 0 ? `${countText(left)} earlier ones, then ` : ''}${words.join(', ')}`
}

/** Who waited for whom. */
export function waitWords(
  row: Row,
  upstream: readonly Row[],
  waiting: number,
  now: number,
  nameOf: (task: string) => string,
): string {
  const { waitedMs, last } = waitedFor(row, upstream, now)
  const waited =
    last === null
      ? upstream.length === 0
        ? 'waited for no other task'
        : 'did not have to wait'
      : `waited ${durationText(waitedMs)}, last for ${nameOf(last)}`
  const others =
    waiting === 0 ? '' : `; ${waiting === 1 ? '1 task waits' : `${countText(waiting)} tasks wait`} for it`
  return `${waited}${others}`
}
