import { useState } from 'react'

const MOST = 600

/** Text of people and agents, as it was written. Of a long one the beginning, and the rest on request. */
export function LongText({ text, label }: { text: string; label?: string }) {
  const [isWhole, setWhole] = useState(text.length <= MOST)
  return (
    <span className="block max-w-prose text-row break-words whitespace-pre-wrap text-muted">
      {label && <span className="font-medium">{label}</span>}
      {isWhole ? text : `${text.slice(0, MOST).trimEnd()}…`}{' '}
      {!isWhole && (
        <button className="text-accent hover:underline" onClick={() => setWhole(true)} type="button">
          Show all
        </button>
      )}
    </span>
  )
}
