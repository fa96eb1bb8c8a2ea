import { useCallback, useRef } from 'react'
import type { LiveEvent } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { api } from '../../requests/api.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import type { Task } from './use-task.ts'

interface Log {
  readonly events: readonly LiveEvent[]
  readonly isComplete: boolean
}

const A_PAGE = 200

/** The first pages of the log; a page that is not full is the last. */
async function readPages(id: string, pages: number, signal: AbortSignal) {
  const events: LiveEvent[] = []
  for (let page = 1; ; page++) {
    const after = String(events.at(-1)?.seq ?? 0)
    const { body, seq } = await api().read('/tasks/:id/events', {
      params: { id },
      query: { after, limit: String(A_PAGE) },
      signal,
    })
    events.push(...body.items)
    const isComplete = body.items.length < A_PAGE
    if (isComplete || page >= pages) return { body: { events, isComplete }, seq }
  }
}

/** A new event is added at the end, if all before it are loaded. */
const append = (id: string) => (log: Log, event: LiveEvent) =>
  event.taskId === id && log.isComplete ? { ...log, events: [...log.events, event] } : log

/** Everything that happened to the task, by number. */
export function EventLog({ task: { id } }: { task: Task }) {
  const pages = useRef(1)
  const read = useSnapshot<Log>(['task-events', id], ({ signal }) => readPages(id, pages.current, signal), {
    apply: append(id),
  })
  const { data: log, refetch } = read
  const isComplete = log?.isComplete ?? true
  const loadMore = useCallback(() => {
    if (isComplete) return
    pages.current++
    void refetch({ cancelRefetch: false })
  }, [isComplete, refetch])
  if (!log) return <Loading read={read} rows={6} />
  return (
    <div className="flex h-120 flex-col">
      <VirtualList
        items={log.events.filter(isForPeople)}
        keyOf={({ seq }) => seq}
        label="Events"
        isMeasured
        onNearEnd={loadMore}
        render={(event) => <EventRow event={event} />}
        rowHeight={32}
      />
    </div>
  )
}

/** What waits for a person is said by the event that makes it wait. */
const isForPeople = ({ type }: LiveEvent) => !type.startsWith('inbox_')

const wordsOf = (type: string) => type.replace(/^task_/, '').replaceAll('_', ' ')

function EventRow({ event }: { event: LiveEvent }) {
  const { seq, type, from, to, by, at, payload } = event
  const details = JSON.stringify(payload, null, 2)
  const look = to === null ? null : STATE_LOOKS[to]
  const line = (
    <>
      <span className="w-12 shrink-0 font-mono text-label text-faint tabular-nums">{seq}</span>
      <span className="inline-flex w-4 shrink-0">
        {to && to !== from && <StateMark size={14} state={to} />}
      </span>
      <span className="font-medium">{wordsOf(type)}</span>
      {look && to !== from && look.word.toLowerCase() !== wordsOf(type) && (
        <span className="text-muted max-sm:hidden">now {look.word.toLowerCase()}</span>
      )}
      <span className="ml-auto min-w-0 truncate text-muted">{by.name ?? by.id ?? by.kind}</span>
      <span className="shrink-0 text-muted">
        <Moment at={at} />
      </span>
    </>
  )
  const row = 'flex min-h-8 items-center gap-2 border-b border-line text-row'
  if (details === '{}') return <div className={row}>{line}</div>
  return (
    <details>
      <summary className={`${row} cursor-pointer list-none hover:bg-hover`}>{line}</summary>
      <pre className="bg-sunken p-3 font-mono text-label wrap-anywhere whitespace-pre-wrap">{details}</pre>
    </details>
  )
}
