import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Period } from '../../../src/kinds/budget/record.ts'
import { periodAt, turned } from '../../../src/kinds/budget/rules/period.ts'
import { localTime } from '../../../src/kinds/routine/rules/time-zone.ts'
import { at, inPeriod, ZONE } from '../../support/budgets.ts'
import { rounds } from '../../support/rounds.ts'

/** The periods of budgets, in the time zone of the workspace. */

const HOUR = 3_600_000
const spanOf = (period: Period, zone: string, now: string) => {
  const { start, end } = periodAt(period, zone, at(now))
  return [new Date(start).toISOString(), end === null ? null : new Date(end).toISOString()]
}
const hoursOf = (period: Period, zone: string, now: string) => {
  const { start, end } = periodAt(period, zone, at(now))
  return (end! - start) / HOUR
}

describe('a period begins at midnight of its time zone', () => {
  test.each([
    ['day', 'UTC', '2026-05-13T12:00:00Z', '2026-05-13T00:00:00.000Z', '2026-05-14T00:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-05-13T22:30:00Z', '2026-05-13T22:00:00.000Z', '2026-05-14T22:00:00.000Z'],
    ['day', 'Asia/Kolkata', '2026-05-13T18:29:59Z', '2026-05-12T18:30:00.000Z', '2026-05-13T18:30:00.000Z'],
    [
      'week',
      'America/New_York',
      '2026-05-18T03:59:59Z',
      '2026-05-11T04:00:00.000Z',
      '2026-05-18T04:00:00.000Z',
    ],
    [
      'week',
      'America/New_York',
      '2026-05-18T04:00:00Z',
      '2026-05-18T04:00:00.000Z',
      '2026-05-25T04:00:00.000Z',
    ],
    [
      'month',
      'Pacific/Auckland',
      '2026-12-31T11:30:00Z',
      '2026-12-31T11:00:00.000Z',
      '2027-01-31T11:00:00.000Z',
    ],
    ['month', 'UTC', '2028-02-29T23:59:59Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['none', 'UTC', '2026-05-13T12:00:00Z', '2026-05-13T12:00:00.000Z', null],
  ] as const)('%s in %s at %s', (period, zone, now, start, end) => {
    expect(spanOf(period, zone, now)).toEqual([start, end])
  })
})

describe('where clocks are set', () => {
  test('forward, a day has 23 hours, and its week one hour less', () => {
    expect(hoursOf('day', 'Europe/Berlin', '2026-03-29T12:00:00Z')).toBe(23)
    expect(hoursOf('week', 'Europe/Berlin', '2026-03-29T12:00:00Z')).toBe(7 * 24 - 1)
    expect(hoursOf('month', 'Europe/Berlin', '2026-03-29T12:00:00Z')).toBe(31 * 24 - 1)
  })

  test('back, a day has 25 hours, and the hour that comes twice is in one day', () => {
    expect(hoursOf('day', 'Europe/Berlin', '2026-10-25T12:00:00Z')).toBe(25)
    expect(hoursOf('month', 'America/New_York', '2026-11-15T12:00:00Z')).toBe(30 * 24 + 1)
    const [first, second] = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']
    expect(spanOf('day', 'Europe/Berlin', first)).toEqual(spanOf('day', 'Europe/Berlin', second))
  })

  test('forward over midnight, the day begins when the clock shows the first time after it', () => {
    // In Havana from 0:00 to 1:00.
    expect(spanOf('day', 'America/Havana', '2026-03-08T12:00:00Z')).toEqual([
      '2026-03-08T05:00:00.000Z',
      '2026-03-09T04:00:00.000Z',
    ])
    expect(hoursOf('day', 'America/Havana', '2026-03-08T12:00:00Z')).toBe(23)
  })

  test('back over midnight, which comes twice, the first one counts', () => {
    expect(hoursOf('day', 'America/Havana', '2026-11-01T12:00:00Z')).toBe(25)
    expect(spanOf('day', 'America/Havana', '2026-11-01T04:30:00Z')).toEqual(
      spanOf('day', 'America/Havana', '2026-11-01T05:30:00Z'),
    )
  })

  test('any moment is in its period, the next one begins where it ends, and both begin at midnight', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'America/Havana', 'Australia/Lord_Howe']
    const zone = fc.constantFrom(
      ...zones,
      'Asia/Kathmandu',
      'Pacific/Apia',
      'Africa/Casablanca',
      'Asia/Beirut',
    )
    const moment = fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2032-01-01T00:00:00Z') })
    const period = fc.constantFrom('day' as const, 'week' as const, 'month' as const)
    fc.assert(
      fc.property(zone, moment, period, (inZone, now, every) => {
        const { start, end } = periodAt(every, inZone, now)
        expect(start).toBeLessThanOrEqual(now)
        expect(end!).toBeGreaterThan(now)
        expect(periodAt(every, inZone, start)).toEqual({ start, end })
        expect(periodAt(every, inZone, end! - 1)).toEqual({ start, end })
        expect(periodAt(every, inZone, end!).start).toBe(end)
        // 0:00, or 1:00 where clocks skip midnight; the quarters of an hour of the ledger never lie across it.
        expect([0, HOUR]).toContain(localTime(inZone, start) % (24 * HOUR))
        expect(start % (15 * 60_000)).toBe(0)
      }),
      { numRuns: rounds(500, 50_000) },
    )
  })
})

describe('when a period is over', () => {
  const now = at('2026-05-13T12:00:00Z')
  const used = inPeriod('day', now, {
    ...{ maxUsd: '10', consumedUsd: '10', consumedTokens: 500, reservedUsd: '1.5', reservedTokens: 70 },
    ...{ warnedAt: now, exceededAt: now, version: 4, unknownModel: 'x' },
  })

  test('nothing is consumed in the next one, what is reserved moves on, and it may warn and stop again', () => {
    expect(turned(used, ZONE, used.periodEnd!)).toMatchObject({
      ...{ periodStart: used.periodEnd, periodEnd: used.periodEnd! + 24 * HOUR },
      ...{ consumedUsd: '0', consumedTokens: 0, reservedUsd: '1.5', reservedTokens: 70 },
      ...{ warnedAt: null, exceededAt: null, maxUsd: '10' },
    })
  })

  test('a model without a price, and a stop by a person, do not go away with it', () => {
    const stopped = { ...used, stoppedAt: now, stoppedBy: 'key:test' }
    expect(turned(stopped, ZONE, used.periodEnd!)).toMatchObject({ unknownModel: 'x', stoppedAt: now })
  })

  test('it turns once: the very same record until then, and again until the next end', () => {
    expect(turned(used, ZONE, used.periodEnd! - 1)).toBe(used)
    const next = { ...turned(used, ZONE, used.periodEnd!), consumedUsd: '3' }
    expect(turned(next, ZONE, used.periodEnd! + HOUR)).toBe(next)
  })

  test('and several have passed, it is in the one of now', () => {
    const after = turned(used, ZONE, now + 40 * 24 * HOUR)
    expect(after.periodStart).toBeLessThanOrEqual(now + 40 * 24 * HOUR)
    expect(after.periodEnd).toBeGreaterThan(now + 40 * 24 * HOUR)
  })

  test('the next one is as long as the time zone of now says', () => {
    const moved = turned(used, 'America/New_York', used.periodEnd!)
    // What is left of the day there.
    expect(new Date(moved.periodEnd!).toISOString()).toBe('2026-05-14T04:00:00.000Z')
  })
})
