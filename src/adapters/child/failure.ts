import type { AdapterInvokeResult } from '../protocol.ts'
import type { ChildEnd } from './run-child.ts'

type Failure = Pick<AdapterInvokeResult, 'outcome' | 'exitCode' | 'signal' | 'errorCode' | 'errorMessage'>

/** Much of what a program says last is about the whole of it; more does not fit into a message. */
const LONGEST_MESSAGE = 2_000

/** What it means for a run how its program ended; null when it ended by itself and well. */
export function failureOf(end: ChildEnd, command: string): Failure | null {
  const { exitCode, signal, stopped, spawnError } = end
  const failure = (
    outcome: Failure['outcome'],
    errorCode: Failure['errorCode'],
    errorMessage: string,
  ): Failure => ({ outcome, exitCode, signal, errorCode, errorMessage })
  if (spawnError) return failure('failed', codeOf(spawnError.code), spawnError.message)
  if (stopped === 'timeout') return failure('timed_out', 'timeout', `${command} took longer than it may.`)
  if (stopped === 'aborted') return failure('cancelled', 'cancelled', `${command} was stopped.`)
  if (exitCode === 0) return null
  const how = signal === null ? `ended with ${exitCode}` : `was ended by ${signal}`
  const said = end.stderrTail.trim() || end.stdoutTail.trim()
  const last = said.slice(-LONGEST_MESSAGE).toWellFormed()
  return failure('failed', 'nonzero_exit', `${command} ${how}${last === '' ? '.' : `: ${last}`}`)
}

function codeOf(spawnCode: string): NonNullable<Failure['errorCode']> {
  if (spawnCode.endsWith('_CWD')) return 'invalid_working_directory'
  return NO_PROGRAM.has(spawnCode) ? 'adapter_not_installed' : 'spawn_failed'
}

/** Not there, or there but no program: it will not be one at the next try either. */
const NO_PROGRAM = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ENOEXEC'])
