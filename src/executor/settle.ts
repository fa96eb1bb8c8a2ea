import type { AdapterInvokeResult } from '../adapters/protocol.ts'
import { systemCaller } from '../kernel/caller.ts'
import { commandAgent } from '../kinds/agent/acts/agents.ts'
import { wakeForWork } from '../kinds/run/acts/wakeups.ts'
import type { BilledCost } from '../kinds/run/prices/billed.ts'
import type { RunEnd } from '../kinds/run/record.ts'
import { agentStateIn } from '../kinds/run/rules/agent-state.ts'
import {
  plainDollars,
  plainInteger,
  plainJson,
  plainNames,
  plainQuestion,
  plainTextOrNull,
  plainUsage,
} from '../kinds/run/rules/answers.ts'
import {
  type Ending,
  endingOf,
  ofOwnAgent,
  type Stop,
  taskOutcomeOf,
  timeOf,
} from '../kinds/run/rules/ending.ts'
import { RUN_ERRORS } from '../kinds/run/rules/outcomes.ts'
import { timeOf as timeOfAgent } from '../kinds/run/rules/policy.ts'
import { bookUsage, finishRun } from '../kinds/run/rules/run-life.ts'
import { parkCredential } from '../kinds/run/rules/runtime-state.ts'
import type { TokenUsage } from '../kinds/run/rules/usage.ts'
import type { RunFolder } from '../kinds/run/shapes/folder.ts'
import { OWN_AGENT } from '../kinds/task/rules/acting.ts'
import { ledgerOf } from '../kinds/usage/rules/priced.ts'
import { Refused } from '../pure/errors.ts'
import { type KnownSecrets, redactDeep } from '../pure/secrets/redaction.ts'
import type { ExecutorContext } from './context.ts'
import type { Dispatched } from './dispatched.ts'
import { checkEfficiency } from './efficiency.ts'
import type { CleanupPolicy } from './folders/clean.ts'
import { applyOutcome, type Held, hasEnded, taskOf } from './holding.ts'
import { restModel } from './models.ts'
import type { RunOutput } from './output.ts'
import { credentialOf, type Prepared } from './prepare.ts'
import { priceOfRun, pricesNow } from './price.ts'
import type { RunReport } from './report.ts'
import { type KeptWork, keepWork, whyNotAccepted } from './work/keep-work.ts'

/** The parts of a run that has started. */
export interface Parts {
  prepared: Prepared
  output: RunOutput
  report: RunReport
}

const LONGEST_MESSAGE = 4_000

/**
 * Ends the run. The agent's result goes to the task first: a crash after that loses only the last figures of the run, which
 * can be read from the log, and never the work.
 */
export async function settle(
  context: ExecutorContext,
  dispatched: Dispatched,
  held: Held | null,
  parts: Parts | null,
  reported: AdapterInvokeResult,
  stop: Stop | null,
): Promise<void> {
  const { workspaceId, agent, runId } = dispatched
  const plain = plainAnswer(reported)
  const answer: Answer = parts ? await answerOf(context, dispatched, parts, plain) : plain
  const kept = await keptBy(context, dispatched, held, parts)
  const reportedEnd = endingOf(answer, stop)
  const ownEnd = agent.slug === OWN_AGENT ? ofOwnAgent(reportedEnd) : reportedEnd
  const ending = await endingWith(context, held, parts, kept, ownEnd, answer)
  if (ending.errorCode === null)
    await checkEfficiency(
      context,
      { workspaceId, runId, agent: agent.slug, held },
      kept,
      answer.usage ?? null,
    )
  const isLimited = ending.errorCode === 'rate_limited'
  const retryAt = isLimited
    ? await context.storeRetry.whileUnavailable(() => park(context, dispatched, parts, answer))
    : null
  await parts?.report.write()
  const step = taskOutcomeOf(ending, retryAt === null ? answer : { ...answer, retryAt }, stop)
  // Before the task is released: otherwise the agent would be assigned it again at once, and fail in the same way.
  if (ending.errorCode && RUN_ERRORS[ending.errorCode].stopsAgent)
    await context.storeRetry.whileUnavailable(() => stopAgent(context, dispatched, ending))
  const spent = spentBy(runId, answer, ending)
  const commit = kept.saved?.commit ?? null
  const work = { result: answer.result ?? null, summary: answer.summary ?? null, commit, spent }
  // Before the result: it may end the mission, whose totals must then be complete.
  if (held?.missionId != null)
    await context.storeRetry.whileUnavailable(() =>
      context.kernel.step(
        { workspaceId },
        bookUsage({ ...endOf(dispatched, ending, answer, parts), task: taskOf(held) }),
      ),
    )
  const refusal =
    held &&
    (await context.storeRetry.whileUnavailable(() =>
      applyOutcome(context.kernel, workspaceId, agent.slug, held, step, work),
    ))
  if (refusal) {
    // The agent's own program may have submitted the result already; otherwise the run no longer held the task.
    await parts?.output.systemLine(`baton: the task was not changed: ${refusal}`)
    parts?.report.event({ type: 'lifecycle', level: 'warn', message: `the task was not changed: ${refusal}` })
  }
  parts?.report.event({
    type: 'lifecycle',
    level: ending.errorCode ? 'error' : 'info',
    message: ending.status,
  })
  await parts?.report.write()
  const folder = await folderNow(context, dispatched, held, parts, kept)
  const log = (await parts?.output.end()) ?? null
  const end = { ...endOf(dispatched, ending, answer, parts), task: taskOf(held), folder, log }
  await context.storeRetry.whileUnavailable(() => context.kernel.step({ workspaceId }, finishRun(end)))
  // The agent was in error and this run succeeded: it works again.
  if (ending.errorCode === null && agent.state === 'error')
    await commandAgent(context.kernel, systemCaller(workspaceId), agent.slug, { kind: 'clearFault' })
  // A continuation should not wait for the next round of the coordinator.
  if (step.kind === 'continue') await wakeForWork(context.kernel, workspaceId)
  context.log.info({ runId, agent: agent.slug, status: ending.status, code: ending.errorCode }, 'a run ended')
}

const spentBy = (
  runId: string,
  { usage, model, costUsd, exitCode }: AdapterInvokeResult,
  { errorCode }: Ending,
) => ({
  runId,
  model: model ?? null,
  tokens: usage ? usage.inputTokens + (usage.cachedInputTokens ?? 0) + usage.outputTokens : 0,
  costUsd: costUsd == null ? null : String(costUsd),
  exitCode,
  ...(errorCode !== null && { errorType: errorCode }),
})

/** Adapters may come from third parties, and what they return comes from their agents. */
const plainAnswer = (reported: AdapterInvokeResult): AdapterInvokeResult => ({
  outcome: reported?.outcome ?? 'failed',
  errorCode: reported?.outcome ? (reported.errorCode ?? null) : 'adapter_error',
  errorMessage: plainTextOrNull(reported?.errorMessage, LONGEST_MESSAGE),
  exitCode: plainInteger(reported?.exitCode),
  signal: plainTextOrNull(reported?.signal, 50),
  summary: plainTextOrNull(reported?.summary, LONGEST_MESSAGE),
  result: plainJson(reported?.result),
  rawResult: (plainJson(reported?.rawResult) ?? null) as AdapterInvokeResult['rawResult'],
  wantsMore: reported?.wantsMore === true,
  after: plainNames(reported?.after),
  question: plainQuestion(reported?.question),
  retryAt: plainTextOrNull(reported?.retryAt, 100),
  sessionId: plainTextOrNull(reported?.sessionId, 500),
  usage: plainUsage(reported?.usage),
  usageBasis: reported?.usageBasis ?? null,
  costUsd: plainDollars(reported?.costUsd),
  provider: plainTextOrNull(reported?.provider, 200),
  model: plainTextOrNull(reported?.model, 200),
  ...(reported?.runtimeStatePatch && {
    runtimeStatePatch: plainJson(reported.runtimeStatePatch) as Record<string, unknown>,
  }),
  ...keptState(reported?.agentState),
})

/** What is no object, or too large, is not kept. */
function keptState(reported: unknown): Pick<AdapterInvokeResult, 'agentState'> {
  const agentState = agentStateIn(reported)
  return agentState ? { agentState } : {}
}

/** What it cost, and where that figure comes from. */
type Answer = AdapterInvokeResult & { billed?: BilledCost }

/** Without secrets, with its model and its price. */
async function answerOf(
  { kernel, storeRetry }: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  { prepared, report }: Parts,
  plain: AdapterInvokeResult,
): Promise<Answer> {
  const { adapter, choice, secrets, billing } = prepared
  const said = withoutSecrets(plain, await secrets.current())
  const model = said.model ?? choice.model
  const used = { costUsd: said.costUsd ?? null, usage: said.usage ?? report.usage }
  const prices = await storeRetry.whileUnavailable(() => pricesNow(kernel, workspaceId))
  const billed = priceOfRun({ agent: agent.slug, adapter, used, model, billing, prices })
  return { ...said, model, costUsd: billed.costUsd, billed }
}

const withoutSecrets = (answer: AdapterInvokeResult, secrets: KnownSecrets): AdapterInvokeResult => ({
  ...answer,
  ...redactDeep(
    {
      errorMessage: answer.errorMessage ?? null,
      summary: answer.summary ?? null,
      question: answer.question ?? null,
      result: answer.result,
      rawResult: answer.rawResult ?? null,
      sessionId: answer.sessionId ?? null,
      provider: answer.provider ?? null,
      model: answer.model ?? null,
      // A session whose id is a secret is not resumed; the next run starts a new one.
      ...(answer.runtimeStatePatch && { runtimeStatePatch: answer.runtimeStatePatch }),
      ...(answer.agentState && { agentState: answer.agentState }),
    },
    secrets,
  ),
})

function endOf(
  { workspaceId, runId, agent }: Dispatched,
  ending: Ending,
  answer: Answer,
  parts: Parts | null,
): Omit<RunEnd, 'task' | 'folder' | 'log'> {
  const partial = parts?.report.usage ?? null
  const sessionId = answer.sessionId ?? parts?.report.sessionId ?? null
  const state = { ...parts?.prepared.input.runtimeState, ...answer.runtimeStatePatch }
  const sessionOf = sessionId === null ? {} : { sessionId }
  // A program that ended without a word leaves the session it was to resume as it was.
  const hasNews = sessionId !== null || Object.keys(answer.runtimeStatePatch ?? {}).length > 0
  return {
    ...{ workspaceId, runId, agent: agent.slug, adapterType: agent.adapterType, ...ending },
    exitCode: answer.exitCode,
    signal: answer.signal ?? null,
    usage: asUsage(answer.usage ?? partial),
    usageBasis: answer.usage ? (answer.usageBasis ?? 'reported') : partial ? 'partial' : null,
    ...costOf(answer),
    time: timeOfAgent(agent),
    provider: answer.provider ?? null,
    model: answer.model ?? null,
    sessionId,
    // The session is stored however the run ended: it holds what the program knows of the task.
    taskSession:
      parts?.prepared.adapter.capabilities.resumableSession && hasNews
        ? { taskKey: parts.prepared.taskKey, state: { ...sessionOf, ...state, ...placeOf(parts.prepared) } }
        : null,
    agentState: answer.agentState ?? null,
    summary: answer.summary ?? null,
    result: answer.rawResult ?? answer.result ?? undefined,
    excerpts: {
      stdout: parts?.output.excerpt('stdout') ?? null,
      stderr: parts?.output.excerpt('stderr') ?? null,
    },
  }
}

/** What is known of it when it is over; what was booked on the way is corrected by that. */
function costOf({ billed, costUsd }: Answer): Pick<RunEnd, 'costUsd' | 'costBasis' | 'models'> {
  if (!billed) return { costUsd: costUsd as string | null, costBasis: null, models: null }
  const isNothing = billed.models.length === 0 && billed.costUsd === null
  return { costUsd: billed.costUsd, costBasis: billed.basis, models: isNothing ? null : ledgerOf(billed) }
}

/** Where and for which generation a session was used last. */
const placeOf = ({ input: { cwd, task } }: Prepared) => ({
  cwd,
  ...(task && { generation: task.generation }),
})

export const asUsage = (usage: TokenUsage | null) =>
  usage && {
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens ?? null,
    outputTokens: usage.outputTokens,
    cachedOutputTokens: usage.cachedOutputTokens ?? null,
  }

/** Parks all agents on this account until its rate limit ends, or only the model, if it has a fallback. Returns when to continue. */
async function park(
  context: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  parts: Parts | null,
  answer: AdapterInvokeResult,
): Promise<string | null> {
  const { kernel } = context
  const resetAt = timeOf(answer.retryAt)
  const credential = parts?.prepared.credential
  // The run did not even start, since the account is parked already.
  if (credential === undefined) return answer.retryAt ?? null
  const { choice } = parts!.prepared
  const rests = { agent: agent.slug, credential, choice, resetAt }
  if (await restModel(context, workspaceId, rests)) return new Date(0).toISOString()
  const all = await kernel.store.agents.list(workspaceId, {}, 10_000)
  const sharing = all
    .map(({ record }) => record)
    .filter(({ slug, adapterType }) => slug !== agent.slug && adapterType === agent.adapterType)
    .filter((other) => credentialOf(context, parts!.prepared.adapter, other) === credential)
  const agents = [agent.slug, ...sharing.map(({ slug }) => slug)]
  return new Date(
    await kernel.step({ workspaceId }, parkCredential({ credential, agents, resetAt })),
  ).toISOString()
}

/** An agent that would fail every task in the same way gets no more work until a person has cleared the fault. */
async function stopAgent(
  { kernel }: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  { errorCode, errorMessage }: Ending,
): Promise<void> {
  const reason = `${errorCode}: ${errorMessage}`.slice(0, 500)
  await commandAgent(kernel, systemCaller(workspaceId), agent.slug, { kind: 'fault', reason }).catch(
    (error) => {
      // Deleted meanwhile; it gets no work anyway.
      if (!(error instanceof Refused)) throw error
    },
  )
}

/** Before the task is released or judged: what the run left in its folder is a commit. */
const keptBy = (
  context: ExecutorContext,
  { workspaceId, runId, agent }: Dispatched,
  held: Held | null,
  parts: Parts | null,
): Promise<KeptWork> =>
  parts
    ? keepWork(context, { workspaceId, runId, agent, held, ...parts.prepared, isRunning: false })
    : Promise.resolve({})

/** A result without its whole work is not accepted. */
async function endingWith(
  context: ExecutorContext,
  held: Held | null,
  parts: Parts | null,
  kept: KeptWork,
  ending: Ending,
  { wantsMore, question }: AdapterInvokeResult,
): Promise<Ending> {
  if (!parts || ending.errorCode !== null || wantsMore || question) return ending
  const { folder, upstream } = parts.prepared
  return (await whyNotAccepted(context, { folder, held }, kept, { upstream })) ?? ending
}

/** The folder as it is stored. It is removed when its task has ended and nothing in it would be lost. */
async function folderNow(
  context: ExecutorContext,
  { workspaceId }: Dispatched,
  held: Held | null,
  parts: Parts | null,
  kept: KeptWork,
): Promise<RunFolder | null> {
  const { folder, input, isDisposable } = parts?.prepared ?? {}
  if (!folder || !input) return null
  const now = { ...folder, ...kept }
  const { cleanup = 'when_clean' } = input.adapterConfig as { cleanup?: CleanupPolicy }
  const isNeeded = held?.purpose === 'work' && !(await hasEnded(context, workspaceId, held))
  if (isNeeded || kept.notSaved || (kept.saved?.leftOutCount ?? 0) > 0) return now
  try {
    return { ...now, cleaned: await context.folders.clean(folder, isDisposable ? 'always' : cleanup) }
  } catch (error) {
    context.log.warn({ err: error, runId: input.runId }, 'a working folder could not be removed')
    return now
  }
}
