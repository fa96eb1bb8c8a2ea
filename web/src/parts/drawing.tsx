import { DRAWINGS, type DrawingName } from '../theme/drawings.ts'

export function Drawing({ name }: { name: DrawingName }) {
  const { stands, moves } = DRAWINGS[name]
  return (
    <svg
      aria-hidden="true"
      fill="none"
      height="72"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.5"
      viewBox="0 0 96 72"
      width="96"
    >
      <path className="stroke-edge" d={stands} />
      <path className="stroke-ink" d={moves} />
    </svg>
  )
}
