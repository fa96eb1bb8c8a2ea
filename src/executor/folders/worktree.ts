import { mkdir, readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { answerOf, type Git, GitFailed, inTurn, reasonOf, saidBy, unlessLocked } from './git.ts'
import { isWithin, mustBeAllowed, unlessMissing } from './places.ts'
import { FolderRefused } from './refused.ts'
import type { GitEnd } from './run-git.ts'
import {
  commitIn,
  discardHalfMade,
  isOnBranch,
  markWhole,
  type WorktreeStatus,
  worktreeStatusOf,
} from './worktree-status.ts'

/**
 * A worktree and a branch for each task and generation. Whoever lost its task works on a branch that nobody looks at any more;
 * whoever goes on with the same generation finds everything as it was left.
 */

export interface Worktree {
  /** The folder of the whole worktree; a run may work in a part of it. */
  root: string
  /** Where git keeps what all worktrees of the repository share. */
  repository: string
  branch: string
  /** What the work is compared with. */
  baseCommit: string
}

/** Where a run works. */
export interface Folder {
  /** Real and absolute. */
  path: string
  worktree: Worktree | null
}

interface WorktreeRequest {
  cwd: string
  root: string
  branch: string
  baseBranch: string | null
  allowedRoots: readonly string[]
}

/** Checking out a large repository takes a while. */
const ADD_TIMEOUT_MS = 600_000

export async function prepareWorktree(git: Git, request: WorktreeRequest): Promise<Folder> {
  const { top, repository } = await repositoryAround(git, request)
  const part = relative(top, request.cwd)
  // A repository may say that its files are elsewhere.
  if (part.split(sep)[0] === '..')
    throw new FolderRefused(`${request.cwd} is not among the files of its repository, which are at ${top}.`)
  const worktree = await inTurn(repository, () => standUp(git, request, repository, part))
  return { path: await partOf(worktree.root, part), worktree }
}

async function repositoryAround(git: Git, { cwd, allowedRoots }: WorktreeRequest) {
  const args = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir']
  const end = await git(cwd, args)
  if (end.code !== 0) throw new FolderRefused(whyNoRepository(cwd, end))
  const [top, repository] = await Promise.all(
    end.stdout
      .trim()
      .split('\n')
      .map((path) => realpath(path)),
  )
  // The worktree has all of the repository in it, not only the folder that was named.
  for (const path of [top!, repository!]) await mustBeAllowed(path, path, allowedRoots)
  return { top: top!, repository: repository! }
}

function whyNoRepository(cwd: string, end: GitEnd): string {
  if (end.stderr.includes('dubious ownership'))
    return `The repository at ${cwd} belongs to another user; git config --global --add safe.directory lets Baton use it.`
  if (end.stderr.includes('must be run in a work tree'))
    return `${cwd} is inside of git's own files; name a folder in which files are checked out.`
  if (end.stderr.includes('not a git repository'))
    return `${cwd} is not in a git repository; git_worktree needs one (git init, and a first commit).`
  return `The repository at ${cwd} cannot be used: ${reasonOf(end)}.`
}

/** The worktree, as it was left or made now. */
async function standUp(
  git: Git,
  request: WorktreeRequest,
  repository: string,
  part: string,
): Promise<Worktree> {
  const { root, branch } = request
  const standing = await worktreeStatusOf(repository, root)
  const files = (await unlessMissing(readdir(root))) ?? []
  if (standing?.baseCommit && files.length > 0) {
    // An agent may have lost the file by which git knows its folder.
    if (!files.includes('.git')) await git(repository, ['worktree', 'repair', '--', root])
    return { root, repository, branch, baseCommit: standing.baseCommit }
  }
  if (standing?.baseCommit) await keepCommits(git, repository, branch, standing)
  if (standing) await discardHalfMade(git, repository, root)
  else if (files.length > 0)
    throw new FolderRefused(
      `${root} is not a worktree of the repository at ${request.cwd}, but has files in it.`,
    )
  const baseCommit = await add(git, request, repository, part)
  const made = await worktreeStatusOf(repository, root)
  if (!made) throw new GitFailed(`git made the worktree ${root} and does not know it.`)
  await markWhole(made, baseCommit)
  return { root, repository, branch, baseCommit }
}

/** Somebody deleted the folder of a worktree. What was committed there on no branch gets one. */
async function keepCommits(
  git: Git,
  repository: string,
  branch: string,
  standing: WorktreeStatus,
): Promise<void> {
  const commit = await commitIn(git, standing)
  if (commit === null || (await isOnBranch(git, repository, branch, commit))) return
  await saidBy(git, repository, ['branch', '--force', '--', `${branch}-lost-${commit.slice(0, 12)}`, commit])
}

/** Makes the worktree, on its branch if that is there already. Answers with the commit to compare with. */
async function add(git: Git, request: WorktreeRequest, repository: string, part: string): Promise<string> {
  const { cwd, root, branch } = request
  const base = await baseOf(git, request)
  const ref = `refs/heads/${branch}`
  const isThere = (await answerOf(git, repository, ['show-ref', '--verify', '--', ref])) !== null
  const start = isThere ? ref : base
  if (part !== '' && (await answerOf(git, repository, ['cat-file', '-t', `${start}:${part}`])) !== 'tree')
    throw new FolderRefused(`${cwd} is not in the commit the worktree starts from; commit it first.`)
  const named = isThere ? ['--', root, branch] : ['-b', branch, '--', root, base]
  const end = await unlessLocked(() => git(repository, ['worktree', 'add', ...named], ADD_TIMEOUT_MS))
  if (end.code !== 0) throw whyNotAdded(branch, end)
  if (!isThere) return base
  return (await answerOf(git, repository, ['merge-base', base, ref])) ?? base
}

async function baseOf(git: Git, { cwd, baseBranch }: WorktreeRequest): Promise<string> {
  const commitOf = (name: string) =>
    answerOf(git, cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
  const base = await commitOf(baseBranch ?? 'HEAD')
  if (base) return base
  throw new FolderRefused(
    baseBranch === null
      ? `The repository at ${cwd} has no commit yet; make a first one.`
      : `The repository at ${cwd} has no branch ${JSON.stringify(baseBranch)} to start from.`,
  )
}

function whyNotAdded(branch: string, end: GitEnd): Error {
  const inTheWay = end.stderr.match(/'refs\/heads\/(\S+)' exists; cannot create/)?.[1]
  if (inTheWay)
    return new FolderRefused(`The branch ${inTheWay} is in the way of ${branch}; give it another name.`)
  const elsewhere = end.stderr.match(/is already (?:checked out|used by worktree) at '(.+)'/)?.[1]
  if (elsewhere)
    return new FolderRefused(`The branch ${branch} is checked out at ${elsewhere}; check out another there.`)
  return new GitFailed(`git could not make a worktree for ${branch}: ${reasonOf(end)}`)
}

/** The same folder in the worktree as was named in the repository. */
async function partOf(root: string, part: string): Promise<string> {
  if (part === '') return root
  const path = join(root, part)
  await mkdir(path, { recursive: true }).catch(() => undefined)
  const real = await realpath(path).catch(() => null)
  if (real === null || !isWithin(real, root))
    throw new FolderRefused(`${path} is no folder of the worktree any more.`)
  return real
}
