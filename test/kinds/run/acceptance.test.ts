import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gone, isAlive } from '../../support/adapter-runs.ts'
import { expectRefusal } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, listen, numberIn, type Seen, scripts, useFleets } from '../../support/runs.ts'

/** Paperclip 15: what must be true of agents that Baton runs, each point of it, through a whole server. */

const { served, fleet } = useFleets()

/** What one plain run of each fake program uses. */
const PER_RUN = {
  claude: { input: 100, cachedInput: 40, cacheWrite: null, output: 7 },
  codex: { input: 60, cachedInput: 40, cacheWrite: null, output: 7 },
}
type Program = keyof typeof PER_RUN
const programs = Object.keys(PER_RUN) as Program[]
const resumeOf = {
  claude: (sessionId: string) => ['--resume', sessionId],
  codex: (sessionId: string) => ['resume', sessionId],
}
const runtimeState = async (w: Fleet, slug: string): Promise<Seen> =>
  (await w.call('GET', `/agents/${slug}/runtime-state`)).body
const sessionsOf = async (w: Fleet, slug: string): Promise<Seen[]> =>
  (await w.call('GET', `/agents/${slug}/task-sessions`)).body.items

/** The task, done once more by the same agent. */
async function again(w: Fleet, task: Seen, slug: string, count: number): Promise<Seen> {
  expect((await w.on(task, 'reset')).status).toBe(200)
  const runs = await w.over(slug, count)
  await w.taskIn(task, 'completed')
  return runs[count - 1]
}

describe('15.1', () => {
  test.each(programs)('an agent on %s runs, exits, and its result is recorded', async (program) => {
    const w = await fleet()
    const { calls, home } = await w[program]('dev', '', { env: { FAKE_CLI_SAYS: '{"files":["a.ts"]}' } })
    const task = await w.assign('dev', { title: 'Write it', description: 'All of it' })
    const [run] = await w.over('dev')
    expect(run).toMatchObject({
      ...{ agent: 'dev', adapterType: `${program}_local`, source: 'assignment', status: 'succeeded' },
      ...{ taskId: task.id, generation: 1, attempt: 1, errorCode: null, exitCode: 0, signal: null },
      ...{ tokens: PER_RUN[program], folder: { path: home } },
      log: { store: 'local_file', status: 'available', truncated: false },
    })
    expect(run.sessionIdBefore).toBeNull()
    expect(run.sessionIdAfter).toBeTruthy()
    expect(run.durationMs).toBeGreaterThan(0)
    expect(await w.read(task)).toMatchObject({ state: 'completed', attempt: 1, generation: 1 })
    expect(await w.resultsOf(task)).toMatchObject([{ accepted: true, result: { files: ['a.ts'] } }])
    const [call, ...more] = calls()
    expect(more).toEqual([])
    expect(call!.cwd).toBe(home)
    expect(call!.prompt).toContain('Write it')
    expect(call!.prompt).toContain('All of it')
    expect(isAlive(call!.pid)).toBe(false)
    expect(await w.agent('dev')).toMatchObject({ state: 'idle', activeTasks: 0 })
  })
})

describe('15.2', () => {
  test.each(programs)('%s resumes the session of the same task, and of no other', async (program) => {
    const w = await fleet()
    const { calls } = await w[program]('dev')
    const task = await w.assign('dev')
    const [first] = await w.over('dev')
    const other = await w.assign('dev')
    const [, second] = await w.over('dev', 2)
    const third = await again(w, task, 'dev', 3)
    expect(first.sessionIdBefore).toBeNull()
    expect(second.sessionIdBefore).toBeNull()
    expect(second.sessionIdAfter).not.toBe(first.sessionIdAfter)
    expect(third).toMatchObject({ taskId: task.id, generation: 2 })
    expect([third.sessionIdBefore, third.sessionIdAfter]).toEqual([
      first.sessionIdAfter,
      first.sessionIdAfter,
    ])
    const args = calls().map((call) => call.args.join(' '))
    const resumes = resumeOf[program](first.sessionIdAfter).join(' ')
    expect(args.map((text) => text.includes(resumes))).toEqual([false, false, true])
    const kept = new Map((await sessionsOf(w, 'dev')).map((one) => [one.taskKey, one.sessionDisplayId]))
    expect(kept).toEqual(
      new Map([
        [task.id, first.sessionIdAfter],
        [other.id, second.sessionIdAfter],
      ]),
    )
  })

  test('a session belongs to its agent: another agent on the same task starts a new one', async () => {
    const w = await fleet()
    const one = await w.claude('one')
    const two = await w.claude('two')
    const task = await w.assign('one')
    await w.over('one')
    await w.taskIn(task, 'completed')
    await w.call('PATCH', `/tasks/${task.id}`, { agent: 'two' })
    expect((await w.on(task, 'reset')).status).toBe(200)
    const [run] = await w.over('two')
    expect([run.taskId, run.sessionIdBefore]).toEqual([task.id, null])
    expect([one.calls().length, two.calls().length]).toEqual([1, 1])
    expect(two.calls()[0]!.args).not.toContain('--resume')
  })

  test('a session stays known when a run ends without any output', async () => {
    const w = await fleet()
    const { calls } = await w.claude('dev', 'max_turns,no_output,tool')
    const task = await w.assign('dev')
    await w.taskIn(task, 'completed')
    const [first, second, third] = await w.over('dev', 3)
    expect(second).toMatchObject({ errorCode: 'output_parse_error', sessionIdAfter: null })
    const { sessionIdAfter } = first
    expect([second, third].map((run) => run.sessionIdBefore)).toEqual([sessionIdAfter, sessionIdAfter])
    expect(third.sessionIdAfter).toBe(sessionIdAfter)
    expect(calls().map(({ args }) => args.includes('--resume'))).toEqual([false, true, true])
    expect(await sessionsOf(w, 'dev')).toMatchObject([{ sessionDisplayId: sessionIdAfter }])
  })

  test('a session that was reset is not resumed', async () => {
    const w = await fleet()
    const { calls } = await w.claude('dev')
    const task = await w.assign('dev')
    await w.over('dev')
    const reset = await w.post('/agents/dev/runtime-state/reset-session', { taskKey: task.id })
    expect(reset.body).toEqual({ agent: 'dev', cleared: 1 })
    const second = await again(w, task, 'dev', 2)
    expect(second.sessionIdBefore).toBeNull()
    expect(calls()[1]!.args).not.toContain('--resume')
  })
})

describe('15.3', () => {
  test.each(programs)(
    'the usage of %s is recorded per run, and adds up over resumed runs to the token',
    async (program) => {
      const w = await fleet()
      await w[program]('dev')
      const task = await w.assign('dev')
      await w.over('dev')
      for (const count of [2, 3]) await again(w, task, 'dev', count)
      const runs = await w.runsOf('dev')
      const perRun = PER_RUN[program]
      const threefold = {
        ...{ input: 3 * perRun.input, cachedInput: 3 * perRun.cachedInput, cacheWrite: null },
        output: 3 * perRun.output,
      }
      // Codex counts over its whole thread; Claude reports the usage of each run, and counts dollars over its session.
      const bases =
        program === 'codex' ? ['reported', 'delta', 'delta'] : ['reported', 'reported', 'reported']
      expect(runs.map(({ usageBasis }) => usageBasis)).toEqual(bases)
      expect(runs.map(({ tokens }) => tokens)).toEqual([perRun, perRun, perRun])
      const cost = program === 'claude' ? '0.000548' : null
      expect(runs.map(({ costUsd }) => costUsd)).toEqual([cost, cost, cost])
      expect(await runtimeState(w, 'dev')).toMatchObject({
        runs: 3,
        tokens: threefold,
        costUsd: program === 'claude' ? '0.001644' : '0',
        unknownRuns: program === 'claude' ? 0 : 3,
        lastRunId: runs[2].id,
        lastRunStatus: 'succeeded',
      })
      expect((await w.read(task, '/runs')).total).toEqual({
        runs: 3,
        tokens: threefold,
        costUsd: program === 'claude' ? '0.001644' : null,
        // Nothing here has a key: subscriptions cover it.
        notionalUsd: program === 'claude' ? '0.001644' : null,
      })
    },
  )

  test('a failed run is charged for its usage, and one of unknown usage for nothing known', async () => {
    const w = await fleet()
    await w.claude('dev', 'max_budget')
    await w.script('mute', `console.log('nothing of tokens')`)
    await Promise.all([w.assign('dev'), w.assign('mute')])
    const [failed] = await w.over('dev')
    expect(failed).toMatchObject({ errorCode: 'budget_blocked', tokens: PER_RUN.claude })
    expect(await runtimeState(w, 'dev')).toMatchObject({ tokens: { input: 100, output: 7 } })
    const [mute] = await w.over('mute')
    expect([mute.status, mute.tokens, mute.costUsd]).toEqual(['succeeded', null, null])
  })
})

describe('15.4', () => {
  test('a timer, an assignment, a person and a program all wake an agent through one queue', async () => {
    const w = await fleet()
    const heartbeat = { intervalSec: 1 }
    await w.script('dev', scripts.echoes, { runtimeConfig: { heartbeat } })
    const [byClock] = await w.over('dev')
    expect(byClock).toMatchObject({ source: 'timer', taskId: null, status: 'succeeded' })
    await w.put('dev', { runtimeConfig: { heartbeat: { intervalSec: null } } })
    const idle = () =>
      eventually(async () => (await w.wakeups('dev')).every(({ finishedAt }) => finishedAt !== null))
    const sourced = (source: string) =>
      eventually(async () => (await w.runsOf('dev')).find((run) => run.source === source && run.finishedAt))
    await idle()
    const task = await w.assign('dev')
    expect(await sourced('assignment')).toMatchObject({ taskId: task.id, status: 'succeeded' })
    await idle()
    await w.wake('dev', { reason: 'look at it', payload: { pr: 7 } })
    expect(await sourced('on_demand')).toMatchObject({ triggerDetail: 'manual', reason: 'look at it' })
    await idle()
    await w.wake('dev', { source: 'automation', triggerDetail: 'callback' })
    expect(await sourced('automation')).toMatchObject({ triggerDetail: 'callback' })
    const wakeups = (await w.wakeups('dev')).filter(({ status }) => status === 'completed')
    const runs = await w.runsOf('dev')
    expect(new Set(wakeups.map(({ source }) => source))).toEqual(
      new Set(['timer', 'assignment', 'on_demand', 'automation']),
    )
    // Each run came from a row of that queue, and each row that was claimed became one run.
    expect(wakeups.map(({ id }) => id).sort()).toEqual(runs.map(({ wakeupId }) => wakeupId).sort())
    expect(wakeups.map(({ runId }) => runId).sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(await w.count('wakeup_requested')).toBe(wakeups.length)
  })

  test('wakeups of a busy agent are merged into one, with the latest reason, and start no second run', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    const first = await w.wake('dev', { reason: 'first' })
    await w.saying('dev', 'up')
    const more = [await w.wake('dev', { reason: 'second' }), await w.wake('dev', { reason: 'third' })]
    expect(more).toMatchObject([
      { status: 'coalesced', coalescedInto: first.id },
      { status: 'coalesced', coalescedInto: first.id },
    ])
    expect(await w.wakeups('dev')).toMatchObject([
      { id: first.id, status: 'claimed', coalescedCount: 2, reason: 'third' },
      { status: 'coalesced' },
      { status: 'coalesced' },
    ])
    expect(await w.runsOf('dev')).toHaveLength(1)
    expect(await w.count('wakeup_coalesced')).toBe(2)
    const [run] = await w.runsOf('dev')
    await w.post(`/runs/${run.id}/cancel`)
  })
})

describe('15.5', () => {
  const acts = [
    ['pause', { graceful: false }, 'paused', 'AGENT_PAUSED'],
    ['terminate', { graceful: false }, 'terminated', 'AGENT_TERMINATED'],
  ] as const

  test.each(acts)(
    '%s at once ends the process and everything it started, and no longer wakes an agent',
    async (act, body, state, because) => {
      const w = await fleet()
      const { home } = await w.script('dev', scripts.withGrandchild)
      const task = await w.assign('dev')
      const [own, grandchild] = await Promise.all([
        numberIn(home, 'own.pid'),
        numberIn(home, 'grandchild.pid'),
      ])
      expect([isAlive(own), isAlive(grandchild)]).toEqual([true, true])
      expect((await w.post(`/agents/dev/${act}`, body)).status).toBe(200)
      const [run] = await w.over('dev')
      // Once it is recorded as over, nothing of it is left.
      expect([isAlive(own), isAlive(grandchild)]).toEqual([false, false])
      expect(run).toMatchObject({ status: 'cancelled', errorCode: 'cancelled', signal: 'SIGTERM' })
      expect(run.errorMessage).toContain(state)
      expect(await w.taskIn(task, 'queued')).toMatchObject({ holder: null })
      expect(await w.agent('dev')).toMatchObject({ state, activeTasks: 0 })
      for (const source of ['on_demand', 'automation', 'assignment', 'timer'])
        expect(await w.wake('dev', { source })).toMatchObject({ status: 'skipped', skipReason: because })
      await w.pass()
      expect(await w.runsOf('dev')).toHaveLength(1)
      expect(await w.read(task)).toMatchObject({ state: 'queued' })
      expect(await w.count('wakeup_skipped')).toBe(4)
    },
  )

  test.each(programs)('a %s that ignores SIGTERM is killed after its grace period', async (program) => {
    const w = await fleet()
    const { calls } = await w[program]('dev', 'ignores_sigterm')
    await w.assign('dev')
    await eventually(async () => calls().length > 0)
    const { pid } = calls()[0]!
    expect((await w.post('/agents/dev/pause', { graceful: false })).status).toBe(200)
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ status: 'cancelled', errorCode: 'cancelled', signal: 'SIGKILL' })
    expect(isAlive(pid)).toBe(false)
  })

  test('resumed, it continues its task, in the same session', async () => {
    const w = await fleet()
    const { calls } = await w.claude('dev', 'hang,tool')
    const task = await w.assign('dev')
    const { sessionIdAfter } = await eventually(async () =>
      (await w.runsOf('dev')).find((run) => run.statusMessage !== null),
    )
    await w.post('/agents/dev/pause', { graceful: false })
    await w.over('dev')
    await gone(calls()[0]!.pid)
    expect((await w.post('/agents/dev/resume')).status).toBe(200)
    const [, second] = await w.over('dev', 2)
    expect(second).toMatchObject({ status: 'succeeded', sessionIdBefore: sessionIdAfter, generation: 2 })
    expect(await w.read(task)).toMatchObject({ state: 'completed', attempt: 1 })
  })
})

/** Says "up", and when the file "go" is there wants another turn; in that, it has its result. */
const TWO_TURNS = `
  import { existsSync, writeFileSync } from 'node:fs'
  const isSecond = existsSync('half')
  const end = () => {
    writeFileSync('half', '')
    console.log(JSON.stringify(isSecond ? { result: 'whole' } : { continue: true }))
    process.exit()
  }
  console.log('up')
  if (isSecond) end()
  setInterval(() => existsSync('go') && end(), 20)`

describe('15.5, with time to finish', () => {
  test('a paused agent finishes its run and takes nothing new; a further turn waits for it, and no attempt is spent', async () => {
    const w = await fleet()
    const { home } = await w.script('dev', TWO_TURNS)
    const task = await w.make()
    await w.saying('dev', 'up')
    // Another that could take it, and must not.
    await w.script('other', 'console.log(JSON.stringify({ result: "by another" }))')
    expect((await w.post('/agents/dev/pause', { reason: 'lunch' })).status).toBe(200)
    expect(await w.agent('dev')).toMatchObject({ state: 'paused', activeTasks: 1, activeRuns: 1 })
    const next = await w.assign('dev')
    await w.pass()
    expect(await w.runsOf('dev')).toMatchObject([{ status: 'running' }])
    writeFileSync(join(home, 'go'), '')
    const [first] = await w.over('dev')
    expect(first).toMatchObject({ status: 'succeeded', errorCode: null, exitCode: 0 })
    expect(await w.taskIn(task, 'queued')).toMatchObject({ attempt: 0, holder: null })
    await w.pass()
    expect([await w.runsOf('dev'), await w.runsOf('other')].map(({ length }) => length)).toEqual([1, 0])
    expect(await w.agent('dev')).toMatchObject({ state: 'paused', activeTasks: 0, activeRuns: 0 })
    expect((await w.post('/agents/dev/resume')).status).toBe(200)
    expect(await w.taskIn(task, 'completed')).toMatchObject({ attempt: 1 })
    expect(await w.taskIn(next, 'completed')).toMatchObject({ attempt: 1 })
    expect((await w.resultsOf(task))[0]).toMatchObject({ agent: 'dev', result: 'whole' })
  })

  test('a pause becomes a stop, which ends a run without a task, too; said again, it changes nothing', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    await w.wake('dev')
    await w.saying('dev', 'up')
    await w.post('/agents/dev/pause', { reason: 'lunch' })
    await w.pass()
    expect(await w.runsOf('dev')).toMatchObject([{ status: 'running', taskId: null }])
    const { body: stopped } = await w.post('/agents/dev/pause', { graceful: false })
    expect(stopped).toMatchObject({ state: 'paused', stateReason: 'lunch' })
    expect(await w.over('dev')).toMatchObject([{ status: 'cancelled', errorMessage: 'The agent is paused.' }])
    for (const body of [{ graceful: false }, {}])
      expect((await w.post('/agents/dev/pause', body)).body.version).toBe(stopped.version)
    const said = (await w.events()).filter(({ type }: Seen) => type === 'agent_paused')
    expect(said.map(({ payload }: Seen) => payload.graceful)).toEqual([true, false])
    // Resumed, it works as before, also after the next pause.
    await w.post('/agents/dev/resume')
    await w.wake('dev')
    await w.saying('dev', 'up')
    await w.post('/agents/dev/pause')
    await w.pass()
    expect((await w.runsOf('dev'))[1]).toMatchObject({ status: 'running' })
    await w.post('/agents/dev/pause', { graceful: false })
    await w.over('dev', 2)
  })

  test('a terminated agent finishes its run and a further turn of it, or is ended at once by a second act', async () => {
    const w = await fleet()
    const { home } = await w.script('dev', TWO_TURNS)
    const task = await w.assign('dev')
    await w.saying('dev', 'up')
    expect((await w.post('/agents/dev/terminate')).body).toMatchObject({ leaving: true })
    writeFileSync(join(home, 'go'), '')
    expect(await w.taskIn(task, 'completed')).toMatchObject({ attempt: 1 })
    await w.isIn('dev', 'terminated')
    expect((await w.over('dev', 2)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    // Without a task it has nothing to finish, but its run.
    await w.script('idle', scripts.stays)
    await w.wake('idle')
    await w.saying('idle', 'up')
    expect((await w.post('/agents/idle/terminate')).body).toMatchObject({ state: 'terminated' })
    await w.pass()
    expect(await w.runsOf('idle')).toMatchObject([{ status: 'running' }])
    await w.post(`/runs/${(await w.runsOf('idle'))[0].id}/cancel`)
    await w.over('idle')
    await w.script('late', scripts.stays)
    const other = await w.assign('late')
    await w.saying('late', 'up')
    await w.post('/agents/late/terminate')
    await w.post('/agents/late/terminate', { graceful: false })
    expect(await w.over('late')).toMatchObject([{ status: 'cancelled' }])
    expect(await w.taskIn(other, 'queued')).toMatchObject({ attempt: 0 })
  })
})

describe('15.6', () => {
  test('a WebSocket delivers the run, its output, its task and its agent while it is active', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `
      console.log(JSON.stringify({ baton: 'status', message: 'reads the plan', color: 'blue' }))
      console.log(JSON.stringify({ baton: 'progress', percent: 40, step: 'half' }))
      console.log('grüße')
      console.error('a warning')
      setInterval(() => {}, 60_000)`,
    )
    const board = await listen(served().api, w.ownerKey, '?output=all')
    const task = await w.assign('dev')
    await board.hears('task_created', { taskId: task.id })
    await board.hears('task_assigned', { taskId: task.id })
    const { payload } = await board.hears('run_started', { agent: 'dev', taskId: task.id })
    const { runId } = payload
    await board.hears('run_status', { runId, message: 'reads the plan', color: 'blue' })
    await board.hears('task_progress', { taskId: task.id, percent: 40, step: 'half' })
    await eventually(async () => board.text(runId, 'stdout').includes('grüße\n'))
    await eventually(async () => board.text(runId, 'stderr').includes('a warning\n'))
    expect((await w.run(runId)).status).toBe('running')
    await w.post('/agents/dev/pause', { reason: 'enough', graceful: false })
    await board.hears('agent_paused', { agent: 'dev' })
    await board.hears('run_finished', { runId, status: 'cancelled' })
    await board.hears('task_released', { taskId: task.id })
    await board.leave()
    const seqs = board.events.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_, i) => seqs[0] + i))
    const types = board.events.map(({ type }) => type)
    const order = [
      'wakeup_requested',
      'run_queued',
      'run_started',
      'run_status',
      'agent_paused',
      'run_finished',
    ]
    expect(order.map((type) => types.indexOf(type))).toEqual(
      order.map((type) => types.indexOf(type)).toSorted((a, b) => a - b),
    )
    expect(types).not.toContain('run_log')
    // The live output equals the log, at the same offsets.
    const { content } = await w.log(runId)
    const bytes = Buffer.from(content)
    for (const { offset, chunk } of board.outputs)
      expect(bytes.subarray(offset, offset + Buffer.byteLength(chunk)).toString()).toBe(chunk)
  })

  test('a watcher of one run does not get the output of others', async () => {
    const w = await fleet()
    const talks = `setInterval(() => console.log('tick'), 20)`
    await Promise.all([w.script('one', talks), w.script('two', talks)])
    await Promise.all([w.assign('one'), w.assign('two')])
    const [one, two] = [await w.saying('one', 'tick'), await w.saying('two', 'tick')]
    const all = await listen(served().api, w.ownerKey, '?output=all')
    const only = await listen(served().api, w.ownerKey, `?output=${one.id}`)
    const none = await listen(served().api, w.ownerKey)
    await eventually(async () => all.outputs.some((o) => o.runId === two.id) && only.outputs.length > 2)
    expect(new Set(only.outputs.map(({ runId }) => runId))).toEqual(new Set([one.id]))
    expect(none.outputs).toEqual([])
    await Promise.all([all.leave(), only.leave(), none.leave()])
    for (const { id } of [one, two]) await w.post(`/runs/${id}/cancel`)
  })

  test('a watcher changes whose output it gets without a new connection', async () => {
    const w = await fleet()
    const talks = `setInterval(() => console.log('tick'), 20)`
    await Promise.all([w.script('one', talks), w.script('two', talks)])
    await Promise.all([w.assign('one'), w.assign('two')])
    const [one, two] = [await w.saying('one', 'tick'), await w.saying('two', 'tick')]
    const watcher = await listen(served().api, w.ownerKey)
    expect(await watcher.asks({ output: [one.id] })).toEqual({ following: [one.id] })
    await eventually(async () => watcher.outputs.length > 2)
    expect(new Set(watcher.outputs.map(({ runId }) => runId))).toEqual(new Set([one.id]))
    // What cannot be followed changes nothing.
    for (const output of ['some', [1], Array(17).fill(one.id)])
      expect(await watcher.asks({ output })).toEqual({ refused: expect.any(String) })
    expect(await watcher.asks({ output: [two.id] })).toEqual({ following: [two.id] })
    const before = watcher.outputs.length
    await eventually(async () => watcher.outputs.length > before + 2)
    expect(new Set(watcher.outputs.slice(before).map(({ runId }) => runId))).toEqual(new Set([two.id]))
    await watcher.asks({ output: 'all' })
    await eventually(async () => new Set(watcher.outputs.slice(-5).map(({ runId }) => runId)).size === 2)
    await watcher.leave()
    for (const { id } of [one, two]) await w.post(`/runs/${id}/cancel`)
  })
})

/** What a log has of one stream: its spans say which bytes belong to which. */
function streamIn({ content, spans }: Seen, stream: string): string {
  const bytes = Buffer.from(content)
  const own = spans.filter((span: Seen) => span.stream === stream)
  return own.map(({ offset, bytes: length }: Seen) => bytes.subarray(offset, offset + length)).join('')
}

describe('15.7', () => {
  test.each(programs)(
    'a %s that crashes shows its last output at once, and its whole log by offset',
    async (program) => {
      const w = await fleet()
      await w[program]('dev', 'crash')
      await w.assign('dev')
      const [run] = await w.over('dev')
      expect(run).toMatchObject({ status: 'failed', errorCode: 'nonzero_exit', exitCode: 3 })
      expect(run.errorMessage).toContain('Something broke.')
      expect(run.stderrExcerpt).toBe('Something broke.\n')
      expect(run.stdoutExcerpt).toContain('"type"')
      const log = await w.log(run.id)
      expect(log).toMatchObject({ status: 'available', nextOffset: null, truncated: false })
      expect(streamIn(log, 'stdout')).toBe(run.stdoutExcerpt)
      expect(streamIn(log, 'stderr')).toBe(run.stderrExcerpt)
    },
  )

  test('of a long output the excerpt has both ends and says what is left out; the log has every byte', async () => {
    const w = await fleet()
    const line = 'zeile ü '.repeat(20)
    await w.script(
      'dev',
      `
      let text = 'the very first line\\n'
      for (let i = 0; i < 3000; i++) text += i + ' ${line}\\n'
      text += 'the very last line\\n'
      process.stdout.write(text, () => { console.error('out of paper'); process.exitCode = 9 })`,
    )
    await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ errorCode: 'nonzero_exit', exitCode: 9 })
    expect(run.stdoutExcerpt).toMatch(/^the very first line\n/)
    expect(run.stdoutExcerpt).toMatch(/the very last line\n$/)
    expect(run.stdoutExcerpt).toMatch(/\d+ bytes omitted/)
    expect(run.stdoutExcerpt.length).toBeLessThan(40_000)
    expect(run.stderrExcerpt).toBe('out of paper\n')
    let whole = ''
    for (let offset: number | null = 0; offset !== null; ) {
      const page: Seen = await w.log(run.id, `?offset=${offset}&limitBytes=50001`)
      expect(page.offset).toBe(offset)
      whole += page.content
      offset = page.nextOffset
    }
    expect(whole).toContain('1500 zeile ü ')
    expect(whole).toContain('out of paper\n')
    expect(Buffer.byteLength(whole)).toBe(run.log.bytes)
    expect(createHash('sha256').update(whole).digest('hex')).toBe(run.log.sha256)
  })

  test('the log can be read while its run is active', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    await w.wake('dev')
    const run = await w.saying('dev', 'up')
    const log = await w.log(run.id)
    expect(log).toMatchObject({ status: 'writing', content: 'up\n', nextOffset: 3, sha256: null })
    expect(await w.log(run.id, '?offset=3')).toMatchObject({ content: '', nextOffset: 3 })
    await w.post(`/runs/${run.id}/cancel`)
    await w.over('dev')
    expect(await w.log(run.id, '?offset=1')).toMatchObject({ status: 'available', content: 'p\n' })
  })
})

describe('15.8', () => {
  test('no other workspace sees or changes a run, its log, its wakeups or its output', async () => {
    const w = await fleet()
    const stranger = await fleet()
    await w.script('dev', `setInterval(() => console.log('ours'), 20)`)
    const wakeup = await w.wake('dev')
    const { id } = await w.saying('dev', 'ours')
    const spies = await Promise.all(
      ['?output=all', `?output=${id}`].map((query) => listen(served().api, stranger.ownerKey, query)),
    )
    const owner = await listen(served().api, w.ownerKey, '?output=all')
    for (const path of ['', '/events', '/log'])
      expectRefusal(await stranger.call('GET', `/runs/${id}${path}`), 404, 'NOT_FOUND')
    expectRefusal(await stranger.post(`/runs/${id}/cancel`), 404, 'NOT_FOUND')
    for (const path of ['', '/wakeups', '/runs', '/runtime-state', '/task-sessions', '/prompt-preview'])
      expectRefusal(await stranger.call('GET', `/agents/dev${path}`), 404, 'NOT_FOUND')
    for (const path of ['wakeup', 'heartbeat/invoke', 'pause', 'test', 'reset-session'])
      expectRefusal(await stranger.post(`/agents/dev/${path}`), 404, 'NOT_FOUND')
    expect((await stranger.call('GET', '/runs')).body.items).toEqual([])
    await eventually(async () => owner.outputs.length > 5)
    for (const spy of spies) expect([spy.outputs, spy.events]).toEqual([[], []])
    expect(await w.run(id)).toMatchObject({ status: 'running', wakeupId: wakeup.id })
    // An agent of the same name is unrelated to it.
    await stranger.script('dev', scripts.stays)
    expect(await stranger.runsOf('dev')).toEqual([])
    expect(await stranger.wakeups('dev')).toEqual([])
    await stranger.post('/agents/dev/pause')
    expect(await w.run(id)).toMatchObject({ status: 'running' })
    await Promise.all([...spies, owner].map((one) => one.leave()))
    await w.post(`/runs/${id}/cancel`)
  })

  test('the token of a run grants nothing in another workspace, and nothing at all when the run is over', async () => {
    const w = await fleet()
    const stranger = await fleet()
    const foreign = await stranger.make()
    // Printed in pieces, since it would be redacted otherwise.
    await w.script(
      'dev',
      `
      for (const character of process.env.BATON_API_KEY) console.log(character)
      console.log('up')
      setInterval(() => {}, 60_000)`,
    )
    await w.assign('dev')
    const run = await w.saying('dev', 'up')
    const { content } = await w.log(run.id)
    const key = content.split('up')[0].replaceAll('\n', '')
    const asRun = (method: string, path: string, body?: unknown) => served().call(method, path, body, { key })
    expect((await asRun('GET', `/runs/${run.id}`)).body).toMatchObject({ id: run.id })
    expectRefusal(await asRun('GET', `/tasks/${foreign.id}`), 404, 'NOT_FOUND')
    expectRefusal(await asRun('POST', `/runs/${run.id}/cancel`, {}), 403, 'FORBIDDEN')
    await w.post(`/runs/${run.id}/cancel`)
    await w.over('dev')
    expect((await asRun('GET', `/runs/${run.id}`)).status).toBe(401)
  })

  test('each action on agents and runs leaves an event with its actor', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    await w.wake('dev', { reason: 'go' })
    const { id } = await w.saying('dev', 'up')
    await w.wake('dev')
    await w.post(`/runs/${id}/cancel`, { reason: 'wrong way' })
    await w.over('dev')
    await w.post('/agents/dev/reset-session')
    await w.post('/agents/dev/pause')
    await w.wake('dev')
    await w.post('/agents/dev/resume')
    await w.post('/agents/dev/terminate', { graceful: false })
    const events = await w.events()
    const owner = events.find(({ type }: Seen) => type === 'wakeup_requested').actor
    expect(owner).toMatch(/^key:/)
    const reported = (type: string) => events.filter((event: Seen) => event.type === type)
    for (const type of ['wakeup_requested', 'wakeup_coalesced', 'wakeup_skipped', 'run_cancel_requested'])
      expect(reported(type)).toMatchObject([{ actor: owner }])
    for (const type of ['runtime_state_reset', 'agent_paused', 'agent_resumed', 'agent_terminated'])
      expect(reported(type)).toMatchObject([{ actor: owner, payload: { agent: 'dev' } }])
    expect(reported('run_cancel_requested')[0].payload).toMatchObject({ runId: id, reason: 'wrong way' })
    for (const type of ['run_queued', 'run_started', 'run_finished'])
      expect(reported(type)).toMatchObject([{ payload: { runId: id, agent: 'dev' } }])
    expect(reported('run_finished')[0].payload).toMatchObject({ status: 'cancelled', errorCode: 'cancelled' })
    expect(reported('agent_status_changed')).toMatchObject([
      { actor: 'agent:dev', payload: { agent: 'dev', from: 'idle', to: 'running' } },
      { actor: 'agent:dev', payload: { agent: 'dev', from: 'running', to: 'idle' } },
    ])
    expect(reported('runtime_state_updated')).toMatchObject([{ payload: { agent: 'dev', lastRunId: id } }])
  })
})
