import { ICONS, type IconName } from '../theme/icons.ts'

/** Decoration: the word beside it, or the label of its button, says the same. */
export function Icon({
  name,
  size = 16,
  className = '',
}: {
  name: IconName
  size?: number
  className?: string
}) {
  return (
    <svg
      aria-hidden="true"
      className={`shrink-0 ${className}`}
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.5"
      viewBox="0 0 16 16"
      width={size}
    >
      <path d={ICONS[name]} />
    </svg>
  )
}
