import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { StartRefused } from '../pure/refusal.ts'
import { type Account, canEnter } from './account.ts'

export type Launch = (program: string, args: string[]) => ChildProcessWithoutNullStreams

const PROGRAM_FOLDERS = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
]

/** Starts a Postgres program under an account that may run it and reach the data folder. */
export function launcher(options: { account: Account | undefined; dataFolder?: string }): Launch {
  const { account, dataFolder } = options
  if (!account) return start
  const { uid, gid } = account
  if (!dataFolder || canEnter(account, dataFolder)) {
    return (program, args) => start(program, args, { uid, gid })
  }
  const setpriv = PROGRAM_FOLDERS.map((folder) => join(folder, 'setpriv')).find((path) => existsSync(path))
  if (!setpriv) {
    throw new StartRefused(
      `User ${account.name} must run Postgres, because root may not, but cannot enter the data folder ${dataFolder}: install setpriv (util-linux), or choose a folder that everyone may enter.`,
    )
  }
  // The one capability that lets the server pass a 0700 folder above its own. Granted only where it is needed,
  // because a superuser of the database can then read and write any file through it.
  const rights = ['--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override']
  const drop = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...rights, '--']
  return (program, args) => start(setpriv, [...drop, program, ...args])
}

function start(program: string, args: string[], ids: { uid?: number; gid?: number } = {}) {
  const child = spawn(program, args, {
    ...ids,
    // The current folder may be closed to the account.
    cwd: '/',
    // Nothing of Baton's environment is inherited. Log lines must be in English, because they are parsed.
    env: { PATH: PROGRAM_FOLDERS.join(':'), LC_ALL: 'C', TZ: 'UTC' },
    // A session of its own: Ctrl-C in the terminal reaches only Baton, which then stops the server in order.
    detached: true,
  })
  // A program that fails at once closes its input early; its exit code reports the failure.
  child.stdin.on('error', () => {})
  return child
}

/** Waits for a program that ends on its own; `complaint` is its error message, or else its last line. */
export async function finished(
  child: ChildProcessWithoutNullStreams,
  input = '',
): Promise<{ code: number | null; complaint: string }> {
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line.trim()))
  child.stdout.resume()
  child.stdin.end(input)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, complaint: complaintIn(lines) ?? `it exited with ${code ?? child.signalCode}` }
  } catch (error) {
    return { code: null, complaint: (error as Error).message }
  }
}

/** The first line in which a Postgres program reports why it failed; later errors follow from it. */
export function complaintIn(lines: string[]): string | undefined {
  return lines.find((line) => /\b(error|ERROR|FATAL|PANIC|setpriv): /.test(line)) ?? lines.findLast(Boolean)
}
