import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  inOneHour,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'

/** How long tasks may take and their progress, as clients set and see it. */

const { workspace } = useServer()
const first = fence('s-alpha', 1)
const patch = (w: Workspace, task: Task, body: Json, headers?: Record<string, string>) =>
  w.call('PATCH', `/tasks/${task.id}/progress`, body, headers)

/** Over after a tenth of a second, suspected at once. */
const HANGING = { estimatedDurationMinutes: 0.001, timeouts: { hangGraceSeconds: 0, hangAbortSeconds: 1 } }

describe('a task’s time limits', () => {
  test('are shown as given, and null where none were', async () => {
    const w = await workspace()
    const timeouts = { assignSeconds: 30, stallSeconds: 60, hangGraceSeconds: 0 }
    const made = await w.post('/tasks', { title: 'Fix login', timeouts, estimatedDurationMinutes: 1.5 })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ timeouts, estimatedDurationMinutes: 1.5, progress: null })
    expect(made.body.timeouts).toEqual(timeouts)
    expect(await w.read(made.body)).toMatchObject(made.body)
    const plain = await w.make({ timeouts: {} })
    expect(plain).toMatchObject({ timeouts: null, estimatedDurationMinutes: null, progress: null })
    const all = {
      assignSeconds: 1,
      stallSeconds: 2,
      verifySeconds: 3,
      hangGraceSeconds: 4,
      hangAbortSeconds: 5,
    }
    const batch = await w.post('/tasks/batch', {
      tasks: [
        { title: 'a', timeouts: all },
        { title: 'b' },
        { title: 'c', estimatedDurationMinutes: 525_600 },
      ],
    })
    expect(batch.body.items).toMatchObject([
      { timeouts: all, estimatedDurationMinutes: null },
      { timeouts: null, estimatedDurationMinutes: null },
      { timeouts: null, estimatedDurationMinutes: 525_600 },
    ])
  })

  test.each<[string, Json, string]>([
    ['an estimate of nothing', { estimatedDurationMinutes: 0 }, 'estimatedDurationMinutes'],
    ['a negative estimate', { estimatedDurationMinutes: -1 }, 'estimatedDurationMinutes'],
    ['an estimate of more than a year', { estimatedDurationMinutes: 525_601 }, 'estimatedDurationMinutes'],
    ['an estimate in words', { estimatedDurationMinutes: 'long' }, 'estimatedDurationMinutes'],
    ['a timeout of nothing', { timeouts: { stallSeconds: 0 } }, 'timeouts.stallSeconds'],
    ['a timeout of more than a day', { timeouts: { assignSeconds: 86_401 } }, 'timeouts.assignSeconds'],
    ['half a second', { timeouts: { hangAbortSeconds: 0.5 } }, 'timeouts.hangAbortSeconds'],
    ['an unknown timeout', { timeouts: { coffeeSeconds: 5 } }, 'timeouts.coffeeSeconds'],
    ['timeouts that are none', { timeouts: null }, 'timeouts'],
  ])('are refused: %s', async (_what, more, field) => {
    const w = await workspace()
    const answer = await w.post('/tasks', { title: 'Fix login', ...more })
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toContain(field)
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])
  })

  test('are enforced by the server: a holder that goes silent loses the task', async () => {
    const w = await workspace()
    const task = await w.held({ timeouts: { stallSeconds: 1 } })
    await w.on(task, 'start', first)
    const [stalled] = await w.happens('task_stalled')
    expect(stalled).toMatchObject({ taskId: task.id, payload: { session: 's-alpha', attempt: 1 } })
    expect((await w.read(task, '/claims')).items).toMatchObject([{ releaseReason: 'STALLED' }])
  })

  test('are enforced by the server: a task that is not started goes to others', async () => {
    const w = await workspace()
    const task = await w.held({ timeouts: { assignSeconds: 1 } })
    await w.happens('task_requeued')
    expect(await w.read(task)).toMatchObject({ state: 'queued', attempt: 0, holder: null })
    expect((await w.read(task, '/claims')).items).toMatchObject([{ releaseReason: 'NOT_STARTED' }])
  })
})

describe('a task beyond its estimate', () => {
  test('is suspected to hang, and revoked when no progress comes', async () => {
    const w = await workspace()
    const task = await w.held({ ...HANGING, priority: 7 })
    await w.on(task, 'start', first)
    const [suspected] = await w.happens('task_hang_suspected')
    expect(suspected).toMatchObject({ taskId: task.id, actor: 'system' })
    const [hung] = await w.happens('task_hung')
    expect(hung!.payload).toMatchObject({ session: 's-alpha', priority: 8 })
    expect(await w.read(task)).toMatchObject({ state: 'awaiting_retry', priority: 8 })
    expect((await w.read(task, '/claims')).items).toMatchObject([{ releaseReason: 'HUNG' }])
  })

  test('asks for progress with every renewal and heartbeat, and stops when it gets a new completion time', async () => {
    const w = await workspace()
    await w.post('/sessions', { session: 's-alpha' })
    const task = await w.held({ ...HANGING, timeouts: { hangGraceSeconds: 0, hangAbortSeconds: 600 } })
    await w.on(task, 'start', first)
    await w.happens('task_hang_suspected')
    const heartbeat = async () => (await w.post('/sessions/s-alpha/heartbeat')).body.renewed
    const [asked] = (await w.on(task, 'renew', first)).body.requests
    expect(asked).toEqual({ type: 'report_progress', since: expect.any(String), abortAt: expect.any(String) })
    expect(Date.parse(asked.abortAt) - Date.parse(asked.since)).toBe(600_000)
    expect(await heartbeat()).toMatchObject([{ taskId: task.id, requests: [asked] }])
    await w.on(task, 'progress', { ...first, estimatedCompletionAt: inOneHour() })
    expect(await heartbeat()).toMatchObject([{ taskId: task.id, requests: [] }])
  })
})

describe('progress', () => {
  test('is reported with POST and PATCH alike, and shown with the task', async () => {
    const w = await workspace()
    const task = await w.held({ estimatedDurationMinutes: 60 })
    const before = await w.on(task, 'progress', { ...first, percent: 10, step: 'reading' })
    expect(before).toMatchObject({ status: 200, body: { reason: 'NOTED', task: { state: 'running' } } })
    const estimatedCompletionAt = inOneHour()
    const body = {
      ...first,
      percent: 70,
      step: 'fixing',
      checkpointData: { files: 15 },
      estimatedCompletionAt,
    }
    const answer = await patch(w, task, body)
    expect(answer).toMatchObject({ status: 200, body: { reason: 'NOTED' } })
    const shown = await w.read(task)
    expect(shown).toMatchObject({
      progress: { percent: 70, step: 'fixing', estimatedCompletionAt, updatedAt: shown.updatedAt },
      checkpointData: { files: 15 },
    })
    const [, reported] = await w.happens('task_progress', 2)
    expect(reported!.payload).toMatchObject({
      percent: 70,
      checkpoint: true,
      doneBy: Date.parse(estimatedCompletionAt),
    })
  })

  test('is that of the last claim: another one begins without it, and a finished task keeps it', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'progress', { ...first, percent: 60, step: 'half' })
    const heldBy = async () => {
      expect((await w.claim(task, 'beta')).status).toBe(200)
      return fence('s-beta', (await w.read(task)).generation)
    }
    const progressOf = async () => (await w.read(task)).progress
    // With the claim, another one begins; before that, the last one stands.
    await w.on(task, 'release', first)
    expect(await progressOf()).toMatchObject({ percent: 60, step: 'half' })
    const second = await heldBy()
    expect(await progressOf()).toBeNull()
    const { running } = (await w.call('GET', '/overview')).body
    expect(running.items).toMatchObject([{ taskId: task.id, agent: 'beta', percent: null, step: null }])
    await w.on(task, 'progress', { ...second, step: 'reading' })
    expect(await progressOf()).toMatchObject({ percent: null, step: 'reading' })
    await w.on(task, 'progress', { ...second, percent: 30 })
    expect(await progressOf()).toMatchObject({ percent: 30, step: 'reading' })
    for (const act of ['pause', 'resume']) await w.on(task, act, {})
    const third = await heldBy()
    expect(await progressOf()).toBeNull()
    await w.on(task, 'progress', { ...third, percent: 90 })
    await w.on(task, 'submit', { ...third, result: { ok: true } })
    expect(await w.read(task)).toMatchObject({ state: 'completed', progress: { percent: 90, step: null } })
  })

  test('has a completion time as soon as work with an estimate starts', async () => {
    const w = await workspace()
    const task = await w.held({ estimatedDurationMinutes: 60 })
    expect((await w.read(task)).progress).toBeNull()
    await w.on(task, 'start', first)
    const { progress, startedAt } = await w.read(task)
    const estimatedCompletionAt = new Date(Date.parse(startedAt) + 3_600_000).toISOString()
    expect(progress).toEqual({ percent: null, step: null, estimatedCompletionAt, updatedAt: null })
  })

  test('with If-Match is accepted for that version alone, and returns the next', async () => {
    const w = await workspace()
    const task = await w.held()
    const { version } = await w.read(task)
    const stale = await patch(w, task, { ...first, percent: 1 }, { 'if-match': `"${version - 1}"` })
    expectRefusal(stale, 412, 'VERSION_MISMATCH', { currentVersion: version })
    expectRefusal(await patch(w, task, { ...first }, { 'if-match': 'yesterday' }), 412, 'VERSION_MISMATCH')
    const taken = await patch(w, task, { ...first, percent: 2 }, { 'if-match': `"${version}"` })
    expect(taken.status).toBe(200)
    expect(taken.headers.get('etag')).toBe(`"${taken.body.task.version}"`)
    expect(taken.body.task.version).toBeGreaterThan(version)
    expect(taken.headers.get('etag')).toBe(`"${(await w.read(task)).version}"`)
    expect((await patch(w, task, { ...first, percent: 3 }, { 'if-match': '*' })).status).toBe(200)
  })

  test('is for the holder alone, with PATCH as with POST', async () => {
    const w = await workspace()
    const task = await w.held()
    expectRefusal(await patch(w, task, fence('s-beta', 1)), 409, 'SESSION_MISMATCH')
    expectRefusal(await patch(w, task, fence('s-alpha', 2)), 409, 'FUTURE_GENERATION')
  })

  test.each<[string, Json, string]>([
    ['more than all of it', { percent: 101 }, 'percent'],
    ['less than nothing', { percent: -1 }, 'percent'],
    ['an end that is past', { estimatedCompletionAt: '2020-01-01T00:00:00Z' }, 'estimatedCompletionAt'],
    ['an end that is no time', { estimatedCompletionAt: 'soon' }, 'estimatedCompletionAt'],
    ['an unknown field', { progressPercent: 70 }, 'progressPercent'],
  ])('is refused: %s', async (_what, more, field) => {
    const w = await workspace()
    const task = await w.held()
    const before = await w.read(task)
    for (const answer of [
      await w.on(task, 'progress', { ...first, ...more }),
      await patch(w, task, { ...first, ...more }),
    ]) {
      expectRefusal(answer, 400, 'VALIDATION_FAILED')
      expect(answer.body.errors.map((error: { field: string }) => error.field)).toContain(field)
    }
    expect(await w.read(task)).toEqual(before)
  })
})

describe('the next holder of a task', () => {
  /** Released by alpha, with a checkpoint. */
  async function left(w: Workspace, more: Json = {}) {
    const task = await w.held(more)
    await w.on(task, 'progress', { ...first, checkpointData: { page: 3 } })
    await w.on(task, 'release', first)
    return task
  }
  const beta = { agent: 'beta', session: 's-beta' }

  test('gets what the previous one left, by every kind of claim', async () => {
    const w = await workspace()
    const claim = { generation: 2, attempt: 1, checkpointData: { page: 3 } }
    expect((await w.claim(await left(w), 'beta')).body).toMatchObject({ reason: 'GRANTED', claim })
    const [one, other] = [await left(w), await w.make()]
    const batch = await w.post('/claims/batch', { ...beta, taskIds: [other.id, one.id] })
    expect(batch.body.results).toMatchObject([
      { taskId: other.id, claim: { generation: 1, checkpointData: null } },
      { taskId: one.id, claim },
    ])
    const last = await left(w)
    const { claims } = await w.next(beta)
    expect(claims).toMatchObject([{ ...claim, taskId: last.id, task: { checkpointData: { page: 3 } } }])
  })

  test('gets nothing where nothing was left, and the first has no predecessor', async () => {
    const w = await workspace()
    const task = await w.make()
    expect((await w.claim(task)).body.claim.checkpointData).toBeNull()
    await w.on(task, 'release', first)
    expect((await w.claim(task, 'beta')).body.claim).toMatchObject({ generation: 2, checkpointData: null })
  })
})

describe('the time limits of a workspace', () => {
  test('are shown, changed and reset', async () => {
    const w = await workspace()
    const usual = {
      assignTimeoutSeconds: 120,
      stallTimeoutSeconds: null,
      verifyTimeoutSeconds: 180,
      hangGraceSeconds: 1_800,
      hangAbortSeconds: 600,
      queueOrder: 'priority',
    }
    expect((await w.call('GET', '/limits')).body).toMatchObject(usual)
    const other = {
      assignTimeoutSeconds: 1,
      stallTimeoutSeconds: 300,
      verifyTimeoutSeconds: 2,
      hangGraceSeconds: 0,
      hangAbortSeconds: 3,
      queueOrder: 'shortest_first',
    }
    expect(await w.call('PATCH', '/limits', other)).toMatchObject({ status: 200, body: other })
    expect((await w.call('GET', '/limits')).body).toMatchObject(other)
    const back = await w.call('PATCH', '/limits', { stallTimeoutSeconds: null })
    expect(back).toMatchObject({ status: 200, body: { ...other, stallTimeoutSeconds: null } })
  })

  test.each<[string, unknown]>([
    ['assignTimeoutSeconds', 0],
    ['assignTimeoutSeconds', null],
    ['stallTimeoutSeconds', 0],
    ['stallTimeoutSeconds', 86_401],
    ['verifyTimeoutSeconds', 0.5],
    ['hangGraceSeconds', -1],
    ['hangAbortSeconds', '600'],
    ['queueOrder', 'longest_first'],
  ])('refuse %s: %s', async (field, value) => {
    const w = await workspace()
    const before = (await w.call('GET', '/limits')).body
    const answer = await w.call('PATCH', '/limits', { [field]: value })
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toContain(field)
    expect((await w.call('GET', '/limits')).body).toEqual(before)
  })

  test('apply to every started task: a holder silent for longer loses it', async () => {
    const w = await workspace({ stallTimeoutSeconds: 1 })
    const [silent, waiting] = [await w.held(), await w.held()]
    await w.on(silent, 'start', first)
    await w.happens('task_stalled')
    expect((await w.read(silent)).state).toBe('awaiting_retry')
    expect((await w.read(waiting)).state, 'its lease lasts').toBe('assigned')
  })

  test('with shortest first, short work is assigned before long', async () => {
    const w = await workspace({ queueOrder: 'shortest_first' })
    const long = await w.make({ estimatedDurationMinutes: 60 })
    const short = await w.make({ estimatedDurationMinutes: 1 })
    const { claims } = await w.next({ limit: 2 })
    expect(claims.map(({ taskId }: { taskId: string }) => taskId)).toEqual([short.id, long.id])
  })
})
