import { CreateTask } from '../../things/task/form/create-task.tsx'
import { EMPTY_DRAFT } from '../../things/task/form/draft.ts'

/** A task that is made on a board of one project belongs to it. */
export function NewTask({ onClose, project }: { onClose: () => void; project: string | undefined }) {
  return (
    <CreateTask
      first={{ ...EMPTY_DRAFT, project: project ?? '' }}
      linkTo={(id) => `/board?task=${id}`}
      name="new-task"
      onClose={onClose}
      title="New task"
    />
  )
}
