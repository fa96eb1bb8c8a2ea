import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, KEY, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Pipeline and answers, verdicts bound to what was seen, and results by people. */

const { served, workspace } = useServer()
const first = fence('s-alpha', 1)
const QUESTION = { ...first, question: 'Which database?', options: ['Frankfurt', 'Dublin'] }

async function asked(w: Workspace) {
  const task = await w.held()
  const answer = await w.on(task, 'ask', QUESTION)
  expect(answer).toMatchObject({ status: 200, body: { reason: 'ASKED', task: { state: 'awaiting_human' } } })
  return task
}

describe('a question', () => {
  test('is shown with the task, and with its answer in the next claim', async () => {
    const w = await workspace()
    const task = await asked(w)
    expect(await w.read(task)).toMatchObject({
      state: 'awaiting_human',
      attempt: 0,
      holder: null,
      awaits: { kind: 'question', reason: 'question', since: expect.any(String) },
      question: {
        question: 'Which database?',
        options: ['Frankfurt', 'Dublin'],
        generation: 1,
        askedBy: 'alpha',
        askedAt: expect.any(String),
        answer: null,
        answeredBy: null,
        answeredAt: null,
      },
    })
    const answered = await w.on(task, 'answer', { answer: 'Dublin', generation: 1 })
    expect(answered).toMatchObject({ status: 200, body: { state: 'queued', awaits: null } })
    const { claims } = await w.next()
    expect(claims).toMatchObject([
      {
        generation: 2,
        task: { id: task.id, question: { answer: 'Dublin', answeredBy: expect.stringMatching(KEY) } },
      },
    ])
    const types = (await w.read(task, '/events')).items.map(({ type }: { type: string }) => type)
    expect(types).toContain('task_answered')
  })

  test('is answered once under an idempotency key', async () => {
    const w = await workspace()
    const task = await asked(w)
    const headers = { 'idempotency-key': 'answer-1' }
    for (let i = 0; i < 2; i++)
      expect(await w.on(task, 'answer', { answer: 'Dublin' }, headers)).toMatchObject({ status: 200 })
    expectRefusal(await w.on(task, 'answer', { answer: 'Dublin' }), 409, 'WRONG_STATE', {
      taskState: 'queued',
    })
  })

  test('with options takes one of them only, and any text without', async () => {
    const w = await workspace()
    const task = await asked(w)
    expectRefusal(await w.on(task, 'answer', { answer: 'Paris' }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'answer', message: 'must be one of: Frankfurt, Dublin' }],
    })
    expectRefusal(await w.on(task, 'answer', { answer: 'Dublin', generation: 7 }), 409, 'STALE_GENERATION', {
      currentGeneration: 1,
    })
    const open = await w.held()
    await w.on(open, 'ask', { ...first, question: 'Why?' })
    expect(await w.on(open, 'answer', { answer: 'Because of the tests.\nAll of them.' })).toMatchObject({
      status: 200,
    })
  })

  test.each([
    ['no question', { ...first }, 'question'],
    ['an empty question', { ...QUESTION, question: '' }, 'question'],
    ['a question of 4,001 characters', { ...QUESTION, question: 'x'.repeat(4_001) }, 'question'],
    ['21 options', { ...QUESTION, options: Array.from({ length: 21 }, (_, i) => `${i}`) }, 'options'],
    ['an option of two lines', { ...QUESTION, options: ['a\nb'] }, 'options[0]'],
    ['no fence', { question: 'Why?' }, 'session'],
  ])('with %s is refused', async (_what, body, field) => {
    const w = await workspace()
    const task = await w.held()
    expectRefusal(await w.on(task, 'ask', body), 400, 'VALIDATION_FAILED', {
      errors: [expect.objectContaining({ field })],
    })
    expect(await w.read(task)).toMatchObject({ state: 'assigned', question: null })
  })

  test('of another holder, or about a task of another workspace, is refused', async () => {
    const w = await workspace()
    const task = await w.held()
    expectRefusal(await w.on(task, 'ask', { ...QUESTION, session: 's-beta' }), 409, 'SESSION_MISMATCH')
    expectRefusal(await w.on(task, 'ask', { ...QUESTION, generation: 2 }), 409, 'FUTURE_GENERATION')
    expectRefusal(await w.on({ id: randomUUID() }, 'ask', QUESTION), 404, 'NOT_FOUND')
    const other = await workspace()
    expectRefusal(await other.on(task, 'answer', { answer: 'x' }), 404, 'NOT_FOUND')
  })

  test('is not answered by a key that may only work', async () => {
    const w = await workspace()
    const task = await asked(w)
    const { body } = await w.post('/keys', { name: 'worker', role: 'member', scopes: ['work'] })
    const answer = await served().call(
      'POST',
      `/tasks/${task.id}/answer`,
      { answer: 'Dublin' },
      {
        key: body.key,
      },
    )
    expectRefusal(answer, 403, 'FORBIDDEN')
  })
})

describe('a verdict', () => {
  const submitted = async (w: Workspace, result: unknown = { n: 1 }) => {
    const task = await w.held({ verification: { kind: 'human' } })
    await w.on(task, 'submit', { ...first, result, summary: 'Login works' })
    return task
  }

  test('names the digest that was seen, which is that of the task with its summary', async () => {
    const w = await workspace()
    const task = await submitted(w)
    const seen = await w.read(task)
    expect(seen).toMatchObject({
      resultDigest: expect.stringMatching(/^[0-9a-f]{32}$/),
      summary: 'Login works',
      workProductRef: expect.stringMatching(/^wp-.*-gen1-[0-9a-f]{6}$/),
      awaits: { kind: 'review', reason: 'The task requires review.' },
    })
    const now = { taskState: 'awaiting_human', currentGeneration: 1, resultDigest: seen.resultDigest }
    for (const act of ['approve', 'reject'])
      expectRefusal(await w.on(task, act, { digest: 'f'.repeat(32) }), 409, 'CHANGED_SINCE', now)
    const { resultDigest: digest } = seen
    expect(await w.on(task, 'approve', { digest, generation: 1 })).toMatchObject({
      status: 200,
      body: { state: 'completed', resultDigest: digest },
    })
    expectRefusal(await w.on(task, 'reject', { digest }), 409, 'CHANGED_SINCE', { taskState: 'completed' })
    expect(await w.read(task)).toMatchObject({ summary: 'Login works', awaits: null })
  })

  test('keeps refusing another generation as it did', async () => {
    const w = await workspace()
    const task = await submitted(w)
    const { resultDigest: digest } = await w.read(task)
    expectRefusal(await w.on(task, 'approve', { digest, generation: 9 }), 409, 'STALE_GENERATION', {
      currentGeneration: 1,
    })
    expectRefusal(await w.on(await w.make(), 'approve'), 409, 'WRONG_STATE')
  })

  test('rejects for good, or for another attempt', async () => {
    const w = await workspace()
    const [one, other] = [await submitted(w), await submitted(w)]
    // biome-ignore lint/suspicious/noThenProperty: the name that the API uses
    expect(await w.on(one, 'reject', { then: 'fail', comment: 'wrong path' })).toMatchObject({
      status: 200,
      body: { state: 'failed', error: 'wrong path', resultDigest: null },
    })
    // biome-ignore lint/suspicious/noThenProperty: the name that the API uses
    expect(await w.on(other, 'reject', { then: 'retry', comment: 'again' })).toMatchObject({
      body: { state: 'awaiting_retry', error: 'again' },
    })
    // biome-ignore lint/suspicious/noThenProperty: the name that the API uses
    const unknown = await w.on(await submitted(w), 'reject', { then: 'explode' })
    expectRefusal(unknown, 400, 'VALIDATION_FAILED', { errors: [expect.objectContaining({ field: 'then' })] })
  })
})

describe('a person', () => {
  test('completes a task with a result of its own, and its dependents continue', async () => {
    const w = await workspace()
    const task = await w.held()
    const dependent = await w.make({ dependsOn: [task.id] })
    const done = await w.on(task, 'complete', {
      result: { by: 'hand' },
      summary: 'By hand',
      comment: 'urgent',
    })
    expect(done).toMatchObject({ status: 200, body: { state: 'completed', generation: 2 } })
    await w.reaches(dependent, 'queued')
    expect(await w.read(task)).toMatchObject({ summary: 'By hand' })
    expect((await w.read(task, '/results')).items).toMatchObject([
      { accepted: true, generation: 2, summary: 'By hand' },
    ])
    expectRefusal(await w.on(task, 'submit', { ...first, result: 1 }), 409, 'STALE_GENERATION')
    expectRefusal(await w.on(task, 'complete', { result: 1 }), 409, 'WRONG_STATE', { taskState: 'completed' })
  })

  test('ends a mission with the last of its tasks, by a result or by skipping it', async () => {
    const w = await workspace()
    const plan = { tasks: [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }] }
    const config = { autonomy: 'full_auto' }
    const mission = (await w.post('/missions', { goal: 'By hand', plan, config })).body
    const { items } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
    const [last, earlier] = items
    expect(await w.on(earlier, 'complete', { result: 1 })).toMatchObject({ status: 200 })
    await w.reaches(last, 'queued')
    expect(await w.on(last, 'skip', { reason: 'not needed' })).toMatchObject({ status: 200 })
    expect((await w.call('GET', `/missions/${mission.id}`)).body).toMatchObject({
      state: 'completed',
      tasksByState: { completed: 1, skipped: 1 },
    })
  })

  test('approves while a verifier is asked, and nobody is asked any more', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/judge', { capabilities: ['verification'] })
    const plan = { tasks: [{ tempId: 'a', verification: { kind: 'agent', agent: 'judge' } }] }
    await w.post('/missions', { goal: 'Judged', plan, config: { autonomy: 'full_auto' } })
    const task = { id: (await w.next()).claims[0].taskId as string }
    await w.on(task, 'submit', { ...first, result: 1 })
    const { resultDigest: digest, state } = await w.read(task)
    expect(state).toBe('verifying')
    const judging = await until(
      async () => (await w.call('GET', '/tasks?purpose=verification')).body.items[0],
    )
    expect(await w.on(task, 'approve', { digest })).toMatchObject({
      status: 200,
      body: { state: 'completed' },
    })
    await w.reaches(judging, 'cancelled')
  })

  test('cannot give a result that the workspace would not take from a holder', async () => {
    const w = await workspace({ maxResultBytes: 1_024 })
    const task = await w.make()
    expectRefusal(await w.on(task, 'complete', { result: 'x'.repeat(2_000) }), 413, 'RESULT_TOO_LARGE')
    expectRefusal(await w.on(task, 'complete', { result: 1, generation: 3 }), 409, 'STALE_GENERATION')
    expect(await w.read(task)).toMatchObject({ state: 'queued', generation: 0 })
  })

  test('skips a task with a reason, and what depends on it is skipped too', async () => {
    const w = await workspace()
    const task = await w.make()
    const dependent = await w.make({ dependsOn: [task.id] })
    expectRefusal(await w.on(task, 'skip', {}), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.on(task, 'skip', { reason: '' }), 400, 'VALIDATION_FAILED')
    expect(await w.on(task, 'skip', { reason: 'not needed' })).toMatchObject({
      status: 200,
      body: { state: 'skipped' },
    })
    await w.reaches(dependent, 'skipped')
    expectRefusal(await w.on(task, 'skip', { reason: 'again' }), 409, 'WRONG_STATE')
  })
})
