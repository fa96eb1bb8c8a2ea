import { Refused } from '../../pure/errors.ts'
import { answerOf, type Git, serialized } from './git.ts'
import { isWithin } from './places.ts'
import { checkedOut, heldByPeople, missingOf, removeRefs, type TaskRef } from './task-refs.ts'
import { discardIncomplete, worktreeStatusOf } from './worktree-status.ts'

/** What can be removed of the work of a task in one repository. */

/** The refs by which the task itself holds these commits: at the commit, or else above it. */
export async function refsHolding(
  git: Git,
  repository: string,
  refs: readonly TaskRef[],
  commits: readonly string[],
): Promise<Set<string>> {
  const holding = new Set<string>()
  for (const commit of commits) {
    const exact = refs.filter((ref) => ref.commit === commit)
    const above = exact.length > 0 ? exact : await refsAbove(git, repository, refs, commit)
    for (const { ref } of above) holding.add(ref)
  }
  return holding
}

async function refsAbove(git: Git, repository: string, refs: readonly TaskRef[], commit: string) {
  const names = refs.map(({ ref }) => ref)
  const listed = await answerOf(git, repository, [
    ...['for-each-ref', '--format=%(refname)', `--contains=${commit}`, ...names],
  ])
  const above = new Set((listed ?? '').split('\n'))
  return refs.filter(({ ref }) => above.has(ref))
}

/** Of accepted commits, those that only the branches of their task hold. */
export async function onlyHere(git: Git, repository: string, accepted: readonly string[]): Promise<string[]> {
  const [held, missing] = await Promise.all([
    heldByPeople(git, repository, accepted),
    missingOf(git, repository, accepted),
  ])
  return accepted.filter((commit) => !held.has(commit) && !missing.has(commit))
}

/** The refs of generations whose branch is checked out in no folder, other than these. */
export async function notCheckedOut(
  git: Git,
  repository: string,
  refs: readonly TaskRef[],
  except: readonly string[] = [],
): Promise<TaskRef[]> {
  const folders = await checkedOut(git, repository)
  const isTaken = ({ ref }: TaskRef) => (folders.get(ref) ?? []).some((folder) => !except.includes(folder))
  const taken = new Set(refs.filter(isTaken).map(({ generation }) => generation))
  return refs.filter(({ generation }) => !taken.has(generation))
}

/** Folders and refs, found to be removable before. Whatever else has the folder keeps it. */
export function removeWork(
  git: Git,
  repository: string,
  { refs, roots, worktrees }: { refs: readonly TaskRef[]; roots: readonly string[]; worktrees: string },
): Promise<void> {
  return serialized(repository, async () => {
    for (const root of roots) {
      // Only what Baton made: the path is stored, and a folder is removed with all that is in it.
      if (!isWithin(root, worktrees) || root === worktrees) continue
      if (await worktreeStatusOf(repository, root)) await discardIncomplete(git, repository, root)
    }
    const why = await removeRefs(git, repository, refs)
    if (why !== null)
      throw new Refused('CHANGES_UNAVAILABLE', 'git could not remove the branches of the task: try again.')
  })
}
