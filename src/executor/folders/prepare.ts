import { join } from 'node:path'
import type { Git } from './git.ts'
import { folderOfAgent, namedFolder, nameFor, ownFolder, rootBeside } from './places.ts'
import { FolderRefused } from './refused.ts'
import type { UpstreamWork } from './upstream-work.ts'
import type { WorkStart } from './work-start.ts'
import { type Folder, prepareWorktree } from './worktree.ts'

/** Prepares the folder in which a run works. */

export interface FolderRequest {
  /** From the agent's settings; without it, the agent gets a folder of its own below the data folder. */
  cwd?: string | null
  workspace: 'cwd' | 'git_worktree'
  /** Where a worktree starts from: a branch, tag or commit; by default what is checked out in cwd. */
  baseBranch?: string | null
  dataFolder: string
  /** A relative cwd is resolved against this; by default the folder that contains the data folder. */
  defaultRoot?: string
  workspaceId: string
  agentSlug: string
  /** Null for a run without a task: its worktree belongs to the agent and is kept between runs. */
  taskUuid: string | null
  generation: number
  /** Work that goes on; null: it begins. */
  start?: WorkStart | null
  /** Tasks whose work the worktree starts from, if it is in the same repository. */
  upstream?: readonly UpstreamWork[]
  /** Agents may work only below these, after links are resolved; empty: anywhere. */
  allowedRoots: readonly string[]
}

/**
 * Throws FolderRefused, with a sentence for people, when the folder cannot be used, and WorkMissing when the work to go on
 * with is not on this machine.
 */
export async function prepareFolder(git: Git, request: FolderRequest): Promise<Folder> {
  const { cwd, workspace, dataFolder, workspaceId, agentSlug, taskUuid, generation, allowedRoots } = request
  const isNamed = cwd !== null && cwd !== undefined
  if (workspace === 'cwd' && !isNamed) {
    return { path: await folderOfAgent(dataFolder, workspaceId, agentSlug), worktree: null }
  }
  if (!isNamed) throw new FolderRefused('git_worktree needs a cwd: the repository in which the agent works.')
  const defaultRoot = request.defaultRoot ?? rootBeside(dataFolder)
  const named = await namedFolder(cwd, { defaultRoot, dataFolder, allowedRoots })
  if (workspace === 'cwd') return { path: named, worktree: null }
  const task = taskUuid === null ? `agent-${nameFor(agentSlug)}` : nameFor(taskUuid)
  const place = `gen-${generation}`
  const root = join(await ownFolder(dataFolder, 'worktrees', nameFor(workspaceId), task), place)
  return prepareWorktree(git, {
    cwd: named,
    root,
    branch: `baton/${task}/${place}`,
    baseBranch: request.baseBranch ?? null,
    upstream: request.upstream ?? [],
    start: request.start ?? null,
    allowedRoots,
  })
}
