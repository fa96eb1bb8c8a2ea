import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Git, GitFailed, outputOf, reasonOf } from './git.ts'

/**
 * All branches of a mission, merged without a folder: which of them conflict, and what all of them change together. What git
 * makes for that goes to a folder that is removed again: reading changes nothing in the repository.
 */

interface Conflict {
  /** The commits that conflict with each other; the last one conflicts with the others together where no two do. */
  commits: string[]
  /** The base has changed since. */
  withBase: boolean
  files: string[]
  fileCount: number
}

export interface Merged {
  /** Where commits conflict, the files have the marks of git. */
  commit: string
  conflicts: Conflict[]
  /** How many of the commits are in it. */
  mergedCount: number
}

const MOST_PAIRS = 200
const MOST_CONFLICTS = 100
const MOST_FILES = 50
const WHO = { NAME: 'Baton', EMAIL: 'baton@localhost', DATE: '@0 +0000' }

/** Calls `use` with a git that reads the repository and writes elsewhere. */
export async function withScratch<T>(
  git: Git,
  repository: string,
  use: (scratch: Git) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-merge-'))
  const names = ['AUTHOR', 'COMMITTER'].flatMap((who) =>
    Object.entries(WHO).map(([field, value]): [string, string] => [`GIT_${who}_${field}`, value]),
  )
  const env = {
    ...Object.fromEntries(names),
    GIT_OBJECT_DIRECTORY: folder,
    // Quoted, since a colon separates folders.
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(repository, 'objects').replace(/["\\]/g, '\\$&')}"`,
  }
  try {
    return await use((at, args, timeoutMs, options = {}) =>
      git(at, args, timeoutMs, { ...options, env: { ...env, ...options.env } }),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface MergeRequest {
  base: string
  tips: readonly string[]
  mostMerged: number
  isLate: () => boolean
}

/** Merges commits into the base, one after the other, until `isLate`. Call it with a git of `withScratch`. */
export async function mergeAll(
  git: Git,
  repository: string,
  { base, tips, mostMerged, isLate }: MergeRequest,
): Promise<Merged> {
  const conflicts: Conflict[] = []
  const merged: string[] = []
  let commit = base
  let pairsLeft = MOST_PAIRS
  for (const tip of tips.slice(0, mostMerged)) {
    if (isLate() || conflicts.length >= MOST_CONFLICTS) break
    const attempt = await mergeTwo(git, repository, commit, tip)
    if (attempt.files.length > 0 || attempt.tree === null) {
      const others = [base, ...merged].slice(0, pairsLeft)
      pairsLeft -= others.length
      const found = await conflictsWith(git, repository, { base, others, tip, isLate })
      conflicts.push(...(found.length > 0 ? found : [conflictOf(base, [...merged, tip], attempt.files)]))
    }
    if (attempt.tree !== null)
      commit = await outputOf(git, repository, [
        ...['commit-tree', '--no-gpg-sign', '-m', 'Merge', '-p', commit, '-p', tip, attempt.tree],
      ])
    merged.push(tip)
  }
  return { commit, conflicts: conflicts.slice(0, MOST_CONFLICTS), mergedCount: merged.length }
}

const conflictOf = (base: string, commits: readonly string[], files: readonly string[]): Conflict => ({
  commits: commits.filter((commit) => commit !== base),
  withBase: commits.includes(base),
  files: files.slice(0, MOST_FILES),
  fileCount: files.length,
})

/** With which of the others, each by itself. What conflicts with the base conflicts with all that were built on it. */
async function conflictsWith(
  git: Git,
  repository: string,
  {
    base,
    others,
    tip,
    isLate,
  }: { base: string; others: readonly string[]; tip: string; isLate: () => boolean },
): Promise<Conflict[]> {
  const found: Conflict[] = []
  const known = new Set<string>()
  for (const other of others) {
    if (isLate()) break
    const { tree, files } = await mergeTwo(git, repository, other, tip)
    const unexplained = files.filter((file) => !known.has(file))
    if (tree === null || unexplained.length > 0) found.push(conflictOf(base, [other, tip], unexplained))
    if (other === base) for (const file of files) known.add(file)
  }
  return found
}

/** Their tree, and the files that conflict; no tree: they have no common history. */
async function mergeTwo(
  git: Git,
  repository: string,
  one: string,
  other: string,
): Promise<{ tree: string | null; files: string[] }> {
  const end = await git(repository, [
    ...['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', one, other],
  ])
  if (end.code !== 0 && end.code !== 1) {
    if (end.stderr.includes('unrelated histories')) return { tree: null, files: [] }
    throw new GitFailed(`git merge-tree failed in ${repository}: ${reasonOf(end)}`)
  }
  const [tree, ...files] = end.stdout.split('\0').filter((field) => field !== '')
  return { tree: tree!, files: end.code === 0 ? [] : [...new Set(files)] }
}
