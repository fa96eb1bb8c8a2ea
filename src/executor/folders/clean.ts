import { lstat, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { answerOf, type Git, reasonOf, serialized, unlessLocked } from './git.ts'
import { unlessMissing } from './places.ts'
import { operationIn } from './unfinished.ts'
import { headOfBranch, heldRef } from './work-refs.ts'
import type { Folder, Worktree } from './worktree.ts'
import {
  commitIn,
  isOnBranch,
  repositoryOf,
  type WorktreeStatus,
  worktreeStatusOf,
} from './worktree-status.ts'

/**
 * A worktree is removed only when everything in it is in the repository too. Files that git ignores do not count as work and
 * are removed with it. Stashes and branches belong to the repository and stay.
 */

/** `always`: nothing that was done there is work. */
export type CleanupPolicy = 'never' | 'when_clean' | 'always'

export interface Cleaned {
  isRemoved: boolean
  /** What prevents the removal. */
  why: string | null
  /** A branch without a commit of its own is deleted too. */
  isBranchDeleted: boolean
}

const kept = (why: string): Cleaned => ({ isRemoved: false, why, isBranchDeleted: false })

/** `leftOutCount`: of files that are not in the saved work. */
export async function cleanFolder(
  git: Git,
  { worktree }: Folder,
  policy: CleanupPolicy,
  leftOutCount = 0,
): Promise<Cleaned> {
  if (!worktree) return kept('it is not a worktree')
  if (policy === 'never') return kept('its cleanup setting is never')
  if (policy === 'when_clean' && leftOutCount > 0)
    return kept(`${leftOutCount} ${leftOutCount === 1 ? 'file is' : 'files are'} not in the saved work`)
  const remove = policy === 'always' ? removeInAnyCase : removeWhenClean
  return serialized(worktree.repository, () => remove(git, worktree))
}

async function removeInAnyCase(git: Git, worktree: Worktree): Promise<Cleaned> {
  const { root, repository, branch } = worktree
  const end = await unlessLocked(() =>
    git(repository, ['worktree', 'remove', '--force', '--force', '--', root]),
  )
  if (end.code !== 0) return kept(reasonOf(end))
  await removeEmptyFolders(dirname(root))
  const ended = await unlessLocked(() => git(repository, ['update-ref', '-d', `refs/heads/${branch}`]))
  return { isRemoved: true, why: null, isBranchDeleted: ended.code === 0 }
}

/** Call it only inside `serialized` for the repository. */
export async function removeWhenClean(git: Git, worktree: Worktree): Promise<Cleaned> {
  const { root, repository, baseCommit } = worktree
  const status = await worktreeStatusOf(repository, root)
  if (!status) return kept('git does not know it as a worktree')
  const isThere = (await unlessMissing(lstat(root))) !== null
  const why =
    (isThere && (await filesThatWouldBeLost(git, worktree, status))) ||
    (await commitsThatWouldBeLost(git, worktree, status))
  if (why) return kept(why)
  // Without force: git checks again for itself whether there is work in it.
  const end = await unlessLocked(() => git(repository, ['worktree', 'remove', '--', root]))
  if (end.code !== 0) return kept(reasonOf(end))
  await removeEmptyFolders(dirname(root))
  return { isRemoved: true, why: null, isBranchDeleted: await deleteUnusedBranch(git, worktree, baseCommit) }
}

async function filesThatWouldBeLost(
  git: Git,
  worktree: Worktree,
  { record }: WorktreeStatus,
): Promise<string | null> {
  const { root, repository } = worktree
  if ((await repositoryOf(git, root)) !== repository) return 'it no longer belongs to its repository'
  if (await operationIn(record)) return 'it has an unfinished git operation'
  const tracked = await trackedIn(git, root)
  if (tracked === null) return 'git does not list the files in it'
  // Git removes no worktree with submodules; and to inspect one, it would run with the submodule's own settings.
  if (tracked.some(({ isSubmodule }) => isSubmodule)) return 'it has submodules'
  const flags = ['--porcelain', '-z', '--ignore-submodules=dirty', '--no-renames']
  const changes = await git(root, ['status', ...flags])
  if (changes.code !== 0 && changes.code !== null) return reasonOf(changes)
  const count = changes.stdout.split('\0').length - 1
  if (count > 0) return `${count} ${count === 1 ? 'file is' : 'files are'} not committed`
  for (const { isHidden, path } of tracked)
    if (isHidden && (await exists(join(root, path))))
      return 'git is configured to ignore changes to some of its files'
  return null
}

async function commitsThatWouldBeLost(
  git: Git,
  worktree: Worktree,
  status: WorktreeStatus,
): Promise<string | null> {
  const { repository, branch } = worktree
  const commit = await commitIn(git, status)
  if (commit === null) return 'its HEAD has no commit'
  return (await isOnBranch(git, repository, branch, commit)) ? null : 'it has commits that are on no branch'
}

const exists = async (path: string) => (await unlessMissing(lstat(path))) !== null

interface Tracked {
  path: string
  isSubmodule: boolean
  /** Git is configured to treat it as unchanged (`h`) or as absent (`S`): it may have changed all the same. */
  isHidden: boolean
}

/** Null when there are too many to list. */
async function trackedIn(git: Git, root: string): Promise<Tracked[] | null> {
  const { code, stdout } = await git(root, ['ls-files', '-v', '--stage', '-z'])
  if (code !== 0) return null
  const lines = stdout.split('\0').filter((line) => line !== '')
  return lines.map((line) => ({
    path: line.slice(line.indexOf('\t') + 1),
    isSubmodule: line.slice(2).startsWith('160000 '),
    isHidden: /^[a-zS] /.test(line),
  }))
}

async function deleteUnusedBranch(
  git: Git,
  { repository, branch }: Worktree,
  baseCommit: string,
): Promise<boolean> {
  const ref = headOfBranch(branch)
  const tip = await answerOf(git, repository, ['rev-parse', '--verify', '--quiet', ref])
  if (tip === null) return false
  const own = await answerOf(git, repository, ['rev-list', '--max-count=1', `${baseCommit}..${tip}`])
  const elsewhere = await answerOf(git, repository, ['worktree', 'list', '--porcelain'])
  if (own !== '' || elsewhere === null || elsewhere.split('\n').includes(`branch ${ref}`)) return false
  // Only if the tip is unchanged: a commit made just now is not lost.
  const end = await unlessLocked(() => git(repository, ['update-ref', '-d', ref, tip]))
  await git(repository, ['update-ref', '-d', heldRef(branch, 'saved'), tip])
  return end.code === 0
}

/** Removes the folders of the task and the workspace if they are empty. */
async function removeEmptyFolders(task: string): Promise<void> {
  await rmdir(task)
    .then(() => rmdir(dirname(task)))
    .catch(() => undefined)
}
