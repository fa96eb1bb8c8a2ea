/** Comments, as a prompt shows them. */

/** Of all texts together. */
export const LONGEST_COMMENTS = 32 * 1024
/** How many there may be. */
export const MOST_COMMENTS = 100

export interface SaidComment {
  /** The name of its author. */
  by: string
  at: string
  on: 'task' | 'mission'
  text: string
}

/** Those left out, and where they can be read with the key of the run. */
interface LeftOut {
  leftOut: number
  read: string[]
}

/**
 * The newest that fit, oldest first; null: there are none. As JSON, so that a text cannot look like the comment of another author.
 */
export function commentsForPrompt(
  comments: readonly SaidComment[],
  total: number,
  paths: readonly string[],
): (SaidComment | LeftOut)[] | null {
  if (total === 0) return null
  let room = LONGEST_COMMENTS
  const first = comments.findLastIndex(({ text }) => {
    room -= text.length
    return room < 0
  })
  const shown = comments.slice(first + 1).slice(-MOST_COMMENTS)
  const leftOut = total - shown.length
  return leftOut === 0 ? shown : [{ leftOut, read: [...paths] }, ...shown]
}
