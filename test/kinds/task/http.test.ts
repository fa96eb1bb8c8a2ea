import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  fence,
  inState,
  type Json,
  type ReachableState,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'

/** What happens to tasks, as a client sees it: by their holders, by operators and by their dependencies. */

const { workspace } = useServer()
const first = fence('s-alpha', 1)

describe('a holder', () => {
  test('starts, reports, leaves a checkpoint and releases; the next one gets the checkpoint', async () => {
    const w = await workspace()
    const task = await w.held()
    const started = await w.on(task, 'start', first)
    expect(started).toMatchObject({ status: 200, body: { reason: 'STARTED', task: { state: 'running' } } })
    expect((await w.on(task, 'start', first)).body.reason, 'repeated, it is no error').toBe('STARTED')
    const checkpointData = { page: 3, ключ: ['😀', null, 0.5] }
    const noted = await w.on(task, 'progress', { ...first, percent: 40, step: 'reading', checkpointData })
    expect(noted.body).toMatchObject({ reason: 'NOTED', task: { state: 'running' } })
    const released = await w.on(task, 'release', { ...first, reason: 'lunch' })
    expect(released.body).toMatchObject({
      reason: 'RELEASED',
      task: { state: 'queued', attempt: 0, generation: 1 },
    })
    await w.claim(task, 'beta')
    expect(await w.read(task)).toMatchObject({
      generation: 2,
      attempt: 1,
      // What was done can be taken up, but what was reported is not the new holder's.
      progress: null,
      checkpointData,
      holder: { agent: 'beta', session: 's-beta', generation: 2 },
    })
    expect((await w.read(task, '/claims')).items).toMatchObject([
      { generation: 1, agent: 'alpha', state: 'released', releaseReason: 'VOLUNTARY' },
      { generation: 2, agent: 'beta', state: 'active', releasedAt: null },
    ])
  })

  test('may report any percentage between 0 and 100, however small', async () => {
    const w = await workspace()
    const task = await w.held()
    for (const percent of [0, 1e-50, Number.MIN_VALUE, 99.99, 100])
      expect((await w.on(task, 'progress', { ...first, percent })).status, String(percent)).toBe(200)
  })

  test('may continue ten times within one attempt and no more', async () => {
    const w = await workspace()
    const task = await w.held()
    for (let turn = 1; turn <= 10; turn++) {
      const more = await w.on(task, 'continue', first)
      expect(more.body).toMatchObject({
        reason: 'CONTINUING',
        resumeAfterMs: 1000,
        task: { state: 'continuing' },
      })
      expect((await w.on(task, 'start', first)).body.task).toMatchObject({
        state: 'running',
        continuations: turn,
      })
    }
    expectRefusal(await w.on(task, 'continue', first), 409, 'CONTINUATION_LIMIT')
    const done = await w.on(task, 'submit', { ...first, result: 1 })
    expect(done.body.task).toMatchObject({ state: 'completed', attempt: 1, generation: 1, continuations: 10 })
  })

  test('may continue as often as the task allows, and from the next claim on as often again', async () => {
    const w = await workspace()
    const task = await w.held({ maxContinuations: 1 })
    expect(task).toMatchObject({ maxContinuations: 1, continuations: 0 })
    await w.on(task, 'continue', first)
    await w.on(task, 'start', first)
    expectRefusal(await w.on(task, 'continue', first), 409, 'CONTINUATION_LIMIT')
    await w.on(task, 'release', first)
    expect(await w.read(task)).toMatchObject({ state: 'queued', continuations: 1 })
    await w.claim(task)
    expect(await w.read(task)).toMatchObject({ generation: 2, continuations: 0, maxContinuations: 1 })
    expect((await w.on(task, 'continue', fence('s-alpha', 2))).body.reason).toBe('CONTINUING')
  })

  test.each([-1, 1_001, 1.5, '3', null])(
    'a limit of continuations cannot be %j',
    async (maxContinuations) => {
      const w = await workspace()
      const asked = { title: 'Fix login', maxContinuations }
      expectRefusal(await w.post('/tasks', asked), 400, 'VALIDATION_FAILED')
      const task = await w.make()
      expect(task.maxContinuations).toBe(10)
      expectRefusal(
        await w.call('PATCH', `/tasks/${task.id}`, { maxContinuations }),
        400,
        'VALIDATION_FAILED',
      )
      expect(await w.read(task)).toMatchObject({ maxContinuations: 10, version: 1 })
    },
  )

  const FATES: [failureClass: string, task: Json, claim: string][] = [
    ['infrastructure', { state: 'awaiting_retry', stateType: 'pending', attempt: 1 }, 'error'],
    ['quality', { state: 'awaiting_retry', stateType: 'pending', attempt: 1 }, 'error'],
    ['rate_limited', { state: 'awaiting_retry', stateType: 'pending', attempt: 0 }, 'error'],
    ['invalid', { state: 'failed', stateType: 'terminal', dueAt: null }, 'error'],
    ['budget', { state: 'budget_exceeded', stateType: 'paused', dueAt: null }, 'released'],
    ['human', { state: 'awaiting_human', stateType: 'paused', dueAt: null }, 'released'],
    ['dependency', { state: 'skipped', stateType: 'terminal', dueAt: null }, 'error'],
    ['cancelled', { state: 'cancelled', stateType: 'terminal', dueAt: null }, 'error'],
  ]
  test.each(FATES)(
    'that fails with class %s leaves the task as the class says',
    async (failureClass, fate, claim) => {
      const w = await workspace()
      const task = await w.held()
      const failed = await w.on(task, 'fail', { ...first, failureClass, error: 'it broke' })
      expect(failed).toMatchObject({
        status: 200,
        body: { reason: 'FAILED', task: { ...fate, holder: null } },
      })
      expect((await w.read(task, '/claims')).items).toMatchObject([{ generation: 1, state: claim }])
      expectRefusal(await w.on(task, 'renew', first), 409, 'NO_CLAIM')
      expect(JSON.stringify(await w.events())).toContain('it broke')
    },
  )

  test('that fails waits longer each time, until its attempts are spent', async () => {
    const w = await workspace()
    const task = await w.make({ maxRetries: 2 })
    const waits: number[] = []
    for (let generation = 1; generation <= 2; generation++) {
      expect((await w.claim(task)).body.reason).toBe('GRANTED')
      const { body } = await w.on(task, 'fail', fence('s-alpha', generation))
      expect(body.task.state).toBe('awaiting_retry')
      waits.push((await w.events()).findLast(({ type }: Json) => type === 'task_retrying').payload.waitMs)
      // An early claim now would be refused; a retry at a given time is the client's to choose.
      expectRefusal(await w.claim(task), 409, 'NOT_READY', { dueAt: body.task.dueAt })
      await w.on(task, 'pause')
      await w.on(task, 'resume')
    }
    expect(waits).toEqual([10_000, 20_000])
    await w.claim(task)
    expect((await w.on(task, 'fail', fence('s-alpha', 3))).body.task).toMatchObject({
      state: 'failed',
      attempt: 3,
    })
  })

  test('that is rate limited names the time of the next attempt, and spends none', async () => {
    const w = await workspace()
    const task = await w.held({ maxRetries: 0 })
    const retryAt = new Date(Date.now() + 7_200_000).toISOString()
    const parked = await w.on(task, 'fail', { ...first, failureClass: 'rate_limited', retryAt })
    expect(parked.body.task).toMatchObject({ state: 'awaiting_retry', attempt: 0, dueAt: retryAt })
  })
})

describe('an operator', () => {
  const held = ['assigned', 'running', 'continuing'] as const
  const waiting = ['pending', 'queued', 'awaiting_retry'] as const
  const terminal = ['completed', 'failed', 'cancelled', 'skipped'] as const
  const ACTS: [act: string, to: string | null, from: readonly ReachableState[]][] = [
    [
      'cancel',
      'cancelled',
      [...waiting, ...held, 'awaiting_human', 'paused', 'budget_exceeded', 'cancelled'],
    ],
    ['pause', 'paused', [...waiting, ...held, 'paused']],
    ['resume', 'queued', ['paused', 'budget_exceeded']],
    ['retry', 'queued', ['failed', 'awaiting_retry', 'awaiting_human']],
    ['reset', 'queued', terminal],
    ['archive', null, terminal],
    ['approve', 'completed', ['awaiting_human']],
    ['reject', 'awaiting_retry', ['awaiting_human']],
  ]
  // One of the others will do: automatos-acceptance has all of them (AC-17).
  test.each(ACTS)(
    'can %s a task (to %s) from the right states; others say WRONG_STATE',
    async (act, to, from) => {
      const w = await workspace()
      const wrong = (Object.keys(inState) as ReachableState[]).find((state) => !from.includes(state))!
      for (const state of [...from, wrong]) {
        const task = await inState[state](w)
        const before = await w.read(task)
        expect(before.state).toBe(state)
        const answer = await w.on(task, act, { reason: 'because' })
        if (from.includes(state)) {
          expect(answer, `${act} when ${state}`).toMatchObject({ status: 200, body: { state: to ?? state } })
          const after = await w.read(task)
          // A rejected task is due at once: Baton may have queued it between the two.
          const isLater = act === 'reject' && after.version > answer.body.version
          if (!isLater) expect(after, 'the answer is the task').toMatchObject(answer.body)
          expect(answer.body.generation, 'the generation never falls').toBe(before.generation)
          expect(answer.body.holder).toBeNull()
        } else {
          expectRefusal(answer, 409, 'WRONG_STATE')
          expect(await w.read(task)).toEqual(before)
        }
      }
    },
  )

  test.each(['cancel', 'pause'])(
    'that does %s revokes the task from its holder, which learns it at its next write',
    async (act) => {
      const w = await workspace()
      const task = await w.held()
      await w.on(task, act)
      expectRefusal(await w.on(task, 'renew', first), 409, 'NO_CLAIM')
      const lost = await w.on(task, 'submit', { ...first, result: 'in vain' })
      expectRefusal(lost, 409, 'NO_CLAIM', { workLost: true })
      expect((await w.read(task, '/claims')).items).toMatchObject([
        { state: 'superseded', resultAccepted: false },
      ])
    },
  )

  test('that resets a completed task opens a new epoch; the generation continues and old work stays old', async () => {
    const w = await workspace()
    const task = await inState.completed(w)
    expect((await w.on(task, 'reset')).body).toMatchObject({
      state: 'queued',
      epoch: 2,
      generation: 1,
      attempt: 0,
    })
    expectRefusal(await w.on(task, 'submit', { ...first, result: 1 }), 409, 'NO_CLAIM')
    expect((await w.claim(task, 'beta')).body.claim.generation).toBe(2)
    expectRefusal(await w.on(task, 'submit', { ...first, result: 1 }), 409, 'STALE_GENERATION')
    expect((await w.on(task, 'submit', { ...fence('s-beta', 2), result: 2 })).body.reason).toBe('ACCEPTED')
    const results = (await w.read(task, '/results')).items
    expect(results.filter(({ accepted }: Json) => accepted)).toMatchObject([{ epoch: 1 }, { epoch: 2 }])
  })

  test('that judges a result accepts or rejects it on record; there must be one to approve', async () => {
    const w = await workspace()
    const [good, bad] = [await inState.awaiting_human(w), await inState.awaiting_human(w)]
    expect((await w.read(good, '/results')).items).toMatchObject([{ accepted: null }])
    await w.on(good, 'approve', { comment: 'well done' })
    await w.on(bad, 'reject', { comment: 'no tests' })
    expect((await w.read(good, '/results')).items).toMatchObject([{ accepted: true }])
    expect((await w.read(bad, '/results')).items).toMatchObject([
      { accepted: false, rejectionReason: 'HUMAN_REJECTED' },
    ])
    const asking = await w.held()
    await w.on(asking, 'fail', { ...first, failureClass: 'human', error: 'Which colour?' })
    expectRefusal(await w.on(asking, 'approve'), 409, 'WRONG_STATE')
  })

  test('that reserves a held task for another agent revokes it from its holder', async () => {
    const w = await workspace()
    const task = await w.held()
    const moved = await w.call('PATCH', `/tasks/${task.id}`, { agent: 'beta' })
    expect(moved.body).toMatchObject({ state: 'queued', agent: 'beta', holder: null, attempt: 0 })
    expectRefusal(await w.on(task, 'renew', first), 409, 'NO_CLAIM')
    expectRefusal(await w.claim(task), 409, 'WRONG_AGENT')
  })

  test('that changes a task names the version it read; the second of two is VERSION_MISMATCH', async () => {
    const w = await workspace()
    const task = await w.make()
    const path = `/tasks/${task.id}`
    const etag = (await w.call('GET', path)).headers.get('etag')!
    expect(etag).toBe('"1"')
    const change = (title: string) => w.call('PATCH', path, { title }, { 'if-match': etag })
    const answers = await Promise.all(['one', 'two', 'three'].map(change))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412])
    const refused = answers.find(({ status }) => status === 412)!
    expectRefusal(refused, 412, 'VERSION_MISMATCH', { currentVersion: 2 })
    const winner = answers.find(({ status }) => status === 200)!
    expect([winner.body.version, winner.headers.get('etag')]).toEqual([2, '"2"'])
    expect((await w.read(task)).title).toBe(winner.body.title)
    expect(
      (await w.call('PATCH', path, { priority: 10, tags: ['NULL', '{"a"}', 'ü'] }, { 'if-match': '*' })).body,
    ).toMatchObject({
      priority: 10,
      tags: ['NULL', '{"a"}', 'ü'],
      version: 3,
    })
  })
})

describe('a task with dependencies', () => {
  const ENDED = ['completed', 'failed', 'cancelled', 'skipped'] as const
  const RULES: [rule: string, fates: string[]][] = [
    ['all_success', ['queued', 'skipped', 'skipped', 'skipped']],
    ['all_done', ['queued', 'queued', 'queued', 'queued']],
    ['none_failed', ['queued', 'skipped', 'queued', 'queued']],
    ['always', ['queued', 'queued', 'queued', 'queued']],
    ['one_success', ['queued', 'skipped', 'skipped', 'skipped']],
  ]
  const END: Record<(typeof ENDED)[number], (w: Workspace, task: Task) => Promise<unknown>> = {
    completed: (w, task) => w.on(task, 'submit', { ...first, result: 1 }),
    failed: (w, task) => w.on(task, 'fail', { ...first, failureClass: 'invalid' }),
    cancelled: (w, task) => w.on(task, 'cancel'),
    skipped: (w, task) => w.on(task, 'fail', { ...first, failureClass: 'dependency' }),
  }
  test.each(RULES)(
    'under %s continues or is skipped as the rule says, waiting before or created after',
    async (triggerRule, fates) => {
      const w = await workspace()
      for (const [i, end] of ENDED.entries()) {
        const upstream = await w.held()
        const create = () => w.make({ dependsOn: [upstream.id], triggerRule })
        const waiting = await create()
        expect(waiting.state).toBe(triggerRule === 'always' ? 'queued' : 'pending')
        expect(waiting.dependsOn).toEqual([upstream.id])
        await END[end](w, upstream)
        await w.reaches(waiting, fates[i]!)
        expect((await create()).state, `created after it was ${end}`).toBe(fates[i])
        expect((await w.read(waiting, '/dependencies')).items).toMatchObject([
          { taskId: upstream.id, state: end, triggerRule, kind: 'data', key: null, title: 'Fix login' },
        ])
      }
    },
  )

  test('waits for the last of several, and a cancelled first one skips the whole chain', async () => {
    const w = await workspace()
    const [a, b] = [await w.held(), await w.held()]
    const both = await w.make({ dependsOn: [a.id, b.id] })
    const chain: Task[] = [a]
    for (let i = 0; i < 5; i++) chain.push(await w.make({ dependsOn: [chain.at(-1)!.id] }))
    const cleanUp = await w.make({ dependsOn: chain.map(({ id }) => id), triggerRule: 'all_done' })
    await END.completed(w, b)
    expectRefusal(await w.claim(both), 409, 'NOT_READY', { taskState: 'pending' })
    await w.on(a, 'cancel')
    for (const task of [both, ...chain.slice(1)]) await w.reaches(task, 'skipped')
    await w.reaches(cleanUp, 'queued')
    expect((await w.events()).filter(({ type }: Json) => type === 'task_skipped')).toHaveLength(6)
    expectRefusal(await w.claim(chain[3]!), 409, 'NOT_READY', { taskState: 'skipped' })
  })
})

describe('a queued task says who may claim it', () => {
  const eligibleFor = async (w: Workspace, task: Task) => (await w.read(task)).eligible

  test('agents with its capabilities that take more than reserved tasks, those at work first, and how many workers', async () => {
    const w = await workspace()
    for (const [slug, capabilities] of [
      ['dev-1', ['python']],
      ['dev-2', ['python', 'rust']],
      ['dev-3', []],
    ] as const)
      expect((await w.call('PUT', `/agents/${slug}`, { capabilities })).status).toBe(201)
    const reserved = { capabilities: ['python'], runtimeConfig: { reservedOnly: true } }
    expect((await w.call('PUT', '/agents/dev-4', reserved)).status).toBe(201)
    expect((await w.post('/agents/dev-1/pause')).status).toBe(200)
    const task = await w.make({ requiredCapabilities: ['python'] })
    const { agents, workers } = await eligibleFor(w, task)
    expect(agents).toMatchObject([{ slug: 'dev-2' }, { slug: 'dev-1', state: 'paused' }])
    expect(workers).toBe(0)
  })

  test('the one it is for, and nobody once it is held', async () => {
    const w = await workspace()
    expect((await w.call('PUT', '/agents/alpha', {})).status).toBe(201)
    const task = await w.make({ agent: 'alpha' })
    expect(await eligibleFor(w, task)).toMatchObject({
      agents: [{ slug: 'alpha', leaving: false }],
      workers: 0,
    })
    expect((await w.claim(task, 'alpha')).body.reason).toBe('GRANTED')
    expect(await eligibleFor(w, task)).toBe(null)
  })
})
