import { type ReactNode, useState } from 'react'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { countText } from '../../parts/wording.ts'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../use-act.ts'
import { entryWords, linesOf, sessionWords } from './memory-words.ts'
import { type SessionMemory, useSessionMemory } from './use-sessions.ts'

/** A session beside the list: what it holds, what it completed, and its log. */
export function SessionPanel({ session, onClose }: { session: string; onClose: () => void }) {
  const read = useSessionMemory(session)
  return (
    <SidePanel onClose={onClose} title={sessionWords(read.data?.session ?? session)}>
      <Loaded read={read} rows={8}>
        {(memory) => <Memory memory={memory} />}
      </Loaded>
    </SidePanel>
  )
}

function Memory({ memory }: { memory: SessionMemory }) {
  const { state, agent, userId, project, startedAt, lastActivity, capacity, capabilities } = memory
  const facts: [string, ReactNode][] = [
    ['Agent', agent],
    ['User', userId],
    [
      'Project',
      project && (
        <PageLink className="text-accent hover:underline" to={`/projects/${project}`}>
          {project}
        </PageLink>
      ),
    ],
    ['Started', <Moment at={startedAt} key="started" />],
    ['Last activity', <Moment at={lastActivity} key="last" />],
    ['Room for', capacity === null ? null : `${countText(capacity)} ${capacity === 1 ? 'task' : 'tasks'}`],
    ['Can', capabilities.join(', ')],
  ]
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <div className="flex items-center gap-2">
        <StateChip state={state} />
        <EndSession memory={memory} />
      </div>
      <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-row">
        {facts
          .filter(([, value]) => value)
          .map(([words, value]) => (
            <div className="contents" key={words}>
              <dt className="text-muted">{words}</dt>
              <dd className="min-w-0 truncate">{value}</dd>
            </div>
          ))}
      </dl>
      <Holds claims={memory.activeClaims} />
      <Completed names={memory.completedTasks} />
      <Log memory={memory} />
    </div>
  )
}

const Part = ({ title, count, children }: { title: string; count: number; children: ReactNode }) => (
  <section aria-label={title}>
    <h3 className="text-row font-medium">
      {title} <span className="font-normal text-faint">{countText(count)}</span>
    </h3>
    {children}
  </section>
)

function Holds({ claims }: { claims: SessionMemory['activeClaims'] }) {
  return (
    <Part count={claims.length} title="Holds">
      {claims.length === 0 && <p className="text-row text-muted">It holds no task.</p>}
      <ul className="mt-1 flex flex-col gap-1">
        {claims.map(({ taskId, key, leaseExpiresAt }) => (
          <li className="flex items-baseline gap-3 text-row" key={taskId}>
            <TaskName taskId={taskId} taskKey={key} />
            <span className="ml-auto shrink-0 text-muted">
              lease ends <Moment at={leaseExpiresAt} />
            </span>
          </li>
        ))}
      </ul>
    </Part>
  )
}

function TaskName({ taskId, taskKey }: { taskId: string; taskKey: string | null }) {
  return (
    <PageLink
      className="min-w-0 truncate font-medium hover:text-accent hover:underline"
      title={taskKey ?? undefined}
      to={`/tasks/${taskId}`}
    >
      {taskKey === null ? nameOfTask(taskId, undefined) : shortKey(taskKey)}
    </PageLink>
  )
}

const isKey = (name: string) => /^[A-Z]{1,8}-\d{3}-/.test(name)

function Completed({ names }: { names: readonly string[] }) {
  return (
    <Part count={names.length} title="Completed">
      {names.length === 0 && <p className="text-row text-muted">None of its results was accepted yet.</p>}
      <ul className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-row">
        {names.map((name) => (
          <li className="min-w-0" key={name}>
            <TaskName taskId={name} taskKey={isKey(name) ? name : null} />
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Log({ memory: { taskLog, taskLogIsWhole } }: { memory: SessionMemory }) {
  const lines = linesOf(taskLog)
  return (
    <Part count={taskLog.length} title="Log">
      <ol className="mt-1 flex flex-col">
        {lines.map(({ entry, times }) => (
          <li
            className="flex items-baseline gap-3 border-b border-line py-1.5 text-row"
            key={`${entry.timestamp} ${entry.event} ${entry.taskId} ${entry.generation}`}
          >
            <span className="min-w-0 flex-1 break-words">
              {entryWords(entry)}
              {times > 1 && <span className="text-muted"> {countText(times)} times</span>}
            </span>
            <span className="max-w-32 min-w-0 truncate">
              <TaskName taskId={entry.taskId} taskKey={entry.key} />
            </span>
            <span className="w-16 shrink-0 text-right text-muted">
              <Moment at={entry.timestamp} />
            </span>
          </li>
        ))}
      </ol>
      {!taskLogIsWhole && (
        <p className="pt-2 text-label text-muted">
          Only the newest {countText(taskLog.length)} entries are shown.
        </p>
      )}
    </Part>
  )
}

/** What it holds goes back to the queue. */
function EndSession({ memory }: { memory: SessionMemory }) {
  const { session, state, activeClaims } = memory
  const [isAsked, setAsked] = useState(false)
  const end = useAct(
    () => api().delete('/sessions/:id', { params: { id: session } }),
    `The session ${session} has ended.`,
    { right: 'work' },
  )
  const isOver = state === 'ended' || state === 'lost'
  const held = activeClaims.length
  return (
    <>
      <Button
        busy={end.isBusy}
        disabledReason={end.whyNot ?? (isOver ? 'It is over.' : null)}
        onClick={() => setAsked(true)}
        size="small"
      >
        End session
      </Button>
      <ConfirmDialog
        confirm="End session"
        isDangerous
        onClose={() => setAsked(false)}
        onConfirm={() => end.run()}
        open={isAsked}
        text={
          held === 0
            ? 'It holds no task.'
            : `The ${held === 1 ? 'task' : `${countText(held)} tasks`} it holds ${held === 1 ? 'goes' : 'go'} back to the queue, and no attempt is spent.`
        }
        title={`End the session ${session}?`}
      />
    </>
  )
}
