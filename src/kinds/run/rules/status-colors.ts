/** What a status message may be drawn in. Anything else is neutral. */
export const STATUS_COLORS = ['neutral', 'blue', 'green', 'yellow', 'red'] as const
export type StatusColor = (typeof STATUS_COLORS)[number]
