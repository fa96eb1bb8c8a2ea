import { useCallback, useMemo, useRef, useState } from 'react'
import type { Follows } from '../live/about.ts'
import { useSnapshot } from '../live/use-snapshot.ts'
import { type ListPage, withRead } from './list-pages.ts'

interface Read<Item> {
  body: ListPage<Item>
  seq: number
}
export interface PageQuery {
  limit: number
  cursor?: string
}

const ITEMS_A_PAGE = 100

/**
 * A list that is read page by page as the reader scrolls down. What was read is read again after events that concern it; of a
 * `history`, whose older pages no longer change and may be many, only the first page is.
 */
export function useList<Item>(
  key: readonly string[],
  read: (query: PageQuery, signal: AbortSignal | undefined) => Promise<Read<Item>>,
  rules: { follows: Follows; keyOf: (item: Item) => string; isHistory?: boolean },
) {
  const { follows, keyOf, isHistory = false } = rules
  const pages = useRef(1)
  const name = JSON.stringify(key)
  const list = useSnapshot<ListPage<Item>>(
    key,
    async ({ signal }) => {
      const first = await read({ limit: ITEMS_A_PAGE }, signal)
      let { items, nextCursor } = first.body
      for (let page = 1; !isHistory && page < pages.current && nextCursor !== null; page++) {
        const { body } = await read({ limit: ITEMS_A_PAGE, cursor: nextCursor }, signal)
        items = [...items, ...body.items]
        nextCursor = body.nextCursor
      }
      return { body: { items, nextCursor }, seq: first.seq }
    },
    { follows },
  )
  /** All that was read when its last page came. */
  const [older, setOlder] = useState<(ListPage<Item> & { name: string }) | null>(null)
  const kept = older?.name === name ? older : null
  const all = useMemo(() => list.data && withRead(list.data, kept, keyOf), [list.data, kept, keyOf])
  const isReading = useRef(false)
  const latest = useRef({ read, refetch: list.refetch })
  latest.current = { read, refetch: list.refetch }
  const loadMore = useCallback(async () => {
    if (!all || all.nextCursor === null || isReading.current) return
    isReading.current = true
    try {
      if (!isHistory) {
        pages.current += 1
        await latest.current.refetch()
        return
      }
      const query = { limit: ITEMS_A_PAGE, cursor: all.nextCursor }
      const { body } = await latest.current.read(query, undefined)
      setOlder({ name, items: [...all.items, ...body.items], nextCursor: body.nextCursor })
    } finally {
      isReading.current = false
    }
  }, [all, isHistory, name])
  const items = useMemo(() => {
    const seen = new Set<string>()
    return (all?.items ?? []).filter((item) => !seen.has(keyOf(item)) && seen.add(keyOf(item)))
  }, [all, keyOf])
  return { ...list, items, loadMore: () => void loadMore().catch(() => undefined) }
}
