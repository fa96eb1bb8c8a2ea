import { expect, test } from 'vitest'
import { lineNumbers } from '../src/logs/line-numbers.ts'
import { linesOf } from '../src/logs/lines.ts'
import { settingsIn } from '../src/logs/log-settings.ts'
import { drawnMarks, nextPlace } from '../src/logs/marks.ts'
import { addressIn, sinceText } from '../src/logs/times.ts'
import { linesOfLog, recorded } from './recorded-log.ts'

test('lines of a window get their numbers from any line whose number is known', () => {
  const lines = linesOf({ offset: 100, stream: 'stdout', at: null, text: 'a\nbb\nccc\ndddd' })
  const numbers = lineNumbers(lines, { everyLines: 50, lineOffsets: [0, 105] })
  expect([...numbers!]).toEqual([49, 50, 51, 52])
  expect(lineNumbers(lines, { everyLines: 50, lineOffsets: [0, 104] })).toBe(null)
})

test('a line that the other stream interrupted has one number', () => {
  const lines = linesOfLog(
    recorded([
      ['stdout', 'one\ntw'],
      ['stderr', 'oops\n'],
      ['stdout', 'o\nthree'],
    ]),
  )
  expect([...lineNumbers(lines, { everyLines: 10, lineOffsets: [0] })!]).toEqual([1, 2, 2, 3, 4])
})

test('thousands of places become a few marks, each where it belongs', () => {
  const marks = Array.from({ length: 10_000 }, (_, at) => ({ offset: at * 10, kind: 'error' as const }))
  const drawn = drawnMarks(marks, 100_000)
  expect(drawn.length).toBeLessThanOrEqual(240)
  expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(10_000)
  expect(drawnMarks([{ offset: 50, kind: 'hit' }], 100)).toEqual([{ kind: 'hit', place: 0.5, count: 1 }])
  expect(drawnMarks([{ offset: 500, kind: 'hit' }], 100)).toEqual([])
  expect(drawnMarks([{ offset: 100, kind: 'hit' }], 100)[0]!.place).toBeLessThan(1)
})

test('walking over places goes around the ends', () => {
  expect([0, 10, 15, 30].map((from) => nextPlace([10, 20, 30], from, true, true))).toEqual([10, 20, 20, 10])
  expect([0, 10, 15, 31].map((from) => nextPlace([10, 20, 30], from, false, true))).toEqual([30, 30, 10, 30])
  expect(nextPlace([], 3, true, true)).toBe(null)
  // More may follow: the first is not the next.
  expect(nextPlace([10, 20], 20, true, false)).toBe(null)
})

test('a place is a byte, a size, a percentage or a time of day', () => {
  const startedAt = new Date(2026, 0, 1, 23, 50, 0).getTime()
  const place = (text: string) => addressIn(text, { logBytes: 1_000_000, startedAt })
  expect(place('1048')).toEqual({ byte: 1_048 })
  expect(place('3.5 kb')).toEqual({ byte: 3_500 })
  expect(place('99 MB')).toEqual({ byte: 1_000_000 })
  expect(place('50 %')).toEqual({ byte: 500_000 })
  expect(place('23:55')).toEqual({ at: new Date(2026, 0, 1, 23, 55, 0).getTime() })
  // The run continued after midnight.
  expect(place('00:10:05')).toEqual({ at: new Date(2026, 0, 2, 0, 10, 5).getTime() })
  expect(['', 'soon', '25:00', '-4', '1e9', '12:99'].map(place)).toEqual(Array(6).fill(null))
})

test('times since the start have tenths, and none is negative', () => {
  expect(sinceText(3_661_240, 0)).toBe('1:01:01.2')
  expect(sinceText(0, 5_000)).toBe('0:00:00.0')
})

test('invalid stored settings do not break the log', () => {
  const usual = settingsIn(null)
  expect(['', 'nonsense', '[]', 'null', '{"fontPx":900,"times":"x","isWrapped":3}'].map(settingsIn)).toEqual(
    Array(5).fill(usual),
  )
  expect(settingsIn('{"fontPx":16,"times":"since","isWrapped":false}')).toEqual({
    fontPx: 16,
    times: 'since',
    isWrapped: false,
  })
})
