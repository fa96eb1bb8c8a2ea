import type { ReactNode } from 'react'
import { causeOf } from '../../../../../src/pure/cause.ts'
import { AgentChip } from '../../../parts/agent-chip.tsx'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Markdown } from '../../../parts/markdown.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { HUE_TEXT } from '../../../theme/hues.ts'
import { useComments } from '../../comments/thread.ts'
import { ValueText } from '../value-text.tsx'
import { actorName, type Entry } from './entries.ts'

/** One thing that happened: who, what, when, and what was written. `children`: the runs that belong to it. */
export function EntryRow(props: {
  entry: Entry
  taskId: string
  onReply: (commentId: string) => void
  children: ReactNode
}) {
  const { entry, taskId, onReply, children } = props
  const { at, who, words, icon, hue, text, quoted, error, options = [], longComment, commentId } = entry
  return (
    <li className="flex min-w-0 gap-3 border-b border-line py-2.5 last:border-0">
      <Icon className={`mt-1 shrink-0 ${hue ? HUE_TEXT[hue] : 'text-muted'}`} name={icon} size={14} />
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <div className="flex min-w-0 items-baseline gap-2 text-row">
          <p className="min-w-0 flex-1 wrap-anywhere">
            {who && <Who who={who} />} {words}
          </p>
          {commentId && (
            <Button kind="quiet" onClick={() => onReply(commentId)} size="small">
              Reply
            </Button>
          )}
          <span className="text-muted">
            <Moment at={at} />
          </span>
        </div>
        {quoted && (
          <div className="border-l-2 border-line pl-3 text-muted">
            <Markdown text={quoted} />
          </div>
        )}
        {error && <FailedWith error={error} />}
        {longComment ? (
          <WholeComment id={longComment} preview={text ?? ''} taskId={taskId} />
        ) : (
          text && (
            <div className="max-w-prose">
              <Markdown text={text} />
            </div>
          )
        )}
        {options.length > 0 && <p className="text-row text-muted">Offered: {options.join(' · ')}</p>}
        {children}
      </div>
    </li>
  )
}

/** The cause; what was said around it, on request. */
function FailedWith({ error }: { error: string }) {
  const cause = causeOf(error)
  if (cause === error.trim()) return <p className="max-w-prose text-body wrap-anywhere">{error}</p>
  return (
    <>
      <p className="max-w-prose text-body wrap-anywhere">{cause}</p>
      <details className="text-row">
        <summary className="w-fit text-muted">All that it said</summary>
        <div className="mt-1">
          <ValueText label="All that it said" value={error} />
        </div>
      </details>
    </>
  )
}

function Who({ who }: { who: NonNullable<Entry['who']> }) {
  if (who.kind === 'agent' && who.id !== null) return <AgentChip slug={who.id} />
  return <span className="font-medium">{actorName(who)}</span>
}

/** Events have the beginning of a long comment; the thread has all of it. */
function WholeComment({ id, preview, taskId }: { id: string; preview: string; taskId: string }) {
  const { data } = useComments('tasks', taskId)
  const whole = data?.items.find((one) => one.id === id)
  return (
    <div className="max-w-prose">
      <Markdown text={whole?.text ?? `${preview} …`} />
    </div>
  )
}
