import { HUE_FILL, HUE_TEXT } from '../theme/hues.ts'
import { statusHue } from '../theme/status-colours.ts'

/** What a run says it does, in the colour it says it in. The words alone say the same. */
export function StatusMessage({ message, color }: { message: string; color: string | null | undefined }) {
  const hue = statusHue(color)
  if (hue === null) return message
  return (
    <span className={HUE_TEXT[hue]}>
      <span
        aria-hidden="true"
        className={`mr-1.5 inline-block size-1.5 rounded-pill align-middle ${HUE_FILL[hue]}`}
      />
      {message}
    </span>
  )
}
