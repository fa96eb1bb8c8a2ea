import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { idCarriedBy } from '../../../../src/pure/ids.ts'
import { type Shortcuts, useShortcuts } from '../../keys/shortcuts.ts'
import { useSiblingKeys } from '../../keys/siblings.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Field } from '../../parts/field.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { searchQuery } from '../../requests/search.ts'
import { writeSearch } from '../../search-params.ts'
import { TASK_TABS } from '../../things/task/tabs.ts'
import { TaskActButtons } from '../../things/task/task-acts.tsx'
import { firstTab, TaskBody, type TaskPlace } from '../../things/task/task-body.tsx'
import { TaskFacts, TaskHeading, titleOf } from '../../things/task/task-heading.tsx'
import type { useTaskRuns } from '../../things/task/use-task.ts'
import { type Task as TaskRead, useShownTask, useTask } from '../../things/task/use-task.ts'

/** One task: why it is in its state, what happened, its attempts and results, and all that can be done. */
export function Task() {
  const { idOrKey } = useParams({ from: '/tasks/$idOrKey' })
  const read = useTask(idOrKey)
  const { data: task, error } = read
  if (task) return <TaskPage idOrKey={idOrKey} task={task} />
  const isMissing = (error as { status?: number } | null)?.status === 404
  return (
    <Page title={`Task ${nameInAddress(idOrKey)}`}>
      {isMissing ? <MissingTask name={idOrKey} /> : <Loading read={read} rows={8} />}
    </Page>
  )
}

/** As people name it, while nothing but its address is known. */
function nameInAddress(idOrKey: string): string {
  const number = idCarriedBy(idOrKey)
  return number === null ? idOrKey : `#${number}`
}

function TaskPage({ task, idOrKey }: { task: TaskRead; idOrKey: string }) {
  const place = useSearch({ from: '/tasks/$idOrKey' })
  const now = useShownTask(task)
  const go = useGo()
  const show = (next: TaskPlace) => go(`/tasks/${idOrKey}${writeSearch({ ...next })}`)
  useOpenRuns(task.id)
  useSiblingKeys('task', task.id, (other) => go(`/tasks/${other}`))
  useShortcuts('Task', {
    d: { words: 'Compare results', run: () => show({ tab: 'results' }) },
    v: {
      words: 'Next tab',
      run: () =>
        show({ tab: TASK_TABS[(TASK_TABS.indexOf(place.tab ?? firstTab(now)) + 1) % TASK_TABS.length] }),
    },
  })
  return (
    <Page
      actions={<TaskActButtons hasKeys now={now} task={task} />}
      heading={<TaskHeading now={now} task={task} />}
      text={<TaskFacts now={now} task={task} />}
      title={titleOf(task)}
    >
      <TaskBody isCompact={false} now={now} onPlace={show} place={place} task={task} />
    </Page>
  )
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9'] as const

/** The keys 1 to 9 open the last run of that generation, if the runs are on the page. */
function useOpenRuns(id: string): void {
  const queries = useQueryClient()
  const go = useGo()
  const open = (generation: number) => {
    const read = queries.getQueryData<{ body: ReturnType<typeof useTaskRuns>['data'] }>(['task-runs', id])
    const run = read?.body?.items
      .filter((one) => one.generation === generation)
      .sort((a, b) => (a.id < b.id ? 1 : -1))[0]
    if (run) go(`/runs/${run.id}`)
  }
  const shortcuts: Shortcuts = Object.fromEntries(
    KEYS.map((key) => [key, { words: `Open the run of attempt no. ${key}`, run: () => open(Number(key)) }]),
  )
  useShortcuts('Runs of the task', shortcuts)
}

/** No task has this name here: maybe another one was meant. */
function MissingTask({ name }: { name: string }) {
  const [q, setQ] = useState(name)
  const { data } = useQuery({ ...searchQuery(q.trim()), enabled: q.trim() !== '' })
  const tasks = data?.items.filter(({ kind }) => kind === 'task') ?? []
  return (
    <div className="mx-auto flex max-w-prose flex-col">
      <Empty
        drawing="search"
        text={`There is no task ${nameInAddress(name).slice(0, 80)} here, or it was removed.`}
        title="Not in this workspace"
      />
      <Field label="Look for a task">
        <TextInput onChange={(event) => setQ(event.target.value)} type="search" value={q} />
      </Field>
      {data && tasks.length === 0 && <p className="mt-2 text-row text-muted">No task matches that.</p>}
      <ul aria-label="Found tasks" className="mt-2 flex flex-col">
        {tasks.map((task) => (
          <li key={task.id}>
            <PageLink
              className="touchable flex min-h-8 items-center rounded-chip px-2 text-row hover:bg-hover"
              to={`/tasks/${task.id}`}
            >
              <span className="min-w-0 truncate">{task.title}</span>
            </PageLink>
          </li>
        ))}
      </ul>
    </div>
  )
}
