import { describe, expect, test } from 'vitest'
import { type Cron, readCron } from '../../../src/kinds/routine/rules/cron.ts'
import { firesBetween, nextFire } from '../../../src/kinds/routine/rules/next-fire.ts'
import { isTimeZone } from '../../../src/kinds/routine/rules/time-zone.ts'

/** When schedules fire: cron expressions, and the two days a year on which local clocks are changed. */

const cron = (text: string): Cron => {
  const read = readCron(text)
  if ('problem' in read) throw new Error(read.problem)
  return read
}
const BERLIN = 'Europe/Berlin'
const NEW_YORK = 'America/New_York'

/** All times of a day and a bit more, in UTC. */
const between = (text: string, zone: string, from: string, to: string) =>
  firesBetween(cron(text), zone, Date.parse(from), Date.parse(to), 10_000).map((at) =>
    new Date(at).toISOString().slice(0, 16),
  )
const next = (text: string, zone: string, after: string) => {
  const at = nextFire(cron(text), zone, Date.parse(after))
  return at === null ? null : new Date(at).toISOString().slice(0, 16)
}

describe('a cron expression', () => {
  test.each([
    ['', 'five fields'],
    ['   ', 'not 0'],
    ['* * * *', 'not 4'],
    ['* * * * * *', 'not 6'],
    ['@daily', 'not 1'],
    ['60 * * * *', 'minute'],
    ['-1 * * * *', 'minute'],
    ['* 24 * * *', 'hour'],
    ['* * 0 * *', 'day of the month'],
    ['* * 32 * *', 'day of the month'],
    ['* * * 13 *', 'month'],
    ['* * * FOO *', 'month'],
    ['* * * * 8', 'day of the week'],
    ['*/0 * * * *', 'minute'],
    ['*/60 * * * *', 'minute'],
    ['5/15 * * * *', 'minute'],
    ['10-5 * * * *', 'minute'],
    ['1,,2 * * * *', 'minute'],
    ['1.5 * * * *', 'minute'],
    ['1e1 * * * *', 'minute'],
    ['L * * * *', 'minute'],
    ['* * ? * *', 'day of the month'],
    ['0 0 31 2 *', 'a day that none of its months has'],
    ['0 0 30 FEB *', 'a day that none of its months has'],
    ['0 0 31 4,6,9,11 *', 'a day that none of its months has'],
    [`${'0,'.repeat(200)}0 * * * *`, 'longer than 200'],
  ])('that is nonsense is refused: %s', (text, why) => {
    expect(readCron(text)).toEqual({ problem: expect.stringContaining(why) })
  })

  test('has numbers, lists, ranges, steps and names', () => {
    const weekdays = between('0 9 * * MON-FRI', 'UTC', '2026-11-14T00:00Z', '2026-11-18T00:00Z')
    expect(weekdays).toEqual(['2026-11-16T09:00', '2026-11-17T09:00'])
    expect(between('10-40/15,59 3 * * *', 'UTC', '2026-01-01T00:00Z', '2026-01-02T00:00Z')).toEqual([
      ...['2026-01-01T03:10', '2026-01-01T03:25', '2026-01-01T03:40', '2026-01-01T03:59'],
    ])
    expect(next('0 0 1 jan *', 'UTC', '2026-01-01T00:00Z')).toBe('2027-01-01T00:00')
    expect(next('0 0 * * 7', 'UTC', '2026-11-16T00:00Z')).toBe('2026-11-22T00:00')
    expect(next('0 0 * * 0', 'UTC', '2026-11-16T00:00Z')).toBe('2026-11-22T00:00')
  })

  test('that restricts both kinds of days fires on either of them', () => {
    expect(between('0 0 13 * FRI', 'UTC', '2026-11-11T00:00Z', '2026-11-21T00:00Z')).toEqual([
      ...['2026-11-13T00:00', '2026-11-20T00:00'],
    ])
    expect(next('0 0 31 2 MON', 'UTC', '2026-02-01T00:00Z')).toBe('2026-02-02T00:00')
  })

  test('finds 29 February, also over the years that have none', () => {
    expect(next('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z')).toBe('2028-02-29T00:00')
    expect(next('0 0 29 2 *', 'UTC', '2096-03-01T00:00Z')).toBe('2104-02-29T00:00')
  })

  test('fires after the given moment, never at it', () => {
    expect(next('0 12 * * *', 'UTC', '2026-01-01T12:00Z')).toBe('2026-01-02T12:00')
    expect(next('0 12 * * *', 'UTC', '2026-01-01T11:59:59.999Z')).toBe('2026-01-01T12:00')
  })
})

test('a time zone is one that has a name', () => {
  for (const zone of ['UTC', BERLIN, NEW_YORK, 'Asia/Kolkata', 'Australia/Lord_Howe', 'Etc/GMT+5'])
    expect(isTimeZone(zone), zone).toBe(true)
  for (const zone of ['', 'Mars/Olympus', '+02:00', '../etc/passwd', 'Europe/Berlin\n', 'x'.repeat(100)])
    expect(isTimeZone(zone), zone).toBe(false)
})

describe.each([
  {
    zone: BERLIN,
    // 02:00 becomes 03:00.
    forward: {
      day: '2026-03-29',
      jump: '2026-03-29T01:00',
      before: '2026-03-28T01:30',
      after: '2026-03-30T00:30',
    },
    // 03:00 becomes 02:00.
    back: { first: '2026-10-25T00:30', second: '2026-10-25T01:30', next: '2026-10-26T01:30' },
    skipped: '30 2 * * *',
    repeated: '30 2 * * *',
  },
  {
    zone: NEW_YORK,
    forward: {
      day: '2026-03-08',
      jump: '2026-03-08T07:00',
      before: '2026-03-07T07:30',
      after: '2026-03-09T06:30',
    },
    // 02:00 becomes 01:00.
    back: { first: '2026-11-01T05:30', second: '2026-11-01T06:30', next: '2026-11-02T06:30' },
    skipped: '30 2 * * *',
    repeated: '30 1 * * *',
  },
])('in $zone', ({ zone, forward, back, skipped, repeated }) => {
  test('a time that the local clock skips fires once, at the jump', () => {
    const from = new Date(Date.parse(`${forward.before}Z`)).toISOString()
    expect(between(skipped, zone, from, `${forward.after}Z`)).toEqual([
      ...[forward.before, forward.jump, forward.after],
    ])
  })

  test('several skipped times are one, also with a time that is the jump itself', () => {
    const day = between('0,15,30,45 2,3 * * *', zone, `${forward.jump}Z`, `${forward.jump.slice(0, 14)}59Z`)
    expect(day).toEqual(['00', '15', '30', '45'].map((minute) => `${forward.jump.slice(0, 14)}${minute}`))
    expect(between('0 2 * * *', zone, `${forward.day}T00:00Z`, `${forward.day}T23:59Z`)).toEqual([
      forward.jump,
    ])
  })

  test('a time that the local clock shows twice fires once, the first time', () => {
    expect(between(repeated, zone, `${back.first}Z`, `${back.next}Z`)).toEqual([back.first, back.next])
    expect(next(repeated, zone, `${back.first}Z`)).toBe(back.next)
  })

  test('a pattern for every hour follows real time through both changes', () => {
    for (const around of [forward.jump, back.second]) {
      const middle = Date.parse(`${around}Z`)
      const [from, to] = [middle - 6 * 3_600_000, middle + 6 * 3_600_000]
      const hourly = firesBetween(cron('30 * * * *'), zone, from, to, 100)
      expect(hourly.length).toBeGreaterThanOrEqual(12)
      const gaps = hourly.slice(1).map((at, i) => at - hourly[i]!)
      expect(new Set(gaps)).toEqual(new Set([3_600_000]))
      const minutes = firesBetween(cron('* * * * *'), zone, from, to, 10_000)
      expect(minutes).toHaveLength(12 * 60 + 1)
    }
    expect(between('30 0-23 * * *', zone, `${back.first}Z`, `${back.second}Z`)).toEqual([
      back.first,
      back.second,
    ])
  })

  test('a time in the afternoon keeps its place on the local clock', () => {
    const inUtc = (day: string) => next('0 15 * * *', zone, `${day}T00:00Z`)!.slice(11)
    expect(inUtc('2026-01-10')).not.toBe(inUtc('2026-07-10'))
    const days = firesBetween(
      cron('0 15 * * *'),
      zone,
      Date.parse('2026-01-01'),
      Date.parse('2027-01-01'),
      1_000,
    )
    expect(days).toHaveLength(365)
  })
})

test('clocks that change at midnight, and by half an hour, neither lose a day nor fire twice', () => {
  const year = (text: string, zone: string) =>
    firesBetween(cron(text), zone, Date.parse('2026-01-01T12:00Z'), Date.parse('2027-01-01T12:00Z'), 1_000)
  // In Beirut and Havana midnight is skipped; in Lord Howe the clock moves by 30 minutes.
  for (const zone of [
    'Asia/Beirut',
    'America/Havana',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'America/Santiago',
  ])
    for (const text of ['0 0 * * *', '30 23 * * *', '15 2 * * *', '45 1 * * *']) {
      const fires = year(text, zone)
      expect(new Set(fires).size, `${text} ${zone}`).toBe(365)
      expect(fires, `${text} ${zone}`).toEqual([...fires].sort((a, b) => a - b))
    }
})

test('of many times between two moments, the last ones are kept', () => {
  const fires = firesBetween(cron('* * * * *'), 'UTC', 0, 86_400_000, 3)
  expect(fires).toEqual([86_280_000, 86_340_000, 86_400_000])
})
