import type { AdapterInvokeResult } from '../protocol.ts'
import type { ChildEnd } from './run-child.ts'

type Failure = Pick<AdapterInvokeResult, 'outcome' | 'exitCode' | 'signal' | 'errorCode' | 'errorMessage'>

/** The end of a program's output usually explains the failure; more does not fit into a message. */
const LONGEST_MESSAGE = 2_000

/** How the end of the program fails the run; null when it exited on its own with code 0. */
export function failureOf(end: ChildEnd, command: string): Failure | null {
  const { exitCode, signal, stopped, spawnError } = end
  const failure = (
    outcome: Failure['outcome'],
    errorCode: Failure['errorCode'],
    errorMessage: string,
  ): Failure => ({ outcome, exitCode, signal, errorCode, errorMessage })
  if (spawnError) return failure('failed', codeOf(spawnError.code), spawnError.message)
  if (stopped === 'timeout') return failure('timed_out', 'timeout', `${command} exceeded its timeout.`)
  if (stopped === 'aborted') return failure('cancelled', 'cancelled', `${command} was stopped.`)
  if (exitCode === 0) return null
  const how = signal === null ? `exited with code ${exitCode}` : `was killed by ${signal}`
  const output = end.stderrTail.trim() || end.stdoutTail.trim()
  const last = output.slice(-LONGEST_MESSAGE).toWellFormed()
  return failure('failed', 'nonzero_exit', `${command} ${how}${last === '' ? '.' : `: ${last}`}`)
}

function codeOf(spawnCode: string): NonNullable<Failure['errorCode']> {
  if (spawnCode.endsWith('_CWD')) return 'invalid_working_directory'
  return NO_PROGRAM.has(spawnCode) ? 'adapter_not_installed' : 'spawn_failed'
}

/** Missing, or not a program: a retry would not change that. */
const NO_PROGRAM = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ENOEXEC'])
