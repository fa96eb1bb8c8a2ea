/** Times in logs, to the second: columns of equal width. */

const two = (value: number) => String(value).padStart(2, '0')

/** In the reader's zone: 14:05:09. */
export function clockText(at: number): string {
  const date = new Date(at)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** Since the run began: 0:00:41.2. */
export function sinceText(at: number, start: number): string {
  const tenths = Math.max(0, Math.floor((at - start) / 100))
  const seconds = Math.floor(tenths / 10)
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${tenths % 10}`
}

/** What a person writes after `:` : a byte (`1048576`, `3.1 MB`), a percentage or a time of day, as an address in the log. */
export function addressIn(
  text: string,
  { logBytes, startedAt }: { logBytes: number; startedAt: number | null },
): { byte: number } | { at: number } | null {
  const wanted = text.trim()
  const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(wanted)
  if (percent) return { byte: Math.round((Math.min(Number(percent[1]), 100) / 100) * logBytes) }
  const size = /^(\d+(?:\.\d+)?)\s*(b|kb|mb)?$/i.exec(wanted)
  if (size) {
    const unit = { b: 1, kb: 1_000, mb: 1_000_000 }[(size[2] ?? 'b').toLowerCase()] ?? 1
    return { byte: Math.min(Math.round(Number(size[1]) * unit), logBytes) }
  }
  const time = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(wanted)
  if (!time || startedAt === null) return null
  const [hours, minutes, seconds] = [Number(time[1]), Number(time[2]), Number(time[3] ?? 0)]
  if (hours > 23 || minutes > 59 || seconds > 59) return null
  const day = new Date(startedAt)
  day.setHours(hours, minutes, seconds, 0)
  // A run that went past midnight: the first such time after its start.
  const at = day.getTime()
  return { at: at < startedAt - 60_000 ? at + 86_400_000 : at }
}
