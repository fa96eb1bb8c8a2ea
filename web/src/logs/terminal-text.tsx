import { useMemo } from 'react'
import { settled } from './settle.ts'

/** Text of a program with its colours, line by line as a terminal would show it. */
export function TerminalText({ text, className = '' }: { text: string; className?: string }) {
  const lines = useMemo(() => text.replace(/\n$/, '').split('\n').map(settled), [text])
  return (
    <pre className={`font-mono text-row wrap-anywhere whitespace-pre-wrap ${className}`}>
      {lines.map((runs, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text never change their order
        <span className="block min-h-5" dir="auto" key={row}>
          {runs.map(({ text: part, classes }, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <span className={classes} key={place}>
              {part}
            </span>
          ))}
        </span>
      ))}
    </pre>
  )
}
