import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

/**
 * Finds a program as the system does when it starts one. The system itself reports EACCES for a missing program as soon as
 * one folder on PATH cannot be entered.
 */
export type Lookup =
  | { kind: 'program'; path: string }
  /** Present but not a program: a folder, or a file without execute permission. */
  | { kind: 'not_executable'; path: string }
  /** The path contains a folder that cannot be entered. On PATH, such folders are skipped. */
  | { kind: 'unreachable' }
  | { kind: 'missing' }

/** The system's default without PATH. */
const USUAL_PATH = '/usr/bin:/bin'

export async function lookUp(command: string, cwd: string, path = USUAL_PATH): Promise<Lookup> {
  if (command.includes('/')) return check(resolve(cwd, command))
  let notExecutable: Lookup | null = null
  for (const folder of path.split(delimiter)) {
    const found = await check(join(resolve(cwd, folder), command))
    if (found.kind === 'program') return found
    if (found.kind === 'not_executable') notExecutable ??= found
  }
  return notExecutable ?? { kind: 'missing' }
}

async function check(path: string): Promise<Lookup> {
  try {
    if (!(await stat(path)).isFile()) return { kind: 'not_executable', path }
  } catch (error) {
    return { kind: (error as NodeJS.ErrnoException).code === 'EACCES' ? 'unreachable' : 'missing' }
  }
  return access(path, constants.X_OK).then(
    () => ({ kind: 'program', path }),
    () => ({ kind: 'not_executable', path }),
  )
}
