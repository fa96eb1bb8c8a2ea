import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gitWith } from '../../../src/executor/folders/git.ts'
import { prepareFolder } from '../../../src/executor/folders/prepare.ts'
import { evenShare } from '../../../src/kinds/run/prompts/share.ts'
import { commit, git, makeRepository, put } from '../../support/git.ts'

/** A worktree starts from the work of the tasks whose results are handed on: in real repositories. */

let home: string
let shop: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-upstream-')))
  shop = makeRepository(join(home, 'shop'), { 'readme.md': 'one\n' })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const prepare = (taskUuid: string, upstream: readonly string[] = [], generation = 1) =>
  prepareFolder(gitWith({ PATH: process.env.PATH!, HOME: home }), {
    ...{ cwd: shop, workspace: 'git_worktree', dataFolder: join(home, '.baton'), workspaceId: 'w' },
    ...{ agentSlug: 'dev', taskUuid, generation, allowedRoots: [] },
    upstream: upstream.map((id) => ({
      taskUuid: id,
      title: `Task ${id}`,
      commit: null,
      branch: `baton/${id}/gen-1`,
    })),
  })
/** The work of a task, committed in its worktree. */
const done = async (taskUuid: string, files: Record<string, string>, upstream: readonly string[] = []) => {
  const { path } = await prepare(taskUuid, upstream)
  return { path, commit: commit(path, files) }
}

describe('a new worktree', () => {
  test('starts at the commit of its upstream task, and its own work is counted from there', async () => {
    const before = await done('a', { 'a.txt': 'a\n' })
    const { path, worktree } = await prepare('b', ['a'])
    expect(git(path, 'rev-parse', 'HEAD')).toBe(before.commit)
    expect(worktree!.baseCommit).toBe(before.commit)
  })

  test('has the work of several, merged; what one of them contains is not merged again', async () => {
    await done('a', { 'a.txt': 'a\n' })
    await done('b', { 'b.txt': 'b\n' })
    const both = await done('c', { 'c.txt': 'c\n' }, ['a', 'b'])
    for (const name of ['a.txt', 'b.txt']) expect(existsSync(join(both.path, name))).toBe(true)
    const { path, worktree, conflicts } = await prepare('d', ['a', 'b', 'c'])
    expect(git(path, 'rev-parse', 'HEAD')).toBe(both.commit)
    expect(worktree!.baseCommit).toBe(both.commit)
    expect(conflicts).toBeUndefined()
  })

  test('names what conflicts, and leaves it out', async () => {
    await done('a', { 'page.txt': 'from a\n' })
    await done('b', { 'page.txt': 'from b\n', 'b.txt': 'b\n' })
    await done('c', { 'c.txt': 'c\n' })
    const { path, conflicts } = await prepare('d', ['a', 'b', 'c'])
    expect(conflicts).toEqual([
      {
        title: 'Task b',
        branch: 'baton/b/gen-1',
        files: ['page.txt'],
        commit: git(shop, 'rev-parse', 'baton/b/gen-1'),
      },
    ])
    expect(readFileSync(join(path, 'page.txt'), 'utf8')).toBe('from a\n')
    expect([existsSync(join(path, 'b.txt')), existsSync(join(path, 'c.txt'))]).toEqual([false, true])
    expect(git(path, 'status', '--porcelain')).toBe('')
  })

  test('starts from its base when the upstream work is elsewhere', async () => {
    const { path } = await prepare('b', ['unknown'])
    expect(git(path, 'rev-parse', 'HEAD')).toBe(git(shop, 'rev-parse', 'HEAD'))
  })

  test('is merged without running a program that the repository names', async () => {
    put(shop, '.gitattributes', '*.txt merge=planted\n')
    commit(shop, {})
    git(shop, 'config', 'merge.planted.driver', `touch ${join(home, 'ran')}`)
    commit(shop, { 'page.txt': 'one\n' })
    await done('a', { 'page.txt': 'from a\n' })
    await done('b', { 'page.txt': 'from b\n' })
    const { conflicts } = await prepare('c', ['a', 'b'])
    expect(conflicts).toMatchObject([
      { files: ['page.txt'], commit: git(shop, 'rev-parse', 'baton/b/gen-1') },
    ])
    expect(existsSync(join(home, 'ran'))).toBe(false)
  })
})

test('of a room, each part gets an equal share, and what short ones leave goes to the long ones', () => {
  expect(evenShare([10, 20], 100)).toBe(100)
  expect(evenShare([10, 200, 200], 100)).toBe(45)
  expect(evenShare([50, 50], 100)).toBe(100)
  expect(evenShare([], 100)).toBe(100)
})
