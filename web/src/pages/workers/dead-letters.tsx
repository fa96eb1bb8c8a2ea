import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { countText } from '../../parts/wording.ts'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { deadWords } from './dead-words.ts'
import { type DeadLetter, useDeadLetters, useRetryDead } from './use-workers.ts'

/** Tasks that ran out of attempts: why, and another try for one, some or all of them. */
export function DeadLetters() {
  const list = useDeadLetters()
  const { items, loadMore } = list
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isAllAsked, setAllAsked] = useState(false)
  const retry = useRetryDead()
  // Those that were retried, here or elsewhere, are chosen no more.
  const selected = items.filter(({ id }) => chosen.has(id)).map(({ id }) => id)
  const toggle = (id: string) =>
    setChosen((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  const retryChosen = () => selected.length > 0 && retry.run(selected)
  useShortcuts('Dead letters', {
    t: {
      words: 'Retry those that are chosen',
      run: retryChosen,
      isOff: selected.length === 0 || retry.whyNot !== null,
    },
  })
  const columns = columnsOf({
    chosen,
    toggle,
    retry: (id) => retry.run([id]),
    isRetrying: (id) => retry.isBusy && (retry.asked?.includes(id) ?? true),
    whyNot: retry.whyNot,
  })
  return (
    <Loaded className="px-6 py-3" empty={<None />} read={list} rowHeight={44} rows={5}>
      {() => (
        <>
          <div className="flex flex-wrap items-center gap-2 px-6 py-2 max-sm:px-4">
            <p className="min-w-0 flex-1 basis-72 text-row text-muted">
              These tasks have no attempts left. They stay here until somebody retries them, and what depends
              on them waits.
            </p>
            <Button
              busy={retry.isBusy}
              disabledReason={retry.whyNot ?? (selected.length === 0 ? 'Choose some first.' : null)}
              onClick={retryChosen}
              shortcut="t"
              size="small"
            >
              {selected.length === 0 ? 'Retry chosen' : `Retry ${countText(selected.length)} chosen`}
            </Button>
            <Button disabledReason={retry.whyNot} onClick={() => setAllAsked(true)} size="small">
              Retry all
            </Button>
          </div>
          <DataTable
            columns={columns}
            drops={DROPS}
            keyOf={({ id }) => id}
            label="Dead letters"
            onNearEnd={loadMore}
            rowHeight={44}
            rows={items}
            touchRowHeight={92}
          />
          <ConfirmDialog
            confirm="Retry all"
            onClose={() => setAllAsked(false)}
            onConfirm={() => retry.run(undefined)}
            open={isAllAsked}
            text="Each gets its attempts again, up to 1,000 tasks at a time. They cost what they cost before."
            title="Retry all dead letters?"
          />
        </>
      )}
    </Loaded>
  )
}

const None = () => (
  <Empty
    drawing="tray"
    text="A task that failed and has no attempts left is kept here with its reason, until somebody retries it."
    title="No dead letters"
  />
)

interface Acts {
  chosen: ReadonlySet<string>
  toggle: (id: string) => void
  retry: (id: string) => void
  isRetrying: (id: string) => boolean
  whyNot: string | null
}

const nameOf = ({ id, key }: DeadLetter) => (key === null ? nameOfTask(id, undefined) : shortKey(key))

const DROPS = ['at', 'project']

const columnsOf = (acts: Acts): Column<DeadLetter>[] => [
  {
    name: 'choose',
    words: <span className="sr-only">Chosen</span>,
    width: '24px',
    phone: 'first',
    cell: (task) => (
      <input
        aria-label={`Choose ${nameOf(task)}`}
        checked={acts.chosen.has(task.id)}
        className="block size-4 accent-(--accent)"
        onChange={() => acts.toggle(task.id)}
        type="checkbox"
      />
    ),
  },
  {
    name: 'task',
    words: 'Task',
    width: 'minmax(200px, 1.2fr)',
    phone: 'first',
    cell: (task) => (
      <PageLink className="hover:text-accent hover:underline" title={task.title} to={`/tasks/${task.id}`}>
        <span className="mr-1.5 text-muted tabular-nums">{nameOf(task)}</span>
        <span className="font-medium">{task.title}</span>
      </PageLink>
    ),
  },
  {
    name: 'why',
    words: 'Why',
    width: 'minmax(160px, 2fr)',
    phone: 'second',
    cell: (task) => (
      <span
        className="text-bad max-sm:pointer-coarse:line-clamp-2 max-sm:pointer-coarse:whitespace-normal"
        title={task.error ?? deadWords(task)}
      >
        {deadWords(task)}
      </span>
    ),
  },
  {
    name: 'project',
    words: 'Project',
    width: 'minmax(72px, 0.5fr)',
    phone: 'hidden',
    cell: ({ project }) =>
      project && (
        <PageLink className="text-muted hover:text-accent hover:underline" to={`/projects/${project}`}>
          {project}
        </PageLink>
      ),
  },
  {
    name: 'at',
    words: 'Failed',
    width: '80px',
    align: 'end',
    phone: 'hidden',
    cell: ({ completedAt, updatedAt }) => (
      <span className="text-muted">
        <Moment at={completedAt ?? updatedAt} />
      </span>
    ),
  },
  {
    name: 'acts',
    words: <span className="sr-only">Actions</span>,
    width: '72px',
    align: 'end',
    phone: 'second',
    cell: (task) => (
      <Button
        aria-label={`Retry ${nameOf(task)}`}
        busy={acts.isRetrying(task.id)}
        disabledReason={acts.whyNot}
        kind="quiet"
        onClick={() => acts.retry(task.id)}
        size="small"
      >
        Retry
      </Button>
    ),
  },
]
