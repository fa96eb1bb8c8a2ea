import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { heaviestFolders } from '../../../src/executor/folders/heaviest.ts'
import { BOUNDS, isNamedLikeSecret } from '../../../src/executor/folders/left-out.ts'
import { commit, git, makeRepository, put } from '../../support/git.ts'
import { filesAt, SECRET, statusOf, useWorktrees } from '../../support/worktrees.ts'

/** What is not committed when work is saved: it is named, and stays in the folder. */

const here = useWorktrees({ 'readme.md': 'one\n', 'config.json': '{}\n' })
const reasons = ({ leftOut }: { leftOut: { path: string; why: string }[] }) =>
  Object.fromEntries(leftOut.map(({ path, why }) => [path, why]))

describe('left out are', () => {
  test('new and changed files with a known secret, also staged ones and across the pieces that are read', async () => {
    const worktree = await here.open()
    const { root } = worktree
    put(root, 'config.json', `{"key":"${SECRET}"}`)
    put(root, 'new.txt', `token ${Buffer.from(SECRET).toString('base64')}`)
    put(root, 'border.txt', `${'x'.repeat(64 * 1024 - 7)}${SECRET}`)
    put(root, `named-${SECRET}.txt`, 'x')
    symlinkSync(`/nowhere/${SECRET}`, join(root, 'link'))
    put(root, 'staged.txt', SECRET)
    git(root, 'add', 'staged.txt', 'config.json')
    put(root, 'fine.txt', SECRET.slice(0, -1))
    const saved = await here.save(worktree)
    expect(reasons(saved)).toEqual({
      ...{ 'config.json': 'secret', 'new.txt': 'secret', 'border.txt': 'secret', 'staged.txt': 'secret' },
      ...{ link: 'secret', 'named-[redacted].txt': 'secret' },
    })
    expect(saved).toMatchObject({ leftOutCount: 6, committedFiles: 1 })
    expect(filesAt(root, saved.commit)).toMatchObject({
      'config.json': '{}',
      'fine.txt': SECRET.slice(0, -1),
    })
    expect(git(root, 'log', '--all', '-S', SECRET, '--format=%H')).toBe('')
    expect(statusOf(root).split('\n')).toContain('M config.json')
    expect(await here.save(worktree)).toMatchObject({ commit: saved.commit, leftOutCount: 6 })
  })

  test('new files that are named like files with secrets', async () => {
    commit(here.repository, { 'tracked.pem': 'known' })
    const worktree = await here.open()
    for (const name of [
      '.env',
      'deep/.env.local',
      'a.pem',
      'id_ed25519',
      '.env.example',
      'envelope.ts',
      'keys.ts',
    ])
      put(worktree.root, name, 'x')
    put(worktree.root, 'tracked.pem', 'changed')
    const saved = await here.save(worktree)
    const why = 'secret_name'
    expect(reasons(saved)).toEqual({ '.env': why, 'deep/.env.local': why, 'a.pem': why, id_ed25519: why })
    expect(filesAt(worktree.root, saved.commit)).toMatchObject({
      '.env.example': 'x',
      'tracked.pem': 'changed',
    })
    const names = ['.npmrc', '.netrc', 'prod.env', 'x.KEY', 'credentials.json', 'cert.pfx', 'id_rsa']
    expect(names.every(isNamedLikeSecret)).toBe(true)
    const others = ['id_rsa.pub', 'key.ts', '.env.sample', '.env.template', 'environment.md', 'monkey']
    expect(others.some(isNamedLikeSecret)).toBe(false)
  })

  test('new files that are too large, too many or too much together', async () => {
    const worktree = await here.open()
    const { root } = worktree
    put(root, 'core.dump', '')
    truncateSync(join(root, 'core.dump'), 50 * 1024 * 1024)
    put(root, 'src/new.ts', 'new')
    for (let i = 0; i < 30; i++) put(root, `app/node_modules/m${i % 3}/f${i}.js`, 'x')
    for (let i = 0; i < 3; i++) put(root, `app/src/f${i}.js`, 'x')
    for (let i = 0; i < 4; i++) put(root, `media/m${i}`, 'x'.repeat(300))
    const bounds = { ...BOUNDS, mostFiles: 20, mostBytesTogether: 1_000 }
    const saved = await here.save(worktree, { bounds })
    expect(saved.leftOut).toEqual([
      { path: 'app/node_modules/', why: 'too_many', files: 30 },
      { path: 'core.dump', why: 'too_large', bytes: 50 * 1024 * 1024 },
      { path: 'media/', why: 'too_much', files: 4 },
    ])
    expect(saved).toMatchObject({ leftOutCount: 35, committedFiles: 4 })
  })

  test('10,000 new files in a folder, and not the work beside them', async () => {
    const worktree = await here.open()
    mkdirSync(join(worktree.root, 'cache'))
    for (let i = 0; i < 10_000; i++) writeFileSync(join(worktree.root, `cache/${i}`), 'x')
    put(worktree.root, 'a.ts', 'a')
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({ committedFiles: 1, leftOutCount: 10_000 })
    expect(saved.leftOut).toEqual([{ path: 'cache/', why: 'too_many', files: 10_000 }])
  })

  test('files whose filter Baton does not run, and not those whose filter it runs', async () => {
    commit(here.repository, {
      '.gitattributes': '*.bin filter=local\n*.up filter=upper\n*.raw filter=unknown\n',
    })
    git(here.repository, 'config', 'filter.local.clean', `touch ${join(here.home, 'ran')}; cat`)
    appendFileSync(join(here.home, '.gitconfig'), '[filter "upper"]\n\tclean = tr a-z A-Z\n')
    const worktree = await here.open()
    for (const name of ['a.bin', 'b.up', 'c.raw', 'd.txt']) put(worktree.root, name, 'text')
    const saved = await here.save(worktree)
    expect(reasons(saved)).toEqual({ 'a.bin': 'filter', 'c.raw': 'filter' })
    expect(filesAt(worktree.root, saved.commit)).toMatchObject({ 'b.up': 'TEXT', 'd.txt': 'text' })
    expect(existsSync(join(here.home, 'ran'))).toBe(false)
  })

  test('repositories inside, with and without commits, also staged ones', async () => {
    const worktree = await here.open()
    const { root } = worktree
    git(root, 'init', '--quiet', 'empty')
    put(root, 'empty/in-it.ts', 'x')
    makeRepository(join(root, 'deep/inner'))
    makeRepository(join(root, 'staged'))
    git(root, 'add', 'staged')
    rmSync(join(root, 'config.json'))
    makeRepository(join(root, 'config.json'))
    put(root, 'a.ts', 'a')
    const saved = await here.save(worktree)
    const why = 'repository'
    expect(reasons(saved)).toEqual({ 'empty/': why, 'deep/inner/': why, staged: why, 'config.json': why })
    expect(Object.keys(filesAt(root, saved.commit))).toEqual(['a.ts', 'config.json', 'readme.md'])
  })

  test('but not the commit of a submodule, new or changed', async () => {
    const other = makeRepository(join(here.home, 'other'))
    const worktree = await here.open()
    const { root } = worktree
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
    const first = await here.save(worktree)
    expect(first).toMatchObject({ committedFiles: 2, leftOut: [] })
    const moved = commit(join(root, 'sub'), { 'b.ts': 'b' })
    const second = await here.save(worktree)
    expect(second).toMatchObject({ committedFiles: 1, leftOut: [] })
    expect(git(root, 'rev-parse', `${second.commit}:sub`)).toBe(moved)
  })

  test('what is neither a file nor a link', async () => {
    const worktree = await here.open()
    rmSync(join(worktree.root, 'config.json'))
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(worktree.root, 'config.json')])
    put(worktree.root, 'a.ts', 'a')
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({
      committedFiles: 1,
      leftOut: [{ path: 'config.json', why: 'special_file' }],
    })
  })

  test.skipIf(process.getuid?.() === 0)('files and folders that cannot be read', async () => {
    const worktree = await here.open()
    put(worktree.root, 'sealed', 'x')
    put(worktree.root, 'shut/in-it', 'x')
    for (const name of ['sealed', 'shut']) chmodSync(join(worktree.root, name), 0)
    const saved = await here.save(worktree)
    chmodSync(join(worktree.root, 'shut'), 0o700)
    expect(reasons(saved)).toEqual({ sealed: 'unreadable', 'shut/': 'unreadable' })
  })

  test('not files that vanish meanwhile, nor are others lost with them', async () => {
    const worktree = await here.open()
    put(worktree.root, 'gone.ts', 'x')
    put(worktree.root, 'a.ts', 'a')
    const real = here.ours
    here.ours = (folder, args, ...rest) => {
      if (args[0] === 'update-index' && args.includes('--add')) {
        rmSync(join(worktree.root, 'gone.ts'), { force: true })
        rmSync(join(worktree.root, 'readme.md'), { force: true })
      }
      return real(folder, args, ...rest)
    }
    const saved = await here.save(worktree)
    expect(saved.leftOut).toEqual([])
    expect(Object.keys(filesAt(worktree.root, saved.commit))).toEqual(['a.ts', 'config.json'])
  })

  test('a bounded number of names', async () => {
    const worktree = await here.open()
    for (let i = 0; i < 150; i++) put(worktree.root, `d${i}/.env`, 'x')
    const saved = await here.save(worktree)
    expect([saved.leftOut.length, saved.leftOutCount]).toEqual([100, 150])
  })
})

test('the folders that are left out are those that matter', async () => {
  const files = (folder: string, count: number, weight = 1) =>
    Array.from({ length: count }, (_, i) => ({ path: `${folder}${i}`, weight }))
  const cut = async (all: { path: string; weight: number }[], most: number) =>
    (await heaviestFolders(all, most)).map(({ folder, paths }) => [folder, paths.length])
  expect(await cut(files('a/', 5), 5)).toEqual([])
  expect(await cut([...files('x/y/z/', 9), ...files('x/', 2), ...files('', 2)], 5)).toEqual([['x/y/z/', 9]])
  expect(await cut([...files('a/', 4), ...files('b/', 5), ...files('', 1)], 3)).toEqual([
    ['b/', 5],
    ['a/', 4],
  ])
  expect(await cut(files('', 9), 3)).toEqual([['*', 9]])
})
