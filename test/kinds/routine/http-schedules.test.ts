import { describe, expect, test } from 'vitest'
import { planOf, showMission, submit, take } from '../../support/http-missions.ts'
import { neglect, run, runsOf, save, saved, show } from '../../support/http-routines.ts'
import { expectRefusal, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'

/** What time does to routines, on a server. */

const { served, workspace } = useServer()

describe('a schedule', () => {
  test.each([
    [{ cron: 'every day' }, 'schedule.cron'],
    [{ cron: '61 * * * *' }, 'schedule.cron'],
    [{ cron: '0 0 31 2 *' }, 'schedule.cron'],
    [{ cron: '* * * * * *' }, 'schedule.cron'],
    [{ cron: '0 0 * * *', timeZone: 'Mars/Olympus' }, 'schedule.timeZone'],
    [{ cron: '0 0 * * *', timeZone: '+02:00' }, 'schedule.timeZone'],
    [{ cron: '0 0 * * *', overlap: 'maybe' }, 'schedule.overlap'],
    [{ cron: '0 0 * * *', catchUp: 'some' }, 'schedule.catchUp'],
  ])('that is nonsense is refused: %j', async (schedule, field) => {
    const w = await workspace()
    const refused = await save(w, { plan: planOf({ tempId: 'a' }), schedule })
    expectRefusal(refused, 400, 'VALIDATION_FAILED', { errors: [{ field }] })
  })

  test('says its next times before it is saved, or why it cannot be', async () => {
    const w = await workspace()
    const ask = async (cron: string, timeZone = 'UTC') => {
      const query = new URLSearchParams({ cron, timeZone })
      return (await w.call('GET', `/schedules/next?${query}`)).body
    }
    const { nextTimes, problem } = await ask('0 2 * * *')
    expect([nextTimes.length, problem]).toEqual([3, null])
    expect(
      nextTimes.every((at: string) => at.endsWith('T02:00:00.000Z') && Date.parse(at) > Date.now()),
    ).toBe(true)
    expect(await ask('0 0 31 2 *')).toEqual({
      nextTimes: [],
      problem: { field: 'cron', message: 'names a day that none of its months has' },
    })
    expect((await ask('0 0 * * *', 'Mars/Olympus')).problem).toMatchObject({ field: 'timeZone' })
    expect((await ask('')).problem).toMatchObject({ field: 'cron' })
    const routine = await saved(w, { schedule: { cron: '0 2 * * *' } })
    const [listed] = (await w.call('GET', '/routines')).body.items
    expect(listed).toMatchObject({ id: routine.id, nextTimes: routine.nextTimes })
  })

  test('needs defaults for all variables, and texts only names those that there are', async () => {
    const w = await workspace()
    const schedule = { cron: '0 0 * * *' }
    const variables = { properties: { what: { type: 'string' } } }
    const plan = planOf({ tempId: 'a', title: '{{what}}' })
    expectRefusal(await save(w, { plan, variables, schedule }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'schedule' }],
    })
    expectRefusal(await save(w, { plan }), 400, 'VALIDATION_FAILED', { errors: [{ field: 'variables' }] })
  })

  test('starts a mission when its time has come, for that time, and once', async () => {
    const w = await workspace()
    const routine = await saved(w, { schedule: { cron: '0 * * * *' } })
    await neglect(served().databaseUrl, routine)
    const [event] = await w.happens('routine_started')
    const { items } = await runsOf(w, routine)
    expect(items).toMatchObject([{ missionId: event!.payload.missionId, state: 'running' }])
    expect(items[0].scheduledFor).toMatch(/:00:00\.000Z$/)
    expect(Date.parse((await show(w, routine)).nextAt)).toBeGreaterThan(Date.now())
    expect(event).toMatchObject({ actor: 'system' })
  })

  /** Hourly, half an hour ago for the last time; and nobody has looked since two hours before that. */
  async function missed(w: Workspace, catchUp: string) {
    const HOUR_MS = 3_600_000
    const last = Math.floor(Date.now() / 60_000) * 60_000 - HOUR_MS / 2
    const cron = `${new Date(last).getUTCMinutes()} * * * *`
    const routine = await saved(w, { schedule: { cron, catchUp } })
    const times = [last - 2 * HOUR_MS, last - HOUR_MS, last]
    await neglect(served().databaseUrl, routine, times[0])
    return { routine, times: times.map((at) => new Date(at).toISOString()) }
  }

  test('that catches up nothing drops the times that were missed, and says so', async () => {
    const w = await workspace()
    const { routine, times } = await missed(w, 'none')
    expect(await w.happens('routine_missed')).toMatchObject([{ payload: { since: times[0] } }])
    expect((await runsOf(w, routine)).items).toEqual([])
    expect(Date.parse((await show(w, routine)).nextAt)).toBeGreaterThan(Date.now())
  })

  test('that catches up the last time starts that one alone', async () => {
    const w = await workspace()
    const { routine, times } = await missed(w, 'last')
    await w.happens('routine_started')
    expect((await runsOf(w, routine)).items).toMatchObject([{ scheduledFor: times[2] }])
    expect((await show(w, routine)).waitingFor).toEqual([])
  })

  test('that catches up all times starts them one after another, each when the previous one has ended', async () => {
    const w = await workspace()
    const { routine, times } = await missed(w, 'all')
    for (const [n, time] of times.entries()) {
      const started = await w.happens('routine_started', n + 1)
      expect(started.map(({ payload }) => payload.scheduledFor)).toEqual(times.slice(0, n + 1))
      expect((await show(w, routine)).waitingFor, time).toEqual(times.slice(n + 1))
      await submit(w, await take(w))
    }
    expect(await w.happens('routine_waiting')).toMatchObject([{ payload: { because: 'catch_up', times: 3 } }])
    const { items } = await runsOf(w, routine)
    expect(items.map(({ scheduledFor, state }: Json) => [scheduledFor, state])).toEqual(
      [...times].reverse().map((time) => [time, 'completed']),
    )
  })

  test('that finds its mission still under way replaces it after it has ended', async () => {
    const w = await workspace()
    const routine = await saved(w, { schedule: { cron: '0 * * * *', overlap: 'replace' } })
    const { missionId } = (await run(w, routine)).body
    await neglect(served().databaseUrl, routine)
    const started = await w.happens('routine_started', 2)
    expect(await showMission(w, { id: missionId })).toMatchObject({ state: 'cancelled' })
    expect(await showMission(w, { id: started[1]!.payload.missionId as string })).toMatchObject({
      state: 'running',
    })
  })

  test('that cannot start a mission says so, and continues with its next time', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/dev', { adapterType: 'external' })
    const plan = planOf({ tempId: 'a', contractor: { template: 'dev' } })
    const routine = await saved(w, { plan, schedule: { cron: '0 * * * *' } })
    await w.call('DELETE', '/agents/dev')
    await neglect(served().databaseUrl, routine)
    expect(await w.happens('routine_failed')).toMatchObject([
      { payload: { routineId: routine.id, reason: expect.stringContaining('dev') } },
    ])
    expect(Date.parse((await show(w, routine)).nextAt)).toBeGreaterThan(Date.now())
    expect((await runsOf(w, routine)).items).toEqual([])
  })
})
