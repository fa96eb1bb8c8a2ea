import { useCallback, useEffect, useRef, useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { type LiveEvent, payloadField } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import type { InboxDetail } from '../../things/inbox/kinds.ts'
import { type Closed, type Row, rowsAfter } from './rows.ts'

type InboxSort = 'blocks' | 'oldest'

interface Waiting extends AnswerTo<'GET', '/inbox'> {
  readonly closed: Readonly<Record<string, Closed>>
}

const ITEMS_AT_ONCE = 200
const SHOWN_CLOSED_MS = 3_000

/** The event of an ended item is enough. A new one is read: its event has neither the title nor how much it blocks. */
export function afterEvent(waiting: Waiting, event: LiveEvent): Waiting {
  if (event.type !== 'inbox_closed') return waiting
  const id = payloadField(event, 'id', 'string')
  const item = waiting.items.find((one) => one.id === id)
  if (!item) return waiting
  const closed = {
    by: event.by.name,
    because: payloadField(event, 'because', 'string') ?? '',
    at: Date.parse(event.at),
  }
  return {
    ...waiting,
    items: waiting.items.filter((one) => one !== item),
    counts: { ...waiting.counts, [item.kind]: Math.max(waiting.counts[item.kind] - 1, 0) },
    closed: { ...waiting.closed, [item.id]: closed },
  }
}

/**
 * What waits, in an order that stays while it is read. Ended rows disappear after a moment. Missions that have ended come last, beyond
 * what is read at once: with `only`, nothing else is read.
 */
export function useInbox(sort: InboxSort, only?: 'finished') {
  const read = useSnapshot<Waiting>(
    ['inbox', sort, only ?? 'all'],
    async ({ signal }) => {
      const query = { sort, kind: only, limit: ITEMS_AT_ONCE }
      const { body, seq } = await api().read('/inbox', { query, signal })
      return { body: { ...body, closed: {} }, seq }
    },
    { apply: afterEvent, follows: about.inbox },
  )
  const list = `${sort} ${only}`
  const [shown, setShown] = useState<{ from: Waiting | undefined; list: string; rows: readonly Row[] }>({
    from: undefined,
    list,
    rows: [],
  })
  const { data } = read
  if (data !== undefined && (data !== shown.from || list !== shown.list)) {
    const before = list === shown.list ? shown.rows : []
    setShown({ from: data, list, rows: rowsAfter(before, data.items, data.closed) })
  }
  const hasClosed = shown.rows.some(({ closed }) => closed !== null)
  useEffect(() => {
    if (!hasClosed) return
    const timer = setTimeout(
      () => setShown((before) => ({ ...before, rows: before.rows.filter(({ closed }) => closed === null) })),
      SHOWN_CLOSED_MS,
    )
    return () => clearTimeout(timer)
  }, [hasClosed])
  const total = data ? Object.values(data.counts).reduce((sum, count) => sum + count, 0) : null
  return { ...read, rows: shown.rows, total, hasMore: data?.nextCursor != null }
}

/** Items of tasks and plans never change: another generation or version is another item. */
const isBound = (id: string) => /^(task|plan):/.test(id)

const itemIdIn = ({ item }: LiveEvent['payload']) => (item as { id?: unknown } | undefined)?.id

/** One item with everything that is needed to decide. What happens to its task, mission or agent reads it again. */
export function useInboxItem(id: string) {
  const [subject, setSubject] = useState<InboxDetail['about'] | null>(null)
  // The item that no longer waits, which is not there to be read; its event comes before those of what ended it.
  const over = useRef<string | null>(null)
  const isAbout = useCallback(
    (event: LiveEvent) => {
      const { type, payload } = event
      if (type === 'inbox_closed' && payload.id === id) over.current = id
      if (type === 'inbox_added' && itemIdIn(payload) === id) over.current = null
      if (subject === null || isBound(id) || over.current === id || type === 'inbox_closed') return false
      if (subject.taskId !== null) return about.task(subject.taskId)(event)
      if (subject.missionId !== null) return about.missionItself(subject.missionId)(event)
      return subject.agent !== null && about.agent(subject.agent)(event)
    },
    [id, subject],
  )
  const read = useSnapshot(
    ['inbox-item', id],
    ({ signal }) => api().read('/inbox/:id', { params: { id }, signal }),
    { follows: isAbout },
  )
  const of = read.data?.about ?? null
  if (of !== null && of !== subject) setSubject(of)
  return read
}
