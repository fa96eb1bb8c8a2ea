import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from './git.ts'
import { unlessMissing } from './places.ts'
import { type Operation, operationIn } from './unfinished.ts'
import { commitAt, headOfBranch, removeStaleLocks, setRefs } from './work-refs.ts'
import { gitOfWorktree, type WorktreeGit } from './worktree-git.ts'
import { markComplete, repositoryOf, type WorktreeStatus, writeMark } from './worktree-status.ts'

/** Work that goes on in a new generation: on its own branch, in the folder of the generation before it if possible. */

export interface WorkStart {
  /** The last commit of the work. */
  commit: string
  /** What the work of the task is compared with, from its first generation on. */
  baseCommit: string
  /** The folder in which it was done; null: it cannot be used, for example because a process may still work there. */
  root: string | null
}

/** The work to go on with is not in the repository of this machine. */
export class WorkMissing extends Error {
  override name = 'WorkMissing'
}

export async function mustBeThere(git: Git, repository: string, start: WorkStart): Promise<void> {
  for (const commit of [start.commit, start.baseCommit])
    if ((await commitAt(git, repository, commit)) === null)
      throw new WorkMissing(`The commit ${commit}, where the work goes on, is not in ${repository}.`)
}

interface TakeOver {
  root: string
  repository: string
  branch: string
  start: WorkStart
}

/**
 * Lets a generation work in the folder of the one before it. Ignored files, files that were left out and an unfinished
 * operation stay. False: the folder is in another state than the work, and cannot be used. May be repeated after a crash.
 */
export async function takeOver(git: Git, status: WorktreeStatus, about: TakeOver): Promise<boolean> {
  const { root, repository, branch, start } = about
  const { record } = status
  if ((await repositoryOf(git, root)) !== repository) return false
  const tip = await commitAt(git, repository, headOfBranch(branch))
  if (tip !== null && tip !== start.commit) return false
  await removeStaleLocks(repository, record, branch)
  const place = gitOfWorktree(git, { root, record })
  const operation = await operationIn(record)
  if (!(await isAt(git, place, operation, about))) return false
  if ((await setRefs(git, repository, [[headOfBranch(branch), start.commit]])).code !== 0) return false
  if (operation?.original) await renameInOperation(record, status.branch, branch)
  else await place.output(['symbolic-ref', 'HEAD', headOfBranch(branch)])
  await markComplete(status, start.baseCommit, branch)
  return true
}

/** Whether the files are those of the commit; they are brought there if nothing is in the way. */
async function isAt(
  git: Git,
  place: WorktreeGit,
  operation: Operation | null,
  { repository, start }: TakeOver,
): Promise<boolean> {
  if (operation?.original) return (await commitAt(git, repository, operation.original)) === start.commit
  const head = await place.answer(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  if (head === start.commit) return true
  if (head === null || operation) return false
  return (await place.run(['read-tree', '-m', '-u', head, start.commit])).code === 0
}

/** A rebase ends by moving the branch it began on, and a bisection returns to it: the new one instead of the old one. */
async function renameInOperation(record: string, old: string | null, branch: string): Promise<void> {
  const names = {
    'rebase-merge/head-name': headOfBranch,
    'rebase-apply/head-name': headOfBranch,
    BISECT_START: (name: string) => name,
  }
  for (const [file, nameOf] of Object.entries(names)) {
    const text = await unlessMissing(readFile(join(record, file), 'utf8'))
    if (old !== null && text?.trim() === nameOf(old)) await writeMark(record, file, nameOf(branch))
  }
}
