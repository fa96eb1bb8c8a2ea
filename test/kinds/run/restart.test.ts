import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scriptOf } from '../../support/clis/runs.ts'
import { eventually, expectDoneOnce } from '../../support/recovery.ts'
import {
  type Cluster,
  expectWholeLog,
  isThere,
  livesIn,
  type RunsWorkspace,
  release,
  type ShownRun,
  USED,
  useRunNodes,
  type WorkerKind,
} from '../../support/run-nodes.ts'
import { listen } from '../../support/runs.ts'

/** The only node is killed while its agents work: what they leave, and how their work continues. */

const MINUTES = { timeout: 400_000 }
const isLinux = process.platform === 'linux'
const nodes = useRunNodes()

const WORKERS: Partial<Record<WorkerKind, number>> = {
  plain: 2,
  deaf: 1,
  tidy: 1,
  setsid: 1,
  pipes: 1,
  prints: 1,
  submits: 1,
}

async function startWorkers(w: RunsWorkspace) {
  const rooms = new Map<WorkerKind, string>()
  const work: { kind: WorkerKind; task: { id: string } }[] = []
  for (const [kind, count] of Object.entries(WORKERS) as [WorkerKind, number][]) {
    rooms.set(kind, await w.hireWorker(kind, kind))
    for (let i = 0; i < count; i++) work.push({ kind, task: await w.make({ agent: kind, title: kind }) })
  }
  const waiting: { kind: WorkerKind; run: ShownRun; log: string }[] = []
  for (const { kind, task } of work) {
    const run = await w.waits(task)
    waiting.push({ kind, run, log: '' })
  }
  return { rooms, work, waiting }
}

/** Fake programs of agents: the first time they hang in the middle, then they do their work. */
async function startClis(cluster: Cluster, w: RunsWorkspace) {
  const started: { program: string; room: string; task: { id: string }; run: ShownRun }[] = []
  for (const program of ['claude', 'codex']) {
    const slug = `${program}-${started.length}`
    const room = await cluster.room(slug)
    const env = { FAKE_CLI_HOME: room, FAKE_CLI: 'hang,tool', HOME: room }
    const adapterConfig = { command: scriptOf(program), env, graceSec: 1 }
    await w.hire(slug, { adapterType: `${program}_local`, adapterConfig })
    const task = await w.make({ agent: slug, title: slug })
    const run = await eventually(async () =>
      (await w.runs('&status=running')).find(({ taskId }) => taskId === task.id),
    )
    // The last output before it hangs.
    const last = program === 'claude' ? 'On my way' : 'aggregated_output'
    await eventually(async () => (await w.log(run.id)).includes(last))
    // What it has used by now is on record while it works.
    const used = { claude: 27, codex: 7 }[program]
    await eventually(async () => (await w.call('GET', `/runs/${run.id}`)).body.tokens?.output === used)
    started.push({ program, room, task, run })
  }
  return started
}

test.runIf(isLinux)(
  'after kill -9 with many runs alive none of their processes is left, and all of their work is done once',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster('embedded')
    const first = await cluster.serve()
    const w = await cluster.workspace()
    const { rooms, work, waiting } = await startWorkers(w)
    const clis = await startClis(cluster, w)
    expect((await w.runs('&status=running')).length).toBe(work.length + clis.length)
    for (const one of waiting) one.log = await w.log(one.run.id)
    await cluster.kill(first)

    const pids = [...rooms.values()].flatMap(livesIn).flatMap((life) => life.pids)
    // Two kinds have a process more.
    expect(pids).toHaveLength(work.length + 2)
    expect(pids.filter(isThere)).toEqual(pids)
    for (const room of rooms.values()) await release(room)
    await cluster.serve()
    // Any claim from now on is without competition.
    expect(pids.filter(isThere)).toEqual([])

    const tasks = [...work, ...clis].map(({ task }) => task)
    await w.isRecorded('task_completed', tasks.length)
    await eventually(async () => (await w.runs('&status=queued,running')).length === 0)
    await expectDoneOnce(w, tasks)
    const lives = [...rooms.values()].flatMap(livesIn)
    expect(lives.flatMap(({ predecessors }) => predecessors)).toEqual([])
    for (const { kind, run, log } of waiting) await expectLostWell(w, kind, run, log)
    for (const cli of clis) await expectTakenUp(w, cli)
    await cluster.expectInOrder()
  },
)

/** The run ended with its node, with all that was known of it, and the next one resumed its session. */
async function expectLostWell(
  w: RunsWorkspace,
  kind: WorkerKind,
  { id, taskId }: ShownRun,
  before: string,
): Promise<void> {
  const [lost, next, ...more] = await w.runsOf({ id: taskId! }, 'succeeded')
  expect(more).toEqual([])
  expect(lost!.id).toBe(id)
  const session = `session-of-${taskId}`
  expect(lost).toMatchObject({ ...USED.sofar, sessionIdAfter: session, sessionIdBefore: null })
  const kept = await expectWholeLog(w, lost!)
  expect(kept.slice(0, before.length)).toBe(before)
  const lines = kept.split('\n').filter((line) => line.startsWith('line '))
  expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, i) => `line ${i + 1} of ${id} – ü🦀`))
  if (kind === 'prints') expect(lines.length).toBeGreaterThan(10)
  if (kind === 'submits') {
    expect(kept).toContain('"status":200')
    expect(lost).toMatchObject({ status: 'succeeded', errorCode: null })
    expect(next).toBeUndefined()
    return
  }
  expect(lost).toMatchObject({ status: 'failed', errorCode: 'control_plane_restart', generation: 1 })
  expect(next).toMatchObject({
    generation: 2,
    ...USED.inAll,
    sessionIdBefore: session,
    sessionIdAfter: session,
  })
  await expectWholeLog(w, next!)
}

const callsIn = (room: string): { args: string[] }[] =>
  readFileSync(join(room, 'calls.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

async function expectTakenUp(
  w: RunsWorkspace,
  { program, room, task, run }: Awaited<ReturnType<typeof startClis>>[number],
): Promise<void> {
  const [lost, next, ...more] = await w.runsOf(task, 'succeeded')
  expect(more).toEqual([])
  expect(lost).toMatchObject({ id: run.id, status: 'failed', errorCode: 'control_plane_restart' })
  await expectWholeLog(w, lost!)
  expect(lost!.sessionIdAfter).not.toBe(null)
  expect(next).toMatchObject({
    sessionIdBefore: lost!.sessionIdAfter,
    sessionIdAfter: lost!.sessionIdAfter,
  })
  const [, second, ...calls] = callsIn(room)
  expect(calls).toEqual([])
  expect(second!.args).toContain(lost!.sessionIdAfter)
  expect({ lost: figuresOf(lost!), next: figuresOf(next!) }).toEqual(FIGURES[program])
}

const figuresOf = ({ tokens, usageBasis, costUsd }: ShownRun) => ({ tokens, usageBasis, costUsd })

/** Each run is charged for what its own requests used, up to the last that was complete: their files tell it, also of the lost one. */
const FIGURES: Record<string, unknown> = {
  claude: {
    lost: {
      ...{ tokens: { input: 200, cachedInput: 80, cacheWrite: null, output: 27 }, usageBasis: 'partial' },
      costUsd: '0.001356',
    },
    next: {
      ...{ tokens: { input: 200, cachedInput: 80, cacheWrite: null, output: 27 }, usageBasis: 'reported' },
      costUsd: '0.001356',
    },
  },
  codex: {
    lost: {
      ...{ tokens: { input: 60, cachedInput: 40, cacheWrite: null, output: 7 }, usageBasis: 'partial' },
      costUsd: '0.00015',
    },
    next: {
      ...{ tokens: { input: 120, cachedInput: 80, cacheWrite: null, output: 14 }, usageBasis: 'delta' },
      costUsd: '0.0003',
    },
  },
}

const at = (node: string) => ({ runtimeConfig: { node } })

test.runIf(isLinux)(
  'only what belongs to dead nodes is touched: not a server that is stopped, not one on another database',
  MINUTES,
  async () => {
    const [cluster, neighbour] = [await nodes.cluster(), await nodes.cluster()]
    const other = { served: await neighbour.serve(), w: await neighbour.workspace() }
    const there = await other.w.hireWorker('there', 'plain')
    const theirs = await other.w.make({ agent: 'there' })
    const run = await other.w.waits(theirs)

    const still = await cluster.serve({ BATON_NODE_NAME: 'still' })
    const w = await cluster.workspace()
    const frozen = await w.hireWorker('frozen', 'plain', at('still'))
    const held = await w.make({ agent: 'frozen' })
    const sleeping = await w.waits(held)
    const doomed = await cluster.serve({ BATON_NODE_NAME: 'doomed' })
    const gone = await w.hireWorker('gone', 'plain', at('doomed'))
    const freed = await w.make({ agent: 'gone' })
    await w.waits(freed)
    still.child.kill('SIGSTOP')
    await cluster.kill(doomed)
    await cluster.serve({ BATON_NODE_NAME: 'new' })
    try {
      // It has checked, since what the killed one left is ended.
      await w.runsOf(freed, 'failed')
      expect(livesIn(gone)[0]!.pids.filter(isThere)).toEqual([])
      expect((await w.call('GET', `/runs/${sleeping.id}`)).body).toMatchObject({ status: 'running' })
      expect(livesIn(frozen)[0]!.pids.filter(isThere)).toHaveLength(1)
      expect(await w.read(held)).toMatchObject({ state: 'running', generation: 1 })
    } finally {
      still.child.kill('SIGCONT')
    }
    expect(livesIn(there)[0]!.pids.filter(isThere)).toHaveLength(1)
    for (const room of [frozen, gone, there]) await release(room)
    await w.hire('gone', { runtimeConfig: {} })
    await w.isRecorded('task_completed', 2)
    expect(await w.runsOf(held, 'succeeded')).toMatchObject([{ id: sleeping.id, generation: 1 }])
    expect(await other.w.runsOf(theirs, 'succeeded')).toMatchObject([{ id: run.id, generation: 1 }])
    await expectDoneOnce(w, [held, freed])
    for (const each of [cluster, neighbour]) await each.expectInOrder()
  },
)

test.runIf(isLinux)(
  'a process that got the pid of a lost process, or of its server, is left alone',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve()
    const w = await cluster.workspace()
    const room = await w.hireWorker('worker', 'deaf')
    const task = await w.make({ agent: 'worker' })
    const { id, pid } = await w.waits(task)
    await cluster.kill(first)
    // A group of its own, as the lost process had.
    const innocent = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'], {
      detached: true,
    })
    try {
      await once(innocent, 'spawn')
      await cluster.rows('update runs set pid = $1 where run_id = $2', [innocent.pid, id])
      await cluster.rows('update nodes set pid = $1 where pid = $2', [process.pid, first.child.pid])
      await release(room)
      await cluster.serve()
      expect(isThere(innocent.pid!)).toBe(true)
      // The right one is identified by its environment.
      expect(isThere(pid!)).toBe(false)
      const [lost] = await w.runsOf(task, 'succeeded')
      expect(lost).toMatchObject({ id, status: 'failed', errorCode: 'control_plane_restart' })
      await expectDoneOnce(w, [task])
      await cluster.expectInOrder()
      expect(isThere(innocent.pid!)).toBe(true)
    } finally {
      innocent.kill('SIGKILL')
    }
  },
)

test.runIf(isLinux)(
  'the end of a run that was lost with its node is an event, in the log and over the socket',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    const first = await cluster.serve()
    const w = await cluster.workspace()
    const room = await w.hireWorker('worker', 'plain')
    const task = await w.make({ agent: 'worker' })
    const { id: runId } = await w.waits(task)
    const { items } = (await w.call('GET', '/events?limit=200')).body
    await cluster.kill(first)
    await release(room)
    const { url } = await cluster.serve()
    const board = await listen(`${url}/api/v1`, w.ownerKey, `?after=${items.at(-1).seq}`)
    const heard = await board.hears('run_finished', { runId })
    const lost = { taskId: task.id, status: 'failed', errorCode: 'control_plane_restart' }
    expect(heard).toMatchObject({ runId, payload: lost })
    const [event] = (await w.call('GET', `/events?type=run_finished&limit=1`)).body.items
    expect(event).toEqual(heard)
    // Its agent was told to run when the run started, and is idle again with its end.
    const status = (one: { type: string }) => one.type === 'agent_status_changed'
    expect(items.filter(status)).toMatchObject([
      { payload: { agent: 'worker', from: 'idle', to: 'running' } },
    ])
    const idle = { agent: 'worker', from: 'running', to: 'idle' }
    const ends = await board.hears('agent_status_changed', idle)
    expect(ends.seq).toBe(heard.seq + 1)
    await board.leave()
    await w.isRecorded('task_completed')
    await expectDoneOnce(w, [task])
  },
)
