import { HUE_FILL } from '../theme/hues.ts'
import type { Hue } from '../theme/marks.ts'

/** How far something is. `parts` stacks several hues, as done and failed of a mission. */
export function ProgressBar(props: {
  label: string
  percent: number
  hue?: Hue
  parts?: { hue: Hue; percent: number }[]
  height?: number
}) {
  const { label, percent, hue = 'go', parts = [{ hue, percent }], height = 4 } = props
  return (
    <div
      aria-label={label}
      aria-valuemax={100}
      aria-valuemin={0}
      aria-valuenow={Math.round(percent)}
      className="flex w-full gap-px overflow-hidden rounded-pill bg-hover"
      role="progressbar"
      style={{ height }}
    >
      {parts.map((part) => (
        <div
          className={`h-full ${HUE_FILL[part.hue]}`}
          key={part.hue}
          style={{ width: `${Math.max(0, Math.min(part.percent, 100))}%` }}
        />
      ))}
    </div>
  )
}
