import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Task } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Seen, scripts, useFleets } from '../../support/runs.ts'

/** A run whose task is suspected to hang, whose agent is asked for progress by every channel it has; and a run that is silent. */

const { served, fleet } = useFleets()

/** Beyond its estimate as soon as it starts, and not revoked for long. */
const LATE = { estimatedDurationMinutes: 0.0001, timeouts: { hangGraceSeconds: 0, hangAbortSeconds: 3_600 } }

const ASKED = { type: 'report_progress', since: expect.any(String), abortAt: expect.any(String) }

/** A server that answers each request so, and what it was asked. */
async function answering(status: number, body = '') {
  const taken: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    taken.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, taken }
}

describe('a request to a holder', () => {
  test('is in a file for a program, which can answer; and the file is deleted with the run', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `import { readFileSync } from 'node:fs'
       const file = process.env.BATON_REQUESTS_FILE
       const read = () => JSON.parse(readFileSync(file, 'utf8'))
       const turn = async (isOver) => { while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 20)) }
       const before = read()
       await turn(() => read().length > 0)
       const asked = read()
       console.log(JSON.stringify({ baton: 'progress', percent: 50, step: 'half' }))
       await turn(() => read()[0]?.abortAt !== asked[0].abortAt)
       console.log(JSON.stringify({ result: { file, before, asked, after: read() } }))`,
    )
    const task = await w.assign('dev', LATE)
    await w.taskIn(task, 'completed')
    const [run] = await w.over('dev')
    const [{ result }] = await w.resultsOf(task)
    // Programs yield to the server, so the first request may be there before one has begun.
    expect([[], [ASKED.type]]).toContainEqual(result.before.map(({ type }: { type: string }) => type))
    expect(result).toMatchObject({ asked: [ASKED], after: [ASKED] })
    expect(Date.parse(result.after[0].abortAt), 'progress delays it').toBeGreaterThan(
      Date.parse(result.asked[0].abortAt),
    )
    expect(existsSync(result.file)).toBe(false)
    const asked = (await w.timeline(run.id)).filter(({ message }) => message === 'request: report_progress')
    expect(asked[0]).toMatchObject({ type: 'structured', level: 'warn' })
  }, 60_000)

  test('is what a person says to the agent while it works', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `import { readFileSync } from 'node:fs'
       const read = () => JSON.parse(readFileSync(process.env.BATON_REQUESTS_FILE, 'utf8'))
       while (read().length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
       console.log(JSON.stringify({ result: read() }))`,
    )
    const task = await w.assign('dev')
    await w.taskIn(task, 'running')
    const said = { text: 'Mind the tests.', toHolder: true }
    const { status, body } = await w.post(`/tasks/${task.id}/comments`, said)
    expect(status).toBe(201)
    await w.taskIn(task, 'completed')
    const [{ result }] = await w.resultsOf(task)
    expect(result).toEqual([
      { type: 'message', commentId: body.id, text: 'Mind the tests.', at: expect.any(String) },
    ])
  }, 60_000)

  test('is in the answers to the heartbeats of an agent that answers later', async () => {
    const w = await fleet()
    const { url, taken } = await answering(202)
    await w.put('later', { adapterType: 'http', adapterConfig: { url } })
    const task = await w.assign('later', LATE)
    const ask = await eventually(async () => taken[0])
    const say = (body: object) =>
      served().call('POST', `/runs/${ask.runId}/callback`, body, { key: ask.callback.token })
    const heartbeat = await eventually(async () => {
      const { status, body } = await say({ kind: 'heartbeat' })
      expect(status).toBe(200)
      return body.requests.length > 0 && body
    })
    expect(heartbeat).toEqual({ taken: true, requests: [ASKED], messages: [] })
    const said = { text: 'Mind the tests.', toHolder: true }
    expect((await w.post(`/tasks/${task.id}/comments`, said)).status).toBe(201)
    expect((await say({ kind: 'heartbeat' })).body.messages).toMatchObject([{ text: 'Mind the tests.' }])
    expect((await say({ kind: 'result', result: 1 })).body).toMatchObject({ status: 'succeeded' })
    await w.taskIn(task, 'completed')
  }, 60_000)

  test('is absent for a run without a task', async () => {
    const w = await fleet()
    await w.script('dev', `console.log(JSON.stringify({ result: 'BATON_REQUESTS_FILE' in process.env }))`)
    await w.wake('dev')
    const [run] = await w.over('dev')
    expect(run.result).toBe(false)
  }, 60_000)
})

describe('an http agent that says that its task is invalid', () => {
  const MESSAGE = 'There is no customer 12.'
  const isOver = async (w: Awaited<ReturnType<typeof fleet>>, task: Task) => {
    expect(await w.taskIn(task, 'failed')).toMatchObject({
      failureClass: 'invalid',
      error: MESSAGE,
      attempt: 1,
    })
    expect(await w.over('dev')).toMatchObject([{ errorCode: 'invalid_task', errorMessage: MESSAGE }])
  }

  test('at once is not asked again', async () => {
    const w = await fleet()
    const { url, taken } = await answering(422, JSON.stringify({ code: 'invalid_task', message: MESSAGE }))
    await w.put('dev', { adapterType: 'http', adapterConfig: { url } })
    await isOver(w, (await w.assign('dev')) as Task)
    expect(taken).toHaveLength(1)
  })

  test('later, by a callback, is not asked again', async () => {
    const w = await fleet()
    const { url, taken } = await answering(202)
    await w.put('dev', { adapterType: 'http', adapterConfig: { url } })
    const task = await w.assign('dev')
    const ask = await eventually(async () => taken[0])
    const said = { kind: 'failure', code: 'invalid_task', message: MESSAGE }
    const key = ask.callback.token
    // Its 202 may not be on record yet.
    await eventually(
      async () => (await served().call('POST', `/runs/${ask.runId}/callback`, said, { key })).status === 200,
    )
    await isOver(w, task as Task)
  })
})

/** Much longer than a program takes to start on a busy machine. */
const STALL_SECONDS = 12
const STALLS = { timeouts: { stallSeconds: STALL_SECONDS }, maxRetries: 0 }

/** Does this at short intervals for so many seconds, and then has its result. */
const lasting = (seconds: number, act: string) => `
  const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
  const post = (path, more) =>
    fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + path, {
      method: 'POST',
      headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ session: BATON_SESSION, generation: Number(BATON_GENERATION), ...more }),
    })
  const until = Date.now() + ${seconds} * 1000
  while (Date.now() < until) {
    ${act}
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  console.log(JSON.stringify({ result: 'done' }))`

describe.concurrent('the stall timeout of a run', () => {
  test.each([
    ['output', `console.log('still here')`],
    ['progress that is reported with its token', `await post('/progress', { percent: 1 })`],
  ])('is not over while there is %s', async (_what, act) => {
    const w = await fleet()
    await w.script('dev', lasting(STALL_SECONDS + 2, act))
    const task = await w.assign('dev', STALLS)
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ status: 'succeeded', errorCode: null, attempt: 1 })
    expect(run.durationMs).toBeGreaterThan(STALL_SECONDS * 1000)
    expect(await w.taskIn(task, 'completed')).toMatchObject({ generation: 1 })
    expect(await w.count('stall_detected')).toBe(0)
  })

  test('ends a silent one, however often its lease is renewed; the task is retried as after any failure', async () => {
    const w = await fleet()
    await w.script('dev', lasting(3_600, `await post('/renew')`))
    const task = await w.assign('dev', STALLS)
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ status: 'failed', errorCode: 'stalled', signal: 'SIGTERM' })
    expect(run.errorMessage).toMatch(/^no sign of life for \d+ s/)
    expect(run.durationMs).toBeGreaterThan(STALL_SECONDS * 1000)
    expect(await w.taskIn(task, 'failed')).toMatchObject({ failureClass: 'infrastructure', attempt: 1 })
    expect(await w.count('claim_renewed')).toBeGreaterThan(0)
    expect(await w.count('run_flagged')).toBe(1)
  })

  test('is not judged by hand: work that is requeued as stalled is never that of a run', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    const task = await w.assign('dev')
    const { id } = await w.saying('dev', 'up')
    expect((await w.post('/workers/requeue-stalled', { silentMs: 1 })).body).toEqual({ requeued: 0 })
    expect(await w.read(task)).toMatchObject({ state: 'running', generation: 1 })
    await w.post(`/runs/${id}/cancel`)
    await w.over('dev')
  })
})
