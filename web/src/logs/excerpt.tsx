import { Skeleton } from '../parts/skeleton.tsx'
import { TerminalText } from './terminal-text.tsx'

const SHOWN_LINES = 40

/** The end of what a run printed, from its record, until its log is read. */
export function Excerpt({ text, label }: { text: string | null; label: string }) {
  const lines = text?.split('\n').slice(-SHOWN_LINES).join('\n')
  return (
    <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden px-6 py-2 max-sm:px-4">
      {lines ? <TerminalText className="text-muted" text={lines} /> : <Skeleton label={label} rows={8} />}
    </div>
  )
}
