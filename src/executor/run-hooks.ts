import { failureOf } from '../adapters/child/failure.ts'
import { runChild } from '../adapters/child/run-child.ts'
import { hooksIn, type RunHook } from '../adapters/config.ts'
import type { AdapterHooks, AdapterInvokeInput, AdapterInvokeResult } from '../adapters/protocol.ts'

/**
 * Programs before and after a run, from the settings of its agent: in its folder, with its environment and its log. They
 * are processes of the run, so they are ended and recovered like those of the agent.
 */

/** After a run that was stopped, nobody waits long. */
const LONGEST_AFTER_STOP_MS = 10_000

interface Context {
  input: AdapterInvokeInput
  hooks: AdapterHooks
  graceMs: number
}

/** Null: there is none, or it went well. Otherwise the end of the run. */
export async function runBefore(
  { input, hooks, graceMs }: Context,
  signal: AbortSignal,
): Promise<AdapterInvokeResult | null> {
  const { before } = hooksIn(input.adapterConfig)
  if (!before) return null
  const spec = { ...specOf(before, input, 'before'), graceMs }
  const end = await runChild(spec, hooks, () => undefined, signal)
  const failure = failureOf(end, before.command)
  if (!failure) return null
  const errorMessage = `The hook before the run failed: ${failure.errorMessage}`
  // A program that is missing would fail any run. Stopped by Baton, the run ends as any other.
  const isOwn = failure.errorCode === 'nonzero_exit' || failure.errorCode === 'timeout'
  return isOwn
    ? { ...failure, outcome: 'failed', errorCode: 'hook_failed', errorMessage }
    : { ...failure, errorMessage }
}

/** Best effort: its failure is an event of the run and changes nothing. */
export async function runAfter(
  { input, hooks, graceMs }: Context,
  { outcome }: AdapterInvokeResult,
  isStopped: boolean,
): Promise<void> {
  const { after } = hooksIn(input.adapterConfig)
  if (!after) return
  const spec = {
    ...specOf(after, input, 'after', { BATON_RUN_OUTCOME: outcome }),
    graceMs: Math.min(graceMs, 2_000),
  }
  const timeoutMs = isStopped ? Math.min(spec.timeoutMs, LONGEST_AFTER_STOP_MS) : spec.timeoutMs
  try {
    const end = await runChild({ ...spec, timeoutMs }, hooks, () => undefined, new AbortController().signal)
    const failure = failureOf(end, after.command)
    if (failure) await hooks.event?.('hook_failed', { hook: 'after', error: failure.errorMessage })
  } catch (error) {
    await hooks.event?.('hook_failed', { hook: 'after', error: String(error) })
  }
}

const specOf = (
  { command, args, timeoutSeconds }: RunHook,
  { cwd, env, runId }: AdapterInvokeInput,
  hook: 'before' | 'after',
  more: Record<string, string> = {},
) => ({
  ...{ command, args, cwd, runId, stdin: '', timeoutMs: timeoutSeconds * 1_000 },
  env: { ...env, BATON_HOOK: hook, ...more },
})
