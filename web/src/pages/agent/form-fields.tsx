import type { ReactNode } from 'react'
import { type Control, Controller } from 'react-hook-form'
import type { FormValues } from '../../forms/schema-fields.ts'
import { Field } from '../../parts/field.tsx'
import { Switch } from '../../parts/switch.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { SpanInput } from './span-input.tsx'
import { WordsInput } from './words-input.tsx'

/** Fields of the forms of agents, by the name of their value. */

export interface FormProps {
  control: Control<FormValues>
  /** Problems by field. */
  problems: Readonly<Record<string, string>>
}

interface FieldProps extends FormProps {
  name: string
  label: string
  hint?: ReactNode
}

export function TextField(props: FieldProps & { placeholder?: string; rows?: number; isNumber?: boolean }) {
  const { control, problems, name, label, hint, placeholder, rows, isNumber = false } = props
  return (
    <Field hint={hint} label={label} problem={problems[name]}>
      <Controller
        control={control}
        name={name}
        render={({ field: { value, onChange, onBlur } }) => (
          <TextInput
            autoComplete="off"
            className={isNumber ? 'max-w-40' : ''}
            onBlur={onBlur}
            onChange={onChange}
            placeholder={placeholder}
            spellCheck={rows !== undefined}
            value={String(value ?? '')}
            {...(isNumber ? { inputMode: 'numeric' as const } : {})}
            {...(rows === undefined ? {} : { rows })}
          />
        )}
      />
    </Field>
  )
}

export function SpanField({
  control,
  problems,
  name,
  label,
  hint,
  placeholder,
}: FieldProps & { placeholder?: string }) {
  return (
    <Field hint={hint} label={label} problem={problems[name]}>
      <Controller
        control={control}
        name={name}
        render={({ field: { value, onChange } }) => (
          <SpanInput
            label={label.toLowerCase()}
            onChange={onChange}
            placeholder={placeholder}
            value={String(value ?? '')}
          />
        )}
      />
    </Field>
  )
}

export function WordsField(
  props: FieldProps & { what: string; inUse?: readonly string[]; placeholder?: string },
) {
  const { control, problems, name, label, hint, ...rest } = props
  return (
    <Field hint={hint} label={label} problem={problems[name]}>
      <Controller
        control={control}
        name={name}
        render={({ field: { value, onChange } }) => (
          <WordsInput {...rest} onChange={onChange} value={String(value ?? '')} />
        )}
      />
    </Field>
  )
}

/** On one line: the switch and what it means. */
export function SwitchField({ control, problems, name, label, hint }: FieldProps) {
  return (
    <Controller
      control={control}
      name={name}
      render={({ field: { value, onChange } }) => (
        <div className="flex min-w-0 items-start gap-3">
          <Switch checked={value === true} label={label} onChange={onChange} />
          <div className="min-w-0 pt-0.5">
            <p className="text-row">{label}</p>
            {hint && <p className="text-label text-muted">{hint}</p>}
            {problems[name] && <p className="text-label font-medium text-bad">{problems[name]}</p>}
          </div>
        </div>
      )}
    />
  )
}

/** A part of a form under a heading of its own. */
export function FormSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-4 border-t border-line pt-4">
      <h2 className="text-title font-semibold">{title}</h2>
      {children}
    </section>
  )
}

/** Rarely used fields; open when one of them has a problem. */
export function Folded({
  title,
  hasProblem,
  children,
}: {
  title: string
  hasProblem: boolean
  children: ReactNode
}) {
  return (
    <details className="group rounded-card border border-line" open={hasProblem || undefined}>
      <summary className="px-3 py-2 text-row font-medium text-muted hover:text-ink">{title}</summary>
      <div className="flex flex-col gap-4 px-3 pt-1 pb-4">{children}</div>
    </details>
  )
}
