import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'

/**
 * Where a program is, looked up as the system does when it starts one. The system itself says EACCES for a program that is
 * nowhere as soon as one folder on PATH may not be entered.
 */
export type Lookup =
  | { kind: 'program'; path: string }
  /** There, but it is no program: a folder, or a file that may not be executed. */
  | { kind: 'not_executable'; path: string }
  /** A path leads through a folder that may not be entered. On PATH, such folders are skipped. */
  | { kind: 'unreachable' }
  | { kind: 'missing' }

/** Where the system looks when there is no PATH. */
const USUAL_PATH = '/usr/bin:/bin'

export async function lookUp(command: string, cwd: string, path = USUAL_PATH): Promise<Lookup> {
  if (command.includes('/')) return look(resolve(cwd, command))
  let notExecutable: Lookup | null = null
  for (const folder of path.split(delimiter)) {
    const found = await look(join(resolve(cwd, folder), command))
    if (found.kind === 'program') return found
    if (found.kind === 'not_executable') notExecutable ??= found
  }
  return notExecutable ?? { kind: 'missing' }
}

async function look(path: string): Promise<Lookup> {
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
