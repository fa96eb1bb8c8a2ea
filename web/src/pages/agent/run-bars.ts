/** How high the bar of a run is, from 0 to 1. By the logarithm: runs of seconds and of hours are side by side. */
export function barHeight(durationMs: number | null, longestMs: number): number {
  if (durationMs === null || durationMs <= 0 || longestMs <= 0) return 0
  return Math.min(Math.log1p(durationMs / 1_000) / Math.log1p(longestMs / 1_000), 1)
}
