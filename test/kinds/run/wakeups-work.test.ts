import { describe, expect, test } from 'vitest'
import { ActiveRun } from '../../../src/executor/active-run.ts'
import { dispatch, run } from '../../../src/executor/run.ts'
import { commandAgent, pause, remove } from '../../support/agents.ts'
import { atGeneration, holder, type Task } from '../../support/tasks.ts'
import { useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/**
 * Assigned work wakes its agent, whatever happened to the wakeup; and a waiting wakeup is checked again when it is claimed.
 */

const cluster = useCluster()
const AGENT = 'alpha'
const OWN = holder(AGENT, `agent:${AGENT}`)

async function withTask(more = {}): Promise<{ h: WakeupWorkspace; task: Task }> {
  const h = await cluster.workspace()
  await h.agent(AGENT, {}, more)
  return { h, task: await h.work.create() }
}
async function withAssigned(more = {}) {
  const { h, task } = await withTask(more)
  await h.assign(AGENT, task)
  return { h, task }
}

describe('assigned work', () => {
  test('wakes its agent under its claim, once', async () => {
    const { h, task } = await withAssigned()
    expect(await h.wakeForWork()).toBe(1)
    expect(await h.waiting()).toMatchObject([
      {
        agent: AGENT,
        taskUuid: task.uuid,
        generation: 1,
        source: 'assignment',
        reason: 'assigned',
        priority: 2,
      },
    ])
    expect(await h.wakeForWork()).toBe(0)
    await h.take((await h.waiting())[0]!)
    expect(await h.wakeForWork(), 'its run is active').toBe(0)
  })

  test('wakes it at the next pass when the wakeup was lost', async () => {
    const { h } = await withAssigned()
    await h.wakeForWork()
    await cluster.rows('delete from wakeups where workspace_id = $1', [h.id])
    expect(await h.wakeForWork()).toBe(1)
    expect(await h.waiting()).toHaveLength(1)
  })

  test('is searched for by several nodes at once, and wakes it once', async () => {
    const { h } = await withAssigned()
    await Promise.all(Array.from({ length: 8 }, () => h.wakeForWork()))
    expect(await h.waiting()).toHaveLength(1)
    expect((await h.wakeups()).filter(({ status }) => status !== 'coalesced')).toHaveLength(1)
  })

  test('again to the same agent, after it did not start it, is run under the newer claim', async () => {
    const { h, task } = await withAssigned()
    await h.wakeForWork()
    await h.work.release(task, atGeneration(OWN, 1))
    await h.assign(AGENT, task)
    const [waiting] = await h.waiting()
    expect((await h.take(waiting!))!, 'also before the next pass').toMatchObject({
      decision: { kind: 'run' },
      wakeup: { generation: 2 },
    })
  })

  test('again to the same agent requests a wakeup again, which is merged into the waiting one', async () => {
    const { h, task } = await withAssigned()
    await h.wakeForWork()
    await h.work.release(task, atGeneration(OWN, 1))
    await h.assign(AGENT, task)
    expect(await h.wakeForWork()).toBe(1)
    expect(await h.waiting()).toMatchObject([{ generation: 2, coalescedCount: 1 }])
    expect(await h.wakeForWork()).toBe(0)
  })

  test('is run under its claim, when a person requested the same task meanwhile', async () => {
    const { h, task } = await withTask()
    const asked = await h.wake(AGENT, { task })
    await h.assign(AGENT, task)
    expect(await h.wakeForWork()).toBe(1)
    expect(await h.waiting()).toMatchObject([{ id: asked.id, generation: 1, priority: 3 }])
    expect((await h.take(asked))!).toMatchObject({ decision: { kind: 'run' }, wakeup: { generation: 1 } })
  })

  test('does not wake an agent that runs elsewhere, nor for what the agent claimed under its own session', async () => {
    const h = await cluster.workspace()
    await h.agent('outside', {}, { adapterType: 'external' })
    await h.agent(AGENT, {}, { maxConcurrentTasks: null })
    await h.assign('outside', await h.work.create())
    await h.work.claim(await h.work.create(), holder(AGENT, 'a terminal'))
    expect(await h.wakeForWork()).toBe(0)
  })
})

describe('work to be continued', () => {
  test('wakes its agent after a moment, under the same claim', async () => {
    const { h, task } = await withAssigned()
    await h.work.continueLater(task, atGeneration(OWN, 1))
    expect(await h.wakeForWork()).toBe(1)
    const [waiting] = await h.waiting()
    expect(waiting).toMatchObject({ source: 'automation', reason: 'continuation', generation: 1 })
    expect(waiting!.dueAt - waiting!.requestedAt).toBe(1_000)
    expect(await h.wakeForWork()).toBe(0)
  })

  test('also wakes an agent that the coordinator assigns nothing: it claimed the task itself', async () => {
    const { h, task } = await withTask({ coordinatorEnabled: false })
    await h.work.claim(task, OWN)
    await h.work.continueLater(task, atGeneration(OWN, 1))
    expect(await h.wakeForWork()).toBe(1)
    expect(await h.waiting()).toMatchObject([{ taskUuid: task.uuid, generation: 1 }])
  })

  test('does not depend on the policy for programs: the task itself requests it', async () => {
    const h = await cluster.workspace()
    await h.agent(AGENT, { wakeOnAutomation: false })
    const task = await h.work.create()
    await h.assign(AGENT, task)
    await h.work.continueLater(task, atGeneration(OWN, 1))
    await h.wakeForWork()
    expect(await h.waiting()).toMatchObject([{ reason: 'continuation' }])
  })
})

describe('work for which its agent cannot be woken goes to others, at once and with its attempt', () => {
  test.each([
    ['paused', (h: WakeupWorkspace) => pause(h.work, AGENT)],
    ['faulty', (h: WakeupWorkspace) => commandAgent(h.work, AGENT, { kind: 'fault', reason: 'no program' })],
    ['switched off', (h: WakeupWorkspace) => h.agent(AGENT, { enabled: false })],
    ['not to be woken by it', (h: WakeupWorkspace) => h.agent(AGENT, { wakeOnAssignment: false })],
  ] as const)('%s', async (_name, act) => {
    const { h, task } = await withAssigned()
    await act(h)
    await h.wakeForWork()
    expect(await h.work.record(task)).toMatchObject({ state: 'queued', attempt: 0 })
    expect(await h.wakeForWork(), 'pass after pass there is nothing more').toBe(0)
    expect(await h.wakeups()).toHaveLength(1)
  })
})

describe('a waiting wakeup is checked again when it is claimed', () => {
  const gone: Record<string, (h: WakeupWorkspace, task: Task) => Promise<unknown>> = {
    'is done': async (h, task) => {
      await h.work.claim(task, holder('beta'))
      await h.work.submit(task, atGeneration(holder('beta'), 1))
    },
    'is held by another': (h, task) => h.work.claim(task, holder('beta')),
    'is cancelled': (h, task) => h.work.cancel(task),
    'is paused': (h, task) => h.work.pause(task),
    'waits for its next attempt': async (h, task) => {
      await h.work.claim(task, holder('beta'))
      await h.work.fail(task, atGeneration(holder('beta'), 1))
    },
  }

  test.each(Object.keys(gone))('a task that %s is not run, and the reason is recorded', async (how) => {
    const { h, task } = await withTask()
    const wakeup = await h.wake(AGENT, { task, reason: 'please' })
    await gone[how]!(h, task)
    expect((await h.take(wakeup))!.decision).toEqual({ kind: 'skip', because: 'TASK_NOT_READY' })
    expect(await h.wakeup(wakeup.id)).toMatchObject({ status: 'skipped', skipReason: 'TASK_NOT_READY' })
    expect(await h.runs()).toEqual([])
    expect(await h.events('wakeup_skipped')).toMatchObject([
      { payload: { agent: AGENT, wakeupId: wakeup.id, because: 'TASK_NOT_READY', taskId: task.uuid } },
    ])
  })

  test('a task whose claim has ended is not run by its former holder, even if it waits again', async () => {
    const { h, task } = await withAssigned()
    await h.wakeForWork()
    await h.work.release(task, atGeneration(OWN, 1))
    const [waiting] = await h.waiting()
    expect((await h.take(waiting!))!.decision).toEqual({ kind: 'skip', because: 'TASK_NOT_READY' })
  })

  test('a task whose next attempt is due is run', async () => {
    const { h, task } = await withTask()
    await h.work.claim(task, holder('beta'))
    await h.work.fail(task, atGeneration(holder('beta'), 1))
    await cluster.rows(`update tasks set due_at = clock_timestamp() where workspace_id = $1`, [h.id])
    expect((await h.take(await h.wake(AGENT, { task })))!.decision.kind).toBe('run')
  })

  test('an agent that was removed after its wakeup was claimed does not come back by claiming', async () => {
    const { h, task } = await withTask()
    const wakeup = await h.wake(AGENT)
    const node = await cluster.node('here')
    const dispatched = (await dispatch(node.context, { workspaceId: h.id, id: wakeup.id, agent: AGENT }))!
    await remove(h.work, AGENT)
    const about = { runId: dispatched.runId, workspaceId: h.id, agent: AGENT }
    await run(node.context, dispatched, new ActiveRun(node.context, about))
    expect(await cluster.rows('select slug from agents where workspace_id = $1', [h.id])).toEqual([])
    expect((await h.work.record(task)).state).toBe('queued')
    expect(await h.runs()).toMatchObject([{ status: 'cancelled', errorCode: 'claim_lost' }])
    expect(h.invokedBy(node)).toEqual([])
  })
})
