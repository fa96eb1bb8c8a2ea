import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from './support/recovery.ts'
import { type Seen, useFleets } from './support/runs.ts'

/** A run whose task is suspected to hang: its agent is asked for progress, by every channel it has. */

const { served, fleet } = useFleets()

/** Beyond its estimate as soon as it starts, and not revoked for long. */
const LATE = { estimatedDurationMinutes: 0.0001, timeouts: { hangGraceSeconds: 0, hangAbortSeconds: 3_600 } }

const ASKED = { type: 'report_progress', since: expect.any(String), abortAt: expect.any(String) }

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

  test('is in the answers to the heartbeats of an agent that answers later', async () => {
    const w = await fleet()
    const taken: Seen[] = []
    const server = createServer(async (request, response) => {
      const chunks = await request.toArray()
      taken.push(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(202).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
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
    expect(heartbeat).toEqual({ taken: true, requests: [ASKED] })
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
