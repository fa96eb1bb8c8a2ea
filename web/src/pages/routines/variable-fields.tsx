import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Select } from '../../parts/select.tsx'
import { Switch } from '../../parts/switch.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { NEW_VARIABLE, rowProblems, type VariableRow, type VariableType } from './variables.ts'

const TYPES: { value: VariableType; words: string }[] = [
  { value: 'string', words: 'Text' },
  { value: 'integer', words: 'Whole number' },
  { value: 'number', words: 'Number' },
  { value: 'boolean', words: 'Yes or no' },
]

interface Props {
  rows: readonly VariableRow[]
  onChange: (rows: readonly VariableRow[]) => void
  problem: string | undefined
}

/** What can differ from mission to mission. */
export function VariableFields({ rows, onChange, problem }: Props) {
  const problems = rowProblems(rows)
  const change = (place: number, part: Partial<VariableRow>) =>
    onChange(rows.map((row, at) => (at === place ? { ...row, ...part } : row)))
  return (
    <section aria-label="Variables" className="flex flex-col items-start gap-4">
      <div>
        <h2 className="text-title font-semibold">Variables</h2>
        <p className="text-row text-muted">
          What can differ from mission to mission. In its texts, write {'{{name}}'}. With a schedule, every
          variable needs a default.
        </p>
      </div>
      {rows.map((row, place) => (
        <VariableRowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: the name of a row is edited
          key={place}
          onChange={(part) => change(place, part)}
          onRemove={() => onChange(rows.filter((_, at) => at !== place))}
          place={place}
          problem={row.name === '' && rows.length > 1 ? null : (problems[place] ?? null)}
          row={row}
        />
      ))}
      {problem && <p className="text-row text-bad">{problem}</p>}
      <Button icon="plus" onClick={() => onChange([...rows, NEW_VARIABLE])} size="small">
        Add a variable
      </Button>
    </section>
  )
}

function VariableRowFields(props: {
  row: VariableRow
  place: number
  problem: string | null
  onChange: (part: Partial<VariableRow>) => void
  onRemove: () => void
}) {
  const { row, place, problem, onChange, onRemove } = props
  const { name, type, title, description, usual, isRequired } = row
  return (
    <fieldset className="flex w-full min-w-0 flex-col gap-3 rounded-card border border-line p-4">
      <legend className="sr-only">{name === '' ? `Variable ${place + 1}` : `Variable ${name}`}</legend>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-36">
          <Field label="Name" problem={problem}>
            <TextInput
              autoComplete="off"
              className="font-mono"
              maxLength={64}
              onChange={(event) => onChange({ name: event.target.value })}
              spellCheck={false}
              value={name}
            />
          </Field>
        </div>
        <Field label="Type">
          <Select onChange={(next) => onChange({ type: next })} options={TYPES} value={type} />
        </Field>
        <div className="min-w-0 flex-1 basis-36">
          <Field hint="Empty: it has to be given." label="Default">
            <TextInput
              autoComplete="off"
              onChange={(event) => onChange({ usual: event.target.value })}
              placeholder={type === 'boolean' ? 'true or false' : undefined}
              value={usual}
            />
          </Field>
        </div>
        <span className="pt-6">
          <IconButton icon="trash" label={`Remove variable ${name || place + 1}`} onClick={onRemove} />
        </span>
      </div>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-36">
          <Field hint="Optional: what the form calls it." label="Label">
            <TextInput
              maxLength={200}
              onChange={(event) => onChange({ title: event.target.value })}
              value={title}
            />
          </Field>
        </div>
        <div className="min-w-0 flex-2 basis-48">
          <Field hint="Optional." label="Explanation">
            <TextInput
              onChange={(event) => onChange({ description: event.target.value })}
              value={description}
            />
          </Field>
        </div>
        <Field label="Always asked">
          <Switch checked={isRequired} onChange={(next) => onChange({ isRequired: next })} />
        </Field>
      </div>
    </fieldset>
  )
}
