import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { TextInput } from './text-input.tsx'

/** Asks once before an act that cannot be taken back. `name` has to be typed for the dangerous ones, `reason` may be asked for. */
export function ConfirmDialog(props: {
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
  name?: string
  reason?: 'optional' | 'required'
}) {
  const { open, onClose, onConfirm, title, text, confirm, isDangerous = false, busy, name, reason } = props
  const [typed, setTyped] = useState('')
  const [why, setWhy] = useState('')
  const missing =
    name !== undefined && typed !== name
      ? `Type ${name} to confirm.`
      : reason === 'required' && why.trim() === ''
        ? 'A reason is needed.'
        : null
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
        busy={busy}
        disabledReason={missing}
        kind={isDangerous ? 'danger' : 'primary'}
        onClick={submit}
        shortcut={name === undefined && !reason ? 'Enter' : 'Mod+Enter'}
      >
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog actions={actions} onClose={close} open={open} text={text} title={title} width="small">
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit()}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {reason && (
          <Field
            label="Reason"
            hint={reason === 'optional' ? 'Optional. It is kept in the record.' : 'It is kept in the record.'}
          >
            <TextInput autoFocus onChange={(event) => setWhy(event.target.value)} value={why} />
          </Field>
        )}
        {name !== undefined && (
          <Field label={`Type “${name}” to confirm`}>
            <TextInput autoComplete="off" onChange={(event) => setTyped(event.target.value)} value={typed} />
          </Field>
        )}
      </form>
    </Dialog>
  )
}
