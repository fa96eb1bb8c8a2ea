import { useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { NewerPill } from '../../parts/newer-pill.tsx'
import { Page } from '../../parts/page.tsx'
import { useScrolled } from '../../parts/use-scrolled.ts'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { countText } from '../../parts/wording.ts'
import { writeSearch } from '../../search-params.ts'
import { EVENT_DROPS, eventColumns } from './columns.tsx'
import type { ListedEvent } from './event-list.ts'
import { EventPanel } from './event-panel.tsx'
import { Filters } from './filters.tsx'
import { Jump } from './jump.tsx'
import { type EventsSearch, filterIn } from './search.ts'
import { useEvents } from './use-events.ts'

type Change = { [Name in keyof EventsSearch]?: EventsSearch[Name] | undefined }

/** The log of the workspace: everything that happened, newest first, by its numbers. */
export function Events() {
  const search = useSearch({ from: '/events' })
  const { at, event: opened } = search
  const filter = filterIn(search)
  const go = useGo()
  const list = useEvents(filter, at)
  const { shown, newer, refetch, setAtTop } = list
  const events = shown?.events ?? []
  const table = useRef<VirtualListHandle>(null)
  const isScrolled = useScrolled(table, setAtTop, events.length > 0)
  const [isJumping, setIsJumping] = useState(false)
  const change = (part: Change, replace = false) =>
    go(`/events${writeSearch({ ...search, ...part })}`, { replace })
  const open = (event: ListedEvent) => change({ event: event.seq }, opened !== undefined)
  const [selected, setSelected] = useEventKeys({
    ...{ events, opened, table, open },
    close: () => change({ event: undefined }),
    jump: () => setIsJumping(true),
    toNewest: () => (at === undefined ? table.current?.scrollToIndex(0, 'start') : change({ at: undefined })),
  })
  const latest = useRef(open)
  latest.current = open
  const columns = useMemo(() => eventColumns((event) => latest.current(event)), [])
  const showNewer = () => {
    table.current?.scrollToIndex(0, 'start')
    void refetch()
  }
  return (
    <Page
      actions={
        <Button onClick={() => setIsJumping(true)} shortcut=":" size="small">
          Go to…
        </Button>
      }
      filters={<Filters filter={filter} onChange={(part) => change({ ...part, at: undefined })} />}
      hasFiltersBelow
      isFull
      panel={
        opened !== undefined && (
          <EventPanel
            listed={events.find(({ seq }) => seq === opened)}
            onClose={() => change({ event: undefined })}
            seq={opened}
          />
        )
      }
      title="Events"
    >
      {at !== undefined && (
        <p className="flex items-center gap-2 px-6 pb-2 text-row text-muted max-sm:px-4">
          <Chip onRemove={() => change({ at: undefined })} removeLabel="Back to the newest">
            from {countText(at)} back
          </Chip>
        </p>
      )}
      {!list.data || !shown ? (
        <Loading className="px-6" read={list} rows={12} />
      ) : events.length === 0 && shown.cursor === null ? (
        <NoEvents onClear={() => go('/events')} />
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <DataTable
            columns={columns}
            drops={EVENT_DROPS}
            keyOf={keyOf}
            label="Events"
            onNearEnd={list.loadMore}
            onOpen={(event) => {
              setSelected(event.seq)
              open(event)
            }}
            ref={table}
            rows={events}
            selected={String(opened ?? selected ?? '')}
          />
          {isScrolled && newer > 0 && <NewerPill count={newer} onShow={showNewer} />}
          <Further list={list} onContinue={(seq) => change({ at: seq })} />
        </div>
      )}
      {isJumping && (
        <Jump
          onClose={() => setIsJumping(false)}
          onJump={(seq) => {
            setIsJumping(false)
            change({ at: seq })
          }}
        />
      )}
    </Page>
  )
}

const keyOf = ({ seq }: ListedEvent) => String(seq)

/** The place in the list, and the keys that move it. With the panel open they move what it shows. */
function useEventKeys(list: {
  events: readonly ListedEvent[]
  opened: number | undefined
  table: React.RefObject<VirtualListHandle | null>
  open: (event: ListedEvent) => void
  close: () => void
  jump: () => void
  toNewest: () => void
}) {
  const { events, opened, table, open, close, jump, toNewest } = list
  const [selected, setSelected] = useState<number | null>(null)
  const current = opened ?? selected
  const move = (by: number) => {
    const place = events.findIndex(({ seq }) => seq === current)
    const to = Math.min(Math.max(place + by, 0), events.length - 1)
    const event = events[to]
    if (!event) return
    setSelected(event.seq)
    table.current?.scrollToIndex(to)
    if (opened !== undefined) open(event)
  }
  const chosen = events.find(({ seq }) => seq === current)
  useShortcuts('Events', {
    j: { words: 'Next event', run: () => move(1), repeats: true },
    k: { words: 'Previous event', run: () => move(-1), repeats: true },
    Enter: { words: 'Open the event', run: () => chosen && open(chosen), isOff: !chosen },
    Esc: { words: 'Close the panel', run: close, isOff: opened === undefined },
    ':': { words: 'Go to a number or a time', run: jump },
    Home: { words: 'Back to the newest', run: toNewest },
    '/': {
      words: 'Filter by type',
      run: (event) => {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-events-type]')?.focus()
      },
    },
  })
  return [selected, setSelected] as const
}

/** Below the list: it has read far and found little, or as much as it keeps. */
function Further({
  list,
  onContinue,
}: {
  list: ReturnType<typeof useEvents>
  onContinue: (seq: number) => void
}) {
  const { shown, isPaused, isFull, readOlder } = list
  const cursor = shown?.cursor ?? null
  if (cursor === null || !(isPaused || isFull || shown?.events.length === 0)) return null
  return (
    <p className="flex flex-wrap items-center gap-3 border-t border-line px-6 py-2 text-row text-muted max-sm:px-4">
      Looked back to event {countText(Number(cursor))}.
      <Button onClick={() => (isFull ? onContinue(Number(cursor)) : void readOlder())} size="small">
        {isFull ? 'Continue from there' : 'Look further back'}
      </Button>
    </p>
  )
}

function NoEvents({ onClear }: { onClear: () => void }) {
  return (
    <Empty
      action={<Button onClick={onClear}>Show all events</Button>}
      drawing="search"
      text="No event matches. The log has everything that happened in this workspace, in its order."
      title="Nothing found"
    />
  )
}
