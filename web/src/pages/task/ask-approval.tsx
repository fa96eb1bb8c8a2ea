import { useQuery } from '@tanstack/react-query'
import { useCard } from '../../live/hooks.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { api } from '../../requests/api.ts'
import type { AskedTask, Asking } from './asked-first.ts'

/** Shows what is to be approved; Enter approves. */
export function AskApproval(props: Asking) {
  const { about, onClose, send } = props
  return about.one ? (
    <AskOne {...props} task={about.one} />
  ) : (
    <Ask
      name={about.name}
      onApprove={() => send({ act: 'approve' })}
      onClose={onClose}
      text="Each approval is for the result that the board shows now. It is refused if the result has changed."
    />
  )
}

function AskOne({ task, about, onClose, send }: Asking & { task: AskedTask }) {
  const now = useCard(task.id)
  return (
    <Ask
      name={about.name}
      onApprove={() => send({ act: 'approve' })}
      onClose={onClose}
      refusal={
        now && now.resultDigest !== task.resultDigest
          ? 'It changed while you were reading. Close this and look again.'
          : null
      }
      text="Your approval is for exactly this result. It is refused if the result has changed."
    >
      <ResultToApprove task={task} />
    </Ask>
  )
}

function Ask(props: {
  name: string
  text: string
  refusal?: string | null
  onClose: () => void
  onApprove: () => void
  children?: React.ReactNode
}) {
  const { name, text, refusal, onClose, onApprove, children } = props
  const approve = () => {
    onApprove()
    onClose()
  }
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button disabledReason={refusal} kind="primary" onClick={approve} ref={focusOn} shortcut="Enter">
            Approve
          </Button>
        </>
      }
      onClose={onClose}
      open
      text={text}
      title={`Approve ${name}`}
    >
      {children}
    </Dialog>
  )
}

/** After the dialog took the focus: Enter approves. */
const focusOn = (button: HTMLButtonElement | null) => {
  const timer = setTimeout(() => button?.focus())
  return () => clearTimeout(timer)
}

/** What is about to be approved, as text. */
function ResultToApprove({ task }: { task: AskedTask }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['results-to-approve', task.id],
    queryFn: ({ signal }) => api().get('/tasks/:id/results', { params: { id: task.id }, signal }),
    gcTime: 0,
  })
  if (error) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={3} />
  const shown = data.items.find(
    ({ generation, accepted }) => accepted === null && generation === task.generation,
  )
  return (
    <div className="flex flex-col gap-2">
      <p className="text-body font-medium break-words">{task.title}</p>
      {shown?.summary && <p className="text-row break-words text-muted">{shown.summary}</p>}
      <pre className="max-h-80 overflow-auto rounded-card border border-line bg-sunken p-3 font-mono text-row break-words whitespace-pre-wrap">
        {shown === undefined
          ? 'It has no result that waits.'
          : typeof shown.result === 'string'
            ? shown.result
            : JSON.stringify(shown.result ?? null, null, 2)}
      </pre>
    </div>
  )
}
