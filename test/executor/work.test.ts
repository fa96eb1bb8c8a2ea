import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { git, isGitHere } from '../support/git.ts'
import { actOn, makeMission, planOf, tasksByTitle } from '../support/http-missions.ts'
import { eventually } from '../support/recovery.ts'
import { samples } from '../support/rounds.ts'
import { type Fleet, type Seen, useFleets } from '../support/runs.ts'
import { hireWorker, workshop } from '../support/working-agent.ts'

/** Agents that edit without committing: whatever happens, the next attempt sees all earlier work, and the result has it. */

const { fleet } = useFleets()
const HUMAN = { verification: { kind: 'human' } }

const fileAt = (repository: string, commit: string, path = 'work.txt') =>
  git(repository, 'show', `${commit}:${path}`)
const standing = async (w: Fleet, task: Seen): Promise<Seen> => (await w.resultsOf(task)).at(-1)
const lastRun = async (w: Fleet, slug: string): Promise<Seen> => (await w.runsOf(slug)).at(-1)

/** The task ends with this in its commit; returns the last result. */
async function endsWith(w: Fleet, task: Seen, repository: string, lines: string): Promise<Seen> {
  await w.taskIn(task, 'completed')
  const result = await standing(w, task)
  expect(result.commit).toMatch(/^[0-9a-f]{40}$/)
  expect(fileAt(repository, result.commit)).toBe(lines)
  return result
}

describe.skipIf(!isGitHere)('work that is not committed', () => {
  test('becomes a commit by the agent on the branch of its generation, and the run says so', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [])
    const task = await w.assign('dev', { title: 'Write it' })
    const { commit, result } = await endsWith(w, task, repository, 'dev 1')
    expect(result).toMatchObject({ asked: true, before: '' })
    const branch = `baton/${task.id}/gen-1`
    expect(git(repository, 'rev-parse', branch)).toBe(commit)
    expect(git(repository, 'log', '-1', '--format=%an|%cn|%s', commit)).toBe('dev|Baton|Write it')
    const [run] = await w.over('dev')
    expect(run.folder).toMatchObject({
      worktree: { branch },
      saved: { commit, committedFiles: 1, leftOut: [] },
      work: { whole: { filesChanged: 1, insertions: 1 } },
    })
    // The task has ended: its folder is gone, its branch is not, and nobody's files were touched.
    expect(existsSync(run.folder.path)).toBe(false)
    expect(git(repository, 'status', '--porcelain')).toBe('')
  })

  test('is in the next attempt after a rejection, in the same folder and session', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [])
    const task = await w.assign('dev', HUMAN)
    const first = await w.taskIn(task, 'awaiting_human')
    const seen = await w.call('GET', `/tasks/${task.id}/changes`)
    expect(seen.body).toMatchObject({ generation: 1, fileCount: 1, files: [{ path: 'work.txt' }] })
    await w.on(task, 'reject', { comment: 'Once more.', digest: first.resultDigest })
    const second = await eventually(async () => {
      const now = await w.read(task)
      return now.generation === 2 && now.state === 'awaiting_human' && now
    })
    expect(second.resultDigest).not.toBe(first.resultDigest)
    // Bound to the work that was seen, not only to what was reported.
    expect(await w.on(task, 'approve', { digest: first.resultDigest })).toMatchObject({
      status: 409,
      body: { code: 'CHANGED_SINCE' },
    })
    await w.on(task, 'approve', { digest: second.resultDigest })
    const { result, commit } = await endsWith(w, task, repository, 'dev 1\ndev 2')
    expect(result).toMatchObject({ before: 'dev 1\n', ignored: '1', resumes: 'session-1' })
    const [one, two] = await w.over('dev', 2)
    expect(two.folder.path).toBe(one.folder.path)
    expect(two.folder).toMatchObject({
      worktree: { branch: `baton/${task.id}/gen-2`, baseCommit: one.folder.worktree.baseCommit },
      continues: { generation: 1, agent: 'dev', isSameFolder: true },
      work: { whole: { insertions: 2 }, attempt: { insertions: 1 } },
    })
    const attempt = await w.call('GET', `/tasks/${task.id}/changes?since=attempt&path=work.txt`)
    expect(attempt.body).toMatchObject({ commit, added: 1, from: one.folder.saved.commit })
    expect(attempt.body.diff.text).toContain('+dev 2')
  })

  const ends: [what: string, how: string][] = [
    ['a failure', 'fail'],
    ['a question', 'ask'],
    ['a pause', 'pause'],
    ['a run that a person stopped', 'stop'],
    ['a reassignment to another agent', 'reassign'],
  ]
  test.each(samples(3, ends))('is in the next attempt after %s', async (_name, how) => {
    const w = await fleet()
    const repository = await workshop(w)
    const plan = how === 'fail' || how === 'ask' ? [how] : ['hang']
    await hireWorker(w, 'dev', repository, plan)
    await hireWorker(w, 'other', repository, plan)
    const task = await w.assign('dev')
    if (how === 'ask') {
      await w.taskIn(task, 'awaiting_human')
      await w.on(task, 'answer', { answer: 'This one.' })
    } else if (how === 'fail') {
      await w.taskIn(task, 'awaiting_retry')
      await w.on(task, 'retry', {})
    } else {
      const run = await w.saying('dev', 'up')
      if (how === 'pause') {
        await w.on(task, 'pause', {})
        // At once: the next run waits until the one before it has saved its work.
        await w.on(task, 'resume', {})
      } else if (how === 'stop') {
        await w.post(`/runs/${run.id}/cancel`, {})
        await w.taskIn(task, 'awaiting_human')
        await w.on(task, 'retry', {})
      } else await w.call('PATCH', `/tasks/${task.id}`, { agent: 'other' })
    }
    const last = how === 'reassign' ? 'other 2' : 'dev 2'
    const { result } = await endsWith(w, task, repository, `dev 1\n${last}`)
    expect(result.ignored).toBe('1')
    expect(result.resumes).toBe(how === 'reassign' ? null : 'session-1')
  })

  test('is not in the next attempt when it starts over: from the base, in a new session', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [])
    const task = await w.assign('dev', HUMAN)
    await w.taskIn(task, 'awaiting_human')
    await w.on(task, 'reject', { fresh: true })
    await eventually(async () => (await w.read(task)).generation === 2)
    await w.taskIn(task, 'awaiting_human')
    await w.on(task, 'approve', {})
    const { result } = await endsWith(w, task, repository, 'dev 2')
    expect(result).toMatchObject({ before: '', resumes: null })
    // What was done before is not lost.
    expect(fileAt(repository, `baton/${task.id}/gen-1`)).toBe('dev 1')
    await w.on(task, 'reset', {})
    await eventually(async () => (await w.read(task)).generation === 3)
    await w.taskIn(task, 'awaiting_human')
    expect(await standing(w, task)).toMatchObject({ result: { before: '', resumes: null } })
  })

  test('is in no later attempt at a task that the plan of its mission makes fresh, until a newer plan says otherwise', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [])
    const planned = { tempId: 'a', agent: 'dev', ...HUMAN }
    const mission = await makeMission(w, [{ ...planned, fresh: true }])
    const task = (await tasksByTitle(w, mission)).a as Seen
    const attempt = async (generation: number) => {
      await eventually(async () => (await w.read(task)).generation === generation)
      await w.taskIn(task, 'awaiting_human')
      return standing(w, task)
    }
    await attempt(1)
    await w.on(task, 'reject', { comment: 'Once more.' })
    expect(await attempt(2)).toMatchObject({ result: { before: '', resumes: null } })
    const answer = await w.call('PUT', `/missions/${mission.id}/plan`, planOf(planned))
    expect(answer.body.preview.changed).toMatchObject([
      { tempId: 'a', fields: ['fresh'], when: 'next_attempt' },
    ])
    expect(await actOn(w, mission, 'approve')).toMatchObject({ status: 200 })
    await w.on(task, 'reject', { comment: 'And once more.' })
    expect(await attempt(3)).toMatchObject({ result: { before: 'dev 2\n' } })
    await w.on(task, 'approve', {})
    await endsWith(w, task, repository, 'dev 2\ndev 3')
  })

  test('is handed on over an edge, also after a question', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, ['ask'])
    await hireWorker(w, 'next', repository, [])
    const first = await w.assign('dev')
    const second = await w.assign('next', { dependsOn: [first.id] })
    await w.taskIn(first, 'awaiting_human')
    await w.on(first, 'answer', { answer: 'This one.' })
    await endsWith(w, second, repository, 'dev 1\ndev 2\nnext 1')
  })

  test('counts as it is at the moment when the agent submits its result itself', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, ['submit'])
    await hireWorker(w, 'next', repository, [])
    const first = await w.assign('dev')
    const second = await w.assign('next', { dependsOn: [first.id] })
    await endsWith(w, first, repository, 'dev 1')
    await endsWith(w, second, repository, 'dev 1\nnext 1')
    await w.over('dev')
    const branch = `baton/${first.id}/gen-1`
    expect(fileAt(repository, branch)).toBe('dev 1')
    expect(fileAt(repository, `refs/${branch}/after-result`)).toBe('dev 1\nafter')
  })

  test('is what a command and an agent judge, in a folder of their own', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [])
    await w.script(
      'judge',
      `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
       const prompt = readFileSync(process.env.BATON_PROMPT_FILE, 'utf8')
       const text = existsSync('work.txt') ? readFileSync('work.txt', 'utf8') : 'nothing'
       writeFileSync('stray.txt', 'x')
       const isTold = prompt.includes('work.txt') && prompt.includes('git diff')
       console.log(JSON.stringify({ result: { verdict: text === 'dev 1\\n' && isTold ? 'pass' : 'fail', score: 1, feedback: text } }))`,
    )
    const byAgent = await w.assign('dev', { verification: { kind: 'agent', agent: 'judge' } })
    await endsWith(w, byAgent, repository, 'dev 1')
    const command = 'grep -q "dev 1" work.txt'
    const byCommand = await w.assign('dev', { verification: { kind: 'command', command } })
    await endsWith(w, byCommand, repository, 'dev 1')
    const review = await lastRun(w, 'judge')
    expect(existsSync(review.folder.path)).toBe(false)
    expect(git(repository, 'branch', '--list', 'baton/*').split('\n')).toHaveLength(2)
  })
})

describe.skipIf(!isGitHere)('a result is refused', () => {
  test('while a merge is unfinished, and the merge stays for the next attempt', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    const conflict = `do git('checkout', '-q', '-b', 'side', 'HEAD~0'); writeFileSync('readme.md', 'side');
      git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'side');
      git('checkout', '-q', '-'); writeFileSync('readme.md', 'main');
      git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'main');
      try { git('merge', 'side') } catch {}`
    const finish = `do writeFileSync('readme.md', 'both'); git('add', '-A'); git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'merged')`
    await hireWorker(w, 'dev', repository, [conflict, finish])
    const task = await w.assign('dev')
    const waiting = await w.taskIn(task, 'awaiting_retry')
    expect(waiting).toMatchObject({
      failureClass: 'quality',
      error: expect.stringContaining('unfinished merge'),
    })
    const [run] = await w.over('dev')
    expect(run).toMatchObject({
      errorCode: 'work_incomplete',
      folder: { saved: { unfinished: { kind: 'merge' } } },
    })
    await w.on(task, 'retry', {})
    const { commit } = await endsWith(w, task, repository, 'dev 1\ndev 2')
    expect(fileAt(repository, commit, 'readme.md')).toBe('both')
  })

  test('when it lacks the work of a task it depends on, and a person may accept it all the same', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [])
    await hireWorker(w, 'join', repository, [`do git('reset', '-q', '--hard', 'main')`])
    const first = await w.assign('dev')
    const second = await w.assign('join', { dependsOn: [first.id], maxRetries: 0 })
    const failed = await w.taskIn(second, 'failed')
    expect(failed).toMatchObject({
      failureClass: 'quality',
      error: expect.stringMatching(/does not contain #\d+/),
    })
    const [rejected] = await w.resultsOf(second)
    expect(rejected).toMatchObject({ accepted: false, rejectionReason: 'INCOMPLETE' })
    const promoted = await w.post(`/tasks/${second.id}/results/${rejected.workProductRef}/promote`, {})
    expect(promoted.body).toMatchObject({ reason: 'PROMOTED', task: { state: 'completed' } })
  })

  test('never for a file that was left out: it is named, and its folder stays', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, [
      `do writeFileSync('.env', 'KEY=1'); writeFileSync('ok.txt', 'x')`,
    ])
    const task = await w.assign('dev')
    const { commit } = await endsWith(w, task, repository, 'dev 1')
    expect(git(repository, 'ls-tree', '--name-only', commit).split('\n')).toEqual([
      '.gitignore',
      'ok.txt',
      'readme.md',
      'work.txt',
    ])
    const [run] = await w.over('dev')
    expect(run.folder.saved).toMatchObject({
      leftOut: [{ path: '.env', why: 'secret_name' }],
      leftOutCount: 1,
    })
    expect(existsSync(run.folder.path)).toBe(true)
    const changes = await w.call('GET', `/tasks/${task.id}/changes`)
    expect(changes.body).toMatchObject({ leftOutCount: 1, leftOut: [{ path: '.env' }] })
  })
})
