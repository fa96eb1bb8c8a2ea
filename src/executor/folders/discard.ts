import { lstat, rm } from 'node:fs/promises'
import { type Git, outputOf, reasonOf, serialized, unlessLocked } from './git.ts'
import { branchOf, unlessMissing } from './places.ts'
import { headOfBranch } from './work-refs.ts'
import { discardIncomplete, worktreeStatusOf } from './worktree-status.ts'

/** Removes the work of a generation on a person's order, whatever is in it. */

interface Discarding {
  repository: string
  /** Null: only branch and refs. */
  root: string | null
  branch: string
  taskUuid: string
  generation: number
}

export interface Discarded {
  /** False when there was none, or when a later generation works in it. */
  isFolderRemoved: boolean
  /** The refs that are gone, with the commits they had. */
  refs: { ref: string; commit: string }[]
}

export const discardWork = (git: Git, about: Discarding): Promise<Discarded> =>
  serialized(about.repository, async () => ({
    isFolderRemoved: about.root !== null && (await removeFolder(git, about, about.root)),
    refs: await removeRefs(git, about),
  }))

async function removeFolder(git: Git, { repository, branch }: Discarding, root: string): Promise<boolean> {
  const status = await worktreeStatusOf(repository, root)
  if (!status || (status.branch !== null && status.branch !== branch)) return false
  const isThere = (await unlessMissing(lstat(root))) !== null
  await discardIncomplete(git, repository, root)
  await rm(root, { recursive: true, force: true })
  return isThere
}

async function removeRefs(git: Git, { repository, branch, taskUuid, generation }: Discarding) {
  const ours = branchOf(taskUuid, generation)
  const refs = new Set([headOfBranch(branch), headOfBranch(ours), `refs/${branch}/`, `refs/${ours}/`])
  const listed = await outputOf(git, repository, [
    ...['for-each-ref', '--format=%(objectname) %(refname)'],
    ...refs,
  ])
  const found = listed.split('\n').filter(Boolean)
  const gone = found.map((line) => ({ commit: line.split(' ')[0]!, ref: line.slice(line.indexOf(' ') + 1) }))
  for (const { ref, commit } of gone) {
    const end = await unlessLocked(() => git(repository, ['update-ref', '-d', ref, commit]))
    if (end.code !== 0) throw new Error(`${ref} could not be deleted: ${reasonOf(end)}`)
  }
  return gone
}
