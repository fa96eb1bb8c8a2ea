import { answerOf, type Git, GitFailed, reasonOf } from './git.ts'
import { readLines } from './task-refs.ts'

/** The commits of a mission, and how they follow each other: from its work down to where it began. */

export interface CommitGraph {
  /** Each commit before its parents. */
  order: readonly string[]
  parentsOf: ReadonlyMap<string, readonly string[]>
  /** There are more. */
  isCut: boolean
}

const MOST_COMMITS = 100_000
/** Enough to find where the history of a mission begins: its first tasks are among the first. */
const BASES_COMPARED = 20

/** The commit that all bases contain; null: they have no common history. */
export async function commonBase(
  git: Git,
  repository: string,
  bases: readonly string[],
): Promise<string | null> {
  const [first, ...more] = bases.slice(0, BASES_COMPARED)
  if (first === undefined || more.length === 0) return first ?? null
  const common = await answerOf(git, repository, ['merge-base', '--octopus', first, ...more])
  return common === '' ? null : common
}

/** What these commits have beyond `below`. */
export async function commitsAbove(
  git: Git,
  repository: string,
  commits: readonly string[],
  below: string | null,
): Promise<CommitGraph> {
  const parentsOf = new Map<string, readonly string[]>()
  let isCut = false
  const from = [...commits, ...(below === null ? [] : [`^${below}`])]
  const end = await readLines(
    git,
    repository,
    ['rev-list', '--topo-order', '--parents', '--stdin'],
    from,
    (line) => {
      const [commit, ...parents] = line.split(' ')
      parentsOf.set(commit!, parents)
      isCut = parentsOf.size >= MOST_COMMITS
      return !isCut
    },
  )
  if (end.code !== 0) throw new GitFailed(`git rev-list failed in ${repository}: ${reasonOf(end)}`)
  return { order: [...parentsOf.keys()], parentsOf, isCut }
}

/** Those that no other of them contains, of the commits in the graph. */
export function tipsAmong({ order, parentsOf }: CommitGraph, commits: ReadonlySet<string>): string[] {
  const contained = new Set<string>()
  for (const commit of order)
    if (commits.has(commit) || contained.has(commit))
      for (const parent of parentsOf.get(commit)!) contained.add(parent)
  return order.filter((commit) => commits.has(commit) && !contained.has(commit))
}

/** Those that contain none of the work. */
export function withoutWork(
  { order, parentsOf }: CommitGraph,
  commits: ReadonlySet<string>,
  work: ReadonlySet<string>,
): Set<string> {
  const worked = new Set<string>()
  for (const commit of order.toReversed())
    if (work.has(commit) || parentsOf.get(commit)!.some((parent) => worked.has(parent))) worked.add(commit)
  return new Set([...commits].filter((commit) => !worked.has(commit)))
}
