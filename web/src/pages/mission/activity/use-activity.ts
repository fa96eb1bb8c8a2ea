import { useCallback, useRef } from 'react'
import type { LiveEvent } from '../../../live/card.ts'
import { useSnapshot } from '../../../live/use-snapshot.ts'
import { api } from '../../../requests/api.ts'
import type { Filter } from '../views.ts'
import { isTold, rowsOf, typesOf } from './rows.ts'

interface Log {
  /** The oldest first. */
  readonly events: readonly LiveEvent[]
  /** Whether there is nothing before them. */
  readonly isWhole: boolean
}

const A_PAGE = 200
/** So many rows are wanted at first; a plan of hundreds of tasks begins with pages of which little is told. */
const ENOUGH_ROWS = 30
const MOST_PAGES_AT_ONCE = 5

/** A page of the log of a mission, the newest event first; `after`: older than this one. */
const pageOf = (id: string, filter: Filter, after: string | null, signal: AbortSignal) =>
  api().read('/missions/:id/events', {
    params: { id },
    query: {
      order: 'desc',
      limit: String(A_PAGE),
      type: typesOf(filter),
      ...(after === null ? {} : { after }),
    },
    signal,
  })

/** The newest pages of the log of a mission, and older ones on request; new events are added as they come. */
export function useActivity(id: string, filter: Filter) {
  /** How far back is read. */
  const pages = useRef(1)
  const read = useSnapshot<Log>(
    ['mission-activity', id, filter],
    async ({ signal }) => {
      const events: LiveEvent[] = []
      let seq: number | null = null
      let after: string | null = null
      for (let page = 1; ; page++) {
        const answer = await pageOf(id, filter, after, signal)
        const { items, nextCursor } = answer.body
        // The first answer has the newest events: what comes after it, comes live.
        seq ??= answer.seq
        events.unshift(...items.toReversed())
        after = nextCursor
        const isWhole = nextCursor === null
        const hasEnough = rowsOf(filter, events).length >= ENOUGH_ROWS * pages.current
        if (isWhole || (page >= pages.current && (hasEnough || page >= pages.current + MOST_PAGES_AT_ONCE)))
          return { body: { events, isWhole }, seq }
      }
    },
    {
      apply: (log, event) =>
        event.missionId === id && isTold(filter, event) ? { ...log, events: [...log.events, event] } : log,
    },
  )
  const { data, refetch } = read
  const isWhole = data?.isWhole ?? true
  const loadMore = useCallback(() => {
    if (isWhole) return
    pages.current++
    void refetch({ cancelRefetch: false })
  }, [isWhole, refetch])
  return { read, log: data, loadMore }
}
