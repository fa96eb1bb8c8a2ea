import type { ReactNode } from 'react'
import { Skeleton } from '../parts/skeleton.tsx'
import { TerminalText } from './terminal-text.tsx'

/** What the record of a run keeps of its output: the beginning and the end of each stream. */
export interface Excerpts {
  stdout: string | null
  stderr: string | null
}

const SHOWN_LINES = 40
/** So that both are in view. */
const SHOWN_OF_BOTH = 12

const partsOf = ({ stdout, stderr }: Excerpts) =>
  [
    { name: 'Output', text: stdout ?? '' },
    { name: 'Errors', text: stderr ?? '' },
  ].filter(({ text }) => text.trim() !== '')

export const hasText = (excerpts: Excerpts) => partsOf(excerpts).length > 0

/** The end of what a run printed, from its record, until its log is read. */
export function Excerpt({ excerpts, label }: { excerpts: Excerpts; label: string }) {
  const parts = partsOf(excerpts)
  const most = parts.length > 1 ? SHOWN_OF_BOTH : SHOWN_LINES
  return (
    <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden px-6 py-2 max-sm:px-4">
      {parts.length === 0 && <Skeleton label={label} rows={8} />}
      {parts.map(({ name, text }) => (
        <section aria-label={name} className="mb-3" key={name}>
          {(parts.length > 1 || name === 'Errors') && <h2 className="mb-1 text-row font-semibold">{name}</h2>}
          <TerminalText
            className="text-muted"
            text={text.replace(/\n+$/, '').split('\n').slice(-most).join('\n')}
          />
        </section>
      ))}
    </div>
  )
}

/** All that the record keeps, below the sentence that says why it is shown. */
export function KeptOutput(props: { label: string; excerpts: Excerpts; children: ReactNode }) {
  const { label, excerpts, children } = props
  return (
    <section
      aria-label={label}
      className="focus-inside min-h-0 flex-1 overflow-y-auto"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
    >
      <div className="flex flex-col gap-4 px-6 py-4 max-sm:px-4">
        <p className="text-muted">{children}</p>
        {partsOf(excerpts).map(({ name, text }) => (
          <section key={name}>
            <h2 className="mb-1 text-row font-semibold">{name}</h2>
            <TerminalText className="rounded-card border border-line bg-sunken px-3 py-2" text={text} />
          </section>
        ))}
      </div>
    </section>
  )
}
