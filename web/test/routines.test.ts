import { describe, expect, test } from 'vitest'
import { valuesOf } from '../src/forms/schema-fields.ts'
import { driftWords, shareText, shortDrift } from '../src/pages/routines/drift-words.ts'
import {
  cronOfDraft,
  draftOfSchedule,
  newSchedule,
  withRhythm,
} from '../src/pages/routines/schedule-draft.ts'
import { cronWords, scheduleWords, timeInZone } from '../src/pages/routines/schedule-words.ts'
import { askedFields, givenValues, rowProblems, rowsOf, schemaOf } from '../src/pages/routines/variables.ts'
import { type ListPage, withRead } from '../src/things/list-pages.ts'

/** Schedules in words and as a form, and variables as a form and as rows. */

describe('a schedule in words', () => {
  test.each([
    ['0 2 * * *', 'every day at 02:00'],
    ['30 9 * * 1-5', 'every weekday at 09:30'],
    ['0 9 * * MON', 'every Monday at 09:00'],
    ['0 9 * * 0,6', 'on Saturdays and Sundays at 09:00'],
    ['0 9 * * 0,1,3', 'on Mondays, Wednesdays and Sundays at 09:00'],
    ['0 9 1 * *', 'on the 1st of every month at 09:00'],
    ['15 6 1,15 * *', 'on the 1st and 15th of every month at 06:15'],
    ['0 9 1 1 *', 'on the 1st of January at 09:00'],
    ['0 9 * 6,7 *', 'every day of June and July at 09:00'],
    ['0 0,12 * * *', 'every day at 00:00 and 12:00'],
    ['* * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['0 * * * *', 'every hour'],
    ['5,35 * * * *', 'every hour at minutes 5 and 35'],
    ['0 */2 * * *', 'every 2 hours'],
    ['20 */6 * * *', 'every 6 hours at minute 20'],
    ['*/10 9-17 * * 1-5', 'every 10 minutes of the hours 9 to 17, every weekday'],
    ['0 9 1 * MON', 'on the 1st of every month and every Monday at 09:00'],
    ['*/7 * * * *', 'every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56'],
  ])('%s is %s', (cron, words) => expect(cronWords(cron)).toBe(words))

  test.each(['every day', '61 * * * *', '0 0 31 2 *'])('%s has none', (cron) =>
    expect(cronWords(cron)).toBeNull(),
  )

  test('names its zone, and its times are in that zone', () => {
    const schedule = { cron: '0 2 * * *', timeZone: 'America/New_York' }
    expect(scheduleWords(schedule)).toBe('every day at 02:00, America/New York')
    expect(timeInZone('2026-11-19T01:00:00Z', 'Europe/Berlin')).toBe('Thu 19 Nov, 02:00')
    expect(timeInZone('2026-11-19T01:00:00Z', 'Mars/Olympus')).toMatch(/Nov/)
  })
})

describe('a schedule as a form', () => {
  const saved = (cron: string) =>
    draftOfSchedule({ cron, timeZone: 'UTC', overlap: 'queue', catchUp: 'none' })

  test.each([
    ['0 * * * *', 'hour'],
    ['0 2 * * *', 'day'],
    ['30 9 * * 1-5', 'weekday'],
    ['0 9 * * 0', 'week'],
    ['0 9 31 * *', 'month'],
    ['*/15 * * * *', 'cron'],
    ['0 9 1 1 *', 'cron'],
    ['0 9 1 * MON', 'cron'],
    ['0 0,12 * * *', 'cron'],
  ])('%s is the rhythm %s, and saves as it was', (cron, rhythm) => {
    const draft = saved(cron)
    expect(draft).toMatchObject({ rhythm, overlap: 'queue', catchUp: 'none' })
    expect(cronOfDraft(draft)).toBe(cron)
  })

  test('begins as cron text with what was chosen before, and without a schedule it has none', () => {
    expect(withRhythm(saved('30 9 * * 1-5'), 'cron').cron).toBe('30 9 * * 1-5')
    expect(cronOfDraft(newSchedule('Europe/Berlin'))).toBeNull()
  })
})

describe('variables', () => {
  const schema = {
    type: 'object',
    properties: {
      what: { type: 'string', default: 'known holes', maxLength: 20 },
      depth: { type: 'integer' },
      level: { type: 'number', enum: [1, 2.5], default: 1 },
      isDry: { type: 'boolean', default: true },
    },
    required: ['what'],
  }

  test('are asked for with those first that have to be given', () => {
    expect(askedFields(schema).map(({ name, isRequired, kind }) => [name, isRequired, kind])).toEqual([
      ['what', true, 'text'],
      ['depth', true, 'number'],
      ['level', false, 'choice'],
      ['isDry', false, 'switch'],
    ])
  })

  test('are sent as values of their types, and only those that differ from their defaults', () => {
    const first = valuesOf(askedFields(schema), {})
    expect(givenValues(schema, first).problems).toEqual({ what: 'This is needed.', depth: 'This is needed.' })
    const written = { ...first, what: 'licences', depth: '3', level: '2.5', isDry: false }
    expect(givenValues(schema, written)).toEqual({
      given: { what: 'licences', depth: 3, level: 2.5, isDry: false },
      problems: {},
    })
    expect(givenValues(schema, { ...first, what: 'x', depth: '3.5' }).problems).toEqual({
      depth: 'Write a whole number.',
    })
  })

  test('are rows that save as they were, with what the rows do not show', () => {
    expect(schemaOf(rowsOf(schema))).toEqual({ properties: schema.properties, required: ['what'] })
    const [what, ...others] = rowsOf(schema)
    const asNumber = schemaOf([{ ...what!, type: 'number', usual: '4' }, ...others])
    expect(asNumber.properties.what).toEqual({ type: 'number', default: 4 })
  })

  test('have names that texts can use, each once, and defaults of their types', () => {
    const row = rowsOf(schema)[0]!
    const problems = rowProblems([
      row,
      { ...row },
      { ...row, name: '1st' },
      { ...row, name: 'depth', type: 'integer', usual: '1.5' },
      { ...row, name: 'isDry', type: 'boolean', usual: 'maybe' },
    ])
    expect(problems.map((problem) => problem !== null)).toEqual([false, true, true, true, true])
  })
})

test('a drift is a share with its sign', () => {
  const drift = { runs: 1, costChange: 0.12, durationChange: -0.03, scoreChange: null }
  expect(shortDrift(drift)).toBe('cost +12 %, time −3 %')
  expect(driftWords({ ...drift, scoreChange: -0.1 })).toBe(
    'Compared with it, the last completed mission: cost +12 %, time −3 %, score −0.10.',
  )
  expect([0.123, -0.034, 0.001].map(shareText)).toEqual(['+12 %', '−3 %', 'the same'])
})

describe('the missions of a routine', () => {
  const PAGE = 100
  const keyOf = (mission: number) => String(mission)
  /** Newest first: a mission is its number. */
  const pageOf = (count: number, cursor: string | null): ListPage<number> => {
    const newest = cursor === null ? count : Number(cursor) - 1
    const items = Array.from({ length: Math.min(PAGE, newest) }, (_, place) => newest - place)
    const last = items.at(-1)
    return { items, nextCursor: last === undefined || last === 1 ? null : String(last) }
  }
  const more = (all: ListPage<number>): ListPage<number> => {
    const next = pageOf(0, all.nextCursor)
    return { items: [...all.items, ...next.items], nextCursor: next.nextCursor }
  }
  const down = (count: number) => Array.from({ length: count }, (_, place) => count - place)

  test('are listed to the last of ten thousand, each once, while others start', () => {
    let count = 10_000
    let before: ListPage<number> | null = null
    let all = withRead(pageOf(count, null), before, keyOf)
    while (all.nextCursor !== null) {
      before = more(all)
      // What is new pushes others off the first page: they stay in the list.
      count += 7
      all = withRead(pageOf(count, null), before, keyOf)
    }
    expect(all.items).toEqual(down(count))
  })

  test('begin again if more started than a page holds, and are what is left when others are gone', () => {
    const before = more(more(pageOf(1_000, null)))
    expect(withRead(pageOf(1_099, null), before, keyOf).items).toHaveLength(399)
    const anew = withRead(pageOf(1_100, null), before, keyOf)
    expect([anew.items.length, anew.nextCursor]).toEqual([PAGE, '1001'])
    expect(withRead(pageOf(3, null), before, keyOf)).toEqual({ items: [3, 2, 1], nextCursor: null })
  })
})
