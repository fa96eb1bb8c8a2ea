/** The periods that an overview can be of, and how finely each is divided. */

const MINUTE_MS = 60_000

export const OVERVIEW_WINDOWS = {
  '1h': { bucketMs: MINUTE_MS, buckets: 60 },
  '24h': { bucketMs: 15 * MINUTE_MS, buckets: 96 },
  '7d': { bucketMs: 120 * MINUTE_MS, buckets: 84 },
  '30d': { bucketMs: 480 * MINUTE_MS, buckets: 90 },
} as const

export type OverviewWindow = keyof typeof OVERVIEW_WINDOWS
export const overviewWindows = Object.keys(OVERVIEW_WINDOWS) as OverviewWindow[]
