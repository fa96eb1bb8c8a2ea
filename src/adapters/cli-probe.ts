import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { type ChildEnd, runChild } from './child/run-child.ts'
import type { ProbeCheck, ProbeInput } from './protocol.ts'

/** Checks whether an agent program could run here, without a request to its model. */

const LONGEST_PROBE_MS = 10_000
const LONGEST_DETAIL = 300

/** Runs the program with these arguments. */
export type RunCommand = (...args: string[]) => Promise<ChildEnd>

export interface ProbeContext<S> {
  env: Record<string, string>
  settings: S
  /** The output of `--version`. */
  version: string
}

export interface ProbeOf<S> {
  installHint: string
  /** Whether it is logged in, as far as that can be checked without cost, and other possible obstacles. */
  check(run: RunCommand, context: ProbeContext<S>): Promise<ProbeCheck[]>
}

export async function probeCli<S extends { command: string }>(
  cli: ProbeOf<S>,
  settings: S,
  input: ProbeInput,
  signal: AbortSignal,
): Promise<ProbeCheck[]> {
  const { command } = settings
  const { env } = input
  const folder = await folderCheck(input.cwd)
  const run: RunCommand = (...args) => {
    const runId = `probe-${randomUUID()}`
    const cwd = input.cwd !== null && folder.ok ? input.cwd : tmpdir()
    const limits = { timeoutMs: LONGEST_PROBE_MS, graceMs: 500 }
    return runChild({ command, args, cwd, env, stdin: '', runId, ...limits }, {}, () => {}, signal)
  }
  const answer = await run('--version')
  const program = programCheck(cli.installHint, command, answer)
  const version = answer.stdoutTail.trim()
  const others = program.ok ? await cli.check(run, { env, settings, version }) : []
  return [program, ...others, ...(input.cwd === null ? [] : [folder])]
}

function programCheck(installHint: string, command: string, end: ChildEnd): ProbeCheck {
  const name = 'program'
  if (end.spawnError) return { name, ok: false, detail: end.spawnError.message, hint: installHint }
  if (end.stopped === 'timeout') {
    const detail = `${command} --version did not answer within ${LONGEST_PROBE_MS / 1_000} seconds.`
    return { name, ok: false, detail, hint: 'Run it by hand to see what it waits for.' }
  }
  if (end.exitCode !== 0) {
    const output = firstLineOf(end.stderrTail || end.stdoutTail)
    const detail = `${command} --version ended with ${end.exitCode ?? end.signal}${output ? `: ${output}` : '.'}`
    return { name, ok: false, detail, hint: installHint }
  }
  return { name, ok: true, detail: firstLineOf(end.stdoutTail) || `${command} printed no version.` }
}

async function folderCheck(cwd: string | null): Promise<ProbeCheck> {
  const name = 'folder'
  try {
    if (cwd === null) return { name, ok: true, detail: 'Not set.' }
    if (!(await stat(cwd)).isDirectory())
      return { name, ok: false, detail: `${cwd} is not a folder.`, hint: 'Set cwd to a folder.' }
    await access(cwd, constants.R_OK | constants.W_OK | constants.X_OK)
    return { name, ok: true, detail: cwd }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const detail = isMissing ? `There is no folder ${cwd}.` : `${cwd} cannot be read and written.`
    return { name, ok: false, detail, hint: 'Create it, or set cwd to a folder that this user may write to.' }
  }
}

export const firstLineOf = (text: string): string =>
  (text.trim().split('\n')[0] ?? '').slice(0, LONGEST_DETAIL).trim().toWellFormed()

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Logged in by a key in the environment. The key is not tested: that would cost money. */
export function keyCheck(env: Record<string, string>, names: readonly string[]): ProbeCheck | null {
  const name = names.find((candidate) => env[candidate])
  return name === undefined ? null : { name: 'login', ok: true, detail: `It uses ${name} (not tested).` }
}

/** Logged in by a file of the program. Programs have other places too, so a missing file proves nothing. */
export async function fileCheck(path: string): Promise<ProbeCheck> {
  const name = 'login'
  if (await exists(path)) return { name, ok: true, detail: `Logged in by ${path} (not tested).` }
  const detail = 'It is unknown whether it is logged in: no key is set, and no login was found.'
  return { name, ok: true, detail, isUnknown: true }
}
