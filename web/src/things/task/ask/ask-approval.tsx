import { type ReactNode, useState } from 'react'
import { mayBeDone } from '../../../../../src/kinds/task/rules/allowed-acts.ts'
import { useCard } from '../../../live/hooks.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { ReviewOfTask } from '../../changes/review.tsx'
import { AskRejection } from './ask-rejection.tsx'
import type { AskedTask, Asking } from './asked-first.ts'

/** Shows what is to be approved; Enter approves. */
export function AskApproval(props: Asking) {
  const { about, onClose, send } = props
  return about.one ? (
    <AskOne {...props} task={about.one} />
  ) : (
    <ApprovalDialog
      name={about.name}
      onApprove={() => send({ act: 'approve' })}
      onClose={onClose}
      text="Each approval is for the result that the board shows now. It is refused if the result has changed."
    />
  )
}

function AskOne(props: Asking & { task: AskedTask }) {
  const { about, onClose, send } = props
  const [seen, setSeen] = useState(props.task)
  const [isRejecting, setRejecting] = useState(false)
  const now = useCard(seen.id)
  const isChanged = now !== undefined && now.resultDigest !== seen.resultDigest
  if (isRejecting)
    return (
      <AskRejection
        name={about.name}
        onClose={onClose}
        onConfirm={(given) => send({ act: 'reject', seen, ...given })}
      />
    )
  return (
    <ApprovalDialog
      name={about.name}
      onApprove={() => send({ act: 'approve', seen })}
      onClose={onClose}
      onReject={() => setRejecting(true)}
      refusal={
        isChanged
          ? 'It changed while you were reading.'
          : now && !mayBeDone('approve', now)
            ? 'It no longer waits for an approval.'
            : null
      }
      text="Your approval is for exactly this result and commit. It is refused if they have changed."
    >
      {isChanged && <Changed onShow={() => setSeen({ ...seen, ...now })} />}
      <ReviewOfTask
        digest={seen.resultDigest}
        generation={seen.generation}
        key={seen.resultDigest}
        taskId={seen.id}
      />
    </ApprovalDialog>
  )
}

const Changed = ({ onShow }: { onShow: () => void }) => (
  <div className="mb-4 flex flex-wrap items-center gap-3 rounded-card bg-ask-tint p-3 text-ask" role="alert">
    <Icon name="warning" />
    <p className="min-w-0 flex-1 font-medium">It changed while you were reading.</p>
    <Button onClick={onShow} size="small">
      Show the current one
    </Button>
  </div>
)

/** What is approved, then the buttons. */
export function ApprovalDialog(props: {
  name: string
  text: string
  /** What the button says. */
  words?: string
  refusal?: string | null
  onClose: () => void
  onApprove: () => void
  onReject?: () => void
  children?: ReactNode
}) {
  const { name, text, words = 'Approve', refusal, onClose, onApprove, onReject, children } = props
  const approve = () => {
    onApprove()
    onClose()
  }
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          {onReject && (
            <Button disabledReason={refusal} onClick={onReject}>
              Reject
            </Button>
          )}
          <Button disabledReason={refusal} kind="primary" onClick={approve} ref={focusOn} shortcut="Enter">
            {words}
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={text}
      title={`Approve ${name}`}
      {...(children ? { width: 'wide' } : {})}
    >
      {children}
    </Dialog>
  )
}

/** After the dialog took the focus: Enter approves. What is read first stays in view. */
const focusOn = (button: HTMLButtonElement | null) => {
  const timer = setTimeout(() => button?.focus({ preventScroll: true }))
  return () => clearTimeout(timer)
}
