import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemBox } from '../../parts/problem.tsx'

/** A form about a budget: it stays open until the server has taken it, and shows its refusal. */
export function FormDialog(props: {
  title: string
  text?: ReactNode
  confirm: string
  /** What is still missing, or why this user may not. */
  refusal: string | null
  isBusy: boolean
  error: Error | null
  onConfirm: () => void
  onClose: () => void
  /** Something is written that can be thrown away. */
  onDiscard?: (() => void) | false | undefined
  width?: 'small' | 'usual'
  children: ReactNode
}) {
  const { title, text, confirm, refusal, isBusy, error, onConfirm, onClose, onDiscard, children } = props
  const submit = () => {
    if (refusal === null && !isBusy) onConfirm()
  }
  return (
    <Dialog
      actions={
        <>
          {onDiscard && (
            <Button kind="quiet" onClick={onDiscard}>
              Discard
            </Button>
          )}
          <Button onClick={onClose}>Back</Button>
          <Button busy={isBusy} disabledReason={refusal} kind="primary" onClick={submit} shortcut="Enter">
            {confirm}
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={text}
      title={title}
      width={props.width ?? 'small'}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          // It may be asked from within another form.
          event.stopPropagation()
          submit()
        }}
      >
        {children}
        {error && <ProblemBox error={error} />}
        {/* Enter in a field sends the form, which needs a button of its own for that. */}
        <button className="hidden" tabIndex={-1} type="submit" />
      </form>
    </Dialog>
  )
}
