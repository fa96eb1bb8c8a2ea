import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { removeWhenClean } from './clean.ts'
import { type Git, serialized } from './git.ts'
import { realDataFolder } from './places.ts'
import { type SaveAbout, saveWorkNow } from './save-work.ts'
import { commitAt, headOfBranch, heldRef } from './work-refs.ts'
import type { Worktree } from './worktree.ts'
import { discardIncomplete, repositoryOf, worktreeStatusOf } from './worktree-status.ts'

/** Removes leftover worktrees: their runs were lost, or the work in them has been saved since. */

/** From the names of its folders: ids appear unchanged, unless they could not be folder names. */
export interface WorktreePlace {
  workspaceId: string
  /** Null when it belongs to an agent, for runs without a task. */
  taskUuid: string | null
  /** The one that works in it now: a folder may have been taken over from an earlier one. */
  generation: number
  root: string
}

/** How the work of a place is saved before its folder is removed; null: a folder with work stays. */
export type SavingOf = (place: WorktreePlace) => Promise<Omit<SaveAbout, 'resultCommit'> | null>

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
  savingOf: SavingOf = async () => null,
): Promise<Swept> {
  const swept: Swept = { removed: [], kept: [] }
  for await (const place of worktreesIn(join(await realDataFolder(dataFolder), 'worktrees'))) {
    const why = await sweepOne(git, place, isStillNeeded, savingOf).catch((error: Error) => error.message)
    if (why === null) swept.removed.push(place.root)
    else swept.kept.push({ root: place.root, why })
  }
  return swept
}

/** Why it stays; null when it was removed. */
async function sweepOne(
  git: Git,
  found: WorktreePlace,
  isStillNeeded: (place: WorktreePlace) => Promise<boolean>,
  savingOf: SavingOf,
): Promise<string | null> {
  const { root } = found
  const repository = await repositoryOf(git, root)
  if (!repository) return 'its repository cannot be found'
  return serialized(repository, async () => {
    const status = await worktreeStatusOf(repository, root)
    const [name, task] = [basename(root), basename(dirname(root))]
    const branch = status?.branch ?? `baton/${task}/${name}`
    const place = { ...found, generation: Number(branch.match(/\/gen-(\d+)$/)?.[1] ?? found.generation) }
    if (await isStillNeeded(place)) return 'it is still needed'
    if (!status) return 'git does not know it as a worktree'
    const { baseCommit } = status
    if (baseCommit === null) {
      await discardIncomplete(git, repository, root)
      return null
    }
    const worktree = { root, repository, branch, baseCommit }
    const saving = await savingOf(place)
    if (saving) await saveUnlessDone(git, worktree, saving)
    return (await removeWhenClean(git, worktree)).why
  })
}

/** A branch that was moved on after the run, by a person, is not set back to what the folder has. */
async function saveUnlessDone(
  git: Git,
  worktree: Worktree,
  saving: Omit<SaveAbout, 'resultCommit'>,
): Promise<void> {
  const { repository, branch } = worktree
  const tip = await commitAt(git, repository, headOfBranch(branch))
  const saved = await commitAt(git, repository, heldRef(branch, 'saved'))
  const isMovedOn = saved !== null && tip !== null && tip !== saved
  await saveWorkNow(git, worktree, { ...saving, resultCommit: isMovedOn ? tip : saved })
}

async function* worktreesIn(folder: string): AsyncGenerator<WorktreePlace> {
  for (const workspaceId of await namesIn(folder))
    for (const task of await namesIn(join(folder, workspaceId)))
      for (const name of await namesIn(join(folder, workspaceId, task))) {
        const generation = name.match(/^gen-(\d+)$/)?.[1]
        if (generation === undefined) continue
        yield {
          workspaceId,
          taskUuid: task.startsWith('agent-') ? null : task,
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
