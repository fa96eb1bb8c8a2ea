import type { ReactNode } from 'react'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { type Comment, threadsOf, useComments } from './thread.ts'

/** What people and agents said about a task or a mission, and the place to say more. */
export function CommentThread(props: {
  of: 'tasks' | 'missions'
  id: string
  emptyWords: string
  form: (replyTo: Comment | null, onDone: () => void) => ReactNode
}) {
  const { of, id, emptyWords, form } = props
  const read = useComments(of, id)
  const { data } = read
  const answered = useDraft<string | null>(`reply:${id}`, null)
  if (!data) return <Loading read={read} rowHeight={56} rows={3} />
  const replyTo = data.items.find((one) => one.id === answered.value) ?? null
  return (
    <div className="flex max-w-prose flex-col gap-4">
      {data.items.length === 0 && <p className="text-row text-muted">{emptyWords}</p>}
      <ol aria-label="Comments" className="flex flex-col gap-4">
        {threadsOf(data.items).map(({ first, replies }) => (
          <li className="flex flex-col gap-3" key={first.id}>
            <Said comment={first} onReply={() => answered.set(first.id)} />
            {replies.map((reply) => (
              <div className="ml-3 border-l border-line pl-4" key={reply.id}>
                <Said comment={reply} onReply={() => answered.set(first.id)} />
              </div>
            ))}
          </li>
        ))}
      </ol>
      {form(replyTo, answered.drop)}
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
