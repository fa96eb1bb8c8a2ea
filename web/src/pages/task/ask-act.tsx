import { mayBeDone } from '../../../../src/core/acts.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { AskApproval } from './ask-approval.tsx'
import { AskAgent, AskPriority } from './ask-value.tsx'
import type { Asking, SharedAct } from './asked-first.ts'

const because = (reason: string) => (reason === '' ? {} : { reason })

/** What has to be entered or shown before an act, on one task or on several. */
export function AskAct(props: Asking & { act: SharedAct }) {
  const { act, about, onClose, send } = props
  const asked = { open: true, onClose } as const
  switch (act) {
    case 'cancel':
      return (
        <ConfirmDialog
          {...asked}
          confirm={about.one ? 'Cancel task' : 'Cancel tasks'}
          isDangerous
          onConfirm={(reason) => send({ act, ...because(reason) })}
          reason="optional"
          text="The agent working on it loses it at once. A cancelled task can be put back in the queue."
          title={`Cancel ${about.name}?`}
        />
      )
    case 'reject':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Reject result"
          onConfirm={(reason) => send({ act, ...because(reason) })}
          reason="required"
          text="It is retried with your reason, or fails if no attempts are left."
          title={`Reject the result of ${about.name}?`}
        />
      )
    case 'reset':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Put back in the queue"
          onConfirm={(reason) => send({ act, ...because(reason) })}
          reason="optional"
          text="It starts over, with all its attempts. Earlier results stay in its lineage."
          title={`Put ${about.name} back in the queue?`}
        />
      )
    case 'approve':
      return <AskApproval {...props} />
    case 'again':
      return <AskAgain {...props} />
    case 'priority':
      return <AskPriority {...props} />
    case 'agent':
      return <AskAgent {...props} />
  }
}

function AskAgain({ about, onClose, send }: Asking) {
  const refusal = (act: 'retry' | 'reset') =>
    about.one && !mayBeDone(act, about.one) ? 'Not possible in its current state.' : null
  const choose = (act: 'retry' | 'reset') => {
    send({ act })
    onClose()
  }
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button disabledReason={refusal('reset')} onClick={() => choose('reset')}>
            Put back in the queue
          </Button>
          <Button disabledReason={refusal('retry')} kind="primary" onClick={() => choose('retry')}>
            Retry
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="Retry continues with what was learned so far. Putting it back in the queue starts over, with all its attempts."
      title={`Work on ${about.name} again`}
      width="small"
    />
  )
}
