import { useCallback, useEffect, useRef, useState } from 'react'
import { useLive } from '../../live/provider.tsx'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { showRefusal } from '../../parts/show-refusal.ts'
import { api } from '../../requests/api.ts'
import { writeSearch } from '../../search-params.ts'
import {
  afterEvent,
  belongs,
  type EventPage,
  type Head,
  type Loaded,
  queryOf,
  withHead,
  withOlder,
} from './event-list.ts'
import type { EventFilter } from './search.ts'

const A_PAGE = 100
/** Where little matches, pages come empty: so many are read before a person is asked whether to look further. */
const MOST_EMPTY_PAGES = 5
/** So many are kept: who wants to read further goes to a number. */
const MOST_KEPT = 20_000

/** The log, newest first, from its end or from `at`. New events come in at the top, and wait while the reader is further down. */
export function useEvents(filter: EventFilter, at: number | undefined) {
  const live = useLive()
  const key = `${writeSearch(filter)} ${at ?? ''}`
  const isAtTop = useRef(true)
  const latest = useRef({ filter, key })
  latest.current = { filter, key }
  const pageAfter = useCallback(
    (after: string | undefined) => ({
      query: {
        ...queryOf(latest.current.filter, live.now()),
        order: 'desc' as const,
        include: 'message',
        limit: String(A_PAGE),
        after,
      },
    }),
    [live],
  )
  const head = useSnapshot<Head>(
    ['events', key],
    async ({ signal }) => {
      const after = at === undefined ? undefined : String(at + 1)
      const { body, seq } = await api().read('/events', { ...pageAfter(after), signal })
      return { body: { ...body, newer: 0 }, seq }
    },
    {
      apply: afterEvent(filter),
      follows: (event) => at === undefined && isAtTop.current && belongs(filter, event),
    },
  )
  const [kept, setKept] = useState<Loaded | null>(null)
  const { data } = head
  useEffect(() => {
    if (data) setKept((before) => withHead(before, key, data))
  }, [data, key])
  const shown = kept?.key === key ? kept : null
  const older = useOlder(shown, setKept, pageAfter)
  const setAtTop = useCallback((next: boolean) => {
    isAtTop.current = next
  }, [])
  return { ...head, shown, newer: at === undefined ? (data?.newer ?? 0) : 0, setAtTop, ...older }
}

/** The pages below what is loaded. */
function useOlder(
  shown: Loaded | null,
  setKept: (change: (before: Loaded | null) => Loaded | null) => void,
  pageAfter: (after: string) => { query: Record<string, string | undefined> },
) {
  const isReading = useRef(false)
  const [isPaused, setIsPaused] = useState<string | null>(null)
  const cursor = shown?.cursor ?? null
  const key = shown?.key
  const readOlder = useCallback(async () => {
    if (cursor === null || isReading.current) return
    isReading.current = true
    try {
      let after: string | null = cursor
      for (let empty = 0; after !== null && empty < MOST_EMPTY_PAGES; empty++) {
        const page: EventPage = await api().get('/events', pageAfter(after))
        setKept((before) => (before?.key === key ? withOlder(before!, page) : before))
        after = page.nextCursor
        if (page.items.length > 0) return setIsPaused(null)
      }
      setIsPaused(after)
    } catch (error) {
      showRefusal(error)
      setIsPaused(cursor)
    } finally {
      isReading.current = false
    }
  }, [cursor, key, pageAfter, setKept])
  const isFull = (shown?.events.length ?? 0) >= MOST_KEPT
  /** On its own while there is room, and while something is found. */
  const loadMore = useCallback(() => {
    if (!isFull && isPaused === null) void readOlder()
  }, [isFull, isPaused, readOlder])
  return { readOlder, loadMore, isFull, isPaused: isPaused !== null && cursor !== null }
}
