import { useState } from 'react'
import { useGo } from '../../links.tsx'
import { AskDialog } from '../../parts/ask-dialog.tsx'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import { useAct } from '../../things/use-act.ts'

/** Keeps the plan and the settings of a mission that has ended, to be run again. Its undo is removing the routine. */
export function SaveAsRoutine({ mission }: { mission: Mission }) {
  const go = useGo()
  const [isAsked, setAsked] = useState(false)
  const { value: name, set: setName, drop } = useDraft(`routine:${mission.id}`, mission.title)
  const save = useAct(
    () => api().post('/routines', { body: { name: name.trim(), fromMission: mission.id }, retry: true }),
    (routine) => {
      drop()
      return {
        title: `Saved as the routine “${routine.name}”.`,
        text: 'It runs on request.',
        act: { words: 'Open the routine', run: () => go(`/routines/${routine.id}`) },
      }
    },
  )
  const refusal = save.whyNot ?? (mission.approvedVersion === null ? 'Its plan was never approved.' : null)
  return (
    <>
      <Button
        busy={save.isBusy}
        disabledReason={refusal}
        icon="routines"
        onClick={() => setAsked(true)}
        size="small"
      >
        Save as routine
      </Button>
      {isAsked && (
        <AskDialog
          confirm="Save as routine"
          missing={name.trim() === '' ? 'A routine needs a name.' : null}
          onClose={() => setAsked(false)}
          onConfirm={() => save.run()}
          text="Its plan and settings are kept, and can be run again by hand or at set times."
          title="Save this mission as a routine"
        >
          <Field label="Name">
            <TextInput maxLength={500} onChange={(event) => setName(event.target.value)} value={name} />
          </Field>
        </AskDialog>
      )}
    </>
  )
}
