import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { type Alert, useAcknowledge } from './use-alerts.ts'

/** Whoever acknowledges an alert is named, and may say what is being done. */
export function AskAcknowledge({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const acknowledge = useAcknowledge()
  const { id, title, about } = alert
  return (
    <ConfirmDialog
      confirm="Acknowledge"
      draft={id}
      onClose={onClose}
      onConfirm={(comment) => acknowledge.run({ id, comment })}
      open
      reason="optional"
      reasonLabel="What is being done"
      text="Others see your name. The alert stays until its cause is gone."
      title={about.name === null ? `Acknowledge: ${title}` : `Acknowledge: ${title} (${about.name})`}
    />
  )
}
