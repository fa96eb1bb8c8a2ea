import { accessSync, constants, statSync } from 'node:fs'
import { lookUp } from './lookup.ts'

export interface SpawnError {
  /** The code of the system; codes about the folder, not the program, end in _CWD. */
  code: string
  message: string
}

/** Why a program could not be started. The system reports the same code for a missing program and a missing folder. */
export async function spawnErrorOf(
  error: Error & { code?: string },
  command: string,
  cwd: string,
  path: string | undefined,
): Promise<SpawnError> {
  const folder = folderError(cwd)
  if (folder) return folder
  switch (error.code) {
    case 'ENOENT':
    case 'EACCES':
      return programError(error.code, command, cwd, path)
    case 'ENOTDIR':
      return { code: 'ENOTDIR', message: `A part of the path "${command}" is not a folder.` }
    case 'E2BIG':
      return { code: 'E2BIG', message: `The arguments and the environment of "${command}" are too long.` }
    default:
      return { code: error.code ?? 'UNKNOWN', message: `"${command}" could not be started: ${error.message}` }
  }
}

async function programError(
  systemCode: 'ENOENT' | 'EACCES',
  command: string,
  cwd: string,
  path: string | undefined,
): Promise<SpawnError> {
  const { kind } = await lookUp(command, cwd, path)
  if (kind === 'missing') return { code: 'ENOENT', message: `There is no program "${command}".` }
  if (kind === 'unreachable')
    return { code: 'EACCES', message: `"${command}" is in a folder that Baton cannot enter.` }
  // A script whose interpreter is missing, or a file system mounted noexec.
  if (kind === 'program')
    return {
      code: systemCode,
      message: `"${command}" exists, but it or its interpreter cannot be executed.`,
    }
  return { code: 'EACCES', message: `"${command}" is not executable.` }
}

function folderError(cwd: string): SpawnError | null {
  try {
    if (!statSync(cwd).isDirectory()) return { code: 'ENOTDIR_CWD', message: `${cwd} is not a folder.` }
    accessSync(cwd, constants.X_OK)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { code: 'ENOENT_CWD', message: `There is no folder ${cwd}.` }
    return { code: `${code}_CWD`, message: `The folder ${cwd} cannot be entered (${code}).` }
  }
}
