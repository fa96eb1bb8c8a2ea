import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { answerOf, type Git, saidBy } from './git.ts'
import { unlessMissing } from './places.ts'

/**
 * What git has on record of a worktree, in a folder of its own below `worktrees` in the repository. We leave a mark there once
 * the worktree is whole: without it git was stopped halfway, and nobody was ever told of the folder.
 */

export interface WorktreeStatus {
  /** Where git keeps its record. */
  record: string
  /** From which commit it was started; null when it was never finished. */
  baseCommit: string | null
}

const MARK = 'baton-base'

export async function worktreeStatusOf(repository: string, root: string): Promise<WorktreeStatus | null> {
  const records = join(repository, 'worktrees')
  for (const name of (await unlessMissing(readdir(records))) ?? []) {
    const record = join(records, name)
    const leadsTo = await unlessMissing(readFile(join(record, 'gitdir'), 'utf8'))
    if (leadsTo === null || resolve(record, leadsTo.trim()) !== join(root, '.git')) continue
    const mark = await unlessMissing(readFile(join(record, MARK), 'utf8'))
    return { record, baseCommit: mark === null ? null : mark.trim() }
  }
  return null
}

/** Kept even if the power fails right after: a worktree without its mark would be taken for half-made, and made anew. */
export async function markWhole({ record }: WorktreeStatus, baseCommit: string): Promise<void> {
  const draft = join(record, `${MARK}.draft`)
  const file = await open(draft, 'w')
  try {
    await file.writeFile(`${baseCommit}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, join(record, MARK))
  const folder = await open(record, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** What is checked out in it, also when its files are gone; null when that has no commit. */
export const commitIn = (git: Git, { record }: WorktreeStatus) =>
  answerOf(git, record, ['--git-dir', record, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])

/** Whether a commit stays when the worktree goes: a branch or tag leads to it. */
export async function isOnBranch(git: Git, repository: string, branch: string, commit: string) {
  const own = await git(repository, ['merge-base', '--is-ancestor', commit, `refs/heads/${branch}`])
  if (own.code === 0) return true
  const refs = ['refs/heads', 'refs/remotes', 'refs/tags']
  const any = await answerOf(git, repository, ['for-each-ref', '--count=1', `--contains=${commit}`, ...refs])
  return any !== null && any !== ''
}

/** Takes away what git began and did not finish. */
export async function discardHalfMade(git: Git, repository: string, root: string): Promise<void> {
  await git(repository, ['worktree', 'remove', '--force', '--force', '--', root])
  await rm(root, { recursive: true, force: true })
  const standing = await worktreeStatusOf(repository, root)
  if (standing) await rm(standing.record, { recursive: true, force: true })
}

/** The repository a folder is the worktree of; null when it is none, though a repository may be around it. */
export async function repositoryOf(git: Git, root: string): Promise<string | null> {
  const link = await readFile(join(root, '.git'), 'utf8').catch(() => null)
  const record = link?.match(/^gitdir: (.+)$/m)?.[1]
  if (!record) return null
  const common = dirname(dirname(resolve(root, record)))
  const said = await saidBy(git, common, ['rev-parse', '--absolute-git-dir']).catch(() => null)
  return said === common ? common : null
}
