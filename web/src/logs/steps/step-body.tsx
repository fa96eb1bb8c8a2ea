import type { ReactNode } from 'react'
import type { Step } from '../../../../src/kinds/run/shapes/transcript.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { bytesText } from '../../parts/wording.ts'
import { TerminalText } from '../terminal-text.tsx'
import { EditText } from './edit-text.tsx'

/** The longest text that a step carries; the rest is in the log. */
const MOST_TEXT = 4_000

/** What a step is about, opened: input and output, an edit, what was said or thought. */
export function StepBody({ step, onRaw }: { step: Step; onRaw: (offset: number) => void }) {
  const { kind, text, output } = step
  const isLong = text.length >= MOST_TEXT || (output?.length ?? 0) >= MOST_TEXT
  return (
    <div className="flex flex-col gap-2 pt-1 pb-3">
      {text !== '' && text.trim() !== step.title && <StepText kind={kind} text={text} />}
      {output !== null && output !== '' && (
        <Part label="Output">
          <TerminalText className={step.isError ? 'text-bad' : ''} text={output} />
        </Part>
      )}
      {step.isOpen && <p className="text-row text-muted">No result yet.</p>}
      <button
        className="self-start text-label text-muted hover:text-accent hover:underline"
        onClick={() => onRaw(step.offset)}
        title={`At byte ${step.offset.toLocaleString('en-US')} of the log`}
        type="button"
      >
        {isLong
          ? `Show all of it in the log (${bytesText(step.bytes + (step.outputBytes ?? 0))})`
          : 'Show in the log'}
      </button>
    </div>
  )
}

function StepText({ kind, text }: { kind: Step['kind']; text: string }) {
  if (kind === 'edit') return <EditText text={text} />
  if (kind === 'said' || kind === 'asked' || kind === 'ended')
    return (
      <div className="max-w-prose text-body">
        <Markdown text={text} />
      </div>
    )
  if (kind === 'thought')
    return <p className="max-w-prose text-row wrap-anywhere whitespace-pre-wrap text-muted italic">{text}</p>
  if (kind === 'call')
    return (
      <Part label="Input">
        <TerminalText text={text} />
      </Part>
    )
  return <TerminalText className="text-muted" text={text} />
}

const Part = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="overflow-hidden rounded-card border border-line bg-sunken">
    <p className="border-b border-line px-3 py-0.5 text-label text-faint">{label}</p>
    <div className="px-3 py-1.5">{children}</div>
  </div>
)
