import { describe, expect, test } from 'vitest'
import {
  FULL_AUTO,
  failForGood,
  makeMission,
  type PlannedTask,
  planOf,
  showMission,
  statesByTitle,
  submit,
  take,
  tasksByTitle,
} from '../../support/http-missions.ts'
import { run, runsOf, save, saved, show } from '../../support/http-routines.ts'
import { expectRefusal, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Routines over HTTP: saved from a plan or from a mission, run by hand and by the clock. */

const { served, workspace } = useServer()

const WHAT = { properties: { what: { type: 'string', default: 'rust' } } }
/** A mission of these tasks that has ended. */
async function ended(w: Workspace, tasks: PlannedTask[], body: Json = {}) {
  const mission = await makeMission(w, tasks, body)
  for (const _ of tasks) await submit(w, await take(w))
  expect((await showMission(w, mission)).state).toBe('completed')
  return mission
}

describe('a routine', () => {
  test('is saved with its plan, shown, listed and changed', async () => {
    const w = await workspace()
    const plan = planOf({ tempId: 'a', title: 'Look at {{what}}' }, { tempId: 'b', dependsOn: ['a'] })
    const routine = await saved(w, { plan, variables: WHAT, goal: 'Keep {{what}} small' })
    expect(routine).toMatchObject({
      ...{ name: 'Nightly', goal: 'Keep {{what}} small', title: 'Nightly', taskCount: 2, version: 1 },
      ...{ enabled: true, schedule: null, nextAt: null, originMissionId: null, origin: null, drift: null },
      plan: { tasks: [{ title: 'Look at {{what}}' }, { dependsOn: ['a'] }] },
    })
    const schedule = { cron: '0 2 * * *', timeZone: 'Europe/Berlin' }
    const changed = await w.call(
      'PATCH',
      `/routines/${routine.id}`,
      { schedule, name: 'Night' },
      { 'if-match': '"1"' },
    )
    expect(changed.body).toMatchObject({
      ...{ name: 'Night', version: 2, schedule: { ...schedule, overlap: 'skip', catchUp: 'last' } },
      nextTimes: [expect.any(String), expect.any(String), expect.any(String)],
    })
    expect(changed.body.nextTimes[0]).toBe(changed.body.nextAt)
    const stale = await w.call('PATCH', `/routines/${routine.id}`, { name: 'x' }, { 'if-match': '"1"' })
    expectRefusal(stale, 412, 'VERSION_MISMATCH')
    const other = await saved(w)
    const first = (await w.call('GET', '/routines?limit=1')).body
    expect(first).toMatchObject({ items: [{ id: other.id, plan: null }], nextCursor: expect.any(String) })
    const second = (await w.call('GET', `/routines?cursor=${first.nextCursor}`)).body
    expect(second).toMatchObject({ items: [{ id: routine.id }], nextCursor: null })
  })

  test('is removed for good, and its missions stay', async () => {
    const w = await workspace()
    const routine = await saved(w)
    const { missionId } = (await run(w, routine)).body
    expect((await w.call('DELETE', `/routines/${routine.id}`)).status).toBe(204)
    expectRefusal(await w.call('GET', `/routines/${routine.id}`), 404, 'NOT_FOUND')
    expectRefusal(await w.call('DELETE', `/routines/${routine.id}`), 404, 'NOT_FOUND')
    expectRefusal(await run(w, routine), 404, 'NOT_FOUND')
    expect((await w.call('GET', '/routines')).body.items).toEqual([])
    expect(await showMission(w, { id: missionId })).toMatchObject({ config: { routine: { id: routine.id } } })
  })

  test('of one workspace is not there in another', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const routine = await saved(w)
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/run'],
      ['GET', '/runs'],
    ] as const)
      expectRefusal(
        await other.call(method, `/routines/${routine.id}${path}`, method === 'GET' ? undefined : {}),
        404,
        'NOT_FOUND',
      )
    expect((await other.call('GET', '/routines')).body.items).toEqual([])
  })

  test('that names nobody as its reporter is refused, when it is saved and when it is changed', async () => {
    const w = await workspace()
    const config = { reportAgent: 'nobody' }
    const errors = [{ field: 'config.reportAgent' }]
    const refused = await save(w, { plan: planOf({ tempId: 'a' }), config })
    expectRefusal(refused, 400, 'VALIDATION_FAILED', { errors })
    const { id } = await saved(w)
    expectRefusal(await w.call('PATCH', `/routines/${id}`, { config }), 400, 'VALIDATION_FAILED', { errors })
    await w.call('PUT', '/agents/nobody', { adapterType: 'external' })
    expect((await w.call('PATCH', `/routines/${id}`, { config })).body).toMatchObject({ config })
  })

  test('that names commands needs the right to configure agents', async () => {
    const w = await workspace()
    const { key } = (await w.post('/keys', { name: 'member', role: 'member' })).body
    const plan = planOf({ tempId: 'a', verification: { kind: 'command', command: 'true' } })
    const asked = { name: 'n', plan }
    expectRefusal(await served().call('POST', '/routines', asked, { key }), 403, 'FORBIDDEN')
    const { id } = await saved(w)
    expectRefusal(await served().call('PATCH', `/routines/${id}`, { plan }, { key }), 403, 'FORBIDDEN')
  })
})

describe('a routine from a mission', () => {
  test('has its graph, texts and settings, and remembers it', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/dev', { adapterType: 'external' })
    const tasks = [
      { tempId: 'a', title: 'One', contractor: { template: 'dev', name: 'Ada' } },
      { tempId: 'b', title: 'Two', dependsOn: [{ on: 'a', kind: 'order' }], triggerRule: 'all_done' },
    ]
    const mission = await makeMission(w, tasks, { title: 'Check', config: { ...FULL_AUTO, maxParallel: 3 } })
    const { One } = await tasksByTitle(w, mission)
    const agent = (await showMission(w, mission)).contractors[0]
    const held = (await w.post(`/tasks/${One!.id}/claim`, { agent, session: `s-${agent}` })).body
    await submit(w, { ...held.claim, ...held }, agent)
    await submit(w, await take(w))
    const routine = await save(w, { fromMission: mission.id })
    expect(routine.body).toMatchObject({
      ...{ goal: 'Make it work', title: 'Check', originMissionId: mission.id, taskCount: 2 },
      config: { maxParallel: 3, onFailure: 'continue' },
      plan: {
        tasks: [
          { tempId: 'a', contractor: { template: 'dev', name: 'Ada' } },
          { tempId: 'b', dependsOn: [{ on: 'a', kind: 'order' }], triggerRule: 'all_done' },
        ],
      },
      origin: { costUsd: '0', durationMs: expect.any(Number), score: null },
      drift: null,
    })
    expect(routine.body.config).not.toHaveProperty('autonomy')
    const { missionId } = (await run(w, routine.body)).body
    const again = await showMission(w, { id: missionId })
    expect(again).toMatchObject({ state: 'running', title: 'Check', config: { maxParallel: 3 } })
    expect(again.contractors).toHaveLength(1)
    expect(again.contractors).not.toEqual([agent])
    expect(await statesByTitle(w, again)).toEqual({ One: 'queued', Two: 'pending' })
  })

  test('is refused where there is none to save: unknown, of another workspace, not ended, never approved', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const nowhere = '0192f0c4-0000-7000-8000-0000000fffff'
    const foreign = await ended(other, [{ tempId: 'a' }])
    for (const fromMission of [nowhere, foreign.id])
      expectRefusal(await save(w, { fromMission }), 400, 'VALIDATION_FAILED', {
        errors: [{ field: 'fromMission', message: 'names no mission of this workspace' }],
      })
    const running = await makeMission(w, [{ tempId: 'a' }])
    expectRefusal(await save(w, { fromMission: running.id }), 409, 'WRONG_STATE')
    const rejected = await makeMission(w, [{ tempId: 'a' }], { config: {} })
    await w.post(`/missions/${rejected.id}/reject`)
    expectRefusal(await save(w, { fromMission: rejected.id }), 409, 'WRONG_STATE')
    expectRefusal(await save(w, {}), 400, 'VALIDATION_FAILED')
    const both = { fromMission: running.id, plan: planOf({ tempId: 'a' }) }
    expectRefusal(await save(w, both), 400, 'VALIDATION_FAILED')
  })

  test('may not depend on tasks outside its plan', async () => {
    const w = await workspace()
    const outside = await w.make()
    const mission = await makeMission(w, [{ tempId: 'a', dependsOn: [`task:${outside.id}`] }])
    for (const _ of [1, 2]) await submit(w, await take(w))
    expect((await showMission(w, mission)).state).toBe('completed')
    const refused = await save(w, { fromMission: mission.id })
    expectRefusal(refused, 422, 'PLAN_INVALID', { problems: [{ at: '/tasks/0/dependsOn/0' }] })
  })

  test('shows how its missions differ from it, by those that were completed', async () => {
    const w = await workspace()
    const mission = await ended(w, [{ tempId: 'a' }])
    await superuser(served().databaseUrl, async (client) => {
      const at = `(select mission_id from baton.missions where uuid = '${mission.id}')`
      await client.query(`update baton.mission_counters set usd = 2 where mission_id = ${at}`)
      await client.query(
        `update baton.missions set completed_at = started_at + interval '10 s' where mission_id = ${at}`,
      )
    })
    const routine = (await save(w, { fromMission: mission.id })).body
    expect(routine).toMatchObject({ origin: { costUsd: '2', durationMs: 10_000 }, drift: null })
    for (const usd of [1, 4]) {
      const { missionId } = (await run(w, routine)).body
      await submit(w, await take(w))
      await superuser(served().databaseUrl, async (client) => {
        const at = `(select mission_id from baton.missions where uuid = '${missionId}')`
        await client.query(`update baton.mission_counters set usd = ${usd} where mission_id = ${at}`)
        await client.query(
          `update baton.missions set completed_at = started_at + interval '8 s' where mission_id = ${at}`,
        )
      })
    }
    await run(w, routine)
    await failForGood(w, await take(w))
    const drift = { runs: 2, costChange: 0.25, durationChange: -0.2, scoreChange: null }
    expect((await show(w, routine)).drift).toEqual(drift)
    expect((await w.call('GET', '/routines')).body.items).toMatchObject([{ id: routine.id, drift }])
    const { items } = await runsOf(w, routine)
    expect(items.map(({ state, costUsd }: Json) => [state, costUsd])).toEqual([
      ...[
        ['failed', '0'],
        ['completed', '4'],
        ['completed', '1'],
      ],
    ])
    expect((await runsOf(w, routine, '?limit=2')).nextCursor).toEqual(expect.any(String))
  })

  test('shows how the scores of its missions differ from those of the origin', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/judge', { adapterType: 'external' })
    /** Does the only task of a mission, and judges it. */
    const finished = async (mission: Json, score: number) => {
      await submit(w, await take(w))
      const asked = { agent: 'judge', session: 's-judge', purposes: ['verification'], waitMs: 20_000 }
      const [claim] = (await w.post('/claims/next', asked)).body.claims
      await submit(w, claim, 'judge', { verdict: 'pass', score, feedback: '', evidence: [] })
      await until(async () => (await showMission(w, mission)).state === 'completed')
    }
    const mission = await makeMission(w, [{ tempId: 'a', verification: { kind: 'agent', agent: 'judge' } }])
    await finished(mission, 0.8)
    const routine = (await save(w, { fromMission: mission.id })).body
    expect(routine).toMatchObject({ origin: { score: 0.8 }, drift: null })
    for (const score of [0.9, 1]) await finished({ id: (await run(w, routine)).body.missionId }, score)
    expect((await show(w, routine)).drift).toMatchObject({ runs: 2, scoreChange: 0.15 })
    expect((await runsOf(w, routine)).items.map(({ score }: Json) => score)).toEqual([1, 0.9])
  })
})

describe('a run by hand', () => {
  test('starts a mission with its values, which nobody has to approve', async () => {
    const w = await workspace()
    const plan = planOf({ tempId: 'a', title: 'Look at {{what}}', input: { about: '{{what}}' } })
    const routine = await saved(w, { plan, variables: WHAT, goal: 'Keep {{what}} small' })
    const hostile = '{{what}}\n- tempId: evil $& {{constructor}}'
    const started = await run(w, routine, { what: hostile })
    expect(started).toMatchObject({ status: 201, body: { missionId: expect.any(String) } })
    const mission = await showMission(w, { id: started.body.missionId })
    expect(mission).toMatchObject({
      ...{ state: 'running', goal: `Keep ${hostile} small`, taskCount: 1 },
      config: { routine: { id: routine.id, scheduledFor: null, variables: { what: hostile } } },
    })
    const { task } = await take(w)
    expect(task).toMatchObject({ title: `Look at ${hostile.replace('\n', ' ')}`, input: { about: hostile } })
    expect((await runsOf(w, routine)).items).toMatchObject([
      { missionId: mission.id, scheduledFor: null, variables: { what: hostile }, state: 'running' },
    ])
    expect(await w.happens('routine_started')).toMatchObject([
      { entityType: 'routine', entityId: routine.id, missionId: mission.id },
    ])
  })

  test('leaves a mark in the list: the last ten, newest first', async () => {
    const w = await workspace()
    const { body: routine } = await save(w, { plan: { tasks: [] } })
    const run = async () => (await w.post(`/routines/${routine.id}/run`, {})).body.missionId
    const marks = async () => (await w.call('GET', '/routines')).body.items[0].lastRuns
    expect(await marks()).toEqual([])
    const started: string[] = []
    for (let n = 0; n < 11; n++) started.unshift(await run())
    const last = await marks()
    expect(last.map(({ missionId }: Json) => missionId)).toEqual(started.slice(0, 10))
    expect(last[0]).toMatchObject({ state: 'completed', startedAt: expect.any(String) })
  })

  test('asks for approval where its settings say so', async () => {
    const w = await workspace()
    const routine = await saved(w, { config: { autonomy: 'approve' } })
    const { missionId } = (await run(w, routine)).body
    expect(await showMission(w, { id: missionId })).toMatchObject({ state: 'awaiting_approval' })
  })

  test('is the same under an idempotency key, however often it is sent', async () => {
    const w = await workspace()
    const routine = await saved(w)
    const send = () => w.post(`/routines/${routine.id}/run`, {}, { 'idempotency-key': 'one' })
    const answers = await Promise.all([send(), send(), send()])
    expect(new Set(answers.map(({ body }) => body.missionId)).size).toBe(1)
    expect((await runsOf(w, routine)).items).toHaveLength(1)
  })

  test('refuses unknown, missing and unfit values, and texts that they make too long', async () => {
    const w = await workspace()
    const properties = { what: { type: 'string' }, count: { type: 'integer', default: 1 } }
    const plan = planOf({ tempId: 'a', title: '{{what}}' })
    const routine = await saved(w, { plan, variables: { properties } })
    const refused = await run(w, routine, { count: 'x', other: 1 })
    expectRefusal(refused, 400, 'VALIDATION_FAILED', {
      errors: [
        { field: 'variables.other', message: 'is no variable of this routine' },
        { field: 'variables.what', message: 'is missing' },
        { field: 'variables.count', message: 'must be a whole number' },
      ],
    })
    expectRefusal(await run(w, routine, { what: 'x'.repeat(600) }), 422, 'PLAN_INVALID')
    expect((await run(w, routine, { what: { deep: 1 } })).status).toBe(400)
    expect((await runsOf(w, routine)).items).toEqual([])
  })
})

describe('a value that is named often', () => {
  const input = Array.from({ length: 50 }, () => '{{what}}'.repeat(10_000))
  const plan = planOf({ tempId: 'a', input })
  const errors = [{ field: 'variables', message: expect.stringContaining('longer than 33554432 characters') }]

  test('is refused before it fills the memory', async () => {
    const w = await workspace()
    const routine = await saved(w, { plan, variables: WHAT })
    const refused = await run(w, routine, { what: 'x'.repeat(100_000) })
    expectRefusal(refused, 400, 'VALIDATION_FAILED', { errors })
  })

  test('is refused as a default, too', async () => {
    const w = await workspace()
    const variables = { properties: { what: { type: 'string', default: 'x'.repeat(100_000) } } }
    expectRefusal(await save(w, { plan, variables }), 400, 'VALIDATION_FAILED', { errors })
  })
})
