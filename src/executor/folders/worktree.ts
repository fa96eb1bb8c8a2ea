import { mkdir, readdir, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { answerOf, type Git, GitFailed, outputOf, reasonOf, serialized, unlessLocked } from './git.ts'
import { isWithin, mustBeAllowed, unlessMissing } from './places.ts'
import { FolderRefused } from './refused.ts'
import type { GitEnd } from './run-git.ts'
import { operationIn } from './unfinished.ts'
import { type MergeConflict, mergeInto, type UpstreamWork, upstreamStarts } from './upstream-work.ts'
import { headOfBranch } from './work-refs.ts'
import { mustBeThere, takeOver, type WorkStart } from './work-start.ts'
import {
  commitIn,
  discardIncomplete,
  isOnBranch,
  markComplete,
  repairedStatus,
  type WorktreeStatus,
  worktreeStatusOf,
} from './worktree-status.ts'

/**
 * A worktree and a branch for each task and generation. An agent that lost its task works on a branch that is no longer
 * read; a run that continues the same generation finds everything as it was left.
 */

export interface Worktree {
  /** The folder of the whole worktree; a run may work in a subfolder. */
  root: string
  /** The git folder that all worktrees of the repository share. */
  repository: string
  branch: string
  /** The commit the work is compared with. */
  baseCommit: string
}

/** The folder in which a run works. */
export interface Folder {
  /** Real and absolute. */
  path: string
  worktree: Worktree | null
  /** Work of upstream tasks that is not in a new worktree, because it conflicts with the rest. */
  conflicts?: readonly MergeConflict[]
}

interface WorktreeRequest {
  cwd: string
  root: string
  branch: string
  baseBranch: string | null
  upstream: readonly UpstreamWork[]
  start: WorkStart | null
  allowedRoots: readonly string[]
}

/** Checking out a large repository takes a while. */
const ADD_TIMEOUT_MS = 600_000

export async function prepareWorktree(git: Git, request: WorktreeRequest): Promise<Folder> {
  const { top, repository } = await repositoryAround(git, request)
  const part = relative(top, request.cwd)
  // A repository may be configured to keep its files elsewhere.
  if (part.split(sep)[0] === '..')
    throw new FolderRefused(`${request.cwd} is outside the files of its repository, which are at ${top}.`)
  const opened = await serialized(repository, () => openOrCreate(git, request, repository, part))
  const { conflicts, ...worktree } = opened
  return { path: await partOf(worktree.root, part), worktree, ...(conflicts.length > 0 && { conflicts }) }
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
  // The worktree contains the whole repository, not only the folder in the settings.
  for (const path of [top!, repository!]) await mustBeAllowed(path, path, allowedRoots)
  return { top: top!, repository: repository! }
}

function whyNoRepository(cwd: string, end: GitEnd): string {
  if (end.stderr.includes('dubious ownership'))
    return `The repository at ${cwd} belongs to another user; git config --global --add safe.directory lets Baton use it.`
  if (end.stderr.includes('must be run in a work tree'))
    return `${cwd} is inside git's own files; choose a folder in which files are checked out.`
  if (end.stderr.includes('not a git repository'))
    return `${cwd} is not in a git repository; git_worktree needs one (git init, and a first commit).`
  return `The repository at ${cwd} cannot be used: ${reasonOf(end)}.`
}

type Opened = Worktree & { conflicts: readonly MergeConflict[] }

/** The existing worktree as it was left; or that of the generation before, for its work to go on; or a new one. */
async function openOrCreate(
  git: Git,
  request: WorktreeRequest,
  repository: string,
  part: string,
): Promise<Opened> {
  const { root, start } = request
  if (start) await mustBeThere(git, repository, start)
  const opened = await openAsLeft(git, request, repository)
  if (opened) return opened
  if (start?.root && start.root !== root) {
    const before = { ...request, root: start.root, start }
    const isEmpty = ((await unlessMissing(readdir(start.root))) ?? []).length === 0
    const isMade = isEmpty && (await isFolderMade(dirname(start.root)))
    if (isMade) return create(git, before, repository, part)
    if (!isEmpty && (await isTakenOver(git, before, repository)))
      return goOn(git, before, repository, start, start.root)
  }
  return create(git, request, repository, part)
}

/** Null when this generation has no complete worktree. */
async function openAsLeft(git: Git, request: WorktreeRequest, repository: string): Promise<Opened | null> {
  const { root, branch, start } = request
  for (const path of new Set([root, start?.root ?? root])) {
    const status = await worktreeStatusOf(repository, path)
    const files = (await unlessMissing(readdir(path))) ?? []
    if (!status?.baseCommit || files.length === 0) continue
    if (start && status.branch !== branch && (path !== root || status.branch !== null)) continue
    // An agent may have deleted the file by which git recognizes the folder.
    if (!files.includes('.git')) await git(repository, ['worktree', 'repair', '--', path])
    return { root: path, repository, branch, baseCommit: status.baseCommit, conflicts: [] }
  }
  return null
}

const isFolderMade = (path: string) =>
  mkdir(path, { recursive: true, mode: 0o700 }).then(
    () => true,
    () => false,
  )

async function isTakenOver(
  git: Git,
  { root, branch, start }: WorktreeRequest,
  repository: string,
): Promise<boolean> {
  const status = await repairedStatus(git, repository, root)
  return status?.baseCommit ? takeOver(git, status, { root, repository, branch, start: start! }) : false
}

/** Upstream work that came after the work began is merged too, unless git waits for something to be finished first. */
async function goOn(
  git: Git,
  { branch, upstream }: WorktreeRequest,
  repository: string,
  { commit, baseCommit }: WorkStart,
  root: string,
): Promise<Opened> {
  const status = await worktreeStatusOf(repository, root)
  const isWaiting = status !== null && (await operationIn(status.record)) !== null
  const starts = isWaiting ? [] : await upstreamStarts(git, repository, commit, upstream)
  return { root, repository, branch, baseCommit, conflicts: await mergeInto(git, root, starts) }
}

async function create(git: Git, request: WorktreeRequest, repository: string, part: string): Promise<Opened> {
  const { root, branch, start } = request
  const status = await worktreeStatusOf(repository, root)
  const files = (await unlessMissing(readdir(root))) ?? []
  if (status?.baseCommit) {
    if (files.length > 0) throw new FolderRefused(`${root} is in use for ${status.branch}.`)
    await keepCommits(git, repository, status.branch ?? branch, status)
  }
  if (status) await discardIncomplete(git, repository, root)
  else if (files.length > 0)
    throw new FolderRefused(
      `${root} is not a worktree of the repository at ${request.cwd}, but it contains files.`,
    )
  const { baseCommit, conflicts } = await add(git, request, repository, part)
  const made = await worktreeStatusOf(repository, root)
  if (!made) throw new GitFailed(`git created the worktree ${root} but does not list it.`)
  const went = start && (await goOn(git, request, repository, start, root))
  await markComplete(made, went?.baseCommit ?? baseCommit, branch)
  return went ?? { root, repository, branch, baseCommit, conflicts }
}

/** The folder of a worktree was deleted. Commits made there that are on no branch get one. */
async function keepCommits(
  git: Git,
  repository: string,
  branch: string,
  status: WorktreeStatus,
): Promise<void> {
  const commit = await commitIn(git, status)
  if (commit === null || (await isOnBranch(git, repository, branch, commit))) return
  await outputOf(git, repository, [
    'branch',
    '--force',
    '--',
    `${branch}-lost-${commit.slice(0, 12)}`,
    commit,
  ])
}

/**
 * Creates the worktree, on its branch if that exists already. A new branch starts from the work that goes on, or from the
 * work of upstream tasks, or else from the base. Returns the commit to compare with.
 */
async function add(git: Git, request: WorktreeRequest, repository: string, part: string) {
  const { cwd, root, branch, start } = request
  const [first, ...others] = start
    ? []
    : await upstreamStarts(git, repository, await baseOf(git, request), request.upstream)
  const base = start?.commit ?? first?.commit ?? (await baseOf(git, request))
  const ref = headOfBranch(branch)
  const isThere = (await answerOf(git, repository, ['show-ref', '--verify', '--', ref])) !== null
  const from = isThere ? ref : base
  const isPart = part === '' || start !== null
  if (!isPart && (await answerOf(git, repository, ['cat-file', '-t', `${from}:${part}`])) !== 'tree')
    throw new FolderRefused(`${cwd} is not in the commit the worktree starts from; commit it first.`)
  const named = isThere ? ['--', root, branch] : ['-b', branch, '--', root, base]
  const end = await unlessLocked(() => git(repository, ['worktree', 'add', ...named], ADD_TIMEOUT_MS))
  if (end.code !== 0) throw whyNotAdded(branch, end)
  if (isThere)
    return { baseCommit: (await answerOf(git, repository, ['merge-base', base, ref])) ?? base, conflicts: [] }
  const conflicts = await mergeInto(git, root, others)
  return { baseCommit: (await answerOf(git, root, ['rev-parse', 'HEAD'])) ?? base, conflicts }
}

async function baseOf(git: Git, { cwd, baseBranch }: WorktreeRequest): Promise<string> {
  const commitOf = (name: string) =>
    answerOf(git, cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
  const base = await commitOf(baseBranch ?? 'HEAD')
  if (base) return base
  throw new FolderRefused(
    baseBranch === null
      ? `The repository at ${cwd} has no commit yet; create a first one.`
      : `The repository at ${cwd} has no branch ${JSON.stringify(baseBranch)} to start from.`,
  )
}

function whyNotAdded(branch: string, end: GitEnd): Error {
  const conflicting = end.stderr.match(/'refs\/heads\/(\S+)' exists; cannot create/)?.[1]
  if (conflicting) return new FolderRefused(`The branch ${conflicting} conflicts with ${branch}; rename it.`)
  const elsewhere = end.stderr.match(/is already (?:checked out|used by worktree) at '(.+)'/)?.[1]
  if (elsewhere)
    return new FolderRefused(`The branch ${branch} is checked out at ${elsewhere}; check out another there.`)
  return new GitFailed(`git could not create a worktree for ${branch}: ${reasonOf(end)}`)
}

/** The folder in the worktree that corresponds to the cwd in the repository. */
async function partOf(root: string, part: string): Promise<string> {
  if (part === '') return root
  const path = join(root, part)
  await mkdir(path, { recursive: true }).catch(() => undefined)
  const real = await realpath(path).catch(() => null)
  if (real === null || !isWithin(real, root))
    throw new FolderRefused(`${path} is no longer a folder of the worktree.`)
  return real
}
