import type { AnswerTo } from '../../../../src/client/client.ts'
import { PageLink } from '../../links.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { nameOfTask } from '../../requests/act-words.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { shortId } from '../../things/run/run.ts'
import { requesterText } from './requester.ts'
import { useWakeupsOfAgent } from './use-agent.ts'

type Wakeup = AnswerTo<'GET', '/agents/:id/wakeups'>['items'][number]

/** Why it was woken, and what came of it. */
export function WakeupsOfAgent({ slug }: { slug: string }) {
  return (
    <Loaded className="px-6 py-3" empty={NONE} read={useWakeupsOfAgent(slug)} rows={5}>
      {({ items }) => (
        <DataTable columns={COLUMNS} keyOf={({ id }) => id} label={`Wakeups of ${slug}`} rows={items} />
      )}
    </Loaded>
  )
}

const NONE = (
  <Empty
    drawing="terminal"
    text="It is woken by work that waits, by a timer, or by you."
    title="Never woken"
  />
)

const SOURCES: Record<Wakeup['source'], string> = {
  timer: 'Timer',
  assignment: 'A task for it',
  on_demand: 'Woken by hand',
  automation: 'An agent or a program',
}

const COLUMNS: Column<Wakeup>[] = [
  {
    name: 'status',
    words: 'Status',
    width: '168px',
    phone: 'first',
    cell: ({ status }) => <StateChip state={status} />,
  },
  {
    name: 'source',
    words: 'Why',
    width: 'minmax(120px, 1fr)',
    phone: 'first',
    cell: ({ source, reason }) => (
      <>
        {SOURCES[source]}
        {reason && <span className="text-muted"> · {reason}</span>}
      </>
    ),
  },
  {
    name: 'task',
    words: 'Task',
    width: '72px',
    phone: 'second',
    cell: ({ taskId }) =>
      taskId && (
        <PageLink className="tabular-nums hover:text-accent hover:underline" to={`/tasks/${taskId}`}>
          {nameOfTask(taskId, undefined)}
        </PageLink>
      ),
  },
  {
    name: 'by',
    words: 'By',
    width: 'minmax(80px, 0.8fr)',
    phone: 'hidden',
    cell: ({ requestedBy, requestedByName }) => (
      <span className="text-muted">{requestedByName ?? requesterText(requestedBy)}</span>
    ),
  },
  {
    name: 'outcome',
    words: 'Outcome',
    width: 'minmax(200px, 2fr)',
    cell: (wakeup) => <Outcome wakeup={wakeup} />,
  },
  {
    name: 'at',
    words: 'Asked',
    width: '88px',
    align: 'end',
    cell: ({ requestedAt }) => <Moment at={requestedAt} />,
  },
]

function Outcome({ wakeup }: { wakeup: Wakeup }) {
  const { runId, detail, error, coalescedCount } = wakeup
  const said = detail ?? (error === null ? null : reasonText(error))
  return (
    <>
      {runId && (
        <PageLink className="font-mono text-accent hover:underline" to={`/runs/${runId}`}>
          run {shortId(runId)}
        </PageLink>
      )}
      {coalescedCount > 0 && <span className="text-muted"> {coalescedCount} more joined it</span>}
      {said && (
        <span className={error ? 'text-bad' : 'text-muted'} title={said}>
          {' '}
          {said}
        </span>
      )}
    </>
  )
}
