import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { httpAdapter } from '../../src/adapters/http.ts'
import type { AdapterInvokeInput } from '../../src/adapters/protocol.ts'
import { CallbackMessage } from '../../src/kinds/run/shapes/callbacks.ts'
import { inputFor, never, recordingHooks } from '../support/adapter-runs.ts'
import { CallbacksInMemory } from '../support/callbacks.ts'
import { until } from '../support/nodes.ts'

/** Agents behind a URL, on a real server. */

interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  body: any
}

let server: Server
let url: string
let asked: ReceivedRequest[]
let answer: (response: ServerResponse, asked: ReceivedRequest) => void
const callbacks = new CallbacksInMemory()
const adapter = httpAdapter(callbacks)

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method, url: path, headers } = request
    const one = { method: method!, url: path!, headers, body: text === '' ? null : JSON.parse(text) }
    asked.push(one)
    answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
})

const callback = { url: 'http://127.0.0.1:4400/callback', token: 'callback-token' }
function begin(more: Partial<AdapterInvokeInput> = {}, config: Record<string, unknown> = {}, signal = never) {
  const recorded = recordingHooks()
  const adapterConfig = { url: `${url}/run?key=secret-in-url`, ...config }
  const input = inputFor({ adapterConfig, callback, ...more })
  return { ...recorded, input, over: adapter.invoke(input, recorded.hooks, signal) }
}
async function invoke(more: Partial<AdapterInvokeInput> = {}, config: Record<string, unknown> = {}) {
  const begun = begin(more, config)
  return { ...begun, result: await begun.over }
}
const answers = (status: number, body: unknown = '', headers: Record<string, string> = {}) => {
  answer = (response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
}
/** Resolves when the adapter has received its 202. */
async function beginLater(...args: Parameters<typeof begin>) {
  const begun = begin(...args)
  await until(async () => begun.logged('system').includes('The agent accepted the work'))
  return begun
}

describe('an agent that answers immediately', () => {
  test('gets its task, and nothing of settings or environment', async () => {
    answers(200, {})
    const task = { id: 't-1', generation: 2, attempt: 1 }
    const more = {
      task,
      env: { SECRET: 'secret-in-env' },
      runtimeState: { sessionId: 's-0', other: 'private' },
      agentState: { step: 3 },
    }
    const { input, reported } = await invoke(more, { headers: { authorization: 'Bearer secret-in-header' } })
    expect(asked).toHaveLength(1)
    const [{ method, url: path, headers, body }] = asked as [ReceivedRequest]
    expect([method, path]).toEqual(['POST', '/run?key=secret-in-url'])
    expect(headers).toMatchObject({
      authorization: 'Bearer secret-in-header',
      'content-type': 'application/json',
    })
    expect(body).toEqual({
      protocolVersion: 'agent-run/v1',
      runId: input.runId,
      agentId: 'agent-1',
      companyId: 'company-1',
      wakeupSource: 'on_demand',
      triggerDetail: null,
      prompt: 'Do it.',
      task,
      ...{ model: null, systemPrompt: null, tools: [] },
      sessionId: 's-0',
      state: { step: 3 },
      timeoutSec: 60,
      callback,
    })
    expect(JSON.stringify(reported)).not.toContain('secret')
  })

  test('reports its result', async () => {
    answers(200, {
      result: { made: 1 },
      summary: 'Did it',
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 5 },
      continue: true,
      sessionId: 's-1',
      costUsd: '0.10',
      state: { step: 4 },
    })
    const { result, logged } = await invoke()
    expect(result).toEqual({
      outcome: 'succeeded',
      exitCode: null,
      result: { made: 1 },
      summary: 'Did it',
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 5 },
      usageBasis: 'reported',
      wantsMore: true,
      sessionId: 's-1',
      costUsd: '0.10',
      runtimeStatePatch: { sessionId: 's-1' },
      agentState: { step: 4 },
    })
    expect(logged('stdout')).toContain('"made":1')
  })

  test('need not report a result', async () => {
    answers(204)
    expect((await invoke()).result).toMatchObject({ outcome: 'succeeded', usage: null })
    answers(200, { usage: { inputTokens: -3, outputTokens: 4 }, sessionId: 5, costUsd: 'much', state: [1] })
    const { result, logged } = await invoke()
    expect(result).not.toHaveProperty('agentState')
    expect(logged('system')).toContain('The state was not kept: it must be an object of up to 32768 bytes.')
    expect(result).toMatchObject({
      outcome: 'succeeded',
      usage: null,
      usageBasis: null,
      sessionId: null,
      costUsd: null,
    })
  })

  test.each([
    [401, 'not_logged_in'],
    [403, 'not_logged_in'],
    [400, 'nonzero_exit'],
    [404, 'nonzero_exit'],
    [500, 'api_error'],
    [503, 'api_error'],
  ])('with %i has failed: %s', async (status, errorCode) => {
    answers(status, `because ${'x'.repeat(5_000)}`)
    const { result } = await invoke()
    expect(result).toMatchObject({ outcome: 'failed', errorCode })
    expect(result.errorMessage).toMatch(new RegExp(`^The agent answered ${status}: because x`))
    expect(result.errorMessage!.length).toBeLessThan(600)
  })

  test('that is busy says when it has time', async () => {
    const began = Date.now()
    answers(429, 'later', { 'retry-after': '120' })
    const { result } = await invoke()
    expect(result).toMatchObject({ outcome: 'failed', errorCode: 'rate_limited' })
    expect(Date.parse(result.retryAt!)).toBeGreaterThanOrEqual(began + 120_000)
    expect(Date.parse(result.retryAt!)).toBeLessThanOrEqual(Date.now() + 120_000)
    answers(429, '', { 'retry-after': 'Tue, 01 Jan 2030 00:00:00 GMT' })
    expect((await invoke()).result.retryAt).toBe('2030-01-01T00:00:00.000Z')
    answers(429, '', { 'retry-after': 'soon' })
    expect((await invoke()).result).toMatchObject({ errorCode: 'rate_limited', retryAt: null })
  })

  test('with a redirect is not followed', async () => {
    answers(307, '', { location: `${url}/elsewhere` })
    const { result } = await invoke()
    expect(result).toMatchObject({ outcome: 'failed', errorCode: 'nonzero_exit' })
    expect(result.errorMessage).toContain('not followed')
    expect(asked).toHaveLength(1)
  })

  test.each(['not JSON', '[1]', '"text"', '{"result":'])(
    'must answer with a JSON object, not %s',
    async (body) => {
      answers(200, body)
      expect((await invoke()).result).toMatchObject({ outcome: 'failed', errorCode: 'output_parse_error' })
    },
  )

  test('must not answer with more than 10 MB', async () => {
    let isStopped = false
    answer = (response) => {
      response.on('close', () => {
        isStopped = true
      })
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    const { result } = await invoke()
    expect(result).toMatchObject({ outcome: 'failed', errorCode: 'output_parse_error' })
    expect(result.errorMessage).toContain('more than 10 MB')
    await until(async () => isStopped)
  })

  test('that is unreachable was never started', async () => {
    const closed = createTcpServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const { result } = await invoke({}, { url: `http://127.0.0.1:${port}/` })
    expect(result).toMatchObject({ outcome: 'failed', errorCode: 'spawn_failed' })
    expect(result.errorMessage).toContain('ECONNREFUSED')
  })

  test('that closes the connection had been started', async () => {
    answer = (response) => response.destroy()
    expect((await invoke()).result).toMatchObject({ outcome: 'failed', errorCode: 'api_error' })
    answer = (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"result":')
      setTimeout(() => response.destroy(), 50)
    }
    expect((await invoke()).result).toMatchObject({ outcome: 'failed', errorCode: 'api_error' })
  })

  test('is not waited for when the run is stopped', async () => {
    let hasHungUp = false
    answer = (response) =>
      response.on('close', () => {
        hasHungUp = true
      })
    const stop = new AbortController()
    const { over } = begin({}, {}, stop.signal)
    await until(async () => asked.length === 1)
    stop.abort()
    expect(await over).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
    await until(async () => hasHungUp)
  })
})

describe('an agent that answers later', () => {
  test('reports progress, and then its result', async () => {
    answers(202)
    const { input, over, reported, events } = await beginLater()
    const usage = { inputTokens: 1, outputTokens: 2 }
    const status = { message: 'busy', color: 'blue' as const }
    const progress = { percent: 40, step: 'half' }
    const heartbeat = {
      kind: 'heartbeat',
      progress,
      status,
      usage,
      checkpoint: { at: 1 },
      sessionId: 's-2',
    } as const
    expect(callbacks.deliver(input.runId, heartbeat)).toBe('taken')
    await until(async () => events('session').length > 0)
    expect(reported.slice(-6)).toEqual([
      { hook: 'event', type: 'heartbeat', what: {} },
      { hook: 'event', type: 'progress', what: progress },
      { hook: 'status', what: status },
      { hook: 'event', type: 'checkpoint', what: { data: { at: 1 } } },
      { hook: 'usage', what: usage },
      { hook: 'event', type: 'session', what: { sessionId: 's-2' } },
    ])
    const result = { kind: 'result', result: [1], summary: 'Done', state: { step: 5 } } as const
    expect(callbacks.deliver(input.runId, result)).toBe('taken')
    expect(await over).toMatchObject({
      outcome: 'succeeded',
      agentState: { step: 5 },
      result: [1],
      summary: 'Done',
      wantsMore: false,
      usage,
      usageBasis: 'reported',
      sessionId: 's-2',
      runtimeStatePatch: { sessionId: 's-2' },
    })
    expect(callbacks.deliver(input.runId, { kind: 'heartbeat' })).toBe('unknown_run')
  })

  test('may report before its 202 has arrived', async () => {
    answer = (response, { body }) => {
      expect(callbacks.deliver(body.runId, { kind: 'result', result: 'quick' })).toBe('taken')
      response.writeHead(202).end()
    }
    expect((await invoke()).result).toMatchObject({ outcome: 'succeeded', result: 'quick' })
  })

  test('may fail later, and say why', async () => {
    answers(202)
    const first = await beginLater()
    callbacks.deliver(first.input.runId, { kind: 'heartbeat', usage: { inputTokens: 1, outputTokens: 2 } })
    callbacks.deliver(first.input.runId, { kind: 'failure', code: 'refused', message: 'I will not.' })
    expect(await first.over).toMatchObject({
      outcome: 'failed',
      errorCode: 'refused',
      errorMessage: 'I will not.',
      usage: { inputTokens: 1, outputTokens: 2 },
      usageBasis: 'partial',
    })
    const second = await beginLater()
    const retryAt = '2030-01-01T00:00:00Z'
    callbacks.deliver(second.input.runId, {
      kind: 'failure',
      code: 'rate_limited',
      message: 'Later.',
      retryAt,
    })
    expect(await second.over).toMatchObject({ errorCode: 'rate_limited', retryAt })
  })

  test('fails when it is silent too long, and is notified that the run is over', async () => {
    answer = (response, { method }) =>
      method === 'DELETE'
        ? response.writeHead(204).end()
        : response.writeHead(202, { location: '/jobs/7?a=b' }).end()
    const { result } = await invoke({}, { heartbeatTimeoutSec: 1, headers: { authorization: 'Bearer x' } })
    expect(result).toMatchObject({ outcome: 'failed', errorCode: 'timeout' })
    expect(result.errorMessage).toContain('silent for 1 seconds')
    expect(asked.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      'POST /run?key=secret-in-url',
      'DELETE /jobs/7?a=b',
    ])
    expect(asked[1]!.headers.authorization).toBe('Bearer x')
  })

  test('is waited for as long as it sends heartbeats, without leaving anything behind', async () => {
    answers(202)
    const stop = new AbortController()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    const { input, over, events } = await beginLater({}, { heartbeatTimeoutSec: 1 }, stop.signal)
    for (let heartbeats = 1; heartbeats <= 30; heartbeats++) {
      await new Promise((resolve) => setTimeout(resolve, 60))
      callbacks.deliver(input.runId, { kind: 'heartbeat' })
      await until(async () => events('heartbeat').length === heartbeats)
    }
    callbacks.deliver(input.runId, { kind: 'result' })
    expect(await over).toMatchObject({ outcome: 'succeeded' })
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  test('is notified when the run is stopped, but only if it was called', async () => {
    const others: string[] = []
    const other = createServer((request, response) => {
      others.push(request.url!)
      response.end()
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/jobs/7`
    for (const location of [elsewhere, `${url}/jobs/8`]) {
      answer = (response, { method }) =>
        method === 'DELETE' ? response.end() : response.writeHead(202, { location }).end()
      const stop = new AbortController()
      const { over } = await beginLater({}, {}, stop.signal)
      stop.abort()
      expect(await over).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
    }
    expect(asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'DELETE'])
    expect(others).toEqual([])
    other.close()
  })

  test('delays nothing when it does not accept the notification', async () => {
    answer = (response, { method }) => {
      if (method === 'POST') response.writeHead(202, { location: '/jobs/9' }).end()
    }
    const { over } = begin({ timeoutSec: 1 }, { graceSec: 1 })
    expect(await over).toMatchObject({ outcome: 'timed_out', errorCode: 'timeout' })
    expect(asked.map(({ method }) => method)).toEqual(['POST', 'DELETE'])
  })

  test('fails without a callback URL', async () => {
    answers(202)
    expect((await invoke({ callback: undefined })).result).toMatchObject({
      outcome: 'failed',
      errorCode: 'adapter_error',
    })
  })
})

describe('callbacks', () => {
  test.each([
    [{ kind: 'dance' }],
    [{ kind: 'heartbeat', percent: 5 }],
    [{ kind: 'heartbeat', usage: { inputTokens: -1, outputTokens: 0 } }],
    [{ kind: 'result', costUsd: 'much' }],
    [{ kind: 'failure' }],
    [{ kind: 'failure', message: 'x', code: 'claim_lost' }],
    [{ kind: 'failure', message: 'x', retryAt: 'soon' }],
  ])('are refused if malformed: %j', (message) => {
    expect(CallbackMessage.safeParse(message).success).toBe(false)
  })
})
