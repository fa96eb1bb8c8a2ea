import { mayBeDone } from '../../../../../src/kinds/task/rules/allowed-acts.ts'
import { Button } from '../../../parts/button.tsx'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import type { Asked } from '../../../requests/acts.ts'
import { AskApproval } from './ask-approval.tsx'
import { AskRejection } from './ask-rejection.tsx'
import { AskAgent, AskPriority, AskTags, AskType } from './ask-value.tsx'
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
        <AskRejection
          name={about.name}
          onClose={onClose}
          onConfirm={(given) => send({ act, ...(about.one && { seen: about.one }), ...given })}
        />
      )
    case 'reset':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Put back in the queue"
          onConfirm={(reason) => send({ act, ...because(reason) })}
          reason="optional"
          text="It starts over, with all its attempts. Earlier results stay with its attempts."
          title={`Put ${about.name} back in the queue?`}
        />
      )
    case 'approve':
      return <AskApproval {...props} />
    case 'again':
      return <AskAgain {...props} />
    case 'start_over':
      return <AskStartOver {...props} />
    case 'priority':
      return <AskPriority {...props} />
    case 'agent':
      return <AskAgent {...props} />
    case 'type':
      return <AskType {...props} />
    case 'tags':
      return <AskTags {...props} />
  }
}

function AskAgain({ about, onClose, send }: Asking) {
  const refusal = (act: 'retry' | 'reset') =>
    about.one && !mayBeDone(act, about.one) ? 'Not possible in its current state.' : null
  const choose = (asked: Asked) => {
    send(asked)
    onClose()
  }
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button disabledReason={refusal('reset')} onClick={() => choose({ act: 'reset' })}>
            Put back in the queue
          </Button>
          <Button disabledReason={refusal('retry')} onClick={() => choose({ act: 'retry', fresh: true })}>
            Start over
          </Button>
          <Button disabledReason={refusal('retry')} kind="primary" onClick={() => choose({ act: 'retry' })}>
            Retry
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="Retry continues the work so far. Start over begins from the base, in a new session; the work so far stays on its branch. Put back in the queue does that too, and opens a new round with all attempts."
      title={`Work on ${about.name} again`}
    />
  )
}

/** A retry without the work so far. */
function AskStartOver({ about, onClose, send }: Asking) {
  return (
    <ConfirmDialog
      confirm="Start over"
      onClose={onClose}
      onConfirm={() => send({ act: 'retry', fresh: true })}
      open
      text="The next attempt begins from the base, in a new session. The work so far stays on its branch."
      title={`Start ${about.name} over?`}
    />
  )
}
