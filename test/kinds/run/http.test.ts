import { createHash } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { removeOldLogs } from '../../../src/executor/chores.ts'
import { localFileStore } from '../../../src/logs/local-file.ts'
import { serverDirectory } from '../../../src/store/directory.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { expectRefusal, type Json, KEY } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { type Fleet, type Seen, scripts, useFleets } from '../../support/runs.ts'

/** Runs over HTTP: single, in lists, their timeline and their log; and how they are stopped. */

const { served, fleet } = useFleets()
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)

const ends = `
  console.log(JSON.stringify({ baton: 'status', message: 'at it', color: 'blue' }))
  console.log(JSON.stringify({ baton: 'session', sessionId: 's-1' }))
  console.error('a word aside')
  console.log(JSON.stringify({ result: { answer: 42 }, summary: 'found it',
    usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 7 }, costUsd: '0.0125' }))`
/** Of a run that ends this way. */
const USED = { input: 100, cachedInput: 40, cacheWrite: null, output: 7 }

test('cached output tokens are stored where an adapter reports them', async () => {
  const w = await fleet()
  const usage = { inputTokens: 5, outputTokens: 7, cachedOutputTokens: 3 }
  const run = await woken(w, 'dev', `console.log(JSON.stringify(${JSON.stringify({ result: 1, usage })}))`)
  expect(run.tokens).toMatchObject({ input: 5, output: 7, cachedOutput: 3 })
  expect((await woken(w, 'other', ends)).tokens).not.toHaveProperty('cachedOutput')
})

/** An agent that is woken without a task, and its first run when it is over. */
async function woken(w: Fleet, slug: string, source: string, more: Json = {}): Promise<Seen> {
  await w.script(slug, source, { coordinatorEnabled: false })
  await w.wake(slug, more)
  return (await w.over(slug))[0]
}

describe('a run', () => {
  test('is shown in full: its task, its usage, its end, and where its log is', async () => {
    const w = await fleet()
    await w.script('dev', ends)
    const task = await w.assign('dev')
    const [over] = await w.over('dev')
    expect(await w.run(over.id)).toMatchObject({
      id: UUID,
      agent: 'dev',
      agentId: (await w.agent('dev')).id,
      adapterType: 'process',
      wakeupId: UUID,
      source: 'assignment',
      reason: 'assigned',
      taskId: task.id,
      taskKey: null,
      taskTitle: task.title,
      generation: 1,
      attempt: 1,
      status: 'succeeded',
      // What it was doing is no longer true.
      statusMessage: null,
      statusColor: null,
      errorCode: null,
      errorMessage: null,
      exitCode: 0,
      signal: null,
      ...{ tokens: USED, usageBasis: 'reported' },
      costUsd: '0.0125',
      sessionIdBefore: null,
      sessionIdAfter: 's-1',
      summary: 'found it',
      result: { answer: 42 },
      stderrExcerpt: 'a word aside\n',
      log: { store: 'local_file', bytes: expect.any(Number), truncated: false, status: 'available' },
      pid: expect.any(Number),
      createdAt: ISO,
      startedAt: ISO,
      finishedAt: ISO,
      durationMs: expect.any(Number),
    })
    expect(over.stdoutExcerpt).toContain('"answer":42')
    await w.taskIn(task, 'completed')
    expect((await w.resultsOf(task))[0]).toMatchObject({ accepted: true, generation: 1 })
  })

  test('shows unknown usage as null, never zero', async () => {
    const over = await woken(await fleet(), 'quiet', `process.exitCode = 3; console.error('so it is')`)
    expect(over).toMatchObject({
      ...{ status: 'failed', errorCode: 'nonzero_exit', exitCode: 3, tokens: null, costUsd: null },
      ...{ taskId: null, generation: null, attempt: null, result: null, summary: null, stdoutExcerpt: null },
    })
    expect([over.errorMessage, over.stderrExcerpt]).toEqual([
      expect.stringContaining('so it is'),
      'so it is\n',
    ])
  })
  test('accepts no callback from any agent but its own', async () => {
    const w = await fleet()
    const { id } = await woken(w, 'dev', '')
    for (const body of [{ kind: 'heartbeat' }, { kind: 'result', result: 'mine' }])
      expectRefusal(await w.post(`/runs/${id}/callback`, body), 403, 'FORBIDDEN')
  })

  test('that ended is not cancelled, and an active one is, once, however many requests', async () => {
    const w = await fleet()
    const over = await woken(w, 'done', '')
    expectRefusal(await w.post(`/runs/${over.id}/cancel`), 409, 'WRONG_STATE', {
      detail: 'The run has already ended (succeeded).',
    })
    await w.script('stays', scripts.stays)
    const task = await w.assign('stays')
    const { id } = await w.saying('stays', 'up')
    const reason = 'it is not needed any more'
    const answers = await Promise.all([1, 2, 3].map(() => w.post(`/runs/${id}/cancel`, { reason })))
    for (const { status } of answers) expect([200, 409]).toContain(status)
    const [{ status, errorCode, errorMessage }] = await w.over('stays')
    expect({ status, errorCode }).toEqual({ status: 'cancelled', errorCode: 'cancelled' })
    expect(errorMessage).toContain(reason)
    expect((await w.taskIn(task, 'awaiting_human')).state).toBe('awaiting_human')
    expectRefusal(await w.post(`/runs/${id}/cancel`), 409, 'WRONG_STATE')
    expect(await w.count('run_finished')).toBe(2)
  })
})

test('the key and the address of who wakes an agent, cancels its run or resets it are stored with the event', async () => {
  const w = await fleet()
  await w.script('stays', scripts.stays, { coordinatorEnabled: false })
  const wakeup = await w.wake('stays', { reason: 'go' })
  const { id } = await w.saying('stays', 'up')
  await w.post(`/runs/${id}/cancel`, { reason: 'enough' })
  await w.over('stays')
  await w.post('/agents/stays/reset-session')
  const { rows } = await superuser(served().databaseUrl, (client) =>
    client.query(
      `select e.type, e.actor = 'key:' || o.key_id as "isItsKey", o.address from baton.event_origins o
         join baton.events e using (workspace_id, seq)
        where e.payload ->> 'wakeupId' = $1 or e.payload ->> 'runId' = $2
           or e.workspace_id = (select workspace_id from baton.runs where run_id = $2::uuid) and e.type = 'runtime_state_reset'
        order by seq`,
      [wakeup.id, id],
    ),
  )
  const known = { isItsKey: true, address: '127.0.0.1' }
  expect(rows).toEqual([
    { type: 'wakeup_requested', ...known },
    { type: 'run_cancel_requested', ...known },
    { type: 'runtime_state_reset', ...known },
  ])
})

describe('lists of runs', () => {
  let w: Fleet
  let tasks: Seen[]
  /** The newest first. */
  let ids: string[]
  beforeAll(async () => {
    w = await fleet()
    await w.script('good', ends, { maxConcurrentTasks: 1 })
    tasks = [await w.assign('good'), await w.assign('good'), await w.assign('good')]
    await w.over('good', 3)
    await woken(w, 'bad', 'process.exit(1)')
    ids = (await w.call('GET', '/runs')).body.items.map(({ id }: Seen) => id)
  })
  const list = async (path: string): Promise<Seen> => (await w.call('GET', path)).body
  const idsOf = async (path: string) => (await list(path)).items.map(({ id }: Seen) => id)

  test.each([1, 2, 3, 200])('are read by pages of %i, newest first, each run once', async (limit) => {
    const walked: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Seen = await list(`/runs?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      expect(page.items.length).toBeLessThanOrEqual(limit)
      walked.push(...page.items.map(({ id }: Seen) => id))
      cursor = page.nextCursor
    }
    expect(walked).toEqual(ids)
    expect(walked).toEqual([...walked].sort().reverse())
    expect(walked).toHaveLength(4)
  })

  test('are filtered by agent and by state, one or several', async () => {
    expect(await idsOf('/runs?agent=good')).toEqual(ids.slice(1))
    expect(await idsOf('/runs?agent=bad')).toEqual(ids.slice(0, 1))
    expect(await idsOf('/runs?status=failed')).toEqual(ids.slice(0, 1))
    expect(await idsOf('/runs?status=failed,succeeded')).toEqual(ids)
    expect(await idsOf('/runs?status=queued,running')).toEqual([])
    expect(await idsOf('/runs?agent=good&status=failed')).toEqual([])
    expect(await idsOf('/agents/good/runs?limit=2')).toEqual(ids.slice(1, 3))
    expect(await idsOf('/agents/good/runs?status=failed')).toEqual([])
    expect(await idsOf(`/tasks/${tasks[0]!.id}/runs`)).toEqual(ids.slice(-1))
  })

  test('of a task show what they used together', async () => {
    const { total } = await list(`/tasks/${tasks[0]!.id}/runs`)
    expect(total).toEqual({ runs: 1, tokens: USED, costUsd: '0.0125', notionalUsd: null })
    const untouched = await w.make({ requiredCapabilities: ['magic'] })
    expect(await list(`/tasks/${untouched.id}/runs`)).toMatchObject({
      items: [],
      total: { runs: 0, tokens: null, costUsd: null },
    })
  })
  test.each([
    ['/runs?status=resting', 'status', 'names no state of runs: "resting"'],
    ['/runs?status=failed,', 'status', 'names no state of runs: ""'],
    ['/runs?cursor=nonsense', 'cursor', 'is not a cursor of this list'],
    ['/agents/good/runs?agent=bad', 'agent', 'is not a field of this request'],
    ['/agents/good/wakeups?cursor=1', 'cursor', 'is not a cursor of this list'],
  ])('refuse %s', async (path, field, message) => {
    expectRefusal(await w.call('GET', path), 400, 'VALIDATION_FAILED', { errors: [{ field, message }] })
  })

  test('outlive the agent that made them', async () => {
    const gone = await fleet()
    const { id } = await woken(gone, 'gone', `console.log('was here')`)
    expect((await gone.call('DELETE', '/agents/gone')).status).toBe(204)
    expect(await gone.run(id)).toMatchObject({ agent: 'gone', status: 'succeeded' })
    expect((await gone.log(id)).content).toBe('was here\n')
    expect((await gone.call('GET', '/runs?agent=gone')).body.items).toHaveLength(1)
  })
})

test('a wakeup request is answered at once with its outcome', async () => {
  const w = await fleet()
  await w.script('dev', '')
  const answer = await w.post('/agents/dev/wakeup', {
    reason: 'a customer wrote',
    payload: { ticket: 17 },
    idempotencyKey: 'ticket-17',
  })
  expect(answer.status).toBe(202)
  expect(answer.body.wakeup).toMatchObject({
    ...{ id: UUID, agent: 'dev', status: 'queued', source: 'on_demand', triggerDetail: 'manual' },
    ...{ reason: 'a customer wrote', payload: { ticket: 17 }, skipReason: null, detail: null, taskId: null },
    ...{ requestedBy: expect.stringMatching(KEY), requestedByName: 'owner' },
    ...{ coalescedCount: 0, coalescedInto: null, requestedAt: ISO, dueAt: ISO },
  })
  const [run] = await w.over('dev')
  expect(run).toMatchObject({ wakeupId: answer.body.wakeup.id, reason: 'a customer wrote' })
  const again = await w.post('/agents/dev/heartbeat/invoke', { idempotencyKey: 'ticket-17' })
  expect([again.status, again.body.wakeup]).toMatchObject([202, { id: run.wakeupId, status: 'completed' }])
  await w.put('outside', { adapterType: 'external' })
  expect(await w.wake('outside')).toMatchObject({
    status: 'skipped',
    skipReason: 'NOT_MANAGED',
    detail: 'The agent is external; Baton does not start it.',
  })
})

describe('the timeline of a run', () => {
  const talks = `for (let i = 0; i < 7; i++) console.log(JSON.stringify({ baton: 'status', message: 'step ' + i }))`
  test('is read from any seq on, by pages of any size, without gaps', async () => {
    const w = await fleet()
    const { id } = await woken(w, 'talks', talks)
    const page = async (query: string): Promise<Seen> =>
      (await w.call('GET', `/runs/${id}/events${query}`)).body
    const { items: all } = await page('')
    expect(all.map(({ seq }: Seen) => seq)).toEqual(all.map((_: Seen, i: number) => i + 1))
    expect(all[0]).toMatchObject({ type: 'lifecycle', level: 'info', message: 'running', at: ISO })
    expect(all.at(-1)).toMatchObject({ type: 'lifecycle', level: 'info', message: 'succeeded' })
    expect(all.filter(({ type }: Seen) => type === 'status').map(({ message }: Seen) => message)).toEqual(
      Array.from({ length: 7 }, (_, i) => `step ${i}`),
    )
    for (const limit of [1, 3, 200]) {
      const walked: Seen[] = []
      for (let after: string | null = '0'; after !== null; ) {
        const { items, nextCursor }: Seen = await page(`?afterSeq=${after}&limit=${limit}`)
        walked.push(...items)
        after = nextCursor
      }
      expect(walked).toEqual(all)
    }
    expect((await page('?afterSeq=3')).items).toEqual(all.slice(3))
  })

  test.each(['10000', '2147483647', '2147483648', '999999999999999'])('ends before %s', async (afterSeq) => {
    const w = await fleet()
    const { id } = await woken(w, 'talks', '')
    const { status, body } = await w.call('GET', `/runs/${id}/events?afterSeq=${afterSeq}`)
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }])
  })
})

describe('the log of a run', () => {
  const TEXT = Array.from({ length: 40 }, (_, i) => `${i}: größer, 日本, 👩‍🚀, "$(id)" \`id\`\n`).join('')
  const writes = `
    const text = ${JSON.stringify(TEXT)}
    process.stdout.write(text)
    process.stderr.write('aside\\n')`

  /** All of it, by pages of this size. */
  async function readBy(w: Fleet, id: string, limitBytes: number): Promise<{ text: string; spans: Seen[] }> {
    let text = ''
    const spans: Seen[] = []
    for (let offset: number | null = 0; offset !== null; ) {
      const page: Seen = await w.log(id, `?offset=${offset}&limitBytes=${limitBytes}`)
      expect(page).toMatchObject({ runId: id, offset, status: 'available', store: 'local_file' })
      // A character is never split: one that is longer than a page is a page.
      expect(Buffer.byteLength(page.content)).toBeLessThanOrEqual(Math.max(limitBytes, 4))
      text += page.content
      spans.push(...page.spans)
      offset = page.nextOffset
    }
    return { text, spans }
  }

  test('is read by pages of any size, each byte once, and has the checksum of the run', async () => {
    const w = await fleet()
    const { id, log } = await woken(w, 'writes', writes)
    const whole = (await w.log(id)).content
    expect(whole.replace('aside\n', '')).toBe(TEXT)
    for (const limitBytes of [61, 1_000, 100_000]) {
      const { text, spans } = await readBy(w, id, limitBytes)
      expect(text).toBe(whole)
      expect(spans.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(log.bytes)
    }
    expect(log.bytes).toBe(Buffer.byteLength(whole))
    expect(log.sha256).toBe(createHash('sha256').update(whole).digest('hex'))
    const { spans } = await w.log(id)
    expect(new Set(spans.map(({ stream }: Seen) => stream))).toEqual(new Set(['stdout', 'stderr']))
    expect((await w.log(id, '?limitBytes=0')).content).toBe('0')
    expect((await w.log(id, '?limitBytes=999999999999999')).content).toBe(whole)
  })

  test('may be requested from any offset: in the middle of a character, at its end and far beyond', async () => {
    const w = await fleet()
    const { id, log } = await woken(w, 'writes', `process.stdout.write('a日b')`)
    expect(log.bytes).toBe(5)
    for (const [offset, content] of [
      [0, 'a日b'],
      [1, '日b'],
      [2, 'b'],
      [3, 'b'],
      [4, 'b'],
      [5, ''],
      [999_999_999_999_999, ''],
    ])
      expect(await w.log(id, `?offset=${offset}`), `from ${offset}`).toMatchObject({
        content,
        nextOffset: null,
      })
  })

  test('is read while it is written, and the answer has the next offset', async () => {
    const w = await fleet()
    const { home } = await w.script(
      'writes',
      `import { existsSync } from 'node:fs'
       console.log('first')
       while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
       console.log('second')`,
    )
    await w.wake('writes')
    const { id } = await w.saying('writes', 'first')
    const early = await w.log(id)
    expect(early).toMatchObject({
      status: 'writing',
      content: 'first\n',
      nextOffset: 6,
      bytes: 6,
      sha256: null,
    })
    expect(await w.log(id, '?offset=6')).toMatchObject({ content: '', nextOffset: 6 })
    expect((await w.run(id)).log).toMatchObject({ status: 'writing', bytes: null })
    writeFileSync(join(home, 'go'), '')
    await w.over('writes')
    const rest = await w.log(id, `?offset=${early.nextOffset}`)
    expect(rest).toMatchObject({ status: 'available', content: 'second\n', nextOffset: null, bytes: 13 })
  })

  const UNAVAILABLE = { status: 'log_unavailable', content: '', nextOffset: null, spans: [] }

  test('of a run that never started says so', async () => {
    const w = await fleet()
    await w.put('nowhere', {
      adapterType: 'process',
      adapterConfig: { command: 'node', cwd: '/nowhere/at/all' },
    })
    await w.wake('nowhere')
    const [{ id, log, errorCode }] = await w.over('nowhere')
    expect([log, errorCode]).toEqual([null, 'invalid_working_directory'])
    expect(await w.log(id)).toMatchObject({ ...UNAVAILABLE, detail: 'The run has no log: it never started.' })
  })

  test('that was deleted is unavailable, and all else about the run still exists', async () => {
    const w = await fleet()
    const { id } = await woken(w, 'writes', `console.log('here')`)
    const folder = join(served().dataFolder, 'run-logs')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes(id),
    )
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) rmSync(join(folder, file), { recursive: true, force: true })
    expect(await w.log(id)).toMatchObject({
      ...UNAVAILABLE,
      detail: expect.stringContaining('was deleted'),
    })
    expect(await w.run(id)).toMatchObject({
      stdoutExcerpt: 'here\n',
      log: { bytes: 5, sha256: expect.any(String) },
    })
  })

  test('is removed when it is old enough; others, and those of active runs, are not', async () => {
    const w = await fleet()
    const old = await woken(w, 'old', `console.log('old')`)
    const young = await woken(w, 'young', `console.log('young')`)
    await w.script('stays', scripts.stays)
    await w.wake('stays')
    const alive = await w.saying('stays', 'up')
    const ago = `update baton.runs set created_at = now() - interval '2 days', started_at = now() - interval '2 days',
      finished_at = case when finished_at is null then null else now() - interval '2 days' end where run_id = any($1)`
    await superuser(served().databaseUrl, (client) => client.query(ago, [[old.id, alive.id]]))
    const store = await PostgresStore.open(served().databaseUrl)
    try {
      const logs = localFileStore(join(served().dataFolder, 'run-logs'))
      const kernel = openKernel(store, serverDirectory(store))
      const context = { kernel, logStores: new Map([['local_file', logs]]) }
      const remove = () =>
        removeOldLogs(context as unknown as Parameters<typeof removeOldLogs>[0], 86_400_000)
      expect([await remove(), await remove()]).toEqual([1, 0])
    } finally {
      await store.close()
    }
    expect(await w.log(old.id)).toMatchObject(UNAVAILABLE)
    const told = async ({ id }: Seen) => (await w.call('GET', `/runs/${id}/invocation`)).body
    expect(await told(old)).toMatchObject({ status: 'unavailable', prompt: null, program: null })
    for (const kept of [young, alive])
      expect(await told(kept)).toMatchObject({ status: 'available', program: { command: process.execPath } })
    expect(await w.run(old.id)).toMatchObject({
      stdoutExcerpt: 'old\n',
      log: { status: 'log_unavailable', bytes: 4, sha256: old.log.sha256 },
    })
    expect((await w.log(young.id)).content).toBe('young\n')
    expect((await w.log(alive.id)).content).toBe('up\n')
  })
})

describe('the runtime state of an agent', () => {
  test('adds up over its runs, and its sessions are listed and deleted on request', async () => {
    const w = await fleet()
    expect((await w.script('dev', ends)).slug).toBe('dev')
    const state = async (): Promise<Seen> => (await w.call('GET', '/agents/dev/runtime-state')).body
    const sessions = async (): Promise<Seen> => (await w.call('GET', '/agents/dev/task-sessions')).body.items
    expect(await state()).toMatchObject({
      agent: 'dev',
      runs: 0,
      tokens: { input: 0, cachedInput: 0, cacheWrite: null, output: 0 },
      costUsd: '0',
      lastRunId: null,
    })
    const first = await w.assign('dev')
    await w.over('dev', 1)
    const second = await w.assign('dev')
    const [, last] = await w.over('dev', 2)
    expect(await state()).toMatchObject({
      ...{
        runs: 2,
        tokens: { input: 200, cachedInput: 80, cacheWrite: null, output: 14 },
        costUsd: '0.025',
      },
      ...{
        lastRunId: last.id,
        lastRunStatus: 'succeeded',
        lastError: null,
        sessionId: 's-1',
        adapterType: 'process',
      },
    })
    const keys = async () => (await sessions()).map(({ taskKey }: Seen) => taskKey).sort()
    expect(await keys()).toEqual([first.id, second.id].sort())
    expect((await sessions())[0]).toMatchObject({
      adapterType: 'process',
      sessionDisplayId: 's-1',
      createdAt: ISO,
    })
    const reset = async (path: string, body: Json) => (await w.post(`/agents/dev/${path}`, body)).body
    expect(await reset('reset-session', { taskKey: first.id })).toEqual({ agent: 'dev', cleared: 1 })
    expect([await keys(), (await state()).sessionId]).toEqual([[second.id], 's-1'])
    expect(await reset('runtime-state/reset-session', {})).toEqual({ agent: 'dev', cleared: 1 })
    expect([await keys(), (await state()).sessionId]).toEqual([[], null])
    expect(await w.count('runtime_state_reset')).toBe(2)
    expect((await state()).runs, 'what was used stays on record').toBe(2)
  })

  test('has what a run kept for the next one, whatever its task, without secrets, until it is reset', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `const before = JSON.parse(process.env.BATON_AGENT_STATE ?? '{}')
       const runs = (before.runs ?? 0) + 1
       console.log(JSON.stringify({ baton: 'state', state: { runs, key: process.env.BATON_API_KEY } }))
       console.log(JSON.stringify({ baton: 'state', state: { huge: 'x'.repeat(40_000) } }))
       console.log(JSON.stringify({ result: before }))
       process.exitCode = runs === 2 ? 1 : 0`,
    )
    const state = async () => (await w.call('GET', '/agents/dev/runtime-state')).body.state
    const kept = (runs: number) => ({ runs, key: '[redacted]' })
    await w.assign('dev', { maxRetries: 0 })
    const [first] = await w.over('dev', 1)
    expect((await w.run(first.id)).result).toEqual({})
    expect((await w.log(first.id)).content).toContain('state needs an object of up to 32768 bytes')
    expect(await state()).toEqual(kept(1))
    await w.assign('dev', { maxRetries: 0 })
    const [, second] = await w.over('dev', 2)
    expect((await w.run(second.id)).status).toBe('failed')
    expect(await state(), 'also of a run that failed').toEqual(kept(2))
    const third = await w.assign('dev', { maxRetries: 0 })
    const [, , last] = await w.over('dev', 3)
    expect((await w.run(last.id)).result).toEqual(kept(2))
    await w.post('/agents/dev/reset-session', { taskKey: third.id })
    expect(await state()).toEqual(kept(3))
    await w.post('/agents/dev/reset-session')
    expect(await state()).toEqual({})
    await w.assign('dev', { maxRetries: 0 })
    const runs = await w.over('dev', 4)
    expect((await w.run(runs[3]!.id)).result).toEqual({})
  })

  test('belongs to its workspace alone', async () => {
    const w = await fleet()
    await w.script('dev', '')
    const other = await fleet()
    for (const [method, what] of [
      ['GET', 'runtime-state'],
      ['GET', 'task-sessions'],
      ['POST', 'reset-session'],
      ['POST', 'wakeup'],
      ['POST', 'test'],
      ['GET', 'prompt-preview'],
    ] as const)
      expectRefusal(await other.call(method, `/agents/dev/${what}`), 404, 'NOT_FOUND')
  })
})

test('the kinds of agents are listed with their features and the JSON Schema of their settings', async () => {
  const { body } = await served().call('GET', '/adapters')
  const types = body.items.map(({ type }: Seen) => type)
  expect(types).toEqual([
    ...['claude_local', 'codex_local', 'gemini_local', 'http', 'opencode_local', 'process', 'simulated'],
  ])
  for (const { type, capabilities, configSchema } of body.items) {
    expect(Object.keys(capabilities).sort(), type).toEqual(
      ['logStreaming', 'resumableSession', 'statusUpdates', 'tokenUsage'].sort(),
    )
    expect(configSchema, type).toMatchObject({ type: 'object', additionalProperties: false })
    expect(configSchema.properties).toMatchObject({
      promptTemplate: { type: 'string' },
      timeoutSec: { type: 'integer' },
    })
  }
  expect(body.items.find(({ type }: Seen) => type === 'process').configSchema.required).toEqual(['command'])
})
