import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import type { Asked } from '../../../requests/acts.ts'
import { skipTask } from '../../../requests/task-decisions.ts'
import { useAct } from '../../use-act.ts'
import { shortName } from '../task-heading.tsx'
import type { ShownTask, Task } from '../use-task.ts'
import { AskAct } from './ask-act.tsx'
import { AskBudget, AskResult } from './ask-task.tsx'
import type { AskedAct } from './asked-first.ts'

/** What has to be entered before an act on the page of a task. */
export function AskFirst(props: {
  act: AskedAct
  task: Task
  now: ShownTask
  onClose: () => void
  run: (asked: Asked) => void
}) {
  const { act, task, now, onClose, run } = props
  const name = shortName(task)
  const skip = useAct((reason: string) => skipTask(task.id, reason, now.generation), `${name} skipped.`)
  switch (act) {
    case 'skip':
      return (
        <ConfirmDialog
          confirm="Skip task"
          onClose={onClose}
          onConfirm={(reason) => skip.run(reason)}
          open
          reason="required"
          text="It ends without a result. What depends on it follows its own rule."
          title={`Skip ${name}?`}
        />
      )
    case 'budget':
      return <AskBudget now={now} onClose={onClose} task={task} />
    case 'complete':
      return <AskResult now={now} onClose={onClose} task={task} />
    default: {
      const one = { ...now, id: task.id, title: task.title }
      return <AskAct about={{ name, one }} act={act} onClose={onClose} send={run} />
    }
  }
}
