import type { Column } from '../../parts/data-table.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { HeldTasks } from './held-tasks.tsx'
import { sessionWords } from './memory-words.ts'
import { type ListedSession, type SessionFilter, useSessions } from './use-sessions.ts'

/** The names under which agents hold tasks. One opens beside the list, with what it remembers. */
export function SessionsTable(props: {
  filter: SessionFilter
  selected: string | undefined
  onOpen: (session: string) => void
}) {
  const { filter, selected, onOpen } = props
  const list = useSessions(filter)
  return (
    <Loaded className="px-6 py-3" empty={<NoSessions filter={filter} />} read={list} rows={5}>
      {() => (
        <DataTable
          columns={columnsOf(onOpen)}
          drops={DROPS}
          keyOf={({ session }) => session}
          label="Sessions"
          onNearEnd={list.loadMore}
          onOpen={({ session }) => onOpen(session)}
          rows={list.items}
          selected={selected}
        />
      )}
    </Loaded>
  )
}

function NoSessions({ filter: { project, state } }: { filter: SessionFilter }) {
  if (state !== undefined)
    return <Empty drawing="search" text="No session is in this state." title="Nothing found" />
  return (
    <Empty
      drawing="handover"
      text={
        project !== undefined
          ? 'A session is the name under which an agent holds tasks. Those that name this project, or hold a task of it, are listed here with what they did.'
          : 'A session is the name under which an agent holds tasks. It begins with the first task that is taken under it.'
      }
      title="No sessions yet"
    />
  )
}

const DROPS = ['started', 'user', 'holds', 'agent']

const columnsOf = (onOpen: (session: string) => void): Column<ListedSession>[] => [
  {
    name: 'session',
    words: 'Session',
    width: 'minmax(200px, 1.4fr)',
    phone: 'first',
    cell: ({ session }) => (
      <button
        className="max-w-full truncate text-left font-medium hover:text-accent hover:underline"
        onClick={() => onOpen(session)}
        type="button"
      >
        {sessionWords(session)}
      </button>
    ),
  },
  {
    name: 'state',
    words: 'State',
    width: '104px',
    phone: 'second',
    cell: ({ state }) => <StateChip state={state} />,
  },
  {
    name: 'agent',
    words: 'Agent',
    width: 'minmax(96px, 0.8fr)',
    phone: 'hidden',
    cell: ({ agent }) => <span className="text-muted">{agent}</span>,
  },
  {
    name: 'user',
    words: 'User',
    width: 'minmax(80px, 0.6fr)',
    phone: 'hidden',
    cell: ({ userId }) => <span className="text-muted">{userId}</span>,
  },
  {
    name: 'holds',
    words: 'Holds',
    width: 'minmax(140px, 1.4fr)',
    phone: 'hidden',
    cell: (session) => <HeldTasks {...session} />,
  },
  {
    name: 'started',
    words: 'Started',
    width: '80px',
    align: 'end',
    phone: 'hidden',
    cell: ({ startedAt }) => (
      <span className="text-muted">
        <Moment at={startedAt} />
      </span>
    ),
  },
  {
    name: 'seen',
    words: 'Last seen',
    width: '80px',
    align: 'end',
    phone: 'second',
    cell: ({ lastSeenAt }) => (
      <span className="text-muted">
        <Moment at={lastSeenAt} />
      </span>
    ),
  },
]
