import type { AdapterInvokeResult } from '../adapters/protocol.ts'
import { Refused } from '../core/errors.ts'
import { type KnownSecrets, redactDeep } from '../core/redaction.ts'
import { plainDollars, plainInteger, plainJson, plainTextOrNull, plainUsage } from '../core/runs/answers.ts'
import { type Ending, endingOf, type Stop, taskOutcomeOf, timeOf } from '../core/runs/ending.ts'
import { RUN_ERRORS } from '../core/runs/outcomes.ts'
import type { TokenUsage } from '../core/runs/usage.ts'
import { commandAgent } from '../flow/agents.ts'
import { system } from '../flow/unblock.ts'
import { wakeForWork } from '../flow/wakeups.ts'
import type { RunEnd } from '../store/server-store.ts'
import type { ExecutorContext } from './context.ts'
import { cleanFolder } from './folders/clean.ts'
import { recordFolder } from './folders/record.ts'
import { applyOutcome, type Held, taskOf } from './holding.ts'
import type { RunOutput } from './output.ts'
import { credentialOf, type Prepared } from './prepare.ts'
import type { RunReport } from './report.ts'
import type { Dispatched } from './run.ts'

/** What there is of a run that was begun. */
export interface Parts {
  prepared: Prepared
  output: RunOutput
  report: RunReport
}

const LONGEST_MESSAGE = 4_000

/**
 * The end. What the agent made goes to the task first: a crash after that costs the run its last figures, which the log can
 * give back, and never the work.
 */
export async function settle(
  context: ExecutorContext,
  dispatched: Dispatched,
  held: Held | null,
  parts: Parts | null,
  told: AdapterInvokeResult,
  stop: Stop | null,
): Promise<void> {
  const { workspaceId, agent, runId } = dispatched
  const answer = parts ? withoutSecrets(plainAnswer(told), parts.prepared.secrets) : plainAnswer(told)
  const ending = endingOf(answer, stop)
  const isLimited = ending.errorCode === 'rate_limited'
  const rest = isLimited
    ? await context.storeRetry.whileStoreIsAway(() => park(context, dispatched, parts, answer))
    : null
  await parts?.report.write()
  const step = taskOutcomeOf(ending, rest === null ? answer : { ...answer, retryAt: rest }, stop)
  const folder = await folderNow(context, parts, step.kind === 'continue')
  // Before its task is free: in that moment the agent would be given it again, to fail in the same way.
  if (ending.errorCode && RUN_ERRORS[ending.errorCode].stopsAgent)
    await context.storeRetry.whileStoreIsAway(() => stopAgent(context, dispatched, ending))
  const work = { result: answer.result ?? null, summary: answer.summary ?? null }
  const refusal =
    held &&
    (await context.storeRetry.whileStoreIsAway(() =>
      applyOutcome(context.kernel, workspaceId, agent.slug, held, step, work),
    ))
  if (refusal) {
    // Its own program may have handed the work in already; anything else means that the task was not its own any more.
    await parts?.output.say(`baton: the task was not changed: ${refusal}`)
    parts?.report.event({ type: 'lifecycle', level: 'warn', message: `the task was not changed: ${refusal}` })
  }
  parts?.report.event({
    type: 'lifecycle',
    level: ending.errorCode ? 'error' : 'info',
    message: ending.status,
  })
  await parts?.report.write()
  const log = (await parts?.output.end()) ?? null
  const end = { ...endOf(dispatched, ending, answer, parts), task: taskOf(held), folder, log }
  await context.storeRetry.whileStoreIsAway(() => context.kernel.store.runs.finish(end))
  // Somebody tried it, and it works again.
  if (ending.errorCode === null && agent.state === 'error')
    await commandAgent(context.kernel, system(workspaceId), agent.slug, { kind: 'clearFault' })
  // What is to be gone on with should not wait for the next look of the coordinator.
  if (step.kind === 'continue') await wakeForWork(context.kernel, workspaceId)
  context.log.info({ runId, agent: agent.slug, status: ending.status, code: ending.errorCode }, 'a run ended')
}

/** Adapters may be anybody's, and what they pass on is their agents'. */
const plainAnswer = (told: AdapterInvokeResult): AdapterInvokeResult => ({
  outcome: told?.outcome ?? 'failed',
  errorCode: told?.outcome ? (told.errorCode ?? null) : 'adapter_error',
  errorMessage: plainTextOrNull(told?.errorMessage, LONGEST_MESSAGE),
  exitCode: plainInteger(told?.exitCode),
  signal: plainTextOrNull(told?.signal, 50),
  summary: plainTextOrNull(told?.summary, LONGEST_MESSAGE),
  result: plainJson(told?.result),
  rawResult: (plainJson(told?.rawResult) ?? null) as AdapterInvokeResult['rawResult'],
  wantsMore: told?.wantsMore === true,
  retryAt: plainTextOrNull(told?.retryAt, 100),
  sessionId: plainTextOrNull(told?.sessionId, 500),
  usage: plainUsage(told?.usage),
  usageBasis: told?.usageBasis ?? null,
  costUsd: plainDollars(told?.costUsd),
  provider: plainTextOrNull(told?.provider, 200),
  model: plainTextOrNull(told?.model, 200),
  ...(told?.runtimeStatePatch && {
    runtimeStatePatch: plainJson(told.runtimeStatePatch) as Record<string, unknown>,
  }),
})

const withoutSecrets = (answer: AdapterInvokeResult, secrets: KnownSecrets): AdapterInvokeResult => ({
  ...answer,
  ...redactDeep(
    {
      errorMessage: answer.errorMessage ?? null,
      summary: answer.summary ?? null,
      result: answer.result,
      rawResult: answer.rawResult ?? null,
      sessionId: answer.sessionId ?? null,
      provider: answer.provider ?? null,
      model: answer.model ?? null,
      // A session that is named by a secret is not taken up again; the next run begins afresh.
      ...(answer.runtimeStatePatch && { runtimeStatePatch: answer.runtimeStatePatch }),
    },
    secrets,
  ),
})

function endOf(
  { workspaceId, runId, agent }: Dispatched,
  ending: Ending,
  answer: AdapterInvokeResult,
  parts: Parts | null,
): Omit<RunEnd, 'task' | 'folder' | 'log'> {
  const partial = parts?.report.usage ?? null
  const sessionId = answer.sessionId ?? parts?.report.sessionId ?? null
  const state = { ...parts?.prepared.input.runtimeState, ...answer.runtimeStatePatch }
  return {
    ...{ workspaceId, runId, agent: agent.slug, adapterType: agent.adapterType, ...ending },
    exitCode: answer.exitCode,
    signal: answer.signal ?? null,
    usage: asUsage(answer.usage ?? partial),
    usageBasis: answer.usage ? (answer.usageBasis ?? 'reported') : partial ? 'partial' : null,
    costUsd: answer.costUsd as string | null,
    provider: answer.provider ?? null,
    model: answer.model ?? null,
    sessionId,
    // What its program knows of the task is worth keeping however the run ended.
    remember:
      parts?.prepared.adapter.capabilities.resumableSession &&
      (sessionId !== null || answer.runtimeStatePatch)
        ? { taskKey: parts.prepared.taskKey, state: sessionId === null ? state : { sessionId, ...state } }
        : null,
    summary: answer.summary ?? null,
    result: answer.rawResult ?? answer.result ?? undefined,
    excerpts: {
      stdout: parts?.output.excerpt('stdout') ?? null,
      stderr: parts?.output.excerpt('stderr') ?? null,
    },
  }
}

export const asUsage = (usage: TokenUsage | null) =>
  usage && {
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens ?? null,
    outputTokens: usage.outputTokens,
  }

/** Everybody on this account rests until it takes work again. Answers with when that is. */
async function park(
  context: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  parts: Parts | null,
  answer: AdapterInvokeResult,
): Promise<string | null> {
  const { store } = context.kernel
  const told = timeOf(answer.retryAt)
  const credential = parts?.prepared.credential
  // It was not even begun, since the account rests already.
  if (credential === undefined) return answer.retryAt ?? null
  const all = await store.agents.list(workspaceId, {}, 10_000)
  const sharing = all
    .map(({ record }) => record)
    .filter(({ slug, adapterType }) => slug !== agent.slug && adapterType === agent.adapterType)
    .filter((other) => credentialOf(context, parts!.prepared.adapter, other) === credential)
  const agents = [agent.slug, ...sharing.map(({ slug }) => slug)]
  return new Date(await store.runtime.parkCredential(workspaceId, { credential, agents, told })).toISOString()
}

/** One that fails the same way with whatever it is given takes nothing more until somebody has seen to it. */
async function stopAgent(
  { kernel }: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  { errorCode, errorMessage }: Ending,
): Promise<void> {
  const reason = `${errorCode}: ${errorMessage}`.slice(0, 500)
  await commandAgent(kernel, system(workspaceId), agent.slug, { kind: 'fault', reason }).catch((error) => {
    // Removed in between, it is given nothing anyway.
    if (!(error instanceof Refused)) throw error
  })
}

/** What was done in the folder, and the folder tidied away where that harms nothing. */
async function folderNow({ log }: ExecutorContext, parts: Parts | null, goesOn: boolean): Promise<unknown> {
  const { folder, git, input } = parts?.prepared ?? {}
  if (!folder || !git || !input) return null
  try {
    const work = await recordFolder(git, folder)
    const { cleanup } = input.adapterConfig as { cleanup?: 'never' | 'when_clean' }
    const cleaned = goesOn ? null : await cleanFolder(git, folder, cleanup ?? 'when_clean')
    return { ...folder, work, cleaned }
  } catch (error) {
    log.warn({ err: error, runId: input.runId }, 'a working folder could not be looked at')
    return folder
  }
}
