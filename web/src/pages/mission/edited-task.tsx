import { memo } from 'react'
import { Field } from '../../parts/field.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import type { DraftField, DraftTask, Judge } from './plan-draft.ts'

const JUDGE_WORDS: Record<Judge, string> = {
  none: 'Nobody',
  human: 'A person',
  agent: 'An agent',
  command: 'A command',
  auto: 'Automatic',
}

/** Only the row that is typed in is drawn again, however many there are. */
export const EditedTask = memo(function EditedTask(props: {
  task: DraftTask
  place: number
  problems: string
  onChange: (place: number, field: DraftField, value: string) => void
  onRemove: (place: number) => void
}) {
  const { task, place, problems, onChange, onRemove } = props
  const name = task.tempId || `task ${place + 1}`
  const text = (field: DraftField, label: string, className: string, placeholder = '') => (
    <div className={`min-w-0 ${className}`}>
      <Field label={label}>
        <TextInput
          onChange={(event) => onChange(place, field, event.target.value)}
          placeholder={placeholder}
          value={task[field] ?? ''}
        />
      </Field>
    </div>
  )
  return (
    <fieldset
      aria-label={name}
      className={`grid grid-cols-12 items-end gap-2 rounded-card border bg-raised p-3 ${problems === '' ? 'border-line' : 'border-bad'}`}
    >
      {text('title', 'Title', 'col-span-6 max-sm:col-span-12', task.tempId)}
      {text('tempId', 'Id', 'col-span-2 max-sm:col-span-6')}
      {text('after', 'After', 'col-span-4 max-sm:col-span-6', 'ids, with commas')}
      {text('agent', 'Agent', 'col-span-2 max-sm:col-span-6', 'any')}
      {text('preferredAgent', 'Preferred agent', 'col-span-2 max-sm:col-span-6', 'none')}
      {text('model', 'Model', 'col-span-2 max-sm:col-span-6')}
      {text('budgetUsd', 'Budget in $', 'col-span-2 max-sm:col-span-6')}
      <div className="col-span-3 min-w-0 max-sm:col-span-10">
        <Field label="Reviewed by">
          <Select
            onChange={(judge) => onChange(place, 'judge', judge)}
            options={(Object.keys(JUDGE_WORDS) as Judge[]).map((value) => ({
              value,
              words: JUDGE_WORDS[value],
            }))}
            value={task.judge}
          />
        </Field>
      </div>
      <span className="col-span-1 justify-self-end max-sm:col-span-2">
        <IconButton icon="close" label={`Remove ${name}`} onClick={() => onRemove(place)} size="small" />
      </span>
      {task.judge === 'agent' && text('judgeBy', 'Which agent', 'col-span-12')}
      {task.judge === 'command' && text('judgeBy', 'Command', 'col-span-12')}
      {problems !== '' && (
        <p className="col-span-12 text-row whitespace-pre-line text-bad" role="alert">
          {problems}
        </p>
      )}
    </fieldset>
  )
})
