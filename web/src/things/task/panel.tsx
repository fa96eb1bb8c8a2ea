import { useState } from 'react'
import { Loaded } from '../../parts/loaded.tsx'
import { TaskActButtons } from './task-acts.tsx'
import { TaskBody, type TaskPlace } from './task-body.tsx'
import { TaskFacts, TaskHeading } from './task-heading.tsx'
import { type Task, useShownTask, useTask } from './use-task.ts'

/** A task beside the list it was chosen from. Its keys are those of the list. */
export function TaskPanel({ id }: { id: string }) {
  return (
    <Loaded read={useTask(id)} rows={8}>
      {(task) => <Content key={task.id} task={task} />}
    </Loaded>
  )
}

function Content({ task }: { task: Task }) {
  const now = useShownTask(task)
  // The address belongs to the list.
  const [place, setPlace] = useState<TaskPlace>({})
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div>
        <h3 className="text-title font-semibold">
          <TaskHeading now={now} task={task} />
        </h3>
        <TaskFacts now={now} task={task} />
      </div>
      <div className="flex flex-wrap gap-2">
        <TaskActButtons hasKeys={false} now={now} task={task} />
      </div>
      <TaskBody isCompact now={now} onPlace={setPlace} place={place} task={task} />
    </div>
  )
}
