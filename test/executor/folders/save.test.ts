import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WorkNotSaved } from '../../../src/executor/folders/found-work.ts'
import { commit, git, makeRepository, put } from '../../support/git.ts'
import { filesAt, refsIn, statusOf, useWorktrees } from '../../support/worktrees.ts'

/** What a run left uncommitted is committed on the branch of its generation: in real repositories. */

const here = useWorktrees({
  'readme.md': 'one\n',
  'src/a.ts': 'a\n',
  'src/b.ts': 'b\n',
  '.gitignore': 'build/\n',
})
const BRANCH = 'baton/t/gen-1'
const WHOLE = { leftOut: [], leftOutCount: 0, unfinished: null, afterResult: null, replaced: [] }
const tip = (name = BRANCH) => git(here.repository, 'rev-parse', '--verify', name)

describe('saved work', () => {
  test('has what was changed, deleted, renamed, staged and new, and nothing that is ignored', async () => {
    const worktree = await here.open()
    const { root } = worktree
    put(root, 'src/a.ts', 'changed\n')
    rmSync(join(root, 'src/b.ts'))
    git(root, 'mv', 'readme.md', 'README')
    put(root, 'new/deep/file.ts', 'new\n')
    put(root, 'staged.ts', 'staged\n')
    git(root, 'add', 'staged.ts')
    put(root, 'build/out.js', 'ignored')
    put(root, 'build/kept.js', 'forced\n')
    git(root, 'add', '--force', 'build/kept.js')
    put(root, 'announced.ts', 'announced\n')
    git(root, 'add', '--intent-to-add', 'announced.ts')
    const saved = await here.save(worktree)
    expect(saved).toEqual({ ...WHOLE, commit: tip(), branch: BRANCH, committedFiles: 8 })
    expect(filesAt(root, saved.commit)).toEqual({
      ...{ '.gitignore': 'build/', README: 'one', 'src/a.ts': 'changed', 'new/deep/file.ts': 'new' },
      ...{ 'staged.ts': 'staged', 'build/kept.js': 'forced', 'announced.ts': 'announced' },
    })
    expect(git(root, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`)
    expect(statusOf(root)).toBe('')
    expect(readFileSync(join(root, 'build/out.js'), 'utf8')).toBe('ignored')
  })

  test('is written by the agent and committed by Baton, without hooks and without a signature', async () => {
    const worktree = await here.open()
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'reference-transaction',
      'post-index-change',
    ]) {
      put(here.repository, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${join(here.home, 'ran')}\nexit 1\n`)
      chmodSync(join(here.repository, `.git/hooks/${hook}`), 0o755)
    }
    git(here.repository, 'config', 'commit.gpgSign', 'true')
    git(here.repository, 'config', 'gpg.program', 'false')
    put(worktree.root, 'a.ts', 'a')
    const saved = await here.save(worktree, { author: { name: '<dev>\n', email: '' } })
    expect(git(worktree.root, 'log', '-1', '--format=%an <%ae>|%cn <%ce>|%G?|%B', saved.commit)).toBe(
      'dev <agent@localhost>|Baton <baton@localhost>|N|Save the work of dev',
    )
    expect(existsSync(join(here.home, 'ran'))).toBe(false)
  })

  test('is the agent’s own commit when it committed all', async () => {
    const worktree = await here.open()
    const made = commit(worktree.root, { 'a.ts': 'a' })
    expect(await here.save(worktree)).toEqual({ ...WHOLE, commit: made, branch: BRANCH, committedFiles: 0 })
  })

  test('is the same when it is saved again', async () => {
    const worktree = await here.open()
    put(worktree.root, 'a.ts', 'a')
    const first = await here.save(worktree)
    expect(await here.save(worktree)).toEqual({ ...first, committedFiles: 0 })
    expect(git(worktree.root, 'rev-list', '--count', 'HEAD')).toBe('2')
  })

  test('stays, whatever becomes of its branch', async () => {
    const worktree = await here.open()
    put(worktree.root, 'a.ts', 'a')
    const { commit: saved } = await here.save(worktree)
    git(worktree.root, 'reset', '--quiet', '--hard', 'HEAD~1')
    git(here.repository, '-c', 'gc.pruneExpire=now', 'reflog', 'expire', '--expire=now', '--all')
    git(here.repository, 'gc', '--quiet', '--prune=now')
    expect(git(here.repository, 'rev-parse', 'refs/baton/t/gen-1/saved')).toBe(saved)
    put(worktree.root, 'b.ts', 'b')
    const again = await here.save(worktree)
    expect(again.replaced).toEqual([`refs/baton/t/gen-1/replaced-${saved.slice(0, 12)}`])
    expect(git(here.repository, 'rev-parse', again.replaced[0]!)).toBe(saved)
  })

  test('has links as links, and modes', async () => {
    const worktree = await here.open()
    const { root } = worktree
    writeFileSync(join(here.home, 'outside'), 'outside')
    symlinkSync(join(here.home, 'outside'), join(root, 'link'))
    symlinkSync('nowhere', join(root, 'dangling'))
    rmSync(join(root, 'src'), { recursive: true })
    mkdirSync(join(here.home, 'other'))
    put(here.home, 'other/a.ts', 'not ours')
    symlinkSync(join(here.home, 'other'), join(root, 'src'))
    put(root, 'run.sh', '#!/bin/sh\n')
    chmodSync(join(root, 'run.sh'), 0o755)
    chmodSync(join(root, 'readme.md'), 0o755)
    const saved = await here.save(worktree)
    const modes = git(root, 'ls-tree', '-r', '--format=%(objectmode) %(path)', saved.commit).split('\n')
    expect(modes).toEqual([
      '100644 .gitignore',
      '120000 dangling',
      '120000 link',
      '100755 readme.md',
      '100755 run.sh',
      '120000 src',
    ])
  })

  test('has files of any name', async () => {
    const worktree = await here.open()
    const { root } = worktree
    const names = [
      'a\nb',
      '"quoted"',
      '-n',
      '--force',
      ':(exclude)x',
      ':!y',
      'in it ',
      '*',
      'ümläut',
      'back\\slash',
    ]
    for (const name of names) put(root, name, 'x')
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'bytes')
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({ committedFiles: names.length + 1, leftOut: [] })
    const listed = git(root, 'ls-tree', '-z', '--name-only', saved.commit).split('\0')
    expect(listed).toEqual(expect.arrayContaining(names))
    expect(listed).toContain('f\ufffd\ufffd')
    expect(statusOf(root)).toBe('')
  })

  test('has a file in place of a folder, and a folder in place of a file', async () => {
    const worktree = await here.open()
    const { root } = worktree
    rmSync(join(root, 'src'), { recursive: true })
    put(root, 'src', 'a file now')
    rmSync(join(root, 'readme.md'))
    put(root, 'readme.md/part.md', 'a folder now')
    expect(filesAt(root, (await here.save(worktree)).commit)).toEqual({
      ...{ '.gitignore': 'build/', src: 'a file now', 'readme.md/part.md': 'a folder now' },
    })
  })

  test('has what git was told to take for unchanged', async () => {
    const worktree = await here.open()
    const { root } = worktree
    git(root, 'update-index', '--assume-unchanged', 'src/a.ts')
    git(root, 'update-index', '--skip-worktree', 'src/b.ts')
    for (const name of ['src/a.ts', 'src/b.ts']) put(root, name, 'changed')
    const files = filesAt(root, (await here.save(worktree)).commit)
    expect(files).toMatchObject({ 'src/a.ts': 'changed', 'src/b.ts': 'changed' })
  })

  test('has a change within the same moment and of the same size', async () => {
    const worktree = await here.open()
    for (let i = 0; i < 5; i++) {
      put(worktree.root, 'src/a.ts', `${i}\n`)
      git(worktree.root, 'add', 'src/a.ts')
      put(worktree.root, 'src/a.ts', `${i + 5}\n`)
      expect(filesAt(worktree.root, (await here.save(worktree)).commit)['src/a.ts']).toBe(`${i + 5}`)
    }
  })

  test('has line ends as the repository wants them, also where it refuses others', async () => {
    const worktree = await here.open()
    git(worktree.root, 'config', 'core.autocrlf', 'input')
    git(worktree.root, 'config', 'core.safecrlf', 'true')
    put(worktree.root, 'dos.txt', 'one\r\ntwo\r\n')
    const { commit: saved } = await here.save(worktree)
    expect(git(worktree.root, 'cat-file', '-s', `${saved}:dos.txt`)).toBe('8')
    expect(statusOf(worktree.root)).toBe('')
  })

  test('is found in worktrees with settings of their own, and with borrowed objects', async () => {
    git(here.home, 'clone', '--quiet', '--shared', here.repository, join(here.home, 'borrower'))
    git(join(here.home, 'borrower'), 'config', 'extensions.worktreeConfig', 'true')
    const worktree = await here.open({ cwd: join(here.home, 'borrower') })
    git(worktree.root, 'config', '--worktree', 'core.fileMode', 'false')
    put(worktree.root, 'a.ts', 'a')
    expect(filesAt(worktree.root, (await here.save(worktree)).commit)).toMatchObject({ 'a.ts': 'a' })
  })

  test('of a sparse checkout has the files outside of it as they were', async () => {
    for (const cone of ['--cone', '--no-cone']) {
      const worktree = await here.open({ taskUuid: cone.replaceAll('-', '') })
      const { root } = worktree
      commit(root, { 'docs/d.md': 'd', 'lib/l.ts': 'l' })
      git(root, 'sparse-checkout', 'set', cone, 'src')
      expect(existsSync(join(root, 'lib'))).toBe(false)
      put(root, 'src/a.ts', 'changed')
      put(root, 'docs/outside.md', 'new')
      const { commit: saved } = await here.save(worktree)
      expect(filesAt(root, saved)).toMatchObject({
        ...{ 'src/a.ts': 'changed', 'docs/outside.md': 'new', 'docs/d.md': 'd', 'lib/l.ts': 'l' },
      })
      rmSync(join(git(root, 'rev-parse', '--absolute-git-dir'), 'index'))
      put(root, 'src/c.ts', 'c')
      const again = filesAt(root, (await here.save(worktree)).commit)
      expect(again).toEqual({ ...filesAt(root, saved), 'src/c.ts': 'c' })
    }
  })
})

describe('work is saved', () => {
  test('past the locks that a killed git left', async () => {
    const worktree = await here.open()
    const record = git(worktree.root, 'rev-parse', '--absolute-git-dir')
    put(worktree.root, 'a.ts', 'a')
    put(here.repository, `.git/refs/heads/${BRANCH}.lock`, '')
    put(here.repository, '.git/refs/baton/t/gen-1/saved.lock', '')
    for (const name of ['index.lock', 'HEAD.lock', 'baton-index', 'baton-index.lock']) put(record, name, '')
    expect(await here.save(worktree)).toMatchObject({ committedFiles: 1 })
    git(worktree.root, 'commit', '--quiet', '--allow-empty', '-m', 'goes on')
    expect(existsSync(join(record, 'baton-index'))).toBe(false)
  })

  test('after a crash at any point, once', async () => {
    const worktree = await here.open()
    git(worktree.root, 'switch', '--quiet', '-c', 'own-idea')
    put(worktree.root, 'a.ts', 'a')
    const real = here.ours
    const calls: string[] = []
    for (let at = 1; ; at++) {
      let left = at
      // From the first write on.
      here.ours = (folder, args, ...rest) => {
        calls.push(args[0]!)
        if ((calls.at(-1) === 'write-tree' || left < at) && --left === 0) throw new Error('crash')
        return real(folder, args, ...rest)
      }
      const saved = await here.save(worktree).catch((error: Error) => error)
      here.ours = real
      if (saved instanceof Error) expect(saved).toBeInstanceOf(WorkNotSaved)
      else {
        expect(saved).toMatchObject({ replaced: [], commit: tip() })
        break
      }
      expect(readFileSync(join(worktree.root, 'a.ts'), 'utf8')).toBe('a')
      git(worktree.root, 'status')
    }
    expect(calls).toContain('commit-tree')
    expect(git(here.repository, 'rev-list', '--count', `main..${BRANCH}`)).toBe('1')
    expect(refsIn(here.repository, 'refs/baton')).toEqual(['refs/baton/t/gen-1/saved'])
  })

  test('whatever git folder is in place of its link', async () => {
    const worktree = await here.open()
    rmSync(join(worktree.root, '.git'))
    put(worktree.root, 'a.ts', 'a')
    expect(await here.save(worktree)).toMatchObject({ committedFiles: 1, leftOut: [] })
    expect(statusOf(worktree.root)).toBe('')
    rmSync(join(worktree.root, '.git'))
    put(worktree.root, 'b.ts', 'b')
    makeRepository(worktree.root, {})
    expect(await here.save(worktree)).toMatchObject({
      committedFiles: 1,
      leftOut: [{ path: '.git/', why: 'repository' }],
    })
  })

  test('as commits when the folder is gone, unless nothing was committed', async () => {
    const worktree = await here.open()
    const made = commit(worktree.root, { 'a.ts': 'a' })
    rmSync(worktree.root, { recursive: true })
    expect(await here.save(worktree)).toMatchObject({ commit: made, committedFiles: 0 })
    const other = await here.open({ taskUuid: 'other' })
    rmSync(other.root, { recursive: true })
    await expect(here.save(other)).rejects.toThrow(
      `The work in ${other.root} could not be saved: the folder is gone.`,
    )
  })

  test('or refused in a sentence for people', async () => {
    const worktree = await here.open()
    put(worktree.root, 'a.ts', 'a')
    git(worktree.root, 'branch', '-m', `${BRANCH}/mine`)
    const error = await here.save(worktree).catch((one) => one)
    expect(error).toBeInstanceOf(WorkNotSaved)
    expect(error.message).toMatch(/^The work in .+ could not be saved: .+\.$/)
    expect(filesAt(worktree.root, 'refs/baton/t/gen-1/saved')).toMatchObject({ 'a.ts': 'a' })
    await expect(here.save({ ...worktree, branch: 'main' })).rejects.toThrow(WorkNotSaved)
  })
})
