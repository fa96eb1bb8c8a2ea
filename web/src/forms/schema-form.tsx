import { type Control, Controller, useFieldArray } from 'react-hook-form'
import { Button } from '../parts/button.tsx'
import { Field, FieldProblem } from '../parts/field.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Select } from '../parts/select.tsx'
import { Switch } from '../parts/switch.tsx'
import { TextInput } from '../parts/text-input.tsx'
import type { FormValues, SchemaField } from './schema-fields.ts'

/** Words for a field whose schema has none. */
export type FieldWords = Readonly<
  Record<
    string,
    {
      label: string
      hint?: string
      isUsual?: boolean
      /** What its choices are called. */
      choices?: Readonly<Record<string, string>>
    }
  >
>

interface Props {
  fields: readonly SchemaField[]
  words: FieldWords
  control: Control<FormValues>
  /** Problems by field. */
  problems: Readonly<Record<string, string>>
}

/** A form from a JSON Schema: what is required and usual first, the rest folded. */
export function SchemaForm({ fields, ...rest }: Props) {
  const isUsual = ({ name, isRequired }: SchemaField) => isRequired || rest.words[name]?.isUsual === true
  const rare = fields.filter((field) => !isUsual(field))
  const hasProblem = rare.some(({ name }) => rest.problems[name])
  return (
    <>
      {fields.filter(isUsual).map((field) => (
        <SchemaFieldRow {...rest} field={field} key={field.name} />
      ))}
      {rare.length > 0 && (
        <details className="group rounded-card border border-line" open={hasProblem || undefined}>
          <summary className="px-3 py-2 text-row font-medium text-muted hover:text-ink">
            Rarely used ({rare.length})
          </summary>
          <div className="flex flex-col gap-4 px-3 pt-1 pb-4">
            {rare.map((field) => (
              <SchemaFieldRow {...rest} field={field} key={field.name} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

function SchemaFieldRow({ field, words, control, problems }: Omit<Props, 'fields'> & { field: SchemaField }) {
  const { name, kind, isRequired, description } = field
  const known = words[name]
  const label = known?.label ?? labelOf(name)
  const notes = [description ?? known?.hint, kind === 'list' && 'One on each line.'].filter(Boolean)
  if (kind === 'map')
    return (
      <MapField control={control} hint={notes.join(' ')} label={label} name={name} problem={problems[name]} />
    )
  return (
    <Field
      hint={notes.length > 0 ? notes.join(' ') : undefined}
      label={isRequired || kind === 'switch' ? label : <OptionalLabel label={label} />}
      problem={problems[name]}
    >
      <Controller
        control={control}
        name={name}
        render={({ field: { value, onChange, onBlur } }) =>
          kind === 'switch' ? (
            <Switch checked={value === true} onChange={onChange} />
          ) : kind === 'choice' ? (
            <Select
              onBlur={onBlur}
              onChange={onChange}
              options={optionsOf(field, known?.choices)}
              value={String(value)}
            />
          ) : (
            <TextInput
              autoComplete="off"
              className={kind === 'json' ? 'font-mono' : ''}
              onBlur={onBlur}
              onChange={onChange}
              placeholder={field.defaultText ?? undefined}
              spellCheck={false}
              value={String(value)}
              {...(kind === 'number' ? { inputMode: 'decimal' as const } : {})}
              {...(kind === 'list' ? { rows: 3 } : kind === 'json' ? { rows: 8 } : {})}
            />
          )
        }
      />
    </Field>
  )
}

const OptionalLabel = ({ label }: { label: string }) => (
  <>
    {label} <span className="font-normal text-faint">optional</span>
  </>
)

/** "heartbeatTimeoutSec" is "Heartbeat timeout sec". */
function labelOf(name: string): string {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

const optionsOf = ({ choices, defaultText }: SchemaField, words: Readonly<Record<string, string>> = {}) => [
  { value: '', words: defaultText === null ? 'Not set' : `${words[defaultText] ?? defaultText} (default)` },
  ...choices.filter((one) => one !== defaultText).map((value) => ({ value, words: words[value] ?? value })),
]

function MapField(props: {
  control: Control<FormValues>
  name: string
  label: string
  hint: string
  problem: string | undefined
}) {
  const { control, name, label, hint, problem } = props
  const { fields, append, remove } = useFieldArray({ control: control as never, name: name as never })
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-row font-medium">
        <OptionalLabel label={label} />
      </legend>
      {fields.map((row, place) => (
        <div className="flex items-center gap-2" key={row.id}>
          <Controller
            control={control}
            name={`${name}.${place}.name`}
            render={({ field: { value, onChange } }) => (
              <TextInput
                aria-label={`Name ${place + 1} of ${label}`}
                className="font-mono"
                onChange={onChange}
                placeholder="NAME"
                spellCheck={false}
                value={String(value)}
              />
            )}
          />
          <Controller
            control={control}
            name={`${name}.${place}.value`}
            render={({ field: { value, onChange } }) => (
              <TextInput
                aria-label={`Value ${place + 1} of ${label}`}
                className="font-mono"
                onChange={onChange}
                spellCheck={false}
                value={String(value)}
              />
            )}
          />
          <IconButton icon="trash" label={`Remove row ${place + 1}`} onClick={() => remove(place)} />
        </div>
      ))}
      <div>
        <Button
          icon="plus"
          kind="quiet"
          onClick={() => append({ name: '', value: '' } as never)}
          size="small"
        >
          Add
        </Button>
      </div>
      {hint && <p className="text-label text-muted">{hint}</p>}
      {problem && <FieldProblem>{problem}</FieldProblem>}
    </fieldset>
  )
}
