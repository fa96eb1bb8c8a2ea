/** A history that is read page by page, newest first, while its first page changes. Pure. */

export interface ListPage<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; null: this is the end. */
  readonly nextCursor: string | null
}

/**
 * All that was read, each once and without a hole: the first page as it is now, then what was read before. If more came than a page
 * holds, nobody knows what lies between, and the list begins again.
 */
export function withRead<Item>(
  first: ListPage<Item>,
  before: ListPage<Item> | null,
  keyOf: (item: Item) => string,
): ListPage<Item> {
  if (before === null) return first
  const now = new Set(first.items.map(keyOf))
  const left = before.items.filter((item) => !now.has(keyOf(item)))
  const doMeet = left.length < before.items.length
  return doMeet && first.nextCursor !== null
    ? { items: [...first.items, ...left], nextCursor: before.nextCursor }
    : first
}
