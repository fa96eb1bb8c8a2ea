import { describe, expect, test } from 'vitest'
import { fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Results that are judged: by a check of Baton's own, or by another agent in a task of its own. */

const { workspace } = useServer()

interface Claim {
  taskId: string
  generation: number
  task: { title: string; description: string; purpose: string; missionId: string }
}

type Rule = Json
const one = (verification: Rule, more: Json = {}) => ({
  tasks: [
    { tempId: 'a', title: 'Write the report', verification, successCriteria: 'It has a table.', ...more },
  ],
})

async function start(w: Workspace, plan: Json, config: Json = { autonomy: 'full_auto' }): Promise<Json> {
  const answer = await w.post('/missions', { goal: 'A report', plan, config })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

/** Agents exist once they have asked for work. */
const meet = (w: Workspace, ...agents: string[]) =>
  Promise.all(
    agents.map((agent) => w.post('/claims/next', { agent, session: `s-${agent}`, project: undefined })),
  )

const take = async (w: Workspace, agent: string, purposes?: string[]): Promise<Claim | undefined> => {
  const body = { agent, session: `s-${agent}`, ...(purposes && { purposes }) }
  return (await w.post('/claims/next', body)).body.claims[0]
}
const taken = (w: Workspace, agent: string, purposes?: string[]): Promise<Claim> =>
  until(() => take(w, agent, purposes))
const submit = (w: Workspace, agent: string, claim: Claim, result: unknown) =>
  w.post(`/tasks/${claim.taskId}/submit`, { ...fence(`s-${agent}`, claim.generation), result })
const taskOf = async (w: Workspace, id: string) => (await w.call('GET', `/tasks/${id}`)).body
const eventsOf = async (w: Workspace, id: string): Promise<Json[]> =>
  (await w.call('GET', `/tasks/${id}/events?limit=200`)).body.items
const inState = (w: Workspace, id: string, state: string) =>
  until(async () => (await taskOf(w, id)).state === state)

const VERIFY = ['verification']
const verdict = (verdict: string, score: number, feedback = 'See the table.') => ({
  verdict,
  score,
  feedback,
  evidence: ['looked at it'],
})

/** A task whose result waits for its verifier. */
async function submitted(w: Workspace, rule: Rule = { kind: 'agent' }, config?: Json) {
  await meet(w, 'maker', 'judge')
  await start(w, one(rule), config)
  const work = await taken(w, 'maker')
  const answer = await submit(w, 'maker', work, { rows: 3 })
  expect(answer).toMatchObject({ status: 200, body: { task: { state: 'verifying' } } })
  return work
}

describe('a result that another agent judges', () => {
  test('has its time from the start of the verification on: waiting for its verifier does not use it up', async () => {
    const w = await workspace()
    await meet(w, 'maker')
    // The judge is busy until it takes the verification.
    await w.make({ agent: 'judge' })
    await taken(w, 'judge')
    await start(w, one({ kind: 'agent' }, { timeouts: { verifySeconds: 1 } }))
    const work = await taken(w, 'maker')
    await submit(w, 'maker', work, { rows: 3 })
    const waiting = await until(async () => (await taskOf(w, work.taskId)).verifications[0])
    expect(await taskOf(w, waiting.taskId)).toMatchObject({
      ...{ state: 'queued', timeouts: { attemptSeconds: 1 }, dueAt: null },
    })
    const judging = await taken(w, 'judge', VERIFY)
    await w.post(`/tasks/${judging.taskId}/start`, fence('s-judge', judging.generation))
    await until(async () => (await eventsOf(w, judging.taskId)).some(({ type }) => type === 'task_retrying'))
    expect((await eventsOf(w, judging.taskId)).at(-1)).toMatchObject({
      payload: { failureClass: 'timeout', error: expect.stringContaining('within 1 s') },
    })
    expect((await taskOf(w, work.taskId)).state).toBe('verifying')
  })

  test('is completed by a verdict that passes, with its score and its verifier', async () => {
    const w = await workspace()
    const work = await submitted(w)
    const judging = await taken(w, 'judge', VERIFY)
    expect(judging.task).toMatchObject({ purpose: 'verification', title: 'Verify: Write the report' })
    expect(judging.task.description).toContain('It has a table.')
    expect(judging.task.description).toContain('"rows":3')
    await submit(w, 'judge', judging, verdict('pass', 0.9))
    await inState(w, work.taskId, 'completed')
    expect(await taskOf(w, judging.taskId)).toMatchObject({ state: 'completed' })
    expect(
      (await eventsOf(w, work.taskId)).find(({ type }) => type === 'task_verification_passed'),
    ).toMatchObject({
      payload: { verifier: 'judge', score: 0.9, verification: judging.taskId, verdict: 'See the table.' },
    })
    expect(await taskOf(w, work.taskId)).toMatchObject({ verifiedBy: 'judge', verifierScore: 0.9 })
  })

  test('is never judged by its maker, nor handed to workers that do not ask for verifications', async () => {
    const w = await workspace()
    const work = await submitted(w)
    const judging = await taken(w, 'judge', VERIFY)
    await w.post(`/tasks/${judging.taskId}/release`, fence('s-judge', judging.generation))
    expect(await take(w, 'maker', VERIFY)).toBeUndefined()
    const byId = await w.post(`/tasks/${judging.taskId}/claim`, { agent: 'maker', session: 's-maker' })
    expect(byId).toMatchObject({ status: 409, body: { code: 'WRONG_AGENT' } })
    expect(await take(w, 'judge')).toBeUndefined()
    expect((await taskOf(w, work.taskId)).state).toBe('verifying')
  })

  test('is tried again when it fails, with the feedback for the next attempt, and judged again', async () => {
    const w = await workspace()
    const work = await submitted(w)
    await submit(w, 'judge', await taken(w, 'judge', VERIFY), verdict('fail', 0.2, 'The table is empty.'))
    await inState(w, work.taskId, 'awaiting_retry')
    expect(await taskOf(w, work.taskId)).toMatchObject({
      error: 'The table is empty.',
      failureClass: 'quality',
    })
    await w.post(`/tasks/${work.taskId}/retry`, {})
    const again = await taken(w, 'maker')
    expect(again).toMatchObject({ taskId: work.taskId, generation: 2 })
    await submit(w, 'maker', again, { rows: 4 })
    const second = await taken(w, 'judge', VERIFY)
    expect(second.task.description).toContain('"rows":4')
    await submit(w, 'judge', second, verdict('pass', 1))
    await inState(w, work.taskId, 'completed')
  })

  test.each([
    ['a pass below the threshold asks a person', verdict('pass', 0.6), {}, 'awaiting_human'],
    ['an unsure verdict asks a person', verdict('unsure', 0.9), {}, 'awaiting_human'],
    [
      'without people, unsure is a failure',
      verdict('unsure', 0.9),
      { autonomy: 'full_auto' },
      'awaiting_retry',
    ],
  ])('%s', async (_what, answer, config, state) => {
    const w = await workspace()
    await meet(w, 'maker', 'judge')
    const mission = await start(w, one({ kind: 'agent' }), config)
    if (mission.state !== 'running') await w.post(`/missions/${mission.id}/approve`, {})
    const work = await taken(w, 'maker')
    await submit(w, 'maker', work, { rows: 3 })
    await submit(w, 'judge', await taken(w, 'judge', VERIFY), answer)
    await inState(w, work.taskId, state)
  })

  test('has the threshold of its plan', async () => {
    const w = await workspace()
    const work = await submitted(w, { kind: 'agent', threshold: 0.5 })
    await submit(w, 'judge', await taken(w, 'judge', VERIFY), verdict('pass', 0.6))
    await inState(w, work.taskId, 'completed')
  })

  test.each([
    ['prose', 'It looks good to me.'],
    ['a score of 1.7', verdict('pass', 1.7)],
    ['another word', { verdict: 'great', score: 1 }],
  ])('is judged again when the verifier answers %s', async (_what, nonsense) => {
    const w = await workspace()
    const work = await submitted(w)
    const first = await taken(w, 'judge', VERIFY)
    await submit(w, 'judge', first, nonsense)
    const second = await taken(w, 'judge', VERIFY)
    expect((await taskOf(w, work.taskId)).state).toBe('verifying')
    expect(second).toMatchObject({ taskId: first.taskId, generation: 2 })
    await submit(
      w,
      'judge',
      second,
      `My verdict:\n\n\`\`\`json\n${JSON.stringify(verdict('pass', 1))}\n\`\`\``,
    )
    await inState(w, work.taskId, 'completed')
  })

  test('waits for a person when its verification fails for good, and the attempts of the task are not touched', async () => {
    const w = await workspace()
    const work = await submitted(w)
    const judging = await taken(w, 'judge', VERIFY)
    await w.post(`/tasks/${judging.taskId}/cancel`, {})
    await inState(w, work.taskId, 'awaiting_human')
    const asked = (await eventsOf(w, work.taskId)).find(({ type }) => type === 'task_human_review_requested')
    expect(asked).toMatchObject({ payload: { reason: expect.stringMatching(/^no_verdict/) } })
    expect((await taskOf(w, work.taskId)).attempt).toBe(1)
    expect(await w.post(`/tasks/${work.taskId}/approve`, {})).toMatchObject({ status: 200 })
  })

  test('waits for a person at once when there is no agent but its maker', async () => {
    const w = await workspace()
    await start(w, one({ kind: 'agent' }))
    const work = await taken(w, 'maker')
    await submit(w, 'maker', work, { rows: 3 })
    await inState(w, work.taskId, 'awaiting_human')
  })

  test('waits for a person when the named verifier made it', async () => {
    const w = await workspace()
    await meet(w, 'maker', 'judge')
    await start(w, one({ kind: 'agent', agent: 'maker' }))
    const work = await taken(w, 'maker')
    await submit(w, 'maker', work, { rows: 3 })
    await inState(w, work.taskId, 'awaiting_human')
  })

  test('is judged by the named verifier alone', async () => {
    const w = await workspace()
    await meet(w, 'other')
    const work = await submitted(w, { kind: 'agent', agent: 'judge' })
    await until(async () => (await w.call('GET', '/tasks?purpose=verification')).body.items.length === 1)
    expect(await take(w, 'other', VERIFY)).toBeUndefined()
    await submit(w, 'judge', await taken(w, 'judge', VERIFY), verdict('pass', 1))
    await inState(w, work.taskId, 'completed')
  })

  test('needs no verdict once it is cancelled: the verification ends with it', async () => {
    const w = await workspace()
    const work = await submitted(w)
    const judging = await taken(w, 'judge', VERIFY)
    await w.post(`/tasks/${work.taskId}/cancel`, {})
    await inState(w, judging.taskId, 'cancelled')
    const late = await submit(w, 'judge', judging, verdict('pass', 1))
    expect(late.status).toBe(409)
    expect((await taskOf(w, work.taskId)).state).toBe('cancelled')
  })

  test('keeps its verification out of the lists of tasks and out of the counts of its mission', async () => {
    const w = await workspace()
    await submitted(w)
    await until(async () => (await w.call('GET', '/tasks?purpose=verification')).body.items.length === 1)
    expect((await w.call('GET', '/tasks')).body.items).toHaveLength(1)
    const [mission] = (await w.call('GET', '/missions')).body.items
    expect(mission).toMatchObject({ taskCount: 1, tasksByState: { verifying: 1 } })
  })
})

describe('a result that Baton checks itself', () => {
  const schema = { type: 'object', required: ['rows'], properties: { rows: { type: 'integer', minimum: 1 } } }
  test.each([
    ['that is not empty passes', { kind: 'auto' }, {}, 'done', 'completed'],
    ['that is empty fails', { kind: 'auto' }, {}, '  ', 'awaiting_retry'],
    ['of the right shape passes', { kind: 'auto' }, { outputSchema: schema }, { rows: 3 }, 'completed'],
    [
      'without a field that is required fails, described or not',
      { kind: 'auto' },
      { outputSchema: { type: 'object', required: ['rows'] } },
      { lines: 3 },
      'awaiting_retry',
    ],
    ['of another shape fails', { kind: 'auto' }, { outputSchema: schema }, { rows: 0 }, 'awaiting_retry'],
  ])('%s', async (_what, rule, more, result, state) => {
    const w = await workspace()
    await start(w, one(rule, more))
    const work = await taken(w, 'maker')
    await submit(w, 'maker', work, result)
    await inState(w, work.taskId, state)
    if (state === 'awaiting_retry' && typeof result !== 'string')
      expect((await taskOf(w, work.taskId)).error).toContain('result.rows')
  })

  test('against a schema that Baton cannot check is refused with its plan', async () => {
    const w = await workspace()
    const outputSchema = { type: 'object', if: { required: ['a'] }, else: { required: ['b'] } }
    const plan = one({ kind: 'auto' }, { outputSchema })
    const answer = await w.post('/missions', { goal: 'x', plan })
    expect(answer).toMatchObject({ status: 422, body: { problems: [{ at: '/tasks/0/outputSchema' }] } })
    const judged = await w.post('/missions', { goal: 'x', plan: one({ kind: 'agent' }, { outputSchema }) })
    expect(judged.status).toBe(201)
  })
})
