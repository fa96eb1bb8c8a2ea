import { stat } from 'node:fs/promises'
import { changedFiles } from '../folders/changed-files.ts'
import { wholeDiff } from '../folders/changes.ts'
import { type Cleaned, type CleanupPolicy, cleanFolder } from '../folders/clean.ts'
import { answerOf, type Git } from '../folders/git.ts'
import { type FolderRequest, prepareFolder } from '../folders/prepare.ts'
import { type FolderRecord, recordWork } from '../folders/record.ts'
import { prepareReview, type ReviewedCommit } from '../folders/review-folder.ts'
import { type SaveAbout, type SavedWork, saveWork } from '../folders/save-work.ts'
import { snapshotWork } from '../folders/snapshot-work.ts'
import type { MergeConflict, UpstreamWork } from '../folders/upstream-work.ts'
import { whyNotComplete } from '../folders/why-not-complete.ts'
import type { Folder, Worktree } from '../folders/worktree.ts'
import { repositoryOf } from '../folders/worktree-status.ts'

/** Folders of runs, and the work in them. The simulation has its own. */
export interface WorkFolders {
  /** Throws FolderRefused, or WorkMissing when the commit it is to start from is not here. */
  prepare(request: FolderRequest): Promise<Folder>
  /** A folder at a commit of a repository, for a reviewer. Throws the same. */
  prepareReview(request: FolderRequest, at: ReviewedCommit): Promise<Folder>
  /** Everything in the folder becomes a commit of its branch. Throws WorkNotSaved. */
  save(worktree: Worktree, request: SaveRequest): Promise<SavedWork>
  /** What a commit lacks of the work that it should contain, one sentence each. */
  whyNotWhole(worktree: Worktree, work: WholeCommit): Promise<string[]>
  /** What changed since the base, and since the commit it started from. */
  record(worktree: Worktree, start: string, saved: SavedWork): Promise<FolderRecord | null>
  clean(folder: Folder, policy: CleanupPolicy): Promise<Cleaned>
  /** Whether the repository is on this machine. */
  hasRepository(repository: string): Promise<boolean>
  /** Whether the folder is there and belongs to its repository. */
  isThere(worktree: Worktree): Promise<boolean>
  /** The files that a reviewer judges, and their diff. */
  review(work: ComparedWork, mostDiffBytes: number): Promise<{ files: string[]; diff: string }>
  /** The variables that let a program commit where git knows no name for it. */
  identityIn(folder: string, agent: { name: string; slug: string }): Promise<Record<string, string>>
}

interface SaveRequest extends SaveAbout {
  /** The run goes on: its folder and its branch stay as they are. */
  isRunning: boolean
}

/** The work of a run in progress, as if it were over. */
async function saveNow(git: Git, worktree: Worktree, about: SaveAbout): Promise<SavedWork> {
  const { commit, ref, leftOut, leftOutCount, unfinished: kind } = await snapshotWork(git, worktree, about)
  return {
    ...{ commit, branch: worktree.branch, committedFiles: 0, leftOut, leftOutCount },
    unfinished: kind && { kind, commit, ref },
    ...{ afterResult: null, replaced: [] },
  }
}

interface ComparedWork {
  repository: string
  baseCommit: string
  commit: string
}

interface WholeCommit {
  commit: string
  upstream: readonly UpstreamWork[]
  conflicts: readonly MergeConflict[]
}

export const gitFolders = (git: Git): WorkFolders => ({
  prepare: (request) => prepareFolder(git, request),
  prepareReview: (request, at) => prepareReview(git, request, at),
  save: (worktree, { isRunning, ...about }) =>
    isRunning ? saveNow(git, worktree, about) : saveWork(git, worktree, about),
  whyNotWhole: async ({ repository }, work) =>
    (await whyNotComplete(git, repository, work)).map(({ message }) => `The work ${message}.`),
  record: (worktree, start, saved) => recordWork(git, worktree, start, saved),
  clean: (folder, policy) => cleanFolder(git, folder, policy),
  hasRepository: async (repository) => (await stat(repository).catch(() => null)) !== null,
  isThere: async ({ root, repository }) => (await repositoryOf(git, root).catch(() => null)) === repository,
  async review({ repository, baseCommit: from, commit }, mostBytes) {
    const [files, diff] = await Promise.all([
      changedFiles(git, repository, [from, commit]),
      mostBytes === 0 ? '' : wholeDiff(git, repository, { from, commit, mostBytes }),
    ])
    const figures = (added: number | null, deleted: number | null) =>
      added === null ? '' : ` (+${added} −${deleted})`
    return {
      diff,
      files: files.map(({ path, status, added, deleted }) => `${status} ${path}${figures(added, deleted)}`),
    }
  },
  async identityIn(folder, { name, slug }) {
    const email = await answerOf(git, folder, ['config', 'user.email'])
    if (email !== null && email !== '') return {}
    const address = `${slug}@baton.localhost`
    return {
      ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: address },
      ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: address },
    }
  },
})
