import { lookUp } from './child/lookup.ts'
import type { ProbeCheck } from './protocol.ts'

/** Whether a program exists, looked up as when it is started. It is not run: what it would do is unknown. */
export async function programCheck(
  command: string,
  cwd: string | null,
  env: Record<string, string>,
): Promise<ProbeCheck> {
  const name = 'program'
  const found = await lookUp(command, cwd ?? '.', env.PATH)
  if (found.kind === 'program') return { name, ok: true, detail: `${found.path} can be started.` }
  if (found.kind === 'not_executable') {
    const hint = 'Make it executable (chmod +x), or set adapterConfig.command to a program.'
    return { name, ok: false, detail: `${found.path} is not executable.`, hint }
  }
  const detail =
    found.kind === 'unreachable'
      ? `${command} is in a folder that Baton cannot enter.`
      : `There is no program ${command}${command.includes('/') ? '' : ' on PATH'}.`
  return { name, ok: false, detail, hint: 'Set adapterConfig.command to an existing program.' }
}
