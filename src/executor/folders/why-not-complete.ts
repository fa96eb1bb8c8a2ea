import { MarkerSearch } from './conflict-markers.ts'
import type { Git } from './git.ts'
import { contains, type MergeConflict, type UpstreamWork, upstreamCommits } from './upstream-work.ts'

/** What is missing in the work of a task that joins the work of others. Reads commits only. */

export type Incomplete =
  /** The commit does not have the work of an upstream task. */
  | { kind: 'lacks_upstream'; taskUuid: string; message: string }
  /** A file that conflicted still has the marks of the conflict. */
  | { kind: 'conflict_markers'; file: string; message: string }

interface About {
  commit: string
  upstream: readonly UpstreamWork[]
  /** What could not be merged when the work began. */
  conflicts: readonly Pick<MergeConflict, 'files'>[]
}

/** Empty when nothing is missing. Upstream work in other repositories does not count. */
export async function whyNotComplete(
  git: Git,
  repository: string,
  { commit, upstream, conflicts }: About,
): Promise<Incomplete[]> {
  const problems: Incomplete[] = []
  for (const { taskUuid, number, title, commit: other } of await upstreamCommits(git, repository, upstream)) {
    if (await contains(git, repository, commit, other)) continue
    const name = number === undefined ? JSON.stringify(title.slice(0, 100).toWellFormed()) : `#${number}`
    problems.push({ kind: 'lacks_upstream', taskUuid, message: `does not contain ${name}` })
  }
  for (const file of new Set(conflicts.flatMap(({ files }) => files)))
    if (await hasMarkers(git, repository, commit, file))
      problems.push({ kind: 'conflict_markers', file, message: `has conflict markers in ${file}` })
  return problems
}

/** A file that is gone has none. */
async function hasMarkers(git: Git, repository: string, commit: string, file: string): Promise<boolean> {
  const search = new MarkerSearch()
  const onOutput = (piece: Buffer) => {
    search.take(piece)
    return !search.isFound
  }
  await git(repository, ['cat-file', 'blob', `${commit}:${file}`], undefined, { onOutput })
  return search.isFound
}
