import { type CommitAbout, commitOf, findWork, notSaved, orNotSaved } from './found-work.ts'
import { type Git, reasonOf, serialized } from './git.ts'
import type { LeftOut } from './left-out.ts'
import { removeOwnIndex } from './own-index.ts'
import type { UnfinishedKind } from './unfinished.ts'
import { heldRef, setRefs } from './work-refs.ts'
import type { Worktree } from './worktree.ts'
import { repairedStatus } from './worktree-status.ts'

/**
 * The work of a run that goes on, as a commit: for a result that its agent hands in. Branch, HEAD, index and locks of the
 * folder stay as they are. When the run ends without further changes, `saveWork` takes this commit.
 */

export interface WorkSnapshot {
  commit: string
  /** Holds the commit. */
  ref: string
  leftOut: LeftOut[]
  leftOutCount: number
  /** Such work is not complete. */
  unfinished: UnfinishedKind | null
}

export const snapshotWork = (git: Git, worktree: Worktree, about: CommitAbout): Promise<WorkSnapshot> =>
  serialized(worktree.repository, () => orNotSaved(worktree, () => snapshot(git, worktree, about)))

async function snapshot(git: Git, worktree: Worktree, about: CommitAbout): Promise<WorkSnapshot> {
  const { root, repository, branch } = worktree
  const status = await repairedStatus(git, repository, root)
  if (!status) throw notSaved(worktree, 'git no longer knows the folder as a worktree')
  try {
    const { place, parent, files, operation } = await findWork(git, worktree, status, about)
    const commit = await commitOf(place, files.tree, parent, about, [])
    const ref = heldRef(branch, `result-${commit.slice(0, 12)}`)
    const end = await setRefs(git, repository, [[ref, commit]])
    if (end.code !== 0) throw notSaved(worktree, reasonOf(end))
    const { named: leftOut, count: leftOutCount } = files.leftOut
    return { commit, ref, leftOut, leftOutCount, unfinished: operation?.kind ?? null }
  } finally {
    await removeOwnIndex(status.record)
  }
}
