import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { bytesText } from '../../parts/wording.ts'

/** Any value as people read it: text as text, the rest as indented JSON. */
export const textOfValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null')

const PART_CHARACTERS = 20_000

/** A value of any size, drawn by part: a megabyte of text would freeze the page. */
export function ValueText({ value, label }: { value: unknown; label: string }) {
  const text = textOfValue(value)
  const [shown, setShown] = useState(PART_CHARACTERS)
  const rest = text.length - shown
  return (
    <div className="min-w-0">
      <section
        aria-label={label}
        className="focus-inside max-h-120 overflow-auto rounded-card border border-line bg-sunken p-3"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
      >
        <pre className="font-mono text-row wrap-anywhere whitespace-pre-wrap">{text.slice(0, shown)}</pre>
      </section>
      {rest > 0 && (
        <div className="mt-1 flex items-center gap-2 text-label text-muted">
          {bytesText(rest)} more
          <Button kind="quiet" onClick={() => setShown(shown + PART_CHARACTERS * 5)} size="small">
            Show the next part
          </Button>
        </div>
      )}
    </div>
  )
}
