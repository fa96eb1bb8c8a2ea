import { lstat, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommitAbout, commitOf, type Found, findWork, notSaved, orNotSaved } from './found-work.ts'
import { type Git, reasonOf, serialized, unlessLocked } from './git.ts'
import type { LeftOut } from './left-out.ts'
import { ownIndexIn, removeOwnIndex } from './own-index.ts'
import { unlessMissing } from './places.ts'
import type { SavedTree } from './saved-tree.ts'
import type { UnfinishedKind } from './unfinished.ts'
import {
  commitAt,
  headOfBranch,
  heldRef,
  isOwnBranch,
  moveBranch,
  removeStaleLocks,
  setRefs,
} from './work-refs.ts'
import type { Worktree } from './worktree.ts'
import { commitIn, repairedStatus, type WorktreeStatus } from './worktree-status.ts'

/**
 * Commits what a run left uncommitted in its worktree, on the branch of its generation. Runs no program that the repository
 * names. A crash at any point leaves the folder usable, and to save again gives the same commit.
 */

export interface SaveAbout extends CommitAbout {
  /** The result was handed in during the run: the branch stays at its commit. */
  resultCommit: string | null
}

export interface SavedWork {
  /** The work of the generation, from now on. */
  commit: string
  branch: string
  /** Of the files that Baton itself committed; 0 when the agent had committed all. */
  committedFiles: number
  /** The first of them; `leftOutCount` counts all. */
  leftOut: LeftOut[]
  leftOutCount: number
  /** An operation of git waits in the folder. The files as they are, markers and all, are a commit on no branch. */
  unfinished: { kind: UnfinishedKind; commit: string; ref: string } | null
  /** What was done after the result was handed in. */
  afterResult: { commit: string; ref: string } | null
  /** Refs that hold what only old tips of the branch had. */
  replaced: string[]
}

/** Call it when no process of the run is left. */
export const saveWork = (git: Git, worktree: Worktree, about: SaveAbout): Promise<SavedWork> =>
  serialized(worktree.repository, () => saveWorkNow(git, worktree, about))

/** Call it only inside `serialized` for the repository. */
export const saveWorkNow = (git: Git, worktree: Worktree, about: SaveAbout): Promise<SavedWork> =>
  orNotSaved(worktree, () => save(git, worktree, about))

async function save(git: Git, worktree: Worktree, about: SaveAbout): Promise<SavedWork> {
  const { root, repository, branch } = worktree
  if (!isOwnBranch(branch)) throw notSaved(worktree, `${branch} is not a branch of Baton’s`)
  const status = await repairedStatus(git, repository, root)
  if (!(await unlessMissing(lstat(root)))) return saveCommits(git, worktree, status, about)
  if (!status) throw notSaved(worktree, 'git no longer knows the folder as a worktree')
  await removeStaleLocks(repository, status.record, branch)
  try {
    const found = await findWork(git, worktree, status, about)
    const keep = found.operation ? keepUnfinished : commitFiles
    return await keep(git, worktree, found, about)
  } finally {
    await removeOwnIndex(status.record)
  }
}

async function commitFiles(
  git: Git,
  worktree: Worktree,
  { place, parent, files }: Found,
  about: SaveAbout,
): Promise<SavedWork> {
  const { repository, branch } = worktree
  const known = [await commitAt(git, repository, heldRef(branch, 'saved')), about.resultCommit]
  const commit = await commitOf(place, files.tree, parent, about, known)
  const isLater =
    about.resultCommit !== null && !(await isSameWork(git, worktree, about.resultCommit, commit))
  const accepted = about.resultCommit ?? commit
  const afterResult = isLater ? { commit, ref: heldRef(branch, 'after-result') } : null
  if (afterResult) {
    await mustSet(git, worktree, [[afterResult.ref, commit]])
    // The folder stays at what was done last, on no branch.
    await mustRun(worktree, () => place.run(['update-ref', '--no-deref', 'HEAD', commit]))
  }
  const replaced = await mustMove(git, worktree, accepted)
  if (!afterResult) await mustRun(worktree, () => place.run(['symbolic-ref', 'HEAD', headOfBranch(branch)]))
  await rename(ownIndexIn(place.record), join(place.record, 'index'))
  return {
    ...{ commit: accepted, branch, afterResult, unfinished: null, replaced },
    committedFiles: commit === parent ? 0 : files.fileCount,
    ...leftOutOf(files),
  }
}

/** The operation stays as it is in the folder. The branch stays at what was committed before. */
async function keepUnfinished(
  git: Git,
  worktree: Worktree,
  { place, parent, files, operation }: Found,
  about: SaveAbout,
): Promise<SavedWork> {
  const { repository, branch } = worktree
  const { kind, original, of } = operation!
  const ref = heldRef(branch, 'unfinished')
  const message = `${about.message}\n\nUnfinished ${kind.replace('_', '-')}${of ? ` of ${of}` : ''} on ${parent}`
  const held = await commitOf(place, files.tree, parent, { ...about, message }, [
    await commitAt(git, repository, ref),
  ])
  await mustSet(git, worktree, [[ref, held]])
  const before = original && (await commitAt(git, repository, original))
  const commit = about.resultCommit ?? before ?? parent
  const isOnBranch = (await place.answer(['symbolic-ref', '--quiet', 'HEAD'])) === headOfBranch(branch)
  // Without a branch, so that the operation goes on from the commit it stands on.
  if (isOnBranch && commit !== parent)
    await mustRun(worktree, () => place.run(['update-ref', '--no-deref', 'HEAD', parent]))
  const replaced = await mustMove(git, worktree, commit)
  if (!isOnBranch && commit === parent && before === null)
    await mustRun(worktree, () => place.run(['symbolic-ref', 'HEAD', headOfBranch(branch)]))
  return {
    ...{ commit, branch, committedFiles: 0, unfinished: { kind, commit: held, ref }, replaced },
    afterResult: null,
    ...leftOutOf(files),
  }
}

/** The folder is gone: what was committed there is what there is. */
async function saveCommits(
  git: Git,
  worktree: Worktree,
  status: WorktreeStatus | null,
  { resultCommit }: SaveAbout,
): Promise<SavedWork> {
  const { repository, branch, baseCommit } = worktree
  const last =
    (status && (await commitIn(git, status))) ?? (await commitAt(git, repository, headOfBranch(branch)))
  const commit = resultCommit ?? last
  if (commit === null || commit === baseCommit) throw notSaved(worktree, 'the folder is gone')
  if (last !== null && last !== commit)
    await mustSet(git, worktree, [[heldRef(branch, 'after-result'), last]])
  const replaced = await mustMove(git, worktree, commit)
  return {
    ...{ commit, branch, committedFiles: 0, leftOut: [], leftOutCount: 0, unfinished: null, replaced },
    afterResult:
      last !== null && last !== commit ? { commit: last, ref: heldRef(branch, 'after-result') } : null,
  }
}

const leftOutOf = ({ leftOut }: SavedTree) => ({ leftOut: leftOut.named, leftOutCount: leftOut.count })

async function isSameWork(git: Git, { repository, root }: Worktree, result: string, commit: string) {
  if (result === commit) return true
  const trees = await Promise.all([result, commit].map((one) => commitAt(git, repository, one)))
  if (trees.includes(null))
    throw new Error(`the commit ${result} of the result is not in the repository of ${root}`)
  return (await git(repository, ['diff-tree', '--quiet', result, commit, '--'])).code === 0
}

async function mustMove(git: Git, worktree: Worktree, commit: string): Promise<string[]> {
  const moved = await moveBranch(git, worktree.repository, worktree.branch, commit)
  if ('why' in moved) throw notSaved(worktree, moved.why)
  return moved.replaced
}

const mustSet = (git: Git, worktree: Worktree, refs: readonly (readonly [string, string])[]) =>
  mustRun(worktree, () => setRefs(git, worktree.repository, refs))

async function mustRun(worktree: Worktree, act: Parameters<typeof unlessLocked>[0]): Promise<void> {
  const end = await unlessLocked(act)
  if (end.code !== 0) throw notSaved(worktree, reasonOf(end))
}
