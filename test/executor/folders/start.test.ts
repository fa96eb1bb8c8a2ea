import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { prepareFolder } from '../../../src/executor/folders/prepare.ts'
import { WorkMissing } from '../../../src/executor/folders/work-start.ts'
import type { Worktree } from '../../../src/executor/folders/worktree.ts'
import { commit, git, put } from '../../support/git.ts'
import { attempt, statusOf, useWorktrees } from '../../support/worktrees.ts'

/** The work of a task goes on in its next generation: in real repositories. */

const here = useWorktrees({ 'page.txt': 'one\n', 'part/a.ts': 'a\n', '.gitignore': 'build/\n' })
const next = (worktree: Worktree, saved: { commit: string }, more: object = {}) =>
  here.open({
    generation: 2,
    start: { commit: saved.commit, baseCommit: worktree.baseCommit, root: worktree.root },
    ...more,
  })

describe('the next generation', () => {
  test('goes on in the same folder, on its own branch, with the base of the task', async () => {
    const first = await here.open()
    commit(first.root, { 'a.ts': 'a' })
    put(first.root, 'b.ts', 'b')
    put(first.root, 'build/cache', 'ignored')
    put(first.root, '.env', 'left out')
    const saved = await here.save(first)
    commit(here.repository, { 'elsewhere.ts': 'x' })
    const second = await next(first, saved)
    expect(second).toEqual({ ...first, branch: 'baton/t/gen-2' })
    expect(git(second.root, 'symbolic-ref', '--short', 'HEAD')).toBe('baton/t/gen-2')
    expect(git(second.root, 'rev-parse', 'HEAD')).toBe(saved.commit)
    expect(statusOf(second.root)).toBe('?? .env')
    expect(readFileSync(join(second.root, 'build/cache'), 'utf8')).toBe('ignored')
    const made = commit(second.root, { 'c.ts': 'c' })
    expect(git(here.repository, 'rev-parse', 'baton/t/gen-1')).toBe(saved.commit)
    expect(git(here.repository, 'rev-parse', 'baton/t/gen-2')).toBe(made)
  })

  test('finds its folder as it was left when it is continued', async () => {
    const first = await here.open()
    const saved = await here.save(first)
    const second = await next(first, saved)
    const made = commit(second.root, { 'a.ts': 'a' })
    git(second.root, 'switch', '--quiet', '-c', 'own-idea')
    put(second.root, 'half-done.ts', 'half')
    expect(await next(first, { commit: made })).toEqual(second)
    expect(statusOf(second.root)).toBe('?? half-done.ts')
    expect(git(second.root, 'symbolic-ref', '--short', 'HEAD')).toBe('own-idea')
    const third = await next(second, await here.save(second), { generation: 3 })
    expect(third).toEqual({ ...first, branch: 'baton/t/gen-3' })
    expect(existsSync(join(third.root, 'half-done.ts'))).toBe(true)
  })

  test('works in the part of the repository that its agent has, also when that is gone', async () => {
    const first = await here.open({ cwd: join(here.repository, 'part') })
    git(first.root, 'rm', '--quiet', '-r', 'part')
    const saved = await here.save(first)
    const request = {
      ...{ cwd: join(here.repository, 'part'), generation: 2, workspace: 'git_worktree' as const },
      ...{ dataFolder: join(here.home, '.baton'), workspaceId: 'w', agentSlug: 'dev', taskUuid: 't' },
      ...{ allowedRoots: [], start: { commit: saved.commit, baseCommit: first.baseCommit, root: null } },
    }
    const { path, worktree } = await prepareFolder(here.ours, request)
    expect(path).toBe(join(worktree!.root, 'part'))
  })

  test('has a folder of its own, from the last commit, when the older one cannot be used', async () => {
    const first = await here.open()
    put(first.root, 'a.ts', 'a')
    const saved = await here.save(first)
    const second = await next(first, saved, {
      start: { commit: saved.commit, baseCommit: first.baseCommit, root: null },
    })
    expect(second.root).toBe(join(first.root, '../gen-2'))
    expect(second.baseCommit).toBe(first.baseCommit)
    expect(git(second.root, 'rev-parse', 'HEAD')).toBe(saved.commit)
    expect(statusOf(second.root)).toBe('')
    rmSync(join(first.root, '.git'))
    git(first.root, 'init', '--quiet')
    const other = await next(first, saved, { generation: 3 })
    expect(other.root).toBe(join(first.root, '../gen-3'))
  })

  test('gets a folder at the same path when the older one is gone', async () => {
    const first = await here.open()
    put(first.root, 'a.ts', 'a')
    const saved = await here.save(first)
    rmSync(join(first.root, '..'), { recursive: true })
    const second = await next(first, saved)
    expect(second).toEqual({ ...first, branch: 'baton/t/gen-2' })
    expect(readdirSync(second.root).sort()).toEqual(['.git', '.gitignore', 'a.ts', 'page.txt', 'part'])
  })

  test('starts at the result that was judged, not at what came after it', async () => {
    const first = await here.open()
    const result = commit(first.root, { 'a.ts': 'a\n' })
    put(first.root, 'a.ts', 'later\n')
    put(first.root, 'later.ts', 'later\n')
    const saved = await here.save(first, { resultCommit: result })
    const second = await next(first, saved)
    expect(second.root).toBe(first.root)
    expect(readFileSync(join(second.root, 'a.ts'), 'utf8')).toBe('a\n')
    expect([existsSync(join(second.root, 'later.ts')), statusOf(second.root)]).toEqual([false, ''])
  })

  test('does not overwrite files: then it has a folder of its own', async () => {
    const first = await here.open()
    const result = commit(first.root, { 'a.ts': 'a\n' })
    git(first.root, 'rm', '--quiet', '--cached', 'a.ts')
    put(first.root, '.gitignore', 'build/\na.ts\n')
    put(first.root, 'a.ts', 'ignored now\n')
    const saved = await here.save(first, { resultCommit: result })
    put(first.root, 'page.txt', 'unsaved\n')
    put(first.root, 'part/a.ts', 'unsaved\n')
    git(first.root, 'rm', '--quiet', '--cached', 'part/a.ts')
    const second = await next(first, saved)
    expect(readFileSync(join(first.root, 'page.txt'), 'utf8')).toBe('unsaved\n')
    expect(readFileSync(join(second.root, 'a.ts'), 'utf8')).toBe('a\n')
  })

  test('is refused for a while when the work is on another machine', async () => {
    const first = await here.open()
    const gone = { commit: '0123456789'.repeat(4) }
    await expect(next(first, gone)).rejects.toThrow(WorkMissing)
  })

  test('is taken over after a crash at any point', async () => {
    const first = await here.open()
    const result = commit(first.root, { 'a.ts': 'a' })
    put(first.root, 'later.ts', 'later')
    const saved = await here.save(first, { resultCommit: result })
    const real = here.ours
    for (let at = 1; ; at++) {
      let left = at
      here.ours = async (...call) => {
        if (--left === 0) throw new Error('crash')
        return real(...call)
      }
      const second = await next(first, saved).catch((error: Error) => error)
      here.ours = real
      if (second instanceof Error) continue
      expect(second).toEqual({ ...first, branch: 'baton/t/gen-2' })
      break
    }
    expect(statusOf(first.root)).toBe('')
    expect(git(first.root, 'rev-parse', 'HEAD')).toBe(result)
  })
})

describe('an unfinished', () => {
  const conflicting = (root: string) => {
    git(root, 'switch', '--quiet', '-c', 'side', 'main')
    commit(root, { 'page.txt': 'side\n' })
    git(root, 'switch', '--quiet', 'baton/t/gen-1')
    return commit(root, { 'page.txt': 'mine\n' })
  }

  test('merge stays unfinished and is finished on the new branch', async () => {
    const first = await here.open()
    const mine = conflicting(first.root)
    attempt(first.root, 'merge', 'side')
    const second = await next(first, await here.save(first))
    expect(second.root).toBe(first.root)
    expect(statusOf(second.root)).toBe('UU page.txt')
    writeFileSync(join(second.root, 'page.txt'), 'both\n')
    git(second.root, 'commit', '--quiet', '-am', 'merged')
    expect(git(here.repository, 'rev-parse', 'baton/t/gen-2^1', 'baton/t/gen-2^2').split('\n')).toEqual([
      mine,
      git(here.repository, 'rev-parse', 'side'),
    ])
    expect(git(here.repository, 'rev-parse', 'baton/t/gen-1')).toBe(mine)
  })

  test('rebase stays unfinished and moves the new branch', async () => {
    const first = await here.open()
    const mine = conflicting(first.root)
    attempt(first.root, 'rebase', 'side')
    const saved = await here.save(first)
    expect(saved).toMatchObject({ commit: mine, unfinished: { kind: 'rebase' } })
    const second = await next(first, saved)
    expect(second.root).toBe(first.root)
    writeFileSync(join(second.root, 'page.txt'), 'both\n')
    git(second.root, 'add', '.')
    git(second.root, '-c', 'core.editor=true', 'rebase', '--continue')
    expect(git(second.root, 'symbolic-ref', '--short', 'HEAD')).toBe('baton/t/gen-2')
    expect(git(here.repository, 'rev-parse', 'baton/t/gen-2~1')).toBe(
      git(here.repository, 'rev-parse', 'side'),
    )
    expect(git(here.repository, 'rev-parse', 'baton/t/gen-1')).toBe(mine)
  })
})
