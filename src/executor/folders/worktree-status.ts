import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { answerOf, type Git, outputOf } from './git.ts'
import { unlessMissing } from './places.ts'

/**
 * Git's record of a worktree, in a folder of its own below `worktrees` in the repository. Baton writes a mark there once the
 * worktree is complete: without the mark git was stopped halfway, and no run has used the folder.
 */

export interface WorktreeStatus {
  /** Where git keeps its record. */
  record: string
  /** The commit it started from; null when it was never completed. */
  baseCommit: string | null
  /** The branch of the generation that works in it now; null when that was not recorded. */
  branch: string | null
}

const MARK = 'baton-base'
const BRANCH_MARK = 'baton-branch'

export async function worktreeStatusOf(repository: string, root: string): Promise<WorktreeStatus | null> {
  const records = join(repository, 'worktrees')
  for (const name of (await unlessMissing(readdir(records))) ?? []) {
    const record = join(records, name)
    const leadsTo = await unlessMissing(readFile(join(record, 'gitdir'), 'utf8'))
    if (leadsTo === null || resolve(record, leadsTo.trim()) !== join(root, '.git')) continue
    const markIn = async (file: string) =>
      (await unlessMissing(readFile(join(record, file), 'utf8')))?.trim() ?? null
    return { record, baseCommit: await markIn(MARK), branch: await markIn(BRANCH_MARK) }
  }
  return null
}

/** The same after a repair: an agent may have deleted or changed the file by which git recognizes the folder, or moved it. */
export async function repairedStatus(
  git: Git,
  repository: string,
  root: string,
): Promise<WorktreeStatus | null> {
  const status = await worktreeStatusOf(repository, root)
  if (status && (await repositoryOf(git, root)) === repository) return status
  await git(repository, ['worktree', 'repair', '--', root])
  return status ?? worktreeStatusOf(repository, root)
}

/** The mark of completeness comes last: a worktree without it is taken for incomplete and created again. */
export async function markComplete(
  { record }: Pick<WorktreeStatus, 'record'>,
  baseCommit: string,
  branch: string,
): Promise<void> {
  await writeMark(record, BRANCH_MARK, branch)
  await writeMark(record, MARK, baseCommit)
}

/** Survives a power cut. */
export async function writeMark(record: string, name: string, text: string): Promise<void> {
  const draft = join(record, `${name}.draft`)
  const file = await open(draft, 'w')
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, join(record, name))
  const folder = await open(record, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The commit of its HEAD, also when its files were deleted; null when it has none. */
export const commitIn = (git: Git, { record }: WorktreeStatus) =>
  answerOf(git, record, ['--git-dir', record, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])

/** Whether a commit survives the removal of the worktree: a branch, a tag or a ref of Baton's contains it. */
export async function isOnBranch(git: Git, repository: string, branch: string, commit: string) {
  const own = await git(repository, ['merge-base', '--is-ancestor', commit, `refs/heads/${branch}`])
  if (own.code === 0) return true
  const refs = ['refs/heads', 'refs/remotes', 'refs/tags', 'refs/baton']
  const any = await answerOf(git, repository, ['for-each-ref', '--count=1', `--contains=${commit}`, ...refs])
  return any !== null && any !== ''
}

/** Removes a worktree that git did not complete. */
export async function discardIncomplete(git: Git, repository: string, root: string): Promise<void> {
  await git(repository, ['worktree', 'remove', '--force', '--force', '--', root])
  await rm(root, { recursive: true, force: true })
  const status = await worktreeStatusOf(repository, root)
  if (status) await rm(status.record, { recursive: true, force: true })
}

/** The repository that a folder is a worktree of; null when it is not a worktree, even inside another repository. */
export async function repositoryOf(git: Git, root: string): Promise<string | null> {
  const link = await readFile(join(root, '.git'), 'utf8').catch(() => null)
  const record = link?.match(/^gitdir: (.+)$/m)?.[1]
  if (!record) return null
  const common = dirname(dirname(resolve(root, record)))
  const gitDir = await outputOf(git, common, ['rev-parse', '--absolute-git-dir']).catch(() => null)
  return gitDir === common ? common : null
}
