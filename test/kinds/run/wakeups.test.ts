import { describe, expect, test } from 'vitest'
import { WakeupRequests, wakeAgent, wakeByClock } from '../../../src/kinds/run/acts/wakeups.ts'
import { deleteOldWakeups } from '../../../src/kinds/run/postgres/wakeups.ts'
import { WAKEUP_SOURCES } from '../../../src/kinds/run/rules/wakeups.ts'
import { serverDirectory } from '../../../src/store/directory.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { commandAgent, pause, register, remove, resume, terminate } from '../../support/agents.ts'
import { until } from '../../support/nodes.ts'
import {
  askForWakeups,
  parkCredential,
  resetSessions,
  scheduleTimers,
  wakeupRequest,
} from '../../support/run-steps.ts'
import { HERE, useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/** Wakeups: requested, waiting, and claimed; on a real database. */

const cluster = useCluster()
const AGENT = 'alpha'

async function withAgent(heartbeat: Record<string, unknown> = {}, more = {}): Promise<WakeupWorkspace> {
  const h = await cluster.workspace()
  await h.agent(AGENT, heartbeat, more)
  return h
}
/** The agent has one active run. */
async function withRun(task: { id: number; uuid: string } | null = null) {
  const h = await withAgent()
  const wakeup = await h.wake(AGENT, { task, reason: 'the first' })
  const { runId } = (await h.take(wakeup))!
  return { h, wakeup, runId }
}

describe('a wakeup', () => {
  test('waits in a row, is recorded, and is found by any node with capacity', async () => {
    const h = await withAgent()
    const asked = { reason: 'look at the news', payload: { page: 3 }, source: 'automation' } as const
    const wakeup = await h.wake(AGENT, asked)
    expect(wakeup).toMatchObject({
      ...asked,
      status: 'queued',
      agent: AGENT,
      taskUuid: null,
      coalescedCount: 0,
    })
    expect(await h.due()).toMatchObject([{ id: wakeup.id, agent: AGENT }])
    const [event] = await h.events('wakeup_requested')
    expect(event).toMatchObject({
      actor: 'key:test',
      payload: {
        agent: AGENT,
        wakeupId: wakeup.id,
        source: 'automation',
        reason: 'look at the news',
        taskId: null,
      },
    })
  })

  test('that is claimed is a run, once, and ends with it', async () => {
    const h = await withAgent()
    const wakeup = await h.wake(AGENT)
    const taken = await Promise.all(Array.from({ length: 8 }, () => h.take(wakeup)))
    expect(taken.filter((one) => one !== null)).toHaveLength(1)
    const { runId } = taken.find((one) => one !== null)!
    expect(await h.wakeup(wakeup.id)).toMatchObject({ status: 'claimed', runId })
    expect(await h.end(runId, AGENT)).toBe(true)
    expect(await h.end(runId, AGENT), 'the end comes once').toBe(false)
    expect(await h.wakeup(wakeup.id)).toMatchObject({ status: 'completed', error: null })
    expect((await h.runs()).map(({ status }) => status)).toEqual(['succeeded'])
  })

  test.each([
    ['failed', 'failed'],
    ['timed_out', 'failed'],
    ['cancelled', 'cancelled'],
  ] as const)('whose run ends %s is %s, and says why', async (status, shown) => {
    const { h, wakeup, runId } = await withRun()
    await h.end(runId, AGENT, { status, errorCode: 'timeout', errorMessage: 'too slow' })
    expect(await h.wakeup(wakeup.id)).toMatchObject({ status: shown, error: 'too slow' })
  })

  test('survives the store that claimed it: another one finds it and runs it', async () => {
    const h = await withAgent()
    const first = await PostgresStore.open(cluster.url())
    const wakeup = await h.wake(AGENT, { reason: 'before the restart' }, first)
    await first.close()
    const second = await PostgresStore.open(cluster.url())
    try {
      expect((await h.take(wakeup, second))?.decision.kind).toBe('run')
    } finally {
      await second.close()
    }
  })
})

describe('a wakeup equal to a waiting one', () => {
  test('is merged into it, with its reason, its source and its payload', async () => {
    const h = await withAgent()
    const first = await h.wake(AGENT, { reason: 'one', payload: { n: 1 } })
    const second = await h.wake(AGENT, { reason: 'two', payload: { n: 2 }, source: 'automation' })
    const third = await h.wake(AGENT, { reason: 'three', source: 'automation', triggerDetail: 'callback' })
    expect([second, third]).toMatchObject([
      { status: 'coalesced', intoId: first.id, reason: 'two' },
      { status: 'coalesced', intoId: first.id, reason: 'three' },
    ])
    expect(await h.waiting()).toMatchObject([
      { id: first.id, coalescedCount: 2, reason: 'three', source: 'automation', payload: { n: 2 } },
    ])
    expect(await h.events('wakeup_coalesced')).toHaveLength(2)
    expect(await h.due()).toHaveLength(1)
  })

  test('does not lower its priority: a person still waits for it', async () => {
    const h = await withAgent({ intervalSec: 60 })
    await h.wake(AGENT, { source: 'on_demand' })
    for (const source of ['timer', 'automation', 'assignment'] as const) await h.wake(AGENT, { source })
    expect(await h.waiting()).toMatchObject([{ priority: 3, coalescedCount: 3 }])
  })

  test('and raises it, when a person requests what a timer requested', async () => {
    const h = await withAgent()
    await h.wake(AGENT, { source: 'automation' })
    await h.wake(AGENT, { source: 'on_demand' })
    expect(await h.waiting()).toMatchObject([{ priority: 3, source: 'on_demand' }])
  })

  test('advances it when it is more urgent, and never delays it', async () => {
    const h = await withAgent()
    await h.wake(AGENT, { delayMs: 3_600_000 })
    expect(await h.due()).toEqual([])
    await h.wake(AGENT, { delayMs: 7_200_000 })
    const [later] = await h.waiting()
    expect(later!.dueAt - later!.requestedAt).toBe(3_600_000)
    await h.wake(AGENT)
    expect(await h.due()).toHaveLength(1)
    await h.wake(AGENT, { delayMs: 3_600_000 })
    expect(await h.due(), 'the last one is not urgent').toHaveLength(1)
  })

  test('is equal only for the same agent and the same task', async () => {
    const h = await withAgent({}, { maxConcurrentTasks: null })
    await h.agent('beta')
    const [one, two] = [await h.work.create(), await h.work.create()]
    const asks = [
      { agent: AGENT },
      { agent: AGENT, task: one },
      { agent: AGENT, task: two },
      { agent: 'beta', task: one },
    ]
    for (const { agent, ...ask } of [...asks, ...asks]) await h.wake(agent, ask)
    expect((await h.waiting()).map(({ coalescedCount }) => coalescedCount)).toEqual([1, 1, 1, 1])
  })

  test('adds the claim it is to be run under, and does not lose it', async () => {
    const h = await withAgent()
    const task = await h.work.create()
    await h.wake(AGENT, { task })
    await h.wake(AGENT, { task, generation: 1, source: 'assignment' })
    await h.wake(AGENT, { task })
    expect(await h.waiting()).toMatchObject([{ generation: 1, coalescedCount: 2 }])
  })

  test('requested in the same batch', async () => {
    const h = await withAgent()
    const asks = Array.from({ length: 5 }, (_, i) => ({
      agent: AGENT,
      asked: wakeupRequest({ reason: `${i}` }),
    }))
    const answers = await askForWakeups(h.store, h.id, asks)
    expect(answers.map((one) => one?.status)).toEqual(['queued', ...Array(4).fill('coalesced')])
    expect(await h.waiting()).toMatchObject([{ coalescedCount: 4, reason: '4' }])
  })
})

describe('a wakeup during a run', () => {
  test('without a task is merged into it, whatever that is about', async () => {
    const { h, wakeup, runId } = await withRun()
    expect(await h.wake(AGENT, { reason: 'again' })).toMatchObject({ status: 'coalesced', intoId: wakeup.id })
    expect(await h.wakeup(wakeup.id)).toMatchObject({ status: 'claimed', coalescedCount: 1, reason: 'again' })
    await h.end(runId, AGENT)
    expect(await h.wake(AGENT), 'it is over').toMatchObject({ status: 'queued' })
  })

  test('about its task is merged into it from the moment it was claimed; about another task it waits', async () => {
    const h = await withAgent()
    const [own, other] = [await h.work.create(), await h.work.create()]
    const wakeup = await h.wake(AGENT, { task: own })
    await h.take(wakeup)
    expect(await h.wake(AGENT, { task: own })).toMatchObject({ status: 'coalesced', intoId: wakeup.id })
    expect(await h.wake(AGENT, { task: other })).toMatchObject({ status: 'queued' })
  })

  test('does not change when the one it is merged into was due', async () => {
    const { h, wakeup } = await withRun()
    const { dueAt } = await h.wakeup(wakeup.id)
    await h.wake(AGENT, { delayMs: 60_000 })
    expect((await h.wakeup(wakeup.id)).dueAt).toBe(dueAt)
  })
})

describe('the same idempotency key', () => {
  test('gets the first wakeup as its answer, also when that is over', async () => {
    const h = await withAgent()
    const first = await h.wake(AGENT, { idempotencyKey: 'k-1', reason: 'first' })
    expect(await h.wake(AGENT, { idempotencyKey: 'k-1', reason: 'again' })).toEqual(first)
    const { runId } = (await h.take(first))!
    await h.end(runId, AGENT)
    expect(await h.wake(AGENT, { idempotencyKey: 'k-1' })).toMatchObject({
      id: first.id,
      status: 'completed',
    })
    expect(await h.wakeups()).toHaveLength(1)
  })

  test('requested fifty times at once makes one wakeup', async () => {
    const h = await withAgent()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => h.wake(AGENT, { idempotencyKey: 'k-2' })),
    )
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await h.wakeups()).toMatchObject([{ status: 'queued', coalescedCount: 0 }])
  })

  test('twice in one batch makes one wakeup', async () => {
    const h = await withAgent()
    const asks = [1, 2].map(() => ({ agent: AGENT, asked: wakeupRequest({ idempotencyKey: 'k' }) }))
    const [one, two] = await askForWakeups(h.store, h.id, asks)
    expect(two!.id).toBe(one!.id)
  })

  test('is another one for another agent, and in another workspace', async () => {
    const [h, other] = [await withAgent(), await withAgent()]
    await h.agent('beta')
    const ids = [
      (await h.wake(AGENT, { idempotencyKey: 'k' })).id,
      (await h.wake('beta', { idempotencyKey: 'k' })).id,
      (await other.wake(AGENT, { idempotencyKey: 'k' })).id,
    ]
    expect(new Set(ids).size).toBe(3)
  })

  test('of one that was skipped, or merged into another, is answered with that', async () => {
    const h = await withAgent({ wakeOnAutomation: false })
    const skipped = await h.wake(AGENT, { source: 'automation', idempotencyKey: 's' })
    await h.agent(AGENT)
    expect(await h.wake(AGENT, { source: 'automation', idempotencyKey: 's' })).toEqual(skipped)
    await h.wake(AGENT)
    const counted = await h.wake(AGENT, { idempotencyKey: 'c' })
    expect(await h.wake(AGENT, { idempotencyKey: 'c' })).toEqual(counted)
    expect(await h.waiting()).toMatchObject([{ coalescedCount: 1 }])
  })
})

describe('with one run at a time', () => {
  test('people come before tasks, tasks before timers and programs, and within each in order of arrival', async () => {
    const h = await withAgent({ intervalSec: 60 })
    const order = ['timer', 'automation', 'assignment', 'on_demand', 'assignment', 'on_demand'] as const
    const asked: { id: string; source: string }[] = []
    for (const source of order) {
      const task = await h.work.create()
      asked.push({ id: (await h.wake(AGENT, { source, task })).id, source })
    }
    const ran: string[] = []
    for (let due = await h.due(); due.length > 0; due = await h.due()) {
      const { runId, decision } = (await h.take(due[0]!))!
      expect(decision.kind).toBe('run')
      ran.push(due[0]!.id)
      expect(await h.due(), 'no room for another').toEqual([])
      if (ran.length < order.length) expect((await h.take(due[0]!))!.decision.kind).toBe('busy')
      await h.end(runId, AGENT)
    }
    const expected = [3, 5, 2, 4, 0, 1].map((at) => asked[at]!.id)
    expect(ran).toEqual(expected)
  })

  test('a wakeup that became first meanwhile is claimed first, whatever was read before', async () => {
    const h = await withAgent()
    await h.wake(AGENT, { source: 'automation', task: await h.work.create() })
    const [seen] = await h.due()
    const urgent = await h.wake(AGENT, { source: 'on_demand', task: await h.work.create() })
    expect((await h.take(seen!))!.wakeup.id).toBe(urgent.id)
  })

  test('no more is due for an agent than it has room for, and other agents are not affected', async () => {
    const h = await withAgent({}, { maxConcurrentTasks: 2 })
    await h.agent('beta')
    for (const agent of [AGENT, 'beta'])
      for (let i = 0; i < 4; i++) await h.wake(agent, { task: await h.work.create() })
    const agents = async () => (await h.due()).map(({ agent }) => agent)
    expect(await agents()).toEqual([AGENT, AGENT, 'beta'])
    await h.take({ agent: AGENT })
    expect(await agents()).toEqual([AGENT, 'beta'])
  })

  test.each(['a run', 'a rest of its account'])(
    'what waits behind %s does not wait for it when the agent is paused',
    async (what) => {
      const h = await withAgent()
      const task = await h.work.create()
      if (what === 'a run') await h.take(await h.wake(AGENT, { task: await h.work.create() }))
      else
        await parkCredential(h.store, h.id, {
          credential: 'c',
          agents: [AGENT],
          resetAt: Date.now() + 3_600_000,
        })
      const { id } = await h.wake(AGENT, { task })
      await cluster.rows(`update wakeups set due_at = clock_timestamp() where workspace_id = $1`, [h.id])
      expect(await h.due()).toEqual([])
      await pause(h.work, AGENT)
      expect(await h.due()).toMatchObject([{ id }])
      expect((await h.take({ agent: AGENT }))!.decision).toEqual({ kind: 'skip', because: 'AGENT_PAUSED' })
    },
  )

  test('an agent without a limit has as many runs as wakeups', async () => {
    const h = await withAgent({}, { maxConcurrentTasks: null })
    for (let i = 0; i < 5; i++) await h.wake(AGENT, { task: await h.work.create() })
    for (const one of await h.due()) expect((await h.take(one))!.decision.kind).toBe('run')
    expect(await h.runs()).toHaveLength(5)
  })

  test('an agent that is bound to a node is not due on another', async () => {
    const h = await cluster.workspace()
    await register(h.work, AGENT, { adapterType: 'scripted', runtimeConfig: { node: 'gpu-1' } })
    await h.wake(AGENT)
    expect(await h.due()).toEqual([])
    expect(await h.due(1_000, 'gpu-1')).toHaveLength(1)
  })
})

describe('no agent is woken', () => {
  const states: Record<string, (h: WakeupWorkspace) => Promise<unknown>> = {
    AGENT_PAUSED: (h) => pause(h.work, AGENT),
    AGENT_TERMINATED: (h) => terminate(h.work, AGENT, false),
    AGENT_FAULTY: (h) => commandAgent(h.work, AGENT, { kind: 'fault', reason: 'no program' }),
    DISABLED: (h) => h.agent(AGENT, { enabled: false }),
    NOT_MANAGED: (h) => register(h.work, AGENT, { adapterType: 'external' }),
  }

  test.each(Object.keys(states))('%s: by anything, and the reason is recorded', async (because) => {
    const h = await withAgent({ intervalSec: 60 })
    await states[because]!(h)
    for (const source of WAKEUP_SOURCES) {
      const isTrial = because === 'AGENT_FAULTY' && source === 'on_demand'
      const wakeup = await h.wake(AGENT, { source })
      if (isTrial) expect(wakeup, 'a person may request it').toMatchObject({ status: 'queued' })
      else expect(wakeup, source).toMatchObject({ status: 'skipped', skipReason: because })
    }
    const reported = await h.events('wakeup_skipped')
    expect(reported.length).toBe(because === 'AGENT_FAULTY' ? 3 : 4)
    expect(reported[0]!.payload).toMatchObject({ agent: AGENT, because })
  })

  test.each(Object.keys(states).filter((because) => because !== 'NOT_MANAGED'))(
    '%s: also by those that waited before, and what they held is requeued with its attempt',
    async (because) => {
      const h = await withAgent()
      const task = await h.work.create()
      await h.assign(AGENT, task)
      await h.wakeForWork()
      const [waiting] = await h.waiting()
      expect(waiting).toMatchObject({ generation: 1, taskUuid: task.uuid })
      await states[because]!(h)
      const node = await cluster.node(`node-${because}`)
      node.run()
      await expect.poll(async () => (await h.work.record(task)).state).toBe('queued')
      expect((await h.work.record(task)).attempt).toBe(0)
      expect(h.invokedBy(node)).toEqual([])
    },
  )

  test('for what the agent itself caused; it may wake others', async () => {
    const h = await withAgent()
    await h.agent('beta')
    const by = { actor: `agent:${AGENT}` }
    expect(await h.wake(AGENT, by)).toMatchObject({ status: 'skipped', skipReason: 'SELF_AUTHORED' })
    expect(await h.wake('beta', by)).toMatchObject({ status: 'queued', requestedBy: `agent:${AGENT}` })
  })

  test('by what its settings disable, and by all the rest it is', async () => {
    const off = { wakeOnAssignment: false, wakeOnOnDemand: false, wakeOnAutomation: false }
    const of = {
      assignment: 'wakeOnAssignment',
      on_demand: 'wakeOnOnDemand',
      automation: 'wakeOnAutomation',
    } as const
    for (const source of Object.keys(of) as (keyof typeof of)[]) {
      const h = await withAgent({ ...off, [of[source]]: true })
      for (const other of WAKEUP_SOURCES) {
        const { status, skipReason } = await h.wake(AGENT, { source: other })
        expect([other, status, skipReason]).toEqual(
          other === source ? [other, 'queued', null] : [other, 'skipped', 'SOURCE_OFF'],
        )
      }
    }
  })

  test('a leaving agent is woken for what it holds and for nothing else', async () => {
    const h = await withAgent()
    const task = await h.work.create()
    await h.assign(AGENT, task)
    await terminate(h.work, AGENT, true)
    expect(await h.wake(AGENT)).toMatchObject({ skipReason: 'AGENT_TERMINATED' })
    expect(await h.wake(AGENT, { task, generation: 1, source: 'assignment' })).toMatchObject({
      status: 'queued',
    })
    const [due] = await h.due()
    expect((await h.take(due!))!.decision.kind).toBe('run')
  })

  test('a removed agent does not exist, and neither do its wakeups', async () => {
    const h = await withAgent()
    await h.wake(AGENT)
    await h.wake(AGENT)
    await remove(h.work, AGENT)
    expect(await askForWakeups(h.store, h.id, [{ agent: AGENT, asked: wakeupRequest() }])).toEqual([null])
    expect(await h.wakeups()).toEqual([])
    await expect(ask(h)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})

/** As the routes do it. */
const ask = (h: WakeupWorkspace, reason = 'asked', wakeups = new WakeupRequests(h.kernel)) => {
  const caller = { workspaceId: h.id, actor: 'key:test', rights: new Set<never>() }
  return wakeAgent(wakeups, caller, AGENT, { source: 'on_demand', reason })
}

describe('how often an agent may be woken for a task', () => {
  test('is counted over an hour, for each task, and not for merged or skipped ones', async () => {
    const h = await withAgent({ maxWakeupsPerTaskPerHour: 2 }, { maxConcurrentTasks: null })
    const [one, two] = [await h.work.create(), await h.work.create()]
    const runOnce = async () => {
      const wakeup = await h.wake(AGENT, { task: one })
      if (wakeup.status === 'queued') await h.end((await h.take(wakeup))!.runId, AGENT)
      return wakeup.skipReason ?? wakeup.status
    }
    expect([await runOnce(), await runOnce(), await runOnce(), await runOnce()]).toEqual([
      'queued',
      'queued',
      'RATE_CAPPED',
      'RATE_CAPPED',
    ])
    expect(await h.wake(AGENT, { task: two })).toMatchObject({ status: 'queued' })
    expect(await h.wake(AGENT), 'about no task').toMatchObject({ status: 'queued' })
    await cluster.rows(
      `update wakeups set requested_at = requested_at - interval '61 minutes'
        where workspace_id = $1 and status = 'completed' and wakeup_id = (select min(wakeup_id::text)::uuid from wakeups where workspace_id = $1)`,
      [h.id],
    )
    expect([await runOnce(), await runOnce()], 'one of them was more than an hour ago').toEqual([
      'queued',
      'RATE_CAPPED',
    ])
  })

  test('assigned work that wakes its agent without end is left to a person', async () => {
    const h = await withAgent({ maxWakeupsPerTaskPerHour: 1 })
    const task = await h.work.create()
    await h.end((await h.take(await h.wake(AGENT, { task })))!.runId, AGENT)
    await h.assign(AGENT, task)
    await h.wakeForWork()
    expect(await h.work.record(task)).toMatchObject({ state: 'awaiting_human' })
    expect(await h.wakeForWork(), 'and that is all').toBe(0)
  })
})

describe('between the starts of two runs', () => {
  test('the agent has a cooldown, whichever of its tasks it is woken for', async () => {
    const h = await withAgent({ cooldownSec: 60 })
    const [one, two] = [await h.wake(AGENT, { task: await h.work.create() }), await h.wake(AGENT)]
    const { runId } = (await h.take(one))!
    await h.end(runId, AGENT)
    const { started } = (await h.runtime(AGENT))!
    const third = await h.wake(AGENT, { task: await h.work.create() })
    expect(third.dueAt).toBe(started! + 60_000)
    // Requested before the first one started, and due at once by then.
    for (const due of await h.due()) await h.take(due)
    expect(await h.runs(), 'no second run yet').toHaveLength(1)
    expect(await h.wakeup(two.id)).toMatchObject({ status: 'queued', dueAt: started! + 60_000 })
    await cluster.rows(
      `update agent_runtime_state set last_started_at = last_started_at - interval '61 seconds' where workspace_id = $1`,
      [h.id],
    )
    await cluster.rows(
      `update wakeups set due_at = clock_timestamp() where workspace_id = $1 and wakeup_id = $2`,
      [h.id, two.id],
    )
    expect((await h.take(two))!.decision.kind).toBe('run')
  })

  test('it has no cooldown for work it was assigned', async () => {
    const h = await withAgent({ cooldownSec: 3_600 })
    await h.end((await h.take(await h.wake(AGENT)))!.runId, AGENT)
    const task = await h.work.create()
    await h.assign(AGENT, task)
    await h.wakeForWork()
    const [due] = await h.due()
    expect((await h.take(due!))!.decision.kind).toBe('run')
  })

  test('and while its account is rate-limited, nothing of it is due', async () => {
    const h = await withAgent()
    await h.agent('beta')
    await h.wake(AGENT)
    const until = Date.now() + 3_600_000
    await parkCredential(h.store, h.id, { credential: 'c', agents: [AGENT], resetAt: until })
    expect(await h.due()).toEqual([])
    const task = await h.work.create()
    expect((await h.wake(AGENT, { task })).dueAt).toBe(until)
    expect(await h.wake('beta')).toMatchObject({ status: 'queued' })
    expect(await h.due(), 'others are').toMatchObject([{ agent: 'beta' }])
  })
})

describe('many at once', () => {
  test('a thousand wakeups of one agent at once, on two nodes, make one run, and one that waits at most', async () => {
    const h = await withAgent()
    const other = await PostgresStore.open(cluster.url())
    const kernel = openKernel(other, serverDirectory(other))
    // Reads of its own: it must not wait behind a thousand requests.
    const bystander = await PostgresStore.open(cluster.url())
    try {
      const nodes = [new WakeupRequests(h.kernel), new WakeupRequests(kernel)]
      const storm = Promise.all(Array.from({ length: 1_000 }, (_, i) => ask(h, `${i}`, nodes[i % 2])))
      const [due] = await until(async () => {
        const found = await h.due(100, HERE, bystander.readers)
        return found.length > 0 && found
      })
      await h.take(due!)
      const answers = (await storm).map(({ wakeup }) => wakeup)
      const queued = answers.filter(({ status }) => status === 'queued')
      expect(queued.map(({ id }) => id)).toEqual([due!.id])
      expect(answers.filter(({ status }) => status === 'coalesced')).toHaveLength(999)
      expect(await h.runs()).toHaveLength(1)
      expect(await h.waiting()).toHaveLength(0)
      expect(await h.wakeup(due!.id)).toMatchObject({ coalescedCount: 999 })
    } finally {
      await kernel.close()
      await Promise.all([other.close(), bystander.close()])
    }
  })

  test('concurrent requests do not delay what one of them advanced', async () => {
    const h = await withAgent()
    await h.wake(AGENT, { delayMs: 3_600_000 })
    const asks = [0, 3_600_000].map((delayMs) => ({ agent: AGENT, asked: wakeupRequest({ delayMs }) }))
    await askForWakeups(h.store, h.id, asks)
    expect(await h.due()).toHaveLength(1)
  })

  test('ended ones are kept for a week, and waiting ones are never deleted', async () => {
    const h = await withAgent()
    const { runId } = (await h.take(await h.wake(AGENT)))!
    for (let i = 0; i < 20; i++) await h.wake(AGENT)
    await h.end(runId, AGENT)
    const waits = await h.wake(AGENT)
    await cluster.rows(
      `update wakeups set finished_at = finished_at - interval '8 days', requested_at = requested_at - interval '8 days' where workspace_id = $1`,
      [h.id],
    )
    const recent = await h.wake(AGENT)
    await deleteOldWakeups(h.store)
    expect((await h.wakeups()).map(({ id }) => id)).toEqual([waits.id, recent.id])
    expect(await h.runs(), 'runs stay').toHaveLength(1)
  })

  test('agents that are removed while they are woken cause no error', {
    timeout: 120_000,
  }, async () => {
    const h = await cluster.workspace()
    const slugs = Array.from({ length: 6 }, (_, i) => `agent-${i}`)
    for (const slug of slugs) await h.agent(slug)
    const acts = slugs.flatMap((slug) => [
      ...Array.from({ length: 15 }, () => () => h.wake(slug)),
      ...Array.from({ length: 5 }, () => async () => {
        await remove(h.work, slug)
        await h.agent(slug)
      }),
    ])
    expect(await failuresOf(shuffled(acts))).toEqual([])
  })

  test('everything that touches the same agents at once ends, and nothing of it waits forever', {
    timeout: 180_000,
  }, async () => {
    const h = await cluster.workspace()
    const slugs = Array.from({ length: 5 }, (_, i) => `agent-${i}`)
    for (const slug of slugs) await h.agent(slug, { intervalSec: 1 }, { maxConcurrentTasks: 2 })
    const some = (from: number) => [...slugs.slice(from), ...slugs.slice(0, from)].slice(0, 3)
    const runOne = async (slug: string) => {
      const [due] = (await h.due()).filter(({ agent }) => agent === slug)
      const taken = due && (await h.take(due))
      if (taken?.decision.kind === 'run') await h.end(taken.runId, slug)
    }
    const kinds = [
      (i: number) =>
        askForWakeups(
          h.store,
          h.id,
          some(i % 5).map((agent) => ({ agent, asked: wakeupRequest() })),
        ),
      (i: number) => runOne(slugs[i % 5]!),
      (i: number) => scheduleTimers(h.store, h.id, some(i % 5).reverse()),
      (i: number) => resetSessions(h.store, h.id, slugs[i % 5]!, null, 'key:test'),
      (i: number) =>
        parkCredential(h.store, h.id, { credential: `c-${i % 2}`, agents: some(i % 5), resetAt: Date.now() }),
      (i: number) => pause(h.work, slugs[i % 5]!).then(() => resume(h.work, slugs[i % 5]!)),
      (i: number) => wakeByClock(h.kernel, h.id, 10 + i),
    ]
    const acts = kinds.flatMap((act) => Array.from({ length: 40 }, (_, i) => () => act(i)))
    expect(await failuresOf(shuffled(acts))).toEqual([])
  })
})

/** Many at a time, and yet not so many that they wait for a connection for long. */
async function failuresOf(acts: (() => Promise<unknown>)[]): Promise<unknown[]> {
  const failures: unknown[] = []
  const left = [...acts]
  const worker = async () => {
    for (let act = left.pop(); act; act = left.pop()) await act().catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: 12 }, worker))
  return failures
}

function shuffled<T>(all: readonly T[]): T[] {
  const left = [...all]
  return all.map((_, i) => left.splice((i * 7919) % left.length, 1)[0]!)
}
