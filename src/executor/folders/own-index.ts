import { copyFile, lstat, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { GitFailed, reasonOf } from './git.ts'
import { unlessMissing } from './places.ts'
import { listOf, placeOf, type WorktreeGit } from './worktree-git.ts'

/**
 * An index of Baton's own beside that of the worktree. Whatever happens to Baton meanwhile, the agent's index is as it was;
 * and a lock that a killed git left on it is no obstacle.
 */

const NAME = 'baton-index'

export const ownIndexIn = (record: string) => join(record, NAME)

export async function removeOwnIndex(record: string): Promise<void> {
  for (const name of await readdir(record))
    if (name.startsWith(NAME)) await rm(join(record, name), { force: true })
}

/** Starts as a copy of the worktree's index, without the marks by which git takes files for unchanged. */
export async function beginOwnIndex(git: WorktreeGit, commit: string): Promise<void> {
  await removeOwnIndex(git.record)
  const own = ownIndexIn(git.record)
  const real = join(git.record, 'index')
  const found = await unlessMissing(stat(real))
  if (found) {
    await copyFile(real, own)
    // Git compares the time of the index with those of files: later than it was, it would hide their last changes.
    const seconds = Math.floor(found.mtimeMs / 1000)
    await utimes(own, seconds, seconds)
  }
  const isUsable = found !== null && (await git.run(['ls-files', '--unmerged', '-z'])).code === 0
  const isSparse = (await git.answer(['config', '--type=bool', 'core.sparseCheckout'])) === 'true'
  if (!isUsable) await makeFrom(git, commit, isSparse)
  // Also ends that git takes changed files for unchanged. It exits with 1 when there are such files.
  const end = await git.run(['update-index', '-q', '--unmerged', '--really-refresh'])
  if (end.code !== 0 && end.code !== 1)
    throw new GitFailed(`git could not read the files in ${git.root}: ${reasonOf(end)}`)
  // In a sparse checkout, git itself notices files that are there.
  if (!isSparse) await unhide(git)
}

/** The worktree has no usable index. In a sparse checkout, files that are not there are taken for unchanged. */
async function makeFrom(git: WorktreeGit, commit: string, isSparse: boolean): Promise<void> {
  await rm(ownIndexIn(git.record), { force: true })
  await git.output(['read-tree', commit])
  if (!isSparse) return
  const absent: string[] = []
  await git.fields(['ls-files', '--deleted', '-z'], (path) => absent.push(path) > 0)
  await update(git, ['--skip-worktree', '-z', '--stdin'], listOf(absent))
}

/** Files that git takes for absent are changed files when they are there. */
async function unhide(git: WorktreeGit): Promise<void> {
  const hidden: string[] = []
  await git.fields(['ls-files', '-t', '-z'], (field) => {
    if (field.startsWith('S ')) hidden.push(field.slice(2))
    return true
  })
  const there: string[] = []
  for (const path of hidden) if (await unlessMissing(lstat(placeOf(git.root, path)))) there.push(path)
  if (there.length > 0) await update(git, ['--no-skip-worktree', '-z', '--stdin'], listOf(there))
}

export async function update(git: WorktreeGit, args: readonly string[], input: Buffer): Promise<void> {
  if (input.length > 0) await git.output(['update-index', ...args], { input })
}
