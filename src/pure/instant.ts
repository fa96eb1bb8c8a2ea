/** Tasks of one batch share their timestamps, so most texts are formatted once and cached here. */
const CACHED = 256
const cachedMs = new Float64Array(CACHED).fill(Number.NaN)
const cachedText: string[] = []

export function instant(ms: number): string
export function instant(ms: number | null): string | null
export function instant(ms: number | null): string | null {
  if (ms === null) return null
  const place = ms % CACHED
  if (cachedMs[place] === ms) return cachedText[place]!
  const text = new Date(ms).toISOString()
  if (place >= 0) {
    cachedMs[place] = ms
    cachedText[place] = text
  }
  return text
}
