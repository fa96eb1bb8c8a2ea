/** A column that is scrolled does not jump when tasks come or go above the rows being read. Pure. */

interface Kept {
  /** How many rows the row being read has moved by. */
  rows: number
  /** How many of the rows above it are new. */
  newer: number
}

/** `firstSeen` is the first row in view; if it left, the next remaining one counts. */
export function keptPlace(before: readonly string[], after: readonly string[], firstSeen: number): Kept {
  const places = new Map(after.map((id, place) => [id, place]))
  for (let seen = firstSeen; seen < before.length; seen++) {
    const now = places.get(before[seen]!)
    if (now === undefined) continue
    const known = new Set(before)
    const newer = after.slice(0, now).filter((id) => !known.has(id)).length
    return { rows: now - firstSeen, newer }
  }
  return { rows: 0, newer: 0 }
}
