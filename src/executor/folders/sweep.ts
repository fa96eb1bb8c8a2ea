import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { removeWhenClean } from './clean.ts'
import { type Git, serialized } from './git.ts'
import { realDataFolder } from './places.ts'
import { discardIncomplete, repositoryOf, worktreeStatusOf } from './worktree-status.ts'

/** Removes leftover worktrees: their runs were lost, or the work in them has been saved since. */

/** From the names of its folders: ids appear unchanged, unless they could not be folder names. */
export interface WorktreePlace {
  workspaceId: string
  /** Null when it belongs to an agent, for runs without a task. */
  taskId: string | null
  generation: number
  root: string
}

export interface Swept {
  removed: string[]
  kept: { root: string; why: string }[]
}

/**
 * `isStillNeeded` is called while nothing else changes the repository: a run that is recorded before its folder is prepared
 * never loses the folder.
 */
export async function sweepWorktrees(
  git: Git,
  dataFolder: string,
  isStillNeeded: (place: WorktreePlace) => Promise<boolean>,
): Promise<Swept> {
  const swept: Swept = { removed: [], kept: [] }
  for await (const place of worktreesIn(join(await realDataFolder(dataFolder), 'worktrees'))) {
    const why = await sweepOne(git, place, isStillNeeded).catch((error: Error) => error.message)
    if (why === null) swept.removed.push(place.root)
    else swept.kept.push({ root: place.root, why })
  }
  return swept
}

/** Why it stays; null when it was removed. */
async function sweepOne(
  git: Git,
  place: WorktreePlace,
  isStillNeeded: (place: WorktreePlace) => Promise<boolean>,
): Promise<string | null> {
  const { root } = place
  const repository = await repositoryOf(git, root)
  if (!repository) return 'its repository cannot be found'
  return serialized(repository, async () => {
    if (await isStillNeeded(place)) return 'it is still needed'
    const status = await worktreeStatusOf(repository, root)
    if (!status) return 'git does not know it as a worktree'
    const { baseCommit } = status
    if (baseCommit === null) {
      await discardIncomplete(git, repository, root)
      return null
    }
    const [generation, task] = [basename(root), basename(join(root, '..'))]
    return (
      await removeWhenClean(git, { root, repository, branch: `baton/${task}/${generation}`, baseCommit })
    ).why
  })
}

async function* worktreesIn(folder: string): AsyncGenerator<WorktreePlace> {
  for (const workspaceId of await namesIn(folder))
    for (const task of await namesIn(join(folder, workspaceId)))
      for (const name of await namesIn(join(folder, workspaceId, task))) {
        const generation = name.match(/^gen-(\d+)$/)?.[1]
        if (generation === undefined) continue
        yield {
          workspaceId,
          taskId: task.startsWith('agent-') ? null : task,
          generation: Number(generation),
          root: join(folder, workspaceId, task, name),
        }
      }
}

/** Folders only; links are not followed. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
