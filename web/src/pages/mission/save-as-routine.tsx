import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../parts/ask-dialog.tsx'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { showRefusal } from '../../parts/show-refusal.ts'
import { TextInput } from '../../parts/text-input.tsx'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import type { Mission } from '../../things/mission/progress.tsx'

/** Keeps the plan and the settings of a mission that has ended, to be run again. Its undo is removing the routine. */
export function SaveAsRoutine({ mission }: { mission: Mission }) {
  const { whyNot } = useSession()
  const [isAsked, setAsked] = useState(false)
  const { value: name, set: setName, drop } = useDraft(`routine:${mission.id}`, mission.title)
  const save = useMutation({
    mutationFn: () =>
      api().post('/routines', { body: { name: name.trim(), fromMission: mission.id }, retry: true }),
    onSuccess: (routine) => {
      drop()
      toast({
        kind: 'done',
        title: `Saved as the routine “${routine.name}”.`,
        text: 'It runs on request.',
      })
    },
    onError: showRefusal,
  })
  const refusal =
    whyNot('operate') ?? (mission.approvedVersion === null ? 'Its plan was never approved.' : null)
  return (
    <>
      <Button
        busy={save.isPending}
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
          onConfirm={() => save.mutate()}
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
