import { useEffect } from 'react'
import { useShortcuts } from './shortcuts.ts'

/** `[` and `]` lead to the previous and the next entry of the list that the user came from. */

type Kind = 'task' | 'run'

/** The lists that were seen last, until the page is reloaded. */
const seen = new Map<Kind, readonly string[]>()

/** What is listed here, in its order. */
export function useListOf(kind: Kind, ids: readonly string[]): void {
  useEffect(() => {
    seen.set(kind, ids)
  })
}

/** The neighbour of an item in a list; null: there is none, or the item is not in it. Pure. */
function siblingIn(ids: readonly string[], id: string, by: -1 | 1): string | null {
  const place = ids.indexOf(id)
  return place === -1 ? null : (ids[place + by] ?? null)
}

export function useSiblingKeys(kind: Kind, id: string, open: (id: string) => void): void {
  const sibling = (by: -1 | 1) => siblingIn(seen.get(kind) ?? [], id, by)
  const key = (by: -1 | 1, words: string) => ({
    words,
    run: () => {
      const other = sibling(by)
      if (other !== null) open(other)
    },
    isOff: sibling(by) === null,
  })
  useShortcuts('List', {
    '[': key(-1, `Previous ${kind} of the list`),
    ']': key(1, `Next ${kind} of the list`),
  })
}
