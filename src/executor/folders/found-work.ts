import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KnownSecrets } from '../../pure/secrets/redaction.ts'
import { hasMarkersInFile } from './conflict-markers.ts'
import type { Git } from './git.ts'
import { BOUNDS, type Bounds } from './left-out.ts'
import { ownIndexIn } from './own-index.ts'
import { type SavedTree, savedTree } from './saved-tree.ts'
import { type Operation, operationIn } from './unfinished.ts'
import { commitAt, headOfBranch } from './work-refs.ts'
import type { Worktree } from './worktree.ts'
import { gitOfWorktree, type WorktreeGit } from './worktree-git.ts'
import type { WorktreeStatus } from './worktree-status.ts'

/** The work in a folder as it is now, and a commit of it. Changes nothing but an index of Baton's own. */

export interface CommitAbout {
  author: { name: string; email: string }
  message: string
  secrets: KnownSecrets
  bounds?: Bounds
}

/** Work could not be saved. The message is one sentence for people. */
export class WorkNotSaved extends Error {
  override name = 'WorkNotSaved'
}

export const notSaved = ({ root }: Worktree, why: string, cause?: unknown) =>
  new WorkNotSaved(`The work in ${root} could not be saved: ${why.replace(/\.$/, '')}.`, { cause })

/** Any failure is one: what is not known to be saved is not saved. */
export async function orNotSaved<T>(worktree: Worktree, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof WorkNotSaved ? error : notSaved(worktree, (error as Error).message, error)
  }
}

export interface Found {
  place: WorktreeGit
  /** The commit of HEAD; without one, the last one of the work. */
  parent: string
  files: SavedTree
  operation: Operation | null
}

export async function findWork(
  git: Git,
  { root, repository, branch, baseCommit }: Worktree,
  { record }: WorktreeStatus,
  about: CommitAbout,
): Promise<Found> {
  const place = gitOfWorktree(git, { root, record })
  const head = await place.answer(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  const parent = head ?? (await commitAt(git, repository, headOfBranch(branch))) ?? baseCommit
  const files = await savedTree(gitOfWorktree(git, { root, record }, ownIndexIn(record)), parent, {
    bounds: about.bounds ?? BOUNDS,
    secrets: about.secrets,
  })
  if ((await lstat(join(root, '.git')).catch(() => null))?.isDirectory())
    files.leftOut.add('.git/', 'repository')
  const operation = (await operationIn(record)) ?? (await conflictIn(place, files))
  return { place, parent, files, operation }
}

/** A conflict without an operation, as `git stash pop` leaves it. Files without markers are taken for resolved. */
async function conflictIn({ root }: WorktreeGit, { unmerged }: SavedTree): Promise<Operation | null> {
  for (const path of unmerged)
    if (await hasMarkersInFile(root, path)) return { kind: 'conflict', original: null, of: null }
  return null
}

/** Without a change there is none to make; and one that a stopped process made before is not made again. */
export async function commitOf(
  place: WorktreeGit,
  tree: string,
  parent: string,
  { author, message }: Pick<CommitAbout, 'author' | 'message'>,
  known: readonly (string | null)[],
): Promise<string> {
  const [treeBefore] = await treeAndParents(place, parent)
  if (treeBefore === tree) return parent
  for (const commit of known) {
    const [treeThere, ...parents] = commit === null ? [] : await treeAndParents(place, commit)
    if (commit !== null && treeThere === tree && parents.join() === parent) return commit
  }
  const env = {
    GIT_AUTHOR_NAME: nameFor(author.name, 'agent'),
    GIT_AUTHOR_EMAIL: nameFor(author.email, 'agent@localhost'),
  }
  const args = ['commit-tree', '--no-gpg-sign', '-p', parent, '-F', '-', tree]
  return place.output(args, { env, input: Buffer.from(`${message.trim()}\n`) })
}

async function treeAndParents(place: WorktreeGit, commit: string): Promise<string[]> {
  const text = await place.answer(['rev-list', '--no-walk', '--format=%T %P', commit, '--'])
  return text?.split('\n')[1]?.trim().split(' ') ?? []
}

/** Git refuses names of which nothing is left without these characters. */
const nameFor = (name: string, otherwise: string) =>
  name
    .replace(/[\p{Cc}<>]/gu, ' ')
    .trim()
    .replace(/^[.,:;"'\\]+$/, '') || otherwise
