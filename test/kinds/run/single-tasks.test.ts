import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isGitHere, makeRepository } from '../../support/git.ts'
import { claimOne, makeMission, submit } from '../../support/http-missions.ts'
import { expectRefusal, fence, type Json } from '../../support/http-workspace.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** Tasks that are created one by one: how their results are judged, what they may cost, and how to wait for their end. */

const { served, fleet, folder } = useFleets()

const says = (result: unknown) => `console.log(JSON.stringify({ result: ${JSON.stringify(result)} }))`
const eventsOf = async (w: Fleet, task: Seen): Promise<Seen[]> =>
  (await w.call('GET', `/tasks/${task.id}/events?limit=200`)).body.items
const waitFor = (w: Fleet, task: Seen, waitMs = 60_000) => w.call('GET', `/tasks/${task.id}?waitMs=${waitMs}`)

describe('the result of a single task', () => {
  test('is judged by the agent it names, and the log says who began to judge it', async () => {
    const w = await fleet()
    await w.script('maker', says('a report'))
    await w.script('judge', says({ verdict: 'pass', score: 0.75, feedback: 'Good.' }), { model: 'm-1' })
    const verification = { kind: 'agent', agent: 'judge', threshold: 0.7 }
    const task = await w.assign('maker', { verification })
    expect(task).toMatchObject({ missionId: null, verification: { kind: 'baton' }, plan: { verification } })
    const { body } = await waitFor(w, task)
    expect(body).toMatchObject({ state: 'completed', verifiedBy: 'judge', verifierScore: 0.75 })
    const [begun, ...more] = (await eventsOf(w, task)).filter(
      ({ type }) => type === 'task_verification_started',
    )
    expect(more).toEqual([])
    expect(begun).toMatchObject({
      ...{ from: null, to: null, generation: 1, actor: 'agent:judge' },
      payload: { verifier: 'judge', model: 'm-1', verification: body.verifications[0].taskId, attempt: 1 },
    })
  })

  test('below its threshold asks a person, also within a mission', async () => {
    const w = await fleet()
    await w.script('judge', says({ verdict: 'pass', score: 0.75 }))
    const mission = await makeMission(w, [{ tempId: 'a' }], { config: { autonomy: 'autonomous' } })
    await w.post(`/missions/${mission.id}/approve`)
    const task = await w.make({
      mission: mission.id,
      verification: { kind: 'agent', agent: 'judge', threshold: 0.8 },
    })
    await submit(w, await claimOne(w, task))
    expect(await w.taskIn(task, 'awaiting_human')).toMatchObject({ missionId: mission.id })
  })

  test('is checked by Baton itself: it is not empty, and has the shape of its schema', async () => {
    const w = await fleet()
    const outputSchema = { type: 'object', required: ['rows'] }
    const make = () => w.make({ verification: { kind: 'auto' }, outputSchema })
    const [good, bad] = [await make(), await make()]
    await submit(w, await claimOne(w, good), 'alpha', { rows: 3 })
    await submit(w, await claimOne(w, bad), 'alpha', { lines: 3 })
    expect(await w.taskIn(good, 'completed')).toMatchObject({ verifiedBy: 'baton' })
    expect((await w.taskIn(bad, 'awaiting_retry')).error).toContain('rows')
    const uncheckable = {
      title: 'c',
      verification: { kind: 'auto' },
      outputSchema: { not: { type: 'null' } },
    }
    const refused = await w.post('/tasks', uncheckable)
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors).toMatchObject([{ field: 'outputSchema' }])
  })

  test('is verified by a command, which only keys that may configure agents can name', async () => {
    const w = await fleet()
    await w.script('dev', `import { writeFileSync } from 'node:fs'; writeFileSync('made.txt', 'x')`)
    const verification = { kind: 'command', command: 'test -e made.txt' }
    const { body } = await w.post('/keys', { name: 'op', role: 'member' })
    const asOperator = (path: string, asked: Json) => served().call('POST', path, asked, { key: body.key })
    const one = { title: 'Make it', agent: 'dev', verification }
    const refused = await asOperator('/tasks', one)
    expectRefusal(refused, 403, 'FORBIDDEN')
    expect(refused.body.errors).toEqual([
      { field: 'verification.command', message: 'needs the right "configure_agents"' },
    ])
    const batch = await asOperator('/tasks/batch', { tasks: [{ title: 'plain' }, one] })
    expect(batch.body.errors[0].field).toBe('tasks[1].verification.command')
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])
    const task = await w.make(one)
    expect((await waitFor(w, task)).body).toMatchObject({
      ...{ state: 'completed', verifiedBy: 'baton', verifierScore: 1 },
      verifications: [{ verifier: 'baton', evidence: [{ exitCode: 0 }] }],
    })
  })

  test.each([
    [{ kind: 'command' }],
    [{ kind: 'agent', command: 'true' }],
    [{ kind: 'agent', threshold: 1.7 }],
    [{ kind: 'human', agent: 'judge' }],
    [{ kind: 'oracle' }],
    [{}],
  ])('cannot be judged by %j', async (verification) => {
    const w = await fleet()
    expectRefusal(await w.post('/tasks', { title: 'a', verification }), 400, 'VALIDATION_FAILED')
  })
})

describe('what a single task costs', () => {
  const uses = (inputTokens: number, costUsd: string, then: string) => `
    console.log(JSON.stringify({ baton: 'usage', usage: { inputTokens: ${inputTokens}, outputTokens: 0 }, costUsd: '${costUsd}' }))
    ${then}`

  test('is the sum of its runs, and it has a duration when it has ended', async () => {
    const w = await fleet()
    const twice = `
      const { existsSync, writeFileSync } = await import('node:fs')
      const isFirst = !existsSync('begun')
      writeFileSync('begun', '')
      console.log(JSON.stringify(isFirst ? { continue: true } : { result: 1 }))`
    await w.script('dev', uses(600, '0.25', twice))
    const task = await w.assign('dev')
    expect(await w.read(task)).toMatchObject({ durationMs: null })
    await w.taskIn(task, 'completed')
    const runs = await w.over('dev', 2)
    const seen = await w.read(task)
    expect(runs).toHaveLength(2)
    expect(seen).toMatchObject({ costUsd: '0.5', tokensUsed: 1_200, lastAgent: 'dev' })
    expect(seen.durationMs).toBe(Date.parse(seen.completedAt) - Date.parse(seen.startedAt))
    expect(await w.read(await w.make())).toMatchObject({ costUsd: null, tokensUsed: 0, lastAgent: null })
  })

  test('is limited by its budget: the run is stopped, and a person is asked', async () => {
    const w = await fleet()
    await w.script('dev', uses(1_000, '0.1', 'setInterval(() => {}, 60_000)'))
    const task = await w.assign('dev', { budget: { maxTokens: 900, maxUsd: '2.50' } })
    expect(task).toMatchObject({ plan: { budget: { maxTokens: 900, maxUsd: '2.50' } } })
    await w.taskIn(task, 'budget_exceeded')
    expect((await w.over('dev'))[0]).toMatchObject({ errorCode: 'budget_blocked' })
    const { items } = (await w.call('GET', '/inbox?kind=budget')).body
    expect(items).toMatchObject([{ about: { taskId: task.id } }])
  })

  /** Spends 1,000 tokens and waits to be stopped; the next one finds what it left. */
  const SPENDS = `
    import { existsSync, readFileSync, writeFileSync } from 'node:fs'
    const say = (line) => console.log(JSON.stringify(line))
    const { BATON_AGENT_SESSION: session, BATON_ATTEMPT: attempt } = process.env
    if (existsSync('notes.txt'))
      say({ result: { session, attempt, cwd: process.cwd(), notes: readFileSync('notes.txt', 'utf8') } })
    else {
      writeFileSync('notes.txt', 'half done')
      say({ baton: 'session', sessionId: 'the-same' })
      say({ baton: 'usage', usage: { inputTokens: 1000, outputTokens: 0 } })
      setInterval(() => {}, 60_000)
    }`

  test.runIf(isGitHere)(
    'may be raised above what was spent: the task continues in the same session and worktree',
    async () => {
      const w = await fleet()
      const repository = join(folder(), `repository-${randomUUID()}`)
      makeRepository(repository)
      await w.script('dev', SPENDS, { config: { cwd: repository, workspace: 'git_worktree' } })
      const task = await w.assign('dev', { budget: { maxTokens: 900 } })
      await w.taskIn(task, 'budget_exceeded')
      await w.over('dev')
      const change = (budget: Json | null) => w.call('PATCH', `/tasks/${task.id}`, { budget })
      const low = await change({ maxTokens: 1_000 })
      expectRefusal(low, 400, 'VALIDATION_FAILED')
      expect(low.body.errors).toEqual([
        { field: 'budget', message: expect.stringContaining('has used 1000 of its 1000 tokens') },
      ])
      expect((await w.read(task)).state).toBe('budget_exceeded')
      expect(await change({ maxTokens: 1_001 })).toMatchObject({
        status: 200,
        body: { state: 'queued', plan: { budget: { maxTokens: 1_001 } } },
      })
      await w.taskIn(task, 'completed')
      const [result] = (await w.read(task, '/results')).items
      expect(result).toMatchObject({
        generation: 2,
        result: { session: 'the-same', attempt: '1', notes: 'half done' },
      })
      expect(result.result.cwd).toMatch(/gen-1$/)
    },
  )

  test('is raised for the run that is in progress, too', async () => {
    const w = await fleet()
    const steps = `
      const { existsSync, writeFileSync } = await import('node:fs')
      const say = (line) => console.log(JSON.stringify(line))
      const used = (inputTokens) => say({ baton: 'usage', usage: { inputTokens, outputTokens: 0 } })
      used(800)
      const waiting = setInterval(() => {
        if (!existsSync(process.env.GO)) return
        clearInterval(waiting)
        used(1000)
        setTimeout(() => say({ result: 'done' }), 500)
      }, 50)`
    const go = join(folder(), `go-${randomUUID()}`)
    await w.script('dev', steps, { env: { GO: go } })
    const task = await w.assign('dev', { budget: { maxTokens: 900 } })
    await w.taskIn(task, 'running')
    const raised = await w.call('PATCH', `/tasks/${task.id}`, { budget: { maxTokens: 2_000 } })
    expect(raised).toMatchObject({ status: 200, body: { state: 'running' } })
    await writeFile(go, '')
    await w.taskIn(task, 'completed')
    expect(await w.over('dev')).toMatchObject([{ status: 'succeeded', tokens: { input: 1_000 } }])
  })
})

describe('who waits for the end of a task', () => {
  test('is answered when it has ended', async () => {
    const w = await fleet()
    const task = await w.make()
    const waiting = waitFor(w, task)
    const held = await claimOne(w, task)
    await w.on(task, 'start', fence('s-alpha', held.generation))
    await submit(w, held)
    expect(await waiting).toMatchObject({ status: 200, body: { state: 'completed', blocks: [] } })
    expect((await waitFor(w, task)).body.state).toBe('completed')
  })

  test('is answered with the task as it is when the time is over', async () => {
    const w = await fleet()
    const task = await w.make()
    const before = performance.now()
    const { body } = await waitFor(w, task, 300)
    expect(body.state).toBe('queued')
    expect(performance.now() - before).toBeGreaterThanOrEqual(299)
  })

  test('is refused at once for a task that is not there, and for a time that is none', async () => {
    const [w, other] = [await fleet(), await fleet()]
    expectRefusal(await waitFor(w, await other.make()), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', `/tasks/${(await w.make()).id}?waitMs=soon`), 400, 'VALIDATION_FAILED')
  })
})
