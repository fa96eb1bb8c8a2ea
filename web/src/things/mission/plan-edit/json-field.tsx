import { useState } from 'react'
import { Field } from '../../../parts/field.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { type FormOf, Note } from './form-fields.tsx'
import { saidAt } from './plan-problems.ts'
import { jsonFrom, jsonText, valueIn, withValue } from './plan-value.ts'

const NOT_JSON = 'This cannot be read as JSON.'

/**
 * A value of any form, as JSON. What cannot be read yet is in the plan as text, so that nothing that was written is lost: the server
 * says whether text will do.
 */
export function JsonField(props: {
  form: FormOf
  field: string
  label: string
  hint: string
  /** Said while it is text, if text will do. */
  note?: string
}) {
  const { form, field, label, hint, note } = props
  const value = valueIn(form.task, field)
  const stored = JSON.stringify(value)
  // The text as it was typed, as long as it says what the plan has.
  const [typed, setTyped] = useState({ stored, text: jsonText(value) })
  if (typed.stored !== stored) setTyped({ stored, text: jsonText(value) })
  const set = (text: string) => {
    const next = text.trim() === '' ? undefined : jsonFrom(text)
    const after = valueIn(withValue(form.task, field, next), field)
    setTyped({ stored: JSON.stringify(after), text })
    form.change((task) => withValue(task, field, next))
  }
  const rows: number = typed.text === '' ? 2 : 6
  const isText = typeof value === 'string'
  const problem = isText && note === undefined ? NOT_JSON : saidAt(form.problems, field)
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Field hint={hint} label={label} problem={problem}>
        <TextInput
          className="font-mono"
          onChange={(event) => set(event.target.value)}
          rows={rows}
          spellCheck={false}
          value={typed.text}
        />
      </Field>
      {isText && note !== undefined && <Note words={note} />}
    </div>
  )
}
