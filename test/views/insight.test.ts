import { describe, expect, test } from 'vitest'
import { actOn, claimOne, makeMission, submit, take, tasksByTitle } from '../support/http-missions.ts'
import {
  expectRefusal,
  fence,
  inOneHour,
  type Json,
  useServer,
  type Workspace,
} from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'

/** Failures, durations, retries, bottlenecks and telemetry of a workspace. */

const { workspace } = useServer()
type Answer = Json & { items: Json[] }
const ask = async (w: Workspace, what: string, query = ''): Promise<Answer> => {
  const answer = await w.call('GET', `/${what}${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const fail = (w: Workspace, task: Json, generation: number, failureClass: string, agent = 'alpha') =>
  w.post(`/tasks/${task.id}/fail`, {
    ...fence(`s-${agent}`, generation),
    failureClass,
    error: `it was ${failureClass}`,
  })

/** A task that was held so often by this agent, each time but the last in vain, and how the last one ended. */
async function tried(w: Workspace, more: Json, times: number, end: 'completed' | 'failed', agent = 'alpha') {
  const task = await w.make(more)
  for (let generation = 1; generation <= times; generation++) {
    expect((await w.claim(task, agent)).body.reason).toBe('GRANTED')
    if (generation < times) {
      await fail(w, task, generation, 'infrastructure', agent)
      await w.on(task, 'retry')
    } else if (end === 'failed') await fail(w, task, generation, 'invalid', agent)
    else await submit(w, { taskId: task.id, generation }, agent)
  }
  return task as Json & { id: string }
}

/** All pages, one by one. */
async function pages(w: Workspace, what: string, query = '?limit=1'): Promise<Json[]> {
  const items: Json[] = []
  let cursor: unknown = null
  do {
    const page = await ask(w, what, `${query}${cursor === null ? '' : `&cursor=${cursor}`}`)
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null)
  return items
}

describe('failures', () => {
  test('are counted by why, and those of one cause are listed', async () => {
    const w = await workspace()
    await tried(w, { title: 'one' }, 3, 'completed')
    const two = await tried(w, { title: 'two' }, 1, 'failed')
    const judged = await w.make({ title: 'judged', verification: { kind: 'human' }, maxRetries: 0 })
    await w.claim(judged)
    await submit(w, { taskId: judged.id, generation: 1 }, 'alpha')
    await w.on(judged, 'reject', { reason: 'no' })
    const { items, isBounded, nextCursor } = await ask(w, 'insight/causes')
    expect(items).toMatchObject([
      { cause: 'infrastructure', failures: 2, tasks: 1, completed: 1 },
      { cause: 'invalid', failures: 1, tasks: 1, completed: 0 },
      { cause: 'rejected', failures: 1, tasks: 1, completed: 0 },
    ])
    expect([isBounded, nextCursor]).toEqual([false, null])
    const invalid = await ask(w, 'insight/failures', '?cause=invalid')
    expect(invalid.items).toMatchObject([{ taskId: two.id, cause: 'invalid' }])
    for (const { cause, failures } of items) {
      const listed = await pages(w, 'insight/failures', `?limit=1&cause=${cause}`)
      expect(listed.map((one) => one.cause)).toEqual(Array(failures as number).fill(cause))
    }
  })

  test('are listed newest first, with the task, the holder and what it failed with', async () => {
    const w = await workspace()
    const task = await tried(w, { title: 'Hard one', key: 'A-001-hard', taskType: 'coding' }, 2, 'failed')
    const { items, nextCursor, seq } = await ask(w, 'insight/failures')
    const names = {
      taskId: task.id,
      key: 'A-001-hard',
      title: 'Hard one',
      taskType: 'coding',
      agent: 'alpha',
    }
    expect(items).toMatchObject([
      { ...names, type: 'task_failed', generation: 2, failureClass: 'invalid', missionId: null },
      { ...names, type: 'task_retrying', generation: 1, failureClass: 'infrastructure' },
    ])
    expect(items[1]!.message).toContain('it was infrastructure')
    expect(nextCursor).toBeNull()
    expect(seq).toBe((await w.events()).at(-1).seq)
  })

  test('are filtered by agent, type and mission, and read page by page', async () => {
    const w = await workspace()
    await tried(w, { title: 'one', taskType: 'coding' }, 2, 'completed')
    await tried(w, { title: 'two', taskType: 'writing' }, 1, 'failed', 'beta')
    const mission = await makeMission(w, [{ tempId: 'three' }])
    const held = await take(w)
    await fail(w, { id: held.taskId }, 1, 'invalid')
    const titles = async (query: string) =>
      (await ask(w, 'insight/failures', query)).items.map(({ title }) => title)
    expect(await titles('')).toEqual(['three', 'two', 'one'])
    expect(await titles('?agent=beta')).toEqual(['two'])
    expect(await titles('?taskType=coding')).toEqual(['one'])
    expect(await titles(`?mission=${mission.id}`)).toEqual(['three'])
    expect((await ask(w, 'insight/failures', `?mission=${mission.id}`)).items).toMatchObject([
      { missionId: mission.id },
    ])
    expect((await pages(w, 'insight/failures')).map(({ title }) => title)).toEqual(['three', 'two', 'one'])
  })

  test('are those of the period: its begin belongs to it, its end does not', async () => {
    const w = await workspace()
    for (const title of ['one', 'two', 'three']) await tried(w, { title }, 1, 'failed')
    const all = (await ask(w, 'insight/failures')).items
    const [three, two, one] = all.map(({ at }) => String(at))
    const within = async (from: string, to: string) =>
      (await ask(w, 'insight/failures', `?from=${from}&to=${to}`)).items.map(({ title }) => title)
    const later = inOneHour()
    if (two !== one && three !== two) {
      expect(await within(two!, later)).toEqual(['three', 'two'])
      expect(await within(one!, three!)).toEqual(['two', 'one'])
    }
    expect(await within('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')).toEqual([])
    expect(await within('2020-01-01T00:00:00Z', later)).toEqual(['three', 'two', 'one'])
    const answer = await ask(w, 'insight/failures', '?to=2020-01-02T00:00:00Z')
    expect(answer).toMatchObject({ from: '2020-01-01T00:00:00.000Z', to: '2020-01-02T00:00:00.000Z' })
  })
})

describe('finished tasks', () => {
  test('have their durations by type, agent, mission and state', async () => {
    const w = await workspace()
    await tried(w, { taskType: 'coding' }, 1, 'completed')
    await tried(w, { taskType: 'coding' }, 3, 'completed')
    await tried(w, { taskType: 'writing' }, 2, 'failed', 'beta')
    const mission = await makeMission(w, [{ tempId: 'a', taskType: 'coding' }])
    await submit(w, await take(w))
    await w.make({ title: 'open' })
    const cancelled = await w.make({ taskType: 'idle' })
    await w.on(cancelled, 'cancel')
    const times = {
      average: expect.any(Number),
      median: expect.any(Number),
      p95: expect.any(Number),
      longest: expect.any(Number),
    }
    const { items } = await ask(w, 'insight/durations')
    const coding = { tasks: 3, completed: 3, failed: 0, retried: 1, completedAfterRetry: 1 }
    expect(items).toEqual([
      { name: 'coding', ...coding, waitMs: times, workMs: times },
      {
        ...{ name: 'idle', tasks: 1, completed: 0, failed: 0, retried: 0, completedAfterRetry: 0 },
        ...{ waitMs: null, workMs: null },
      },
      {
        ...{ name: 'writing', tasks: 1, completed: 0, failed: 1, retried: 1, completedAfterRetry: 0 },
        ...{ waitMs: times, workMs: times },
      },
    ])
    const names = async (query: string) =>
      (await ask(w, 'insight/durations', query)).items.map(({ name, tasks }) => [name, tasks])
    expect(await names('?by=agent')).toEqual([
      ['alpha', 3],
      ['beta', 1],
    ])
    expect(await names('?by=mission')).toEqual([[mission.id, 1]])
    expect(await names(`?mission=${mission.id}`)).toEqual([['coding', 1]])
    expect(await names('?agent=beta')).toEqual([['writing', 1]])
    expect(await names('?by=state&taskType=coding')).toEqual([['completed', 3]])
    expect((await pages(w, 'insight/durations')).map(({ name }) => name)).toEqual([
      'coding',
      'idle',
      'writing',
    ])
  })

  test('that were tried more than once are listed by their attempts, with how many of them succeeded', async () => {
    const w = await workspace()
    const thrice = await tried(w, { title: 'thrice' }, 3, 'completed')
    await tried(w, { title: 'once' }, 1, 'completed')
    await tried(w, { title: 'twice' }, 2, 'failed')
    const answer = await ask(w, 'insight/retries')
    expect(answer).toMatchObject({
      items: [
        { taskId: thrice.id, title: 'thrice', state: 'completed', attempts: 3 },
        { title: 'twice', state: 'failed', attempts: 2 },
      ],
      ...{ tasks: 3, retried: 2, completedAfterRetry: 1, isBounded: false },
    })
    expect((await pages(w, 'insight/retries')).map(({ title }) => title)).toEqual(['thrice', 'twice'])
    expect(await ask(w, 'insight/retries', '?agent=nobody')).toMatchObject({
      items: [],
      tasks: 0,
      retried: 0,
    })
  })

  test('that others depend on are bottlenecks, by the time from when they could begin', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [
      { tempId: 'a' },
      { tempId: 'b', dependsOn: ['a'] },
      { tempId: 'c', dependsOn: ['b'] },
      { tempId: 'd', dependsOn: ['b'] },
    ])
    const { a } = await tasksByTitle(w, mission)
    await submit(w, await take(w))
    await submit(w, await take(w))
    const items = (await ask(w, 'insight/bottlenecks')).items
    expect(items.map(({ title, blocks }) => `${title} ${blocks}`).sort()).toEqual(['a 1', 'b 2'])
    const [first, second] = items.map(({ delayMs }) => Number(delayMs))
    expect(first).toBeGreaterThanOrEqual(second!)
    const ended = (task: Json) => Date.parse(String(task.completedAt))
    const tasks = await tasksByTitle(w, mission)
    const b = items.find(({ title }) => title === 'b')!
    // Not from its creation: until then it waited for another.
    expect(b.delayMs).toBe(ended(tasks.b!) - ended(tasks.a!))
    expect(items.find(({ title }) => title === 'a')!.delayMs).toBe(
      ended(tasks.a!) - Date.parse(String(a!.createdAt)),
    )
    expect((await pages(w, 'insight/bottlenecks')).map(({ title }) => title)).toEqual(
      items.map(({ title }) => title),
    )
  })
})

describe('telemetry', () => {
  test('says which agents succeed at which types, and which retries helped', async () => {
    const w = await workspace()
    await tried(w, { taskType: 'coding' }, 2, 'completed')
    await tried(w, { taskType: 'coding' }, 2, 'failed')
    await tried(w, { taskType: 'writing' }, 1, 'completed', 'beta')
    expect(await ask(w, 'telemetry')).toMatchObject({
      agents: [
        {
          agent: 'alpha',
          taskType: 'coding',
          tasks: 2,
          completed: 1,
          failed: 1,
          successRate: 0.5,
          attempts: 2,
        },
        {
          agent: 'beta',
          taskType: 'writing',
          tasks: 1,
          completed: 1,
          failed: 0,
          successRate: 1,
          attempts: 1,
        },
      ],
      retries: [{ failureClass: 'infrastructure', retries: 2, tasks: 2, completed: 1, successRate: 0.5 }],
      models: [],
      estimates: { missions: 0, estimate: { costUsd: null } },
      isBounded: false,
    })
  })

  test('counts crashes by agent and type of error, and no failures of quality among them', async () => {
    const w = await workspace({ minLeaseSeconds: 1 })
    await tried(w, {}, 3, 'completed')
    const lost = await w.make()
    const lease = { agent: 'beta', session: 's-beta', leaseSeconds: 1 }
    expect((await w.on(lost, 'claim', lease)).status).toBe(200)
    await until(async () => (await w.read(lost)).state === 'awaiting_retry')
    const bad = await w.make()
    await w.claim(bad, 'alpha')
    await fail(w, bad, 1, 'quality')
    const counted = { tasks: 1, averageMs: expect.any(Number) }
    expect((await ask(w, 'telemetry')).crashes).toEqual([
      { agent: 'alpha', errorType: 'infrastructure', crashes: 2, completed: 1, successRate: 1, ...counted },
      { agent: 'beta', errorType: 'lease_expired', crashes: 1, completed: 0, successRate: 0, ...counted },
    ])
  })

  /** A task of a mission, judged by another agent; the number is the score. */
  async function judged(w: Workspace, verdict: string, score: number): Promise<{ id: string }> {
    await w.post('/claims/next', { agent: 'judge', session: 's-judge', purposes: ['verification'] })
    const mission = await makeMission(w, [{ tempId: 'a', verification: { kind: 'agent' } }], {
      config: { autonomy: 'approve' },
    })
    expect(await actOn(w, mission, 'approve')).toMatchObject({ status: 200 })
    const { a } = await until(async () => {
      const tasks = await tasksByTitle(w, mission)
      return tasks.a?.state === 'queued' && tasks
    })
    const held = await claimOne(w, a!)
    await submit(w, { taskId: a!.id, generation: held.generation })
    const claim = await until(async () => {
      const body = { agent: 'judge', session: 's-judge', purposes: ['verification'] }
      return (await w.post('/claims/next', body)).body.claims[0]
    })
    await submit(w, claim, 'judge', { verdict, score })
    await until(async () => (await w.read({ id: String(a!.id) })).state !== 'verifying')
    return { id: String(a!.id) }
  }

  test('says how often a person decided otherwise than the verifier', async () => {
    const w = await workspace()
    await judged(w, 'pass', 1)
    for (const [verdict, score, act, body] of [
      ['pass', 1, 'reset', {}],
      ['unsure', 0.5, 'approve', {}],
      ['unsure', 0.5, 'reject', { comment: 'no' }],
      ['fail', 0, 'complete', { result: 'by hand' }],
    ] as const)
      expect((await w.on(await judged(w, verdict, score), act, body)).status, `${verdict}, ${act}`).toBe(200)
    expect((await ask(w, 'telemetry')).verdicts).toEqual({
      ...{ passed: 2, passedOverruled: 1, failed: 1, failedOverruled: 1 },
      ...{ unsure: 2, unsureApproved: 1, unsureRejected: 1 },
    })
  })

  test('counts the results that did not pass, by who made them and who judged them', async () => {
    const w = await workspace()
    await judged(w, 'pass', 1)
    await judged(w, 'fail', 0)
    const other = await judged(w, 'fail', 0)
    expect((await w.on(other, 'complete', { result: 'by hand' })).status).toBe(200)
    expect((await ask(w, 'telemetry')).failedVerifications).toEqual([
      { agent: 'alpha', verifier: 'judge', failed: 2, tasks: 2, completed: 1, successRate: 0.5 },
    ])
  })

  test('compares the estimates of approved plans with what their missions used', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', estimatedTokens: 5_000 }])
    await submit(w, await take(w))
    await until(async () => (await w.call('GET', `/missions/${mission.id}`)).body.state === 'completed')
    expect((await ask(w, 'telemetry')).estimates).toMatchObject({
      ...{ missions: 1, estimate: { estimatedTokens: 5_000 }, tokensUsed: 0, costUsd: '0' },
    })
  })
})

describe('questions about a period', () => {
  const LISTS = ['failures', 'durations', 'retries', 'bottlenecks'].map((name) => `insight/${name}`)

  test.each([...LISTS, 'telemetry'])('%s: one that ends before it begins is refused', async (what) => {
    const w = await workspace()
    for (const [from, to] of [
      ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'],
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ])
      expectRefusal(await w.call('GET', `/${what}?from=${from}&to=${to}`), 400, 'VALIDATION_FAILED', {
        errors: [{ field: 'to', message: 'must be later than "from"' }],
      })
    for (const from of ['yesterday', '2026-13-01T00:00:00Z', '2026-01-01', ''])
      expectRefusal(await w.call('GET', `/${what}?from=${from}`), 400, 'VALIDATION_FAILED')
  })

  test.each(LISTS)(
    '%s: knows nothing of another workspace, nor of its missions and cursors',
    async (what) => {
      const [w, other] = [await workspace(), await workspace()]
      await tried(other, { title: 'one' }, 2, 'failed')
      const mission = await makeMission(other, [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }])
      await submit(other, await take(other))
      expect((await ask(other, what)).items.length).toBeGreaterThan(0)
      expect((await ask(w, what)).items).toEqual([])
      expect((await ask(w, what, `?mission=${mission.id}`)).items).toEqual([])
      const { nextCursor } = await ask(other, what, '?limit=1')
      if (nextCursor !== null) expect((await ask(w, what, `?cursor=${nextCursor}`)).items).toEqual([])
      for (const cursor of ['x', 'W10', 'eyJhIjoxfQ'])
        expectRefusal(await w.call('GET', `/${what}?cursor=${cursor}`), 400, 'VALIDATION_FAILED')
    },
  )
})

test('the slowest tasks come first, with how long they waited and worked', async () => {
  const w = await workspace()
  for (const title of ['one', 'two', 'three']) await tried(w, { title }, 1, 'completed')
  await w.on(await w.make({ title: 'never held' }), 'cancel')
  const { items } = await ask(w, 'insight/slowest')
  expect(items.map(({ title }) => title).sort()).toEqual(['one', 'three', 'two'])
  const times = items.map(({ workMs }) => workMs as number)
  expect(times).toEqual([...times].sort((a, b) => b - a))
  expect(items[0]).toMatchObject({ agent: 'alpha', state: 'completed', waitMs: expect.any(Number) })
  expect(await pages(w, 'insight/slowest')).toEqual(items)
})
