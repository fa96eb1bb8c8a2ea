import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { TextInput } from '../parts/text-input.tsx'
import { addressIn } from './times.ts'

/** Asks where to go in the log. */
export function JumpDialog(props: {
  open: boolean
  onClose: () => void
  logBytes: number
  startedAt: number | null
  onJump: (place: { byte: number } | { at: number }) => void
}) {
  const { open, onClose, logBytes, startedAt, onJump } = props
  const [text, setText] = useState('')
  const place = addressIn(text, { logBytes, startedAt })
  const go = () => {
    if (!place) return
    onJump(place)
    setText('')
    onClose()
  }
  return (
    <Dialog
      actions={
        <Button
          disabledReason={place ? null : 'Write a byte, a percentage or a time.'}
          kind="primary"
          onClick={go}
        >
          Go there
        </Button>
      }
      onClose={onClose}
      open={open}
      title="Go to a place in the log"
      width="small"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        <Field
          hint="A byte (1048576, 3.1 MB), a percentage (50 %) or a time of day (14:05:09)."
          label="Place"
        >
          <TextInput autoFocus onChange={(event) => setText(event.target.value)} value={text} />
        </Field>
      </form>
    </Dialog>
  )
}
