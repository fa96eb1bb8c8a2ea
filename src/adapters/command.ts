import { z } from 'zod'
import { failureOf } from './child/failure.ts'
import { runChild } from './child/run-child.ts'
import { configOf, localSettings, PlainText } from './config.ts'
import type { AdapterHooks, AdapterInvokeInput, AdapterInvokeResult, AgentRunAdapter } from './protocol.ts'
import { PROTOCOL_VERSION } from './protocol.ts'

/**
 * A shell command as a verifier: its exit code is the verdict. Its agent is Baton's own, and gets the command and the folder of each
 * run from the task it verifies.
 */

/** The type of Baton's own agent, which is given nothing but verifications. */
export const COMMAND = 'command'

const config = configOf(
  COMMAND,
  z.strictObject({
    ...localSettings,
    command: PlainText.optional(),
    /** What a check leaves behind is no work. */
    cleanup: z.literal('always').default('always'),
  }),
)

export const commandAdapter: AgentRunAdapter = {
  type: COMMAND,
  protocolVersion: PROTOCOL_VERSION,
  capabilities: { resumableSession: false, statusUpdates: false, logStreaming: true, tokenUsage: false },
  configSchema: config.schema,
  validateConfig: config.validate,
  invoke,
}

/** The end of the output usually says what is wrong. */
const LONGEST_FEEDBACK = 4_000

async function invoke(
  input: AdapterInvokeInput,
  hooks: AdapterHooks,
  signal: AbortSignal,
): Promise<AdapterInvokeResult> {
  const read = config.read(input.adapterConfig)
  if (!read.ok) return read.result
  const { command = 'false', graceSec } = read.settings
  // It judges; it has nothing to tell Baton but its exit code.
  const { BATON_API_KEY: _key, ...env } = input.env
  const end = await runChild(
    {
      ...{ command: '/bin/sh', args: ['-c', command], cwd: input.cwd, env, stdin: '' },
      timeoutMs: input.timeoutSec * 1_000,
      graceMs: graceSec * 1_000,
      runId: input.runId,
    },
    hooks,
    () => undefined,
    signal,
  )
  const failure = failureOf(end, command)
  // Killed, or not even started: that says nothing about the work.
  if (failure && (end.exitCode === null || end.stopped !== null)) return failure
  const output = `${end.stdoutTail}\n${end.stderrTail}`.trim().slice(-LONGEST_FEEDBACK).toWellFormed()
  const isPassed = end.exitCode === 0
  return {
    outcome: 'succeeded',
    exitCode: end.exitCode,
    summary: `${command}: exit code ${end.exitCode}`,
    result: {
      verdict: isPassed ? 'pass' : 'fail',
      score: isPassed ? 1 : 0,
      feedback: isPassed ? '' : `${command} ended with exit code ${end.exitCode}:\n${output}`,
      evidence: [{ command, exitCode: end.exitCode }],
    },
  }
}
