import { describe, expect, test } from 'vitest'
import { MissionConfig } from '../../../src/kinds/mission/shapes/missions.ts'
import type { RoutineRecord } from '../../../src/kinds/routine/record.ts'
import type { NewMission } from '../../../src/kinds/routine/rules/command.ts'
import { decideRoutine, type RoutineDecision } from '../../../src/kinds/routine/rules/decide.ts'
import { VariablesSchema } from '../../../src/kinds/routine/rules/variables.ts'
import { RoutineConfig, Schedule } from '../../../src/kinds/routine/shapes.ts'

/** What time and people do to a routine, under a clock that the test moves. */

const UUID = '0192f0c4-0000-7000-8000-000000000001'
const HOUR = 3_600_000
const at = (text: string) => Date.parse(`2026-11-16T${text}Z`)
const time = (text: string) => `2026-11-16T${text}:00.000Z`

const mission = (): NewMission => ({
  uuid: '0192f0c4-0000-7000-8000-000000000009',
  command: {
    ...{ kind: 'create', id: 9, goal: 'Go', title: 'Go', description: null, tags: [], priority: 5 },
    ...{ projectId: 0, project: null, startAt: null, proposed: null, planning: null },
    config: MissionConfig.parse({ routine: { id: UUID, scheduledFor: null, variables: {} } }),
  },
})

/** A routine with a clock. */
class Clock {
  now: number
  isBusy = false
  record: RoutineRecord | null = null
  last!: RoutineDecision

  constructor(schedule: object | null, now = at('00:10:00')) {
    this.now = now
    const { success, data } = Schedule.safeParse({ cron: '0 * * * *', ...schedule })
    if (!success) throw new Error('no schedule')
    this.act({
      ...{ kind: 'create', id: 1, originId: null, origin: null, name: 'Hourly', goal: 'Go', title: 'Go' },
      ...{ description: null, tags: [], priority: 5, projectId: 0, project: null, isEnabled: true },
      ...{ plan: '{}', planDigest: 'd', taskCount: 0, variables: VariablesSchema.parse({}) },
      ...{ config: RoutineConfig.parse({}), schedule: schedule === null ? null : data },
    })
  }

  act(command: Parameters<typeof decideRoutine>[2]): this {
    const context = { now: this.now, actor: 'key:a', isBusy: this.isBusy }
    this.last = decideRoutine(this.record, UUID, command, context)
    this.record = this.last.record
    return this
  }

  /** Upkeep looks at this time. */
  look(text: string, isBusy = this.isBusy): string | null | undefined {
    this.now = text.includes('-') ? Date.parse(text) : at(`${text}:01`)
    this.isBusy = isBusy
    this.act({ kind: 'elapse', version: this.record!.version, mission: mission() })
    return this.last.mission?.command.config.routine?.scheduledFor
  }

  get events() {
    return this.last.events.map(({ type }) => type)
  }

  get nextAt() {
    return this.record!.nextAt === null ? null : new Date(this.record!.nextAt).toISOString()
  }

  get waiting() {
    return this.record!.waiting.map((one) => new Date(one).toISOString())
  }
}

describe('a routine with a schedule', () => {
  test('starts a mission when its time has come, once', () => {
    const clock = new Clock({})
    expect(clock.nextAt).toBe(time('01:00'))
    expect(clock.look('00:59')).toBeUndefined()
    expect(clock.last.record).toBe(clock.record)
    expect(clock.look('01:00')).toBe(time('01:00'))
    expect(clock.events).toEqual(['routine_started'])
    expect(clock.nextAt).toBe(time('02:00'))
    expect(clock.look('01:00')).toBeUndefined()
    expect(clock.look('02:00')).toBe(time('02:00'))
  })

  test('rests while it is disabled, and begins again from then on', () => {
    const clock = new Clock({})
    clock.act({ kind: 'update', ifVersion: 1, patch: { isEnabled: false } })
    expect(clock.nextAt).toBeNull()
    expect(clock.look('05:00')).toBeUndefined()
    clock.act({ kind: 'update', ifVersion: null, patch: { isEnabled: true } })
    expect(clock.nextAt).toBe(time('06:00'))
  })

  test('keeps what waits when other fields are saved, and drops it with another schedule', () => {
    const clock = new Clock({ overlap: 'queue' })
    clock.look('01:00', true)
    const { schedule } = clock.record!
    clock.act({ kind: 'update', ifVersion: null, patch: { name: 'Other', schedule: { ...schedule! } } })
    expect(clock.waiting).toEqual([time('01:00')])
    clock.act({ kind: 'update', ifVersion: null, patch: { schedule: { ...schedule!, cron: '30 * * * *' } } })
    expect(clock.waiting).toEqual([])
    expect(clock.nextAt).toBe(time('01:30'))
  })

  test('never fires again for a time that it has fired for, even if the clock goes back', () => {
    const clock = new Clock({})
    expect(clock.look('01:00')).toBe(time('01:00'))
    clock.now = at('00:30:00')
    clock.act({ kind: 'update', ifVersion: null, patch: { isEnabled: false } })
    clock.act({ kind: 'update', ifVersion: null, patch: { isEnabled: true } })
    expect(clock.nextAt).toBe(time('02:00'))
  })

  test('is left alone by a caller that saw an older version, or one that was removed', () => {
    const clock = new Clock({})
    clock.act({ kind: 'update', ifVersion: null, patch: { name: 'Other' } })
    clock.now = at('01:00:01')
    clock.act({ kind: 'elapse', version: 1, mission: mission() })
    expect(clock.last.refusal).toMatchObject({ code: 'CHANGED_SINCE' })
    clock.act({ kind: 'update', ifVersion: 1, patch: {} })
    expect(clock.last.refusal).toMatchObject({ code: 'VERSION_MISMATCH' })
    clock.act({ kind: 'remove' })
    expect(clock.nextAt).toBeNull()
    clock.act({ kind: 'run', version: 2, mission: mission() })
    expect(clock.last.refusal).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('continues with its next time when a mission could not be started', () => {
    const clock = new Clock({})
    clock.now = at('01:00:01')
    clock.act({ kind: 'fail', version: 1, reason: 'gone' })
    expect(clock.events).toEqual(['routine_failed'])
    expect(clock.nextAt).toBe(time('02:00'))
    clock.act({ kind: 'fail', version: 1, reason: 'gone' })
    expect(clock.events).toEqual([])
  })

  test.each(['last', 'all'])('reports all times that could not be started, in one event: %s', (catchUp) => {
    const clock = new Clock({ catchUp })
    clock.now = at('05:00:01')
    clock.act({ kind: 'fail', version: 1, reason: 'gone' })
    expect(clock.last.events).toMatchObject([
      { type: 'routine_missed', payload: { since: time('01:00') } },
      { type: 'routine_failed', payload: { scheduledFor: time('05:00') } },
    ])
    expect([clock.nextAt, clock.waiting]).toEqual([time('06:00'), []])
  })

  test('fails for no time that would not have started', () => {
    const clock = new Clock({ catchUp: 'none' })
    clock.now = at('05:30:00')
    clock.act({ kind: 'fail', version: 1, reason: 'gone' })
    expect(clock.events).toEqual(['routine_missed'])
    expect(clock.nextAt).toBe(time('06:00'))
  })

  test('keeps what waits when a later time fails, and drops it when it fails itself', () => {
    const clock = new Clock({ overlap: 'replace' })
    clock.look('01:00', true)
    clock.now = at('02:00:01')
    clock.act({ kind: 'fail', version: 1, reason: 'gone' })
    expect(clock.last.events[0]).toMatchObject({ payload: { scheduledFor: time('02:00') } })
    expect(clock.waiting).toEqual([time('01:00')])
    clock.act({ kind: 'fail', version: 1, reason: 'gone' })
    expect(clock.last.events[0]).toMatchObject({ payload: { scheduledFor: time('01:00') } })
    expect([clock.waiting, clock.record!.isReplacing]).toEqual([[], false])
  })
})

describe('while its last mission has not ended, a routine', () => {
  test('skips its times, and counts them', () => {
    const clock = new Clock({ overlap: 'skip' })
    clock.look('01:00', true)
    expect(clock.events).toEqual(['routine_skipped'])
    clock.look('02:00')
    expect(clock.events).toEqual(['routine_skipped'])
    clock.look('03:00')
    expect(clock.last.events).toMatchObject([{ type: 'routine_skipped', payload: { inRow: 3 } }])
    clock.look('04:00')
    expect(clock.events).toEqual(['routine_skipped'])
    expect(clock.look('05:00', false)).toBe(time('05:00'))
    expect(clock.record!.skippedInRow).toBe(0)
  })

  test('queues one time, and skips the others', () => {
    const clock = new Clock({ overlap: 'queue' })
    expect(clock.look('01:00', true)).toBeUndefined()
    expect(clock.events).toEqual(['routine_waiting'])
    clock.look('02:00')
    expect(clock.events).toEqual(['routine_skipped'])
    expect(clock.waiting).toEqual([time('01:00')])
    expect(clock.look('02:30', false)).toBe(time('01:00'))
    expect(clock.waiting).toEqual([])
  })

  test('replaces it: the newest time waits until nothing of the last mission is left', () => {
    const clock = new Clock({ overlap: 'replace' })
    expect(clock.look('01:00', true)).toBeUndefined()
    expect(clock.record!.isReplacing).toBe(true)
    clock.look('02:00')
    expect(clock.waiting).toEqual([time('02:00')])
    expect(clock.last.events, 'the dropped time is reported').toMatchObject([
      { type: 'routine_missed', payload: { since: time('01:00'), until: time('01:00') } },
      { type: 'routine_waiting' },
    ])
    expect(clock.look('02:10', true)).toBeUndefined()
    expect(clock.look('02:20', false)).toBe(time('02:00'))
    expect(clock.record!.isReplacing).toBe(false)
  })

  test('still starts one by hand, which counts for none of its times', () => {
    const clock = new Clock({})
    clock.isBusy = true
    clock.act({ kind: 'run', version: 1, mission: mission() })
    expect(clock.last.mission!.command.config.routine!.scheduledFor).toBeNull()
    expect(clock.record).toMatchObject({ lastFor: null, nextAt: Date.parse(time('01:00')) })
  })
})

describe('times that came while nobody looked', () => {
  test('are dropped by "none"', () => {
    const clock = new Clock({ catchUp: 'none' })
    expect(clock.look('03:30')).toBeUndefined()
    expect(clock.events).toEqual(['routine_missed'])
    expect(clock.nextAt).toBe(time('04:00'))
  })

  test('are not missed within a minute, and the one that is on time counts with "none" too', () => {
    const clock = new Clock({ catchUp: 'none' })
    clock.now = at('03:00:59')
    clock.act({ kind: 'elapse', version: 1, mission: mission() })
    expect(clock.last.mission!.command.config.routine!.scheduledFor).toBe(time('03:00'))
    expect(clock.events).toEqual(['routine_missed', 'routine_started'])
  })

  test('become one mission with "last", however long ago they were', () => {
    const clock = new Clock({ catchUp: 'last' })
    expect(clock.look('03:30')).toBe(time('03:00'))
    expect(clock.events).toEqual(['routine_missed', 'routine_started'])
    const yearly = new Clock({ catchUp: 'last', cron: '0 0 1 1 *' }, Date.parse('2026-12-31T00:00Z'))
    expect(yearly.look('2027-11-16T00:00:00Z')).toBe('2027-01-01T00:00:00.000Z')
    expect(yearly.events).toEqual(['routine_started'])
  })

  test('become missions one after another with "all", whatever happens to overlaps', () => {
    const clock = new Clock({ catchUp: 'all', overlap: 'skip' })
    expect(clock.look('03:30')).toBe(time('01:00'))
    expect(clock.look('03:40', true)).toBeUndefined()
    expect(clock.waiting).toEqual([time('02:00'), time('03:00')])
    expect(clock.look('03:50', false)).toBe(time('02:00'))
    expect(clock.look('03:55')).toBe(time('03:00'))
    expect(clock.look('03:56')).toBeUndefined()
  })

  test('are at most a hundred of the last day with "all"', () => {
    const minutely = new Clock({ catchUp: 'all', cron: '* * * * *' })
    expect(minutely.look('2026-11-20T12:00:00Z')).toBe('2026-11-20T10:21:00.000Z')
    expect(minutely.waiting).toHaveLength(99)
    expect(minutely.events).toEqual(['routine_missed', 'routine_waiting', 'routine_started'])
    const hourly = new Clock({ catchUp: 'all' })
    hourly.look('2026-11-20T12:30:00Z')
    expect(hourly.waiting).toHaveLength(23)
  })

  test('through a change of the local clock are what the schedule says', () => {
    const night = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', catchUp: 'all' }
    const forward = new Clock(night, Date.parse('2026-03-28T12:00Z'))
    expect(forward.look('2026-03-29T01:00:01Z')).toBe('2026-03-29T01:00:00.000Z')
    expect(forward.nextAt).toBe('2026-03-30T00:30:00.000Z')
    const back = new Clock(night, Date.parse('2026-10-24T12:00Z'))
    expect(back.look('2026-10-25T00:30:01Z')).toBe('2026-10-25T00:30:00.000Z')
    expect(back.look('2026-10-25T01:30:01Z')).toBeUndefined()
    expect(back.nextAt).toBe('2026-10-26T01:30:00.000Z')
    const hourly = new Clock(
      { timeZone: 'America/New_York', catchUp: 'all' },
      Date.parse('2026-11-01T04:10Z'),
    )
    hourly.look('2026-11-01T08:30:00Z')
    expect(hourly.record!.waiting.map((one) => (one - Date.parse('2026-11-01T05:00Z')) / HOUR)).toEqual([
      1, 2, 3,
    ])
  })
})
