import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunLog } from '../../../src/kinds/run/acts/logs/run-log.ts'
import { type SearchCursor, searchLog } from '../../../src/kinds/run/acts/logs/search.ts'

/** Search over the pages of a log, with small pages: hits at their borders, in characters of any length, one page after the other. */

/** A log in memory that answers with at most so many bytes at a time. */
function logOf(content: string, mostBytes: number): RunLog {
  const text = Buffer.from(content)
  const isInside = (at: number) => (text[at]! & 0xc0) === 0x80
  return {
    run: { id: 'run' } as RunLog['run'],
    status: 'available',
    async pageAt(offset, limitBytes = mostBytes) {
      let start = Math.min(offset, text.length)
      while (start < text.length && isInside(start)) start++
      let end = Math.min(text.length, start + Math.min(limitBytes, mostBytes))
      while (end < text.length && isInside(end)) end--
      const page = text.toString('utf8', start, end)
      return {
        content: page,
        offset: start,
        bytes: text.length,
        nextOffset: end === text.length ? null : end,
        spans: [{ offset: start, bytes: end - start, stream: 'stdout', ts: '' }],
      }
    },
  }
}

/** All hits, over as many requests as it takes, and what was found at the end. */
async function searchAll(
  log: RunLog,
  q: string,
  limit: number,
  isCaseSensitive = true,
  pagesEach = Number.POSITIVE_INFINITY,
) {
  const offsets: number[] = []
  for (let cursor: SearchCursor | null = null, requests = 0; ; requests++) {
    let pages = 0
    const found = await searchLog(log, { q, isCaseSensitive, limit, cursor }, () => ++pages >= pagesEach)
    expect(found.hits.length).toBeLessThanOrEqual(limit)
    for (const { offset, excerpt, at, length } of found.hits) {
      offsets.push(offset)
      expect(excerpt.slice(at, at + length).toLowerCase()).toBe(q.toLowerCase())
      expect(excerpt).not.toContain('\n')
    }
    cursor = found.next
    if (cursor === null) return { offsets, ...found, requests }
    expect(requests).toBeLessThan(10_000)
  }
}

function offsetsIn(content: string, q: string): number[] {
  const [text, wanted] = [Buffer.from(content), Buffer.from(q)]
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

test('finds each place once, wherever pages end and however many hits a request lists', async () => {
  const word = fc.constantFrom(
    'needle',
    'nee',
    'dle ',
    'größer ',
    '日本',
    '👩‍🚀',
    '\n',
    ' '.repeat(300),
    'x'.repeat(97),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { maxLength: 120 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 3 }),
      async (words, limit, pagesEach) => {
        const content = words.join('')
        const expected = offsetsIn(content, 'needle')
        const found = await searchAll(logOf(content, 1_000), 'needle', limit, true, pagesEach)
        expect(found.offsets).toEqual(expected)
        expect(found).toMatchObject({ total: expected.length, isComplete: true })
      },
    ),
    { numRuns: 150 },
  )
})

test('counts all hits with the first request, and lists no more than were asked for', async () => {
  const log = logOf('a needle in a line\n'.repeat(500), 1_000)
  const found = await searchLog(
    log,
    { q: 'needle', isCaseSensitive: true, limit: 3, cursor: null },
    () => false,
  )
  expect(found).toMatchObject({ total: 500, isComplete: true, readBytes: 9_500, bytes: 9_500 })
  expect(found.hits.map(({ offset }) => offset)).toEqual([2, 21, 40])
  const next = await searchLog(
    log,
    { q: 'needle', isCaseSensitive: true, limit: 2, cursor: found.next },
    () => false,
  )
  expect(next).toMatchObject({ total: 500, isComplete: true, hits: [{ offset: 59 }, { offset: 78 }] })
})

test('a request whose time is up says so, and the next one continues', async () => {
  const log = logOf(`${'hay '.repeat(2_000)}needle`, 1_000)
  const first = await searchLog(
    log,
    { q: 'needle', isCaseSensitive: true, limit: 5, cursor: null },
    () => true,
  )
  expect(first).toMatchObject({ total: 0, isComplete: false, hits: [] })
  expect(first.next).not.toBeNull()
  const { offsets, total, isComplete } = await searchAll(log, 'needle', 5, true, 1)
  expect([offsets, total, isComplete]).toEqual([[8_000], 1, true])
})

test('takes the text literally, with or without regard to case', async () => {
  const content = 'a.b a+b [x] GRÖSSE Größe (a|b) $1 \\d a-b a/b {2}\n'
  for (const q of ['a.b', 'a+b', '[x]', '(a|b)', '$1', '\\d', 'a-b', 'a/b', '{2}', '^', 'GRÖ'])
    expect((await searchAll(logOf(content, 1_000), q, 9)).offsets, q).toEqual(offsetsIn(content, q))
  expect((await searchAll(logOf(content, 1_000), 'grö', 9, false)).offsets).toHaveLength(2)
  expect((await searchAll(logOf(content, 1_000), 'grö', 9, true)).offsets).toEqual([])
})

test('an excerpt is the line of the hit, or the part of a long line around it', async () => {
  const { hits } = await searchLog(
    logOf(`before\nshort needle line\n${'x'.repeat(500)}needle${'y'.repeat(500)}\n`, 10_000),
    { q: 'needle', isCaseSensitive: true, limit: 9, cursor: null },
    () => false,
  )
  expect(hits[0]).toMatchObject({
    excerpt: 'short needle line',
    at: 6,
    length: 6,
    bytes: 6,
    stream: 'stdout',
  })
  expect(hits[1]!.excerpt).toBe(`${'x'.repeat(80)}needle${'y'.repeat(200)}`)
})
