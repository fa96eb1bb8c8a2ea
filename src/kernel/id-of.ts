import { createHash } from 'node:crypto'

/** An id that follows from a text, in the form that all ids have here: whoever makes it of the same text makes the same one. */
export function idOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `7${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}
