import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import { isHeld } from '../../../../src/pure/states.ts'
import { Button } from '../../parts/button.tsx'
import { whetherDone } from '../../parts/show-refusal.ts'
import { useSession } from '../../requests/session.ts'
import { useTaskActs } from '../../requests/use-task-acts.ts'
import { CommentForm, type Writing } from '../comments/comment-form.tsx'
import { type Comment, commentOnTask } from '../comments/thread.ts'
import { showOutcome } from './ask/show-outcome.ts'
import type { ShownTask, Task } from './use-task.ts'

/** Where a comment is written: for the next agent, for the one that works on it now, or with another attempt. */
export function CommentBox(props: {
  task: Task
  now: ShownTask
  replyTo: Pick<Comment, 'id' | 'author' | 'text'> | null
  /** It was sent, or is no longer a reply. */
  onDone: () => void
}) {
  const { task, now, replyTo, onDone } = props
  return (
    <div className="max-w-prose">
      <CommentForm
        about={task.id}
        comment={(text) => whetherDone(commentOnTask(task.id, text, replyTo?.id ?? null))}
        more={(writing) =>
          isHeld(now.state) ? (
            <TellAgent id={task.id} writing={writing} />
          ) : (
            <RunAgain id={task.id} now={now} writing={writing} />
          )
        }
        onDone={onDone}
        replyTo={replyTo}
      />
    </div>
  )
}

/** The agent that works on the task gets it as a request, without waiting for another attempt. */
function TellAgent({ id, writing }: { id: string; writing: Writing }) {
  const { text, empty, isSending, send } = writing
  const { can, whyNot } = useSession()
  return (
    <Button
      busy={isSending}
      disabledReason={(can('work') ? null : whyNot('operate')) ?? empty}
      icon="send"
      onClick={() => void send(whetherDone(commentOnTask(id, text, null, true)))}
      size="small"
      title="The agent finds it in its requests while it works."
    >
      Tell the agent now
    </Button>
  )
}

/** How long a comment may be that is sent together with an act. */
const MOST_WITH_ACT = 2_000

function RunAgain({ id, now, writing }: { id: string; now: ShownTask; writing: Writing }) {
  const { text, empty, isSending, send } = writing
  const { whyNot } = useSession()
  const acts = useTaskActs()
  const again = mayBeDone('retry', now) ? 'retry' : mayBeDone('reset', now) ? 'reset' : null
  const refusal =
    whyNot('operate') ??
    (again ? null : 'It has not ended yet. The next agent to work on it reads your comment.') ??
    empty ??
    (text.length > MOST_WITH_ACT ? 'With an action, a comment has at most 2,000 characters.' : null)
  return (
    <Button
      busy={isSending}
      disabledReason={refusal}
      icon="retry"
      onClick={() => again && void send(showOutcome(acts.run({ act: again, comment: text }, [id])))}
      size="small"
    >
      Comment and run again
    </Button>
  )
}
