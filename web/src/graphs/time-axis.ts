import { REAL_TIME, type Span } from './folded-time.ts'

/** The axis of times: what is in view, and where it is labelled. Pure. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28, 91, 365].map((count) => count * DAY),
]
const PX_PER_LABEL = 90
const CHARACTER_PX = 6.5
const GAP_PX = 8

/** The shortest time that fills the view: a minute can be told apart to the second. */
const LEAST_MS = 10 * SECOND

interface Tick {
  readonly at: number
  readonly x: number
  readonly words: string
}

/** Round moments in the reader's zone, as far apart as their labels need, and the end of each folded stretch. */
export function ticksIn(view: Span, width: number, time = REAL_TIME): Tick[] {
  const perMs = width / (view.to - view.from)
  const wanted = PX_PER_LABEL / perMs
  const step = STEPS.find((one) => one >= wanted) ?? STEPS.at(-1)!
  const xOf = (at: number) => (time.of(at) - view.from) * perMs
  const [begin, end] = [time.at(view.from), time.at(view.to)]
  const offset = new Date(begin).getTimezoneOffset() * MINUTE
  const ticks: Tick[] = []
  const folds = time.folds.filter(({ from, to }) => to > begin && from < end)
  /** Where the labels so far end. */
  let free = Number.NEGATIVE_INFINITY
  const label = (at: number, words: string, before: number) => {
    const x = xOf(at)
    const px = words.length * CHARACTER_PX + GAP_PX
    if (x < free || x + px > before) return false
    ticks.push({ at, x, words })
    free = x + px
    return true
  }
  let since = begin
  for (const { from, to } of [...folds, { from: end, to: end }]) {
    const before = from === end ? Number.POSITIVE_INFINITY : xOf(from)
    // Where it goes on is said in the shortest way that has room.
    if (since !== begin)
      for (const words of afterFold(folds.find((fold) => fold.to === since)!, step))
        if (label(since, words, Math.min(before, width))) break
    for (let at = Math.ceil((since - offset) / step) * step + offset; at <= from; at += step)
      label(at, labelOf(at, step), before)
    since = to
  }
  return ticks
}

/** When it goes on: with the day, if it is another, and without. */
function afterFold({ from, to }: Span, step: number): string[] {
  const [day, time] = [labelOf(to, DAY), labelOf(to, Math.min(step, HOUR))]
  const isOtherDay = new Date(from).toDateString() !== new Date(to).toDateString()
  return isOtherDay && time !== day ? [`${day} ${time}`, time] : [time]
}

function labelOf(at: number, step: number): string {
  const date = new Date(at)
  if (step >= DAY) return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  const time = { hour: '2-digit', minute: '2-digit' } as const
  if (step < MINUTE) return date.toLocaleTimeString('en-GB', { ...time, second: '2-digit' })
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return isMidnight
    ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en-GB', time)
}

/** What is in view: all of it, or a part of that length whose end is at a moment, or follows the present. */
export type Zoom = 'all' | { readonly lengthMs: number; readonly end: number | 'now' }

export function viewOf(zoom: Zoom, all: Span): Span {
  if (zoom === 'all') return all
  const to = zoom.end === 'now' ? all.to : zoom.end
  return { from: to - zoom.lengthMs, to }
}

/** This part of all, which is at least a moment. */
export function zoomOn(part: Span, all: Span): Zoom {
  const lengthMs = Math.max(LEAST_MS, part.to - part.from)
  return within(all, lengthMs, (part.from + part.to + lengthMs) / 2)
}

/** Longer or shorter by this factor, around a moment, which keeps its place. Never longer than all, or beside it. */
export function zoomedBy(view: Span, all: Span, by: number, around = (view.from + view.to) / 2): Zoom {
  const lengthMs = Math.max(LEAST_MS, (view.to - view.from) * by)
  if (lengthMs >= all.to - all.from) return 'all'
  const part = (around - view.from) / (view.to - view.from)
  return within(all, lengthMs, around + (1 - part) * lengthMs)
}

/** Earlier or later by a part of what is in view. */
export const movedBy = (view: Span, all: Span, part: number): Zoom =>
  within(all, view.to - view.from, view.to + part * (view.to - view.from))

/** At the end of all, the view follows it. */
function within(all: Span, lengthMs: number, end: number): Zoom {
  if (lengthMs >= all.to - all.from) return 'all'
  const last = Math.max(end, all.from + lengthMs)
  return { lengthMs, end: last >= all.to ? 'now' : last }
}
