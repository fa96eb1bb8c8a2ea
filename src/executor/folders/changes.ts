import { basename, dirname } from 'node:path'
import type { Changes, ChangesAsked } from '../../door/execution.ts'
import { type RunFolder, runFolderOf } from '../../kinds/run/shapes/folder.ts'
import { Refused } from '../../pure/errors.ts'
import { type ChangedFile, changedFiles } from './changed-files.ts'
import { answerOf, type Git, GitFailed, outputOf } from './git.ts'
import { isFolder } from './places.ts'
import { FolderRefused } from './refused.ts'
import { SAFE_FLAGS } from './safe-diff.ts'
import { repositoryOf, worktreeStatusOf } from './worktree-status.ts'

/**
 * What was done in a worktree: from the base of its task, or from where this attempt began, to the commit that was saved. While
 * the run is in progress, its files are compared. Runs no program of the repository.
 */

export const MOST_FILES = 1_000
const MOST_DIFF_BYTES = 256 * 1024

const unavailable = (detail: string) => new Refused('CHANGES_UNAVAILABLE', detail)

type Folder = RunFolder & { worktree: NonNullable<RunFolder['worktree']> }

export async function changesOf(git: Git, stored: unknown, asked: ChangesAsked): Promise<Changes> {
  const folder = runFolderOf(stored)
  if (!folder?.worktree)
    throw unavailable(
      'The run did not work in a git worktree: the setting workspace of its agent is not git_worktree.',
    )
  try {
    return await compared(git, { ...folder, worktree: folder.worktree }, asked)
  } catch (error) {
    if (error instanceof GitFailed || error instanceof FolderRefused)
      throw unavailable('git could not read the repository of the agent on this node.')
    throw error
  }
}

export interface Place {
  folder: string
  commits: readonly string[]
}

async function compared(git: Git, folder: Folder, asked: ChangesAsked): Promise<Changes> {
  const { worktree, continues, saved } = folder
  const { repository, branch, baseCommit, root } = worktree
  const from = asked.since === 'attempt' ? (continues?.commit ?? baseCommit) : baseCommit
  const isKnown = (await isFolder(repository)) && (await commitOf(git, repository, from)) !== null
  if (!isKnown) throw unavailable('The repository of the run is not on this node: ask the node that ran it.')
  const known = saved?.commit ?? asked.submitted
  const inFolder = known === null ? await readInFolder(git, worktree, from, asked) : null
  const { files, diff, commit, isUncommittedIncluded } =
    inFolder ?? (await readOfCommits(git, worktree, { from, known }, asked))
  const total = (figure: 'added' | 'deleted') => files.reduce((sum, file) => sum + (file[figure] ?? 0), 0)
  return {
    ...{ branch, baseCommit, from, commit, since: asked.since, isUncommittedIncluded, diff },
    fileCount: files.length,
    added: total('added'),
    deleted: total('deleted'),
    files: files.slice(0, MOST_FILES),
    leftOut: saved?.leftOut ?? [],
    leftOutCount: saved?.leftOutCount ?? 0,
    unfinished: saved?.unfinished?.kind ?? null,
    missing: folder.missing ?? null,
    folder: (await isWorktreeOf(git, worktree)) ? root : null,
    mergeCommand: `git -C ${quoted(folderOf(repository))} merge ${branch}`,
  }
}

type Worktree = Folder['worktree']

interface Read {
  files: ChangedFile[]
  diff: Changes['diff']
  commit: string
  isUncommittedIncluded: boolean
}

/** The files of a run that still works on them; null when the folder is gone, or goes while it is read: all of it is saved then. */
async function readInFolder(
  git: Git,
  worktree: Worktree,
  from: string,
  asked: ChangesAsked,
): Promise<Read | null> {
  const { root } = worktree
  const isOpen = async () => (await isWorktreeOf(git, worktree)) && (await isItsOwn(worktree))
  if (!(await isOpen())) return null
  try {
    const commit = await commitOf(git, root, 'HEAD')
    const read = commit && (await readAt(git, { folder: root, commits: [from] }, asked))
    if (read && (await isOpen())) return { ...read, commit, isUncommittedIncluded: true }
  } catch (error) {
    if (await isOpen()) throw error
  }
  return null
}

async function readOfCommits(
  git: Git,
  { repository, branch }: Worktree,
  { from, known }: { from: string; known: string | null },
  asked: ChangesAsked,
): Promise<Read> {
  const commit =
    (known && (await commitOf(git, repository, known))) ??
    (await commitOf(git, repository, `refs/heads/${branch}`))
  if (commit === null) throw unavailable('The work of the run is no longer in its repository.')
  const read = await readAt(git, { folder: repository, commits: [from, commit] }, asked)
  return { ...read, commit, isUncommittedIncluded: false }
}

async function readAt(git: Git, place: Place, asked: ChangesAsked) {
  const files = await changedFiles(git, place.folder, place.commits)
  return { files, diff: await diffAsked(git, place, files, asked) }
}

const isWorktreeOf = async (git: Git, { repository, root }: Worktree) =>
  (await repositoryOf(git, root).catch(() => null)) === repository

/** The folder may have been given to a later generation since. */
async function isItsOwn({ repository, root, branch }: Worktree): Promise<boolean> {
  const status = await worktreeStatusOf(repository, root)
  return status?.branch == null || status.branch === branch
}

const commitOf = (git: Git, folder: string, name: string) =>
  answerOf(git, folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])

function diffAsked(
  git: Git,
  place: Place,
  files: readonly ChangedFile[],
  { path, isWhole }: ChangesAsked,
): Promise<Changes['diff']> {
  if (isWhole) return diffOfAll(git, place)
  return path === null ? Promise.resolve(null) : diffOf(git, place, files, path)
}

/** Of what git tracks. Git is ended when it says too much: what it said first is enough. */
async function diffOfAll(git: Git, { folder, commits }: Place, mostBytes = MOST_DIFF_BYTES) {
  const end = await git(folder, ['diff', '--find-renames', ...SAFE_FLAGS, ...commits, '--'])
  if (end.code !== 0 && end.code !== null) throw new GitFailed(`git diff failed in ${folder}`)
  const { shown, isCut } = cut(end.stdout, mostBytes)
  return { path: '', text: shown, isCut: isCut || end.code === null, isBinary: false }
}

export async function diffOf(
  git: Git,
  { folder, commits }: Place,
  files: readonly ChangedFile[],
  path: string,
): Promise<Changes['diff']> {
  const file = files.find((one) => one.path === path)
  if (!file) throw new Refused('NOT_FOUND', 'No file of this path was changed.')
  if (file.isBinary) return { path, text: '', isCut: false, isBinary: true }
  const text = file.isTracked
    ? await trackedDiff(git, folder, commits, file)
    : await newFileDiff(git, folder, path)
  const isBinary = /^Binary files .* differ$/m.test(text) && !/^@@ /m.test(text)
  const { shown, isCut } = cut(text, MOST_DIFF_BYTES)
  return { path, text: isBinary ? '' : shown, isCut, isBinary }
}

function cut(text: string, mostBytes: number): { shown: string; isCut: boolean } {
  const bytes = Buffer.from(text)
  const isCut = bytes.length > mostBytes
  return {
    isCut,
    shown: isCut ? bytes.toString('utf8', 0, bytes.lastIndexOf(0x0a, mostBytes - 1) + 1) : text,
  }
}

/** The whole diff between two commits, for a reader without a folder; its end may be cut. */
export async function wholeDiff(
  git: Git,
  repository: string,
  { from, commit, mostBytes }: { from: string; commit: string; mostBytes: number },
): Promise<string> {
  const { text, isCut } = await diffOfAll(git, { folder: repository, commits: [from, commit] }, mostBytes)
  return isCut ? `${text}… (cut)` : text
}

function trackedDiff(git: Git, folder: string, commits: readonly string[], { path, oldPath }: ChangedFile) {
  const paths = [oldPath, path].filter((one) => one !== null).map((one) => `:(top,literal)${one}`)
  return outputOf(git, folder, ['diff', '--find-renames', ...SAFE_FLAGS, ...commits, '--', ...paths])
}

/** Git calls a difference an error here. */
async function newFileDiff(git: Git, folder: string, path: string): Promise<string> {
  const end = await git(folder, ['diff', '--no-index', ...SAFE_FLAGS, '--', '/dev/null', path])
  if (end.code !== 1 && end.code !== 0) throw new GitFailed('a new file could not be compared')
  return end.stdout
}

/** The folder of a repository, as people know it: without the name of git's own folder. */
export const folderOf = (repository: string) =>
  basename(repository) === '.git' ? dirname(repository) : repository

/** As a shell takes it. */
export const quoted = (path: string) =>
  /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
