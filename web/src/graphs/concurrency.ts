import { IDLE_AFTER_MS, REAL_TIME, type Span } from './folded-time.ts'
import type { Row } from './timeline.ts'

/** How many tasks were worked on at once, and when none was. Pure: the present moment is an argument. */

/** From here on so many tasks are worked on. */
export interface Step {
  readonly at: number
  readonly count: number
}

/** How many tasks were worked on at once: a step at each change, in the order of time. */
export function concurrencyOf(rows: readonly Row[], now: number): Step[] {
  const changes: [at: number, by: number][] = []
  for (const { bars } of rows)
    for (const { kind, from, to } of bars)
      if (kind === 'work') changes.push([from, 1], [Math.max(from, to ?? now), -1])
  changes.sort((one, other) => one[0] - other[0] || one[1] - other[1])
  const steps: { at: number; count: number }[] = []
  let count = 0
  for (const [at, by] of changes) {
    count += by
    const last = steps.at(-1)
    if (last?.at === at) last.count = count
    else steps.push({ at, count })
  }
  return steps
}

/** The most at once in each of these many equal parts of the view. */
export function busiestIn(steps: readonly Step[], view: Span, parts: number, time = REAL_TIME): number[] {
  const most = new Array<number>(parts).fill(0)
  const partMs = (view.to - view.from) / parts
  for (const [n, { at, count }] of steps.entries()) {
    const from = time.of(at)
    const until = time.of(steps[n + 1]?.at ?? at)
    if (count === 0 || until < view.from || from > view.to) continue
    const first = Math.max(0, Math.floor((from - view.from) / partMs))
    const last = Math.min(parts - 1, Math.ceil((until - view.from) / partMs) - 1)
    for (let part = first; part <= Math.max(first, last) && part < parts; part++)
      most[part] = Math.max(most[part]!, count)
  }
  return most
}

/** The same as a table of the real time: each change, or if there are too many, equal parts with the most in each. */
export function stretchesIn(steps: readonly Step[], { from, to }: Span, mostRows: number) {
  const rows: { from: number; to: number; count: number }[] = []
  let count = 0
  let since = from
  const take = (until: number) => {
    const last = rows.at(-1)
    if (until <= since) return
    if (last?.count === count) last.to = until
    else rows.push({ from: since, to: until, count })
    since = until
  }
  for (const step of steps) {
    if (step.at >= to) break
    if (step.at > from) take(step.at)
    count = step.count
  }
  take(to)
  if (rows.length <= mostRows) return { rows, isExact: true }
  const partMs = (to - from) / mostRows
  const parts = busiestIn(steps, { from, to }, mostRows).map((most, n) => ({
    ...{ from: from + n * partMs, to: from + (n + 1) * partMs },
    count: most,
  }))
  return { rows: parts, isExact: false }
}

/** Stretches in which no task was worked on and no result was judged, however much waited. None, if nothing ever was. */
export function idleIn(rows: readonly Row[], whole: Span, now: number): Span[] {
  const busy: Span[] = []
  for (const { bars } of rows)
    for (const { kind, from, to } of bars)
      if (kind === 'work' || kind === 'verification') busy.push({ from, to: Math.max(from, to ?? now) })
  if (busy.length === 0) return []
  busy.sort((one, other) => one.from - other.from)
  const idle: Span[] = []
  let until = whole.from
  for (const { from, to } of [...busy, { from: whole.to, to: whole.to }]) {
    if (from - until > IDLE_AFTER_MS) idle.push({ from: until, to: from })
    until = Math.max(until, to)
  }
  return idle
}
