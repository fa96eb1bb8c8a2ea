import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { mayBeDone } from '../../../../src/core/acts.ts'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import type { Asked } from '../../requests/acts.ts'
import type { BoardAct } from './acts-context.ts'
import { PRIORITIES } from './priorities.ts'
import { agentsQuery } from './queries.ts'
import { ResultToApprove } from './result-to-approve.tsx'
import { shortName } from './words.ts'

export interface Asking {
  act: BoardAct
  ids: readonly string[]
  /** As it was when the question was asked, if it is one task. */
  card: ShownCard | undefined
}

interface Props {
  asking: Asking
  onClose: () => void
  run: (asked: Asked, ids: readonly string[]) => void
}

/** What has to be said or seen before an act. */
export function AskFirst({ asking, onClose, run }: Props) {
  const { act, ids, card } = asking
  const subject = ids.length === 1 ? shortName(ids[0]!, card) : `${ids.length} tasks`
  const send = (asked: Asked) => {
    run(asked, ids)
    onClose()
  }
  const because = (reason: string) => (reason === '' ? {} : { reason })
  switch (act) {
    case 'cancel':
      return (
        <ConfirmDialog
          confirm={ids.length === 1 ? 'Cancel task' : 'Cancel tasks'}
          isDangerous
          onClose={onClose}
          onConfirm={(reason) => send({ act, ...because(reason) })}
          open
          reason="optional"
          text="Whoever works on it loses it at once. A cancelled task can be put back in the queue."
          title={`Cancel ${subject}`}
        />
      )
    case 'reject':
      return (
        <ConfirmDialog
          confirm="Reject result"
          onClose={onClose}
          onConfirm={(reason) => send({ act, ...because(reason) })}
          open
          reason="required"
          text="It is tried again with your reason, or fails if no attempts are left."
          title={`Reject the result of ${subject}`}
        />
      )
    case 'approve':
      return <AskApproval asking={asking} onClose={onClose} send={() => send({ act })} subject={subject} />
    case 'again':
      return <AskAgain card={card} onClose={onClose} send={send} subject={subject} />
    default:
      return <AskValue act={act} card={card} onClose={onClose} send={send} subject={subject} />
  }
}

function AskApproval(props: { asking: Asking; subject: string; onClose: () => void; send: () => void }) {
  const { asking, subject, onClose, send } = props
  const { card } = asking
  const now = useCard(asking.ids[0]!)
  const isOther = card !== undefined && now?.resultDigest !== card.resultDigest
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button
            disabledReason={isOther ? 'It changed while you read. Close this and look again.' : null}
            kind="primary"
            onClick={send}
            ref={focusOn}
            shortcut="Enter"
          >
            Approve
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={
        card
          ? 'Your approval is of exactly this result. If it changes meanwhile, it is refused.'
          : 'Each approval is of the result that the board shows now. Those that changed are refused.'
      }
      title={`Approve ${subject}`}
    >
      {card && <ResultToApprove card={card} />}
    </Dialog>
  )
}

/** After the dialog took the focus: Enter approves. */
const focusOn = (button: HTMLButtonElement | null) => {
  const timer = setTimeout(() => button?.focus())
  return () => clearTimeout(timer)
}

interface Question {
  card: ShownCard | undefined
  subject: string
  onClose: () => void
  send: (asked: Asked) => void
}

function AskAgain({ card, subject, onClose, send }: Question) {
  const refusal = (act: 'retry' | 'reset') =>
    card && !mayBeDone(act, card) ? 'Not possible from its present state.' : null
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button disabledReason={refusal('reset')} onClick={() => send({ act: 'reset' })}>
            Put back in the queue
          </Button>
          <Button disabledReason={refusal('retry')} kind="primary" onClick={() => send({ act: 'retry' })}>
            Retry
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="Retry goes on with what it has learned so far. Putting it back begins anew: attempts count from zero."
      title={`Work on ${subject} again`}
      width="small"
    />
  )
}

function AskValue({ act, card, subject, onClose, send }: Question & { act: BoardAct }) {
  const [priority, setPriority] = useState(String(card?.priority ?? 5))
  const [agent, setAgent] = useState(card?.agent ?? '')
  const { data } = useQuery({ ...agentsQuery, enabled: act === 'agent' })
  const slugs = [...new Set([...(data?.items.map(({ slug }) => slug) ?? []), ...(agent ? [agent] : [])])]
  const submit = () =>
    send(
      act === 'agent'
        ? { act: 'agent', agent: agent === '' ? null : agent }
        : { act: 'priority', priority: Number(priority) },
    )
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button kind="primary" onClick={submit}>
            {act === 'agent' ? 'Change agent' : 'Change priority'}
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={
        act === 'agent'
          ? 'Only this agent may work on it then. If another holds it, it is taken from it.'
          : '10 is the most urgent. Among equals the oldest comes first.'
      }
      title={`${act === 'agent' ? 'Agent' : 'Priority'} of ${subject}`}
      width="small"
    >
      {act === 'agent' ? (
        <Field label="Agent">
          <Select
            onChange={setAgent}
            options={[
              { value: '', words: 'Any agent' },
              ...slugs.map((slug) => ({ value: slug, words: slug })),
            ]}
            value={agent}
          />
        </Field>
      ) : (
        <Segmented
          label="Priority"
          onChange={setPriority}
          options={PRIORITIES.map((one) => ({ value: String(one), words: String(one) }))}
          size="usual"
          value={priority}
        />
      )}
    </Dialog>
  )
}
