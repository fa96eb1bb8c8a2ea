import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { durationText } from '../../parts/wording.ts'
import { HeldTasks } from '../../things/session/held-tasks.tsx'
import { useDrain, useUnregister, useWorkers, type Worker } from './use-workers.ts'

/** Workers with their room, what they hold and when they were last heard. */
export function WorkersTable(props: { selected: string | undefined; onOpen: (worker: string) => void }) {
  const { selected, onOpen } = props
  const read = useWorkers()
  const drain = useDrain()
  const unregister = useUnregister()
  const [asked, setAsked] = useState<Worker | null>(null)
  const acts: Acts = {
    open: onOpen,
    drain: drain.run,
    isDraining: (name) => drain.isBusy && drain.asked === name,
    whyNot: drain.whyNot,
    unregister: setAsked,
  }
  return (
    <>
      <Loaded className="px-6 py-3" empty={<NoWorkers />} read={read} rowHeight={44} rows={5}>
        {({ items }) => (
          <DataTable
            columns={columnsOf(acts)}
            drops={DROPS}
            keyOf={({ session }) => session}
            label="Workers"
            onOpen={({ session }) => onOpen(session)}
            rowHeight={44}
            rows={items}
            selected={selected}
            touchRowHeight={92}
          />
        )}
      </Loaded>
      <ConfirmDialog
        busy={unregister.isBusy}
        confirm="Unregister"
        isDangerous
        onClose={() => setAsked(null)}
        onConfirm={() => asked && unregister.run(asked.session)}
        open={asked !== null}
        text={
          asked && asked.holds > 0
            ? 'What it holds goes back to the queue at once, and no attempt is spent. Drain it instead to let it finish.'
            : 'It gets no more work until it registers again.'
        }
        title={`Unregister ${asked?.session ?? ''}?`}
      />
    </>
  )
}

const NoWorkers = () => (
  <Empty
    command={`curl -X POST …/api/v1/workers -d '{"worker":"worker-1","capacity":4}'`}
    drawing="terminal"
    text="A worker is a program of yours that takes tasks, as many at once as it says, and sends heartbeats while it works. Agents that Baton runs need none."
    title="No workers yet"
  />
)

interface Acts {
  open: (worker: string) => void
  drain: (worker: string) => void
  isDraining: (worker: string) => boolean
  whyNot: string | null
  unregister: (worker: Worker) => void
}

const isOver = ({ state }: Worker) => state === 'ended' || state === 'lost'
const whyNotDrain = (worker: Worker) =>
  isOver(worker) ? 'It is over.' : worker.state === 'draining' ? 'It already takes no new work.' : null

const DROPS = ['can', 'agent', 'holds']

const columnsOf = (acts: Acts): Column<Worker>[] => [
  {
    name: 'worker',
    words: 'Worker',
    width: 'minmax(200px, 1.2fr)',
    phone: 'first',
    cell: ({ session }) => (
      <button
        className="max-w-full truncate text-left font-medium hover:text-accent hover:underline"
        onClick={() => acts.open(session)}
        type="button"
      >
        {session}
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
    width: 'minmax(80px, 0.6fr)',
    phone: 'hidden',
    cell: ({ agent }) => <span className="text-muted">{agent}</span>,
  },
  {
    name: 'holds',
    words: 'Holds',
    width: 'minmax(140px, 1.4fr)',
    phone: 'room',
    cell: (worker) => <HeldTasks {...worker} />,
  },
  {
    name: 'can',
    words: 'Can',
    width: 'minmax(80px, 0.8fr)',
    phone: 'hidden',
    cell: ({ capabilities }) => <span className="text-muted">{capabilities.join(', ')}</span>,
  },
  {
    name: 'seen',
    words: 'Last heartbeat',
    width: '112px',
    phone: 'room',
    cell: ({ lastSeenAt, silenceSeconds }) => (
      <span className="text-muted" title={`Lost after ${durationText(silenceSeconds * 1_000)} of silence`}>
        <Moment at={lastSeenAt} />
      </span>
    ),
  },
  {
    name: 'acts',
    words: <span className="sr-only">Actions</span>,
    width: '172px',
    align: 'end',
    phone: 'second',
    cell: (worker) => (
      <span className="flex justify-end gap-1.5">
        <Button
          aria-label={`Drain ${worker.session}`}
          busy={acts.isDraining(worker.session)}
          disabledReason={acts.whyNot ?? whyNotDrain(worker)}
          kind="quiet"
          onClick={() => acts.drain(worker.session)}
          size="small"
        >
          Drain
        </Button>
        <Button
          aria-label={`Unregister ${worker.session}`}
          disabledReason={acts.whyNot ?? (isOver(worker) ? 'It is over.' : null)}
          kind="quiet"
          onClick={() => acts.unregister(worker)}
          size="small"
        >
          Unregister
        </Button>
      </span>
    ),
  },
]
