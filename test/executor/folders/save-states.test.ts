import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { snapshotWork } from '../../../src/executor/folders/snapshot-work.ts'
import { KnownSecrets } from '../../../src/pure/secrets/redaction.ts'
import { commit, git, put } from '../../support/git.ts'
import { attempt, filesAt, refsIn, statusOf, useWorktrees } from '../../support/worktrees.ts'

/** Wherever the agent stands when its run ends, its work is saved: in real repositories. */

const here = useWorktrees({ 'page.txt': 'one\n', 'other.txt': 'o\n' })
const BRANCH = 'baton/t/gen-1'
const HELD = 'refs/baton/t/gen-1'
const at = (name: string) => git(here.repository, 'rev-parse', '--verify', name)

describe('an agent that', () => {
  test('works on a branch of its own: that stays, and ours has its work', async () => {
    const worktree = await here.open()
    git(worktree.root, 'switch', '--quiet', '-c', 'own-idea')
    const made = commit(worktree.root, { 'a.ts': 'a' })
    put(worktree.root, 'b.ts', 'b')
    const saved = await here.save(worktree)
    expect(saved.commit).toBe(at(BRANCH))
    expect([at('own-idea'), at(`${BRANCH}~1`)]).toEqual([made, made])
    expect(git(worktree.root, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`)
    expect(statusOf(worktree.root)).toBe('')
  })

  test('works on no branch', async () => {
    const worktree = await here.open()
    git(worktree.root, 'checkout', '--quiet', '--detach')
    const made = commit(worktree.root, { 'a.ts': 'a' })
    expect(await here.save(worktree)).toMatchObject({ commit: made, committedFiles: 0, replaced: [] })
    expect(at(BRANCH)).toBe(made)
    expect(git(worktree.root, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`)
  })

  test('begins a history without commits', async () => {
    const worktree = await here.open()
    const made = commit(worktree.root, { 'a.ts': 'a' })
    git(worktree.root, 'checkout', '--quiet', '--orphan', 'fresh')
    put(worktree.root, 'b.ts', 'b')
    const saved = await here.save(worktree)
    expect(at(`${BRANCH}~1`)).toBe(made)
    expect(Object.keys(filesAt(worktree.root, saved.commit))).toEqual([
      'a.ts',
      'b.ts',
      'other.txt',
      'page.txt',
    ])
  })

  test('deletes our branch', async () => {
    const worktree = await here.open()
    git(worktree.root, 'switch', '--quiet', '-c', 'own-idea')
    git(worktree.root, 'branch', '--quiet', '-D', BRANCH)
    put(worktree.root, 'a.ts', 'a')
    expect((await here.save(worktree)).commit).toBe(at(BRANCH))
  })

  test('rewrites its history: what only the old tip had is kept', async () => {
    const worktree = await here.open()
    const old = commit(worktree.root, { 'a.ts': 'a' })
    git(worktree.root, 'switch', '--quiet', '-c', 'rewritten', 'main')
    const made = commit(worktree.root, { 'a.ts': 'better' })
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({ commit: made, replaced: [`${HELD}/replaced-${old.slice(0, 12)}`] })
    expect(at(saved.replaced[0]!)).toBe(old)
  })

  test('has our branch checked out elsewhere', async () => {
    const worktree = await here.open()
    git(worktree.root, 'checkout', '--quiet', '--detach')
    git(here.repository, 'worktree', 'add', '--quiet', join(here.home, 'second'), BRANCH)
    put(worktree.root, 'a.ts', 'a')
    expect((await here.save(worktree)).commit).toBe(at(BRANCH))
  })

  test('stands on a person’s branch: that is never moved', async () => {
    git(here.repository, 'branch', 'release')
    const before = at('release')
    const worktree = await here.open()
    git(worktree.root, 'switch', '--quiet', 'release')
    put(worktree.root, 'a.ts', 'a')
    const saved = await here.save(worktree)
    expect([at('release'), at(BRANCH)]).toEqual([before, saved.commit])
  })
})

describe('unfinished', () => {
  const conflict = async () => {
    const worktree = await here.open()
    const { root } = worktree
    git(root, 'switch', '--quiet', '-c', 'side', 'main')
    const side = commit(root, { 'page.txt': 'side\n' })
    git(root, 'switch', '--quiet', BRANCH)
    const mine = commit(root, { 'page.txt': 'mine\n' })
    return { worktree, root, side, mine }
  }

  test('merges are saved beside the branch, and stay', async () => {
    const { worktree, root, side, mine } = await conflict()
    attempt(root, 'merge', 'side')
    put(root, 'new.txt', 'new\n')
    const before = statusOf(root)
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({ commit: mine, committedFiles: 0, unfinished: { kind: 'merge' } })
    expect([at(BRANCH), at(`${HELD}/unfinished`)]).toEqual([mine, saved.unfinished!.commit])
    expect(filesAt(root, `${HELD}/unfinished`)).toMatchObject({ 'new.txt': 'new' })
    expect(filesAt(root, `${HELD}/unfinished`)['page.txt']).toContain('<<<<<<<')
    expect(git(root, 'log', '-1', '--format=%P', `${HELD}/unfinished`)).toBe(mine)
    expect(git(root, 'log', '-1', '--format=%B', `${HELD}/unfinished`)).toContain(
      `merge of ${side} on ${mine}`,
    )
    expect(statusOf(root)).toBe(before)
    expect(await here.save(worktree)).toEqual(saved)
    writeFileSync(join(root, 'page.txt'), 'both\n')
    git(root, 'add', '--all')
    git(root, 'commit', '--quiet', '-m', 'merged')
    const finished = await here.save(worktree)
    expect(finished).toMatchObject({ commit: at(BRANCH), unfinished: null })
    expect(git(root, 'log', '-1', '--format=%P', finished.commit)).toBe(`${mine} ${side}`)
  })

  test('rebases are saved, and the branch keeps what it had before', async () => {
    const { worktree, root, mine } = await conflict()
    attempt(root, 'rebase', 'side')
    const before = statusOf(root)
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({ commit: mine, unfinished: { kind: 'rebase' }, replaced: [] })
    expect(statusOf(root)).toBe(before)
    writeFileSync(join(root, 'page.txt'), 'both\n')
    git(root, 'add', '.')
    git(root, '-c', 'core.editor=true', 'rebase', '--continue')
    const finished = await here.save(worktree)
    expect(finished).toMatchObject({ commit: at(BRANCH), unfinished: null })
    expect(finished.replaced).toEqual([`${HELD}/replaced-${mine.slice(0, 12)}`])
  })

  test('cherry-picks, reverts and bisections are told apart', async () => {
    const { worktree, root, mine } = await conflict()
    attempt(root, 'cherry-pick', 'side')
    expect(await here.save(worktree)).toMatchObject({ commit: mine, unfinished: { kind: 'cherry_pick' } })
    git(root, 'cherry-pick', '--abort')
    const later = commit(root, { 'page.txt': 'later\n' })
    attempt(root, 'revert', '--no-edit', mine)
    expect(await here.save(worktree)).toMatchObject({ commit: later, unfinished: { kind: 'revert' } })
    git(root, 'revert', '--abort')
    git(root, 'bisect', 'start', 'HEAD', 'main')
    expect(await here.save(worktree)).toMatchObject({ commit: later, unfinished: { kind: 'bisect' } })
    git(root, 'bisect', 'reset')
    expect(await here.save(worktree)).toMatchObject({ commit: later, unfinished: null })
  })

  test('conflicts of a stash are unfinished until the markers are gone', async () => {
    const { worktree, root } = await conflict()
    put(root, 'page.txt', 'stashed\n')
    git(root, 'stash')
    const made = commit(root, { 'page.txt': 'committed\n' })
    attempt(root, 'stash', 'pop')
    expect(await here.save(worktree)).toMatchObject({ commit: made, unfinished: { kind: 'conflict' } })
    put(root, 'page.txt', 'both\n')
    const saved = await here.save(worktree)
    expect(saved).toMatchObject({ committedFiles: 1, unfinished: null })
    expect(filesAt(root, saved.commit)['page.txt']).toBe('both')
    expect(statusOf(root)).toBe('')
  })
})

describe('a result that was handed in during the run', () => {
  test('keeps its commit, and what came later is held beside it', async () => {
    const worktree = await here.open()
    const result = commit(worktree.root, { 'a.ts': 'a' })
    commit(worktree.root, { 'b.ts': 'later' })
    put(worktree.root, 'c.ts', 'even later')
    const saved = await here.save(worktree, { resultCommit: result })
    expect(saved).toMatchObject({ commit: result, afterResult: { ref: `${HELD}/after-result` } })
    expect(at(BRANCH)).toBe(result)
    expect(Object.keys(filesAt(worktree.root, `${HELD}/after-result`))).toEqual(
      expect.arrayContaining(['a.ts', 'b.ts', 'c.ts']),
    )
    expect(existsSync(join(worktree.root, 'c.ts'))).toBe(true)
    expect(statusOf(worktree.root)).toBe('')
    const again = await here.save(worktree, { resultCommit: result })
    expect(again).toEqual({ ...saved, committedFiles: 0, replaced: [] })
    expect(refsIn(here.repository, 'refs/baton')).toContain(`${HELD}/after-result`)
  })

  test('is the work itself when nothing came later', async () => {
    const worktree = await here.open()
    const result = commit(worktree.root, { 'a.ts': 'a' })
    git(worktree.root, 'commit', '--quiet', '--amend', '-m', 'the same in other words')
    const saved = await here.save(worktree, { resultCommit: result })
    expect(saved).toMatchObject({ commit: result, afterResult: null })
    expect(at(BRANCH)).toBe(result)
  })

  test('is a commit of the files at that moment, and the work itself when nothing came later', async () => {
    const worktree = await here.open()
    const { root } = worktree
    put(root, 'a.ts', 'a')
    git(root, 'add', 'a.ts')
    const before = [statusOf(root), at(BRANCH)]
    const about = {
      ...{ author: { name: 'dev', email: 'dev@localhost' }, message: 'Result of dev' },
      secrets: new KnownSecrets([]),
    }
    const { commit: resultCommit, ref } = await snapshotWork(here.ours, worktree, about)
    expect([statusOf(root), at(BRANCH), at(ref)]).toEqual([...before, resultCommit])
    const saved = await here.save(worktree, { resultCommit })
    expect(saved).toMatchObject({ commit: resultCommit, afterResult: null, replaced: [] })
    expect([statusOf(root), at(BRANCH)]).toEqual(['', resultCommit])
  })

  test('keeps its commit beside an unfinished merge', async () => {
    const worktree = await here.open()
    const { root } = worktree
    git(root, 'switch', '--quiet', '-c', 'side', 'main')
    commit(root, { 'page.txt': 'side\n' })
    git(root, 'switch', '--quiet', BRANCH)
    const result = commit(root, { 'page.txt': 'mine\n' })
    commit(root, { 'page.txt': 'later\n' })
    attempt(root, 'merge', 'side')
    const before = statusOf(root)
    expect(await here.save(worktree, { resultCommit: result })).toMatchObject({
      commit: result,
      unfinished: { kind: 'merge' },
    })
    expect([at(BRANCH), statusOf(root)]).toEqual([result, before])
    expect(readFileSync(join(root, 'page.txt'), 'utf8')).toContain('later')
  })
})

test('work without an index is saved', async () => {
  const worktree = await here.open()
  rmSync(join(git(worktree.root, 'rev-parse', '--absolute-git-dir'), 'index'))
  rmSync(join(worktree.root, 'other.txt'))
  put(worktree.root, 'a.ts', 'a')
  expect(Object.keys(filesAt(worktree.root, (await here.save(worktree)).commit))).toEqual([
    'a.ts',
    'page.txt',
  ])
})
