import { answerOf, type Git } from './git.ts'
import { SAFE_FLAGS } from './safe-diff.ts'
import type { SavedWork } from './save-work.ts'
import type { Worktree } from './worktree.ts'

/** What a run did in its worktree, as figures for the row of the run. */

interface Changes {
  filesChanged: number
  insertions: number
  deletions: number
}

/** What was done in a worktree and saved: all figures are of commits. */
export interface FolderRecord {
  branch: string
  baseCommit: string
  /** Where the run began. */
  startCommit: string
  commit: string
  /** From the base of the task to that commit. */
  committed: Changes & { commits: number }
  /** What the run itself added. */
  attempt: Changes & { commits: number }
  /** Files were left out, or an operation of git is unfinished. */
  isDirty: boolean
}

interface Saved {
  commit: string
  leftOutCount: number
  unfinished: SavedWork['unfinished']
}

/** Reads commits only: the folder may be gone, or in use for a later generation. */
export async function recordWork(
  git: Git,
  { repository, branch, baseCommit }: Pick<Worktree, 'repository' | 'branch' | 'baseCommit'>,
  startCommit: string,
  { commit, leftOutCount, unfinished }: Saved,
): Promise<FolderRecord> {
  const since = async (from: string) => {
    const [changes, commits] = await Promise.all([
      changesIn(git, repository, [from, commit]),
      answerOf(git, repository, ['rev-list', '--count', `${from}..${commit}`, '--']),
    ])
    return { ...changes, commits: Number(commits ?? 0) }
  }
  const committed = await since(baseCommit)
  const attempt = startCommit === baseCommit ? committed : await since(startCommit)
  const isDirty = leftOutCount > 0 || unfinished !== null
  return { branch, baseCommit, startCommit, commit, committed, attempt, isDirty }
}

/** Runs no program that the repository names. */
async function changesIn(git: Git, root: string, commits: readonly string[]): Promise<Changes> {
  const stat = (await answerOf(git, root, ['diff', '--shortstat', ...SAFE_FLAGS, ...commits, '--'])) ?? ''
  const figure = (pattern: RegExp) => Number(stat.match(pattern)?.[1] ?? 0)
  return {
    filesChanged: figure(/(\d+) files? changed/),
    insertions: figure(/(\d+) insertions?/),
    deletions: figure(/(\d+) deletions?/),
  }
}
