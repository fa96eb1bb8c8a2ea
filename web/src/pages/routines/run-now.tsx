import { useMemo, useState } from 'react'
import { useForm } from 'react-hook-form'
import { type FormValues, valuesOf } from '../../forms/schema-fields.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useFormDraft } from '../../forms/use-form-draft.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { dropDraft } from '../../parts/drafts.ts'
import { ProblemBox } from '../../parts/problem.tsx'
import { fieldProblems } from './server-problems.ts'
import { useRunNow } from './use-routine-acts.ts'
import type { ListedRoutine } from './use-routines.ts'
import { askedFields, givenValues, labelsOf } from './variables.ts'

const same = <T,>(value: T) => value

/** Asks for the variables, if there are any, and starts a mission. */
export function RunNow({ routine, onClose }: { routine: ListedRoutine; onClose: () => void }) {
  const { id, name, variables, config } = routine
  const draft = `run-routine:${id}`
  const fields = useMemo(() => askedFields(variables), [variables])
  const first = useMemo(() => valuesOf(fields, {}), [fields])
  const form = useForm<FormValues>({ defaultValues: first })
  useFormDraft({ name: draft, fields, form, first, base: null, storableBase: same })
  const [unreadable, setUnreadable] = useState<Record<string, string>>({})
  const discard = () => {
    dropDraft(draft)
    onClose()
  }
  const start = useRunNow(discard)
  const refused = fieldProblems(start.error, 'variables.')
  const submit = () => {
    if (start.whyNot !== null || start.isBusy) return
    const { given, problems } = givenValues(variables, form.getValues())
    setUnreadable(problems)
    start.reset()
    if (Object.keys(problems).length === 0) start.run({ id, name, variables: given })
  }
  const asksAgain = config.autonomy === 'approve'
  return (
    <Dialog
      actions={
        <>
          <Button onClick={discard}>Back</Button>
          <Button
            autoFocus={fields.length === 0}
            busy={start.isBusy}
            disabledReason={start.whyNot}
            kind="primary"
            onClick={submit}
            shortcut="Ctrl Enter"
          >
            Start a mission
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={
        asksAgain
          ? 'A mission with its plan waits for your approval.'
          : 'A mission with its plan begins at once, also while another one is under way.'
      }
      title={`Run “${name}” now`}
    >
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) submit()
        }}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {fields.length === 0 && <p className="text-muted">It has no variables.</p>}
        <SchemaForm
          control={form.control}
          fields={fields}
          problems={{ ...refused.fields, ...unreadable }}
          words={labelsOf(variables)}
        />
        {refused.rest !== null && <ProblemBox error={refused.rest} />}
      </form>
    </Dialog>
  )
}
