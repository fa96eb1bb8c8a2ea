import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RUN_ERRORS, type RunErrorCode } from '../../../src/kinds/run/rules/outcomes.ts'
import { isAlive } from '../../support/adapter-runs.ts'
import type { Json, Task } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { eventually } from '../../support/recovery.ts'
import { samples } from '../../support/rounds.ts'
import { type Fleet, listen, numberIn, type Seen, scripts, useFleets } from '../../support/runs.ts'

/**
 * How runs end, and what that means for the run, its task and its agent: through a whole server. Each test has a workspace of
 * its own; those that mostly wait for programs run side by side.
 */

const { served, fleet } = useFleets()

interface Ends {
  run: Json
  /** The transition its task took when the run was over, according to the log. */
  step: Json
  /** How many attempts the task had, where that stays. */
  attempt?: number
  agent: 'idle' | 'error'
}

const retried = (failureClass: string): Pick<Ends, 'step' | 'attempt' | 'agent'> => ({
  step: { type: 'task_retrying', to: 'awaiting_retry', payload: { failureClass, attempt: 1 } },
  agent: 'idle',
})
const givenBack = { step: { type: 'task_released', to: 'queued' }, attempt: 0 }
const asked = {
  step: { type: 'task_human_review_requested', to: 'awaiting_human' },
  attempt: 1,
  agent: 'idle' as const,
}
const outOfMoney = {
  step: { type: 'task_budget_exceeded', to: 'budget_exceeded' },
  attempt: 0,
  agent: 'idle' as const,
}

/** What happened to the task after it was started, and changed it. */
async function stepsOf(w: Fleet, task: Task): Promise<Seen[]> {
  const events: Seen[] = (await w.read(task, '/events?limit=200')).items
  const begun = events.findIndex(({ type }) => type === 'task_started')
  return events.slice(begun + 1).filter(({ to }) => to !== null)
}

/** The first run of the agent ended so, and the task and the agent are then as expected. */
async function expectEnd(w: Fleet, task: Task, slug: string, ends: Ends): Promise<Seen> {
  const [run] = await w.over(slug)
  expect(run).toMatchObject({ taskId: task.id, generation: 1, attempt: 1, ...ends.run })
  const [step] = await eventually(async () => {
    const steps = await stepsOf(w, task)
    return steps.length > 0 && steps
  })
  expect(step).toMatchObject(ends.step)
  expect((await w.isIn(slug, ends.agent)).state).toBe(ends.agent)
  if (ends.agent === 'error') {
    // First: while its task is free and it is not stopped, it would be assigned the task again.
    const [faulted]: Seen[] = await w.happens('agent_faulted')
    expect(faulted.seq).toBeLessThan(step.seq)
  }
  await w.pass()
  // An agent that cannot work is not assigned the same again; one that can waits for its next attempt.
  const { dueAt = Number.POSITIVE_INFINITY } = step.payload
  const early = (await w.runsOf(slug)).filter(({ createdAt }) => Date.parse(createdAt) < dueAt)
  expect(early).toHaveLength(1)
  if (ends.attempt !== undefined) expect((await w.read(task)).attempt).toBe(ends.attempt)
  return run
}

describe('a claude run', () => {
  const cases: [says: string, mode: string, ends: Ends][] = [
    [
      'with a refused key, which reports success,',
      'http401',
      { run: { status: 'failed', errorCode: 'not_logged_in', exitCode: 1 }, ...givenBack, agent: 'error' },
    ],
    [
      'that is not logged in',
      'not_logged_in',
      { run: { status: 'failed', errorCode: 'not_logged_in', exitCode: 1 }, ...givenBack, agent: 'error' },
    ],
    [
      'whose model is overloaded, which reports success,',
      'http529',
      { run: { status: 'failed', errorCode: 'api_error', exitCode: 1 }, ...retried('infrastructure') },
    ],
    [
      'that spent its dollars',
      'max_budget',
      { run: { status: 'failed', errorCode: 'budget_blocked' }, ...outOfMoney },
    ],
    [
      'that the model refuses',
      'refusal',
      { run: { status: 'failed', errorCode: 'refused', exitCode: 0 }, ...asked },
    ],
    [
      'that was interrupted and exits with 0',
      'sigint_exit0',
      {
        run: { status: 'failed', errorCode: 'output_parse_error', exitCode: 0 },
        ...retried('infrastructure'),
      },
    ],
    [
      'that crashes',
      'crash',
      { run: { status: 'failed', errorCode: 'nonzero_exit', exitCode: 3 }, ...retried('infrastructure') },
    ],
    [
      'that is killed from outside',
      'killed',
      {
        run: { status: 'failed', errorCode: 'nonzero_exit', exitCode: null, signal: 'SIGKILL' },
        ...retried('infrastructure'),
      },
    ],
  ]
  // The others are told apart by the adapter (claude.test.ts) and by the rules.
  test.concurrent.each(samples(4, cases))('%s ends as the table says', async (_, mode, ends) => {
    const w = await fleet()
    await w.claude('dev', mode)
    await expectEnd(w, await w.assign('dev'), 'dev', ends)
  })

  test('that has transient errors and denied tools is a success', async () => {
    const w = await fleet()
    await Promise.all([w.claude('flaky', 'transient'), w.claude('denied', 'denied')])
    await Promise.all([w.assign('flaky'), w.assign('denied')])
    for (const slug of ['flaky', 'denied']) expect((await w.over(slug))[0].status).toBe('succeeded')
  })
})

describe('a codex run', () => {
  const cases: [says: string, mode: string, ends: Ends][] = [
    [
      'with a refused key',
      'http401',
      { run: { status: 'failed', errorCode: 'not_logged_in' }, ...givenBack, agent: 'error' },
    ],
    [
      'whose model is overloaded',
      'http529',
      { run: { status: 'failed', errorCode: 'api_error' }, ...retried('infrastructure') },
    ],
    [
      'whose turn fails',
      'turn_failed',
      { run: { status: 'failed', errorCode: 'nonzero_exit', exitCode: 1 }, ...retried('infrastructure') },
    ],
    [
      'that was interrupted and exits with 0',
      'sigint_exit0',
      {
        run: { status: 'failed', errorCode: 'output_parse_error', exitCode: 0 },
        ...retried('infrastructure'),
      },
    ],
  ]
  test.concurrent.each(samples(2, cases))('%s ends as the table says', async (_, mode, ends) => {
    const w = await fleet()
    await w.codex('dev', mode)
    await expectEnd(w, await w.assign('dev'), 'dev', ends)
  })
})

describe('a run', () => {
  test('whose program does not exist stops its agent until a person has fixed it', async () => {
    const w = await fleet()
    await w.script('dev', scripts.echoes, { config: { command: '/nowhere/agent' } })
    const task = await w.assign('dev')
    const run = await expectEnd(w, task, 'dev', {
      run: { status: 'failed', errorCode: 'adapter_not_installed' },
      ...givenBack,
      agent: 'error',
    })
    expect(run.errorMessage).toContain('/nowhere/agent')
    expect((await w.agent('dev')).stateReason).toContain('adapter_not_installed')
    expect(await w.wake('dev', { source: 'automation' })).toMatchObject({ skipReason: 'AGENT_FAULTY' })
    await w.script('dev', scripts.echoes)
    await w.taskIn(task, 'completed')
    expect((await w.read(task)).attempt).toBe(1)
  })

  test('that would fail the same way with any task is not retried, however fast its task is requeued', async () => {
    const w = await fleet()
    const slugs = Array.from({ length: 12 }, (_, i) => `dev-${i}`)
    const steps = [{ fail: { code: 'not_logged_in' } }]
    for (const slug of slugs) await w.put(slug, { adapterType: 'simulated', adapterConfig: { steps } })
    await Promise.all(slugs.flatMap((slug) => [w.assign(slug), w.assign(slug)]))
    for (const slug of slugs) await w.isIn(slug, 'error')
    await w.pass()
    const runs = await Promise.all(slugs.map((slug) => w.runsOf(slug)))
    expect(runs.map(({ length }) => length)).toEqual(slugs.map(() => 1))
    // One that was assigned something at that moment has released it.
    const tasks: Seen[] = (await w.call('GET', '/tasks?limit=100')).body.items
    expect(new Set(tasks.map(({ state }) => state))).toEqual(new Set(['queued']))
  })

  test.each([
    ['a file', (home: string) => join(home, 'file')],
    ['missing', (home: string) => join(home, 'nowhere')],
  ])('whose folder is %s starts nothing', async (_, cwdIn) => {
    const w = await fleet()
    const home = await w.freshHome()
    writeFileSync(join(home, 'file'), '')
    const { calls } = await w.claude('dev', '', { config: { cwd: cwdIn(home) } })
    await expectEnd(w, await w.assign('dev'), 'dev', {
      run: { status: 'failed', errorCode: 'invalid_working_directory', pid: null },
      ...givenBack,
      agent: 'error',
    })
    expect(calls()).toEqual([])
  })

  test('whose settings were corrupted in the database starts nothing', async () => {
    const w = await fleet()
    await w.script('dev', scripts.echoes)
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.agents set adapter_config = '{"comand":"x"}' where slug = 'dev'
          and workspace_id = (select max(workspace_id) from baton.agents)`,
      ),
    )
    await expectEnd(w, await w.assign('dev'), 'dev', {
      run: { status: 'failed', errorCode: 'invalid_configuration', pid: null },
      ...givenBack,
      agent: 'error',
    })
  })

  test('that takes longer than its timeout is ended, with its whole process tree', async () => {
    const w = await fleet()
    const { home } = await w.script('dev', scripts.withGrandchild, { config: { timeoutSec: 5 } })
    const task = await w.assign('dev')
    const pids = [await numberIn(home, 'own.pid'), await numberIn(home, 'grandchild.pid')]
    await expectEnd(w, task, 'dev', {
      run: { status: 'timed_out', errorCode: 'timeout', signal: 'SIGTERM' },
      ...retried('infrastructure'),
    })
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  test('that a person cancels leaves its task to a person', async () => {
    const w = await fleet()
    await w.script('dev', scripts.stays)
    const task = await w.assign('dev')
    const { id } = await w.saying('dev', 'up')
    const answer = await w.post(`/runs/${id}/cancel`, { reason: 'not now' })
    expect(answer.status).toBe(200)
    await expectEnd(w, task, 'dev', {
      run: { status: 'cancelled', errorCode: 'cancelled', errorMessage: 'not now' },
      ...asked,
    })
    expect((await w.post(`/runs/${id}/cancel`)).body).toMatchObject({ code: 'WRONG_STATE', status: 409 })
  })

  // Those that no program can cause, or only by luck, and what an adapter may report itself.
  const said: [RunErrorCode, Pick<Ends, 'step' | 'attempt' | 'agent'>][] = [
    ['spawn_failed', retried('infrastructure')],
    ['timeout', retried('infrastructure')],
    ['adapter_error', retried('infrastructure')],
    ['resume_session_invalid', retried('infrastructure')],
    ['loop_detected', retried('quality')],
    ['no_progress', retried('quality')],
    ['invalid_configuration', { ...givenBack, agent: 'error' }],
    // Not stopped by Baton: it would be restarted again and again if that cost nothing.
    ['cancelled', retried('infrastructure')],
  ]
  test.concurrent.each(said)('whose adapter answers with %s ends as the table says', async (code, ends) => {
    const w = await fleet()
    await w.put('dev', { adapterType: 'simulated', adapterConfig: { steps: [{ fail: { code } }] } })
    const { status } = { status: code === 'timeout' ? 'timed_out' : code === 'cancelled' ? code : 'failed' }
    await expectEnd(w, await w.assign('dev'), 'dev', { run: { status, errorCode: code }, ...ends })
    expect(RUN_ERRORS[code].stopsAgent).toBe(ends.agent === 'error')
  })
})

describe.concurrent('a program that says what it knows', () => {
  test.each([0, 3])('that its task is invalid, and exits with %i: it is not tried again', async (code) => {
    const w = await fleet()
    const said = { baton: 'fail', class: 'invalid', error: 'There is no customer 12.' }
    await w.script('dev', `console.log(${JSON.stringify(JSON.stringify(said))}); process.exitCode = ${code}`)
    const task = await w.assign('dev')
    expect(await w.taskIn(task, 'failed')).toMatchObject({
      ...{ failureClass: 'invalid', error: said.error, attempt: 1, exitCode: code },
    })
    expect(await w.over('dev')).toMatchObject([
      { status: 'failed', errorCode: 'invalid_task', errorMessage: said.error, exitCode: code },
    ])
    expect(await w.agent('dev')).toMatchObject({ state: 'idle' })
  })

  test('leaves its exit code on its task, until the next attempt begins', async () => {
    const w = await fleet()
    await w.script('dev', 'process.exit(7)')
    const task = await w.assign('dev')
    expect(await w.taskIn(task, 'awaiting_retry')).toMatchObject({ exitCode: 7 })
    const retrying = (await w.events()).find(({ type }: Seen) => type === 'task_retrying')
    expect(retrying.payload).toMatchObject({ exitCode: 7, failureClass: 'infrastructure' })
    // What the crash was, how long the claim was held, and what is left (Automatos 6.2).
    const { maxRetries } = await w.read(task)
    expect(retrying.payload).toMatchObject({ errorType: 'nonzero_exit', retriesRemaining: maxRetries })
    expect(retrying.payload.durationMs).toBeGreaterThan(0)
    const [finished] = await w.happens('run_finished')
    const [run] = await w.over('dev')
    const lastedMs = Date.parse(run.finishedAt) - Date.parse(run.startedAt)
    expect(finished!.payload).toMatchObject({ errorCode: 'nonzero_exit', durationMs: lastedMs })
    await w.script('dev', scripts.stays)
    await w.on(task, 'retry')
    const { id } = await w.saying('dev', 'up')
    expect(await w.read(task)).toMatchObject({ state: 'running', exitCode: null })
    await w.post(`/runs/${id}/cancel`)
    await w.over('dev', 2)
  })

  test('in lines that cannot be read is told on its run and on the card of its task', async () => {
    const w = await fleet()
    const lines = ['{"result": {"half": ', '{ "summary": "and', '{ not: "json" }', 'plain']
    await w.script('dev', lines.map((line) => `console.log(${JSON.stringify(line)})`).join('\n'))
    const task = await w.assign('dev')
    await w.taskIn(task, 'completed')
    const summary = 'Done without a result: 2 lines could not be read'
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ status: 'succeeded', summary })
    expect((await w.log(run.id)).content).toContain('begins like JSON and cannot be read')
    const { columns } = (await w.call('GET', '/board')).body
    expect(columns.done.items).toMatchObject([{ id: task.id, workNote: summary }])
    // With a result, it is only logged.
    await w.script('well', `console.log('{"half'); console.log(JSON.stringify({ result: 1 }))`)
    const other = await w.assign('well')
    await w.taskIn(other, 'completed')
    expect(await w.over('well')).toMatchObject([{ summary: null, result: 1 }])
  })
})

describe.concurrent('a session that its program does not know any more', () => {
  test('is started again, once, within the same run', async () => {
    const w = await fleet()
    const { calls } = await w.claude('dev', 'tool,unknown_session,tool')
    const task = await w.assign('dev')
    const [first] = await w.over('dev')
    await w.taskIn(task, 'completed')
    await w.on(task, 'reset')
    const [, second] = await w.over('dev', 2)
    expect(second).toMatchObject({ status: 'succeeded', sessionIdBefore: first.sessionIdAfter })
    expect(second.sessionIdAfter).not.toBe(first.sessionIdAfter)
    expect(calls().map(({ args }) => args.includes('--resume'))).toEqual([false, true, false])
    // The next run resumes the new one.
    await w.taskIn(task, 'completed')
    await w.on(task, 'reset')
    const [, , third] = await w.over('dev', 3)
    expect([third.sessionIdBefore, third.sessionIdAfter]).toEqual([
      second.sessionIdAfter,
      second.sessionIdAfter,
    ])
    const state = (await w.call('GET', '/agents/dev/runtime-state')).body
    const totals = [first, second, third].reduce((sum, { tokens }) => sum + tokens.input, 0)
    expect([state.runs, state.tokens.input]).toEqual([3, totals])
  })

  test('and cannot be started again either fails the run', async () => {
    const w = await fleet()
    const { calls } = await w.claude('dev', 'tool,never_begins')
    const task = await w.assign('dev')
    await w.over('dev')
    await w.taskIn(task, 'completed')
    await w.on(task, 'reset')
    const [, second] = await w.over('dev', 2)
    expect(second).toMatchObject({ status: 'failed', errorCode: 'resume_session_invalid' })
    expect(calls()).toHaveLength(3)
  })
})

describe.concurrent('an agent that asks to continue', () => {
  test('continues under the same claim and attempt, in the same session', async () => {
    const w = await fleet()
    const { calls } = await w.claude('dev', 'max_turns,max_turns,tool')
    const task = await w.assign('dev')
    await w.taskIn(task, 'completed')
    const runs = await w.over('dev', 3)
    expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(runs.map(({ generation, attempt }) => [generation, attempt])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ])
    const [{ sessionIdAfter }] = runs
    expect(runs.map(({ sessionIdBefore }) => sessionIdBefore)).toEqual([null, sessionIdAfter, sessionIdAfter])
    expect(calls().map(({ args }) => args.includes(sessionIdAfter))).toEqual([true, true, true])
    expect(await w.read(task)).toMatchObject({ generation: 1, attempt: 1, continuations: 2 })
    const claims = (await w.read(task, '/claims')).items
    expect(claims).toMatchObject([{ generation: 1, state: 'released', resultAccepted: true }])
    // The end of the run and the coordinator may both ask; then one is coalesced into the other.
    const wakeups = (await w.wakeups('dev')).filter(({ status }) => status !== 'coalesced')
    expect(wakeups.map(({ source, reason }) => [source, reason])).toEqual([
      ['assignment', 'assigned'],
      ['automation', 'continuation'],
      ['automation', 'continuation'],
    ])
  })

  test('repeatedly is stopped by the limit, as a failure of quality', async () => {
    const w = await fleet()
    await w.put('dev', { adapterType: 'simulated', adapterConfig: { steps: [{ wantsMore: true }] } })
    const task = await w.assign('dev', { maxRetries: 0, maxContinuations: 2 })
    await w.taskIn(task, 'failed')
    const runs = await w.over('dev', 3)
    expect(new Set(runs.map(({ generation }) => generation))).toEqual(new Set([1]))
    expect(runs).toHaveLength(3)
    const last = (await stepsOf(w, task)).at(-1)
    expect(last).toMatchObject({ type: 'task_failed', payload: { failureClass: 'quality' } })
    expect(last.payload.error).toContain('still wants more')
  }, 120_000)
})

describe('a rate limit', () => {
  test('parks the task until it resets, and every agent on the same account; no other', async () => {
    const w = await fleet()
    const resetsAt = Math.floor(Date.now() / 1000) + 3_600
    const until = new Date(resetsAt * 1000).toISOString()
    const onKey = (key: string) => ({ env: { ANTHROPIC_API_KEY: key, FAKE_CLI_RESETS_AT: String(resetsAt) } })
    await w.claude('first', 'http429', onKey('sk-ant-one-and-the-same'))
    const same = await w.claude('same', '', onKey('sk-ant-one-and-the-same'))
    const other = await w.claude('other', '', onKey('sk-ant-another'))
    const task = await w.assign('first')
    const [run] = await w.over('first')
    expect(run).toMatchObject({ status: 'failed', errorCode: 'rate_limited', exitCode: 1 })
    expect(await w.taskIn(task, 'awaiting_retry')).toMatchObject({ attempt: 0, dueAt: until })
    expect(await w.agent('first')).toMatchObject({ state: 'idle' })
    const [given, free] = [await w.assign('same'), await w.assign('other')]
    const woken = await w.wake('same', { reason: 'now' })
    expect(woken).toMatchObject({ status: 'queued', dueAt: until })
    await w.taskIn(free, 'completed')
    await w.pass()
    expect(await w.runsOf('same')).toEqual([])
    expect([same.calls().length, other.calls().length]).toEqual([0, 1])
    expect(await w.read(given)).toMatchObject({ state: 'queued', attempt: 0 })
    expect(await w.count('credential_parked')).toBe(1)
    for (const slug of ['first', 'same'])
      expect((await w.call('GET', `/agents/${slug}/runtime-state`)).body.parkedUntil).toBe(until)
    // One that was registered only later is on that account as well.
    const late = await w.claude('late', '', onKey('sk-ant-one-and-the-same'))
    const lateTask = await w.assign('late')
    await w.taskIn(lateTask, 'awaiting_retry')
    expect(await w.read(lateTask)).toMatchObject({ dueAt: until, attempt: 0 })
    expect(late.calls()).toEqual([])
  })

  test('is reported for each agent on the account, with how many others rest; the end of another limit at the same time is not', async () => {
    const w = await fleet()
    const resetsAt = Math.floor(Date.now() / 1000) + 3_600
    const until = new Date(resetsAt * 1000).toISOString()
    const onKey = (key: string) => ({ env: { ANTHROPIC_API_KEY: key, FAKE_CLI_RESETS_AT: String(resetsAt) } })
    for (const slug of ['a-1', 'a-2', 'a-3']) await w.claude(slug, 'http429', onKey('sk-ant-account-a'))
    await w.claude('b-1', 'http429', onKey('sk-ant-account-b'))
    await w.claude('free', '', onKey('sk-ant-account-c'))
    for (const slug of ['a-1', 'b-1']) {
      await w.assign(slug)
      await w.over(slug)
    }
    const { items } = (await w.call('GET', '/agents')).body
    const rests = Object.fromEntries(items.map((agent: Json) => [agent.slug, agent.rests]))
    const withTwo = { until, others: 2 }
    expect(rests).toEqual({
      ...{ 'a-1': withTwo, 'a-2': withTwo, 'a-3': withTwo },
      ...{ 'b-1': { until, others: 0 }, free: null },
    })
    expect(await w.agent('a-2')).toMatchObject({ rests: withTwo })
  })

  test('that has reset lets the account continue automatically', async () => {
    const w = await fleet()
    const resetsAt = Math.ceil(Date.now() / 1000) + 2
    await w.claude('dev', 'http429,tool', { env: { FAKE_CLI_RESETS_AT: String(resetsAt) } })
    const task = await w.assign('dev')
    await w.taskIn(task, 'completed')
    const [first, second] = await w.over('dev', 2)
    expect(first.errorCode).toBe('rate_limited')
    expect(Date.parse(second.createdAt)).toBeGreaterThanOrEqual(resetsAt * 1000)
    expect(second.attempt).toBe(1)
  })
})

describe.concurrent('being alive is not progress', () => {
  test.each([
    ['loop', 'the same call'],
    ['errors', 'failed calls in a row'],
  ])('a run that loops (%s) is flagged, then stopped', async (mode, says) => {
    const w = await fleet()
    const { calls } = await w.claude('dev', mode, {
      runtimeConfig: { watch: { sameCalls: 2, errors: 2 } },
    })
    const task = await w.assign('dev')
    const run = await expectEnd(w, task, 'dev', {
      run: { status: 'failed', errorCode: 'loop_detected' },
      ...retried('quality'),
    })
    expect(run.errorMessage).toContain(says)
    const flags = await w.happens('run_flagged', 2)
    expect(flags.map(({ payload }) => [payload.runId, payload.code])).toEqual([
      [run.id, 'loop_detected'],
      [run.id, 'loop_detected'],
    ])
    expect(isAlive(calls()[0]!.pid)).toBe(false)
    expect(
      (await w.timeline(run.id)).some(({ level, message }) => level === 'warn' && message.includes(says)),
    ).toBe(true)
    expect(run.tokens.input).toBeGreaterThan(0)
  })

  test('a run without output is flagged, then stopped', async () => {
    const w = await fleet()
    await w.claude('dev', 'silent', { runtimeConfig: { watch: { silentSec: 1, stopSilentSec: 2 } } })
    const board = await listen(served().api, w.ownerKey)
    const task = await w.assign('dev')
    const flag = await board.hears('run_flagged', { agent: 'dev' })
    expect(flag.payload).toMatchObject({ code: 'no_progress', taskId: task.id })
    const run = await expectEnd(w, task, 'dev', {
      run: { status: 'failed', errorCode: 'no_progress' },
      ...retried('quality'),
    })
    expect(run.errorMessage).toContain('no output')
    await board.leave()
  })

  test('a run that prints without progress is flagged, then stopped', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `
      console.log(JSON.stringify({ baton: 'activity' }))
      setInterval(() => console.log('still here'), 50)`,
      {
        runtimeConfig: { watch: { idleSec: 1, stopIdleSec: 2 } },
      },
    )
    const run = await expectEnd(w, await w.assign('dev'), 'dev', {
      run: { status: 'failed', errorCode: 'no_progress' },
      ...retried('quality'),
    })
    expect(run.errorMessage).toContain('no progress')
  })
})

describe('what an agent reports during its run', () => {
  test('reaches its task: progress, checkpoint, and its result and summary', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `
      const say = (line) => console.log(JSON.stringify(line))
      say({ baton: 'progress', percent: 40, step: 'half' })
      say({ baton: 'checkpoint', data: { done: ['a'], ü: '🦀' } })
      say({ baton: 'usage', usage: { inputTokens: 5, outputTokens: 2 } })
      say({ result: { files: ['a.ts'] }, summary: 'made a.ts', usage: { inputTokens: 11, outputTokens: 3 }, costUsd: '0.25' })`,
    )
    const task = await w.assign('dev')
    const [run] = await w.over('dev')
    expect(run).toMatchObject({
      ...{ status: 'succeeded', summary: 'made a.ts', costUsd: '0.25' },
      ...{ tokens: { input: 11, cachedInput: null, cacheWrite: null, output: 3 }, usageBasis: 'reported' },
    })
    expect(await w.read(task)).toMatchObject({
      state: 'completed',
      progress: { percent: 40, step: 'half' },
      checkpointData: { done: ['a'], ü: '🦀' },
    })
    expect(await w.resultsOf(task)).toMatchObject([
      { accepted: true, result: { files: ['a.ts'] }, summary: 'made a.ts' },
    ])
  })

  test('reaches the next attempt: the checkpoint and what was wrong', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `
      let prompt = ''
      for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
      console.log(JSON.stringify({ baton: 'checkpoint', data: { reached: 'page 7' } }))
      console.log(JSON.stringify({ result: { prompt } }))`,
    )
    const task = await w.assign('dev', { verification: { kind: 'human' }, description: 'all of it' })
    await w.taskIn(task, 'awaiting_human')
    const first = (await w.resultsOf(task))[0].result.prompt
    expect(first).not.toContain('What was wrong')
    expect((await w.on(task, 'reject', { comment: 'page 3 is upside down' })).status).toBe(200)
    await w.on(task, 'retry')
    const second = await eventually(async () => (await w.resultsOf(task))[1])
    expect(second.result.prompt).toContain('page 3 is upside down')
    expect(second.result.prompt).toContain('page 7')
    expect(second.result.prompt).toContain('all of it')
  })

  test('reaches its downstream tasks', async () => {
    const w = await fleet()
    await w.script(
      'first',
      `console.log(JSON.stringify({ result: { port: 4711 }, summary: 'found the port' }))`,
    )
    await w.script('next', scripts.echoes, { config: { promptTemplate: 'Before: {{upstream.outputs}}' } })
    const before = await w.assign('first', { title: 'Find it' })
    const after = await w.assign('next', { dependsOn: [before.id] })
    await w.taskIn(after, 'completed')
    const { prompt } = (await w.resultsOf(after))[0].result
    for (const part of ['Find it', '4711', 'found the port']) expect(prompt).toContain(part)
  })
})

describe('a run whose claim has ended', () => {
  // It does not exit at once, and tries everything to submit its work.
  const zombie = `
    setInterval(() => {}, 60_000)
    process.on('SIGTERM', async () => {
      const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
      const answer = await fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/submit', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ session: BATON_SESSION, generation: Number(BATON_GENERATION), result: 'by hand' }),
      })
      console.log('submit was answered with ' + answer.status)
      console.log(JSON.stringify({ baton: 'progress', percent: 99 }))
      console.log(JSON.stringify({ result: 'too late' }))
      process.exit(0)
    })
    console.log('up')`
  const config = { graceSec: 20 }

  async function aZombie(limits?: Json) {
    const w = await fleet(limits)
    await w.script('dev', zombie, { config })
    const task = await w.assign('dev', { maxRetries: 5 })
    return { w, task, run: await w.saying('dev', 'up') }
  }

  test.each([
    ['cancelled', 'cancel', 'cancelled'],
    ['paused', 'pause', 'paused'],
  ])('since its task was %s is stopped, and its late result changes nothing', async (_, act, state) => {
    const { w, task, run } = await aZombie()
    expect((await w.on(task, act)).status).toBe(200)
    const [over] = await w.over('dev')
    expect(over).toMatchObject({ id: run.id, status: 'cancelled', errorCode: 'claim_lost' })
    expect(isAlive(run.pid)).toBe(false)
    expect((await w.log(run.id)).content).toContain('submit was answered with 409')
    expect(await w.read(task)).toMatchObject({ state, progress: null, holder: null })
    expect((await w.resultsOf(task)).filter(({ accepted }) => accepted)).toEqual([])
    expect(await w.agent('dev')).toMatchObject({ state: 'idle', activeTasks: 0 })
  })

  test('since its task belongs to another now is stopped, and that one’s result stays', async () => {
    const { w, task, run } = await aZombie()
    await w.script('heir', scripts.echoes)
    expect((await w.call('PATCH', `/tasks/${task.id}`, { agent: 'heir' })).status).toBe(200)
    await w.taskIn(task, 'completed')
    const [over] = await w.over('dev')
    expect(over).toMatchObject({ id: run.id, status: 'cancelled', errorCode: 'claim_lost' })
    expect(isAlive(run.pid)).toBe(false)
    expect(await w.read(task)).toMatchObject({ generation: 2 })
    const accepted = (await w.resultsOf(task)).filter((result) => result.accepted)
    expect(accepted).toMatchObject([{ agent: 'heir', generation: 2, summary: 'echoed' }])
  })

  test('since its lease expired is stopped, and the task is retried under another generation', async () => {
    const { w, task, run } = await aZombie({ lateResults: false })
    // As if its node had not been able to renew for all that time.
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.tasks set lease_expires_at = now() - interval '1 second', check_at = now() where uuid = $1`,
        [task.id],
      ),
    )
    const [over] = await w.over('dev')
    expect(over).toMatchObject({ id: run.id, status: 'cancelled', errorCode: 'claim_lost' })
    expect(isAlive(run.pid)).toBe(false)
    const [step] = await stepsOf(w, task)
    expect(step).toMatchObject({ type: 'task_lease_expired', to: 'awaiting_retry' })
    expect((await w.resultsOf(task)).filter(({ accepted }) => accepted)).toEqual([])
    const second = await eventually(async () => (await w.runsOf('dev'))[1])
    const later = await eventually(async () => {
      const now = await w.run(second.id)
      return now.status === 'running' && now
    })
    expect(later).toMatchObject({ taskId: task.id, generation: 2, attempt: 2 })
    await w.post('/agents/dev/pause', { graceful: false })
  })
})
