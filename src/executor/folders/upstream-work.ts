import { answerOf, type Git, unlessLocked } from './git.ts'
import { branchOf } from './places.ts'

/** The work of upstream tasks in the same repository: a worktree starts from it. */

/** An upstream task whose result is handed on, and the generation of that result. */
export interface UpstreamWork {
  taskId: string
  generation: number
  title: string
}

/** Work that could not be merged with the rest. */
export interface MergeConflict {
  title: string
  branch: string
  files: string[]
}

interface Start extends Pick<MergeConflict, 'title' | 'branch'> {
  commit: string
}

const MOST_FILES = 20
const MERGE_TIMEOUT_MS = 300_000

/** The tips of their branches, as far as they are in this repository; none that another one, or the base, contains. */
export async function upstreamStarts(
  git: Git,
  repository: string,
  base: string,
  upstream: readonly UpstreamWork[],
): Promise<Start[]> {
  const starts: Start[] = []
  for (const { taskId, generation, title } of upstream) {
    const branch = branchOf(taskId, generation)
    const commit = await answerOf(git, repository, [
      'rev-parse',
      '--verify',
      '--quiet',
      `refs/heads/${branch}`,
    ])
    if (commit !== null && starts.every((one) => one.commit !== commit))
      starts.push({ title, branch, commit })
  }
  const isIn = async (commit: string, other: string) =>
    (await git(repository, ['merge-base', '--is-ancestor', commit, other])).code === 0
  const own: Start[] = []
  for (const start of starts) {
    const others = [base, ...starts.filter((one) => one !== start).map(({ commit }) => commit)]
    const known = await Promise.all(others.map((other) => isIn(start.commit, other)))
    if (!known.includes(true)) own.push(start)
  }
  return own
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
    const listed = await answerOf(git, root, ['diff', '--name-only', '--diff-filter=U', '--no-ext-diff'])
    const files = (listed ?? '').split('\n').filter(Boolean).slice(0, MOST_FILES)
    conflicts.push({ title, branch, files })
    await git(root, ['merge', '--abort'])
  }
  return conflicts
}
