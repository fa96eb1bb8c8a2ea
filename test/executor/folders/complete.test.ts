import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cleanFolder } from '../../../src/executor/folders/clean.ts'
import { MarkerSearch } from '../../../src/executor/folders/conflict-markers.ts'
import { discardWork } from '../../../src/executor/folders/discard.ts'
import { prepareFolder } from '../../../src/executor/folders/prepare.ts'
import { recordWork } from '../../../src/executor/folders/record.ts'
import { sweepWorktrees, type WorktreePlace } from '../../../src/executor/folders/sweep.ts'
import type { UpstreamWork } from '../../../src/executor/folders/upstream-work.ts'
import { whyNotComplete } from '../../../src/executor/folders/why-not-complete.ts'
import { KnownSecrets } from '../../../src/pure/secrets/redaction.ts'
import { commit, git, makeRepository, put } from '../../support/git.ts'
import { attempt, refsIn, statusOf, useWorktrees } from '../../support/worktrees.ts'

/** What becomes of saved work: it is handed on, judged, counted, and its folder goes. In real repositories. */

const here = useWorktrees({ 'page.txt': 'one\n', '.gitignore': 'build/\n' })
const at = (name: string) => git(here.repository, 'rev-parse', '--verify', name)
const upstreamOf = (taskUuid: string, of: string | null, number?: string): UpstreamWork => ({
  ...{ taskUuid, title: `Task ${taskUuid}`, commit: of, branch: `baton/${taskUuid}/gen-1` },
  ...(number !== undefined && { number }),
})
const done = async (taskUuid: string, files: Record<string, string>) => {
  const worktree = await here.open({ taskUuid })
  return { ...worktree, commit: commit(worktree.root, files) }
}
const problems = async (of: string, upstream: UpstreamWork[], files: string[] = []) => {
  const about = { commit: of, upstream, conflicts: [{ files }] }
  return (await whyNotComplete(here.ours, join(here.repository, '.git'), about)).map(({ message }) => message)
}

describe('upstream work', () => {
  test('is the recorded commit, not what its branch became', async () => {
    const { root, commit: recorded } = await done('a', { 'a.ts': 'a' })
    commit(root, { 'later.ts': 'later' })
    const b = await here.open({ taskUuid: 'b', upstream: [upstreamOf('a', recorded)] })
    expect(git(b.root, 'rev-parse', 'HEAD')).toBe(recorded)
  })

  test('that came after the work began is merged when it goes on, and named when it conflicts', async () => {
    const first = await done('t', { 'mine.ts': 'm', 'page.txt': 'mine\n' })
    const [a, b] = [await done('a', { 'a.ts': 'a' }), await done('b', { 'page.txt': 'theirs\n' })]
    const folder = await prepareFolder(here.ours, {
      ...{ cwd: here.repository, workspace: 'git_worktree', dataFolder: join(here.home, '.baton') },
      ...{ workspaceId: 'w', agentSlug: 'dev', taskUuid: 't', generation: 2, allowedRoots: [] },
      upstream: [upstreamOf('a', a.commit), upstreamOf('b', b.commit)],
      start: { commit: first.commit, baseCommit: first.baseCommit, root: first.root },
    })
    expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(['a.ts', 'mine.ts']))
    expect(folder.conflicts).toMatchObject([{ title: 'Task b', files: ['page.txt'], commit: b.commit }])
    expect(folder.worktree!.baseCommit).toBe(first.baseCommit)
    expect(statusOf(folder.path)).toBe('')
  })

  test('that is already there by a rebase is not merged again', async () => {
    const a = await done('a', { 'a.ts': 'a\n' })
    const b = await here.open({ taskUuid: 'b' })
    commit(b.root, { 'b.ts': 'b\n' })
    git(b.root, 'cherry-pick', a.commit)
    const own = commit(b.root, { 'a.ts': 'a and more\n' })
    const start = { commit: own, baseCommit: b.baseCommit, root: b.root }
    const again = await here.open({
      taskUuid: 'b',
      generation: 2,
      upstream: [upstreamOf('a', a.commit)],
      start,
    })
    expect(git(again.root, 'rev-parse', 'HEAD')).toBe(own)
  })
})

describe('a join is not complete', () => {
  test('without the work of each upstream task: merged, rebased or squashed', async () => {
    const [a, b] = [await done('a', { 'a.ts': 'a\n' }), await done('b', { 'b.ts': 'b\n' })]
    const upstream = [upstreamOf('a', a.commit, '12'), upstreamOf('b', b.commit)]
    const join = await here.open({ taskUuid: 'j' })
    expect(await problems(join.baseCommit, upstream)).toEqual([
      'does not contain #12',
      'does not contain "Task b"',
    ])
    git(join.root, 'merge', '--quiet', '--no-edit', a.commit)
    expect(await problems(at('baton/j/gen-1'), upstream)).toEqual(['does not contain "Task b"'])
    git(join.root, 'merge', '--quiet', '--squash', b.commit)
    const squashed = commit(join.root, {})
    expect(await problems(squashed, upstream)).toEqual([])
    git(join.root, 'reset', '--quiet', '--hard', join.baseCommit)
    commit(join.root, { 'first.ts': 'first' })
    git(join.root, 'cherry-pick', a.commit, b.commit)
    expect(await problems(commit(join.root, { 'a.ts': 'changed since\n' }), upstream)).toEqual([])
  })

  test('and work that is not in the repository does not count', async () => {
    const join = await here.open({ taskUuid: 'j' })
    const upstream = [upstreamOf('a', '0123456789'.repeat(4)), upstreamOf('never', null)]
    expect(await problems(join.baseCommit, upstream)).toEqual([])
  })

  test('with markers in a file that conflicted', async () => {
    const a = await done('a', { 'page.txt': 'theirs\n' })
    const mine = await done('j', { 'page.txt': 'mine\n' })
    attempt(mine.root, 'merge', a.commit)
    const marked = commit(mine.root, {})
    const upstream = [upstreamOf('a', a.commit)]
    expect(await problems(marked, upstream, ['page.txt', 'gone.txt'])).toEqual([
      'has conflict markers in page.txt',
    ])
    expect(await problems(marked, upstream, [])).toEqual([])
    const resolved = commit(mine.root, { 'page.txt': 'both\n=======\n' })
    expect(await problems(resolved, upstream, ['page.txt'])).toEqual([])
  })

  test('whatever pieces the markers come in', () => {
    const text = 'a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> side\n'
    for (let size = 1; size < 12; size++) {
      const search = new MarkerSearch()
      for (let from = 0; from < text.length; from += size)
        search.take(Buffer.from(text.slice(from, from + size)))
      expect(search.isFound).toBe(true)
    }
    const search = new MarkerSearch()
    search.take(Buffer.from('a <<<<<<< HEAD\n=======\n>>>>>>> x\n<<<<<<\n>>>>>>> y\n'))
    expect(search.isFound).toBe(false)
  })
})

test('figures are of commits: of the whole work, and of the run', async () => {
  const first = await here.open()
  const start = commit(first.root, { 'a.ts': 'one\ntwo\n' })
  put(first.root, 'page.txt', 'two\n')
  put(first.root, '.env', 'x')
  const saved = await here.save(first)
  expect(await recordWork(here.ours, first, start, saved)).toEqual({
    ...{ branch: 'baton/t/gen-1', baseCommit: first.baseCommit, startCommit: start, commit: saved.commit },
    committed: { filesChanged: 2, insertions: 3, deletions: 1, commits: 2 },
    attempt: { filesChanged: 1, insertions: 1, deletions: 1, commits: 1 },
    isDirty: true,
  })
})

describe('the folder of saved work', () => {
  test('goes with its ignored files, and its branch stays', async () => {
    const worktree = await here.open()
    put(worktree.root, 'a.ts', 'a')
    put(worktree.root, 'build/out', 'x')
    const saved = await here.save(worktree)
    const folder = { path: worktree.root, worktree }
    expect(await cleanFolder(here.ours, folder, 'when_clean', saved.leftOutCount)).toEqual({
      ...{ isRemoved: true, why: null, isBranchDeleted: false },
    })
    expect([existsSync(worktree.root), at('baton/t/gen-1')]).toEqual([false, saved.commit])
  })

  test('goes when what came after the result is held, and stays when something was left out', async () => {
    const worktree = await here.open()
    const result = commit(worktree.root, { 'a.ts': 'a' })
    put(worktree.root, '.env', 'x')
    put(worktree.root, 'later.ts', 'later')
    const { leftOutCount } = await here.save(worktree, { resultCommit: result })
    const folder = { path: worktree.root, worktree }
    expect(await cleanFolder(here.ours, folder, 'when_clean', leftOutCount)).toMatchObject({
      ...{ isRemoved: false, why: '1 file is not in the saved work' },
    })
    git(worktree.root, 'clean', '--force', '--quiet')
    expect(await cleanFolder(here.ours, folder, 'when_clean', 0)).toMatchObject({ isRemoved: true })
    expect(git(here.repository, 'show', 'refs/baton/t/gen-1/after-result:later.ts')).toBe('later')
  })

  test('leaves nothing when nothing was done', async () => {
    const worktree = await here.open()
    await here.save(worktree)
    expect(await cleanFolder(here.ours, { path: worktree.root, worktree }, 'when_clean')).toMatchObject({
      ...{ isRemoved: true, isBranchDeleted: true },
    })
    expect(refsIn(here.repository, 'refs/baton')).toEqual([])
  })

  test('is discarded on a person’s order, whatever is in it, and no other', async () => {
    const worktree = await here.open()
    put(worktree.root, 'a.ts', 'a')
    put(worktree.root, '.env', 'x')
    await here.save(worktree)
    makeRepository(join(worktree.root, 'inner'))
    const other = await here.open({ taskUuid: 'other' })
    const about = { ...worktree, taskUuid: 't', generation: 1 }
    const discarded = await discardWork(here.ours, about)
    expect(discarded.isFolderRemoved).toBe(true)
    expect(discarded.refs.map(({ ref }) => ref)).toEqual([
      'refs/baton/t/gen-1/saved',
      'refs/heads/baton/t/gen-1',
    ])
    expect([existsSync(worktree.root), existsSync(other.root)]).toEqual([false, true])
    expect(refsIn(here.repository, 'refs/baton')).toEqual([])
    expect(await discardWork(here.ours, about)).toEqual({ isFolderRemoved: false, refs: [] })
  })

  test('is not discarded with an earlier generation when a later one works in it', async () => {
    const first = await here.open()
    const { commit: last } = await here.save(first)
    const start = { commit: last, baseCommit: first.baseCommit, root: first.root }
    await here.open({ generation: 2, start })
    expect(await discardWork(here.ours, { ...first, taskUuid: 't', generation: 1 })).toMatchObject({
      isFolderRemoved: false,
    })
    expect(readFileSync(join(first.root, 'page.txt'), 'utf8')).toBe('one\n')
    expect(git(first.root, 'rev-parse', 'HEAD')).toBe(last)
  })
})

describe('a sweep', () => {
  const saving = async () => ({
    author: { name: 'dev', email: 'dev@localhost' },
    message: 'Save work that was left',
    secrets: new KnownSecrets([]),
  })

  test('saves what is not committed before it removes a folder', async () => {
    const worktree = await here.open()
    put(worktree.root, 'a.ts', 'a')
    const kept = await here.open({ taskUuid: 'kept' })
    put(kept.root, '.env', 'x')
    const swept = await sweepWorktrees(here.ours, join(here.home, '.baton'), async () => false, saving)
    expect(swept).toEqual({
      removed: [worktree.root],
      kept: [{ root: kept.root, why: '1 file is not committed' }],
    })
    expect(git(here.repository, 'show', 'baton/t/gen-1:a.ts')).toBe('a')
  })

  test('asks for the generation that works in a folder, and moves no branch that was saved', async () => {
    const first = await here.open()
    const { commit: last } = await here.save(first)
    const start = { commit: last, baseCommit: first.baseCommit, root: first.root }
    const third = await here.open({ generation: 3, start })
    commit(third.root, { 'a.ts': 'a' })
    const saved = await here.save(third)
    put(third.root, 'later.ts', 'later')
    const asked: WorktreePlace[] = []
    const isNeeded = async (place: WorktreePlace) => {
      asked.push(place)
      return false
    }
    await sweepWorktrees(here.ours, join(here.home, '.baton'), isNeeded, saving)
    expect(asked).toMatchObject([{ taskUuid: 't', generation: 3, root: first.root }])
    expect(existsSync(third.root)).toBe(false)
    expect(git(here.repository, 'show', 'refs/baton/t/gen-3/after-result:later.ts')).toBe('later')
    expect(at('baton/t/gen-3')).toBe(saved.commit)
  })
})
