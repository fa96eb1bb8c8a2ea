/** The periods that figures can be of, and their words. */

export const WINDOWS = ['1h', '24h', '7d', '30d'] as const
export type Window = (typeof WINDOWS)[number]

const HOUR_MS = 3_600_000
export const WINDOW_MS: Record<Window, number> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 168 * HOUR_MS,
  '30d': 720 * HOUR_MS,
}

export const WINDOW_WORDS: Record<Window, { short: string; last: string }> = {
  '1h': { short: '1 h', last: 'the last hour' },
  '24h': { short: '24 h', last: 'the last 24 hours' },
  '7d': { short: '7 d', last: 'the last 7 days' },
  '30d': { short: '30 d', last: 'the last 30 days' },
}
