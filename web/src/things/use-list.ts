import { useCallback, useMemo, useRef, useState } from 'react'
import type { Follows } from '../live/about.ts'
import { useSnapshot } from '../live/use-snapshot.ts'

interface Answer<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}
interface Read<Item> {
  body: Answer<Item>
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
  const list = useSnapshot<Answer<Item>>(
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
  const [older, setOlder] = useState<(Answer<Item> & { name: string }) | null>(null)
  const kept = older?.name === name ? older : null
  const isReading = useRef(false)
  const latest = useRef({ read, refetch: list.refetch })
  latest.current = { read, refetch: list.refetch }
  const cursor = kept ? kept.nextCursor : (list.data?.nextCursor ?? null)
  const loadMore = useCallback(async () => {
    if (cursor === null || isReading.current) return
    isReading.current = true
    try {
      if (!isHistory) {
        pages.current += 1
        await latest.current.refetch()
        return
      }
      const { body } = await latest.current.read({ limit: ITEMS_A_PAGE, cursor }, undefined)
      setOlder((before) => ({
        name,
        items: [...(before?.name === name ? before.items : []), ...body.items],
        nextCursor: body.nextCursor,
      }))
    } finally {
      isReading.current = false
    }
  }, [cursor, isHistory, name])
  const items = useMemo(() => {
    const all = [...(list.data?.items ?? []), ...(kept?.items ?? [])]
    const seen = new Set<string>()
    return all.filter((item) => !seen.has(keyOf(item)) && seen.add(keyOf(item)))
  }, [list.data, kept, keyOf])
  return { ...list, items, loadMore: () => void loadMore().catch(() => undefined) }
}
