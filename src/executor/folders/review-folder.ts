import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Git, GitFailed, reasonOf, serialized, unlessLocked } from './git.ts'
import { mustBeAllowed, nameFor, ownFolder } from './places.ts'
import type { FolderRequest } from './prepare.ts'
import { commitAt } from './work-refs.ts'
import { WorkMissing } from './work-start.ts'
import type { Folder } from './worktree.ts'
import { discardIncomplete, markComplete, worktreeStatusOf } from './worktree-status.ts'

/** A fresh folder at the commit that is judged. Whoever judges it changes nothing, so it has a branch only in name. */

export interface ReviewedCommit {
  repository: string
  /** The folder within the repository; empty: all of it. */
  part: string
  commit: string
}

const ADD_TIMEOUT_MS = 600_000

export async function prepareReview(
  git: Git,
  { dataFolder, workspaceId, agentSlug, taskUuid, generation, allowedRoots }: FolderRequest,
  { repository, part, commit }: ReviewedCommit,
): Promise<Folder> {
  await mustBeAllowed(repository, repository, allowedRoots)
  const isThere = await commitAt(git, repository, commit).catch(() => null)
  if (isThere === null) throw new WorkMissing(`The commit ${commit} is not in ${repository}.`)
  const task = taskUuid === null ? `agent-${nameFor(agentSlug)}` : nameFor(taskUuid)
  const place = `gen-${generation}`
  const root = join(await ownFolder(dataFolder, 'worktrees', nameFor(workspaceId), task), place)
  const branch = `baton/${task}/${place}`
  await serialized(repository, async () => {
    // A run of this verification was lost: nothing that it left counts.
    if (await worktreeStatusOf(repository, root)) await discardIncomplete(git, repository, root)
    await mkdir(dirname(root), { recursive: true, mode: 0o700 })
    const args = ['worktree', 'add', '-B', branch, '--', root, commit]
    const end = await unlessLocked(() => git(repository, args, ADD_TIMEOUT_MS))
    if (end.code !== 0) throw new GitFailed(`git could not check out ${commit}: ${reasonOf(end)}`)
    const made = await worktreeStatusOf(repository, root)
    if (made) await markComplete(made, commit, branch)
  })
  const path = join(root, part)
  await mkdir(path, { recursive: true })
  return { path, worktree: { root, repository, branch, baseCommit: commit } }
}
