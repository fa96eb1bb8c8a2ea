import { describe, expect, test } from 'vitest'
import { csvOf } from '../../../src/kinds/usage/rules/csv.ts'
import { dayName, daysIn } from '../../../src/kinds/usage/rules/days.ts'
import { projected } from '../../../src/kinds/usage/rules/projection.ts'

const HOUR_MS = 3_600_000
const at = (text: string) => Date.parse(text)

describe('days of a time zone', () => {
  const hoursOf = (zone: string, from: string, to: string) =>
    daysIn(zone, at(from), at(to)).map((start, n, all) => [
      dayName(zone, start),
      n === 0 ? null : (start - all[n - 1]!) / HOUR_MS,
    ])

  test('begin at its midnight, and the first one before the time that is asked for', () => {
    expect(hoursOf('Asia/Kolkata', '2026-05-04T12:00:00Z', '2026-05-05T18:30:00Z')).toEqual([
      ['2026-05-04', null],
      ['2026-05-05', 24],
    ])
    expect(daysIn('Asia/Kolkata', at('2026-05-04T12:00:00Z'), at('2026-05-04T12:00:01Z'))).toEqual([
      at('2026-05-03T18:30:00Z'),
    ])
  })

  test('have 23 and 25 hours where clocks are changed, also at midnight', () => {
    expect(hoursOf('Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z')).toEqual([
      ['2026-03-28', null],
      ['2026-03-29', 24],
      ['2026-03-30', 23],
    ])
    expect(hoursOf('Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z').at(-1)).toEqual([
      '2026-10-26',
      25,
    ])
    expect(hoursOf('America/Santiago', '2026-09-05T12:00:00Z', '2026-09-07T12:00:00Z')).toEqual([
      ['2026-09-05', null],
      ['2026-09-06', 24],
      ['2026-09-07', 23],
    ])
  })

  test('are none where the time is empty', () => {
    expect(daysIn('UTC', at('2026-05-04T12:00:00Z'), at('2026-05-04T12:00:00Z'))).toEqual([])
  })
})

describe('a projection', () => {
  const NOW = at('2026-05-04T12:00:00Z')
  const DAY_MS = 24 * HOUR_MS
  const budget = {
    ...{ maxUsd: '100', maxTokens: null, consumedUsd: '40', consumedTokens: 0 },
    periodEnd: NOW + 7 * DAY_MS,
  }
  const burn = { usd: '10', tokens: 1_000 }

  test('throttles what is gone before its period ends, and nothing that lasts exactly until then', () => {
    expect(projected(budget, burn, NOW)).toEqual({
      ...{ remainingUsd: '60', remainingTokens: null, days: 6, exhaustedAt: NOW + 6 * DAY_MS },
      recommendation: 'THROTTLE',
    })
    expect(projected({ ...budget, periodEnd: NOW + 6 * DAY_MS }, burn, NOW).recommendation).toBe('CONTINUE')
  })

  test('throttles what has no period and lasts less than seven days', () => {
    const open = { ...budget, periodEnd: null }
    expect(projected(open, burn, NOW)).toMatchObject({ days: 6, recommendation: 'THROTTLE' })
    expect(projected({ ...open, maxUsd: '110' }, burn, NOW)).toMatchObject({
      days: 7,
      recommendation: 'CONTINUE',
    })
  })

  test('has no end without any burn, and none that is more than a hundred years away', () => {
    const never = { days: null, exhaustedAt: null, recommendation: 'CONTINUE' }
    expect(projected(budget, { usd: '0', tokens: 0 }, NOW)).toMatchObject(never)
    expect(projected(budget, { usd: '0.000000000001', tokens: 0 }, NOW)).toMatchObject(never)
    expect(projected({ ...budget, maxUsd: null }, burn, NOW), 'nothing limits it').toMatchObject({
      ...never,
      ...{ remainingUsd: null, remainingTokens: null },
    })
  })

  test('goes by whichever of dollars and tokens is gone first', () => {
    const both = { ...budget, maxTokens: 5_000, consumedTokens: 3_500 }
    expect(projected(both, burn, NOW)).toMatchObject({ remainingTokens: 1_500, days: 1.5 })
  })

  test('of a budget that is spent is now, whatever it burns', () => {
    const spent = { ...budget, consumedUsd: '101' }
    expect(projected(spent, { usd: '0', tokens: 0 }, NOW)).toMatchObject({
      ...{ remainingUsd: '0', days: 0, exhaustedAt: NOW, recommendation: 'THROTTLE' },
    })
  })
})

describe('a table as text', () => {
  const line = (value: string | number | null) => csvOf(['a'], [{ a: value }]).split('\r\n')[1]

  test('has a line of names, and quotes what would end a cell', () => {
    const rows = [
      { name: 'a, "b"', usd: '0.5', runs: 3 },
      { name: 'two\nlines', usd: null, runs: 0 },
    ]
    expect(csvOf(['name', 'usd', 'runs'], rows)).toBe(
      'name,usd,runs\r\n"a, ""b""",0.5,3\r\n"two\nlines",,0\r\n',
    )
  })

  test.each(['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1'])(
    'has no formula where text is %j',
    (text) => {
      expect(line(text)).toMatch(/^"?'/)
    },
  )

  test('leaves numbers as they are, negative ones, too', () => {
    expect(['-0.000000000001', -5, '12.5', 'a-b'].map(line)).toEqual(['-0.000000000001', '-5', '12.5', 'a-b'])
  })
})
