import { type ReactNode, useState } from 'react'
import { isPlainEnter } from '../../../keys/keystrokes.ts'
import { Chip } from '../../../parts/chip.tsx'
import { Field, FieldProblem } from '../../../parts/field.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { type PlanProblem, saidAt, saidIn, saidOfRest } from './plan-problems.ts'
import {
  type Json,
  listIn,
  numberFrom,
  recordIn,
  textIn,
  valueIn,
  withinValue,
  withValue,
} from './plan-value.ts'

/** The fields of one task, each with its problem. */

export const GRID = 'grid grid-cols-2 gap-3 @max-[420px]:grid-cols-1'

export interface FormOf {
  readonly task: Json
  readonly problems: readonly PlanProblem[]
  readonly change: (change: (task: Json) => Json) => void
}

interface FieldProps {
  form: FormOf
  field: string
  label: string
  /** The mapping it is in, such as the budget. */
  group?: string
  hint?: ReactNode
}

const problemOf = ({ form, field, group }: FieldProps) =>
  group === undefined ? saidAt(form.problems, field) : saidIn(form.problems, group, field)

/** What is wrong with a mapping, and not with one of its fields that are shown. */
export function GroupProblem(props: { form: FormOf; group: string; shown: readonly string[] }) {
  const words = saidOfRest(props.form.problems, props.group, props.shown)
  return words === null ? null : <FieldProblem>{words}</FieldProblem>
}

export function TextField(props: FieldProps & { placeholder?: string; rows?: number; isNumber?: boolean }) {
  const { form, field, label, group, hint, placeholder, rows, isNumber = false } = props
  const value = textIn(group === undefined ? form.task : recordIn(form.task, group), field)
  const onChange = (text: string) => {
    const next = isNumber ? (text.trim() === '' ? '' : numberFrom(text)) : text
    form.change((task) =>
      group === undefined ? withValue(task, field, next) : withinValue(task, group, field, next),
    )
  }
  return (
    <Field hint={hint} label={label} problem={problemOf(props)}>
      {rows === undefined ? (
        <TextInput
          autoComplete="off"
          inputMode={isNumber ? 'decimal' : 'text'}
          onChange={(event) => onChange(event.target.value)}
          placeholder={placeholder}
          value={value}
        />
      ) : (
        <TextInput
          onChange={(event) => onChange(event.target.value)}
          placeholder={placeholder}
          rows={rows}
          value={value}
        />
      )}
    </Field>
  )
}

export function SwitchField({ form, field, label, hint }: FieldProps) {
  return (
    <div className="flex items-start gap-3">
      <Switch
        checked={valueIn(form.task, field) === true}
        label={label}
        onChange={(isOn) => form.change((task) => withValue(task, field, isOn || undefined))}
      />
      <span className="min-w-0">
        <span className="block text-row font-medium">{label}</span>
        {hint && <span className="block text-label text-muted">{hint}</span>}
      </span>
    </div>
  )
}

/** Its own text until it is left: another id at each keystroke would, for a moment, be that of another task. */
export function IdField(props: { value: string; problem: string | null; onChange: (id: string) => void }) {
  const { value, problem, onChange } = props
  const [shown, setShown] = useState({ value, text: value })
  if (shown.value !== value) setShown({ value, text: value })
  const commit = () => {
    const text = shown.text.trim()
    if (text !== value) onChange(text)
  }
  return (
    <Field hint="Others name it by its id." label="Id" problem={problem}>
      <TextInput
        autoComplete="off"
        className="font-mono"
        onBlur={commit}
        onChange={(event) => setShown({ value, text: event.target.value })}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
        spellCheck={false}
        value={shown.text}
      />
    </Field>
  )
}

const LONGEST_OFFER = 8

/** Words, such as capabilities or tags: Enter or a comma adds one, and those that are known are offered. */
export function WordsField(props: FieldProps & { known?: readonly string[]; note?: string | null }) {
  const { form, field, label, hint, known = [], note } = props
  const [typed, setTyped] = useState('')
  const words = listIn(form.task, field)
  const set = (next: readonly string[]) => form.change((task) => withValue(task, field, next))
  const add = (text: string) => {
    const added = text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '' && !words.includes(one))
    if (added.length > 0) set([...words, ...new Set(added)])
    setTyped('')
  }
  const wanted = typed.trim().toLowerCase()
  const offered = known
    .filter((one) => !words.includes(one) && wanted !== '' && one.toLowerCase().includes(wanted))
    .slice(0, LONGEST_OFFER)
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field hint={hint} label={label} problem={problemOf(props)}>
        <TextInput
          autoComplete="off"
          onBlur={() => add(typed)}
          onChange={(event) =>
            event.target.value.endsWith(',') ? add(event.target.value) : setTyped(event.target.value)
          }
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            // With Ctrl it saves, too.
            if (isPlainEnter(event)) event.preventDefault()
            add(typed)
          }}
          placeholder="Enter adds it"
          value={typed}
        />
      </Field>
      {offered.length > 0 && (
        <div className="flex flex-wrap gap-1">
          {offered.map((one) => (
            <button
              className="touchable rounded-chip border border-line px-2 py-0.5 text-label hover:bg-hover"
              key={one}
              onClick={() => add(one)}
              // Before the field is left, which would add what was typed so far.
              onMouseDown={(event) => event.preventDefault()}
              type="button"
            >
              {one}
            </button>
          ))}
        </div>
      )}
      {words.length > 0 && (
        <div className="flex flex-wrap gap-1.5">
          {words.map((one) => (
            <Chip
              key={one}
              onRemove={() => set(words.filter((word) => word !== one))}
              removeLabel={`Remove ${one}`}
            >
              {one}
            </Chip>
          ))}
        </div>
      )}
      {note && <Note words={note} />}
    </div>
  )
}

/** What does not prevent the plan, and is worth knowing. */
export const Note = ({ words }: { words: string }) => (
  <p className="text-label font-medium break-words text-ask">{words}</p>
)
