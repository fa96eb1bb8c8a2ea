import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { answerOf, type Git, reasonOf, unlessLocked } from './git.ts'
import { unlessMissing } from './places.ts'
import type { GitEnd } from './run-git.ts'
import { BATON } from './worktree-git.ts'

/**
 * The refs of a generation. `refs/heads/baton/<task>/gen-<n>` is its branch. What Baton recorded is held below
 * `refs/baton/<task>/gen-<n>/` too: whatever becomes of branches, git does not collect it.
 */

export const headOfBranch = (branch: string) => `refs/heads/${branch}`
export const heldRef = (branch: string, name: string) => `refs/${branch}/${name}`

/** Only branches of Baton's own are ever moved. */
export const isOwnBranch = (branch: string) => /^baton\/[^/]+\/gen-\d+$/.test(branch)

export const commitAt = (git: Git, repository: string, name: string) =>
  answerOf(git, repository, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])

export const isAncestor = async (git: Git, repository: string, commit: string, other: string) =>
  (await git(repository, ['merge-base', '--is-ancestor', commit, other])).code === 0

/** Sets refs, all or none. */
export function setRefs(
  git: Git,
  repository: string,
  refs: readonly (readonly [ref: string, commit: string])[],
): Promise<GitEnd> {
  const input = Buffer.from(refs.map(([ref, commit]) => `update ${ref}\0${commit}\0\0`).join(''))
  const env = { GIT_COMMITTER_NAME: BATON.name, GIT_COMMITTER_EMAIL: BATON.email }
  const args = ['update-ref', '-m', 'baton: save work', '-z', '--stdin']
  return unlessLocked(() => git(repository, args, undefined, { input, env }))
}

/**
 * Moves a branch of Baton's to a commit. What only its old tip had, or what was held for it before, gets a ref; returns
 * these refs, or why it failed.
 */
export async function moveBranch(
  git: Git,
  repository: string,
  branch: string,
  commit: string,
): Promise<{ replaced: string[] } | { why: string }> {
  const saved = heldRef(branch, 'saved')
  const olds = [await commitAt(git, repository, headOfBranch(branch)), await commitAt(git, repository, saved)]
  const held: [string, string][] = [[saved, commit]]
  for (const old of new Set(olds)) {
    if (old === null || (await isAncestor(git, repository, old, commit))) continue
    held.push([heldRef(branch, `replaced-${old.slice(0, 12)}`), old])
  }
  // First what holds the work: the branch may be in the way of another.
  for (const refs of [held, [[headOfBranch(branch), commit]] as const]) {
    const end = await setRefs(git, repository, refs)
    if (end.code !== 0) return { why: reasonOf(end) }
  }
  return { replaced: held.slice(1).map(([ref]) => ref) }
}

/** Git was killed while it held them. Call it only when no process of the run is left. */
export async function removeStaleLocks(repository: string, record: string, branch: string): Promise<void> {
  const held = join(repository, heldRef(branch, ''))
  const names = (await unlessMissing(readdir(held))) ?? []
  const locks = [
    join(record, 'index.lock'),
    join(record, 'HEAD.lock'),
    join(repository, `${headOfBranch(branch)}.lock`),
    ...names.filter((name) => name.endsWith('.lock')).map((name) => join(held, name)),
  ]
  for (const lock of locks) await rm(lock, { force: true })
}
