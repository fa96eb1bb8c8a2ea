import { type Git, GitFailed, type GitOptions, reasonOf } from './git.ts'
import type { GitEnd } from './run-git.ts'

/**
 * Git in one worktree, by its record: whatever the agent left in place of the file `.git`. Paths are strings of bytes
 * (latin1), since names of files need not be UTF-8.
 */

export interface WorktreeGit {
  root: string
  /** Git's own folder for the worktree. */
  record: string
  /** Also what the exit code says is an answer. */
  run: (args: readonly string[], options?: GitOptions) => Promise<GitEnd>
  /** Throws when git fails. */
  output: (args: readonly string[], options?: GitOptions) => Promise<string>
  /** Null when git fails. */
  answer: (args: readonly string[]) => Promise<string | null>
  /** Takes the fields of a list, each ended by NUL, until `take` returns false. */
  fields: (args: readonly string[], take: (field: string) => boolean, input?: Buffer) => Promise<GitEnd>
}

/** Reading and storing many large files takes a while. */
const FILES_TIMEOUT_MS = 600_000

/** Who commits is Baton, whatever the repository or its user say. */
export const BATON = { name: 'Baton', email: 'baton@localhost' }

export function gitOfWorktree(
  git: Git,
  { root, record }: { root: string; record: string },
  indexFile?: string,
): WorktreeGit {
  const env = {
    GIT_DIR: record,
    GIT_WORK_TREE: root,
    GIT_COMMITTER_NAME: BATON.name,
    GIT_COMMITTER_EMAIL: BATON.email,
    ...(indexFile && { GIT_INDEX_FILE: indexFile }),
  }
  const run = (args: readonly string[], options: GitOptions = {}) =>
    git(root, args, FILES_TIMEOUT_MS, { ...options, env: { ...env, ...options.env } })
  const output = async (args: readonly string[], options?: GitOptions) =>
    textOf(args[0]!, root, await run(args, options))
  const answer = async (args: readonly string[]) => {
    const end = await run(args)
    return end.code === 0 ? end.stdout.trim() : null
  }
  const fields = async (args: readonly string[], take: (field: string) => boolean, input?: Buffer) => {
    const reader = new FieldReader(take)
    const end = await run(args, { onOutput: (chunk) => reader.take(chunk), ...(input && { input }) })
    if (end.code !== 0 && end.code !== null) textOf(args[0]!, root, end)
    return end
  }
  return { root, record, run, output, answer, fields }
}

function textOf(command: string, root: string, end: GitEnd): string {
  if (end.code !== 0) throw new GitFailed(`git ${command} failed in ${root}: ${reasonOf(end)}`)
  return end.stdout.trim()
}

class FieldReader {
  readonly #take: (field: string) => boolean
  #rest = ''

  constructor(take: (field: string) => boolean) {
    this.#take = take
  }

  take(chunk: Buffer): boolean {
    const fields = (this.#rest + chunk.toString('latin1')).split('\0')
    this.#rest = fields.pop()!
    return fields.every((field) => this.#take(field))
  }
}

export const bytesOf = (path: string) => Buffer.from(path, 'latin1')
/** For people: a name that is not UTF-8 has marks in it. */
export const textOfPath = (path: string) => bytesOf(path).toString('utf8')
/** For the system. */
export const placeOf = (root: string, path: string) => Buffer.concat([Buffer.from(`${root}/`), bytesOf(path)])
/** A list for git's standard input. */
export const listOf = (paths: Iterable<string>) =>
  Buffer.from([...paths].map((path) => `${path}\0`).join(''), 'latin1')
