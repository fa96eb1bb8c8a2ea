import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { START_OVER } from '../../../requests/act-words.ts'

/** A reason, and whether the next attempt continues the work or starts over. */
export function AskRejection(props: {
  name: string
  onClose: () => void
  onConfirm: (given: { reason: string; fresh?: boolean }) => void
}) {
  const { name, onClose, onConfirm } = props
  return (
    <ConfirmDialog
      choice={START_OVER}
      confirm="Reject result"
      onClose={onClose}
      onConfirm={(reason, fresh) => onConfirm({ reason, ...(fresh && { fresh }) })}
      open
      reason="required"
      text="It is tried again with your reason, or fails if no attempts are left."
      title={`Reject the result of ${name}?`}
    />
  )
}
