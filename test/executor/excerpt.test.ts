import { expect, test } from 'vitest'
import { EXCERPT_BYTES, Excerpt } from '../../src/executor/excerpt.ts'

const excerptOf = (pieces: readonly string[], mostBytes: number) => {
  const excerpt = new Excerpt(mostBytes)
  for (const piece of pieces) excerpt.take(piece)
  return excerpt.text()
}

test('output that fits is stored whole, and no output is nothing', () => {
  expect(excerptOf([], 1024)).toBeNull()
  const exact = 'ä'.repeat(512)
  for (const pieces of [[exact], [...exact]]) expect(excerptOf(pieces, 1024)).toBe(exact)
})

test('of more, an eighth is its beginning and the rest its end, and what is between them is counted', () => {
  const text = Array.from({ length: 100_000 }, (_, i) => String(i % 10)).join('')
  for (const mostBytes of [1024, EXCERPT_BYTES]) {
    const [head, tail] = [mostBytes / 8, (mostBytes / 8) * 7]
    const expected = `${text.slice(0, head)}\n… ${text.length - mostBytes} bytes omitted; see the log …\n${text.slice(-tail)}`
    expect(excerptOf([text], mostBytes)).toBe(expected)
    expect(excerptOf(text.match(/.{1,7}/g)!, mostBytes)).toBe(expected)
  }
})

test('the limit is in bytes, and no character is cut', () => {
  for (const character of ['ä', '→', '🙂', 'a🙂'])
    for (const mostBytes of [1024, 1027, 2000]) {
      const text = character.repeat(5_000)
      const stored = excerptOf([text], mostBytes)!
      const [head, tail] = stored.split(/\n… \d+ bytes omitted; see the log …\n/) as [string, string]
      const bytes = Buffer.byteLength(head) + Buffer.byteLength(tail)
      expect(bytes).toBeLessThanOrEqual(mostBytes)
      expect(bytes).toBeGreaterThan(mostBytes - 8)
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
      expect(stored).toContain(`… ${Buffer.byteLength(text) - bytes} bytes omitted`)
    }
})
