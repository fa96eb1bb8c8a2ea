import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { lookUp } from '../../adapters/child/lookup.ts'
import { FolderRefused } from './refused.ts'
import { overruled, UnsafeConfig } from './repository-config.ts'
import { type GitEnd, GitTimeout, runGit } from './run-git.ts'

/**
 * How we run git: without a shell, prompts, or an environment that could lead it elsewhere; without the hooks, filters and
 * other programs that a repository names, since agents can write there; without the network; and not for ever.
 */

export type Git = (folder: string, args: readonly string[], timeoutMs?: number) => Promise<GitEnd>

/** Git did not do what it should, and nobody's settings are to blame as far as we know. */
export class GitFailed extends Error {
  override name = 'GitFailed'
}

const TIMEOUT_MS = 120_000
const GRACE_MS = 2_000
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024

const OURS = [
  // Whoever can write to a repository could have us run what it likes by these.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.sshCommand=false',
  'core.askPass=false',
  'core.editor=false',
  'core.pager=cat',
  'credential.helper=',
  'protocol.allow=never',
  // What it remembers of new files could hide some of them.
  'core.untrackedCache=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  // Git looks itself for work before it removes a worktree; a repository may tell it not to look for new files.
  'status.showUntrackedFiles=all',
].flatMap((setting) => ['-c', setting])

/** These look at no file that is checked out, so no filter has a say in them. */
const WITHOUT_FILES = new Set([
  ...['branch', 'cat-file', 'for-each-ref', 'ls-files', 'merge-base', 'rev-list', 'rev-parse'],
  ...['show-ref', 'update-ref', '--git-dir'],
])

/**
 * The environment is where git looks for itself and for the settings of its user, no more: PATH and HOME. `longestMs` is the
 * longest that any call may take, whatever it asks for.
 */
export function gitWith(
  { PATH, HOME }: { PATH?: string; HOME?: string },
  { longestMs = Number.POSITIVE_INFINITY, graceMs = GRACE_MS } = {},
): Git {
  const env = {
    ...(PATH === undefined ? {} : { PATH }),
    ...(HOME === undefined ? {} : { HOME }),
    // We read what it says.
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // Looking must not get in the way of an agent that commits.
    GIT_OPTIONAL_LOCKS: '0',
    // A repository may say that objects are elsewhere, and how they are brought: by any program.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  }
  return async (folder, args, timeout = TIMEOUT_MS) => {
    const timeoutMs = Math.min(timeout, longestMs)
    const limits = { timeoutMs, graceMs, mostOutputBytes: MOST_OUTPUT_BYTES }
    const run = (at: string, rest: readonly string[], more: Record<string, string> = {}) =>
      runGit([...OURS, '-C', at, ...rest], { ...env, ...more }, limits)
    try {
      if (WITHOUT_FILES.has(args[0]!)) return await run(folder, args)
      const asks = [folder, ...(await worktreesIn(args))].map(
        (at) =>
          (...ask: string[]) =>
            run(at, ask),
      )
      const safe = await overruled(asks, HOME)
      return 'complaint' in safe ? safe.complaint : await run(folder, args, safe.env)
    } catch (error) {
      throw await failureOf(error as Error, PATH, args[0]!, folder)
    }
  }
}

/** A worktree may have settings of its own: `git worktree` reads them though it is run elsewhere. */
async function worktreesIn([command, ...args]: readonly string[]): Promise<string[]> {
  const root = command === 'worktree' ? args[args.indexOf('--') + 1] : undefined
  const isThere = root !== undefined && (await stat(root).catch(() => null))?.isDirectory()
  return isThere ? [root] : []
}

async function failureOf(
  error: Error & { code?: string },
  path: string | undefined,
  command: string,
  folder: string,
): Promise<Error> {
  if (error instanceof UnsafeConfig)
    return new FolderRefused(`The repository at ${folder} cannot be used: ${error.message}.`)
  if (error instanceof GitTimeout) return new GitFailed(`git ${command} ${error.message} in ${folder}.`)
  const isMissing = error.code !== undefined && (await lookUp('git', '/', path)).kind === 'missing'
  if (isMissing) return new FolderRefused('git is not on this machine, and git_worktree needs it.')
  return new GitFailed(`git ${command} failed in ${folder}: ${error.message}`)
}

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
