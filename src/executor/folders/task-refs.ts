import { answerOf, type Git, GitFailed, outputOf, reasonOf, unlessLocked } from './git.ts'
import type { GitEnd } from './run-git.ts'

/**
 * The branches of tasks in a repository, and what Baton recorded beside them. Agents can write all of this: a ref says which
 * task it claims to be of, and nothing more.
 */

export interface TaskRef {
  ref: string
  commit: string
  /** The name of the task in refs; its id, unless that could not be part of one. */
  task: string
  generation: number
}

/** `refs/heads/baton/<task>/gen-<n>`, what was saved beside it, and commits of folders that were lost. */
const OF_TASK = /^refs\/(?:heads\/)?baton\/([^/]+)\/gen-(\d{1,9})(?:$|-lost-|\/)/

/** In all of the repository, or of one task. */
export async function taskRefs(git: Git, repository: string, task?: string): Promise<TaskRef[]> {
  const below = task === undefined ? '' : `/${task}`
  const listed = await outputOf(git, repository, [
    ...['for-each-ref', '--format=%(objectname) %(refname)'],
    ...[`refs/heads/baton${below}`, `refs/baton${below}`],
  ])
  return listed.split('\n').flatMap((line) => {
    const [commit = '', ref = ''] = line.split(' ')
    const [, name, generation] = OF_TASK.exec(ref) ?? []
    if (name === undefined || (task !== undefined && name !== task)) return []
    return [{ ref, commit, task: name, generation: Number(generation) }]
  })
}

/** Not of Baton, here or at a remote: what agents leave there may be removed again. */
const OF_BATON = /^refs\/(?:heads|remotes\/[^/]+)\/baton\//

/** Which of these commits branches of people contain, here or at their remotes. */
export async function heldByPeople(
  git: Git,
  repository: string,
  commits: readonly string[],
): Promise<Set<string>> {
  if (commits.length === 0) return new Set()
  const listed = await outputOf(git, repository, [
    ...['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/remotes'],
  ])
  const tips = new Set(
    listed
      .split('\n')
      .map((line) => line.split(' '))
      .flatMap(([tip, ref = '']) => (ref === '' || OF_BATON.test(ref) ? [] : [tip!])),
  )
  if (tips.size === 0) return new Set()
  // What is listed is in none of their branches.
  const held = new Set(commits)
  const end = await readLines(
    git,
    repository,
    ['rev-list', '--ignore-missing', '--stdin'],
    [...commits, ...[...tips].map((tip) => `^${tip}`)],
    (commit) => {
      held.delete(commit)
      return true
    },
  )
  if (end.code !== 0) throw new GitFailed(`git rev-list failed in ${repository}: ${reasonOf(end)}`)
  for (const commit of await missingOf(git, repository, commits)) held.delete(commit)
  return held
}

/** Those that the repository does not have. */
export async function missingOf(
  git: Git,
  repository: string,
  commits: readonly string[],
): Promise<Set<string>> {
  const missing = new Set(commits)
  if (commits.length === 0) return missing
  const end = await readLines(git, repository, ['cat-file', '--batch-check'], commits, (line) => {
    const [, name] = /^(\S+) commit /.exec(line) ?? []
    if (name !== undefined) missing.delete(name)
    return true
  })
  if (end.code !== 0) throw new GitFailed(`git cat-file failed in ${repository}: ${reasonOf(end)}`)
  return missing
}

/** Hands lines of git to `take` as they come, until it returns false: lists may be of any length. */
export async function readLines(
  git: Git,
  repository: string,
  args: readonly string[],
  input: readonly string[],
  take: (line: string) => boolean,
): Promise<GitEnd> {
  let rest = ''
  let isStopped = false
  const end = await git(repository, args, undefined, {
    input: Buffer.from(`${input.join('\n')}\n`),
    onOutput: (chunk) => {
      const lines = (rest + chunk.toString('utf8')).split('\n')
      rest = lines.pop()!
      isStopped ||= !lines.every(take)
      return !isStopped
    },
  })
  return isStopped ? { ...end, code: 0 } : end
}

/** The branches that are checked out, and in which folders: without its branch, a folder would have none. */
export async function checkedOut(git: Git, repository: string): Promise<Map<string, string[]>> {
  const listed = (await answerOf(git, repository, ['worktree', 'list', '--porcelain', '-z'])) ?? ''
  const folders = new Map<string, string[]>()
  for (const lines of listed.split('\0\0').map((entry) => entry.split('\0'))) {
    const branch = lines.find((line) => line.startsWith('branch '))?.slice('branch '.length)
    const root = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length)
    // A folder that was deleted.
    if (lines.some((line) => line.startsWith('prunable'))) continue
    if (branch && root) folders.set(branch, [...(folders.get(branch) ?? []), root])
  }
  return folders
}

/** Removes refs that are still where they were seen, all or none. `isTrial`: only finds out whether that is possible. */
export async function removeRefs(
  git: Git,
  repository: string,
  refs: readonly TaskRef[],
  isTrial = false,
): Promise<string | null> {
  if (refs.length === 0) return null
  const lines = refs.map(({ ref, commit }) => `delete ${ref} ${commit}`)
  const end = isTrial ? 'prepare\nabort\n' : 'prepare\ncommit\n'
  const input = Buffer.from(`start\n${lines.join('\n')}\n${end}`)
  const removed = await unlessLocked(() => git(repository, ['update-ref', '--stdin'], undefined, { input }))
  return removed.code === 0 ? null : reasonOf(removed)
}
