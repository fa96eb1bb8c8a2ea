import { Copyable } from '../../parts/copyable.tsx'

/** A reason or a hint. What to run about it stands between backticks, and can be copied. */
export function TextWithCommands({ text }: { text: string }) {
  return text.split('`').map((part, place) =>
    place % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text keep their order
      <span className="inline-flex max-w-full rounded-chip bg-hover px-1 align-bottom" key={place}>
        <Copyable text={part} />
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: see above
      <span key={place}>{part}</span>
    ),
  )
}
