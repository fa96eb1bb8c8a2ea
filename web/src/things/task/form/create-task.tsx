import { useId, useState } from 'react'
import { useGo } from '../../../links.tsx'
import { useDraft } from '../../../parts/drafts.ts'
import { api } from '../../../requests/api.ts'
import { shownInPlace, useAct } from '../../use-act.ts'
import { bodyOf, budgetProblemsIn, type Draft, draftOfNext, problemsIn } from './draft.ts'
import { TaskFields } from './task-fields.tsx'
import { TaskForm } from './task-form.tsx'

/** Creates a task. A title is enough; what the server does not accept is shown at its field. */
export function CreateTask(props: {
  /** What is written is kept under this name until it is sent. */
  name: string
  title: string
  first: Draft
  onClose: () => void
  /** Where a task is opened. */
  linkTo: (id: string) => string
}) {
  const { name, title, first, onClose, linkTo } = props
  const written = useDraft<Draft>(name, first)
  const { value: draft, set: setDraft } = written
  const [isAnother, setAnother] = useState(false)
  const another = useId()
  const go = useGo()
  const discard = () => {
    written.drop()
    onClose()
  }
  const close = () => (draft.title + draft.description === '' ? discard() : onClose())
  const create = useAct(
    () => api().post('/tasks', { body: bodyOf(draft) }),
    ({ id, title }) => {
      if (isAnother) setDraft(draftOfNext(draft))
      else discard()
      return { title: 'Task created.', text: title, act: { words: 'Open', run: () => go(linkTo(id)) } }
    },
    { onRefused: shownInPlace },
  )
  const { byField, rest } = problemsIn(create.error)
  const limits = budgetProblemsIn(draft)
  const budgetProblem = limits.usd ?? limits.tokens
  return (
    <TaskForm
      beside={
        <label
          className="touchable mr-auto flex cursor-pointer items-center gap-2 text-row font-medium"
          htmlFor={another}
        >
          <input
            checked={isAnother}
            className="size-4 shrink-0 accent-(--accent)"
            id={another}
            onChange={(event) => setAnother(event.target.checked)}
            type="checkbox"
          />
          Create another
        </label>
      }
      confirm="Create task"
      isBusy={create.isBusy}
      isKept={written.isKept}
      onClose={close}
      onDiscard={discard}
      onSubmit={() => create.run()}
      refused={create.whyNot ?? (draft.title.trim() === '' ? 'A title is needed.' : budgetProblem)}
      rest={rest}
      title={title}
    >
      <TaskFields
        byField={byField}
        draft={draft}
        isNew
        set={(change) => setDraft((before) => ({ ...before, ...change }))}
      />
    </TaskForm>
  )
}
