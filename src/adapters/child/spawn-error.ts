import { accessSync, constants, statSync } from 'node:fs'
import { lookUp } from './lookup.ts'

export interface SpawnError {
  /** As the system says it; what is wrong with the folder, not with the program, ends in _CWD. */
  code: string
  message: string
}

/** Why a program could not be started. The system says the same of a missing program and of a missing folder. */
export async function spawnErrorOf(
  error: Error & { code?: string },
  command: string,
  cwd: string,
  path: string | undefined,
): Promise<SpawnError> {
  const folder = whatIsWrongWith(cwd)
  if (folder) return folder
  switch (error.code) {
    case 'ENOENT':
    case 'EACCES':
      return whatIsWrongWithProgram(error.code, command, cwd, path)
    case 'ENOTDIR':
      return { code: 'ENOTDIR', message: `"${command}" leads through something that is no folder.` }
    case 'E2BIG':
      return { code: 'E2BIG', message: `The arguments and the environment of "${command}" are too long.` }
    default:
      return { code: error.code ?? 'UNKNOWN', message: `"${command}" could not be started: ${error.message}` }
  }
}

async function whatIsWrongWithProgram(
  said: 'ENOENT' | 'EACCES',
  command: string,
  cwd: string,
  path: string | undefined,
): Promise<SpawnError> {
  const { kind } = await lookUp(command, cwd, path)
  if (kind === 'missing') return { code: 'ENOENT', message: `There is no program "${command}".` }
  if (kind === 'unreachable')
    return { code: 'EACCES', message: `"${command}" is in a folder that Baton may not enter.` }
  // A script whose interpreter is missing, or a disk from which nothing is executed.
  if (kind === 'program')
    return {
      code: said,
      message: `"${command}" is there, but it, or the program that runs it, cannot be executed.`,
    }
  return { code: 'EACCES', message: `"${command}" may not be executed.` }
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
