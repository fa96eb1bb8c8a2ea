import { setTimeout as pause } from 'node:timers/promises'
import { lookUp } from '../../adapters/child/lookup.ts'
import { isFolder } from './places.ts'
import { FolderRefused } from './refused.ts'
import { filterOverrides, UnsafeConfig } from './repository-config.ts'
import { type GitEnd, type GitStreams, GitTimeout, runGit } from './run-git.ts'

/**
 * How Baton runs git: without a shell, prompts, or an environment that could redirect it; without the hooks, filters and
 * other programs that a repository names, since agents can write there; without the network; and with a timeout.
 */

export type Git = (
  folder: string,
  args: readonly string[],
  timeoutMs?: number,
  options?: GitOptions,
) => Promise<GitEnd>

export interface GitOptions extends GitStreams {
  /** Variables of git itself: which index, which git folder, who commits. */
  env?: Record<string, string>
}

/** Git failed, and as far as known not because of wrong settings. */
export class GitFailed extends Error {
  override name = 'GitFailed'
}

const TIMEOUT_MS = 120_000
const GRACE_MS = 2_000
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024

const SAFE_SETTINGS = [
  // With these settings, anyone who can write to a repository could make Baton run any program.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.sshCommand=false',
  'core.askPass=false',
  'core.editor=false',
  'core.pager=cat',
  'credential.helper=',
  'protocol.allow=never',
  // The cache of untracked files could hide some of them.
  'core.untrackedCache=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  // Git checks for work itself before it removes a worktree; a repository may configure it to ignore untracked files.
  'status.showUntrackedFiles=all',
  // Work that is saved must be all that was done: no file is taken for unchanged, and none is refused for its line ends.
  'core.ignoreStat=false',
  'core.safecrlf=false',
  'sparse.expectFilesOutsideOfPatterns=false',
  // The index of a worktree is one file, so that it can be copied and replaced.
  'core.splitIndex=false',
  'i18n.commitEncoding=UTF-8',
].flatMap((setting) => ['-c', setting])

/** These commands read no checked-out file, so no filter runs. */
const WITHOUT_FILES = new Set([
  ...['branch', 'cat-file', 'for-each-ref', 'ls-files', 'merge-base', 'rev-list', 'rev-parse'],
  ...['show-ref', 'update-ref', '--git-dir', 'symbolic-ref', 'write-tree', 'commit-tree', 'check-attr'],
  'diff-tree',
])

/**
 * The environment is only PATH and HOME: where git finds itself and the settings of its user. `longestMs` is the upper limit
 * for the timeout of any call.
 */
export function gitWith(
  { PATH, HOME }: { PATH?: string; HOME?: string },
  { longestMs = Number.POSITIVE_INFINITY, graceMs = GRACE_MS } = {},
): Git {
  const env = {
    ...(PATH === undefined ? {} : { PATH }),
    ...(HOME === undefined ? {} : { HOME }),
    // Its messages are parsed here.
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // Reading must not block an agent that commits.
    GIT_OPTIONAL_LOCKS: '0',
    // A repository may declare that objects are elsewhere, and fetch them with any program.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  }
  return async (folder, args, timeout = TIMEOUT_MS, { env: ofCall = {}, ...streams } = {}) => {
    const timeoutMs = Math.min(timeout, longestMs)
    const limits = { timeoutMs, graceMs, mostOutputBytes: MOST_OUTPUT_BYTES }
    const run = (at: string, rest: readonly string[], more: Record<string, string> = {}, io?: GitStreams) =>
      runGit([...SAFE_SETTINGS, '-C', at, ...rest], { ...env, ...ofCall, ...more }, limits, io)
    try {
      if (WITHOUT_FILES.has(args[0]!)) return await run(folder, args, {}, streams)
      const queries = [folder, ...(await worktreesIn(args))].map(
        (at) =>
          (...query: string[]) =>
            run(at, query),
      )
      const safe = await filterOverrides(queries, HOME)
      return 'failure' in safe ? safe.failure : await run(folder, args, safe.env, streams)
    } catch (error) {
      throw await failureOf(error as Error, PATH, args[0]!, folder)
    }
  }
}

/** A worktree may have settings of its own, which `git worktree` reads even when it runs elsewhere. */
async function worktreesIn([command, ...args]: readonly string[]): Promise<string[]> {
  const root = command === 'worktree' ? args[args.indexOf('--') + 1] : undefined
  return root !== undefined && (await isFolder(root)) ? [root] : []
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
  if (isMissing) return new FolderRefused('git is not installed on this machine, and git_worktree needs it.')
  return new GitFailed(`git ${command} failed in ${folder}: ${error.message}`)
}

/** The output of git; throws when it fails. */
export async function outputOf(git: Git, folder: string, args: readonly string[]): Promise<string> {
  const end = await git(folder, args)
  if (end.code !== 0) throw new GitFailed(`git ${args[0]} failed in ${folder}: ${reasonOf(end)}`)
  return end.stdout.trim()
}

/** The same, or null when git fails: for queries where a failure is an answer. */
export async function answerOf(git: Git, folder: string, args: readonly string[]): Promise<string | null> {
  const end = await git(folder, args)
  return end.code === 0 ? end.stdout.trim() : null
}

const LONGEST_REASON = 500

/** The error message of git in one line. */
export function reasonOf({ code, stderr }: GitEnd): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^(fatal|error): /, '').trim())
  const message = lines.filter((line) => line !== '' && !line.startsWith('Preparing worktree')).join(' ')
  return message === '' ? `exit code ${code}` : message.slice(0, LONGEST_REASON)
}

// Git reports a conflict of branch names as a lock too, but that one does not go away on its own.
const IS_LOCKED =
  /\.lock': File exists|unable to create .*\.lock|cannot lock ref(?!.*exists; cannot create)|could not lock/i
const ATTEMPTS = 10

/** Retries while another node, a person or an agent holds a lock of git: they are done in a moment. */
export async function unlessLocked(act: () => Promise<GitEnd>): Promise<GitEnd> {
  for (let attempt = 1; ; attempt++) {
    const end = await act()
    if (end.code === 0 || attempt === ATTEMPTS || !IS_LOCKED.test(end.stderr)) return end
    await pause(Math.min(1_000, 25 * 2 ** attempt) * (0.5 + Math.random() / 2))
  }
}

const tails = new Map<string, Promise<unknown>>()

/** Runs one action at a time per repository, within this process. */
export async function serialized<T>(repository: string, act: () => Promise<T>): Promise<T> {
  const result = (tails.get(repository) ?? Promise.resolve()).then(act)
  const tail = result.catch(() => undefined)
  tails.set(repository, tail)
  try {
    return await result
  } finally {
    if (tails.get(repository) === tail) tails.delete(repository)
  }
}
