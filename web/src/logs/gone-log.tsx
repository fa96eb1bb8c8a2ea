import { Empty } from '../parts/empty.tsx'
import { type Excerpts, hasText, KeptOutput } from './excerpt.tsx'

/** In place of a log that is not there: why, and what is left of it. */
export function GoneLog(props: { title: string; detail: string | null; excerpts: Excerpts }) {
  const { title, detail, excerpts } = props
  const why = detail ?? 'It was deleted, or is kept elsewhere.'
  if (!hasText(excerpts)) return <Empty drawing="terminal" text={why} title={title} />
  return (
    <KeptOutput excerpts={excerpts} label="What is left of the log">
      <span className="font-medium text-ink">{title}.</span> {why} These are the beginning and the end of what
      it printed.
    </KeptOutput>
  )
}

/** Below the problem that a log could not be read: what the record has of it. */
export function UnreadLog({ excerpts }: { excerpts: Excerpts }) {
  if (!hasText(excerpts)) return null
  return (
    <KeptOutput excerpts={excerpts} label="What the record has of the log">
      The record of the run has the beginning and the end of what it printed.
    </KeptOutput>
  )
}
