import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** Asks for a value, and says what is still missing. */
export function AskDialog(props: {
  title: string
  text: string
  confirm: string
  missing?: string | null
  onClose: () => void
  onConfirm: () => void
  children: ReactNode
}) {
  const { title, text, confirm, missing, onClose, onConfirm, children } = props
  const submit = () => {
    if (missing) return
    onConfirm()
    onClose()
  }
  const actions = (
    <>
      <Button onClick={onClose}>Back</Button>
      <Button disabledReason={missing} kind="primary" onClick={submit}>
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog actions={actions} onClose={onClose} open text={text} title={title} width="small">
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return
          event.preventDefault()
          submit()
        }}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {children}
      </form>
    </Dialog>
  )
}
