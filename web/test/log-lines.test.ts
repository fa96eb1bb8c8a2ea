import { expect, test } from 'vitest'
import { joined, type Line, lineAt, linesOf, linesOfPage } from '../src/logs/lines.ts'
import { unitAfterBytes, utf8Bytes } from '../src/logs/utf8.ts'
import { linesOfLog, pageOfLog, RECORDED, sizeOf, textAt } from './recorded-log.ts'

test('every split of a recorded log at every byte gives the same lines', () => {
  const whole = linesOfLog(RECORDED)
  expect(whole.length).toBeGreaterThan(10)
  for (let at = 0; at <= RECORDED.bytes.length; at += 1) {
    const first = pageOfLog(RECORDED, 0, at)
    const start = first.spans.reduce((sum, { bytes }) => sum + bytes, 0)
    const second = pageOfLog(RECORDED, start, RECORDED.bytes.length)
    expect(joined(linesOfPage(first), linesOfPage(second))).toEqual(whole)
  }
})

test('three pieces give the same lines in whichever order they are joined', () => {
  const piece = (offset: number, text: string) => linesOf({ offset, stream: 'stdout', at: 1, text })
  const [a, b, c] = [piece(0, 'one\ntw'), piece(6, 'o, still'), piece(14, ' two\nthree')]
  expect(joined(joined(a, b), c)).toEqual(joined(a, joined(b, c)))
  expect(joined(joined(a, b), c).map(({ raw }) => raw)).toEqual(['one', 'two, still two', 'three'])
})

test('a line ends where the other stream begins to write', () => {
  const stdout = linesOf({ offset: 0, stream: 'stdout', at: 1, text: 'half' })
  const stderr = linesOf({ offset: 4, stream: 'stderr', at: 2, text: 'oops\n' })
  expect(joined(stdout, stderr).map(({ raw, stream }) => [stream, raw])).toEqual([
    ['stdout', 'half'],
    ['stderr', 'oops'],
  ])
})

test('lines have no gaps, and each begins where its bytes are', () => {
  const lines = linesOfLog(RECORDED)
  let end = 0
  for (const line of lines) {
    expect(line.offset).toBe(end)
    expect(textAt(RECORDED, line.offset, line.offset + line.bytes)).toBe(line.raw + (line.isOpen ? '' : '\n'))
    end += line.bytes
  }
  expect(end).toBe(RECORDED.bytes.length)
})

test('a line is found by any of its bytes', () => {
  const lines = linesOfLog(RECORDED)
  for (const [index, line] of lines.entries())
    for (const byte of [line.offset, line.offset + line.bytes - 1]) expect(lineAt(lines, byte)).toBe(index)
  expect(lineAt([], 3)).toBe(-1)
  expect(lineAt([{ offset: 5 } as Line], 3)).toBe(-1)
})

test('a page that was asked for in the middle of a character begins at the next one', () => {
  const inEmoji = RECORDED.bytes.indexOf(0xf0) + 1
  const page = pageOfLog(RECORDED, inEmoji, 100)
  expect(linesOfPage(page)[0]!.offset).toBe(inEmoji + 3)
})

test('sizes are those of UTF-8', () => {
  const text = 'aé€🚀 \u0000'
  expect(utf8Bytes(text)).toBe(sizeOf(text))
  expect(unitAfterBytes(text, 0, 1)).toBe(1)
  expect(unitAfterBytes(text, 0, 6)).toBe(3)
  expect(unitAfterBytes(text, 0, 10)).toBe(5)
})
