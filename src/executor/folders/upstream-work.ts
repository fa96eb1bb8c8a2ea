import { answerOf, type Git, unlessLocked } from './git.ts'
import { commitAt, headOfBranch, isAncestor } from './work-refs.ts'

/** The work of upstream tasks in the same repository: a worktree starts from it. */

/** An upstream task whose result is handed on. */
export interface UpstreamWork {
  taskUuid: string
  /** As people know the task: `12`. */
  number?: string
  title: string
  /** The commit of the accepted result; null: it was not recorded, and the tip of the branch is taken. */
  commit: string | null
  branch: string
}

/** Work that could not be merged with the rest. */
export interface MergeConflict {
  title: string
  branch: string
  files: string[]
  commit: string
}

interface Start extends UpstreamWork {
  commit: string
}

const MOST_FILES = 100
const MERGE_TIMEOUT_MS = 300_000

/** Their commits, as far as they are in this repository. */
export async function upstreamCommits(
  git: Git,
  repository: string,
  upstream: readonly UpstreamWork[],
): Promise<Start[]> {
  const starts: Start[] = []
  for (const work of upstream) {
    const commit = await commitAt(git, repository, work.commit ?? headOfBranch(work.branch))
    if (commit !== null && starts.every((one) => one.commit !== commit)) starts.push({ ...work, commit })
  }
  return starts
}

/** What is to be merged: none that another one, or the base, contains. */
export async function upstreamStarts(
  git: Git,
  repository: string,
  base: string,
  upstream: readonly UpstreamWork[],
): Promise<Start[]> {
  const starts = await upstreamCommits(git, repository, upstream)
  const own: Start[] = []
  for (const start of starts) {
    const others = starts.filter((one) => one !== start).map(({ commit }) => commit)
    const known = await Promise.all(others.map((other) => isAncestor(git, repository, start.commit, other)))
    if (!known.includes(true) && !(await contains(git, repository, base, start.commit))) own.push(start)
  }
  return own
}

/**
 * Whether a commit has the work of another: as an ancestor; or because to merge it would change nothing, or all its changes
 * are there one by one, as after a rebase.
 */
export async function contains(
  git: Git,
  repository: string,
  commit: string,
  other: string,
): Promise<boolean> {
  if (await isAncestor(git, repository, other, commit)) return true
  // Older versions of git have no such command, and fail.
  const merged = await answerOf(git, repository, ['merge-tree', '--write-tree', commit, other])
  const tree = await answerOf(git, repository, ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`])
  if (merged !== null && merged === tree) return true
  const flags = ['--cherry-pick', '--right-only', '--max-count=1']
  const missing = await answerOf(git, repository, ['rev-list', ...flags, `${commit}...${other}`, '--'])
  return missing === ''
}

/** Who merges is Baton, whatever the repository or its user say. Nothing is signed, and no program is run. */
const MERGE = [
  ...['-c', 'user.name=Baton', '-c', 'user.email=baton@localhost', '-c', 'rerere.enabled=false', 'merge'],
  ...['--no-edit', '--no-gpg-sign', '--no-verify-signatures', '--no-verify', '--no-stat', '--quiet'],
]

/** Merges them into the worktree, one after the other. One that conflicts is left out and named. */
export async function mergeInto(git: Git, root: string, starts: readonly Start[]): Promise<MergeConflict[]> {
  const conflicts: MergeConflict[] = []
  for (const { title, branch, commit } of starts) {
    const message = `Merge the work of ${title.slice(0, 100)}`
    const end = await unlessLocked(() => git(root, [...MERGE, '-m', message, commit], MERGE_TIMEOUT_MS))
    if (end.code === 0) continue
    const listed = await answerOf(git, root, [
      'diff',
      '--name-only',
      '-z',
      '--diff-filter=U',
      '--no-ext-diff',
    ])
    const files = (listed ?? '').split('\0').filter(Boolean).slice(0, MOST_FILES)
    conflicts.push({ title, branch, files, commit })
    await git(root, ['merge', '--abort'])
  }
  return conflicts
}
