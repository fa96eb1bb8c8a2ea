import type { ReactNode } from 'react'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { ProblemBox } from '../../../parts/problem.tsx'

/** A dialog with the form of a task. Ctrl Enter sends it; closing it keeps what was written. */
export function TaskForm(props: {
  title: string
  text?: string
  confirm: string
  /** Why it cannot be sent. */
  refused: string | null
  isBusy: boolean
  isKept: boolean
  /** What the server did not accept and belongs to no field. */
  rest: unknown
  onSubmit: () => void
  onDiscard: () => void
  onClose: () => void
  beside?: ReactNode
  children: ReactNode
}) {
  const { title, text, confirm, refused, isBusy, isKept, rest, onSubmit, onDiscard, onClose } = props
  const submit = () => {
    if (refused === null && !isBusy) onSubmit()
  }
  return (
    <Dialog
      actions={
        <>
          {props.beside}
          {isKept && (
            <Button kind="quiet" onClick={onDiscard}>
              Discard
            </Button>
          )}
          <Button onClick={onClose}>Close</Button>
          <Button
            busy={isBusy}
            disabledReason={refused}
            kind="primary"
            onClick={submit}
            shortcut="Ctrl Enter"
          >
            {confirm}
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={text}
      title={title}
    >
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {rest !== null && <ProblemBox error={rest} />}
        {props.children}
      </form>
    </Dialog>
  )
}
