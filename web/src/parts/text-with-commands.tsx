import { Copyable } from './copyable.tsx'

/** A reason or a hint. Commands to run are between backticks, and can be copied. `wraps`: commands may take several lines. */
export function TextWithCommands({ text, wraps = false }: { text: string; wraps?: boolean }) {
  const look = wraps
    ? '[&_.truncate]:text-left [&_.truncate]:break-words [&_.truncate]:whitespace-normal'
    : ''
  return text.split('`').map((part, place) =>
    place % 2 === 1 ? (
      <span
        className={`inline-flex max-w-full rounded-chip bg-hover align-bottom [&>button]:mx-0 ${look}`}
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text keep their order
        key={place}
      >
        <Copyable text={part} />
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <span key={place}>{part}</span>
    ),
  )
}
