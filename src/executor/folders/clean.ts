import { lstat, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { answerOf, type Git, inTurn, reasonOf, unlessLocked } from './git.ts'
import { unlessMissing } from './places.ts'
import { commitIn, isOnBranch, repositoryOf, type Standing, standingOf } from './standing.ts'
import type { Folder, Worktree } from './worktree.ts'

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
  const standing = await standingOf(repository, root)
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
  { record }: Standing,
): Promise<string | null> {
  const { root, repository } = worktree
  if ((await repositoryOf(git, root)) !== repository) return 'it does not belong to its repository any more'
  for (const name of UNFINISHED)
    if (await exists(join(record, name))) return 'git has something in it that is not finished'
  const flags = ['--porcelain', '-z', '--ignore-submodules=none', '--no-renames']
  const changes = await git(root, ['status', ...flags])
  if (changes.code !== 0 && changes.code !== null) return reasonOf(changes)
  const count = changes.stdout.split('\0').length - 1
  if (count > 0) return `${count} ${count === 1 ? 'file is' : 'files are'} in no commit`
  return (await hasHiddenFiles(git, root)) ? 'git was told not to look at some of its files' : null
}

async function commitsThatWouldBeLost(
  git: Git,
  worktree: Worktree,
  standing: Standing,
): Promise<string | null> {
  const { repository, branch } = worktree
  const commit = await commitIn(git, standing)
  if (commit === null) return 'what is checked out has no commit'
  return (await isOnBranch(git, repository, branch, commit)) ? null : 'it has commits that are on no branch'
}

const exists = async (path: string) => (await unlessMissing(lstat(path))) !== null

/** Files that git was told to take as unchanged (`h`) or as not there (`S`) may have been changed all the same. */
async function hasHiddenFiles(git: Git, root: string): Promise<boolean> {
  const { code, stdout } = await git(root, ['ls-files', '-v', '-z'])
  if (code !== 0) return true
  for (const line of stdout.split('\0'))
    if (/^[a-zS] /.test(line) && (await exists(join(root, line.slice(2))))) return true
  return false
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
