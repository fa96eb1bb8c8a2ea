import { useState } from 'react'
import { AskDialog } from '../../parts/ask-dialog.tsx'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'

const MINUTE_MS = 60_000
const MOST_MINUTES = 10_080

/** Takes tasks from holders that show no sign of life, without waiting for their leases. */
export function RequeueStalled() {
  const [isAsked, setAsked] = useState(false)
  const [text, setText] = useState('1')
  const minutes = Number(text)
  const isNumber = text.trim() !== '' && Number.isFinite(minutes) && minutes >= 0 && minutes <= MOST_MINUTES
  const requeue = useAct(
    () => api().post('/workers/requeue-stalled', { body: { silentMs: Math.round(minutes * MINUTE_MS) } }),
    ({ requeued }) =>
      requeued === 0
        ? 'Every holder showed a sign of life: nothing was taken back.'
        : `${requeued === 1 ? 'One task was' : `${requeued} tasks were`} taken back from silent holders.`,
  )
  return (
    <>
      <Button
        busy={requeue.isBusy}
        disabledReason={requeue.whyNot}
        icon="retry"
        onClick={() => setAsked(true)}
        size="small"
      >
        Requeue stalled tasks
      </Button>
      {isAsked && (
        <AskDialog
          confirm="Requeue"
          missing={isNumber ? null : `Write minutes, up to ${MOST_MINUTES}.`}
          onClose={() => setAsked(false)}
          onConfirm={() => requeue.run()}
          text="Tasks whose holders were silent for this long are taken from them and tried again."
          title="Requeue stalled tasks"
        >
          <Field label="Minutes of silence">
            <TextInput inputMode="decimal" onChange={(event) => setText(event.target.value)} value={text} />
          </Field>
        </AskDialog>
      )}
    </>
  )
}
