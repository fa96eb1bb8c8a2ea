import { hash } from 'node:crypto'
import { basename } from 'node:path'
import type { MissionChanges, MissionChangesAsked } from '../../door/execution.ts'
import type { MissionWork } from '../../kinds/mission/record.ts'
import { Refused } from '../../pure/errors.ts'
import { grouped } from '../../pure/grouped.ts'
import { changedFiles } from './changed-files.ts'
import { diffOf, folderOf, MOST_FILES, quoted } from './changes.ts'
import { type CommitGraph, commitsAbove, commonBase, tipsAmong, withoutWork } from './commit-graph.ts'
import { type Git, GitFailed } from './git.ts'
import { type Merged, mergeAll, withScratch } from './merged-work.ts'
import { isFolder } from './places.ts'
import { FolderRefused } from './refused.ts'
import { missingOf, taskRefs } from './task-refs.ts'

/** Names for repositories that are shown to people who may not see paths: of their folders, made unique where two are equal. */
export function repositoryNames(repositories: readonly string[]): (repository: string) => string {
  const plain = (repository: string) => basename(folderOf(repository)) || 'repository'
  const counts = new Map<string, number>()
  for (const repository of repositories) {
    const name = plain(repository)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return (repository) => {
    const name = plain(repository)
    return counts.get(name) === 1 ? name : `${name}-${hash('sha256', repository, 'hex').slice(0, 6)}`
  }
}

/**
 * The whole change of a mission: the accepted commits of its tasks, by repository. Runs no program of a repository, and writes
 * nothing to it.
 */

type RepositoryChanges = MissionChanges['repositories'][number]
type Located = MissionWork & { repository: string; branch: string; baseCommit: string }

interface Bounds {
  mostMerged: number
  /** For one repository; what is not done by then is left out, and the answer says so. */
  longestMs: number
}
const BOUNDS: Bounds = { mostMerged: 100, longestMs: 20_000 }
const MOST_BRANCHES = 1_000
const IS_COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

export async function missionChanges(
  git: Git,
  works: readonly MissionWork[],
  { repository: wanted, path }: MissionChangesAsked,
  bounds = BOUNDS,
): Promise<MissionChanges> {
  const located = works.filter(isLocated)
  const groups = grouped(located, ({ repository }) => repository)
  if (path !== null && wanted === null && groups.size > 1)
    throw Refused.field('VALIDATION_FAILED', 'repository', 'is needed with a path: the mission has several')
  const nameOf = repositoryNames([...groups.keys()])
  const repositories: RepositoryChanges[] = []
  const elsewhere: MissionChanges['elsewhere'][number][] = []
  for (const [repository, group] of groups) {
    const name = nameOf(repository)
    if (wanted !== null && wanted !== name) continue
    const changes = await changesIn(git, { repository, name }, group, { path, bounds })
    if (changes) repositories.push({ repository: name, ...changes })
    else
      for (const [node, those] of grouped(group, (work) => work.node))
        elsewhere.push({ repository: name, node, taskCount: those.length })
  }
  const nowhere = works.length - located.length
  if (nowhere > 0 && wanted === null) elsewhere.push({ repository: null, node: null, taskCount: nowhere })
  return { repositories, elsewhere }
}

const isLocated = (work: MissionWork): work is Located =>
  work.repository !== null &&
  work.branch !== null &&
  IS_COMMIT.test(work.baseCommit ?? '') &&
  IS_COMMIT.test(work.commit)

interface Asked {
  path: string | null
  bounds: Bounds
}

/** Null: the repository is not here, or has none of the work. */
async function changesIn(
  git: Git,
  { repository, name }: { repository: string; name: string },
  works: readonly Located[],
  asked: Asked,
): Promise<Omit<RepositoryChanges, 'repository'> | null> {
  if (!(await isFolder(repository))) return null
  try {
    const commits = new Set(works.flatMap(({ commit, baseCommit }) => [commit, baseCommit]))
    const missing = await missingOf(git, repository, [...commits])
    const there = works.filter((work) => !missing.has(work.commit) && !missing.has(work.baseCommit))
    if (there.length === 0) return null
    const changes = await wholeChange(git, repository, there, asked)
    return { ...changes, taskCount: works.length, missingCount: works.length - there.length }
  } catch (error) {
    if (error instanceof GitFailed || error instanceof FolderRefused)
      throw new Refused('CHANGES_UNAVAILABLE', `git could not read the repository ${name} on this node.`)
    throw error
  }
}

async function wholeChange(
  git: Git,
  repository: string,
  works: readonly Located[],
  { path, bounds: { mostMerged, longestMs } }: Asked,
) {
  const lateAt = performance.now() + longestMs
  const isLate = () => performance.now() > lateAt
  const accepted = new Set(works.map(({ commit }) => commit))
  const bases = [...new Set(works.map(({ baseCommit }) => baseCommit))]
  const below = await commonBase(git, repository, bases)
  const graph = await commitsAbove(git, repository, [...accepted, ...bases], below)
  const base = (await baseOf(git, repository, graph, bases, accepted)) ?? below ?? bases[0]!
  const tips = tipsAmong(graph, accepted)
  const workAt = new Map(works.toReversed().map((work) => [work.commit, work]))
  const refs = await taskRefs(git, repository)
  const tipOf = new Map(refs.map(({ ref, commit }) => [ref, commit]))
  const branches = tips.slice(0, MOST_BRANCHES).map((tip) => branchOf(workAt.get(tip)!, tipOf))
  return withScratch(git, repository, async (scratch) => {
    const merged = await mergeAll(scratch, repository, { base, tips, mostMerged, isLate })
    const commits = [base, merged.commit]
    const files = await changedFiles(scratch, repository, commits)
    const total = (figure: 'added' | 'deleted') => files.reduce((sum, file) => sum + (file[figure] ?? 0), 0)
    const folder = folderOf(repository)
    return {
      ...{ path: folder, base, branches, branchCount: tips.length },
      conflicts: merged.conflicts.map(({ commits: between, ...conflict }) => ({
        ...conflict,
        branches: between.map((commit) => workAt.get(commit)!.branch),
      })),
      ...{ fileCount: files.length, added: total('added'), deleted: total('deleted') },
      files: files.slice(0, MOST_FILES),
      diff: path === null ? null : await diffOf(scratch, { folder: repository, commits }, files, path),
      mergeCommands: branches.map(
        ({ branch, commit, isThere }) => `git -C ${quoted(folder)} merge ${isThere ? branch : commit}`,
      ),
      cut: whatIsCut(graph, tips, merged),
    }
  })
}

/**
 * Where the mission began: the newest commit that one of its tasks started from, of those without its own work. Null: all
 * started from the same.
 */
async function baseOf(
  git: Git,
  repository: string,
  graph: CommitGraph,
  bases: readonly string[],
  accepted: ReadonlySet<string>,
): Promise<string | null> {
  const known = new Set(bases.filter((base) => graph.parentsOf.has(base)))
  const newest = tipsAmong(graph, withoutWork(graph, known, accepted))
  return newest.length <= 1 ? (newest[0] ?? null) : commonBase(git, repository, newest)
}

const branchOf = (
  { branch, commit, taskUuid, number, title, generation, agent }: Located,
  tipOf: ReadonlyMap<string, string>,
): RepositoryChanges['branches'][number] => ({
  ...{ branch, isThere: tipOf.get(`refs/heads/${branch}`) === commit, commit },
  ...{ taskId: taskUuid, number, title, generation, agent },
})

function whatIsCut(graph: CommitGraph, tips: readonly string[], { mergedCount }: Merged): string | null {
  if (graph.isCut)
    return `The history of the mission is too long: the first ${graph.order.length} commits were read.`
  if (mergedCount < tips.length)
    return `The first ${mergedCount} of ${tips.length} branches were merged: files and conflicts are of those.`
  if (tips.length > MOST_BRANCHES) return `The first ${MOST_BRANCHES} branches are listed.`
  return null
}
