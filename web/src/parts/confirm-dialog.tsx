import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { TextInput } from './text-input.tsx'

interface Props {
  open: boolean
  onClose: () => void
  onConfirm: (reason: string) => void
  title: ReactNode
  /** What happens then. */
  text: ReactNode
  /** The act by its own name: "Cancel task", never "OK". */
  confirm: string
  isDangerous?: boolean
  busy?: boolean
  /** Has to be typed, for the most dangerous acts. */
  name?: string
  reason?: 'optional' | 'required'
}

/** Asks once before an act that cannot be taken back. */
export function ConfirmDialog(props: Props) {
  const { open, onClose, onConfirm, title, text, confirm, isDangerous = false, busy, name, reason } = props
  const [typed, setTyped] = useState('')
  const [why, setWhy] = useState('')
  const missing = missingIn(props, typed, why)
  const hasFields = name !== undefined || reason !== undefined
  const close = () => {
    setTyped('')
    setWhy('')
    onClose()
  }
  const submit = () => {
    if (missing || busy) return
    onConfirm(why.trim())
    close()
  }
  const actions = (
    <>
      <Button onClick={close}>Keep as it is</Button>
      <Button
        // Enter confirms, unless something is to be written first.
        autoFocus={!hasFields}
        busy={busy}
        disabledReason={missing}
        kind={isDangerous ? 'danger' : 'primary'}
        onClick={submit}
        shortcut="Enter"
      >
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog actions={actions} onClose={close} open={open} text={text} title={title} width="small">
      {hasFields && (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          {reason && <ReasonField onChange={setWhy} reason={reason} value={why} />}
          {name !== undefined && (
            <Field label={`Type “${name}” to confirm`}>
              <TextInput
                autoComplete="off"
                onChange={(event) => setTyped(event.target.value)}
                value={typed}
              />
            </Field>
          )}
        </form>
      )}
    </Dialog>
  )
}

function missingIn({ name, reason }: Props, typed: string, why: string): string | null {
  if (name !== undefined && typed !== name) return `Type ${name} to confirm.`
  return reason === 'required' && why.trim() === '' ? 'A reason is needed.' : null
}

function ReasonField(props: {
  reason: 'optional' | 'required'
  value: string
  onChange: (value: string) => void
}) {
  const { reason, value, onChange } = props
  return (
    <Field
      hint={reason === 'optional' ? 'Optional. It is kept in the record.' : 'It is kept in the record.'}
      label="Reason"
    >
      <TextInput autoFocus onChange={(event) => onChange(event.target.value)} value={value} />
    </Field>
  )
}
