import type { ReactNode } from 'react'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { Switch } from '../../parts/switch.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { countText } from '../../parts/wording.ts'
import {
  LIMIT_GROUPS,
  type LimitDraft,
  type LimitName,
  type LimitsInUse,
  limitWords,
  ORDER_WORDS,
  shownIn,
  unitText,
} from './limit-fields.ts'

interface Props {
  limits: LimitsInUse
  draft: LimitDraft
  problems: Partial<Record<LimitName, string>>
  isReadOnly: boolean
  onChange: (change: LimitDraft) => void
}

/** A field for each limit; where something is used now, how much. */
export function LimitFields({ limits, draft, problems, isReadOnly, onChange }: Props) {
  const textOf = (name: LimitName) => draft[name] ?? shownIn(name, limits[name])
  return (
    <>
      {LIMIT_GROUPS.map(({ title, fields }) => (
        <Group key={title} title={title}>
          {fields.map(({ name, words, unit, hint, use, empty }) => (
            <Field
              hint={use ? `${countText(limits.usage[use])} in use now` : hint}
              key={name}
              label={words}
              problem={problems[name]}
            >
              <div className="flex items-center gap-2">
                <TextInput
                  inputMode="decimal"
                  onChange={(event) => onChange({ [name]: event.target.value })}
                  placeholder={empty}
                  readOnly={isReadOnly}
                  value={textOf(name)}
                />
                <span className="w-16 shrink-0 text-row text-muted">{unitText(unit, textOf(name))}</span>
              </div>
            </Field>
          ))}
        </Group>
      ))}
      <Group title="Queue and results">
        <Field hint="Applies to tasks queued from then on." label={limitWords('queueOrder')}>
          <Select
            disabled={isReadOnly}
            onChange={(value) => onChange({ queueOrder: value })}
            options={Object.entries(ORDER_WORDS).map(([value, words]) => ({ value, words }))}
            value={textOf('queueOrder')}
          />
        </Field>
        <Field
          hint="A result is accepted after its lease has expired, if nobody has taken the task since."
          label={limitWords('lateResults')}
        >
          <Switch
            checked={textOf('lateResults') === 'true'}
            disabled={isReadOnly}
            onChange={(isOn) => onChange({ lateResults: String(isOn) })}
          />
        </Field>
      </Group>
    </>
  )
}

const Group = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="rounded-card border border-line bg-raised p-4 shadow-card">
    <h2 className="mb-3 text-title font-semibold">{title}</h2>
    <div className="grid grid-cols-2 gap-x-6 gap-y-4 max-sm:grid-cols-1">{children}</div>
  </section>
)
