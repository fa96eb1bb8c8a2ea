import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { AgentProfile } from '../../../src/kinds/agent/record.ts'
import type { RunEnd } from '../../../src/kinds/run/record.ts'
import { agentCalled, logDeleted, processSpawned } from '../../../src/kinds/run/rules/appends.ts'
import { reportRun } from '../../../src/kinds/run/rules/report.ts'
import { beginRun, requestCancel } from '../../../src/kinds/run/rules/run-life.ts'
import type { Told } from '../../../src/kinds/run/shapes/told.ts'
import { pause, register, remove } from '../../support/agents.ts'
import { assign } from '../../support/assign.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import * as steps from '../../support/run-steps.ts'
import { atGeneration, granted, newTask, type Task, type Work } from '../../support/tasks.ts'
import { ago } from '../../support/times.ts'

/** Runs and wakeups: one suite for every store that holds them. */

const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')
const AGENT = 'alpha'
const own = { agent: AGENT, session: `agent:${AGENT}` }
const identity = (nodeId = randomUUID()) => ({
  runId: randomUUID(),
  nodeId,
  tokenHash: randomBytes(32).toString('hex'),
})

/** A workspace with an agent that Baton runs. */
class Runs {
  readonly work: Work
  readonly store: RunStore

  constructor(work: Work) {
    this.work = work
    this.store = work.store as RunStore
  }

  agent = (heartbeat: Record<string, unknown> = {}, more: Partial<AgentProfile> = {}, slug = AGENT) =>
    register(this.work, slug, { adapterType: 'scripted', runtimeConfig: { heartbeat }, ...more })

  wake = (about: steps.WakeupFields = {}, agent = AGENT) =>
    steps
      .askForWakeups(this.store, this.work.workspace, [{ agent, asked: steps.wakeupRequest(about) }])
      .then(([first]) => first!)

  take = (run = identity(), agent = AGENT) =>
    steps.takeWakeup(this.store, { workspaceId: this.work.workspace, agent }, run)

  /** A wakeup that has become a run, on a node. */
  async begun(nodeId = randomUUID(), about: steps.WakeupFields = {}): Promise<string> {
    await this.wake(about)
    const run = identity(nodeId)
    expect(await this.take(run)).toMatchObject({ decision: { kind: 'run' } })
    return run.runId
  }

  begin = (runId: string, task: (Task & { generation: number }) | null = null, told?: Told) =>
    this.store.transact(
      this.work.workspace,
      beginRun({
        ...{ workspaceId: this.work.workspace, runId, agent: AGENT, sessionIdBefore: null, folder: null },
        log: { store: 'local_file', logRef: 'a log' },
        task: task && { ...task, attempt: 1, session: own.session },
        told,
      }),
    )

  finish = (runId: string, more: Partial<RunEnd> = {}) =>
    steps.finishRun(this.store, {
      ...steps.ENDED,
      workspaceId: this.work.workspace,
      runId,
      agent: AGENT,
      ...more,
    })

  reports = (...about: Parameters<typeof reportRun>) =>
    this.store.transact(this.work.workspace, reportRun(...about))

  cancel = (runId: string, reason: string) =>
    this.store.transact(this.work.workspace, requestCancel(runId, { reason, actor: 'key:test' }))

  run = (runId: string) => this.store.runs.find(this.work.workspace, runId)
  state = () => this.store.runtime.state(this.work.workspace, AGENT)
  due = async (node = 'here') =>
    (await this.store.wakeups.due(node, 1_000)).filter(
      ({ workspaceId }) => workspaceId === this.work.workspace,
    )
  types = async () => (await this.work.events()).map(({ type }) => type)
  last = async (type: string) => (await this.work.events()).findLast((event) => event.type === type)?.payload
}

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)
  const runs = async () => new Runs(await nodes.work())
  const withAgent = async (heartbeat: Record<string, unknown> = {}, more: Partial<AgentProfile> = {}) => {
    const here = await runs()
    await here.agent(heartbeat, more)
    return here
  }

  describe('a request to wake an agent', () => {
    test('is queued with an event, and the next one like it is coalesced into it, with its urgency', async () => {
      const here = await withAgent()
      const first = await here.wake({ source: 'automation', delayMs: 60_000, depth: 2, payload: { a: 1 } })
      expect(first).toMatchObject({ status: 'queued', coalescedCount: 0, runId: null, finishedAt: null })
      const second = await here.wake({ reason: 'now' })
      expect(second).toMatchObject({ status: 'coalesced', intoId: first.id })
      expect(second.finishedAt).toBe(second.requestedAt)
      const { wakeup } = (await here.take())!
      expect(wakeup).toMatchObject({ id: first.id, coalescedCount: 1, reason: 'now', depth: 0 })
      expect(wakeup).toMatchObject({ source: 'on_demand', payload: { a: 1 } })
      expect(await here.types()).toEqual(
        expect.arrayContaining(['wakeup_requested', 'wakeup_coalesced', 'run_queued']),
      )
    })

    test('sees those before it in the same batch', async () => {
      const here = await withAgent()
      const asks = ['one', 'two', 'one'].map((key) =>
        steps.wakeupRequest({ idempotencyKey: key, reason: key }),
      )
      const answers = await steps.askForWakeups(here.store, here.work.workspace, [
        ...asks.map((asked) => ({ agent: AGENT, asked })),
        { agent: 'nobody', asked: steps.wakeupRequest() },
      ])
      const [one, two, again, nobody] = answers
      expect(one).toMatchObject({ id: asks[0]!.id, status: 'queued', coalescedCount: 1, reason: 'two' })
      expect(two).toMatchObject({ status: 'coalesced', intoId: asks[0]!.id })
      expect(again).toEqual(one)
      expect(nobody).toBeNull()
    })

    test('under a known key is answered with the first one, whatever became of it', async () => {
      const here = await withAgent()
      const first = await here.wake({ idempotencyKey: 'k' })
      expect((await here.take())!.wakeup.id).toBe(first.id)
      expect(await here.wake({ idempotencyKey: 'k' })).toMatchObject({ id: first.id, status: 'claimed' })
    })

    test('about the task of a live run, or about none, is coalesced into its wakeup', async () => {
      const here = await withAgent()
      const [task, other] = [await here.work.create(), await here.work.create()]
      await here.wake({ task })
      const { wakeup } = (await here.take())!
      for (const about of [{ task }, {}])
        expect(await here.wake(about)).toMatchObject({ status: 'coalesced', intoId: wakeup.id })
      expect(await here.wake({ task: other })).toMatchObject({ status: 'queued' })
    })

    test('more often than its cap about one task is skipped, and neither coalesced ones nor continuations count', async () => {
      const here = await withAgent({ maxWakeupsPerTaskPerHour: 2 })
      const task = await here.work.create()
      for (let i = 0; i < 2; i++) {
        await here.finish(await here.begun(undefined, { task }))
        await here.finish(await here.begun(undefined, { task, isContinuation: true }))
      }
      expect(await here.wake({ task })).toMatchObject({ status: 'skipped', skipReason: 'RATE_CAPPED' })
      expect(await here.wake()).toMatchObject({ status: 'queued' })
    })
  })

  describe('a due wakeup', () => {
    test('becomes a run that is recorded before anything starts', async () => {
      const here = await withAgent()
      const task = await here.work.create()
      const asked = await here.wake({ task, reason: 'please' })
      const run = identity()
      const taken = (await here.take(run))!
      expect(taken).toMatchObject({ decision: { kind: 'run' }, agent: { slug: AGENT } })
      expect(taken.wakeup).toMatchObject({ id: asked.id, taskUuid: task.uuid, generation: null })
      expect(await here.run(run.runId)).toMatchObject({
        ...{ status: 'queued', agent: AGENT, nodeId: run.nodeId, wakeupId: asked.id, source: 'on_demand' },
        ...{ reason: 'please', taskUuid: null, startedAt: null, finishedAt: null, costUsd: null },
      })
      expect((await here.state())!.lastStartedAt).toBe((await here.run(run.runId))!.createdAt)
      expect(await here.take()).toBeNull()
    })

    test('is taken in the order of urgency, then of arrival', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: null })
      const tasks = await here.work.createAll([newTask(), newTask(), newTask()])
      const [slow, quick, last] = [
        await here.wake({ task: tasks[0]!, source: 'automation' }),
        await here.wake({ task: tasks[1]! }),
        await here.wake({ task: tasks[2]!, source: 'automation' }),
      ]
      const order = [await here.take(), await here.take(), await here.take()]
      expect(order.map((taken) => taken!.wakeup.id)).toEqual([quick.id, slow.id, last.id])
    })

    test('waits while its agent is busy or rests, and is skipped when its agent is paused', async () => {
      const here = await withAgent({ cooldownSec: 3_600 })
      await here.wake()
      const run = identity()
      await here.take(run)
      const task = await here.work.create()
      await here.wake({ task, delayMs: 0 })
      // Its agent started a run a moment ago, so it is not due yet.
      expect(await here.take()).toBeNull()
      expect(await here.due()).toEqual([])
      await here.finish(run.runId)

      const busy = await withAgent()
      await busy.begun()
      await busy.wake({ task: await busy.work.create() })
      expect(await busy.due()).toEqual([])
      expect(await busy.take()).toMatchObject({ decision: { kind: 'busy' } })
      await pause(busy.work, AGENT)
      expect(await busy.due()).toHaveLength(1)
      expect(await busy.take()).toMatchObject({ decision: { kind: 'skip', because: 'AGENT_PAUSED' } })
      expect(await busy.due()).toEqual([])
    })

    test('knows whether its agent holds the task, may claim it, or has nothing left to do', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: null })
      const [held, free, gone] = [
        await here.work.create(),
        await here.work.create(),
        await here.work.create(),
      ]
      await assign(here.work, held, own)
      await here.work.cancel(gone)
      for (const task of [held, free, gone]) await here.wake({ task })
      const taken = [await here.take(), await here.take(), await here.take()].map((one) => one!)
      expect(
        taken.map(({ wakeup, decision }) => [wakeup.taskUuid, wakeup.generation, decision.kind]),
      ).toEqual([
        [held.uuid, 1, 'run'],
        [free.uuid, null, 'run'],
        [gone.uuid, null, 'skip'],
      ])
      expect(await here.last('wakeup_skipped')).toMatchObject({ because: 'TASK_NOT_READY' })
    })

    test('about a task that another run of its agent has claimed is skipped', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: null })
      const [claimed, continued] = [await here.work.create(), await here.work.create()]
      const [first, second] = [await here.begun(), identity()]
      for (const task of [claimed, continued]) await here.wake({ task })
      const skipped = { kind: 'skip', because: 'TASK_NOT_READY' }
      // A run that was woken about no task claims what it finds. It is about to begin.
      await here.work.claim(claimed, own)
      expect(await here.take()).toMatchObject({ wakeup: { taskUuid: claimed.uuid }, decision: skipped })
      // A run has left its task to be continued. It is about to end.
      const hold = granted(await here.work.claim(continued, own))
      await here.begin(first, { ...continued, generation: hold.generation })
      await here.work.start(continued, hold)
      await here.work.continueLater(continued, hold)
      expect(await here.take()).toMatchObject({ wakeup: { taskUuid: continued.uuid }, decision: skipped })
      await here.finish(first)
      await here.wake({ task: continued })
      const held = { taskUuid: continued.uuid, generation: hold.generation }
      expect(await here.take(second)).toMatchObject({ wakeup: held, decision: { kind: 'run' } })
    })

    test('is taken once, and no more run than its agent may have, however many nodes try', async () => {
      const [one, two] = (await nodes.pair()).map((work) => new Runs(work))
      await one!.agent({}, { maxConcurrentTasks: 3 })
      for (let i = 0; i < 10; i++) await one!.wake({ task: await one!.work.create() })
      const taken = await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 ? one! : two!).take()))
      const begun = taken.filter((one) => one?.decision.kind === 'run')
      expect(begun).toHaveLength(3)
      expect(new Set(begun.map((one) => one!.wakeup.id)).size).toBe(3)
    })
  })

  describe('a run', () => {
    test('begins once, and a repeated beginning changes nothing', async () => {
      const here = await withAgent()
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, own))
      const runId = await here.begun()
      expect(await here.begin(runId, { ...task, generation })).toBe(true)
      const begun = await here.run(runId)
      expect(begun).toMatchObject({ status: 'running', taskUuid: task.uuid, generation, logRef: 'a log' })
      expect(await here.begin(runId)).toBe(true)
      expect(await here.run(runId)).toEqual(begun)
      expect((await here.types()).filter((type) => type === 'run_started')).toHaveLength(1)
      await here.finish(runId)
      expect(await here.begin(runId)).toBe(false)
    })

    test('is the only live one of its claim', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: null })
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, own))
      const first = await here.begun()
      await here.begin(first, { ...task, generation })
      const second = await here.begun(undefined, { task: await here.work.create() })
      await expect(here.begin(second, { ...task, generation })).rejects.toThrow()
      expect(await here.run(second)).toMatchObject({ status: 'queued', taskUuid: null })
      await here.finish(first)
      expect(await here.begin(second, { ...task, generation })).toBe(true)
    })

    test('ends once, with its figures in the totals, its wakeup ended and its session kept', async () => {
      const here = await withAgent()
      const usage = { inputTokens: 10, cachedInputTokens: 5, outputTokens: 3 }
      const end: Partial<RunEnd> = {
        ...{
          status: 'timed_out',
          errorCode: 'timeout',
          errorMessage: 'too late',
          usage,
          usageBasis: 'reported',
        },
        ...{ costUsd: '0.1', sessionId: 's-1', taskSession: { taskKey: 'k', state: { n: 1 } } },
        ...{ result: { done: [1, null] }, excerpts: { stdout: 'out', stderr: null } },
      }
      for (let i = 0; i < 3; i++) {
        const runId = await here.begun()
        await here.begin(runId)
        const ends = await Promise.all([here.finish(runId, end), here.finish(runId, end)])
        expect(ends.toSorted()).toEqual([false, true])
        expect(await here.run(runId)).toMatchObject({
          ...{ status: 'timed_out', errorCode: 'timeout', costUsd: '0.1', result: { done: [1, null] } },
          ...{ inputTokens: 10, usageBasis: 'reported', sessionIdAfter: 's-1', stdoutExcerpt: 'out' },
        })
        expect(await here.last('run_finished')).toMatchObject({ runId, status: 'timed_out', costUsd: '0.1' })
        expect(await here.last('runtime_state_updated')).toMatchObject({ runs: i + 1, lastRunId: runId })
      }
      // As floats these would be 0.30000000000000004.
      expect(await here.state()).toMatchObject({
        ...{ runs: 3, totalInputTokens: 30, totalCachedInputTokens: 15, totalOutputTokens: 9 },
        ...{ totalCostUsd: '0.3', lastRunStatus: 'timed_out', lastError: 'too late', sessionId: 's-1' },
      })
      const [session] = await here.store.runtime.taskSessions(here.work.workspace, AGENT)
      expect(session).toMatchObject({ adapterType: 'scripted', taskKey: 'k', sessionParams: { n: 1 } })
      expect(await here.wake({ idempotencyKey: 'k' })).toMatchObject({ status: 'queued' })
    })

    test('tells what all runs of its task used, on its way and at its end', async () => {
      const here = await withAgent()
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, own))
      const held = { ...task, generation }
      const usage = { inputTokens: 10, cachedInputTokens: null, outputTokens: 3 }
      const who = {
        workspaceId: here.work.workspace,
        agent: AGENT,
        task: { ...held, attempt: 1, session: 's' },
      }
      const counts = { inputTokens: 10, cachedInputTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 }
      const used = { ...counts, outputTokens: 3, reasoningTokens: null, costUsd: '0.1' }
      const models = { 'a-model': { ...used, basis: 'reported' as const } }
      for (const [taskTokens, taskCostUsd] of [
        [13, '0.1'],
        [26, '0.2'],
      ]) {
        const runId = await here.begun()
        await here.begin(runId, held)
        const report = { usage, booking: null, status: null, sessionId: null, flags: [] }
        await here.reports({ ...who, runId }, report)
        await here.reports({ ...who, runId }, { ...report, isUsageReported: true })
        expect(await here.last('run_usage')).toMatchObject({
          runId,
          taskId: task.uuid,
          inputTokens: 10,
          taskTokens,
        })
        await here.finish(runId, { usage, costUsd: '0.1', models, task: who.task })
        expect(await here.last('run_finished')).toMatchObject({ runId, taskTokens, taskCostUsd })
      }
      // What a run costs is known when it has ended.
      expect(await here.last('run_usage')).toMatchObject({ taskCostUsd: '0.1' })
      expect((await here.types()).filter((type) => type === 'run_usage')).toHaveLength(2)
    })

    test('ends its wakeup as it ends itself', async () => {
      const here = await withAgent()
      const ends = [
        ['succeeded', 'completed'],
        ['failed', 'failed'],
        ['timed_out', 'failed'],
        ['cancelled', 'cancelled'],
      ] as const
      for (const [status, wakeup] of ends) {
        const key = `ends ${status}`
        const runId = await here.begun(undefined, { idempotencyKey: key })
        const errorCode = status === 'succeeded' ? null : 'adapter_error'
        await here.finish(runId, { status, errorCode, errorMessage: errorCode && 'why' })
        expect(await here.wake({ idempotencyKey: key })).toMatchObject({ status: wakeup, runId })
      }
    })

    test('of a removed agent ends on record, and adds to no totals', async () => {
      const here = await withAgent()
      const runId = await here.begun()
      await remove(here.work, AGENT)
      expect(await here.finish(runId, { taskSession: { taskKey: '', state: {} } })).toBe(true)
      expect(await here.run(runId)).toMatchObject({ status: 'succeeded' })
      expect(await here.state()).toBeNull()
      expect(await here.types()).not.toContain('runtime_state_updated')
    })

    test('keeps what it was told from its beginning until its log is deleted', async () => {
      const here = await withAgent()
      const { workspace } = here.work
      const runId = await here.begun()
      const kept = () => here.store.runs.invocation(workspace, runId)
      const call = (command: string) => ({
        program: { command, args: ['-x'], isCut: false, env: ['PATH'] },
        request: null,
      })
      await here.store.transact(workspace, agentCalled(runId, call('too early')))
      expect(await kept()).toBeNull()
      const told = { prompt: { text: 'Do it \u0000', bytes: 7, isCut: false }, systemPrompt: null }
      await here.begin(runId, null, told)
      expect(await kept()).toEqual({ told, call: null })
      await here.store.transact(workspace, agentCalled(runId, call('first')))
      await here.store.transact(workspace, agentCalled(runId, call('second')))
      await here.finish(runId)
      await here.store.transact(workspace, agentCalled(runId, call('too late')))
      expect(await kept()).toEqual({ told, call: call('second') })
      const { workspace: foreign } = await nodes.work()
      expect(await here.store.runs.invocation(foreign, runId)).toBeNull()
      await here.store.transact(workspace, logDeleted(runId))
      expect(await kept()).toBeNull()
    })

    test('makes its idle agent running; the end of the last of several leaves it idle', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: 2 })
      const told = async () =>
        (await here.work.events())
          .filter(({ type }) => type === 'agent_status_changed')
          .map(({ payload, actor }) => ({ ...payload, actor }))
      const begins = { agent: AGENT, from: 'idle', to: 'running', actor: `agent:${AGENT}` }
      const ends = { agent: AGENT, from: 'running', to: 'idle', actor: `agent:${AGENT}` }
      const first = await here.begun(undefined, { task: await here.work.create() })
      expect(await told()).toEqual([begins])
      const second = await here.begun(undefined, { task: await here.work.create() })
      await here.begin(first)
      await here.begin(second)
      await here.finish(first)
      expect(await told()).toEqual([begins])
      await Promise.all([here.finish(second), here.finish(second)])
      expect(await told()).toEqual([begins, ends])
      // One that never began, and was lost with its node.
      await here.finish(await here.begun(), { status: 'failed', errorCode: 'control_plane_restart' })
      expect(await told()).toEqual([begins, ends, begins, ends])
    })

    test('of a paused agent changes nothing about it', async () => {
      const here = await withAgent()
      const runId = await here.begun()
      await pause(here.work, AGENT)
      await here.finish(runId)
      const types = (await here.types()).filter((type) => type.startsWith('agent_'))
      expect(types).toEqual(['agent_registered', 'agent_status_changed', 'agent_paused'])
    })

    test('of an agent outside is none: claims say nothing about their agents', async () => {
      const here = await runs()
      await register(here.work, 'outside')
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, { agent: 'outside', session: 'own' }))
      expect(generation).toBe(1)
      expect(await here.types()).not.toContain('agent_status_changed')
    })

    test('keeps the first reason to cancel it, and cannot be cancelled when it is over', async () => {
      const here = await withAgent()
      const runId = await here.begun()
      expect(await here.cancel(runId, 'wrong')).toBe(true)
      expect(await here.cancel(runId, 'later')).toBe(true)
      expect(await here.run(runId)).toMatchObject({ cancelReason: 'wrong' })
      expect(await here.last('run_cancel_requested')).toMatchObject({ runId, agent: AGENT, reason: 'later' })
      await here.finish(runId)
      expect(await here.cancel(runId, 'again')).toBe(false)
      expect(await here.cancel(randomUUID(), 'nothing')).toBe(false)
    })

    test('takes what its node reports only while it is running', async () => {
      const here = await withAgent()
      const runId = await here.begun()
      const who = { workspaceId: here.work.workspace, runId, agent: AGENT, task: null }
      const process = { pid: 7, startTime: '1', bootId: 'b' }
      const usage = { inputTokens: 4, cachedInputTokens: null, outputTokens: 2 }
      const report = () => {
        const said = {
          usage,
          booking: null,
          status: { message: 'reading', color: 'blue' },
          sessionId: 's',
          flags: [],
        }
        return here.reports(who, said)
      }
      const untouched = async (status: string) => {
        await here.store.transact(who.workspaceId, processSpawned(runId, process))
        await report()
        expect(await here.run(runId)).toMatchObject({
          status,
          pid: null,
          inputTokens: null,
          statusMessage: null,
        })
      }
      await untouched('queued')
      await here.begin(runId)
      await here.store.transact(who.workspaceId, processSpawned(runId, process))
      await report()
      expect(await here.run(runId)).toMatchObject({
        ...{ pid: 7, pidStarted: '1', bootId: 'b', inputTokens: 4, usageBasis: 'partial' },
        ...{ statusMessage: 'reading', sessionIdAfter: 's' },
      })
      // A report that has nothing new to say is no error.
      await here.reports(who, { usage: null, booking: null, status: null, sessionId: null, flags: [] })
      expect(await here.run(runId)).toMatchObject({ inputTokens: 4, statusMessage: 'reading' })
      // Without figures of its own, the end keeps those.
      await here.finish(runId)
      expect((await here.state())!.totalInputTokens).toBe(4)
      // What it was doing last is not true of an ended run.
      expect(await here.run(runId)).toMatchObject({ statusMessage: null, statusColor: null })
      usage.inputTokens = 400
      await report()
      expect(await here.run(runId)).toMatchObject({ inputTokens: 4 })
    })
  })

  describe('what agents keep between runs', () => {
    test('a parked credential keeps its agents from being due, until the latest time that was reported', async () => {
      const here = await withAgent()
      const until = Date.now() + 3_600_000
      const park = (resetAt: number) =>
        steps.parkCredential(here.store, here.work.workspace, { credential: 'c', agents: [AGENT], resetAt })
      await here.wake()
      expect(await here.due()).toHaveLength(1)
      expect(await park(until)).toBe(until)
      expect(await park(until - 60_000)).toBe(until - 60_000)
      expect(await here.due()).toEqual([])
      expect((await here.state())!.parkedUntil).toBe(until)
      expect(await here.store.runtime.parkedUntil(here.work.workspace, 'c')).toBe(until)
      expect(await here.store.runtime.parkedUntil(here.work.workspace, 'other')).toBeNull()
      expect(await here.last('credential_parked')).toMatchObject({ agent: AGENT, agents: 1 })
    })

    test('its sessions are deleted one by one, or all with the one it resumes', async () => {
      const here = await withAgent()
      for (const taskKey of ['a', 'b', ''])
        await here.finish(await here.begun(), { sessionId: 's', taskSession: { taskKey, state: {} } })
      const reset = (key: string | null) =>
        steps.resetSessions(here.store, here.work.workspace, AGENT, key, 'key:test')
      expect(await reset('a')).toBe(1)
      expect(await reset('a')).toBe(0)
      expect((await here.state())!.sessionId).toBe('s')
      expect(await reset(null)).toBe(2)
      expect((await here.state())!.sessionId).toBeNull()
      expect(await here.last('runtime_state_reset')).toEqual({ agent: AGENT, sessions: 2 })
    })

    test('its state is that of the last run which returned one, until a reset or another adapter', async () => {
      const here = await withAgent()
      const state = async () => (await here.state())!.state
      await here.finish(await here.begun(), {})
      expect(await state()).toEqual({})
      await here.finish(await here.begun(), { agentState: { seen: [1], note: 'ä' } })
      await here.finish(await here.begun(), {})
      expect(await state()).toEqual({ seen: [1], note: 'ä' })
      await here.finish(await here.begun(), { agentState: { seen: [1, 2] } })
      expect(await state()).toEqual({ seen: [1, 2] })
      const reset = (key: string | null) =>
        steps.resetSessions(here.store, here.work.workspace, AGENT, key, 'key:test')
      await reset('a')
      expect(await state()).toEqual({ seen: [1, 2] })
      await reset(null)
      expect(await state()).toEqual({})
      await here.finish(await here.begun(), { agentState: { seen: [3] } })
      await register(here.work, AGENT, { adapterType: 'simulated' })
      const run = await here.begun()
      expect(await state()).toEqual({})
      // As a run does that began with the adapter before.
      await here.finish(run, { adapterType: 'scripted', agentState: { seen: [4] } })
      expect(await state()).toEqual({})
      await here.finish(await here.begun(), { adapterType: 'simulated', agentState: { step: 1 } })
      expect(await state()).toEqual({ step: 1 })
    })

    test('timers are set from now, and are due when they are not set or further away than their interval', async () => {
      const here = await withAgent({ intervalSec: 3_600 })
      const timers = () => here.store.wakeups.dueTimers(100, here.work.workspace)
      const unset = [{ workspaceId: here.work.workspace, agent: AGENT, at: null }]
      expect(await timers()).toEqual(unset)
      await steps.scheduleTimers(here.store, here.work.workspace, [AGENT, 'nobody'])
      expect(await timers()).toEqual([])
      await here.agent({ intervalSec: 60 })
      expect(await timers()).toEqual(unset)
      await here.agent({ intervalSec: null })
      expect(await timers()).toEqual([])
    })
  })

  describe('what drives runs', () => {
    test('only nodes that may run an agent see its wakeups', async () => {
      const here = await runs()
      await register(here.work, AGENT, { adapterType: 'scripted', runtimeConfig: { node: 'there' } })
      await here.wake()
      expect(await here.due('here')).toEqual([])
      expect(await here.due('there')).toHaveLength(1)
    })

    test('work that is assigned or to be continued has no wakeup until it gets one, and none beside a run', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: 5 })
      const work = () => here.store.wakeups.workWithout(here.work.workspace)
      const task = await here.work.create()
      await assign(here.work, task, own)
      const found = { workspaceId: here.work.workspace, agent: AGENT, taskId: task.id, uuid: task.uuid }
      expect(await work()).toEqual([{ ...found, generation: 1, state: 'assigned', depth: 0 }])
      await here.wake({ task, generation: 1, depth: 3 })
      expect(await work()).toEqual([])
      const run = identity()
      await here.take(run)
      expect(await work()).toEqual([])
      await here.begin(run.runId, { ...task, generation: 1 })
      await here.work.start(task, atGeneration(own, 1))
      await here.work.continueLater(task, atGeneration(own, 1))
      expect(await work()).toEqual([])
      await here.finish(run.runId)
      expect(await work()).toEqual([{ ...found, generation: 1, state: 'continuing', depth: 3 }])
    })

    test('a claim without a run is one that no node has recorded a run for', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: 5 })
      const claims = () => here.store.runs.claimsWithout(here.work.workspace, AGENT)
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, own))
      expect(await claims()).toEqual([{ uuid: task.uuid, taskId: task.id, generation, session: own.session }])
      const runId = await here.begun()
      // It may be the claim of the run that is about to begin.
      expect(await claims()).toEqual([])
      await here.begin(runId, { ...task, generation })
      expect(await claims()).toEqual([])
      await here.finish(runId)
      expect(await claims()).toHaveLength(1)
      const left = (await here.store.runs.claimsLeft()).filter(
        ({ workspaceId }) => workspaceId === here.work.workspace,
      )
      expect(left).toEqual([{ workspaceId: here.work.workspace, agent: AGENT, ...(await claims())[0] }])
      await here.work.release(task, atGeneration(own, generation))
      expect(await claims()).toEqual([])
    })

    test('a claim that waits to be continued is listed when its lease is due for renewal', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: 5 })
      const continuing = async (sinceMs: number) => {
        const task = await here.work.create()
        const then = ago(here.work, sinceMs)
        const hold = granted(await then.claim(task, own, { leaseMs: 300_000 }))
        await then.continueLater(task, hold)
        await here.wake({ task, generation: 1 })
        return task
      }
      await continuing(0)
      const waiting = async () =>
        (await here.store.wakeups.waitingClaims('here')).filter(
          ({ workspaceId }) => workspaceId === here.work.workspace,
        )
      expect(await waiting()).toEqual([])
      const old = await continuing(200_000)
      expect(await waiting()).toMatchObject([{ agent: AGENT, uuid: old.uuid, generation: 1 }])
    })

    test('a run must stop when it was cancelled, its agent may not work, or its claim was lost', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: 5 })
      const node = randomUUID()
      const check = async () =>
        (await here.store.runs.toCheck(node)).map(({ workspaceId: _, runId: _id, ...found }) => found)
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, own))
      const runId = await here.begun(node)
      await here.begin(runId, { ...task, generation })
      expect(await check()).toEqual([])
      const fine = {
        cancelReason: null,
        agentState: 'idle',
        stopsRuns: false,
        hasClaim: true,
        claimEnd: null,
        suspectedAt: null,
        toldAt: null,
        blockedBy: null,
      }
      await here.cancel(runId, 'stop')
      expect(await check()).toEqual([{ ...fine, cancelReason: 'stop' }])
      await here.work.release(task, atGeneration(own, generation))
      expect(await check()).toEqual([
        { ...fine, cancelReason: 'stop', hasClaim: false, claimEnd: 'VOLUNTARY' },
      ])
      await remove(here.work, AGENT)
      expect(await check()).toMatchObject([{ agentState: null }])
    })

    test('a claim that its own run ended by submitting is no loss', async () => {
      const here = await withAgent()
      const node = randomUUID()
      const task = await here.work.create()
      const { generation } = granted(await here.work.claim(task, own))
      const runId = await here.begun(node)
      await here.begin(runId, { ...task, generation })
      await here.work.submit(task, atGeneration(own, generation))
      expect(await here.store.runs.toCheck(node)).toEqual([])
    })

    test('live runs are found by their node, also of a node that nobody knows', async () => {
      const here = await withAgent({}, { maxConcurrentTasks: 5 })
      const [node, other] = [randomUUID(), randomUUID()]
      const mine = await here.begun(node, { task: await here.work.create() })
      const over = await here.begun(node, { task: await here.work.create() })
      await here.begun(other, { task: await here.work.create() })
      await here.finish(over, { status: 'timed_out', errorCode: 'timeout', errorMessage: 'late' })
      const found = await here.store.runs.ofNodes([node])
      expect(found.map(({ id }) => id)).toEqual([mine])
      // Read alone, a run also has the names of its task.
      expect(await here.run(mine)).toMatchObject({ ...found[0] })
      const silent = (await here.store.cluster.nodesWithRuns()).filter(
        ({ isSilentForLong }) => isSilentForLong,
      )
      expect(silent.map(({ nodeId }) => nodeId)).toEqual(expect.arrayContaining([node, other]))
      expect(await here.store.runs.finishedAmong([mine, over])).toEqual([{ id: over }])
    })
  })

  test('a caller that waits for a commit is notified of wakeups and runs', async () => {
    const here = await withAgent()
    const heard: number[] = []
    const stop = here.store.onCommit((workspaceId, { events }) => {
      if (workspaceId === here.work.workspace) heard.push(events)
    })
    const runId = await here.begun()
    await here.finish(runId)
    stop()
    expect(heard).toEqual([1, 2, 3])
  })
})
