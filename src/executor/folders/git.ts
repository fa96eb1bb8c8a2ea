import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { FolderRefused } from './refused.ts'

/** How we run git: without a shell, hooks, prompts, or an environment that could lead it elsewhere. */

export interface GitEnd {
  /** Null when it was cut off for saying too much. */
  code: number | null
  stdout: string
  stderr: string
}

export type Git = (folder: string, args: readonly string[], timeoutMs?: number) => Promise<GitEnd>

/** Git did not do what it should, and nobody's settings are to blame as far as we know. */
export class GitFailed extends Error {
  override name = 'GitFailed'
}

const TIMEOUT_MS = 120_000
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024

const OURS = [
  // Whoever can write to a repository could have us run what it likes by these two.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  // Git looks itself for work before it removes a worktree; a repository may tell it not to look for new files.
  'status.showUntrackedFiles=all',
].flatMap((setting) => ['-c', setting])

/** The environment is where git looks for itself and for the settings of its user, no more: PATH and HOME. */
export function gitWith({ PATH, HOME }: { PATH?: string; HOME?: string }): Git {
  const env = {
    ...(PATH === undefined ? {} : { PATH }),
    ...(HOME === undefined ? {} : { HOME }),
    // We read what it says.
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // Looking must not get in the way of an agent that commits.
    GIT_OPTIONAL_LOCKS: '0',
  }
  return (folder, args, timeout = TIMEOUT_MS) =>
    new Promise((resolve, reject) => {
      const all = [...OURS, '-C', folder, ...args]
      const options = { env, timeout, maxBuffer: MOST_OUTPUT_BYTES, encoding: 'utf8' } as const
      execFile('git', all, options, (error, stdout, stderr) => {
        if (!error) resolve({ code: 0, stdout, stderr })
        else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr })
        else if (isTooMuch(error)) resolve({ code: null, stdout, stderr })
        else if (isMissing(error))
          reject(new FolderRefused('git is not on this machine, and git_worktree needs it.'))
        else if (error.killed)
          reject(new GitFailed(`git ${args[0]} took longer than ${timeout / 1000} s in ${folder}.`))
        else reject(new GitFailed(`git ${args[0]} failed in ${folder}: ${error.message}`))
      })
    })
}

const isTooMuch = (error: Error) => 'code' in error && error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
const isMissing = (error: Error) => 'code' in error && error.code === 'ENOENT'

/** What git says, when it must not fail. */
export async function saidBy(git: Git, folder: string, args: readonly string[]): Promise<string> {
  const end = await git(folder, args)
  if (end.code !== 0) throw new GitFailed(`git ${args[0]} failed in ${folder}: ${reasonOf(end)}`)
  return end.stdout.trim()
}

/** The same, or null when it fails: for questions to which that is an answer. */
export async function answerOf(git: Git, folder: string, args: readonly string[]): Promise<string | null> {
  const end = await git(folder, args)
  return end.code === 0 ? end.stdout.trim() : null
}

const LONGEST_REASON = 500

/** What git said when it failed, in one line. */
export function reasonOf({ code, stderr }: GitEnd): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^(fatal|error): /, '').trim())
  const said = lines.filter((line) => line !== '' && !line.startsWith('Preparing worktree')).join(' ')
  return said === '' ? `it ended with ${code}` : said.slice(0, LONGEST_REASON)
}

// A branch that stands in the way of another is called a lock too, and does not go away by itself.
const IS_LOCKED =
  /\.lock': File exists|unable to create .*\.lock|cannot lock ref(?!.*exists; cannot create)|could not lock/i
const TRIES = 10

/** Another node, a person or an agent may be at the same files of git: they are done in a moment. */
export async function unlessLocked(act: () => Promise<GitEnd>): Promise<GitEnd> {
  for (let tried = 1; ; tried++) {
    const end = await act()
    if (end.code === 0 || tried === TRIES || !IS_LOCKED.test(end.stderr)) return end
    await pause(Math.min(1_000, 25 * 2 ** tried) * (0.5 + Math.random() / 2))
  }
}

const turns = new Map<string, Promise<unknown>>()

/** One at a time for each repository, in this process. */
export async function inTurn<T>(repository: string, act: () => Promise<T>): Promise<T> {
  const mine = (turns.get(repository) ?? Promise.resolve()).then(act)
  const over = mine.catch(() => undefined)
  turns.set(repository, over)
  try {
    return await mine
  } finally {
    if (turns.get(repository) === over) turns.delete(repository)
  }
}
