import { useState } from 'react'
import { isHeld, type TaskState } from '../../../../../src/pure/states.ts'
import { useDraft } from '../../../parts/drafts.ts'
import { nameOfTask, shortKey } from '../../../requests/act-words.ts'
import { api } from '../../../requests/api.ts'
import { statePhrase } from '../../../theme/marks.ts'
import { shownInPlace, useAct } from '../../use-act.ts'
import { shortName } from '../task-heading.tsx'
import type { Neighbour, ShownTask, Task } from '../use-task.ts'
import { budgetProblemsIn, type Draft, draftOfTask, patchOf, problemsIn } from './draft.ts'
import { TaskFields } from './task-fields.tsx'
import { TaskForm } from './task-form.tsx'

export const upstreamName = ({ taskId, key }: Neighbour) =>
  key === null ? nameOfTask(taskId, undefined) : shortKey(key)

const MAY_WAIT: readonly TaskState[] = ['pending', 'queued']

/** Changes a task. Only the fields that were changed are sent: what others changed meanwhile stays. */
export function EditTask({ task, now, onClose }: { task: Task; now: ShownTask; onClose: () => void }) {
  // As it was when the form was opened: it is changed on while it is edited.
  const [before] = useState(() => draftOfTask(task, upstreamName))
  const written = useDraft<Draft>(`edit:${task.id}`, before)
  const { value: draft, set: setDraft } = written
  const discard = () => {
    written.drop()
    onClose()
  }
  const patch = patchOf(before, draft)
  const save = useAct(
    () => api().patch('/tasks/:id', { params: { id: task.id }, body: patch }),
    () => {
      discard()
      return `${shortName(task)} saved.`
    },
    { onRefused: shownInPlace },
  )
  const { byField, rest } = problemsIn(save.error)
  const limits = budgetProblemsIn(draft)
  const missing =
    draft.title.trim() === ''
      ? 'A title is needed.'
      : draft.taskType.trim() === ''
        ? 'A type is needed.'
        : (limits.usd ??
          limits.tokens ??
          (Object.keys(patch).length === 0 ? 'Nothing is changed yet.' : null))
  return (
    <TaskForm
      confirm="Save"
      isBusy={save.isBusy}
      isKept={written.isKept}
      onClose={onClose}
      onDiscard={discard}
      onSubmit={() => save.run()}
      refused={save.whyNot ?? missing}
      rest={rest}
      title={`Edit ${shortName(task)}`}
      {...(isHeld(now.state) && {
        text: 'An agent is working on it: it reads a new title or description with its next attempt.',
      })}
    >
      <TaskFields
        byField={byField}
        draft={draft}
        isNew={false}
        set={(change) => setDraft((all) => ({ ...all, ...change }))}
        whyNotDependsOn={
          MAY_WAIT.includes(now.state) ? null : `It cannot be changed while it is ${statePhrase(now.state)}.`
        }
        whyNotType={isHeld(now.state) ? 'It stays while an agent is working on the task.' : null}
      />
    </TaskForm>
  )
}
