import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { agentNamesQuery } from '../../requests/names.ts'
import { shortName } from './task-heading.tsx'
import type { ShownTask, Task } from './use-task.ts'

// Not needed to read a task.
const EditTask = lazy(() => import('./form/edit-task.tsx').then(({ EditTask }) => ({ default: EditTask })))
const DuplicateTask = lazy(() =>
  import('./form/duplicate-task.tsx').then(({ DuplicateTask }) => ({ default: DuplicateTask })),
)
const WakeDialog = lazy(() =>
  import('../agent/wake-dialog.tsx').then(({ WakeDialog }) => ({ default: WakeDialog })),
)

export type TaskDialog = 'edit' | 'duplicate' | 'wake'

/** The forms of a task's page and panel. */
export function TaskDialogs(props: {
  shown: TaskDialog | null
  task: Task
  now: ShownTask
  onClose: () => void
}) {
  const { shown, task, now, onClose } = props
  if (shown === null) return null
  return (
    <Suspense>
      {shown === 'edit' && <EditTask now={now} onClose={onClose} task={task} />}
      {shown === 'duplicate' && <DuplicateTask onClose={onClose} task={task} />}
      {shown === 'wake' && <WakeFor now={now} onClose={onClose} task={task} />}
    </Suspense>
  )
}

/** Who has it, or may have it, is offered first. */
function WakeFor({ task, now, onClose }: { task: Task; now: ShownTask; onClose: () => void }) {
  const { data } = useQuery(agentNamesQuery)
  if (!data) return null
  const first = now.holder?.agent ?? now.agent ?? task.lastAgent
  return (
    <WakeDialog
      agents={data.items}
      first={first}
      onClose={onClose}
      task={{ id: task.id, name: `${shortName(task)} ${task.title}` }}
    />
  )
}
