import type { StatusColor } from '../../../src/kinds/run/rules/status-colors.ts'
import type { Hue } from './marks.ts'

/** The hues of status messages. Agents name a colour; which one is drawn, the theme decides. */
export const STATUS_HUES = {
  blue: 'go',
  green: 'done',
  yellow: 'ask',
  red: 'bad',
} as const satisfies Record<Exclude<StatusColor, 'neutral'>, Hue>

/** Null, which is neutral, for every name that is not one of them. */
export const statusHue = (color: string | null | undefined): Hue | null =>
  color != null && Object.hasOwn(STATUS_HUES, color) ? STATUS_HUES[color as keyof typeof STATUS_HUES] : null
