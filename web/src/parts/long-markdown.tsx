import { useState } from 'react'
import { Markdown } from './markdown.tsx'

const MOST_LETTERS = 600
const MOST_LINES = 12

const isLong = (text: string) =>
  text.length > MOST_LETTERS || text.split('\n', MOST_LINES + 1).length > MOST_LINES

/** Markdown of people and agents. Of a long one what fits in a few lines, and the rest on request. */
export function LongMarkdown({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(!isLong(text))
  if (isWhole) return <Markdown text={text} />
  return (
    <div className="flex flex-col items-start gap-1">
      <div className="max-h-40 w-full overflow-hidden mask-b-from-60%">
        <Markdown text={text} />
      </div>
      <button
        className="touchable text-row text-accent hover:underline"
        onClick={() => setWhole(true)}
        type="button"
      >
        Show all
      </button>
    </div>
  )
}
