import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linesOfPage } from '../src/logs/lines.ts'
import {
  EMPTY_WINDOW,
  extended,
  isAtLogEnd,
  type LogWindow,
  MOST_PAGES,
  openedAt,
  PAGE_BYTES,
  pageAfter,
  pageAround,
  pageBefore,
  wholeLines,
  withOutput,
} from '../src/logs/log-window.ts'
import { pageOfLog, type RecordedLog, recorded, sizeOf } from './recorded-log.ts'

/** About 8 MB: twice what a window holds. */
const LARGE = recorded(
  Array.from({ length: 400 }, (_, at) => [
    at % 7 === 3 ? 'stderr' : 'stdout',
    `${'é'.repeat((at % 9) * 100)} line ${at}\n`.repeat(at % 5 === 0 ? 60 : 18),
  ]),
)

const read = (log: RecordedLog, { from, to }: { from: number; to: number }) => pageOfLog(log, from, to - from)

/** The lines that the bytes of a window have, read at once. */
const fresh = (log: RecordedLog, { start, end }: LogWindow) => linesOfPage(pageOfLog(log, start, end - start))

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('before' as const) }),
    fc.record({ do: fc.constant('after' as const) }),
    fc.record({ do: fc.constant('jump' as const), to: fc.nat({ max: 1_000_000 }) }),
  ),
  { minLength: 1, maxLength: 40 },
)

test('a window always holds neighbouring bytes, few of them, and the lines they have', () => {
  const size = LARGE.bytes.length
  expect(size).toBeGreaterThan(MOST_PAGES * PAGE_BYTES)
  fc.assert(
    fc.property(steps, (walk) => {
      let window = openedAt(read(LARGE, pageAround(size, size)), size)
      for (const step of walk) {
        const range =
          step.do === 'before' ? pageBefore(window) : step.do === 'after' ? pageAfter(window) : null
        if (step.do === 'jump') {
          const offset = Math.floor((step.to / 1_000_000) * size)
          window = openedAt(read(LARGE, pageAround(offset, size)), size)
          expect(window.start <= offset && offset <= window.end).toBe(true)
        } else if (range) window = extended(window, read(LARGE, range), size)
        expect(window.pages.length).toBeLessThanOrEqual(MOST_PAGES)
        expect(window.end - window.start).toBeLessThanOrEqual(MOST_PAGES * (PAGE_BYTES + 3))
        for (const [at, page] of window.pages.slice(1).entries())
          expect(page.start).toBe(window.pages[at]!.end)
      }
      expect(window.lines).toEqual(fresh(LARGE, window))
    }),
    { numRuns: 5, examples: [[[...Array(18).fill({ do: 'before' }), ...Array(18).fill({ do: 'after' })]]] },
  )
})

test('a page that is no neighbour of the window changes nothing but what is known of the size', () => {
  const window = openedAt(pageOfLog(LARGE, 0, 1_000), 1_000)
  for (const [from, bytes] of [
    [500, 1_000],
    [2_000, 100],
  ] as const) {
    const after = extended(window, pageOfLog(LARGE, from, bytes))
    expect([after.start, after.end, after.lines]).toEqual([window.start, window.end, window.lines])
  }
})

test('live output in any division, doubled and after reads gives the lines of the log', () => {
  const text = 'one\ntwo é\rthree 🚀\n\nfour'
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 6 }), { maxLength: 30 }), fc.boolean(), (sizes, isDoubled) => {
      const characters = [...text]
      let window = EMPTY_WINDOW
      let offset = 0
      const sent: string[] = []
      for (const size of [...sizes, characters.length]) {
        const piece = characters.splice(0, size).join('')
        const output = { offset, stream: 'stdout' as const, at: 5, text: piece }
        sent.push(piece)
        for (const _ of isDoubled ? [1, 2] : [1]) {
          const next = withOutput(window, output, true)
          expect(next.hole).toBe(null)
          window = next.window
        }
        offset += sizeOf(piece)
      }
      expect(window.lines.map(({ raw }) => raw)).toEqual(text.split('\n'))
      expect(window.end).toBe(sizeOf(text))
    }),
  )
})

test('output beyond the end of the window is a hole, and before it is known already', () => {
  const window = openedAt(pageOfLog(LARGE, 0, 1_000), 1_000)
  const output = (offset: number, text: string) =>
    withOutput(window, { offset, stream: 'stdout', at: null, text }, true)
  expect(output(1_200, 'later')).toEqual({
    window,
    hole: { from: 1_000, to: 1_205 },
  })
  // The end of what was read lies within this piece: the rest of it is read.
  expect(output(998, 'later').hole).toEqual({ from: 1_000, to: 1_003 })
  expect(output(10, 'known')).toEqual({ window, hole: null })
})

test('a window elsewhere in the log only learns that the log has grown', () => {
  const window = openedAt(pageOfLog(LARGE, 0, 1_000), 50_000)
  const { window: after, hole } = withOutput(
    window,
    { offset: 50_000, stream: 'stdout', at: null, text: 'new\n' },
    false,
  )
  expect([hole, after.lines, after.logBytes]).toEqual([null, window.lines, 50_004])
})

test('a full window drops its start for a reader who follows, and keeps it for one who reads', () => {
  const text = `${'x'.repeat(PAGE_BYTES - 1)}\n`
  const grow = (isFollowing: boolean) => {
    let window: LogWindow = EMPTY_WINDOW
    for (let at = 0; at < MOST_PAGES + 3; at += 1)
      ({ window } = withOutput(
        window,
        { offset: at * PAGE_BYTES, stream: 'stdout', at: null, text },
        isFollowing,
      ))
    return window
  }
  const followed = grow(true)
  expect([followed.pages.length, followed.start, isAtLogEnd(followed)]).toEqual([
    MOST_PAGES,
    3 * PAGE_BYTES,
    true,
  ])
  const read = grow(false)
  expect([read.pages.length, read.start, isAtLogEnd(read)]).toEqual([MOST_PAGES, 0, false])
  expect(read.logBytes).toBe((MOST_PAGES + 3) * PAGE_BYTES)
})

test('a window that begins within a line is shown from the next line on', () => {
  const log = recorded([['stdout', 'first line\nsecond line\nthird\n']])
  expect(wholeLines(openedAt(pageOfLog(log, 0, 20), 30)).map(({ raw }) => raw)).toEqual([
    'first line',
    'second li',
  ])
  expect(wholeLines(openedAt(pageOfLog(log, 4, 30), 30)).map(({ raw }) => raw)).toEqual([
    'second line',
    'third',
  ])
  const huge = recorded([['stdout', 'x'.repeat(100)]])
  expect(wholeLines(openedAt(pageOfLog(huge, 40, 20), 100)).map(({ raw }) => raw)).toEqual(['x'.repeat(20)])
})
