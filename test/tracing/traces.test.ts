import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Collector, startCollector } from '../support/collector.ts'
import { openWorkspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { type ServerUnderTest, startAnother, startServer } from '../support/server.ts'

const Health = z.object({ gateway: z.string() })
const digits = (uuid: string) => uuid.replaceAll('-', '')

/** Says what it was given, calls a tool that works and one that does not, and submits. */
const PROGRAM = `
  const say = (line) => console.log(JSON.stringify(line))
  say({ baton: 'call', signature: 'Read secret-file.txt' })
  say({ baton: 'call', signature: 'Bash rm', isError: true })
  say({ baton: 'usage', usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 90 } })
  say({ result: process.env.TRACEPARENT ?? null, summary: 'Done.' })`
const AGENT = { adapterType: 'process', adapterConfig: { command: process.execPath, args: ['-e', PROGRAM] } }

describe('with a collector', () => {
  let collector: Collector
  let api: ServerUnderTest
  let worker: ServerUnderTest
  beforeAll(async () => {
    collector = await startCollector()
    const traced = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      BATON_TRACE_URL: 'https://traces.example/t/{traceId}',
    }
    api = await startServer({ ...traced, BATON_MAX_RUNS: '0', BATON_NODE_NAME: 'api' })
    worker = await startAnother(api, { ...traced, BATON_NODE_NAME: 'worker' })
  })
  afterAll(async () => {
    await worker.close()
    await api.close()
    await collector.close()
  })
  const spanNamed = (start: string, traceId: string) =>
    until(async () => collector.spans.find((span) => span.name.startsWith(start) && span.traceId === traceId))

  test('a mission, its runs and their calls are one trace, whichever node ends them', async () => {
    const w = await openWorkspace(api)
    await w.call('PUT', '/agents/dev', AGENT)
    await w.call('PUT', '/agents/alpha', { coordinatorEnabled: false })
    const tasks = [
      { tempId: 'a', title: 'Build', taskType: 'coding', agent: 'dev' },
      // Not for the agent of the first: it would take both.
      { tempId: 'b', title: 'Look', taskType: 'review', agent: 'alpha', dependsOn: ['a'] },
    ]
    const config = { autonomy: 'full_auto' }
    const mission = (
      await w.post('/missions', { goal: 'a goal that stays here', title: 'Ship', plan: { tasks }, config })
    ).body
    const traceId = digits(mission.id)
    // The run is executed by the one node; the mission ends on the other.
    const { claims } = await until(async () => {
      const next = await w.next({ waitMs: 1_000 })
      return next.claims.length > 0 && next
    })
    const { taskId, generation } = claims[0]
    const submit = { session: 's-alpha', generation, result: 1 }
    expect((await w.post(`/tasks/${taskId}/submit`, submit)).status).toBe(200)

    const whole = await spanNamed('invoke_workflow', traceId)
    const run = await spanNamed('invoke_agent', traceId)
    const calls = [
      await spanNamed('execute_tool Read', traceId),
      await spanNamed('execute_tool Bash', traceId),
    ]
    expect([whole.node, run.node, ...calls.map(({ node }) => node)]).toEqual([
      'api',
      'worker',
      'worker',
      'worker',
    ])
    expect([whole.parentSpanId ?? '', run.parentSpanId]).toEqual(['', whole.spanId])
    expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual([run.spanId, run.spanId])
    expect(new Set([whole, run, ...calls].map(({ spanId }) => spanId)).size).toBe(4)
    for (const { startTimeUnixNano, endTimeUnixNano } of [whole, run, ...calls])
      expect(endTimeUnixNano).toBeGreaterThanOrEqual(startTimeUnixNano)
    expect(whole.startTimeUnixNano).toBeLessThanOrEqual(run.startTimeUnixNano)

    expect(whole.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'Ship',
      'baton.mission.state': 'completed',
    })
    expect(run.attributes).toMatchObject({
      ...{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'dev' },
      ...{ 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 5 },
      'baton.run.status': 'succeeded',
    })
    expect(calls.map(({ attributes }) => attributes['gen_ai.tool.name'])).toEqual(['Read', 'Bash'])
    expect(calls.map(({ status }) => status.code ?? 0)).toEqual([0, 2])
    // Neither goals nor arguments of calls leave the server.
    expect(JSON.stringify(collector.spans)).not.toMatch(/stays here|secret-file/)

    // Its program continues the trace.
    const { items } = (await w.call('GET', `/missions/${mission.id}/tasks`)).body
    const built = items.find(({ title }: { title: string }) => title === 'Build')
    const results = await w.read(built, '/results')
    expect(results.items[0].result).toBe(`00-${traceId}-${run.spanId}-01`)
  })

  test('a task without a mission is a trace of its own, and a run that failed says so', async () => {
    const w = await openWorkspace(api)
    const failing = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    await w.call('PUT', '/agents/dev', { ...AGENT, adapterConfig: failing })
    const task = await w.make({ agent: 'dev', maxRetries: 0 })
    const run = await spanNamed('invoke_agent', digits(task.id))
    expect([run.parentSpanId ?? '', run.status.code]).toEqual(['', 2])
    expect(run.attributes).toMatchObject({ 'error.type': 'nonzero_exit', 'baton.run.status': 'failed' })
  })

  test('a node that executes no runs is no gateway', async () => {
    const gateway = async () => {
      const answer = await fetch(`${api.url}/health/coordinator`)
      return Health.parse(await answer.json()).gateway
    }
    expect(await gateway()).toBe('reachable')
    const alone = await startServer({ BATON_MAX_RUNS: '0' })
    const answer = await fetch(`${alone.url}/health/coordinator`)
    expect(Health.parse(await answer.json()).gateway).toBe('unreachable')
    const { items } = (await api.call('GET', '/nodes')).body
    const most = items
      .map(({ name, mostRuns }: { name: string; mostRuns: number }) => [name, mostRuns])
      .sort()
    expect(most).toEqual([
      ['api', 0],
      ['worker', 64],
    ])
    await alone.close()
  })

  test('pages learn where a trace is shown', async () => {
    const { body } = await api.call('GET', '/session')
    expect(body.traceUrl).toBe('https://traces.example/t/{traceId}')
  })
})

describe('a collector that', () => {
  const runsAndStops = async (endpoint: string) => {
    const server = await startServer({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
    const w = await openWorkspace(server)
    await w.call('PUT', '/agents/dev', AGENT)
    const task = await w.make({ agent: 'dev' })
    await w.reaches(task, 'completed')
    await w.happens('run_finished')
    await server.close()
  }

  test('cannot be reached holds up neither runs nor the stop of the server', () =>
    runsAndStops('http://127.0.0.1:1'))

  test('never answers holds up neither runs nor the stop of the server', async () => {
    const silent = await startCollector({ answers: false })
    try {
      await runsAndStops(silent.url)
      expect(silent.requests).toBeGreaterThan(0)
    } finally {
      await silent.close()
    }
  })
})

test('without a collector agents get no trace, and pages no address', async () => {
  const server = await startServer()
  try {
    const w = await openWorkspace(server)
    await w.call('PUT', '/agents/dev', AGENT)
    const task = await w.make({ agent: 'dev' })
    await w.reaches(task, 'completed')
    expect((await w.read(task, '/results')).items[0].result).toBeNull()
    expect((await server.call('GET', '/session')).body.traceUrl).toBeNull()
  } finally {
    await server.close()
  }
})
