import { beforeEach, describe, expect, test, vi } from 'vitest'
import { WakeupRequests, wakeAgent } from '../../../src/kinds/run/acts/wakeups.ts'
import { waitingClaims } from '../../../src/kinds/run/postgres/dispatch.ts'
import { MAX_CHAIN_DEPTH } from '../../../src/kinds/run/rules/wakeups.ts'
import { until } from '../../support/nodes.ts'
import { askForWakeups, wakeupRequest } from '../../support/run-steps.ts'
import { granted, type Hold, type Task } from '../../support/tasks.ts'
import { HERE, useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/** What keeps agents from waking each other forever, and what must not be mistaken for that. */

const cluster = useCluster()
const AGENT = 'alpha'
const OTHER = 'beta'

// What other tests left would use the capacity of nodes.
beforeEach(() => cluster.rows('delete from wakeups'))

async function withAgent(heartbeat: Record<string, unknown> = {}, more = {}) {
  const h = await cluster.workspace()
  await h.agent(AGENT, heartbeat, more)
  return h
}

/** Its run begins and ends at once. */
async function runOnce(h: WakeupWorkspace, ask: Parameters<WakeupWorkspace['wake']>[1]) {
  const wakeup = await h.wake(AGENT, ask)
  if (wakeup.status === 'queued') await h.end((await h.take(wakeup))!.runId, AGENT)
  return wakeup.skipReason ?? wakeup.status
}

const isDueNow = (h: WakeupWorkspace) =>
  cluster.rows(
    `update wakeups set due_at = clock_timestamp() where workspace_id = $1 and status = 'queued'`,
    [h.id],
  )

describe('without a task', () => {
  test('programs wake an agent no more often within an hour than for a task', async () => {
    const h = await withAgent({ maxWakeupsPerTaskPerHour: 2 })
    const ask = { source: 'automation', actor: 'agent:beta' } as const
    expect([await runOnce(h, ask), await runOnce(h, ask), await runOnce(h, ask)]).toEqual([
      'queued',
      'queued',
      'RATE_CAPPED',
    ])
    expect(await runOnce(h, { ...ask, actor: 'key:ci' }), 'for any agent').toBe('RATE_CAPPED')
    expect(await h.events('wakeup_skipped')).toMatchObject([
      { actor: 'agent:beta', payload: { because: 'RATE_CAPPED', taskId: null } },
      { actor: 'key:ci', payload: { because: 'RATE_CAPPED' } },
    ])
    await cluster.rows(
      `update wakeups set requested_at = requested_at - interval '61 minutes' where workspace_id = $1`,
      [h.id],
    )
    expect(await runOnce(h, ask), 'an hour later').toBe('queued')
  })

  test('people and its timer still wake it', async () => {
    const h = await withAgent({ maxWakeupsPerTaskPerHour: 1, intervalSec: 60 })
    expect(await runOnce(h, { source: 'automation' })).toBe('queued')
    expect(await runOnce(h, { source: 'automation' })).toBe('RATE_CAPPED')
    for (const source of ['on_demand', 'on_demand', 'timer', 'timer'] as const)
      expect(await runOnce(h, { source }), source).toBe('queued')
  })

  test('many concurrent requests are counted one by one', async () => {
    const h = await withAgent({ maxWakeupsPerTaskPerHour: 1 })
    await h.agent(OTHER, { maxWakeupsPerTaskPerHour: 1 })
    expect(await runOnce(h, { source: 'automation' })).toBe('queued')
    const asks = [AGENT, OTHER, AGENT, OTHER].map((agent) => ({
      agent,
      asked: wakeupRequest({ source: 'automation' }),
    }))
    const asked = await askForWakeups(h.store, h.id, asks)
    expect(asked.map((wakeup) => wakeup!.skipReason ?? wakeup!.status)).toEqual([
      'RATE_CAPPED',
      'queued',
      'RATE_CAPPED',
      'RATE_CAPPED',
    ])
  })
})

describe('a chain of wakeups', () => {
  test('goes to its maximum depth, and no further', async () => {
    const h = await withAgent()
    const deep = { source: 'automation', actor: 'agent:beta' } as const
    expect(await runOnce(h, { ...deep, depth: MAX_CHAIN_DEPTH })).toBe('queued')
    expect(await runOnce(h, { ...deep, depth: MAX_CHAIN_DEPTH + 1 })).toBe('CHAIN_TOO_DEEP')
    expect(await h.events('wakeup_skipped')).toMatchObject([{ payload: { because: 'CHAIN_TOO_DEEP' } }])
  })

  const depths = (h: WakeupWorkspace) =>
    cluster.rows<{ depth: number }>('select depth from runs where workspace_id = $1 order by created_at', [
      h.id,
    ])

  test('is one deeper than the run that requested it', async () => {
    const h = await withAgent()
    await h.agent(OTHER)
    const run = { runId: '', agent: OTHER, agentId: '', taskUuid: null, generation: null, depth: 2 }
    const caller = { workspaceId: h.id, actor: `agent:${OTHER}`, rights: new Set<never>(), run }
    const body = { source: 'on_demand', triggerDetail: 'manual' } as const
    const { wakeup } = await wakeAgent(new WakeupRequests(h.kernel), caller, AGENT, body)
    expect(wakeup).toMatchObject({ source: 'automation', triggerDetail: null, depth: 3 })
    await h.take(wakeup)
    expect(await depths(h)).toEqual([{ depth: 3 }])
  })

  test('starts again with a person, whose wakeup is merged into a waiting one', async () => {
    const h = await withAgent()
    const waiting = await h.wake(AGENT, { source: 'automation', depth: 4 })
    expect(await h.wake(AGENT, { source: 'on_demand' })).toMatchObject({ status: 'coalesced' })
    await h.take(waiting)
    expect(await depths(h)).toEqual([{ depth: 0 }])
  })

  test('does not become shorter by a program’s wakeup that is merged', async () => {
    const h = await withAgent()
    const waiting = await h.wake(AGENT, { source: 'automation', depth: 2 })
    await h.wake(AGENT, { source: 'automation', depth: 4 })
    await h.take(waiting)
    expect(await depths(h)).toEqual([{ depth: 2 }])
  })

  test('does not start again with the continuation of a task', async () => {
    const h = await withAgent()
    const task = await h.work.create()
    const first = (await h.take(await h.wake(AGENT, { source: 'automation', depth: 3, task })))!
    const hold = await wantsMore(h, task)
    await cluster.rows(
      `update runs set status = 'running', started_at = clock_timestamp(), task_id = $2, task_uuid = $3, generation = $4,
              attempt = 1, session = $5 where workspace_id = $1`,
      [h.id, task.id, task.uuid, hold.generation, hold.session],
    )
    await h.end(first.runId, AGENT)
    await h.wakeForWork()
    await isDueNow(h)
    await h.take({ agent: AGENT })
    expect(await depths(h)).toEqual([{ depth: 3 }, { depth: 3 }])
  })
})

/** The agent claims the task, starts, and requests a continuation. */
async function wantsMore(h: WakeupWorkspace, task: Task, hold?: Hold): Promise<Hold> {
  const held = hold ?? granted(await h.work.claim(task, { agent: AGENT, session: `agent:${AGENT}` }))
  await h.work.start(task, held)
  await h.work.continueLater(task, held)
  return held
}

describe('a continuation', () => {
  test('is not counted among the wakeups of an hour, and is not blocked by them', async () => {
    const h = await withAgent({ maxWakeupsPerTaskPerHour: 1 })
    const task = await h.work.create()
    expect(await runOnce(h, { task })).toBe('queued')
    const hold = await wantsMore(h, task)
    for (const turn of [1, 2, 3]) {
      expect(await h.wakeForWork()).toBe(1)
      await isDueNow(h)
      const taken = await h.take({ agent: AGENT })
      expect(taken?.decision.kind, `turn ${turn}`).toBe('run')
      await h.end(taken!.runId, AGENT)
      await wantsMore(h, task, hold)
    }
    expect(await h.work.record(task)).toMatchObject({ state: 'continuing', continuations: 4 })
    expect(await h.wake(AGENT, { task }), 'others are counted still').toMatchObject({
      skipReason: 'RATE_CAPPED',
    })
    await h.agent(AGENT, { maxWakeupsPerTaskPerHour: 2 })
    expect(await h.wake(AGENT, { task }), 'and continuations not among them').toMatchObject({
      status: 'queued',
    })
  })

  const leaseLeftMs = async (h: WakeupWorkspace, { id }: Task) =>
    (
      await cluster.rows<{ left: number }>(
        `select (ms(lease_expires_at) - ms(clock_timestamp()))::float8 as left from tasks where workspace_id = $1 and id = $2`,
        [h.id, id],
      )
    )[0]!.left
  const shortenLease = (h: WakeupWorkspace, { id }: Task) =>
    cluster.rows(
      `update tasks set lease_expires_at = clock_timestamp() + interval '100 seconds' where workspace_id = $1 and id = $2`,
      [h.id, id],
    )

  test('that waits for capacity keeps its claim: it is renewed until it runs', {
    timeout: 60_000,
  }, async () => {
    const h = await withAgent()
    await h.agent(OTHER)
    const node = await cluster.node('full', 1)
    node.takesMs = null
    node.run()
    const task = await h.work.create()
    await h.wake(AGENT, { task })
    await until(async () => h.invokedBy(node).length === 1)
    // Takes the only place as soon as it is free.
    await h.wake(OTHER)
    h.invokedBy(node)[0]!.end({ wantsMore: true })
    await until(async () => h.invokedBy(node).length === 2)
    await until(async () => (await h.waiting()).length === 1)
    expect(await h.work.record(task)).toMatchObject({ state: 'continuing' })
    await shortenLease(h, task)
    await until(async () => (await leaseLeftMs(h, task)) > 200_000)
    h.invokedBy(node)[1]!.end()
    await until(async () => h.invokedBy(node).length === 3)
    h.invokedBy(node)[2]!.end()
    await until(async () => (await h.work.record(task)).state === 'completed')
    expect(await h.work.record(task)).toMatchObject({ generation: 1, attempt: 1, continuations: 1 })
  })

  test('keeps its claim only where a node could run it, and only while it waits', async () => {
    const h = await cluster.workspace()
    await h.agent(AGENT, {}, { runtimeConfig: { node: HERE } })
    const task = await h.work.create()
    const hold = await wantsMore(h, task)
    const waiting = async (node = HERE) =>
      (await waitingClaims(h.store.readers, node)).filter(({ workspaceId }) => workspaceId === h.id)
    await h.wakeForWork()
    expect(await waiting(), 'most of its lease is left').toEqual([])
    await shortenLease(h, task)
    expect(await waiting()).toMatchObject([{ uuid: task.uuid, generation: 1, agent: AGENT }])
    expect(await waiting('elsewhere')).toEqual([])
    await h.work.start(task, hold)
    expect(await waiting(), 'it continues').toEqual([])
  })
})

describe('a run that timed out', () => {
  test('gives the next attempt twice the time, and the continuations of that attempt as well', {
    timeout: 60_000,
  }, async () => {
    const h = await withAgent({}, { adapterConfig: { timeoutSec: 100 } })
    const node = await cluster.node('patient')
    node.takesMs = null
    node.run()
    const task = await h.work.create()
    const timesOut = { outcome: 'timed_out', errorCode: 'timeout' } as const
    const given: number[] = []
    for (const end of [timesOut, { outcome: 'failed' }, { wantsMore: true }, timesOut, {}] as const) {
      await isDueNow(h)
      if ((await h.waiting()).length === 0) await h.wake(AGENT, { task })
      await until(async () => h.invokedBy(node).length > given.length)
      const [run] = h.invokedBy(node).slice(-1)
      given.push(run!.input.timeoutSec)
      run!.end(end)
      await until(async () => (await h.runs()).every(({ status }) => status !== 'running'))
      await cluster.rows(
        `update tasks set due_at = clock_timestamp() where workspace_id = $1 and state = 'awaiting_retry'`,
        [h.id],
      )
    }
    expect(given).toEqual([100, 200, 200, 200, 400])
    await until(async () => (await h.work.record(task)).state === 'completed')
  })
})

describe('a rate-limited account', () => {
  test('rests by the clock of the database, however wrong this machine’s is', {
    timeout: 60_000,
  }, async () => {
    const h = await withAgent()
    const node = await cluster.node('out-of-time')
    node.takesMs = null
    node.run()
    await h.wake(AGENT, { task: await h.work.create() })
    await until(async () => h.invokedBy(node).length === 1)
    const realNow = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 30 * 86_400_000)
    try {
      h.invokedBy(node)[0]!.end({ outcome: 'failed', errorCode: 'rate_limited' })
      await until(async () => (await h.runs())[0]!.status === 'failed')
    } finally {
      vi.restoreAllMocks()
    }
    const [{ ahead }] = (await cluster.rows<{ ahead: number }>(
      `select (ms(parked_until) - ms(clock_timestamp()))::float8 as ahead from agent_runtime_state where workspace_id = $1`,
      [h.id],
    )) as [{ ahead: number }]
    expect(ahead).toBeLessThanOrEqual(60_000)
  })
})
