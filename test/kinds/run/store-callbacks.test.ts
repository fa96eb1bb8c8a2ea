import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import {
  acceptWork,
  adoptRun,
  callbacksRead,
  expectCallbacks,
  isAwaited,
  takeCallback,
} from '../../../src/kinds/run/rules/callbacks.ts'
import { beginRun } from '../../../src/kinds/run/rules/run-life.ts'
import type { RunsStep } from '../../../src/kinds/run/rules/step.ts'
import { register } from '../../support/agents.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import * as steps from '../../support/run-steps.ts'

/** Agents that accept their work and answer later: one suite for every store that holds runs. */

const AGENT = 'alpha'
const HEARTBEAT = { kind: 'heartbeat' } as const
const RESULT = { kind: 'result', result: { done: true } } as const
const LOG = { store: 'local_file', logRef: 'another log' }

describe.each(storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres'))('on %s', (kind) => {
  const nodes = useNodes(kind)

  /** A run that has begun on a node. */
  async function begun() {
    const work = await nodes.work()
    const store = work.store as RunStore
    const { workspace } = work
    await register(work, AGENT, { adapterType: 'scripted' })
    await steps.askForWakeups(store, workspace, [{ agent: AGENT, asked: steps.wakeupRequest() }])
    const [runId, nodeId] = [randomUUID(), randomUUID()]
    const identity = { runId, nodeId, tokenHash: randomBytes(32).toString('hex') }
    await steps.takeWakeup(store, { workspaceId: workspace, agent: AGENT }, identity)
    const does = <T>(step: RunsStep<T>) => store.transact(workspace, step)
    const start = {
      sessionIdBefore: null,
      folder: null,
      task: null,
      log: { store: 'local_file', logRef: 'x' },
    }
    await does(beginRun({ workspaceId: workspace, runId, agent: AGENT, ...start }))
    return {
      ...{ runId, nodeId, does },
      run: async () => (await store.runs.find(workspace, runId))!,
      take: (message: Parameters<typeof takeCallback>[1]) => does(takeCallback(runId, message)),
      messages: async (after = 0) => (await store.runs.messages(workspace, runId, after)).messages,
      finish: () => steps.finishRun(store, { ...steps.ENDED, workspaceId: workspace, runId, agent: AGENT }),
      adopt: (to: string, from = nodeId) => does(adoptRun(runId, { from, to, log: LOG, withinMs: 60_000 })),
    }
  }

  test('messages are taken from the moment they are expected until the run is over', async () => {
    const { runId, does, take, messages, finish, run } = await begun()
    expect(await take(HEARTBEAT)).toBe('unknown_run')
    expect(await does(expectCallbacks(runId))).toBe(true)
    expect(await take(HEARTBEAT)).toBe('taken')
    expect(await take(RESULT)).toBe('taken')
    expect(await messages()).toEqual([
      { number: 1, message: HEARTBEAT },
      { number: 2, message: RESULT },
    ])
    expect(await messages(1)).toHaveLength(1)
    await finish()
    expect(await take(HEARTBEAT)).toBe('unknown_run')
    expect(await messages()).toEqual([])
    expect(await run()).toMatchObject({ awaiting: null, answerDueAt: null })
    expect(await does(expectCallbacks(runId))).toBe(false)
  })

  test('a run has one answer, which stays until its end is recorded', async () => {
    const { runId, does, take, messages } = await begun()
    await does(expectCallbacks(runId))
    await take(HEARTBEAT)
    expect(await take(RESULT)).toBe('taken')
    expect(await take({ kind: 'failure', message: 'no' })).toBe('over')
    expect(await take(HEARTBEAT)).toBe('over')
    await does(callbacksRead(runId, 2))
    expect(await messages()).toEqual([{ number: 2, message: RESULT }])
  })

  test('heartbeats do not pile up, and an answer is always taken', async () => {
    const { runId, does, take, messages } = await begun()
    await does(expectCallbacks(runId))
    for (let i = 0; i < 100; i++) expect(await take(HEARTBEAT)).toBe('taken')
    expect(await take(HEARTBEAT)).toBe('busy')
    await does(callbacksRead(runId, 40))
    expect(await messages()).toHaveLength(60)
    expect(await take(HEARTBEAT)).toBe('taken')
    // An old mark changes nothing.
    expect(await does(callbacksRead(runId, 3))).toBe(false)
    for (let i = 0; i < 39; i++) await take(HEARTBEAT)
    expect(await take(HEARTBEAT)).toBe('busy')
    expect(await take(RESULT)).toBe('taken')
  })

  test('expecting again, on another node, loses nothing', async () => {
    const { runId, does, take, messages, run } = await begun()
    await does(expectCallbacks(runId))
    await take(HEARTBEAT)
    await does(expectCallbacks(runId))
    expect(await messages()).toHaveLength(1)
    expect((await run()).awaiting).toMatchObject({ taken: 1, read: 0 })
  })

  test('a run is adopted once its agent has accepted the work, by one node only', async () => {
    const { runId, nodeId, does, adopt, run } = await begun()
    await does(expectCallbacks(runId))
    const [one, other] = [randomUUID(), randomUUID()]
    expect(isAwaited(await run())).toBe(false)
    expect(await adopt(one)).toBeNull()
    await does(acceptWork(runId, { state: { location: '/jobs/1' }, withinMs: 40_000 }))
    const { answerDueAt, startedAt } = await run()
    expect(answerDueAt! - startedAt!).toBeGreaterThanOrEqual(40_000)
    const adopted = await adopt(one)
    expect(adopted).toMatchObject({ awaiting: { state: { location: '/jobs/1' } } })
    expect(adopted!.leftMs).toBeLessThanOrEqual(40_000)
    expect(await adopt(other)).toBeNull()
    expect(await run()).toMatchObject({ nodeId: one, logStore: LOG.store, logRef: LOG.logRef, answerDueAt })
    expect(nodeId).not.toBe(one)
    // The second node is lost as well.
    expect(await adopt(other, one)).not.toBeNull()
    expect((await run()).answerDueAt).toBe(answerDueAt)
  })

  test('a message shows that the work was accepted, though its node was lost before it could record that', async () => {
    const { runId, does, take, adopt, run } = await begun()
    await does(expectCallbacks(runId))
    await take(HEARTBEAT)
    expect(isAwaited(await run())).toBe(true)
    expect(await adopt(randomUUID())).toMatchObject({ awaiting: { state: null } })
    const { startedAt, answerDueAt } = await run()
    expect(answerDueAt! - startedAt!).toBe(60_000)
  })

  test('a run that is over is not adopted', async () => {
    const { runId, does, adopt, finish } = await begun()
    await does(expectCallbacks(runId))
    await does(acceptWork(runId, { state: {}, withinMs: 1_000 }))
    await finish()
    expect(await adopt(randomUUID())).toBeNull()
    expect(await does(acceptWork(runId, { state: {}, withinMs: 1_000 }))).toBe(false)
  })
})
