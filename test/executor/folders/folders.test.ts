import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cleanFolder } from '../../../src/executor/folders/clean.ts'
import { type Git, gitWith } from '../../../src/executor/folders/git.ts'
import { type FolderRequest, prepareFolder } from '../../../src/executor/folders/prepare.ts'
import { recordWork } from '../../../src/executor/folders/record.ts'
import { FolderRefused } from '../../../src/executor/folders/refused.ts'
import { saveWork } from '../../../src/executor/folders/save-work.ts'
import { sweepWorktrees, type WorktreePlace } from '../../../src/executor/folders/sweep.ts'
import type { Worktree } from '../../../src/executor/folders/worktree.ts'
import { KnownSecrets } from '../../../src/pure/secrets/redaction.ts'
import { commit, git, isGitHere, makeRepository, put } from '../../support/git.ts'

/** Working folders: where agents may work, and worktrees that lose no work. All of it in real folders. */

let home: string
let dataFolder: string
let ours: Git

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-folders-')))
  dataFolder = join(home, '.baton')
  ours = gitWith({ PATH: process.env.PATH, HOME: home })
})
afterEach(() => {
  rmSync(home, { recursive: true, force: true })
})

const request = (more: Partial<FolderRequest> = {}): FolderRequest => ({
  workspace: 'cwd',
  dataFolder,
  workspaceId: '0198c0de-0000-7000-8000-000000000001',
  agentSlug: 'dev-1',
  taskUuid: '0198c0de-0000-7000-8000-00000000000a',
  generation: 1,
  allowedRoots: [],
  ...more,
})
const saveOf = (worktree: Worktree) =>
  saveWork(ours, worktree, {
    ...{ author: { name: 'dev', email: 'dev@localhost' }, message: 'work', resultCommit: null },
    secrets: new KnownSecrets([]),
  })
const prepare = (more: Partial<FolderRequest>) => prepareFolder(ours, request(more))
const refusalOf = (more: Partial<FolderRequest>) =>
  prepare(more).then(
    ({ path }) => `no refusal but ${path}`,
    (error: Error) => {
      expect(error).toBeInstanceOf(FolderRefused)
      expect(error).toMatchObject({ code: 'invalid_working_directory' })
      return error.message.replaceAll(home, '~')
    },
  )

describe('a configured folder', () => {
  test('is used as it is, by its real path', async () => {
    mkdirSync(join(home, 'work'))
    symlinkSync(join(home, 'work'), join(home, 'link'))
    expect(await prepare({ cwd: join(home, 'link') })).toEqual({ path: join(home, 'work'), worktree: null })
  })

  test('is relative to the parent of the data folder, or to the given base', async () => {
    mkdirSync(join(home, 'work/deep'), { recursive: true })
    expect((await prepare({ cwd: 'work' })).path).toBe(join(home, 'work'))
    expect((await prepare({ cwd: './deep', defaultRoot: join(home, 'work') })).path).toBe(
      join(home, 'work/deep'),
    )
  })

  test('is refused when it cannot be used', async () => {
    writeFileSync(join(home, 'file'), '')
    symlinkSync(join(home, 'nowhere'), join(home, 'dangling'))
    symlinkSync(join(home, 'circle'), join(home, 'circle'))
    expect(await refusalOf({ cwd: 'missing' })).toBe('The folder ~/missing does not exist.')
    expect(await refusalOf({ cwd: 'dangling' })).toBe('The folder ~/dangling does not exist.')
    expect(await refusalOf({ cwd: 'file' })).toBe('~/file is a file, not a folder.')
    expect(await refusalOf({ cwd: 'file/below' })).toBe('A part of the path ~/file/below is a file.')
    expect(await refusalOf({ cwd: 'circle' })).toBe('~/circle is a circular link.')
    for (const nothing of ['', ' ', 'a\0b'])
      expect(await refusalOf({ cwd: nothing })).toBe('The cwd of the agent is not a path.')
    expect(await refusalOf({ cwd: '$(touch x)' })).toBe('The folder ~/$(touch x) does not exist.')
    expect(existsSync(join(home, 'x'))).toBe(false)
  })

  test.skipIf(process.getuid?.() === 0)('is refused when it is not writable', async () => {
    mkdirSync(join(home, 'sealed'), { mode: 0o500 })
    expect(await refusalOf({ cwd: 'sealed' })).toBe('Baton cannot read and write the folder ~/sealed.')
    chmodSync(join(home, 'sealed'), 0o700)
  })

  test('is refused when it resolves outside of where agents may work', async () => {
    for (const name of ['allowed/in', 'allowed-not', 'other'])
      mkdirSync(join(home, name), { recursive: true })
    symlinkSync(join(home, 'other'), join(home, 'allowed/out'))
    symlinkSync(join(home, 'allowed'), join(home, 'alias'))
    const allowedRoots = [join(home, 'missing'), join(home, 'alias')]
    for (const cwd of ['allowed', 'allowed/in', 'alias/in', 'allowed/in/../in'])
      expect(isUnder((await prepare({ cwd, allowedRoots })).path, join(home, 'allowed'))).toBe(true)
    const outside = 'outside the folders in which agents may work.'
    expect(await refusalOf({ cwd: 'other', allowedRoots })).toBe(`~/other is ${outside}`)
    expect(await refusalOf({ cwd: 'allowed-not', allowedRoots })).toBe(`~/allowed-not is ${outside}`)
    expect(await refusalOf({ cwd: 'allowed/out', allowedRoots })).toBe(
      `~/allowed/out resolves to ~/other, which is ${outside}`,
    )
    expect(await refusalOf({ cwd: 'allowed/../other', allowedRoots })).toBe(`~/other is ${outside}`)
  })
})

const isUnder = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

describe('an agent without a folder', () => {
  test('has a private one of its own, the same every time', async () => {
    const { path } = await prepare({})
    expect(path).toBe(join(dataFolder, 'folders/0198c0de-0000-7000-8000-000000000001/dev-1'))
    expect(statSync(path).mode & 0o777).toBe(0o700)
    put(path, 'notes', 'mine')
    expect((await prepare({ taskUuid: null, allowedRoots: [join(home, 'elsewhere')] })).path).toBe(path)
    expect(readFileSync(join(path, 'notes'), 'utf8')).toBe('mine')
    expect((await prepare({ agentSlug: 'dev-2' })).path).not.toBe(path)
  })

  test('does not leave the data folder by its name', async () => {
    const below = join(dataFolder, 'folders')
    const names = ['..', '.', '../../x', 'a/b', 'a.b', 'a b', 'a@b', '-a', '', 'x'.repeat(300)]
    const paths = await Promise.all(names.map(async (agentSlug) => (await prepare({ agentSlug })).path))
    expect(new Set(paths).size).toBe(names.length)
    for (const path of paths)
      expect(path.startsWith(`${below}/`) && path.split('/').length === below.split('/').length + 2).toBe(
        true,
      )
  })

  test('does not leave it by a link, either', async () => {
    const { path } = await prepare({})
    rmSync(path, { recursive: true })
    mkdirSync(join(home, 'secrets'))
    symlinkSync(join(home, 'secrets'), path)
    expect(await refusalOf({})).toMatch(/is a link to another place\.$/)
  })
})

const describeGit = isGitHere ? describe : describe.skip
if (!isGitHere)
  describe.skip('git is not on this machine: worktrees are not tested', () => test('at all', () => {}))

const TASK = '0198c0de-0000-7000-8000-00000000000a'
const BRANCH = `baton/${TASK}/gen-1`
const inWorktree = (more: Partial<FolderRequest> = {}) =>
  prepare({ cwd: 'repo', workspace: 'git_worktree', ...more })
const branches = () =>
  git(join(home, 'repo'), 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n')

describeGit('a worktree', () => {
  test('is made for the task and its generation, on a branch of its own', async () => {
    const repository = makeRepository(join(home, 'repo'), { 'readme.md': 'one\n', 'src/a.ts': 'a\n' })
    const { path, worktree } = await inWorktree()
    expect(path).toBe(join(dataFolder, `worktrees/0198c0de-0000-7000-8000-000000000001/${TASK}/gen-1`))
    expect(worktree).toEqual({
      root: path,
      repository: join(repository, '.git'),
      branch: BRANCH,
      baseCommit: git(repository, 'rev-parse', 'main'),
    })
    expect(git(path, 'symbolic-ref', '--short', 'HEAD')).toBe(BRANCH)
    expect(readFileSync(join(path, 'src/a.ts'), 'utf8')).toBe('a\n')
    expect(git(path, 'status', '--porcelain')).toBe('')
    expect(git(repository, 'status', '--porcelain')).toBe('')
  })

  test('of the same generation is resumed unchanged', async () => {
    makeRepository(join(home, 'repo'))
    const first = await inWorktree()
    commit(first.path, { 'b.ts': 'b\n' })
    put(first.path, 'half-done.ts', 'half')
    git(first.path, 'switch', '--quiet', '-c', 'own-idea')
    commit(join(home, 'repo'), { 'c.ts': 'c\n' })
    expect(await inWorktree()).toEqual(first)
    expect(readFileSync(join(first.path, 'half-done.ts'), 'utf8')).toBe('half')
    expect(git(first.path, 'symbolic-ref', '--short', 'HEAD')).toBe('own-idea')
  })

  test('of the next generation starts afresh and leaves the previous one unchanged', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const zombie = await inWorktree()
    const left = commit(zombie.path, { 'zombie.ts': 'z\n' })
    const base = commit(repository, { 'news.ts': 'n\n' })
    const second = await inWorktree({ generation: 2 })
    expect(second.worktree).toMatchObject({ branch: `baton/${TASK}/gen-2`, baseCommit: base })
    expect(readdirSync(second.path).sort()).toEqual(['.git', 'news.ts', 'readme.md'])
    commit(zombie.path, { 'zombie.ts': 'still here\n' })
    expect(git(second.path, 'rev-parse', 'HEAD')).toBe(base)
    expect(git(repository, 'rev-parse', `${BRANCH}~1`)).toBe(left)
  })

  test('starts from the requested branch', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const old = git(repository, 'rev-parse', 'HEAD')
    git(repository, 'branch', 'release')
    commit(repository, { 'c.ts': 'c\n' })
    expect((await inWorktree({ baseBranch: 'release' })).worktree!.baseCommit).toBe(old)
  })

  test('lets an agent work in the configured subfolder of it', async () => {
    makeRepository(join(home, 'repo'), { 'packages/web/index.ts': '' })
    const { path, worktree } = await inWorktree({ cwd: 'repo/packages/web' })
    expect(path).toBe(join(worktree!.root, 'packages/web'))
    expect(readdirSync(path)).toEqual(['index.ts'])
  })

  test('belongs to the agent when there is no task', async () => {
    makeRepository(join(home, 'repo'))
    const { path, worktree } = await inWorktree({ taskUuid: null, generation: 0 })
    expect(worktree!.branch).toBe('baton/agent-dev-1/gen-0')
    expect((await inWorktree({ taskUuid: null, generation: 0 })).path).toBe(path)
    expect((await inWorktree({ taskUuid: null, generation: 0, agentSlug: 'dev.2' })).path).not.toBe(path)
  })

  test('has a valid branch whatever the task is called', async () => {
    makeRepository(join(home, 'repo'))
    for (const taskUuid of ['-x', 'a..b', 'x.lock', 'a b~^:?*[\\', '@{1}', '', '../../escape', '$(id)']) {
      const { path, worktree } = await inWorktree({ taskUuid })
      expect(isUnder(path, join(dataFolder, 'worktrees'))).toBe(true)
      expect(git(path, 'symbolic-ref', '--short', 'HEAD')).toBe(worktree!.branch)
    }
  })

  test('runs no hook and prompts for nothing', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const hook = `#!/bin/sh\ntouch ${join(home, 'hook-ran')}\n`
    put(repository, '.git/hooks/post-checkout', hook)
    chmodSync(join(repository, '.git/hooks/post-checkout'), 0o755)
    put(repository, '.git/monitor', hook)
    chmodSync(join(repository, '.git/monitor'), 0o755)
    git(repository, 'config', 'core.fsmonitor', join(repository, '.git/monitor'))
    const folder = await inWorktree()
    await saveOf(folder.worktree!)
    await cleanFolder(ours, folder, 'when_clean')
    expect(existsSync(join(home, 'hook-ran'))).toBe(false)
  })

  test('is completed when git was stopped halfway', async () => {
    const repository = makeRepository(join(home, 'repo'), { 'a.ts': 'a\n', 'b.ts': 'b\n' })
    const root = join(dataFolder, `worktrees/0198c0de-0000-7000-8000-000000000001/${TASK}/gen-1`)
    mkdirSync(join(root, '..'), { recursive: true })
    git(repository, 'worktree', 'add', '--quiet', '-b', BRANCH, root)
    rmSync(join(root, 'b.ts'))
    put(repository, '.git/worktrees/gen-1/index.lock', '')
    const { path } = await inWorktree()
    expect(path).toBe(root)
    expect(readdirSync(path).sort()).toEqual(['.git', 'a.ts', 'b.ts'])
    expect(git(path, 'status', '--porcelain')).toBe('')
  })

  test('is found again even if its link to the repository was lost', async () => {
    makeRepository(join(home, 'repo'))
    const { path } = await inWorktree()
    put(path, 'work.ts', 'work')
    rmSync(join(path, '.git'))
    expect((await inWorktree()).path).toBe(path)
    expect(git(path, 'status', '--porcelain')).toBe('?? work.ts')
  })

  test('that was deleted comes back with what was committed', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const base = git(repository, 'rev-parse', 'HEAD')
    const { path } = await inWorktree()
    const made = commit(path, { 'b.ts': 'b\n' })
    rmSync(path, { recursive: true })
    const again = await inWorktree()
    expect(git(again.path, 'rev-parse', 'HEAD')).toBe(made)
    expect(again.worktree!.baseCommit).toBe(base)
  })

  test('that was deleted leaves a branch to commits that were on none', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const { path } = await inWorktree()
    git(path, 'checkout', '--quiet', '--detach')
    const made = commit(path, { 'b.ts': 'b\n' })
    rmSync(path, { recursive: true })
    await inWorktree()
    const lost = branches().filter((name) => name.startsWith(`${BRANCH}-lost-`))
    expect(lost).toHaveLength(1)
    expect(git(repository, 'rev-parse', lost[0]!)).toBe(made)
  })

  test('is not treated as empty when it cannot be read', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const { path } = await inWorktree()
    put(path, 'work.ts', 'work')
    const mark = join(repository, '.git/worktrees/gen-1/baton-base')
    // A folder in its place is the one thing that no user, not even root, can read as a file.
    renameSync(mark, `${mark}.aside`)
    mkdirSync(mark)
    await expect(inWorktree()).rejects.toThrow('EISDIR')
    const [swept] = (await sweepWorktrees(ours, dataFolder, async () => false)).kept
    expect(swept!.why).toContain('EISDIR')
    expect(existsSync(join(path, 'work.ts'))).toBe(true)
  })

  test('of many tasks at once is made for each, once', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const asked = Array.from({ length: 24 }, (_, i) => inWorktree({ taskUuid: `task-${i % 12}` }))
    const made = await Promise.all(asked)
    expect(new Set(made.map(({ path }) => path)).size).toBe(12)
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(13)
    for (const { path } of made) expect(git(path, 'status', '--porcelain')).toBe('')
  })

  test('waits while another process holds git’s lock files', async () => {
    const repository = makeRepository(join(home, 'repo'))
    put(repository, `.git/refs/heads/${BRANCH}.lock`, '')
    let tries = 0
    const unlockedAtThird: Git = (folder, args, timeoutMs) => {
      const isAdd = args[0] === 'worktree' && args[1] === 'add'
      if (isAdd && ++tries === 3) rmSync(join(repository, `.git/refs/heads/${BRANCH}.lock`))
      return ours(folder, args, timeoutMs)
    }
    const { path } = await prepareFolder(unlockedAtThird, request({ cwd: 'repo', workspace: 'git_worktree' }))
    expect(tries).toBe(3)
    expect(git(path, 'symbolic-ref', '--short', 'HEAD')).toBe(BRANCH)
  })
})

describeGit('a worktree is refused', () => {
  const refusal = (more: Partial<FolderRequest> = {}) =>
    refusalOf({ cwd: 'repo', workspace: 'git_worktree', ...more })

  test('without a repository, or a commit to start from', async () => {
    mkdirSync(join(home, 'plain'))
    expect(await refusal({ cwd: null })).toBe(
      'git_worktree needs a cwd: the repository in which the agent works.',
    )
    expect(await refusal({ cwd: 'plain' })).toBe(
      '~/plain is not in a git repository; git_worktree needs one (git init, and a first commit).',
    )
    git(join(home, 'plain'), 'init', '--quiet')
    expect(await refusal({ cwd: 'plain' })).toBe(
      'The repository at ~/plain has no commit yet; create a first one.',
    )
    expect(await refusal({ cwd: 'plain/.git' })).toBe(
      "~/plain/.git is inside git's own files; choose a folder in which files are checked out.",
    )
  })

  test('with a base that does not exist, whatever it looks like', async () => {
    makeRepository(join(home, 'repo'))
    for (const baseBranch of ['nope', '-d', '--help', '', 'a b'])
      expect(await refusal({ baseBranch })).toBe(
        `The repository at ~/repo has no branch ${JSON.stringify(baseBranch)} to start from.`,
      )
    expect(branches()).toEqual(['main'])
  })

  test('for a folder that was never committed', async () => {
    makeRepository(join(home, 'repo'))
    mkdirSync(join(home, 'repo/new'))
    expect(await refusal({ cwd: 'repo/new' })).toBe(
      '~/repo/new is not in the commit the worktree starts from; commit it first.',
    )
    expect(branches()).toEqual(['main'])
  })

  test('when the repository is larger than where agents may work', async () => {
    makeRepository(join(home, 'repo'), { 'packages/web/index.ts': '' })
    const allowedRoots = [join(home, 'repo/packages')]
    expect((await prepare({ cwd: 'repo/packages/web', allowedRoots })).path).toBe(
      join(home, 'repo/packages/web'),
    )
    expect(await refusal({ cwd: 'repo/packages/web', allowedRoots })).toBe(
      '~/repo is outside the folders in which agents may work.',
    )
  })

  test('when another branch is in the way, immediately', async () => {
    const repository = makeRepository(join(home, 'repo'))
    git(repository, 'branch', 'baton')
    let adds = 0
    const counted: Git = (folder, args, timeoutMs) => {
      if (args[0] === 'worktree' && args[1] === 'add') adds++
      return ours(folder, args, timeoutMs)
    }
    const asked = prepareFolder(counted, request({ cwd: 'repo', workspace: 'git_worktree' }))
    await expect(asked).rejects.toThrow(`The branch baton conflicts with ${BRANCH}; rename it.`)
    expect(adds).toBe(1)
  })

  test('when its branch is checked out elsewhere', async () => {
    const repository = makeRepository(join(home, 'repo'))
    git(repository, 'switch', '--quiet', '-c', BRANCH)
    expect(await refusal()).toBe(`The branch ${BRANCH} is checked out at ~/repo; check out another there.`)
  })

  test('when its place has files that are not its own, and those stay', async () => {
    makeRepository(join(home, 'repo'))
    makeRepository(join(home, 'other'))
    const { path } = await inWorktree({ cwd: 'other' })
    put(path, 'work.ts', 'work')
    expect(await refusal()).toMatch(
      /is not a worktree of the repository at ~\/repo, but it contains files\.$/,
    )
    const plain = join(path, '../gen-2')
    put(plain, 'notes', 'mine')
    expect(await refusal({ generation: 2 })).toMatch(/but it contains files\.$/)
    expect([existsSync(join(path, 'work.ts')), existsSync(join(plain, 'notes'))]).toEqual([true, true])
  })

  test('where there is no git', async () => {
    makeRepository(join(home, 'repo'))
    const asked = prepareFolder(gitWith({ PATH: home }), request({ cwd: 'repo', workspace: 'git_worktree' }))
    await expect(asked).rejects.toThrow('git is not installed on this machine, and git_worktree needs it.')
    await expect(asked).rejects.toBeInstanceOf(FolderRefused)
  })
})

describeGit('the figures of a run', () => {
  test('come without the diff programs a repository names', async () => {
    const repository = makeRepository(join(home, 'repo'), {
      'a.ts': 'a\n',
      '.gitattributes': '*.ts diff=mine\n',
    })
    git(repository, 'config', 'diff.external', `touch ${join(home, 'ran')}; true`)
    git(repository, 'config', 'diff.mine.textconv', `touch ${join(home, 'ran')}; cat`)
    const { path, worktree } = await inWorktree()
    commit(path, { 'a.ts': 'b\n' })
    put(path, 'a.ts', 'c\n')
    const saved = await saveOf(worktree!)
    expect(await recordWork(ours, worktree!, worktree!.baseCommit, saved)).toMatchObject({
      committed: { commits: 2, insertions: 1, deletions: 1 },
    })
    expect(existsSync(join(home, 'ran'))).toBe(false)
  })
})

describeGit('a worktree is removed', () => {
  test('when nothing was done, together with its branch', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const folder = await inWorktree()
    expect(await cleanFolder(ours, folder, 'never')).toMatchObject({ isRemoved: false })
    expect(existsSync(folder.path)).toBe(true)
    expect(await cleanFolder(ours, folder, 'when_clean')).toEqual({
      isRemoved: true,
      why: null,
      isBranchDeleted: true,
    })
    expect(readdirSync(join(dataFolder, 'worktrees'))).toEqual([])
    expect(branches()).toEqual(['main'])
    expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1)
  })

  test('when all is committed, and its branch stays', async () => {
    const repository = makeRepository(join(home, 'repo'), { 'a.ts': 'a\n', '.gitignore': 'build/\n' })
    const folder = await inWorktree()
    const made = commit(folder.path, { 'b.ts': 'b\n' })
    put(folder.path, 'deep/build/out.js', 'made from it')
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({
      isRemoved: true,
      isBranchDeleted: false,
    })
    expect(existsSync(folder.path)).toBe(false)
    expect(git(repository, 'rev-parse', BRANCH)).toBe(made)
    const again = await inWorktree()
    expect([git(again.path, 'rev-parse', 'HEAD'), again.worktree!.baseCommit]).toEqual([
      made,
      folder.worktree!.baseCommit,
    ])
  })

  test('with a stash, which is the repository’s and stays', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const folder = await inWorktree()
    put(folder.path, 'readme.md', 'stashed work\n')
    git(folder.path, 'stash', '--quiet')
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({ isRemoved: true })
    expect(git(repository, 'show', 'stash@{0}:readme.md')).toBe('stashed work')
  })

  test('when its folder is deleted already, and its commits stay', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const folder = await inWorktree()
    const made = commit(folder.path, { 'b.ts': 'b\n' })
    rmSync(folder.path, { recursive: true })
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({
      isRemoved: true,
      isBranchDeleted: false,
    })
    expect(git(repository, 'rev-parse', BRANCH)).toBe(made)
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({ isRemoved: false })
  })

  test('unless its folder is deleted and its commits are on no branch', async () => {
    makeRepository(join(home, 'repo'))
    const folder = await inWorktree()
    git(folder.path, 'checkout', '--quiet', '--detach')
    commit(folder.path, { 'b.ts': 'b\n' })
    rmSync(folder.path, { recursive: true })
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({
      isRemoved: false,
      why: 'it has commits that are on no branch',
    })
  })

  test('but a plain folder never is', async () => {
    makeRepository(join(home, 'repo'))
    const folder = await prepare({ cwd: 'repo' })
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({ isRemoved: false })
    expect(existsSync(join(folder.path, 'readme.md'))).toBe(true)
  })
})

describeGit('a worktree is never removed', () => {
  const at = (path: string, ...args: string[]) => git(path, ...args)
  const left: [what: string, leave: (path: string) => void, why: RegExp][] = [
    ['a new file', (path) => put(path, 'new.ts', 'x'), /^1 file is not committed$/],
    ['a new file in a new folder', (path) => put(path, 'a/b/new.ts', 'x'), /^1 file is not committed$/],
    [
      'a new file beside ignored ones',
      (path) => {
        put(path, 'deep/build/out.js', 'ignored')
        put(path, 'deep/new.ts', 'x')
      },
      /^1 file is not committed$/,
    ],
    ['a file that is not ignored after all', (path) => put(path, 'build/keep.txt', 'x'), /^1 file/],
    [
      'a staged file',
      (path) => {
        put(path, 'new.ts', 'x')
        at(path, 'add', 'new.ts')
      },
      /^1 file/,
    ],
    [
      'a staged file whose copy was deleted',
      (path) => {
        put(path, 'new.ts', 'x')
        at(path, 'add', 'new.ts')
        rmSync(join(path, 'new.ts'))
      },
      /^1 file/,
    ],
    ['a changed file', (path) => put(path, 'readme.md', 'changed'), /^1 file/],
    ['a deleted file', (path) => rmSync(join(path, 'readme.md')), /^1 file/],
    ['a mode that was changed', (path) => chmodSync(join(path, 'readme.md'), 0o755), /^1 file/],
    [
      'a change git is configured to ignore',
      (path) => {
        at(path, 'update-index', '--assume-unchanged', 'readme.md')
        put(path, 'readme.md', 'changed')
      },
      /ignore changes to some of its files/,
    ],
    [
      'a change that was hidden from git',
      (path) => {
        at(path, 'update-index', '--skip-worktree', 'readme.md')
        put(path, 'readme.md', 'changed')
      },
      /ignore changes to some of its files/,
    ],
    [
      'new files that git is configured to hide',
      (path) => {
        at(path, 'config', 'status.showUntrackedFiles', 'no')
        put(path, 'new.ts', 'x')
      },
      /^1 file/,
    ],
    [
      'a commit that is on no branch',
      (path) => {
        at(path, 'checkout', '--quiet', '--detach')
        commit(path, { 'b.ts': 'b' })
      },
      /^it has commits that are on no branch$/,
    ],
    ['a repository in it', (path) => void makeRepository(join(path, 'inner')), /file/],
    [
      'a repository in its place',
      (path) => {
        rmSync(join(path, '.git'))
        makeRepository(path)
      },
      /no longer belongs to its repository/,
    ],
    [
      'files in it and the link to the repository deleted',
      (path) => {
        put(path, 'new.ts', 'x')
        rmSync(join(path, '.git'))
      },
      /no longer belongs to its repository/,
    ],
    [
      'a branch without a commit',
      (path) => void at(path, 'switch', '--quiet', '--orphan', 'empty'),
      /^its HEAD has no commit$/,
    ],
    [
      'a merge that is not finished',
      (path) => {
        at(path, 'switch', '--quiet', '-c', 'side')
        commit(path, { 'b.ts': 'b' })
        at(path, 'switch', '--quiet', BRANCH)
        at(path, 'merge', '--quiet', '--no-ff', '--no-commit', '-s', 'ours', 'side')
      },
      /unfinished git operation/,
    ],
    ['a lock on it', (path) => void at(path, 'worktree', 'lock', path), /locked/],
  ]

  test.each(left)('with %s', async (_what, leave, why) => {
    const repository = makeRepository(join(home, 'repo'), {
      'readme.md': 'one\n',
      '.gitignore': '**/build/*\n!build/keep.txt\n',
    })
    const folder = await inWorktree()
    leave(folder.path)
    const listing = () => readdirSync(folder.path, { recursive: true }).sort()
    const before = listing()
    const cleaned = await cleanFolder(ours, folder, 'when_clean')
    expect(cleaned).toMatchObject({ isRemoved: false, isBranchDeleted: false })
    expect(cleaned.why).toMatch(why)
    expect(listing()).toEqual(before)
    const swept = await sweepWorktrees(ours, dataFolder, async () => false)
    expect([swept.removed, swept.kept.length]).toEqual([[], 1])
    expect(listing()).toEqual(before)
    expect(git(repository, 'rev-parse', '--verify', BRANCH)).toBeTruthy()
  })

  test('by the next generation, either', async () => {
    makeRepository(join(home, 'repo'))
    const first = await inWorktree()
    put(first.path, 'half-done.ts', 'half')
    const second = await inWorktree({ generation: 2 })
    await cleanFolder(ours, second, 'when_clean')
    expect(readFileSync(join(first.path, 'half-done.ts'), 'utf8')).toBe('half')
  })
})

describeGit('the branch of a worktree', () => {
  test('stays when it is checked out elsewhere', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const folder = await inWorktree()
    git(folder.path, 'checkout', '--quiet', '--detach')
    git(repository, 'switch', '--quiet', BRANCH)
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({
      isRemoved: true,
      isBranchDeleted: false,
    })
    expect(branches()).toContain(BRANCH)
  })

  test('stays beside another on which the agent left its commits', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const folder = await inWorktree()
    git(folder.path, 'switch', '--quiet', '-c', 'own-idea')
    const made = commit(folder.path, { 'b.ts': 'b' })
    expect(await cleanFolder(ours, folder, 'when_clean')).toMatchObject({
      isRemoved: true,
      isBranchDeleted: true,
    })
    expect(git(repository, 'rev-parse', 'own-idea')).toBe(made)
  })
})

describeGit('a sweep', () => {
  test('removes what is no longer needed, and reports why the rest stays', async () => {
    makeRepository(join(home, 'repo'))
    const [idle, needed, dirty, gone] = await Promise.all(
      ['idle', 'needed', 'dirty', 'gone'].map((taskUuid) => inWorktree({ taskUuid })),
    )
    const forAgent = await inWorktree({ taskUuid: null, generation: 0 })
    put(dirty!.path, 'new.ts', 'x')
    makeRepository(join(home, 'lost'))
    const orphan = await inWorktree({ cwd: 'lost', taskUuid: 'orphan' })
    rmSync(join(home, 'lost'), { recursive: true })
    rmSync(gone!.path, { recursive: true })
    const asked: WorktreePlace[] = []
    const swept = await sweepWorktrees(ours, dataFolder, async (place) => {
      asked.push(place)
      return place.taskUuid === 'needed'
    })
    expect(swept.removed.sort()).toEqual([idle!.path, forAgent.path].sort())
    expect(swept.kept.sort((one, other) => (one.root < other.root ? -1 : 1))).toEqual([
      { root: dirty!.path, why: '1 file is not committed' },
      { root: needed!.path, why: 'it is still needed' },
      { root: orphan.path, why: 'its repository cannot be found' },
    ])
    expect(asked).toContainEqual({
      workspaceId: '0198c0de-0000-7000-8000-000000000001',
      taskUuid: null,
      generation: 0,
      root: forAgent.path,
    })
    expect(existsSync(join(orphan.path, 'readme.md'))).toBe(true)
  })

  test('of nothing finds nothing', async () => {
    expect(await sweepWorktrees(ours, dataFolder, async () => false)).toEqual({ removed: [], kept: [] })
  })

  test('removes what git left halfway', async () => {
    const repository = makeRepository(join(home, 'repo'))
    const { path } = await inWorktree()
    rmSync(join(repository, '.git/worktrees/gen-1/baton-base'))
    rmSync(join(path, 'readme.md'))
    expect((await sweepWorktrees(ours, dataFolder, async () => false)).removed).toEqual([path])
    expect(existsSync(path)).toBe(false)
  })

  test('removes no folder of a run that starts meanwhile', async () => {
    makeRepository(join(home, 'repo'))
    await inWorktree()
    let run: ReturnType<typeof inWorktree> | undefined
    await sweepWorktrees(ours, dataFolder, async () => {
      run = inWorktree()
      // The run has to wait for the sweep; otherwise it would be done long before this.
      await Promise.race([run, pause(300)])
      return false
    })
    expect(readdirSync((await run!).path)).toContain('readme.md')
  })
})
