import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually, type Served } from '../../support/recovery.ts'
import { type Cluster, type RunsWorkspace, release, useRunNodes } from '../../support/run-nodes.ts'
import { listen, type Seen } from '../../support/runs.ts'
import { S3_CREDENTIALS, startS3 } from '../../support/s3.ts'
import { callsTo } from '../../support/server.ts'

/** Two nodes on one database, each a process with files of its own: what runs on one is seen, and answered, on the other. */

const MINUTES = { timeout: 300_000 }
const onLinux = describe.runIf(process.platform === 'linux')
const nodes = useRunNodes()

/** An agent behind a URL that accepts its work, and what it was asked. */
async function acceptingAgent() {
  const asked: Seen[] = []
  const stopped: string[] = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    if (request.method === 'DELETE') stopped.push(request.url!)
    else asked.push(JSON.parse(text))
    response.writeHead(202, { location: '/jobs/1' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { asked, stopped, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const say = (node: Served, { runId, callback }: Seen, body: object) =>
  callsTo(`${node.url}/api/v1`, callback.token)('POST', `/runs/${runId}/callback`, body)

/** A second server on the database, with a data folder of its own. */
const another = (cluster: Cluster, name: string, env: Record<string, string> = {}) =>
  cluster.serve({ BATON_DATA: join(cluster.home, name), ...env })

/** A run of an agent that has accepted its work, and what the agent was asked. */
async function accepted(w: RunsWorkspace, more: object = {}) {
  const agent = await acceptingAgent()
  const env = { authorization: 'Bearer secret-of-the-agent' }
  await w.hire('later', {
    adapterType: 'http',
    adapterConfig: { url: agent.url, headers: env, ...more },
  })
  const task = await w.make({ agent: 'later' })
  const run = await eventually(async () => {
    const [found] = await w.runs('&status=running')
    if (!found) return false
    const { body } = await w.call('GET', `/runs/${found.id}/events`)
    return body.items.some(({ message }: Seen) => message === 'accepted') && found
  })
  return { agent, task, run, ask: agent.asked[0] }
}

/** The settings of a node whose logs are in a bucket. */
async function bucketFor(): Promise<Record<string, string>> {
  const { settings, stop } = await startS3()
  onTestFinished(stop)
  const query = `endpoint=${settings.endpoint}&region=${settings.region}&forcePathStyle=true`
  return {
    BATON_LOGS: `s3://${settings.bucket}/${settings.prefix}?${query}`,
    AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  }
}

onLinux('the output of a run on one node', () => {
  test.each(['files', 'a bucket'])(
    'is followed and read on the other, with logs in %s; the node is killed, and what runs next is followed on',
    MINUTES,
    async (logs) => {
      const env = logs === 'files' ? {} : await bucketFor()
      const cluster = await nodes.cluster()
      const first = await cluster.serve({ BATON_NODE_NAME: 'first', ...env })
      const w = await cluster.workspace()
      const home = await w.hireWorker('dev', 'plain', { runtimeConfig: { node: 'first' } })
      const second = await another(cluster, 'second', { BATON_NODE_NAME: 'second', ...env })
      const api = `${second.url}/api/v1`
      const board = await listen(api, w.ownerKey, '?output=all')
      onTestFinished(() => void board.leave())
      const elsewhere = await listen(api, (await cluster.workspace()).ownerKey, '?output=all')
      onTestFinished(() => void elsewhere.leave())
      const task = await w.make({ agent: 'dev' })
      const run = await w.waits(task)
      await elsewhere.asks({ output: [run.id] })
      const there = callsTo(api, w.ownerKey)
      // What is followed on the other node is what the log says there, while it grows.
      await eventually(async () => board.text(run.id, 'stdout').includes('waiting'))
      const { body: log } = await there('GET', `/runs/${run.id}/log?limitBytes=4000000`)
      expect(log).toMatchObject({ status: 'writing' })
      expect(log.content).toContain('waiting')
      const whole = board.outputs.filter(({ runId }: Seen) => runId === run.id)
      expect(whole.map(({ chunk }: Seen) => chunk).join('')).toBe(log.content)
      // A part of it, with its spans.
      const { body: part } = await there('GET', `/runs/${run.id}/log?offset=3&limitBytes=10`)
      expect(part).toMatchObject({ content: log.content.slice(3, 13), nextOffset: 13 })
      expect(part.spans).toHaveLength(1)

      await cluster.kill(first)
      await release(home)
      await cluster.serve({ BATON_NODE_NAME: 'first', ...env })
      const [, again] = await w.runsOf(task, 'succeeded')
      await eventually(async () => board.text(again!.id, 'stdout').includes('waiting'))
      await board.hears('run_finished', { runId: again!.id })
      // The finished log is a file of the first node, or in the bucket.
      const { body: last } = await there('GET', `/runs/${again!.id}/log?limitBytes=4000000`)
      expect(last).toMatchObject({ status: 'available', nextOffset: null, content: await w.log(again!.id) })
      expect(elsewhere.outputs, 'of another workspace').toEqual([])
      await cluster.expectInOrder()
    },
  )

  test(
    'that nobody follows elsewhere writes no rows for others, and followed output leaves none behind',
    MINUTES,
    async () => {
      const cluster = await nodes.cluster()
      await cluster.serve({ BATON_NODE_NAME: 'first' })
      const w = await cluster.workspace()
      const written = async () =>
        (
          await cluster.rows<{ n: number }>(
            `select coalesce(pg_sequence_last_value('run_log_tail_number_seq'), 0)::int as n`,
          )
        )[0]!.n
      const home = await w.hireWorker('dev', 'plain', { runtimeConfig: { node: 'first' } })
      await release(home)
      const [quiet, loud] = [await w.make({ agent: 'dev' }), null as unknown as Seen]
      await w.runsOf(quiet, 'succeeded')
      expect(await written()).toBe(0)
      const second = await another(cluster, 'second', { BATON_NODE_NAME: 'second' })
      const board = await listen(`${second.url}/api/v1`, w.ownerKey)
      onTestFinished(() => void board.leave())
      const unfollowed = loud ?? (await w.make({ agent: 'dev' }))
      await w.runsOf(unfollowed, 'succeeded')
      expect(await written()).toBe(0)
      await board.asks({ output: 'all' })
      const followed = await w.make({ agent: 'dev' })
      const [run] = await w.runsOf(followed, 'succeeded')
      await eventually(async () => board.text(run!.id, 'stdout') !== '')
      expect(await written()).toBeGreaterThan(0)
      await eventually(async () => (await cluster.rows('select from run_log_tail')).length === 0)
    },
  )
})

onLinux('an agent that answers later', () => {
  test('is heard by every node, and none of its secrets is stored', MINUTES, async () => {
    const cluster = await nodes.cluster()
    await cluster.serve({ BATON_NODE_NAME: 'first' })
    const w = await cluster.workspace()
    const { run, task, ask } = await accepted(w)
    const second = await another(cluster, 'second')
    const secrets = ['secret-of-the-agent', ask.callback.token]
    const step = `with ${secrets.join(' and ')}`
    const answer = await say(second, ask, { kind: 'heartbeat', progress: { percent: 30, step } })
    expect(answer).toMatchObject({ status: 200, body: { taken: true, requests: [] } })
    await eventually(async () => (await w.read(task)).progress?.percent === 30)
    expect((await w.read(task)).progress.step).toBe('with [redacted] and [redacted]')
    const done = await say(second, ask, { kind: 'result', result: { step }, summary: step })
    expect(done.body).toMatchObject({ taken: true, status: 'succeeded' })
    const [found] = (await w.read(task, '/results')).items
    expect(found).toMatchObject({ result: { step: 'with [redacted] and [redacted]' } })
    // Late ones are refused, wherever they arrive.
    for (const node of [cluster.serving, second])
      expect((await say(node, ask, { kind: 'heartbeat' })).status).toBe(401)
    expect((await w.call('GET', `/runs/${run.id}`)).body.status).toBe('succeeded')
    await cluster.expectInOrder()
  })

  test('keeps its run through kill -9 of its node: another node takes the answer', MINUTES, async () => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve({ BATON_NODE_NAME: 'first' })
    const w = await cluster.workspace()
    const { run, task, ask, agent } = await accepted(w)
    const usage = { inputTokens: 5, outputTokens: 2 }
    await say(first, ask, { kind: 'heartbeat', usage, progress: { percent: 20 }, sessionId: 's-1' })
    await eventually(async () => (await w.call('GET', `/runs/${run.id}`)).body.tokens)
    await cluster.kill(first)
    await cluster.serve({ BATON_NODE_NAME: 'second' })
    // It is the same run, under the same claim.
    expect((await w.call('GET', `/runs/${run.id}`)).body).toMatchObject({
      status: 'running',
      nodeId: expect.not.stringContaining(run.nodeId),
    })
    expect(await w.read(task)).toMatchObject({ state: 'running', generation: 1 })
    expect((await say(cluster.serving, ask, { kind: 'heartbeat', progress: { percent: 60 } })).status).toBe(
      200,
    )
    await eventually(async () => (await w.read(task)).progress?.percent === 60)
    expect((await say(cluster.serving, ask, { kind: 'result', result: 1 })).body).toMatchObject({
      status: 'succeeded',
    })
    expect((await w.call('GET', `/runs/${run.id}`)).body).toMatchObject({
      ...{
        status: 'succeeded',
        generation: 1,
        tokens: { input: 5, output: 2 },
        usageBasis: 'reported',
        sessionIdAfter: 's-1',
      },
    })
    expect(await w.log(run.id)).toMatch(/accepted the work.*another node waits/s)
    expect((await w.runs()).length).toBe(1)
    expect(agent.asked).toHaveLength(1)
    expect(agent.stopped).toEqual([])
    await cluster.expectInOrder()
  })

  test(
    'may answer while no node waits for it: the answer is kept, and settles the run',
    MINUTES,
    async () => {
      const cluster = await nodes.cluster()
      const first = await cluster.serve({ BATON_NODE_NAME: 'first' })
      const w = await cluster.workspace()
      const { run, ask } = await accepted(w)
      const fault = await cluster.faultPoint('runs', 'update', 'new.finished_at is not null')
      const answering = say(first, ask, { kind: 'result', result: 'kept' }).catch(() => null)
      await fault.reached()
      await cluster.kill(first)
      await answering
      await fault.lift()
      await cluster.serve()
      const { body } = await eventually(async () => {
        const seen = await w.call('GET', `/runs/${run.id}`)
        return seen.body.finishedAt && seen
      })
      expect(body).toMatchObject({ status: 'succeeded', generation: 1, result: 'kept' })
      await w.isRecorded('task_completed', 1)
      expect((await w.runs()).length).toBe(1)
      await cluster.expectInOrder()
    },
  )

  test(
    'continues when its node is stopped, and can still be cancelled after the next start',
    MINUTES,
    async () => {
      const cluster = await nodes.cluster()
      const first = await cluster.serve()
      const w = await cluster.workspace()
      const { run, ask, agent } = await accepted(w)
      first.child.kill('SIGTERM')
      expect(await first.ended).toEqual({ code: 0, signal: null })
      expect(agent.stopped).toEqual([])
      expect(await cluster.rows('select status from runs')).toEqual([{ status: 'running' }])
      await cluster.serve()
      const cancelled = await w.call('POST', `/runs/${run.id}/cancel`, { reason: 'enough' })
      expect(cancelled.body).toMatchObject({ status: 'cancelled', errorCode: 'cancelled' })
      await eventually(async () => agent.stopped.length === 1)
      expect((await say(cluster.serving, ask, { kind: 'result', result: 1 })).status).toBe(401)
    },
  )

  test('has no longer than before when its node was lost: its deadline is on record', MINUTES, async () => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve()
    const w = await cluster.workspace()
    const { run, agent } = await accepted(w, { timeoutSec: 3_600 })
    const [row] = await cluster.rows<{ left: number }>(
      'select extract(epoch from answer_due_at - started_at)::int as left from runs',
    )
    expect(Math.abs(row!.left - 3_600)).toBeLessThan(60)
    await cluster.kill(first)
    await cluster.rows(`update runs set answer_due_at = clock_timestamp()`)
    // It has none of the files of the first.
    await another(cluster, 'second')
    await eventually(async () => (await w.call('GET', `/runs/${run.id}`)).body.finishedAt)
    expect((await w.call('GET', `/runs/${run.id}`)).body).toMatchObject({
      ...{ status: 'timed_out', errorCode: 'timeout', log: { truncated: true, status: 'available' } },
    })
    expect(await w.log(run.id)).toContain('another node waits')
    expect(agent.stopped).toEqual(['/jobs/1'])
    await cluster.expectInOrder()
  })

  test('is left alone by a node that was only cut off, when another has its run', MINUTES, async () => {
    const cluster = await nodes.cluster()
    const node = await cluster.serve()
    const w = await cluster.workspace()
    const { run, ask, agent } = await accepted(w)
    // A node that nobody knows: it counts as lost, and the run is adopted from it in turn.
    await cluster.rows('update runs set node_id = gen_random_uuid()')
    const told = async () =>
      (await w.call('GET', `/runs/${run.id}/events`)).body.items.map(({ message }: Seen) => message)
    await eventually(async () => (await told()).includes('left to another node'))
    expect(agent.stopped).toEqual([])
    expect((await w.call('GET', `/runs/${run.id}`)).body.status).toBe('running')
    expect((await say(node, ask, { kind: 'result', result: 1 })).body).toMatchObject({ status: 'succeeded' })
    expect(await told()).toContain('taken over')
    await cluster.expectInOrder()
  })

  test('whose claim was lost meanwhile does not get it back', MINUTES, async () => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve()
    const w = await cluster.workspace()
    const { run, task, ask } = await accepted(w)
    await cluster.kill(first)
    await cluster.rows(`update tasks set lease_expires_at = clock_timestamp() - interval '1 second'`)
    await cluster.serve()
    await eventually(async () => (await w.call('GET', `/runs/${run.id}`)).body.finishedAt)
    const { body } = await w.call('GET', `/runs/${run.id}`)
    expect(body).toMatchObject({ status: 'cancelled', errorCode: 'claim_lost' })
    expect((await say(cluster.serving, ask, { kind: 'result', result: 'late' })).status).toBe(401)
    expect((await w.read(task, '/results')).items).toEqual([])
    await cluster.expectInOrder()
  })
})
