import { describe, expect, test } from 'vitest'
import { busiestIn, concurrencyOf, idleIn, stretchesIn } from '../src/graphs/concurrency.ts'
import { foldedTime, idleMsIn, REAL_TIME, type Span } from '../src/graphs/folded-time.ts'
import { ticksIn, viewOf, zoomOn } from '../src/graphs/time-axis.ts'
import { type Bar, drawnIn, type Row } from '../src/graphs/timeline.ts'
import { brushWords } from '../src/pages/mission/timeline/words.ts'

/** A timeline on which long idle stretches are folded, and a stretch of it that is drawn over. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const bar = (kind: Bar['kind'], from: number, to: number | null): Bar => ({
  ...{ kind, from, to, attempt: kind === 'work' ? 1 : 0, startedAt: kind === 'work' ? from : null },
})
const rowOf = (...bars: Bar[]): Row => ({ task: 'a', bars })
/** Work of half an hour, a night in which it waits for a person, and a quarter of an hour of work. */
const NIGHT: Row[] = [
  rowOf(
    bar('work', 0, 30 * MINUTE),
    bar('person', 30 * MINUTE, 10 * HOUR),
    bar('work', 10 * HOUR, 10 * HOUR + 15 * MINUTE),
  ),
]
const WHOLE: Span = { from: 0, to: 10 * HOUR + 15 * MINUTE }
const IDLE = [{ from: 30 * MINUTE, to: 10 * HOUR }]

describe('idle time', () => {
  test('is where nothing is worked on or judged for more than ten minutes, however much waits', () => {
    expect(idleIn(NIGHT, WHOLE, 0)).toEqual(IDLE)
    const judged = [...NIGHT, rowOf(bar('verification', 5 * HOUR, 6 * HOUR))]
    expect(idleIn(judged, WHOLE, 0)).toEqual([
      { from: 30 * MINUTE, to: 5 * HOUR },
      { from: 6 * HOUR, to: 10 * HOUR },
    ])
    const short = [
      rowOf(bar('work', 0, MINUTE), bar('retry', MINUTE, 11 * MINUTE), bar('work', 11 * MINUTE, 12 * MINUTE)),
    ]
    expect(idleIn(short, { from: 0, to: 12 * MINUTE }, 0)).toEqual([])
  })

  test('is also before the first work and after the last, until work goes on', () => {
    const rows = [rowOf(bar('queued', 0, HOUR), bar('work', HOUR, 2 * HOUR), bar('person', 2 * HOUR, null))]
    expect(idleIn(rows, { from: 0, to: 3 * HOUR }, 3 * HOUR)).toEqual([
      { from: 0, to: HOUR },
      { from: 2 * HOUR, to: 3 * HOUR },
    ])
    expect(idleIn([rowOf(bar('work', 0, null))], { from: 0, to: HOUR }, HOUR)).toEqual([])
  })

  test('is none where nothing was ever worked on', () => {
    expect(idleIn([rowOf(bar('queued', 0, null))], { from: 0, to: HOUR }, HOUR)).toEqual([])
  })
})

describe('a clock with folds', () => {
  const time = foldedTime(IDLE, WHOLE)

  test('runs as usual outside of them, and fast in them; each moment is found again', () => {
    expect([time.of(0), time.of(30 * MINUTE)]).toEqual([0, 30 * MINUTE])
    expect(time.of(WHOLE.to) - time.of(10 * HOUR)).toBe(15 * MINUTE)
    const foldMs = time.of(10 * HOUR) - time.of(30 * MINUTE)
    expect(foldMs).toBeGreaterThan(0)
    expect(foldMs).toBeLessThan(5 * MINUTE)
    for (const at of [-MINUTE, 0, 10 * MINUTE, 30 * MINUTE, HOUR, 5 * HOUR, 10 * HOUR, WHOLE.to, 20 * HOUR])
      expect(time.at(time.of(at))).toBeCloseTo(at, 3)
  })

  test('never runs backwards, and gives however many folds at most as much room as the work', () => {
    const many = Array.from({ length: 200 }, (_, n) => ({
      from: (n + 1) * HOUR,
      to: (n + 1) * HOUR + 50 * MINUTE,
    }))
    const whole = { from: 0, to: 202 * HOUR }
    const clock = foldedTime(many, whole)
    let before = Number.NEGATIVE_INFINITY
    for (let at = 0; at <= whole.to; at += 7 * MINUTE) {
      expect(clock.of(at)).toBeGreaterThanOrEqual(before)
      before = clock.of(at)
    }
    const busy = whole.to - 200 * 50 * MINUTE
    expect(clock.of(whole.to) - busy).toBeLessThanOrEqual(busy)
  })

  test('is the real one without folds', () => {
    expect(foldedTime([], WHOLE)).toBe(REAL_TIME)
  })

  test('draws what happened larger, and what lasts through a fold as one bar', () => {
    const view = { from: 0, to: time.of(WHOLE.to) }
    const [first, wait, last] = drawnIn(NIGHT[0]!, view, 1_000, 0, time)
    expect(first!.width).toBeGreaterThan(500)
    expect(wait!.x).toBeCloseTo(first!.x + first!.width, 3)
    expect(wait!.width).toBeLessThan(100)
    expect(last!.x + last!.width).toBeCloseTo(1_000, 3)
    // What it says is the real time.
    expect([wait!.from, wait!.to]).toEqual([30 * MINUTE, 10 * HOUR])
    const real = drawnIn(NIGHT[0]!, WHOLE, 1_000, 0)
    expect(real[0]!.width).toBeLessThan(60)
  })

  test('has its labels outside of folds, and says when it goes on, with the day if it is another', () => {
    const days = [{ from: 30 * MINUTE, to: 40 * HOUR }]
    const whole = { from: 0, to: 41 * HOUR }
    const clock = foldedTime(days, whole)
    const ticks = ticksIn({ from: 0, to: clock.of(whole.to) }, 800, clock)
    expect(ticks.some(({ at }) => at > days[0]!.from && at < days[0]!.to)).toBe(false)
    const goesOn = ticks.find(({ at }) => at === 40 * HOUR)!
    expect(goesOn.words).toMatch(/^\d+ Jan \d\d:\d\d$/)
    for (const [n, { x }] of ticks.entries()) if (n > 0) expect(x - ticks[n - 1]!.x).toBeGreaterThan(40)
    // Where there is no room for the day, the time stands alone; where there is none for that, nothing does.
    const labels = (width: number) =>
      ticksIn({ from: 0, to: clock.of(whole.to) }, width, clock)
        .filter(({ at }) => at === 40 * HOUR)
        .map(({ words }) => words)
    expect([labels(800), labels(120), labels(20)]).toEqual([
      [expect.stringMatching(/ Jan /)],
      [expect.stringMatching(/^\d\d:\d\d$/)],
      [],
    ])
  })

  test('says how much of what is in view is folded', () => {
    expect(idleMsIn(time, WHOLE)).toBe(9.5 * HOUR)
    expect(idleMsIn(time, { from: 0, to: HOUR })).toBe(30 * MINUTE)
    expect(idleMsIn(REAL_TIME, WHOLE)).toBe(0)
  })
})

describe('how many at once', () => {
  const steps = concurrencyOf(
    [
      rowOf(bar('work', 0, 20)),
      { task: 'b', bars: [bar('work', 10, 30)] },
      { task: 'c', bars: [bar('work', 60, 70)] },
    ],
    0,
  )

  test('is the same in the drawing and in its table', () => {
    expect(stretchesIn(steps, { from: 0, to: 100 }, 40)).toEqual({
      isExact: true,
      rows: [
        { from: 0, to: 10, count: 1 },
        { from: 10, to: 20, count: 2 },
        { from: 20, to: 30, count: 1 },
        { from: 30, to: 60, count: 0 },
        { from: 60, to: 70, count: 1 },
        { from: 70, to: 100, count: 0 },
      ],
    })
    expect(stretchesIn(steps, { from: 15, to: 40 }, 40).rows).toEqual([
      { from: 15, to: 20, count: 2 },
      { from: 20, to: 30, count: 1 },
      { from: 30, to: 40, count: 0 },
    ])
    expect(busiestIn(steps, { from: 0, to: 100 }, 10)).toEqual([1, 2, 1, 0, 0, 0, 1, 0, 0, 0])
  })

  test('is told for equal parts where a table would be too long', () => {
    const { rows, isExact } = stretchesIn(steps, { from: 0, to: 100 }, 2)
    expect(isExact).toBe(false)
    expect(rows).toEqual([
      { from: 0, to: 50, count: 2 },
      { from: 50, to: 100, count: 1 },
    ])
  })
})

describe('a stretch that is drawn', () => {
  test('is in view alone; at the end of all it follows the present', () => {
    const all = { from: 0, to: HOUR }
    expect(viewOf(zoomOn({ from: 10 * MINUTE, to: 20 * MINUTE }, all), all)).toEqual({
      from: 10 * MINUTE,
      to: 20 * MINUTE,
    })
    expect(zoomOn({ from: 50 * MINUTE, to: HOUR }, all)).toEqual({ lengthMs: 10 * MINUTE, end: 'now' })
    expect(zoomOn(all, all)).toBe('all')
    // Never shorter than what can be told apart.
    const moment = viewOf(zoomOn({ from: MINUTE, to: MINUTE + 1 }, all), all)
    expect(moment.to - moment.from).toBe(10_000)
    expect((moment.from + moment.to) / 2).toBe(MINUTE + 0.5)
  })

  test('is told in words while it is drawn', () => {
    expect(brushWords(Date.parse('2026-05-04T10:00:00Z'), null, 0)).toMatch(/^\d\d:00:00, none at once$/)
    const drawn = { from: Date.parse('2026-05-04T10:00:00Z'), to: Date.parse('2026-05-04T10:02:00Z') }
    expect(brushWords(drawn.to, drawn, 2)).toMatch(/^\d\d:00:00 to \d\d:02:00, 2 m.*\. Enter shows it$/)
  })
})
