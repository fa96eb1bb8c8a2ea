import { useParams, useSearch } from '@tanstack/react-router'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useSiblingKeys } from '../../keys/siblings.ts'
import { useGo } from '../../links.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { writeSearch } from '../../search-params.ts'
import { TASK_TABS } from '../../things/task/tabs.ts'
import { TaskActButtons } from '../../things/task/task-acts.tsx'
import { firstTab, TaskBody, type TaskPlace } from '../../things/task/task-body.tsx'
import { TaskFacts, TaskHeading, titleOf } from '../../things/task/task-heading.tsx'
import { type Task as TaskRead, useShownTask, useTask } from '../../things/task/use-task.ts'
import { MissingTask } from './missing-task.tsx'
import { useOpenRuns } from './use-open-runs.ts'

/** One task: why it is in its state, its generations, results and comments, and all that can be done. */
export function Task() {
  const { idOrKey } = useParams({ from: '/tasks/$idOrKey' })
  const read = useTask(idOrKey)
  const { data: task, error } = read
  if (task) return <TaskPage idOrKey={idOrKey} task={task} />
  const isMissing = (error as { status?: number } | null)?.status === 404
  return (
    <Page title={`Task ${idOrKey}`}>
      {isMissing ? <MissingTask name={idOrKey} /> : <Loading read={read} rows={8} />}
    </Page>
  )
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
