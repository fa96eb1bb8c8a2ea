import { describe, expect, test } from 'vitest'
import { explain, explainAct } from '../src/parts/explain.ts'
import { bytesText, durationText, momentText, moneyText, tokensOf, tokensText } from '../src/parts/wording.ts'

describe('money', () => {
  test('in small amounts is never 0, and unknown is not 0', () => {
    expect(moneyText('18.2')).toBe('$18.20')
    expect(moneyText('0.0138')).toBe('1.4 ¢')
    expect(moneyText('0.0000004')).toBe('0.00004 ¢')
    expect(moneyText(0)).toBe('$0.00')
    expect(moneyText('1234.5')).toBe('$1,234.50')
    expect(moneyText(null)).toBe('unknown')
  })
})

test('tokens and bytes are short', () => {
  expect([950, 1_000, 1_234, 48_123, 999_600, 1_230_000, null].map(tokensText)).toEqual([
    '950',
    '1 k',
    '1.2 k',
    '48 k',
    '1 M',
    '1.2 M',
    'unknown',
  ])
  expect([12, 1_000, 256_000, 3_140_000].map(bytesText)).toEqual(['12 B', '1 KB', '256 KB', '3.1 MB'])
})

test('durations have two units at most', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  expect(
    [0, 100, 9_949, 9_960, 59_600, 190_000, hour, 26 * hour, 3 * day + 5 * minute, -5].map(durationText),
  ).toEqual(['0 s', '0.1 s', '9.9 s', '10 s', '1 m', '3 m 10 s', '1 h', '1 d 2 h', '3 d', '0 s'])
})

test('moments are shown by distance, and by date when they are far', () => {
  const now = Date.UTC(2026, 10, 17, 12)
  expect(momentText(now - 500, now)).toBe('just now')
  expect(momentText(now + 500, now)).toBe('now')
  expect(momentText(now - 480_000, now)).toBe('8 m ago')
  expect(momentText(now + 34_000, now)).toBe('in 34 s')
  expect(momentText(now - 30 * 86_400_000, now)).toBe('18 Oct')
  expect(momentText(now - 400 * 86_400_000, now)).toBe('13 Oct 2025')
})

describe('the tokens of a run', () => {
  test('include what was cached, and are unknown only when all of them are', () => {
    expect(tokensOf({ input: 17, cachedInput: 31, cacheWrite: 4, output: 6 })).toBe(54)
    expect(tokensOf({ input: 17, cachedInput: null, cacheWrite: null, output: 6 })).toBe(23)
    expect(tokensOf(null)).toBeNull()
  })
})

describe('an act', () => {
  test('without an answer may have been done, and says so', () => {
    const unanswered = Object.assign(new Error('lost'), { name: 'NoAnswer' })
    expect(explainAct(unanswered).title).toBe('It is not known whether it was done')
    expect(explain(unanswered).title).toBe('The server does not answer')
    const refused = { status: 409, title: 'Changed', detail: 'It is done.' }
    expect(explainAct(refused)).toEqual(explain(refused))
  })
})

describe('a failure is explained', () => {
  test('in the words of the server', () => {
    const problem = {
      status: 409,
      code: 'STALE_GENERATION',
      title: 'A newer claim holds this task',
      detail: 'dev-2 holds it.',
    }
    expect(explain(problem)).toEqual({
      title: problem.title,
      detail: problem.detail,
      code: problem.code,
      canRetry: false,
    })
    expect(explain({ status: 503, title: 'Busy' }).canRetry).toBe(true)
  })

  test('as something of another workspace, when it is not found', () => {
    expect(explain({ status: 404, code: 'NOT_FOUND' }).title).toBe('Not in this workspace')
  })

  test('as a server that does not answer, and as a mistake of the page', () => {
    expect(explain(Object.assign(new Error('fetch failed'), { name: 'NoAnswer' })).title).toContain(
      'does not answer',
    )
    expect(explain(new Error('x is undefined')).detail).toBe('x is undefined')
    expect(explain('odd').detail).toBe('odd')
  })
})
