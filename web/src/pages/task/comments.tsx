import { useState } from 'react'
import { mayBeDone } from '../../../../src/core/acts.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { useSession } from '../../requests/session.ts'
import { commentOn } from '../../requests/task-decisions.ts'
import { useTaskActs } from '../../requests/use-task-acts.ts'
import { tellOutcome, tellRefusal } from './tell.ts'
import { type Comment, threadsOf, useComments } from './thread.ts'
import type { ShownTask, Task } from './use-task.ts'

/** What people and agents said about the task. Whoever works on it next is told. */
export function Comments({ task, now }: { task: Task; now: ShownTask }) {
  const { data, error, refetch } = useComments(task.id)
  const [replyTo, setReplyTo] = useState<Comment | null>(null)
  if (error && !data) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rowHeight={56} rows={3} />
  return (
    <div className="flex max-w-prose flex-col gap-4">
      {data.items.length === 0 && (
        <p className="text-row text-muted">
          Nobody has said anything yet. The agent that works on it next reads what you write.
        </p>
      )}
      <ol aria-label="Comments" className="flex flex-col gap-4">
        {threadsOf(data.items).map(({ first, replies }) => (
          <li className="flex flex-col gap-3" key={first.id}>
            <Said comment={first} onReply={() => setReplyTo(first)} />
            {replies.map((reply) => (
              <div className="ml-3 border-l border-line pl-4" key={reply.id}>
                <Said comment={reply} onReply={() => setReplyTo(first)} />
              </div>
            ))}
          </li>
        ))}
      </ol>
      <Writer now={now} onDone={() => setReplyTo(null)} replyTo={replyTo} task={task} />
    </div>
  )
}

function Said({ comment, onReply }: { comment: Comment; onReply: () => void }) {
  const { author } = comment
  const name = author.name ?? author.id ?? author.kind
  return (
    <article aria-label={`Comment of ${name}`} className="min-w-0">
      <header className="flex items-center gap-2 text-row">
        {author.kind === 'agent' ? <AgentChip slug={author.id ?? name} /> : <Person name={name} />}
        <span className="text-muted">
          <Moment at={comment.at} />
        </span>
        <Button className="ml-auto" kind="quiet" onClick={onReply} size="small">
          Reply
        </Button>
      </header>
      <div className="mt-1">
        <Markdown text={comment.text} />
      </div>
    </article>
  )
}

const Person = ({ name }: { name: string }) => (
  <span className="inline-flex min-w-0 items-center gap-1.5 font-medium">
    <Icon className="text-muted" name="people" size={14} />
    <span className="truncate">{name}</span>
  </span>
)

/** How long a comment may be that is sent together with an act. */
const MOST_WITH_ACT = 2_000

function Writer(props: { task: Task; now: ShownTask; replyTo: Comment | null; onDone: () => void }) {
  const { task, now, replyTo, onDone } = props
  const { can } = useSession()
  const acts = useTaskActs()
  const [text, setText] = useState('')
  const [isSending, setSending] = useState(false)
  const empty = text.trim() === '' ? 'Write something first.' : null
  const again = mayBeDone('retry', now) ? 'retry' : mayBeDone('reset', now) ? 'reset' : null
  const refused = again ? null : 'It is still going on: whoever works on it next reads your comment anyway.'
  const tooLong =
    text.trim().length > MOST_WITH_ACT ? 'With an act, a comment has at most 2,000 characters.' : null
  const send = async (sent: Promise<boolean>) => {
    setSending(true)
    const isDone = await sent
    setSending(false)
    if (!isDone) return
    setText('')
    onDone()
  }
  const comment = () =>
    send(
      commentOn(task.id, text.trim(), replyTo?.id ?? null).then(
        () => true,
        (error) => {
          tellRefusal(error)
          return false
        },
      ),
    )
  const runAgain = () => again && send(tellOutcome(acts.run({ act: again, comment: text.trim() }, [task.id])))
  const mayComment = can('work') || can('operate') ? null : 'This needs the right to operate.'
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (!empty && !mayComment) void comment()
      }}
    >
      {replyTo && (
        <p className="flex items-center gap-2 text-row text-muted">
          Reply to {replyTo.author.name ?? replyTo.author.id}:{' '}
          <span className="min-w-0 truncate">{replyTo.text}</span>
          <Button kind="quiet" onClick={onDone} size="small">
            Not a reply
          </Button>
        </p>
      )}
      <Field hint="Markdown. Ctrl Enter sends." label="Comment">
        <TextInput
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit()
          }}
          rows={3}
          value={text}
        />
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button
          busy={isSending}
          disabledReason={mayComment ?? empty}
          kind="primary"
          size="small"
          type="submit"
        >
          Comment
        </Button>
        <Button
          busy={isSending}
          disabledReason={
            (can('operate') ? null : 'This needs the right to operate.') ?? refused ?? empty ?? tooLong
          }
          icon="retry"
          onClick={() => void runAgain()}
          size="small"
        >
          Comment and run again
        </Button>
      </div>
    </form>
  )
}
