import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { git, isGitHere, makeRepository } from '../../support/git.ts'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** Missions whose planner, workers and verifiers are run by Baton, and results that commands verify. */

const { fleet } = useFleets()

const mission = async (w: Fleet, body: Json): Promise<Seen> => {
  const answer = await w.post('/missions', { goal: 'Ship it', config: { autonomy: 'full_auto' }, ...body })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const inState = (w: Fleet, { id }: Seen, state: string): Promise<Seen> =>
  eventually(async () => {
    const { body } = await w.call('GET', `/missions/${id}`)
    return body.state === state && body
  })
const theTask = async (w: Fleet, { id }: Seen): Promise<Seen> => {
  const [task] = (await w.call('GET', `/missions/${id}/tasks`)).body.items
  return (await w.call('GET', `/tasks/${task.id}`)).body
}

/** Writes its result as the protocol of programs asks. */
const says = (result: unknown) => `console.log(JSON.stringify({ result: ${JSON.stringify(result)} }))`

test('a mission is planned, worked on and verified by agents that Baton runs', async () => {
  const w = await fleet()
  const plan = {
    tasks: [
      { tempId: 'a', title: 'Write it', agent: 'writer', verification: { kind: 'agent', agent: 'reviewer' } },
    ],
  }
  await w.script('planner', says(plan))
  await w.script('writer', says({ text: 'once upon a time' }))
  await w.script('reviewer', says({ verdict: 'pass', score: 0.8, feedback: 'Good.' }))
  const made = await mission(w, { planner: { agent: 'planner' } })
  await inState(w, made, 'completed')
  expect(await theTask(w, made)).toMatchObject({
    state: 'completed',
    verifiedBy: 'reviewer',
    verifierScore: 0.8,
  })
  // The verdict is counted once, not again when the answer of the verifier or the planner is accepted.
  const report = await eventually(async () => {
    const { status, body } = await w.call('GET', `/missions/${made.id}/report`)
    return status === 200 && body.markdown
  })
  expect(report).toContain('Verifiers passed 1 results and sent 0 back.')
  // Each was run once, and got what it was to do.
  for (const slug of ['planner', 'writer', 'reviewer']) expect(await w.over(slug)).toHaveLength(1)
})

test('a planner and a verifier get prompts of Baton’s own, not the template of their work', async () => {
  const w = await fleet()
  const template = { promptTemplate: 'Only this: {{task.title}}' }
  const tells = `
    let prompt = ''
    for await (const chunk of process.stdin) prompt += chunk
    const isPlan = prompt.includes('The shape of a plan')
    const result = isPlan
      ? { tasks: [{ tempId: 'a', title: 'Work', agent: 'dev', verification: { kind: 'agent' } }] }
      : prompt.includes('Judge the result of a task')
        ? { verdict: prompt.includes('Only this: Work') ? 'pass' : 'unsure', score: 1 }
        : { prompt }
    console.log(JSON.stringify({ result }))`
  await w.script('dev', tells, { config: template })
  await w.script('other', tells, { config: template })
  const made = await mission(w, { planner: { agent: 'dev' } })
  await inState(w, made, 'completed')
  expect(await theTask(w, made)).toMatchObject({ verifiedBy: 'other' })
})

describe.skipIf(!isGitHere)('a command', () => {
  const COMMITS = (text: string) => `
    import { execFileSync } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    writeFileSync('made.txt', ${text})
    const git = (...args) => execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args])
    git('add', '.')
    git('commit', '--quiet', '-m', 'made')
    // Not committed by the agent: Baton commits it.
    writeFileSync('stray.txt', 'x')
    console.log(JSON.stringify({ result: { done: true } }))`
  const plan = (command: string) => ({
    tasks: [{ tempId: 'a', title: 'Make it', agent: 'dev', verification: { kind: 'command', command } }],
  })
  async function withRepository(w: Fleet, source: string): Promise<string> {
    const repository = makeRepository(join(await w.freshHome(), 'repo'))
    await w.script('dev', source, { config: { cwd: repository, workspace: 'git_worktree' } })
    return repository
  }

  test('judges the recorded commit in a fresh worktree, and leaves none behind', async () => {
    const w = await fleet()
    const repository = await withRepository(w, COMMITS(`'good'`))
    const made = await mission(w, {
      plan: plan('grep -q good made.txt && test -e stray.txt && touch left.txt'),
    })
    await inState(w, made, 'completed')
    expect(await theTask(w, made)).toMatchObject({
      verifiedBy: 'baton',
      verifierScore: 1,
      verifications: [{ verdict: 'pass', evidence: [{ exitCode: 0 }] }],
    })
    const [check] = await w.over('baton')
    expect(existsSync(check.folder.path)).toBe(false)
    expect(git(repository, 'branch', '--list', 'baton/*').split('\n')).toHaveLength(1)
    expect(git(repository, 'status', '--porcelain')).toBe('')
  })

  test('that fails sends the work back with its output, without the key of the run', async () => {
    const w = await fleet()
    await withRepository(w, COMMITS(`process.env.BATON_ATTEMPT === '1' ? 'bad' : 'good'`))
    const made = await mission(w, {
      plan: plan('echo "key: [$BATON_API_KEY]"; cat made.txt; grep -q good made.txt'),
    })
    const task = await eventually(async () => {
      const seen = await theTask(w, made)
      return seen.state === 'awaiting_retry' && seen
    })
    expect(task.error).toMatch(/exit code 1:\nkey: \[\]\nbad$/)
    await w.post(`/tasks/${task.id}/retry`, {})
    await eventually(async () => ((await theTask(w, made)).verifications.length > 1 ? true : null))
    expect((await theTask(w, made)).verifications[0]).toMatchObject({
      verdict: 'fail',
      score: 0,
      generation: 1,
    })
  })

  test('works in the folder of the agent where there is no worktree', async () => {
    const w = await fleet()
    const { home } = await w.script(
      'dev',
      `import { writeFileSync } from 'node:fs'; writeFileSync('made.txt', 'x')`,
    )
    const made = await mission(w, { plan: plan('test -e made.txt && pwd') })
    await inState(w, made, 'completed')
    const [check] = await w.over('baton')
    expect(check.folder).toMatchObject({ path: home, worktree: null })
  })

  test('works in the folder that Baton gave an agent without a cwd', async () => {
    const w = await fleet()
    await w.script('dev', `import { writeFileSync } from 'node:fs'; writeFileSync('made.txt', 'x')`, {
      config: { cwd: undefined },
    })
    const made = await mission(w, { plan: plan('test -e made.txt') })
    await inState(w, made, 'completed')
    const [work] = await w.over('dev')
    const [check] = await w.over('baton')
    expect(check.folder).toMatchObject({ path: work.folder.path, worktree: null })
    expect(await w.agent('baton')).toMatchObject({ state: 'idle' })
  })

  test('whose folder is gone fails its verification alone: a person is asked why, and the next command runs', async () => {
    const w = await fleet()
    const { home } = await w.script(
      'leaver',
      `import { rmSync } from 'node:fs'; rmSync(process.cwd(), { recursive: true })`,
    )
    await w.script('dev', `console.log('done')`)
    const lost = await w.make({ agent: 'leaver', verification: { kind: 'command', command: 'true' } })
    const { body } = await eventually(async () => {
      const inbox = await w.call('GET', '/inbox')
      return inbox.body.items.length > 0 && inbox
    })
    expect(body.items).toMatchObject([{ kind: 'review', about: { taskId: lost.id } }])
    expect(body.items[0].reason).toContain(`no_verdict: the verification is failed: The folder ${home}`)
    expect(await w.agent('baton')).toMatchObject({ state: 'idle' })
    const next = await w.make({ agent: 'dev', verification: { kind: 'command', command: 'true' } })
    await w.taskIn(next, 'completed')
  })

  test('needs a result that a run of Baton made; otherwise a person is asked', async () => {
    const w = await fleet()
    const made = await mission(w, { plan: plan('true') })
    const { body } = await w.post('/claims/next', { agent: 'dev', session: 's' })
    const [claim] = body.claims
    await w.post(`/tasks/${claim.taskId}/submit`, { session: 's', generation: claim.generation, result: 1 })
    await eventually(async () => (await theTask(w, made)).state === 'awaiting_human')
  })
})

test('Baton’s own agent gets no work that is for anybody', async () => {
  const w = await fleet()
  await w.script('dev', `import { writeFileSync } from 'node:fs'; writeFileSync('made.txt', 'x')`)
  const made = await mission(w, {
    plan: {
      tasks: [
        { tempId: 'a', title: 'Make it', agent: 'dev', verification: { kind: 'command', command: 'true' } },
      ],
    },
  })
  await inState(w, made, 'completed')
  await w.post('/agents/dev/pause')
  const task = await w.make({ title: 'For anybody' })
  await w.pass()
  expect(await w.read(task)).toMatchObject({ state: 'queued' })
})
