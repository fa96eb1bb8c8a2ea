import { describe, expect, test } from 'vitest'
import { RUN_TIME, type UsageSource } from '../../../src/kinds/usage/record.ts'
import { book, totalsOf } from '../../../src/kinds/usage/rules/book.ts'
import { ledgerOf } from '../../../src/kinds/usage/rules/priced.ts'
import { type Timed, withTime } from '../../../src/kinds/usage/rules/time.ts'
import { aSource, used } from '../../support/ledger.ts'

/** How long a run has worked, booked as one more of its totals. */

const STARTED = 1_000_000
const HOUR = 3_600_000
const FREE: Timed = { usdPerHour: null }
const PRICED: Timed = { usdPerHour: '0.90' }
const none = aSource()

const timeAt = (
  afterMs: number,
  time: Timed | null,
  source: Pick<UsageSource, 'booked'> = none,
  isFinal = true,
) => withTime({}, source, { time, startedAt: STARTED, now: STARTED + afterMs, isFinal })[RUN_TIME]

/** Reports of a run, one after the other: the time in them is decided as they come. */
function ledger(time: Timed) {
  let source = none
  const rows: { workMs?: number | undefined; costUsd: string | null }[] = []
  return {
    rows,
    totals: () => totalsOf(source.booked),
    report(number: number, afterMs: number, isFinal = false) {
      const now = STARTED + afterMs
      const models = withTime({}, source, { time, startedAt: STARTED, now, isFinal })
      const booked = book(source, { number, isWhole: true, isFinal, models }, now)
      source = booked?.source ?? source
      rows.push(...(booked?.rows ?? []))
    },
  }
}

describe('the time of a run', () => {
  test('costs what its agent has as the price of an hour, rounded half up to the pico-dollar', () => {
    expect(timeAt(HOUR, PRICED)).toMatchObject({ workMs: HOUR, costUsd: '0.9', basis: 'priced' })
    expect(timeAt(1, { usdPerHour: '0.000000001' })).toMatchObject({ costUsd: '0' })
    expect(timeAt(1_800, { usdPerHour: '0.000000001' })).toMatchObject({ costUsd: '0.000000000001' })
    expect(timeAt(HOUR, FREE)).toMatchObject({ workMs: HOUR, costUsd: null, basis: 'unknown' })
  })

  test('is counted from its start, so that a report that comes twice or late adds nothing', () => {
    const run = ledger(PRICED)
    run.report(2, 20_000)
    run.report(2, 35_000)
    run.report(1, 40_000)
    expect(run.totals()).toMatchObject({ workMs: 20_000, costUsd: '0.005', tokens: 0 })
    run.report(3, 60_000)
    run.report(0, HOUR, true)
    run.report(0, HOUR, true)
    expect(run.rows.map(({ workMs }) => workMs)).toEqual([20_000, 40_000, HOUR - 60_000])
    expect(run.totals()).toMatchObject({ workMs: HOUR, costUsd: '0.9', isCostUnknown: false })
  })

  test('is booked every ten seconds on the way where it costs, every minute where it does not, and at the end', () => {
    expect(timeAt(9_999, PRICED, none, false)).toBeUndefined()
    expect(timeAt(10_000, PRICED, none, false)).toMatchObject({ workMs: 10_000 })
    expect(timeAt(59_999, FREE, none, false)).toBeUndefined()
    expect(timeAt(60_000, FREE, none, false)).toMatchObject({ workMs: 60_000 })
    expect(timeAt(5, FREE)).toMatchObject({ workMs: 5 })
  })

  test('stays as it is booked when nobody saw the end of the run, or the clock was set back, and is not taken back', () => {
    const source = aSource({ booked: { [RUN_TIME]: { ...used(0), workMs: 20_000 } } })
    expect(timeAt(HOUR, null, source)).toMatchObject({ workMs: 20_000 })
    expect(timeAt(10_000, FREE, source)).toMatchObject({ workMs: 20_000 })
    expect(timeAt(25_000, FREE, source, false)).toMatchObject({ workMs: 20_000 })
    expect(withTime({}, none, { time: FREE, startedAt: null, now: HOUR, isFinal: true })).toEqual({})
  })

  test('is no model: a program that names one so books it as one that nobody has named', () => {
    const usage = { inputTokens: 5, outputTokens: 1 }
    const model = {
      model: RUN_TIME,
      used: { ...usage, model: RUN_TIME },
      costUsd: null,
      basis: 'unknown' as const,
    }
    expect(Object.keys(ledgerOf({ costUsd: null, basis: 'unknown', models: [model] }))).toEqual(['unknown'])
  })
})
