import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commit, git, isGitHere, makeRepository, put } from '../../support/git.ts'
import { expectRefusal } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** What a run did to the repository of its agent, over HTTP. */

const { folder, fleet } = useFleets()

const COMMITS = `
  const git = (...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
  git('add', '--all'); git('commit', '--quiet', '-m', 'work')`

/** An agent that does this in a worktree of a repository, and its run. */
async function worked(
  w: Fleet,
  source: string,
  files?: Record<string, string>,
  config: object = {},
): Promise<Seen> {
  const repository = makeRepository(await mkdtemp(join(folder(), 'repo-')), files)
  await w.script(
    'dev',
    `
    import { execFileSync } from 'node:child_process'
    import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
    ${source}
    console.log(JSON.stringify({ result: 1 }))`,
    { config: { cwd: repository, workspace: 'git_worktree', ...config } },
  )
  await w.assign('dev')
  const [run] = await w.over('dev')
  expect(run, JSON.stringify(run)).toMatchObject({ status: 'succeeded' })
  return { run, repository }
}
const changes = async (w: Fleet, id: string, query = '', key?: string): Promise<Seen> => {
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {}
  const { status, body } = await w.call('GET', `/runs/${id}/changes${query}`, undefined, headers)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

describe.runIf(isGitHere)('the changes of a run', () => {
  test('are the files of its branch, compared with the commit it started from', async () => {
    const w = await fleet()
    const files = {
      'a.txt': 'one\ntwo\nthree\n',
      'old name.txt': 'stays\n'.repeat(20),
      'gone.txt': 'x\n',
      'b.bin': 'a\0b',
    }
    const { run, repository } = await worked(
      w,
      `writeFileSync('a.txt', 'one\\n2\\nthree\\nfour\\n')
       renameSync('old name.txt', 'näme.txt')
       rmSync('gone.txt')
       writeFileSync('b.bin', 'a\\0c')
       writeFileSync('new.txt', 'n\\n')
       ${COMMITS}`,
      files,
    )
    const seen = await changes(w, run.id)
    const base = git(repository, 'rev-parse', 'main')
    expect(seen).toMatchObject({
      runId: run.id,
      branch: run.folder.worktree.branch,
      baseCommit: base,
      commit: git(repository, 'rev-parse', run.folder.worktree.branch),
      fileCount: 5,
      added: 3,
      deleted: 2,
      diff: null,
      mergeCommand: `git -C ${repository} merge ${run.folder.worktree.branch}`,
    })
    const plain = { oldPath: null, isBinary: false, isTracked: true }
    expect(seen.files).toEqual([
      { ...plain, path: 'a.txt', status: 'modified', added: 2, deleted: 1 },
      { ...plain, path: 'b.bin', status: 'modified', added: null, deleted: null, isBinary: true },
      { ...plain, path: 'gone.txt', status: 'deleted', added: 0, deleted: 1 },
      { ...plain, path: 'new.txt', status: 'added', added: 1, deleted: 0 },
      { ...plain, path: 'näme.txt', oldPath: 'old name.txt', status: 'renamed', added: 0, deleted: 0 },
    ])
    const { diff } = await changes(w, run.id, '?path=a.txt')
    expect(diff).toMatchObject({ path: 'a.txt', isCut: false, isBinary: false })
    expect(diff.text).toContain('@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four')
    expect((await changes(w, run.id, '?path=b.bin')).diff).toMatchObject({ text: '', isBinary: true })
    expect((await changes(w, run.id, `?path=${encodeURIComponent('näme.txt')}`)).diff.text).toContain(
      'rename from',
    )
    // The command does what it says.
    git(repository, 'merge', '--quiet', run.folder.worktree.branch)
    expect(git(repository, 'show', 'HEAD:a.txt')).toBe('one\n2\nthree\nfour')
  })

  test('include what the agent did not commit: Baton has', async () => {
    const w = await fleet()
    const { run } = await worked(
      w,
      `writeFileSync('readme.md', 'two\\n'); writeFileSync('new.txt', 'one\\ntwo\\n')`,
    )
    const seen = await changes(w, run.id)
    expect(seen).toMatchObject({ isUncommittedIncluded: false, commit: run.folder.saved.commit })
    expect(seen.files).toMatchObject([
      { path: 'new.txt', status: 'added', added: 2, isTracked: true },
      { path: 'readme.md', status: 'modified', added: 1, deleted: 1, isTracked: true },
    ])
    expect((await changes(w, run.id, '?path=new.txt')).diff.text).toContain('+one\n+two')
    expect((await changes(w, run.id, '?path=readme.md')).diff.text).toContain('-one\n+two')
  })

  test('of a task are those of the commit that was submitted, though the agent goes on', async () => {
    const w = await fleet()
    const repository = makeRepository(await mkdtemp(join(folder(), 'repo-')))
    const [after, go] = ['after', 'go'].map((name) => join(repository, '..', `${name}-${w.id}`)) as [
      string,
      string,
    ]
    await w.script(
      'dev',
      `import { existsSync, writeFileSync } from 'node:fs'
       const { BATON_URL, BATON_API_KEY, BATON_TASK_ID, BATON_SESSION, BATON_GENERATION } = process.env
       writeFileSync('before.txt', 'x')
       await fetch(BATON_URL + '/api/v1/tasks/' + BATON_TASK_ID + '/submit', {
         method: 'POST',
         headers: { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' },
         body: JSON.stringify({ session: BATON_SESSION, generation: Number(BATON_GENERATION), result: 1 }),
       })
       writeFileSync('after.txt', 'x')
       writeFileSync(${JSON.stringify(after)}, 'x')
       while (!existsSync(${JSON.stringify(go)})) await new Promise((done) => setTimeout(done, 20))`,
      { config: { cwd: repository, workspace: 'git_worktree' } },
    )
    const task = await w.assign('dev', { verification: { kind: 'human' } })
    await until(async () => existsSync(after))
    const { body } = await w.call('GET', `/tasks/${task.id}/changes`)
    expect(body).toMatchObject({ isUncommittedIncluded: false, files: [{ path: 'before.txt' }] })
    writeFileSync(go, 'x')
    await w.over('dev')
  })

  test('of a run that changed nothing are none', async () => {
    const w = await fleet()
    const { run } = await worked(w, '')
    expect(await changes(w, run.id)).toMatchObject({ fileCount: 0, files: [], added: 0, deleted: 0 })
  })

  test('are read without running a program that the repository names', async () => {
    const w = await fleet()
    const { run, repository } = await worked(w, `writeFileSync('readme.md', 'two\\n'); ${COMMITS}`)
    const trap = join(repository, 'trap.sh')
    put(repository, 'trap.sh', '#!/bin/sh\ntouch "$0.ran"\ncat\n')
    git(repository, 'config', 'diff.external', `sh ${trap}`)
    git(repository, 'config', 'diff.trap.textconv', `sh ${trap}`)
    git(repository, 'config', 'diff.trap.command', `sh ${trap}`)
    commit(repository, { '.gitattributes': '* diff=trap\n' })
    expect((await changes(w, run.id, '?path=readme.md')).diff.text).toContain('+two')
    expect(git(repository, 'status', '--porcelain')).not.toContain('trap.sh.ran')
  })

  test('have a bounded size', async () => {
    const w = await fleet()
    const { run } = await worked(
      w,
      `for (let i = 0; i < 1_200; i++) writeFileSync('f' + i, '')
       writeFileSync('large.txt', 'a line of text\\n'.repeat(40_000)); ${COMMITS}`,
    )
    const seen = await changes(w, run.id, '?path=large.txt')
    expect(seen).toMatchObject({ fileCount: 1_201, added: 40_000, diff: { isCut: true } })
    expect(seen.files).toHaveLength(1_000)
    expect(seen.diff.text.length).toBeLessThanOrEqual(256 * 1024)
    expect(seen.diff.text).toMatch(/\+a line of text\n$/)
  })

  test('show paths of the machine only to those who may configure agents', async () => {
    const w = await fleet()
    const { run } = await worked(w, `writeFileSync('new.txt', '')`)
    const made = await w.post('/keys', { name: 'looks', role: 'viewer' })
    const seen = await changes(w, run.id, '', made.body.key)
    expect(seen).toMatchObject({ fileCount: 1, folder: null, mergeCommand: null })
    expect(seen.branch).toBe(run.folder.worktree.branch)
  })

  test('of a file that was not changed are not found', async () => {
    const w = await fleet()
    const { run } = await worked(w, '')
    for (const path of ['readme.md', '../../etc/passwd', '/etc/passwd', ':(glob)*'])
      expectRefusal(
        await w.call('GET', `/runs/${run.id}/changes?path=${encodeURIComponent(path)}`),
        404,
        'NOT_FOUND',
      )
  })

  test('are refused where there is no worktree, or its repository is not', async () => {
    const w = await fleet()
    await w.script('plain', `console.log('{"result":1}')`)
    await w.wake('plain')
    const [{ id }] = await w.over('plain')
    const answer = await w.call('GET', `/runs/${id}/changes`)
    expectRefusal(answer, 409, 'CHANGES_UNAVAILABLE')
    expect(answer.body.detail).toContain('git_worktree')
    const { run, repository } = await worked(w, `writeFileSync('new.txt', '')`)
    rmSync(repository, { recursive: true })
    const gone = await w.call('GET', `/runs/${run.id}/changes`)
    expectRefusal(gone, 409, 'CHANGES_UNAVAILABLE')
    expect(gone.body.detail).toContain('not on this node')
    const other = await fleet()
    expectRefusal(await other.call('GET', `/runs/${run.id}/changes`), 404, 'NOT_FOUND')
  })
})
