import { Empty } from '../parts/empty.tsx'
import { TerminalText } from './terminal-text.tsx'

/** What the record of a run keeps of its output: the beginning and the end of each. */
export interface Excerpts {
  stdout: string | null
  stderr: string | null
}

/** In place of a log that is not there: why, and what is left of it. */
export function GoneLog(props: { title: string; detail: string | null; excerpts: Excerpts }) {
  const { title, detail, excerpts } = props
  const why = detail ?? 'It was deleted, or is kept elsewhere.'
  const parts = [
    { name: 'Output', text: excerpts.stdout },
    { name: 'Errors', text: excerpts.stderr },
  ].filter(({ text }) => text !== null && text.trim() !== '')
  if (parts.length === 0) return <Empty drawing="terminal" text={why} title={title} />
  return (
    <section
      aria-label="What is left of the log"
      className="focus-inside min-h-0 flex-1 overflow-y-auto"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
    >
      <div className="flex flex-col gap-4 px-6 py-4 max-sm:px-4">
        <p className="text-muted">
          <span className="font-medium text-ink">{title}.</span> {why} These are the beginning and the end of
          what it printed.
        </p>
        {parts.map(({ name, text }) => (
          <section key={name}>
            <h2 className="mb-1 text-row font-semibold">{name}</h2>
            <TerminalText className="rounded-card border border-line bg-sunken px-3 py-2" text={text ?? ''} />
          </section>
        ))}
      </div>
    </section>
  )
}
