import { answerOf, type Git } from './git.ts'
import { SAFE_FLAGS } from './safe-diff.ts'
import type { Folder } from './worktree.ts'
import { repositoryOf } from './worktree-status.ts'

/** What a run left in its worktree, as figures for the row of the run. */

interface Changes {
  filesChanged: number
  insertions: number
  deletions: number
}

export interface FolderRecord {
  branch: string
  baseCommit: string
  /** The commit of HEAD now; null when it has none. */
  commit: string | null
  /** From the base to that commit. */
  committed: Changes & { commits: number }
  /** What is not committed yet. New files are counted; their lines are not. */
  uncommitted: Changes
  isDirty: boolean
}

const NOTHING: Changes = { filesChanged: 0, insertions: 0, deletions: 0 }

/** Null when the folder is not, or no longer, a worktree. */
export async function recordFolder(git: Git, { worktree }: Folder): Promise<FolderRecord | null> {
  if (!worktree || (await repositoryOf(git, worktree.root)) !== worktree.repository) return null
  const { root, branch, baseCommit } = worktree
  const commit = await answerOf(git, root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  const between = (...commits: string[]) => changesIn(git, root, commits)
  const [committed, tracked, commits, newFiles] = await Promise.all([
    commit ? between(baseCommit, commit) : NOTHING,
    commit ? between(commit) : NOTHING,
    commit ? answerOf(git, root, ['rev-list', '--count', `${baseCommit}..${commit}`]) : '0',
    countNewFiles(git, root),
  ])
  const uncommitted = { ...tracked, filesChanged: tracked.filesChanged + newFiles }
  return {
    branch,
    baseCommit,
    commit,
    committed: { ...committed, commits: Number(commits ?? 0) },
    uncommitted,
    isDirty: uncommitted.filesChanged > 0,
  }
}

/** Between two commits, or between one and the current files. Runs no program that the repository names. */
async function changesIn(git: Git, root: string, commits: readonly string[]): Promise<Changes> {
  const stat = (await answerOf(git, root, ['diff', '--shortstat', ...SAFE_FLAGS, ...commits, '--'])) ?? ''
  const figure = (pattern: RegExp) => Number(stat.match(pattern)?.[1] ?? 0)
  return {
    filesChanged: figure(/(\d+) files? changed/),
    insertions: figure(/(\d+) insertions?/),
    deletions: figure(/(\d+) deletions?/),
  }
}

/** As many as git could list: of millions, the first part is enough. */
async function countNewFiles(git: Git, root: string): Promise<number> {
  const { stdout } = await git(root, ['ls-files', '--others', '--exclude-standard', '-z'])
  return stdout.split('\0').length - 1
}
