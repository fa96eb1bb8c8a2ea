import { describe, expect, test } from 'vitest'
import { busiestIn, concurrencyOf } from '../src/graphs/concurrency.ts'
import { movedBy, ticksIn, viewOf, zoomedBy } from '../src/graphs/time-axis.ts'
import {
  afterChange,
  type Bar,
  drawnIn,
  isLasting,
  piecesOf,
  type Row,
  spanOf,
  waitedFor,
} from '../src/graphs/timeline.ts'
import { rowsAfter, rowsFrom } from '../src/pages/mission/timeline/rows.ts'
import { barWords, rowWords, waitWords } from '../src/pages/mission/timeline/words.ts'

/** What tasks did when, as bars. */

const bar = (kind: Bar['kind'], from: number, to: number | null, more: Partial<Bar> = {}): Bar => ({
  ...{ kind, from, to, attempt: kind === 'work' ? 1 : 0, startedAt: null },
  ...more,
})
const MINUTE = 60_000
const looks = (one: Bar, now: number) => piecesOf(one, now).map(({ look, from, to }) => [look, from, to])

describe('a bar', () => {
  test('is outlined from the claim until its holder begins, and solid from then on', () => {
    expect(looks(bar('work', 10, 30, { startedAt: 15 }), 99)).toEqual([
      ['assigned', 10, 15],
      ['running', 15, 30],
    ])
    expect(looks(bar('work', 10, null), 20)).toEqual([['assigned', 10, 20]])
    expect(looks(bar('work', 10, null, { startedAt: 10 }), 20)).toEqual([['running', 10, 20]])
  })

  test('is never shorter than nothing, even if the clock of the page is an hour behind', () => {
    expect(looks(bar('queued', 3_600_000, null), 0)).toEqual([['waiting', 3_600_000, 3_600_000]])
    expect(spanOf([{ task: 'a', bars: [bar('queued', 3_600_000, null)] }], 0)).toEqual({
      from: 3_600_000,
      to: 3_601_000,
    })
  })

  test('that is too small to see is part of the one before it, and counted there', () => {
    const row: Row = {
      task: 'a',
      bars: Array.from({ length: 1_000 }, (_, n) => bar('work', n, n + 1, { startedAt: n })),
    }
    const drawn = drawnIn(row, { from: 0, to: 1_000 }, 100, 0)
    expect(drawn.length).toBeLessThanOrEqual(52)
    expect(drawn.reduce((sum, { folded }) => sum + folded + 1, 0)).toBe(1_000)
    // A part of that is drawn as itself.
    expect(drawnIn(row, { from: 500, to: 510 }, 100, 0).every(({ folded }) => folded === 0)).toBe(true)
  })

  test('is drawn only if it is in view', () => {
    const row: Row = {
      task: 'a',
      bars: [bar('waiting', 0, 10), bar('work', 10, 20), bar('retry', 20, 1_000)],
    }
    const drawn = drawnIn(row, { from: 11, to: 19 }, 80, 0)
    expect(drawn.map(({ bar: { kind }, x, width }) => [kind, x, width])).toEqual([['work', 0, 80]])
  })
})

describe('the timeline of a mission', () => {
  const rows = rowsFrom({
    tasks: ['a', 'b'],
    segments: {
      ...{ task: [0, 0, 1], attempt: [0, 1, 0], kind: ['queued', 'work', 'waiting'] },
      ...{ from: [0, 5, 0], to: [5, null, null], startedAt: [null, 6, null], runId: [null, 'r', null] },
    },
    seq: 1,
  })
  const event = (more: object) =>
    ({ taskId: 'a', generation: 1, to: null, at: '1970-01-01T00:00:10Z', ...more }) as never

  test('continues with the events after it, and only the row of the task changes', () => {
    const after = rowsAfter(rows, event({ type: 'task_output_submitted', to: 'verifying' }))
    expect(after[0]!.bars.map(({ kind, to }) => [kind, to])).toEqual([
      ['queued', 5],
      ['work', 10_000],
      ['verification', null],
    ])
    expect(after[1]).toBe(rows[1])
    expect(rowsAfter(rows, event({ type: 'task_progress' }))).toBe(rows)
    expect(rowsAfter(rows, event({ type: 'task_started', taskId: 'z', to: 'running' }))).toBe(rows)
  })

  test('leads to the run that began', () => {
    const after = rowsAfter(rows, event({ type: 'run_started', runId: 'r2', payload: { generation: 1 } }))
    expect(after[0]!.bars.map(({ runId }) => runId)).toEqual([null, 'r2'])
  })

  test('lasts until all have ended', () => {
    expect(isLasting(rows)).toBe(true)
    const ended = afterChange(afterChange(rows, 'a', { generation: 1, state: 'completed', at: 20 }), 'b', {
      generation: 0,
      state: 'skipped',
      at: 21,
    })
    expect(isLasting(ended)).toBe(false)
    expect(spanOf(ended, 99_999_999)).toEqual({ from: 0, to: 1_000 })
    expect(spanOf([{ task: 'a', bars: [] }], 5)).toBeNull()
  })
})

describe('how many were worked on at once', () => {
  const rows: Row[] = [
    { task: 'a', bars: [bar('work', 0, 10), bar('person', 10, 50)] },
    { task: 'b', bars: [bar('work', 5, null)] },
    { task: 'c', bars: [bar('work', 10, 20)] },
  ]

  test('is counted at each change, and one that ends as another begins is not both', () => {
    expect(concurrencyOf(rows, 30)).toEqual([
      { at: 0, count: 1 },
      { at: 5, count: 2 },
      { at: 10, count: 2 },
      { at: 20, count: 1 },
      { at: 30, count: 0 },
    ])
  })

  test('is shown as the most in each part of the view', () => {
    expect(busiestIn(concurrencyOf(rows, 30), { from: 0, to: 40 }, 4)).toEqual([2, 2, 1, 0])
    expect(busiestIn([], { from: 0, to: 40 }, 2)).toEqual([0, 0])
  })
})

describe('the axis', () => {
  const all = { from: 0, to: 60 * MINUTE }

  test('has round labels that do not touch, from seconds to years', () => {
    for (const ms of [10_000, MINUTE, 60 * MINUTE, 86_400_000, 400 * 86_400_000]) {
      const ticks = ticksIn({ from: 1_000_000_007, to: 1_000_000_007 + ms }, 900)
      expect(ticks.length).toBeGreaterThan(0)
      expect(ticks.length).toBeLessThanOrEqual(11)
      for (const [n, { x }] of ticks.entries())
        if (n > 0) expect(x - ticks[n - 1]!.x).toBeGreaterThanOrEqual(80)
    }
  })

  test('is zoomed to the minute and further, around the moment that is pointed at', () => {
    let view = all
    for (let n = 0; n < 6; n++) view = { ...viewOf(zoomedBy(view, all, 0.5, 10 * MINUTE), all) }
    expect(view.to - view.from).toBeLessThanOrEqual(MINUTE)
    expect(view.from).toBeLessThanOrEqual(10 * MINUTE)
    expect(view.to).toBeGreaterThanOrEqual(10 * MINUTE)
    expect(zoomedBy(view, all, 1_000)).toBe('all')
  })

  test('at the end of all follows the present, and is moved within it', () => {
    const zoom = zoomedBy(all, all, 0.5, all.to)
    expect(zoom).toEqual({ lengthMs: 30 * MINUTE, end: 'now' })
    const later = { from: 0, to: 70 * MINUTE }
    expect(viewOf(zoom, later)).toEqual({ from: 40 * MINUTE, to: 70 * MINUTE })
    const earlier = movedBy(viewOf(zoom, all), all, -0.5)
    expect(viewOf(earlier, all)).toEqual({ from: 15 * MINUTE, to: 45 * MINUTE })
    expect(viewOf(movedBy(viewOf(earlier, all), all, -9), all).from).toBe(0)
  })
})

describe('the words of a timeline', () => {
  const waits: Row = {
    task: 'b',
    bars: [
      bar('waiting', 0, 3 * MINUTE),
      bar('work', 3 * MINUTE, null, { startedAt: 3 * MINUTE, attempt: 2 }),
    ],
  }
  const before: Row[] = [
    { task: 'x', bars: [bar('work', 0, MINUTE)] },
    { task: 'y', bars: [bar('work', 0, 3 * MINUTE)] },
  ]
  const now = 5 * MINUTE

  test('say who waited for whom', () => {
    expect(waitedFor(waits, before, now)).toEqual({ waitedMs: 3 * MINUTE, last: 'y' })
    expect(waitWords(waits, before, 2, now, (id) => `#${id}`)).toBe(
      'waited 3 m, last for #y; 2 tasks wait for it',
    )
    expect(waitWords(before[0]!, [], 1, now, String)).toBe('waited for no other task; 1 task waits for it')
    expect(waitWords(before[0]!, before, 0, now, String)).toBe('did not have to wait')
  })

  test('say what each bar is, and each row as a sentence', () => {
    expect(rowWords(waits, now)).toBe('waiting 3 m, running 2 m, attempt 2')
    expect(rowWords({ task: 'a', bars: [] }, now)).toBe('nothing so far')
    expect(barWords(piecesOf(waits.bars[1]!, now)[0]!)).toMatch(
      /^Running, 2 m, attempt 2, from [\d:]+ until now$/,
    )
  })
})
