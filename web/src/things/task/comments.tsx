import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import { Button } from '../../parts/button.tsx'
import { whetherDone } from '../../parts/show-refusal.ts'
import { useSession } from '../../requests/session.ts'
import { useTaskActs } from '../../requests/use-task-acts.ts'
import { CommentForm, type Writing } from '../comments/comment-form.tsx'
import { CommentThread } from '../comments/comment-thread.tsx'
import { commentOnTask } from '../comments/thread.ts'
import { showOutcome } from './ask/show-outcome.ts'
import type { ShownTask, Task } from './use-task.ts'

/** What people and agents said about the task. The next agent that works on it gets them. */
export function Comments({ task, now }: { task: Task; now: ShownTask }) {
  return (
    <CommentThread
      emptyWords="No comments yet. The next agent to work on it reads what you write."
      form={(replyTo, onDone) => (
        <CommentForm
          about={task.id}
          comment={(text) => whetherDone(commentOnTask(task.id, text, replyTo?.id ?? null))}
          more={(writing) => <RunAgain id={task.id} now={now} writing={writing} />}
          onDone={onDone}
          replyTo={replyTo}
        />
      )}
      id={task.id}
      of="tasks"
    />
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
    (again ? null : 'It is still running. The next agent to work on it reads your comment.') ??
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
