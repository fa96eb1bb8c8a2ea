import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { useSession } from '../../requests/session.ts'
import type { Comment } from './thread.ts'

/** What another button of the form needs of it. */
export interface Writing {
  readonly text: string
  /** Why it cannot be sent yet. */
  readonly empty: string | null
  readonly isSending: boolean
  /** Sends in another way; the text is kept unless that succeeded. */
  readonly send: (sent: Promise<boolean>) => Promise<void>
}

/** Where a comment is written. Ctrl Enter sends it. */
export function CommentForm(props: {
  /** The task or the mission: what is written is kept by it until it is sent. */
  about: string
  replyTo: Pick<Comment, 'id' | 'author' | 'text'> | null
  /** Called when it was sent, or is no longer a reply. */
  onDone: () => void
  /** Whether it was sent. */
  comment: (text: string) => Promise<boolean>
  more?: (writing: Writing) => ReactNode
}) {
  const { about, replyTo, onDone, comment, more } = props
  const { can, whyNot } = useSession()
  const { value: text, set: setText, drop } = useDraft(`comment:${about}`, '')
  const [isSending, setSending] = useState(false)
  const empty = text.trim() === '' ? 'Write something first.' : null
  const send = async (sent: Promise<boolean>) => {
    setSending(true)
    const isDone = await sent
    setSending(false)
    if (!isDone) return
    drop()
    onDone()
  }
  const mayComment = can('work') ? null : whyNot('operate')
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (!empty && !mayComment && !isSending) void send(comment(text.trim()))
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
        {more?.({ text: text.trim(), empty, isSending, send })}
      </div>
    </form>
  )
}
