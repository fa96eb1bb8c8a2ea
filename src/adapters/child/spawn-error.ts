import { accessSync, constants, statSync } from 'node:fs'

export interface SpawnError {
  /** As the system says it; what is wrong with the folder, not with the program, ends in _CWD. */
  code: string
  message: string
}

/** Why a program could not be started. The system says the same of a missing program and of a missing folder. */
export function spawnErrorOf(error: Error & { code?: string }, command: string, cwd: string): SpawnError {
  const folder = whatIsWrongWith(cwd)
  if (folder) return folder
  switch (error.code) {
    case 'ENOENT':
      return { code: 'ENOENT', message: `There is no program "${command}".` }
    case 'EACCES':
      return { code: 'EACCES', message: `"${command}" may not be executed.` }
    case 'ENOTDIR':
      return { code: 'ENOTDIR', message: `"${command}" leads through something that is no folder.` }
    case 'E2BIG':
      return { code: 'E2BIG', message: `The arguments and the environment of "${command}" are too long.` }
    default:
      return { code: error.code ?? 'UNKNOWN', message: `"${command}" could not be started: ${error.message}` }
  }
}

function whatIsWrongWith(cwd: string): SpawnError | null {
  try {
    if (!statSync(cwd).isDirectory()) return { code: 'ENOTDIR_CWD', message: `${cwd} is no folder.` }
    accessSync(cwd, constants.X_OK)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { code: 'ENOENT_CWD', message: `There is no folder ${cwd}.` }
    return { code: `${code}_CWD`, message: `The folder ${cwd} cannot be entered (${code}).` }
  }
}
