import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { FULL_AUTO, failForGood, makeMission, submit, take } from '../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../support/http-workspace.ts'

/** What waits for a person: one list over tasks, missions and agents, and the decisions that are made from it. */

const { workspace } = useServer()
const first = fence('s-alpha', 1)
const PLAN = { tasks: [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }] }
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers as a client would
type Seen = any

const inbox = async (w: Workspace, query = ''): Promise<Seen> => {
  const answer = await w.call('GET', `/inbox${query}`)
  expect(answer).toMatchObject({ status: 200 })
  if (query === '') await matchesEvents(w, answer.body)
  return answer.body
}

/** The inbox is what its events say. */
async function matchesEvents(w: Workspace, { items, seq }: Seen): Promise<void> {
  const told = new Map<string, Seen>()
  for (const event of (await w.events()) as Seen[]) {
    const { type, payload } = event
    if (event.seq > seq) break
    if (type === 'inbox_added') told.set(payload.item.id, payload.item)
    if (type === 'inbox_closed') expect(told.delete(payload.id), `${payload.id} was added before`).toBe(true)
  }
  const known = ({ id, kind, reason, generation, digest }: Seen) => ({ id, kind, reason, generation, digest })
  const byId = (a: Seen, b: Seen) => a.id.localeCompare(b.id)
  expect([...told.values()].map(known).sort(byId)).toEqual(items.map(known).sort(byId))
}
const kinds = ({ items }: Seen) => items.map(({ kind }: Seen) => kind)
const decide = (w: Workspace, { id }: Seen, decision: string, more: Json = {}) =>
  w.post(`/inbox/${id}/answer`, { decision, ...more })
const only = async (w: Workspace): Promise<Seen> => {
  const { items } = await inbox(w)
  expect(items).toHaveLength(1)
  return items[0]
}

async function asking(w: Workspace, more: Json = {}) {
  const task = await w.held(more)
  await w.on(task, 'ask', { ...first, question: 'Which?', options: ['this', 'that'] })
  return task
}
async function reviewed(w: Workspace, more: Json = {}) {
  const task = await w.held({ verification: { kind: 'human' }, ...more })
  await w.on(task, 'submit', { ...first, result: { n: 1 }, summary: 'Login works' })
  return task
}
async function dead(w: Workspace) {
  const task = await w.held({ maxRetries: 0 })
  await w.on(task, 'fail', { ...first, failureClass: 'quality', error: 'wrong' })
  return task
}
async function overBudget(w: Workspace) {
  const task = await w.held()
  await w.on(task, 'fail', { ...first, failureClass: 'budget', error: 'no money left' })
  return task
}
const planned = async (w: Workspace, more: Json = {}): Promise<Seen> =>
  (await w.post('/missions', { goal: 'Make it work', plan: PLAN, ...more })).body
/** An agent that Baton runs, whose program does not exist. */
async function broken(w: Workspace) {
  const adapterConfig = { command: '/no/such/program' }
  await w.call('PUT', '/agents/broken', { adapterType: 'process', adapterConfig })
  await w.post('/agents/broken/wakeup')
  await w.happens('agent_faulted')
}

describe('the inbox', () => {
  test('is empty where nothing waits for a person', async () => {
    const w = await workspace()
    await w.held()
    const { items, counts, nextCursor, seq } = await inbox(w)
    expect([items, nextCursor]).toEqual([[], null])
    expect(counts).toEqual({
      plan: 0,
      question: 0,
      review: 0,
      budget: 0,
      dead_letter: 0,
      agent: 0,
      alert: 0,
      outcome: 0,
      finished: 0,
    })
    expect(seq).toBe((await w.events()).at(-1).seq)
  })

  test('has one item for each thing that waits, oldest first, with what may be done', async () => {
    const w = await workspace()
    const question = await asking(w)
    const review = await reviewed(w)
    const budget = await overBudget(w)
    const letter = await dead(w)
    const mission = await planned(w)
    await broken(w)
    const alert = await w.make({ title: 'Nobody can', requiredCapabilities: ['cobol'] })
    const gone = await w.make({ agent: 'nobody' })
    const seen = await inbox(w)
    expect(seen.items).toMatchObject([
      {
        id: `task:${question.id}:1`,
        kind: 'question',
        title: 'Fix login',
        about: { taskId: question.id, missionId: null, agent: 'alpha' },
        reason: 'question',
        askedBy: 'alpha',
        preview: 'Which?',
        expiresAt: null,
        generation: 1,
        digest: null,
        actions: ['answer', 'skip', 'cancel'],
      },
      {
        id: `task:${review.id}:1`,
        kind: 'review',
        preview: 'Login works',
        digest: (await w.read(review)).resultDigest,
        actions: ['approve', 'reject', 'fail', 'skip', 'cancel'],
      },
      { kind: 'budget', about: { taskId: budget.id }, actions: ['raise', 'resume', 'skip', 'cancel'] },
      { kind: 'dead_letter', about: { taskId: letter.id }, reason: 'wrong', actions: ['retry', 'archive'] },
      {
        id: `plan:${mission.id}:1`,
        kind: 'plan',
        about: { taskId: null, missionId: mission.id },
        generation: 1,
        digest: mission.planDigest,
        blocks: 2,
        actions: ['approve', 'reject', 'replan', 'cancel'],
      },
      {
        id: 'agent:broken',
        kind: 'agent',
        about: { agent: 'broken' },
        actions: ['resume', 'pause', 'terminate'],
      },
      {
        id: `alert:${alert.id}`,
        kind: 'alert',
        title: 'Nobody can',
        reason: 'no agent has cobol',
        blocks: 1,
        actions: ['skip', 'cancel'],
      },
      {
        id: `alert:${gone.id}`,
        kind: 'alert',
        reason: 'nobody is not there',
        actions: ['release', 'skip', 'cancel'],
      },
    ])
    const since = seen.items.map((item: Seen) => Date.parse(item.since))
    expect(since).toEqual(since.toSorted((a: number, b: number) => a - b))
    expect(seen.counts).toEqual({
      ...{
        plan: 1,
        question: 1,
        review: 1,
        budget: 1,
        dead_letter: 1,
        outcome: 0,
        agent: 1,
        alert: 2,
        finished: 0,
      },
    })
    for (const [kind, count] of Object.entries(seen.counts))
      expect(new Set(kinds(await inbox(w, `?kind=${kind}`)))).toEqual(new Set(count === 0 ? [] : [kind]))
    expect(await inbox(w, '?kind=plan')).toMatchObject({ counts: seen.counts })
  })

  test('is read page by page in both orders, without missing or repeating an item', async () => {
    const w = await workspace()
    for (let i = 0; i < 4; i++) await asking(w, { title: `question ${i}` })
    for (let i = 0; i < 3; i++) await planned(w, { title: `mission ${i}` })
    await w.make({ requiredCapabilities: ['cobol'] })
    const blocking = await reviewed(w)
    for (let i = 0; i < 3; i++) await w.make({ dependsOn: [blocking.id] })
    for (const sort of ['oldest', 'blocks']) {
      const whole = (await inbox(w, `?sort=${sort}`)).items.map(({ id }: Seen) => id)
      expect(whole).toHaveLength(9)
      const found: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: Seen = await inbox(w, `?sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`)
        found.push(...page.items.map(({ id }: Seen) => id))
        cursor = page.nextCursor
      }
      expect(found).toEqual(whole)
    }
    const [most] = (await inbox(w, '?sort=blocks')).items
    expect(most).toMatchObject({ about: { taskId: blocking.id }, blocks: 3 })
    expect((await inbox(w)).items[0]).toMatchObject({ title: 'question 0' })
  })

  test('of one mission has what waits in it', async () => {
    const w = await workspace()
    await asking(w)
    const plan = {
      tasks: [
        { tempId: 'a', verification: { kind: 'human' } },
        { tempId: 'b', dependsOn: ['a'] },
      ],
    }
    const mission = await planned(w, { plan, config: { autonomy: 'full_auto' } })
    const other = await planned(w)
    const { claims } = await w.next()
    await w.on({ id: claims[0].taskId }, 'submit', { ...first, result: 1 })
    expect(await inbox(w, `?mission=${mission.id}`)).toMatchObject({
      items: [{ kind: 'review', about: { missionId: mission.id, taskId: claims[0].taskId }, blocks: 1 }],
      counts: { review: 1, question: 0, plan: 0 },
    })
    expect(kinds(await inbox(w, `?mission=${other.id}`))).toEqual(['plan'])
    expect(kinds(await inbox(w, `?mission=${randomUUID()}`))).toEqual([])
  })

  test('belongs to one workspace', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const task = await asking(w)
    expect((await inbox(other)).items).toEqual([])
    expectRefusal(await other.call('GET', `/inbox/task:${task.id}:1`), 404, 'NOT_FOUND')
    expectRefusal(await decide(other, { id: `task:${task.id}:1` }, 'cancel'), 404, 'NOT_FOUND')
  })

  test('raises no alert for a task that an agent, a worker or anybody can take', async () => {
    const w = await workspace()
    await w.make()
    await w.make({ requiredCapabilities: ['cobol'] })
    await w.make({ agent: 'beta' })
    expect((await inbox(w)).counts.alert).toBe(2)
    await w.post('/workers', { worker: 'w-1', capacity: 1, capabilities: ['cobol', 'sql'] })
    await w.call('PUT', '/agents/beta', {})
    expect((await inbox(w)).counts.alert).toBe(0)
    await w.post('/agents/beta/terminate', { graceful: false })
    expect((await inbox(w)).counts.alert).toBe(1)
  })
})

describe('an item', () => {
  test('shows everything that is needed to decide', async () => {
    const w = await workspace()
    const question = await asking(w)
    expect((await w.call('GET', `/inbox/task:${question.id}:1`)).body).toMatchObject({
      kind: 'question',
      task: { id: question.id, question: { question: 'Which?', options: ['this', 'that'] } },
    })
    const review = await reviewed(w)
    expect((await w.call('GET', `/inbox/task:${review.id}:1`)).body).toMatchObject({
      summary: 'Login works',
      workProductRef: expect.stringContaining('gen1'),
      results: [{ accepted: null, summary: 'Login works' }],
    })
    const mission = await planned(w, { config: { budget: { maxUsd: '2.00' } } })
    expect((await w.call('GET', `/inbox/plan:${mission.id}:1`)).body).toMatchObject({
      mission: { goal: 'Make it work' },
      plan: { version: 1, digest: mission.planDigest, taskCount: 2, plan: null },
      ...{ budget: { maxUsd: '2.00' }, spent: { costUsd: '0' } },
    })
    const alert = await w.make({ requiredCapabilities: ['cobol'] })
    expect((await w.call('GET', `/inbox/alert:${alert.id}`)).body).toMatchObject({
      needs: { agent: null, capabilities: ['cobol'] },
    })
  })

  test.each([
    'nonsense',
    'task:1:2',
    `task:${randomUUID()}:1`,
    `plan:${randomUUID()}:1`,
    `budget:${randomUUID()}`,
    'agent:nobody',
    `alert:${randomUUID()}`,
  ])('%s is not there', async (id) => {
    const w = await workspace()
    expectRefusal(await w.call('GET', `/inbox/${id}`), 404, 'NOT_FOUND')
    expectRefusal(await decide(w, { id }, 'cancel'), 404, 'NOT_FOUND')
  })

  test('that was decided is not there any more', async () => {
    const w = await workspace()
    const task = await asking(w)
    await w.on(task, 'answer', { answer: 'this' })
    expectRefusal(await w.call('GET', `/inbox/task:${task.id}:1`), 404, 'NOT_FOUND')
  })
})

describe('a decision', () => {
  test('answers a question', async () => {
    const w = await workspace()
    const task = await asking(w)
    const item = await only(w)
    expectRefusal(await decide(w, item, 'answer'), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'answer', message: 'is missing' }],
    })
    expectRefusal(await decide(w, item, 'answer', { answer: 'neither' }), 400, 'VALIDATION_FAILED')
    expect(await decide(w, item, 'answer', { answer: 'that', generation: 1 })).toMatchObject({
      status: 200,
      body: { id: item.id, decision: 'answer', about: { taskId: task.id }, state: 'queued' },
    })
    expect(await w.read(task)).toMatchObject({ question: { answer: 'that' } })
    expect((await inbox(w)).items).toEqual([])
  })

  test.each([
    ['approve', 'completed'],
    ['reject', 'awaiting_retry'],
    ['fail', 'failed'],
    ['skip', 'skipped'],
    ['cancel', 'cancelled'],
  ])('"%s" on a result leaves its task %s', async (decision, state) => {
    const w = await workspace()
    const task = await reviewed(w)
    const item = await only(w)
    const { generation, digest } = item
    const comment = 'because'
    expect(await decide(w, item, decision, { generation, digest, comment })).toMatchObject({
      status: 200,
      body: { state },
    })
    // What is to be done again is due at once.
    const states = state === 'awaiting_retry' ? [state, 'queued'] : [state]
    const left = await w.read(task)
    expect([states.includes(left.state), left.awaits], left.state).toEqual([true, null])
  })

  test('resumes what ran out of budget, and retries or archives dead letters', async () => {
    const w = await workspace()
    await overBudget(w)
    expect(await decide(w, await only(w), 'resume')).toMatchObject({ body: { state: 'queued' } })
    await w.next()
    const [one, other] = [await dead(w), await dead(w)]
    expect(await decide(w, { id: `task:${one.id}:1` }, 'retry')).toMatchObject({ body: { state: 'queued' } })
    expect(await decide(w, { id: `task:${other.id}:1` }, 'archive')).toMatchObject({
      body: { state: 'failed' },
    })
    expect((await inbox(w)).items).toEqual([])
  })

  test('answers several items at once, each bound to what was seen of it', async () => {
    const w = await workspace()
    const [one, other, third] = [await reviewed(w), await reviewed(w), await asking(w)]
    const { items } = await inbox(w)
    const seen = items.map(({ id, generation, digest }: Seen) => ({
      ...{ id, generation },
      ...(digest && { digest }),
    }))
    seen[1].digest = 'f'.repeat(64)
    const body = { items: [...seen, { id: 'nonsense' }], decision: 'approve', comment: 'Well done.' }
    const key = { 'idempotency-key': randomUUID() }
    const answer = await w.post('/inbox/answer', body, key)
    expect(answer).toMatchObject({ status: 200, body: { done: 1 } })
    expect(answer.body.items).toMatchObject([
      { id: `task:${one.id}:1`, done: true, state: 'completed', code: null },
      { id: `task:${other.id}:1`, done: false, state: null, code: 'CHANGED_SINCE' },
      { id: `task:${third.id}:1`, done: false, code: 'VALIDATION_FAILED' },
      { id: 'nonsense', done: false, code: 'NOT_FOUND' },
    ])
    expect((await w.post('/inbox/answer', body, key)).body.items[0]).toMatchObject({ done: true })
    const { items: said } = (await w.call('GET', `/tasks/${one.id}/comments`)).body
    expect(said).toMatchObject([{ text: 'Well done.' }])
    expect((await inbox(w)).items.map(({ id }: Seen) => id)).toEqual([
      `task:${other.id}:1`,
      `task:${third.id}:1`,
    ])
    const twice = { items: [{ id: 'a' }, { id: 'a' }], decision: 'approve' }
    expectRefusal(await w.post('/inbox/answer', twice), 400, 'VALIDATION_FAILED')
  })

  test('raises the budget of a task that has spent it', async () => {
    const w = await workspace()
    const task = await w.held({ budget: { maxTokens: 500 } })
    await w.on(task, 'fail', { ...first, failureClass: 'budget', error: 'no money left' })
    const item = await only(w)
    const { budget: before, spent } = (await w.call('GET', `/inbox/${item.id}`)).body
    expect({ before, spent }).toEqual({
      before: { maxTokens: 500 },
      spent: { costUsd: '0', isSimulated: false, tokensUsed: 0 },
    })
    expectRefusal(await decide(w, item, 'raise'), 400, 'VALIDATION_FAILED')
    const budget = { maxTokens: 1_000 }
    const underOldName = { budget: { limitTokens: 1_000 } }
    expect(await decide(w, item, 'raise', underOldName)).toMatchObject({ body: { state: 'queued' } })
    expect(await w.read(task)).toMatchObject({ state: 'queued', awaits: null, plan: { budget } })
    expectRefusal(await decide(w, item, 'raise', { budget }), 409, 'CHANGED_SINCE', { state: 'queued' })
  })

  test('approves and rejects plans by the version that the item names', async () => {
    const w = await workspace()
    const [one, other] = [await planned(w), await planned(w)]
    expect(await decide(w, { id: `plan:${one.id}:1` }, 'approve', { digest: one.planDigest })).toMatchObject({
      status: 200,
      body: { state: 'running', about: { missionId: one.id } },
    })
    await w.call('PUT', `/missions/${other.id}/plan`, { tasks: [{ tempId: 'z' }] })
    const stale = await decide(w, { id: `plan:${other.id}:1` }, 'reject')
    expectRefusal(stale, 409, 'CHANGED_SINCE', {
      state: 'awaiting_approval',
      generation: 2,
      item: expect.objectContaining({ id: `plan:${other.id}:2`, kind: 'plan' }),
    })
    const now = { id: stale.body.item.id }
    expect(await decide(w, now, 'reject', { comment: 'no' })).toMatchObject({ body: { state: 'failed' } })
    expect((await inbox(w)).counts.plan).toBe(0)
  })

  test('sends a plan back to be made again', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/planner', { capabilities: ['planning'] })
    const mission = await planned(w)
    expect(await decide(w, await only(w), 'replan', { comment: 'smaller steps' })).toMatchObject({
      status: 200,
      body: { state: 'planning' },
    })
    expect((await w.call('GET', `/missions/${mission.id}`)).body.state).toBe('planning')
  })

  test('raises the budget of a mission that has spent it', async () => {
    const w = await workspace()
    const steps = [{ usage: { inputTokens: 80, outputTokens: 30 } }, { result: { done: true } }]
    await w.call('PUT', '/agents/sim-1', { adapterType: 'simulated', adapterConfig: { steps } })
    const plan = {
      tasks: [
        { tempId: 'a', agent: 'sim-1' },
        { tempId: 'b', agent: 'beta', dependsOn: ['a'] },
      ],
    }
    await w.call('PUT', '/agents/beta', {})
    const config = { autonomy: 'full_auto', budget: { maxTokens: 100 } }
    const mission = await planned(w, { plan, config })
    await w.happens('mission_budget_exceeded')
    const item = await only(w)
    expect(item).toMatchObject({
      id: `budget:${mission.id}`,
      kind: 'budget',
      about: { missionId: mission.id, taskId: null },
      actions: ['raise', 'cancel'],
    })
    const detail = (await w.call('GET', `/inbox/${item.id}`)).body
    expect(detail.budget).toEqual({ maxTokens: 100 })
    expect(detail.spent).toEqual({ costUsd: null, isSimulated: true, tokensUsed: 110 })
    expectRefusal(await decide(w, item, 'raise'), 400, 'VALIDATION_FAILED')
    const raised = await decide(w, item, 'raise', {
      budget: { maxTokens: 1_000 },
      generation: item.generation,
    })
    expect(raised).toMatchObject({ status: 200, body: { state: 'running' } })
    expectRefusal(await decide(w, item, 'raise', { budget: { maxTokens: 2_000 } }), 409, 'CHANGED_SINCE', {
      state: 'running',
      item: null,
    })
  })

  test('repairs an agent, and frees a task from one that is gone', async () => {
    const w = await workspace()
    await broken(w)
    expect(await decide(w, await only(w), 'pause', { comment: 'later' })).toMatchObject({
      body: { state: 'paused', about: { agent: 'broken' } },
    })
    const task = await w.make({ agent: 'nobody' })
    expect(await decide(w, await only(w), 'release')).toMatchObject({ body: { state: 'queued' } })
    expect(await w.read(task)).toMatchObject({ agent: null })
    expect((await inbox(w)).items).toEqual([])
  })

  test('that the item does not offer is refused with those that it does', async () => {
    const w = await workspace()
    await asking(w)
    const item = await only(w)
    expectRefusal(await decide(w, item, 'approve'), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'decision', message: 'must be one of: answer, skip, cancel' }],
    })
    expectRefusal(await decide(w, item, 'explode'), 400, 'VALIDATION_FAILED')
    expect((await inbox(w)).items).toEqual([item])
  })

  test('on something that changed is refused with what it is now', async () => {
    const w = await workspace()
    const task = await reviewed(w)
    const item = await only(w)
    for (const other of [{ generation: 7 }, { digest: 'f'.repeat(32) }])
      expectRefusal(await decide(w, item, 'approve', other), 409, 'CHANGED_SINCE', {
        state: 'awaiting_human',
        generation: 1,
        digest: item.digest,
        item: expect.objectContaining({ id: item.id }),
      })
    await w.on(task, 'approve')
    for (const decision of ['approve', 'cancel', 'skip'])
      expectRefusal(await decide(w, item, decision), 409, 'CHANGED_SINCE', {
        state: 'completed',
        generation: 1,
        item: null,
      })
    await w.on(task, 'reset')
    await w.claim(task)
    await w.on(task, 'submit', { ...fence('s-alpha', 2), result: { n: 2 } })
    expectRefusal(await decide(w, item, 'approve'), 409, 'CHANGED_SINCE', {
      state: 'awaiting_human',
      generation: 2,
      item: expect.objectContaining({ id: `task:${task.id}:2` }),
    })
  })

  test('of two people at once is made once', async () => {
    const w = await workspace()
    await reviewed(w)
    const item = await only(w)
    const answers = await Promise.all(
      ['approve', 'reject', 'cancel', 'skip'].map((one) => decide(w, item, one)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
    for (const { status, body } of answers) if (status === 409) expect(body.code).toBe('CHANGED_SINCE')
  })
})

describe('a mission that has ended', () => {
  const ended = async (w: Workspace, title: string, result: 'done' | 'failed' = 'done') => {
    const mission = await makeMission(w, [{ tempId: 'a' }], { title })
    const held = await take(w)
    if (result === 'done') await submit(w, held)
    else await failForGood(w, held)
    return mission
  }
  const badge = async (w: Workspace) => (await w.call('GET', '/session')).body.inboxCount
  const unseen = async (w: Workspace, { id }: Json) => (await w.call('GET', `/missions/${id}`)).body.unseen

  test('is in the inbox after all that waits, until somebody has seen it, and counts for nobody', async () => {
    const w = await workspace()
    const good = await ended(w, 'good')
    const bad = await ended(w, 'bad', 'failed')
    await asking(w)
    const seen = await inbox(w)
    expect(seen.items).toMatchObject([
      { kind: 'question', end: null },
      { id: `finished:${good.id}`, kind: 'finished', title: 'good', end: 'completed', actions: ['seen'] },
      { id: `finished:${bad.id}`, kind: 'finished', title: 'bad', end: 'failed', blocks: 0 },
    ])
    expect(seen.counts).toMatchObject({ question: 1, finished: 2 })
    expect([await badge(w), (await w.call('GET', '/overview')).body.waiting]).toMatchObject([
      1,
      { count: 1, items: [{ kind: 'question' }] },
    ])
    expect([await unseen(w, good), await unseen(w, bad)]).toEqual([true, true])
    expect(kinds(await inbox(w, '?kind=finished'))).toEqual(['finished', 'finished'])
    expect(await w.call('GET', `/inbox/finished:${good.id}`)).toMatchObject({
      body: { mission: { id: good.id, tasksCompleted: 1 } },
    })
    // Page by page in both orders.
    for (const sort of ['oldest', 'blocks']) {
      const found: string[] = []
      for (let cursor = ''; cursor !== null; ) {
        const page = await inbox(w, `?limit=1&sort=${sort}${cursor && `&cursor=${cursor}`}`)
        found.push(...page.items.map(({ id }: Seen) => id))
        cursor = page.nextCursor
      }
      expect(found).toEqual(seen.items.map(({ id }: Seen) => id))
    }
  })

  test('leaves the inbox when it is seen, which can be said twice and changes nothing else', async () => {
    const w = await workspace()
    const mission = await ended(w, 'good')
    const before = (await w.call('GET', `/missions/${mission.id}`)).body
    const item = await only(w)
    const answers = [await decide(w, item, 'seen'), await decide(w, item, 'seen')]
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 200,
        body: { decision: 'seen', state: 'completed', about: { missionId: mission.id } },
      })
    expect(await inbox(w)).toMatchObject({ items: [], counts: { finished: 0 } })
    expect((await w.call('GET', `/missions/${mission.id}`)).body).toEqual({ ...before, unseen: false })
    const told = (await w.events()).filter(({ type }: Seen) => type === 'mission_seen')
    expect(told).toHaveLength(1)
    expectRefusal(await decide(w, item, 'approve'), 409, 'CHANGED_SINCE')
  })

  test('is seen with others at once, and by nobody who may only read', async () => {
    const w = await workspace()
    for (const title of ['one', 'two']) await ended(w, title)
    const { items } = await inbox(w)
    const viewer = await w.post('/keys', { name: 'viewer', role: 'viewer' })
    const asViewer = { authorization: `Bearer ${viewer.body.key}` }
    const refused = await w.post(`/inbox/${items[0].id}/answer`, { decision: 'seen' }, asViewer)
    expectRefusal(refused, 403, 'FORBIDDEN')
    const named = items.map(({ id, generation }: Seen) => ({ id, generation }))
    const answer = await w.post('/inbox/answer', { decision: 'seen', items: named })
    expect(answer).toMatchObject({ status: 200, body: { done: 2 } })
    expect((await inbox(w)).items).toEqual([])
  })

  test('is no item when a person ended it, or opened it again', async () => {
    const w = await workspace()
    const cancelled = await makeMission(w, [{ tempId: 'a' }])
    await w.post(`/missions/${cancelled.id}/cancel`)
    const rejected = await planned(w)
    await w.post(`/missions/${rejected.id}/reject`)
    const accepted = await makeMission(w, [{ tempId: 'a' }], {
      config: { ...FULL_AUTO, acceptance: 'human' },
    })
    await submit(w, await take(w))
    await w.post(`/missions/${accepted.id}/approve`)
    expect((await w.call('GET', `/missions/${accepted.id}`)).body).toMatchObject({
      state: 'completed',
      unseen: false,
    })
    const again = await ended(w, 'bad', 'failed')
    await w.post(`/missions/${again.id}/retry`)
    expect((await inbox(w)).items).toEqual([])
    expectRefusal(await decide(w, { id: `finished:${again.id}` }, 'seen'), 409, 'CHANGED_SINCE')
  })
})

describe('a decision that is sent again under its idempotency key', () => {
  const again = (w: Workspace, { id }: Seen, decision: string, more: Json = {}) =>
    w.post(`/inbox/${id}/answer`, { decision, ...more }, { 'idempotency-key': `${decision}-again` })

  test('about a task gets the first answer, whatever has become of the task', async () => {
    const w = await workspace()
    const task = await asking(w)
    const item = await only(w)
    const first = await again(w, item, 'answer', { answer: 'this' })
    expect(first).toMatchObject({ status: 200, body: { state: 'queued', about: { taskId: task.id } } })
    await w.claim(task)
    await w.on(task, 'submit', { ...fence('s-alpha', 2), result: 1 })
    const second = await again(w, item, 'answer', { answer: 'this' })
    expect([second.status, second.body]).toEqual([200, first.body])
    expect((await w.events()).filter(({ type }: Seen) => type === 'task_answered')).toHaveLength(1)
    // Without the key, or under it for something else, it is another decision.
    expectRefusal(await decide(w, item, 'answer', { answer: 'this' }), 409, 'CHANGED_SINCE')
    const other = await again(w, item, 'answer', { answer: 'that' })
    expectRefusal(other, 422, 'IDEMPOTENCY_KEY_REUSED')
  })

  test('about the budget of a task, a plan and an agent gets it, too', async () => {
    const w = await workspace()
    await overBudget(w)
    const budget = { maxTokens: 1_000 }
    const raised = await again(w, await only(w), 'raise', { budget })
    expect(raised).toMatchObject({ status: 200, body: { state: 'queued' } })
    expect((await again(w, { id: raised.body.id }, 'raise', { budget })).body).toEqual(raised.body)
    const mission = await planned(w)
    const approved = await again(w, { id: `plan:${mission.id}:1` }, 'approve')
    expect(approved).toMatchObject({ status: 200, body: { state: 'running' } })
    expect((await again(w, approved.body, 'approve')).body).toEqual(approved.body)
    expect((await w.call('GET', `/missions/${mission.id}`)).body.taskCount).toBe(2)
    // Where nothing waits to be worked on: the agent is idle once its run is over.
    const elsewhere = await workspace()
    await broken(elsewhere)
    await elsewhere.happens('run_finished')
    const paused = await again(elsewhere, { id: 'agent:broken' }, 'pause')
    expect(paused).toMatchObject({ status: 200, body: { state: 'paused' } })
    expect((await again(elsewhere, paused.body, 'pause')).body).toEqual(paused.body)
    await elsewhere.post('/agents/broken/resume')
    expect((await again(elsewhere, paused.body, 'pause')).body).toEqual(paused.body)
    expect((await elsewhere.call('GET', '/agents/broken')).body.state).toBe('idle')
    // Without the key it is another decision.
    expectRefusal(await decide(elsewhere, { id: 'agent:broken' }, 'pause'), 409, 'CHANGED_SINCE')
  })

  test('is refused as before when the first one was', async () => {
    const w = await workspace()
    const task = await asking(w)
    const item = await only(w)
    await w.on(task, 'cancel')
    for (let i = 0; i < 2; i++) expectRefusal(await again(w, item, 'skip'), 409, 'CHANGED_SINCE')
  })
})
