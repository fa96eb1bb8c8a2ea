import { expect, test } from 'vitest'
import { eventually, expectDoneOnce } from '../support/recovery.ts'
import { isThere, livesIn, release, USED, useRunNodes } from '../support/run-nodes.ts'

/** What other nodes do about a dead one: they check every ten seconds. */

const MINUTES = { timeout: 400_000 }
const isLinux = process.platform === 'linux'
const nodes = useRunNodes()
const at = (node: string) => ({ runtimeConfig: { node } })

test.runIf(isLinux)(
  'a server ends the runs of one that was killed beside it, without a restart, and its own continue',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    const doomed = await cluster.serve({ BATON_NODE_NAME: 'doomed' })
    const w = await cluster.workspace()
    const lost = await w.hireWorker('lost', 'setsid', at('doomed'))
    const theirs = await w.make({ agent: 'lost' })
    const killed = await w.waits(theirs)
    await cluster.serve({ BATON_NODE_NAME: 'stays' })
    const kept = await w.hireWorker('kept', 'plain', at('stays'))
    const ours = await w.make({ agent: 'kept' })
    const own = await w.waits(ours)
    expect(own.nodeId).not.toBe(killed.nodeId)
    doomed.child.kill('SIGKILL')
    await doomed.ended

    const [run] = await w.runsOf(theirs, 'failed')
    expect(run).toMatchObject({ id: killed.id, errorCode: 'control_plane_restart', ...USED.sofar })
    const [dead] = livesIn(lost)
    expect(dead!.pids.filter(isThere)).toEqual([])
    // Nothing happened between: it is the same run, in the same process.
    expect(livesIn(kept)).toHaveLength(1)
    expect(livesIn(kept)[0]!.pids.filter(isThere)).toHaveLength(1)
    expect(await w.runs('&status=running')).toMatchObject([{ id: own.id, pid: own.pid }])
    for (const room of [lost, kept]) await release(room)
    // The node it was bound to does not come back: it may run anywhere.
    await w.hire('lost', { runtimeConfig: {} })
    await w.isRecorded('task_completed', 2)
    await eventually(async () => (await w.runs('&status=queued,running')).length === 0)
    expect(await w.runsOf(ours, 'succeeded')).toMatchObject([{ id: own.id, generation: 1 }])
    await expectDoneOnce(w, [theirs, ours])
    await cluster.expectInOrder()
  },
)

test.runIf(isLinux)(
  'processes on a machine that other nodes gave up are ended when it is back',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    const away = await cluster.serve({ BATON_NODE_NAME: 'away' })
    const w = await cluster.workspace()
    const room = await w.hireWorker('worker', 'setsid', at('away'))
    const task = await w.make({ agent: 'worker' })
    const { id } = await w.waits(task)
    await cluster.kill(away)
    // As if it had been on another machine, and silent for long.
    await cluster.rows(
      `update nodes set host = 'elsewhere', last_seen_at = last_seen_at - interval '1 minute'`,
    )
    const other = await cluster.serve({ BATON_NODE_NAME: 'other' })
    expect(await w.runsOf(task, 'failed')).toMatchObject([{ id, errorCode: 'control_plane_restart' }])
    const [lost] = livesIn(room)
    expect(lost!.pids.filter(isThere)).toEqual(lost!.pids)
    await release(room)
    await cluster.kill(other)
    await cluster.serve({ BATON_NODE_NAME: 'away' })
    expect(lost!.pids.filter(isThere)).toEqual([])
    await w.runsOf(task, 'succeeded')
    await expectDoneOnce(w, [task])
    await cluster.expectInOrder()
  },
)
