import type { FormEvent } from 'react'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { ScheduleFields } from './schedule-fields.tsx'
import { fieldProblems } from './server-problems.ts'
import {
  type Edited,
  editedBy,
  isChangedElsewhere,
  missingIn,
  patchOf,
  type Settings,
  settingsOf,
} from './settings-draft.ts'
import type { Routine } from './use-routines.ts'
import { useScheduleTimes } from './use-schedule-times.ts'
import { VariableFields } from './variable-fields.tsx'

const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Name, schedule, variables and the texts of its missions; all of it is saved together. */
export function RoutineSettings({ routine }: { routine: Routine }) {
  const { id, version } = routine
  const { value: edited, set, drop } = useDraft<Edited | null>(`routine-settings:${id}`, null)
  const saved = settingsOf(routine, ownZone())
  const now = edited?.now ?? saved
  const change = (part: Partial<Settings>) => set((before) => editedBy(before, saved, part))
  const times = useScheduleTimes(now.schedule)
  const save = useAct(
    (body: ReturnType<typeof patchOf>) =>
      api().patch('/routines/:id', { params: { id }, body, ifMatch: `"${version}"` }),
    () => {
      drop()
      return 'The routine is saved.'
    },
    { onRefused: shownInPlace },
  )
  const isConflicting = isChangedElsewhere(edited, saved)
  const refused = fieldProblems(save.error)
  const refusal =
    save.whyNot ??
    (routine.isDeleted ? 'It was deleted.' : null) ??
    (edited === null ? 'There is nothing to save.' : null) ??
    (isConflicting ? 'Choose which version to keep first.' : null) ??
    missingIn(now) ??
    times.refusal
  const submit = () => {
    if (refusal === null && !save.isBusy) save.run(patchOf(saved, now))
  }
  return (
    <form
      className="flex min-h-0 flex-1 flex-col"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) submit()
      }}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        submit()
      }}
    >
      <div className="min-h-0 flex-1 overflow-y-auto px-6 pt-5 pb-8 max-sm:px-4">
        <div className="flex max-w-prose flex-col gap-8">
          <Texts change={change} now={now} problems={refused.fields} />
          <ScheduleFields
            onChange={(schedule) => change({ schedule })}
            problem={refused.fields.schedule}
            times={times}
            value={now.schedule}
          />
          <VariableFields
            onChange={(variables) => change({ variables })}
            problem={refused.fields.variables}
            rows={now.variables}
          />
          {save.error && <ProblemBox error={save.error} />}
          {isConflicting && (
            <Elsewhere
              onKeep={() => set((before) => before && editedBy({ base: saved, now: before.now }, saved, {}))}
              onTakeSaved={drop}
            />
          )}
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2 border-t border-line bg-sunken px-6 py-3 max-sm:px-4">
        <Button
          busy={save.isBusy}
          disabledReason={refusal}
          kind="primary"
          shortcut="Ctrl Enter"
          type="submit"
        >
          Save
        </Button>
        {edited !== null && (
          <Button kind="quiet" onClick={drop}>
            Undo changes
          </Button>
        )}
      </div>
    </form>
  )
}

function Texts(props: {
  now: Settings
  change: (part: Partial<Settings>) => void
  problems: Readonly<Record<string, string>>
}) {
  const { now, change, problems } = props
  return (
    <section aria-label="Texts" className="flex flex-col gap-4">
      <Field label="Name" problem={problems.name}>
        <TextInput
          maxLength={500}
          onChange={(event) => change({ name: event.target.value })}
          value={now.name}
        />
      </Field>
      <Field
        hint="Each mission has it, with the values of the variables: write {{name}} for one of them."
        label="Title of its missions"
        problem={problems.title}
      >
        <TextInput
          maxLength={500}
          onChange={(event) => change({ title: event.target.value })}
          value={now.title}
        />
      </Field>
      <Field label="Goal of its missions" problem={problems.goal}>
        <TextInput onChange={(event) => change({ goal: event.target.value })} rows={4} value={now.goal} />
      </Field>
    </section>
  )
}

function Elsewhere({ onKeep, onTakeSaved }: { onKeep: () => void; onTakeSaved: () => void }) {
  return (
    <div className="flex flex-col gap-3 rounded-card bg-ask-tint p-4" role="alert">
      <p className="text-row">
        The routine was changed elsewhere since you began. What you wrote is still here.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={onKeep} size="small">
          Keep mine
        </Button>
        <Button onClick={onTakeSaved} size="small">
          Take what is saved
        </Button>
      </div>
    </div>
  )
}
