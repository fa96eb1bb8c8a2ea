/** A position in a text, both counted from 1. In a plan that is no text, the line is 0 and the column counts its values. */
export interface Position {
  line: number
  column: number
}

export type PositionAt = (offset: number) => Position

/** Turns offsets into lines: finds all line starts once, then uses binary search. */
export function positionsIn(text: string): PositionAt {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - starts[low]! + 1 }
  }
}
