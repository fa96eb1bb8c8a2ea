import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import type { Run } from '../../core/runs/records.ts'
import type { Changes } from '../../flow/execution.ts'
import { type ChangedFile, changedFiles } from './changed-files.ts'
import { answerOf, type Git, GitFailed, outputOf } from './git.ts'
import { FolderRefused } from './refused.ts'
import { SAFE_FLAGS } from './safe-diff.ts'
import type { Worktree } from './worktree.ts'
import { repositoryOf } from './worktree-status.ts'

/** What was done on the branch of a generation, compared with the commit it started from. Runs no program of the repository. */

const MOST_FILES = 1_000
const MOST_DIFF_BYTES = 256 * 1024

/** What the row of a run has about its folder. */
const Recorded = z.object({
  worktree: z
    .object({ root: z.string(), repository: z.string(), branch: z.string(), baseCommit: z.string() })
    .nullable(),
  work: z
    .object({ commit: z.string().nullable() })
    .nullish()
    .transform((work) => work ?? null),
})

const unavailable = (detail: string) => new Refused('CHANGES_UNAVAILABLE', detail)

export async function changesOf(git: Git, run: Run, path: string | null): Promise<Changes> {
  const recorded = Recorded.safeParse(run.folder)
  if (!recorded.success || !recorded.data.worktree)
    throw unavailable(
      'The run did not work in a git worktree: the setting workspace of its agent is not git_worktree.',
    )
  const { worktree, work } = recorded.data
  try {
    return await comparedWithBase(git, worktree, work?.commit ?? null, path)
  } catch (error) {
    if (error instanceof GitFailed || error instanceof FolderRefused)
      throw unavailable('git could not read the repository of the agent on this node.')
    throw error
  }
}

async function comparedWithBase(
  git: Git,
  worktree: Worktree,
  lastCommit: string | null,
  path: string | null,
): Promise<Changes> {
  const { repository, branch, baseCommit, root } = worktree
  const isHere = (await stat(repository).catch(() => null))?.isDirectory() ?? false
  const isKnown =
    isHere && (await answerOf(git, repository, ['cat-file', '-e', `${baseCommit}^{commit}`])) !== null
  if (!isKnown) throw unavailable('The repository of the run is not on this node: ask the node that ran it.')
  const isThere = (await repositoryOf(git, root).catch(() => null)) === repository
  const commit = isThere
    ? await commitOf(git, root, 'HEAD')
    : ((await commitOf(git, repository, `refs/heads/${branch}`)) ??
      (lastCommit && (await commitOf(git, repository, lastCommit))))
  if (commit === null) throw unavailable('The work of the run is no longer in its repository.')
  const place = isThere
    ? { folder: root, commits: [baseCommit] }
    : { folder: repository, commits: [baseCommit, commit] }
  const files = await changedFiles(git, place.folder, place.commits)
  const total = (figure: 'added' | 'deleted') => files.reduce((sum, file) => sum + (file[figure] ?? 0), 0)
  return {
    branch,
    baseCommit,
    commit,
    isUncommittedIncluded: isThere,
    fileCount: files.length,
    added: total('added'),
    deleted: total('deleted'),
    files: files.slice(0, MOST_FILES),
    diff: path === null ? null : await diffOf(git, place, files, path),
    folder: isThere ? root : null,
    mergeCommand: `git -C ${quoted(basename(repository) === '.git' ? dirname(repository) : repository)} merge ${branch}`,
  }
}

const commitOf = (git: Git, folder: string, name: string) =>
  answerOf(git, folder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])

async function diffOf(
  git: Git,
  { folder, commits }: { folder: string; commits: readonly string[] },
  files: readonly ChangedFile[],
  path: string,
): Promise<Changes['diff']> {
  const file = files.find((one) => one.path === path)
  if (!file) throw new Refused('NOT_FOUND', 'The run did not change a file of this path.')
  if (file.isBinary) return { path, text: '', isCut: false, isBinary: true }
  const text = file.isTracked
    ? await trackedDiff(git, folder, commits, file)
    : await newFileDiff(git, folder, path)
  const isBinary = /^Binary files .* differ$/m.test(text) && !/^@@ /m.test(text)
  const bytes = Buffer.from(text)
  const isCut = bytes.length > MOST_DIFF_BYTES
  const shown = isCut ? bytes.toString('utf8', 0, bytes.lastIndexOf(0x0a, MOST_DIFF_BYTES - 1) + 1) : text
  return { path, text: isBinary ? '' : shown, isCut, isBinary }
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

/** As a shell takes it. */
const quoted = (path: string) => (/^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
