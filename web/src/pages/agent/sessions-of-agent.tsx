import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { nameOfTask } from '../../requests/act-words.ts'
import { api } from '../../requests/api.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { useAct } from '../../things/use-act.ts'
import { useSessionsOfAgent } from './use-agent.ts'

type TaskSession = AnswerTo<'GET', '/agents/:id/task-sessions'>['items'][number]

/** The conversations that it takes up again, one for each task. */
export function SessionsOfAgent({ slug }: { slug: string }) {
  const read = useSessionsOfAgent(slug)
  const { data } = read
  const [asked, setAsked] = useState<TaskSession | 'all' | null>(null)
  const reset = useAct(
    (which: TaskSession | 'all') =>
      api().post('/agents/:id/reset-session', {
        params: { id: slug },
        body: which === 'all' ? {} : { taskKey: which.taskKey },
      }),
    ({ cleared }) => {
      void read.refetch()
      return `${cleared === 1 ? 'One session was' : `${cleared} sessions were`} reset.`
    },
  )
  if (!data) return <Loading className="px-6 py-3" read={read} rows={5} />
  if (data.items.length === 0)
    return (
      <Empty
        drawing="handover"
        text="When the agent works on a task again, it resumes the conversation it had. Those are listed here."
        title="No sessions"
      />
    )
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 px-6 py-3 text-row text-muted max-sm:px-4">
        <p className="min-w-0 flex-1">It resumes these conversations when it works on their tasks again.</p>
        <Button disabledReason={reset.whyNot} onClick={() => setAsked('all')} size="small">
          Reset all
        </Button>
      </div>
      <DataTable
        columns={columnsOf((session) => setAsked(session), reset.whyNot)}
        keyOf={({ taskKey }) => taskKey || 'no task'}
        label={`Sessions of ${slug}`}
        rowHeight={44}
        rows={data.items}
      />
      <ConfirmDialog
        confirm={asked === 'all' ? 'Reset all' : 'Reset session'}
        onClose={() => setAsked(null)}
        onConfirm={() => asked && reset.run(asked)}
        open={asked !== null}
        text="The next run begins a new conversation and does not know the old one. This cannot be undone."
        title={asked === 'all' ? `Reset all sessions of ${slug}?` : 'Reset this session?'}
      />
    </>
  )
}

const columnsOf = (
  onReset: (session: TaskSession) => void,
  forbidden: string | null,
): Column<TaskSession>[] => [
  {
    name: 'task',
    words: 'Task',
    width: 'minmax(200px, 1fr)',
    phone: 'first',
    cell: ({ taskKey }) =>
      taskKey === '' ? (
        <span className="text-muted">runs without a task</span>
      ) : (
        <PageLink
          className="font-medium tabular-nums hover:text-accent hover:underline"
          to={`/tasks/${taskKey}`}
        >
          Task {nameOfTask(taskKey, undefined)}
        </PageLink>
      ),
  },
  {
    name: 'session',
    words: 'Session',
    width: 'minmax(120px, 2fr)',
    phone: 'second',
    cell: ({ sessionDisplayId }) =>
      sessionDisplayId ? <Copyable text={sessionDisplayId} /> : <span className="text-faint">none</span>,
  },
  {
    name: 'error',
    words: 'Last failure',
    width: 'minmax(120px, 2fr)',
    phone: 'hidden',
    cell: ({ lastError }) => lastError && <span className="text-bad">{reasonText(lastError)}</span>,
  },
  {
    name: 'used',
    words: 'Used',
    width: '88px',
    align: 'end',
    cell: ({ updatedAt }) => <Moment at={updatedAt} />,
  },
  {
    name: 'acts',
    words: <span className="sr-only">Actions</span>,
    width: '80px',
    align: 'end',
    cell: (session) => (
      <Button disabledReason={forbidden} kind="quiet" onClick={() => onReset(session)} size="small">
        Reset
      </Button>
    ),
  },
]
