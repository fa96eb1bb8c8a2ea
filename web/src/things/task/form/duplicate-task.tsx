import type { Task } from '../use-task.ts'
import { CreateTask } from './create-task.tsx'
import { draftOfTask } from './draft.ts'
import { upstreamName } from './edit-task.tsx'

/** A new task whose form begins with what another one says. */
export const DuplicateTask = ({ task, onClose }: { task: Task; onClose: () => void }) => (
  <CreateTask
    first={draftOfTask(task, upstreamName)}
    linkTo={(id) => `/tasks/${id}`}
    name={`duplicate:${task.id}`}
    onClose={onClose}
    title="Duplicate task"
  />
)
