import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import type { ProbeCheck } from './protocol.ts'

/** Whether a program is there, found as it would be when it is started. It is not run: nobody knows what it would do. */
export async function programCheck(
  command: string,
  cwd: string | null,
  env: Record<string, string>,
): Promise<ProbeCheck> {
  const name = 'program'
  for (const place of placesOf(command, cwd, env.PATH))
    if (await isProgram(place)) return { name, ok: true, detail: `${place} can be started.` }
  const detail = `There is no program ${command}${command.includes('/') ? '' : ' on PATH'}.`
  return { name, ok: false, detail, hint: 'Set adapterConfig.command to a program that is there.' }
}

/** Where systems look when nobody says where. */
const USUAL_PATH = '/usr/bin:/bin'

const placesOf = (command: string, cwd: string | null, path = USUAL_PATH) =>
  command.includes('/')
    ? [resolve(cwd ?? '.', command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd ?? '.', folder), command))

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
