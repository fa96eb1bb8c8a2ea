import type { Line } from './lines.ts'

/** Where lines begin, given at an interval of lines. */
export interface LineOffsets {
  readonly everyLines: number
  readonly lineOffsets: readonly number[]
}

/**
 * The numbers of the lines of a window, from any line of it whose number is given; null: there is none. Lines that a stream interrupted are
 * counted once, at their end.
 */
export function lineNumbers(
  lines: readonly Line[],
  { everyLines, lineOffsets }: LineOffsets,
): Int32Array | null {
  const place = new Map(lineOffsets.map((offset, index) => [offset, 1 + index * everyLines]))
  const known = lines.findIndex(({ offset }) => place.has(offset))
  if (known === -1) return null
  const numbers = new Int32Array(lines.length)
  numbers[known] = place.get(lines[known]!.offset)!
  for (let at = known + 1; at < lines.length; at += 1)
    numbers[at] = numbers[at - 1]! + (lines[at - 1]!.isOpen ? 0 : 1)
  for (let at = known - 1; at >= 0; at -= 1) numbers[at] = numbers[at + 1]! - (lines[at]!.isOpen ? 0 : 1)
  return numbers
}
