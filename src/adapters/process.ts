import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { withoutResult } from '../kinds/run/rules/unreadable.ts'
import { failureOf } from './child/failure.ts'
import { lookUp } from './child/lookup.ts'
import { invocationOf, runChild } from './child/run-child.ts'
import { Command, configOf, failed, localSettings, PlainText } from './config.ts'
import { quietHooks } from './hooks.ts'
import { accountOf, NO_FACTS, type ProcessFacts, type Report, takeLine } from './process-lines.ts'
import {
  type AdapterHooks,
  type AdapterInvokeInput,
  type AdapterInvokeResult,
  type AgentRunAdapter,
  PROTOCOL_VERSION,
  type ProbeCheck,
} from './protocol.ts'
import { sessionIn } from './reported.ts'

/** Whether a program exists, looked up as when it is started. It is not run: what it would do is unknown. */
export async function programCheck(
  command: string,
  cwd: string | null,
  env: Record<string, string>,
): Promise<ProbeCheck> {
  const name = 'program'
  if (cwd === null && command.includes('/') && !isAbsolute(command)) {
    const detail = `${command} is looked up in the folder in which the agent works, which is not known yet.`
    return { name, ok: true, detail, isUnknown: true }
  }
  const found = await lookUp(command, cwd ?? '.', env.PATH)
  if (found.kind === 'program') return { name, ok: true, detail: `${found.path} can be started.` }
  if (found.kind === 'not_executable') {
    const hint = 'Make it executable (chmod +x), or name another program.'
    return { name, ok: false, detail: `${found.path} is not executable.`, hint }
  }
  const detail =
    found.kind === 'unreachable'
      ? `${command} is in a folder that Baton cannot enter.`
      : `There is no program ${command}${command.includes('/') ? '' : ' on PATH'}.`
  return { name, ok: false, detail, hint: 'Install it, or name another program.' }
}

/** Any program as an agent: the prompt on its stdin, the result on its stdout, exit code zero for success. */

const config = configOf(
  'process',
  z.strictObject({ ...localSettings, command: Command, args: z.array(PlainText).max(1_000).default([]) }),
)

/** A program that keeps sending invalid lines must not fill its log with warnings. */
const MOST_WARNINGS = 20

export const processAdapter: AgentRunAdapter = {
  type: 'process',
  protocolVersion: PROTOCOL_VERSION,
  capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
  configSchema: config.schema,
  validateConfig: config.validate,
  invoke,
  async probe({ adapterConfig, cwd, env }) {
    const read = config.read(adapterConfig)
    return read.ok ? [await programCheck(read.settings.command, cwd, env)] : []
  },
  readLines(lines) {
    let facts = NO_FACTS
    for (const line of lines) facts = takeLine(facts, line).facts
    return accountOf(facts)
  },
  async readLineStream(lines) {
    let facts = NO_FACTS
    for await (const line of lines) facts = takeLine(facts, line).facts
    return accountOf(facts)
  },
}

async function invoke(
  input: AdapterInvokeInput,
  hooks: AdapterHooks,
  signal: AbortSignal,
): Promise<AdapterInvokeResult> {
  const read = config.read(input.adapterConfig)
  if (!read.ok) return read.result
  const { command, args, graceSec } = read.settings
  const folder = await mkdtemp(join(tmpdir(), 'baton-prompt-'))
  try {
    const promptFile = join(folder, 'prompt.md')
    await writeFile(promptFile, input.prompt, { mode: 0o600 })
    const report = reporter(hooks)
    let facts = NO_FACTS
    const onLine = async (line: string) => {
      const taken = takeLine(facts, line)
      facts = taken.facts
      for (const one of taken.reports) await report(one)
    }
    const spec = {
      command,
      args,
      cwd: input.cwd,
      env: environmentOf(input, promptFile),
      stdin: input.prompt,
      timeoutMs: input.timeoutSec * 1_000,
      graceMs: graceSec * 1_000,
      runId: input.runId,
    }
    if (!signal.aborted) await quietHooks(hooks).event('invocation', invocationOf(spec))
    const end = await runChild(spec, hooks, onLine, signal)
    return resultOf(facts, failureOf(end, command))
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}

function environmentOf({ env, runtimeState, agentState, model }: AdapterInvokeInput, promptFile: string) {
  const session = sessionIn(runtimeState.sessionId)
  return {
    ...env,
    BATON_PROMPT_FILE: promptFile,
    ...(model !== undefined && { BATON_MODEL: model }),
    ...(session !== null && { BATON_AGENT_SESSION: session }),
    ...(Object.keys(agentState).length > 0 && { BATON_AGENT_STATE: JSON.stringify(agentState) }),
  }
}

function reporter(hooks: AdapterHooks): (report: Report) => Promise<void> {
  const { status, log, usage, event } = quietHooks(hooks)
  let warnings = 0
  return async (report) => {
    switch (report.kind) {
      case 'status':
        return status(report.update)
      case 'usage':
        return usage(report.usage)
      case 'event':
        return event(report.type, { ...report.payload })
      case 'warning':
        if (warnings++ < MOST_WARNINGS)
          await log({ stream: 'system', chunk: `Ignored an invalid report: ${report.message}.\n` })
    }
  }
}

function resultOf(facts: ProcessFacts, failure: ReturnType<typeof failureOf>): AdapterInvokeResult {
  const { final, rateLimit } = facts
  const account = accountOf(facts)
  const summary = final?.summary ?? null
  const isOver = !failure || failure.errorCode === 'nonzero_exit'
  if (facts.invalid !== null && isOver) {
    const exitCode = failure ? failure.exitCode : 0
    return { ...failed('invalid_task', facts.invalid), exitCode, ...account, summary }
  }
  if (!failure) {
    const made = final && 'result' in final ? { result: final.result } : {}
    const usageBasis = account.usage ? ('reported' as const) : null
    return {
      outcome: 'succeeded',
      exitCode: 0,
      ...account,
      usageBasis,
      summary: summary ?? whyNoResult(facts),
      wantsMore: final?.wantsMore ?? false,
      ...(final?.after && { after: final.after }),
      ...(facts.question && { question: facts.question }),
      ...made,
    }
  }
  if (failure.errorCode !== 'nonzero_exit' || !rateLimit) return { ...failure, ...account, summary }
  return { ...failure, ...account, summary, errorCode: 'rate_limited', retryAt: rateLimit.until }
}

/** A result that could not be read would be missed by nobody. */
function whyNoResult({ final, question, unreadable }: ProcessFacts): string | null {
  if (unreadable === 0 || question || final?.wantsMore || (final && 'result' in final)) return null
  return withoutResult(unreadable)
}
