import { lstat, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { answerOf, type Git, inTurn, reasonOf, unlessLocked } from './git.ts'
import { unlessMissing } from './places.ts'
import type { Folder, Worktree } from './worktree.ts'
import {
  commitIn,
  isOnBranch,
  repositoryOf,
  type WorktreeStatus,
  worktreeStatusOf,
} from './worktree-status.ts'

/**
 * Worktrees are removed when all that is in them is in the repository too, and never otherwise. Whatever git ignores is no
 * work: it goes with them. Stashes and branches are the repository's, and stay.
 */

export type CleanupPolicy = 'never' | 'when_clean'

export interface Cleaned {
  isRemoved: boolean
  /** What is in the way. */
  why: string | null
  /** A branch without a commit of its own is worth nothing. */
  isBranchDeleted: boolean
}

const kept = (why: string): Cleaned => ({ isRemoved: false, why, isBranchDeleted: false })

export async function cleanFolder(git: Git, folder: Folder, policy: CleanupPolicy): Promise<Cleaned> {
  const { worktree } = folder
  if (!worktree) return kept('it is no worktree')
  if (policy === 'never') return kept('it is to be kept')
  return inTurn(worktree.repository, () => removeWhenClean(git, worktree))
}

/** Only for whoever has the repository to itself. */
export async function removeWhenClean(git: Git, worktree: Worktree): Promise<Cleaned> {
  const { root, repository, baseCommit } = worktree
  const standing = await worktreeStatusOf(repository, root)
  if (!standing) return kept('git does not know it as a worktree')
  const isThere = (await unlessMissing(lstat(root))) !== null
  const why =
    (isThere && (await filesThatWouldBeLost(git, worktree, standing))) ||
    (await commitsThatWouldBeLost(git, worktree, standing))
  if (why) return kept(why)
  // Without force: git looks for itself again whether there is work in it.
  const end = await unlessLocked(() => git(repository, ['worktree', 'remove', '--', root]))
  if (end.code !== 0) return kept(reasonOf(end))
  await removeEmptyFolders(dirname(root))
  return { isRemoved: true, why: null, isBranchDeleted: await deleteIdle(git, worktree, baseCommit) }
}

/** Git notes here what it has not finished; a rebase may stand at a commit with nothing changed. */
const UNFINISHED = [
  'rebase-merge',
  'rebase-apply',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'sequencer',
]

async function filesThatWouldBeLost(
  git: Git,
  worktree: Worktree,
  { record }: WorktreeStatus,
): Promise<string | null> {
  const { root, repository } = worktree
  if ((await repositoryOf(git, root)) !== repository) return 'it does not belong to its repository any more'
  for (const name of UNFINISHED)
    if (await exists(join(record, name))) return 'git has something in it that is not finished'
  const tracked = await trackedIn(git, root)
  if (tracked === null) return 'git does not say which files are in it'
  // Git removes no worktree with submodules; and to look into one, it would run with the submodule's own settings.
  if (tracked.some(({ isSubmodule }) => isSubmodule)) return 'it has submodules in it'
  const flags = ['--porcelain', '-z', '--ignore-submodules=dirty', '--no-renames']
  const changes = await git(root, ['status', ...flags])
  if (changes.code !== 0 && changes.code !== null) return reasonOf(changes)
  const count = changes.stdout.split('\0').length - 1
  if (count > 0) return `${count} ${count === 1 ? 'file is' : 'files are'} in no commit`
  for (const { isHidden, path } of tracked)
    if (isHidden && (await exists(join(root, path)))) return 'git was told not to look at some of its files'
  return null
}

async function commitsThatWouldBeLost(
  git: Git,
  worktree: Worktree,
  standing: WorktreeStatus,
): Promise<string | null> {
  const { repository, branch } = worktree
  const commit = await commitIn(git, standing)
  if (commit === null) return 'what is checked out has no commit'
  return (await isOnBranch(git, repository, branch, commit)) ? null : 'it has commits that are on no branch'
}

const exists = async (path: string) => (await unlessMissing(lstat(path))) !== null

interface Tracked {
  path: string
  isSubmodule: boolean
  /** Git was told to take it as unchanged (`h`) or as not there (`S`): it may have been changed all the same. */
  isHidden: boolean
}

/** Null when there are too many to be listed. */
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

async function deleteIdle(git: Git, { repository, branch }: Worktree, baseCommit: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`
  const tip = await answerOf(git, repository, ['rev-parse', '--verify', '--quiet', ref])
  if (tip === null) return false
  const own = await answerOf(git, repository, ['rev-list', '--max-count=1', `${baseCommit}..${tip}`])
  const elsewhere = await answerOf(git, repository, ['worktree', 'list', '--porcelain'])
  if (own !== '' || elsewhere === null || elsewhere.split('\n').includes(`branch ${ref}`)) return false
  // Only as it was looked at: a commit that came just now is not lost.
  const end = await unlessLocked(() => git(repository, ['update-ref', '-d', ref, tip]))
  return end.code === 0
}

/** The folders of the task and the workspace, unless something else is in them. */
async function removeEmptyFolders(task: string): Promise<void> {
  await rmdir(task)
    .then(() => rmdir(dirname(task)))
    .catch(() => undefined)
}
