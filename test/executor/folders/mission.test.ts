import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitsAbove, tipsAmong, withoutWork } from '../../../src/executor/folders/commit-graph.ts'
import { type Git, gitWith } from '../../../src/executor/folders/git.ts'
import { missionChanges, repositoryNames } from '../../../src/executor/folders/mission-changes.ts'
import type { MissionWork } from '../../../src/kinds/mission/record.ts'
import { commit, git, isGitHere, makeRepository, put } from '../../support/git.ts'

/** The whole change of a mission, of branches in real repositories. */

let home: string
let shop: string
let ours: Git
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-mission-')))
  shop = makeRepository(join(home, 'shop'), { 'readme.md': 'one\n', 'page.txt': 'a\nb\nc\nd\ne\nf\ng\nh\n' })
  ours = gitWith({ PATH: process.env.PATH!, HOME: home })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** A task that did this, on a branch of its own from `from`. */
function done(task: string, files: Record<string, string>, from = 'main'): MissionWork {
  const branch = `baton/${task}/gen-1`
  const baseCommit = git(shop, 'rev-parse', from)
  const root = join(home, task)
  git(shop, 'worktree', 'add', '--quiet', '-b', branch, root, from)
  const made = commit(root, files, task)
  git(shop, 'worktree', 'remove', '--force', root)
  return {
    ...{ taskUuid: task, number: 1, title: `Task ${task}`, generation: 1, agent: 'dev', node: 'here' },
    ...{ commit: made, repository: join(shop, '.git'), branch, baseCommit },
  }
}
const read = (works: readonly MissionWork[], asked: { repository?: string; path?: string } = {}) =>
  missionChanges(ours, works, { repository: null, path: null, ...asked })
const objects = () => git(shop, 'count-objects', '-v')

describe.skipIf(!isGitHere)('the change of a mission', () => {
  test('is that of all its branches, without those that others contain', async () => {
    const base = git(shop, 'rev-parse', 'HEAD')
    const [a, b] = [done('a', { 'a.txt': '1\n2\n' }), done('b', { 'b.txt': '1\n' })]
    const c = done('c', { 'c.txt': '1\n' }, 'baton/a/gen-1')
    const before = objects()
    const { repositories, elsewhere } = await read([a, b, c])
    expect(elsewhere).toEqual([])
    expect(repositories).toHaveLength(1)
    expect(repositories[0]).toMatchObject({
      ...{ repository: 'shop', path: shop, base, taskCount: 3, missingCount: 0, branchCount: 2 },
      ...{ conflicts: [], fileCount: 3, added: 4, deleted: 0, diff: null, cut: null },
    })
    expect(repositories[0]!.branches.map(({ branch }) => branch).sort()).toEqual([
      'baton/b/gen-1',
      'baton/c/gen-1',
    ])
    expect(repositories[0]!.branches[0]).toMatchObject({ isThere: true, generation: 1, agent: 'dev' })
    expect(repositories[0]!.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    expect(objects(), 'the repository is as it was').toBe(before)
    for (const command of repositories[0]!.mergeCommands!) {
      const [, ...args] = command.split(' ')
      git(shop, ...args.slice(2), '--no-edit')
    }
    expect(git(shop, 'ls-files')).toBe('a.txt\nb.txt\nc.txt\npage.txt\nreadme.md')
  })

  test('names two branches that conflict, with their files, and shows their marks', async () => {
    const works = [
      done('a', { 'readme.md': 'from a\n' }),
      done('b', { 'readme.md': 'from b\n', 'b.txt': 'b\n' }),
      done('c', { 'page.txt': 'A\nb\nc\nd\ne\nf\ng\nh\n' }),
      done('d', { 'page.txt': 'a\nb\nc\nd\ne\nf\ng\nH\n' }),
    ]
    const { repositories } = await read(works, { path: 'readme.md' })
    const [{ conflicts, files, diff, branchCount }] = repositories as [(typeof repositories)[number]]
    expect(branchCount).toBe(4)
    expect(conflicts).toHaveLength(1)
    expect([...conflicts[0]!.branches].sort()).toEqual(['baton/a/gen-1', 'baton/b/gen-1'])
    expect(conflicts[0]).toMatchObject({ files: ['readme.md'], fileCount: 1, withBase: false })
    expect(files.map(({ path }) => path)).toEqual(['b.txt', 'page.txt', 'readme.md'])
    for (const text of ['+<<<<<<<', '+from a', '+from b']) expect(diff!.text).toContain(text)
  })

  test('is compared with the newest commit it began with, and does not contain what others did meanwhile', async () => {
    const a = done('a', { 'a.txt': 'a\n', 'readme.md': 'from a\n' })
    const moved = commit(shop, { 'other.txt': 'x\n', 'readme.md': 'from a person\n' })
    const b = done('b', { 'b.txt': 'b\n' })
    const [changes] = (await read([a, b])).repositories
    expect(changes).toMatchObject({ base: moved, branchCount: 2 })
    expect(changes!.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'readme.md'])
    expect(changes!.conflicts).toMatchObject([
      { branches: ['baton/a/gen-1'], withBase: true, files: ['readme.md'] },
    ])
  })

  test('of work that changed nothing is empty', async () => {
    const works = [{ ...done('a', { 'a.txt': 'a\n' }) }]
    const nothing = works.map((work) => ({ ...work, commit: work.baseCommit! }))
    expect((await read(nothing)).repositories).toMatchObject([
      { branchCount: 0, fileCount: 0, conflicts: [] },
    ])
    expect(await read([])).toEqual({ repositories: [], elsewhere: [] })
  })

  test('says which branches are gone, and what is not on this node', async () => {
    const a = done('a', { 'a.txt': 'a\n' })
    const gone = { ...done('b', { 'b.txt': 'b\n' }), commit: 'f'.repeat(40) }
    git(shop, 'branch', '-D', 'baton/a/gen-1')
    const other = { ...a, taskUuid: 'c', repository: join(home, 'nowhere', '.git'), node: 'node-2' }
    const unknown = { ...a, taskUuid: 'd', repository: null, branch: null, baseCommit: null, node: null }
    const { repositories, elsewhere } = await read([a, gone, other, unknown])
    expect(repositories).toMatchObject([
      {
        taskCount: 2,
        missingCount: 1,
        branches: [{ branch: 'baton/a/gen-1', isThere: false, commit: a.commit }],
      },
    ])
    expect(repositories[0]!.mergeCommands).toEqual([`git -C ${shop} merge ${a.commit}`])
    expect(elsewhere).toEqual([
      { repository: 'nowhere', node: 'node-2', taskCount: 1 },
      { repository: null, node: null, taskCount: 1 },
    ])
  })

  test('is read without running a program that the repository names', async () => {
    put(shop, '.gitattributes', '* merge=trap diff=trap filter=trap\n')
    commit(shop, {})
    for (const setting of [
      'merge.trap.driver',
      'diff.trap.textconv',
      'diff.external',
      'filter.trap.clean',
      'filter.trap.smudge',
    ])
      git(shop, 'config', setting, `touch ${join(home, 'ran')}`)
    git(shop, 'config', 'merge.renormalize', 'true')
    const from = git(shop, 'rev-parse', 'HEAD')
    const made = ['a', 'b'].map((task) => {
      const name = `baton/${task}/gen-1`
      put(home, `${task}.txt`, `from ${task}\n`)
      const blob = git(shop, 'hash-object', '-w', '--no-filters', join(home, `${task}.txt`))
      git(shop, 'update-index', '--cacheinfo', `100644,${blob},readme.md`)
      const at = git(shop, 'commit-tree', '-p', from, '-m', task, git(shop, 'write-tree'))
      git(shop, 'update-ref', `refs/heads/${name}`, at)
      return { ...ofTask(task, at), branch: name, baseCommit: from }
    })
    // Git as the test ran it.
    rmSync(join(home, 'ran'), { force: true })
    const [changes] = (await read(made, { path: 'readme.md' })).repositories
    expect(changes!.conflicts).toHaveLength(1)
    expect(existsSync(join(home, 'ran'))).toBe(false)
  })

  test('needs the name of the repository with a path, when there are several', async () => {
    const a = done('a', { 'a.txt': 'a\n' })
    const main = shop
    shop = makeRepository(join(home, 'other', 'shop'))
    const b = done('b', { 'b.txt': 'b\n' })
    await expect(read([a, b], { path: 'a.txt' })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
    const { repositories } = await read([a, b])
    const names = repositories.map(({ repository }) => repository)
    expect(new Set(names).size).toBe(2)
    const [own] = (await read([a, b], { repository: names[0]!, path: 'a.txt' })).repositories
    expect(own).toMatchObject({ path: main, diff: { path: 'a.txt' } })
    expect((await read([a, b], { repository: 'unknown' })).repositories).toEqual([])
    await expect(read([a], { path: '../../etc/passwd' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('is cut where it would take too long, and says so', async () => {
    const works = ['a', 'b', 'c'].map((task) => done(task, { [`${task}.txt`]: '1\n' }))
    const asked = { repository: null, path: null }
    const [two] = (await missionChanges(ours, works, asked, { mostMerged: 2, longestMs: 600_000 }))
      .repositories
    expect(two).toMatchObject({ branchCount: 3, fileCount: 2 })
    expect(two!.cut).toBe('The first 2 of 3 branches were merged: files and conflicts are of those.')
    const [none] = (await missionChanges(ours, works, asked, { mostMerged: 2, longestMs: -1 })).repositories
    expect(none).toMatchObject({ branchCount: 3, fileCount: 0, cut: expect.stringContaining('first 0 of 3') })
  })
})

const ofTask = (task: string, at: string): MissionWork => ({
  ...{ taskUuid: task, number: null, title: task, generation: 1, agent: null, node: null },
  ...{ commit: at, repository: join(shop, '.git'), branch: `baton/${task}/gen-1`, baseCommit: null },
})

test.skipIf(!isGitHere)('the graph of commits knows what contains what', async () => {
  const [first, second] = [git(shop, 'rev-parse', 'HEAD'), commit(shop, { a: '1' })]
  const third = commit(shop, { b: '1' })
  const graph = await commitsAbove(ours, shop, [second, third], first)
  expect(graph.order).toEqual([third, second])
  expect(tipsAmong(graph, new Set([second, third]))).toEqual([third])
  expect([...withoutWork(graph, new Set([first, second, third]), new Set([second]))]).toEqual([first])
  expect((await commitsAbove(ours, shop, [third], null)).order).toHaveLength(3)
})

test('a repository is named by its folder, and by more where two are equal', () => {
  const nameOf = repositoryNames(['/a/shop/.git', '/b/shop/.git', '/c/site.git'])
  expect(nameOf('/c/site.git')).toBe('site.git')
  expect(nameOf('/a/shop/.git')).toMatch(/^shop-[0-9a-f]{6}$/)
  expect(nameOf('/a/shop/.git')).not.toBe(nameOf('/b/shop/.git'))
})
