import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { removeWhenClean } from './clean.ts'
import { type Git, inTurn } from './git.ts'
import { realDataFolder } from './places.ts'
import { discardHalfMade, repositoryOf, worktreeStatusOf } from './worktree-status.ts'

/** Worktrees that were left behind: their runs were lost, or they had work in them that somebody has taken care of since. */

/** As its folder is called: ids stand there as they are, unless they could not be names of folders. */
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
 * `isStillNeeded` is asked while nothing else is done in the repository: a run that is on record before its folder is prepared
 * never loses it.
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

/** Why it stays; null when it went. */
async function sweepOne(
  git: Git,
  place: WorktreePlace,
  isStillNeeded: (place: WorktreePlace) => Promise<boolean>,
): Promise<string | null> {
  const { root } = place
  const repository = await repositoryOf(git, root)
  if (!repository) return 'its repository is not found'
  return inTurn(repository, async () => {
    if (await isStillNeeded(place)) return 'it is still needed'
    const standing = await worktreeStatusOf(repository, root)
    if (!standing) return 'git does not know it as a worktree'
    const { baseCommit } = standing
    if (baseCommit === null) {
      await discardHalfMade(git, repository, root)
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

/** Of folders only: links are not followed. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
