/** The longest length at which all parts fit into the room: the longest are cut first, and to the same length. */
export function evenShare(lengths: readonly number[], room: number): number {
  let left = lengths.length
  let rest = room
  for (const length of lengths.toSorted((one, other) => one - other)) {
    // Parts within an equal share are whole; the others share what remains.
    if (length > rest / left) return Math.floor(rest / left)
    rest -= length
    left--
  }
  return room
}
