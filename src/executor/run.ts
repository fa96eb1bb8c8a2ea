import type { AdapterInvokeResult, BeforeResume } from '../adapters/protocol.ts'
import { freshUuid } from '../kernel/fresh-uuid.ts'
import type { DueWakeup } from '../kernel/store/run-store.ts'
import { whyStopped } from '../kinds/budget/rules/words.ts'
import type { Wakeup } from '../kinds/run/record.ts'
import { overBudget } from '../kinds/run/rules/ending.ts'
import { watchSettingsOf } from '../kinds/run/rules/policy.ts'
import { beginRun } from '../kinds/run/rules/run-life.ts'
import { takeWakeup } from '../kinds/run/rules/take-wakeup.ts'
import { watching } from '../kinds/run/rules/watchdog.ts'
import type { ActiveRun } from './active-run.ts'
import { billingOfRun } from './bills.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import type { ExecutorContext } from './context.ts'
import type { Dispatched } from './dispatched.ts'
import { applyOutcome, claimForRun, type Held, sessionOf, taskOf } from './holding.ts'
import { announceModel } from './models.ts'
import { RunOutput } from './output.ts'
import { hashOfToken, newToken, type Prepared, preparationError, prepare } from './prepare.ts'
import { RunReport } from './report.ts'
import { runAfter, runBefore } from './run-hooks.ts'
import { type Parts, settle } from './settle.ts'
import type { Processes } from './timers.ts'
import { toldOf } from './told.ts'

/** One run, from the due wakeup to the recorded end: dispatch → claim → prepare → perform → settle. */

/** An agent that does not stop is abandoned this long after its grace period. */
const ABANDON_AFTER_MS = 15_000
/** Between SIGTERM and SIGKILL for processes that the program of a run left in its worktree. */
const LEFTOVER_GRACE_MS = 2_000

/** Turns a due wakeup into a run. Null: there is nothing to run now. */
export async function dispatch(context: ExecutorContext, due: DueWakeup): Promise<Dispatched | null> {
  const { workspaceId } = due
  const token = newToken()
  const runId = freshUuid()
  const tokenHash = hashOfToken(token)
  const taken = await context.kernel.step(
    { workspaceId },
    takeWakeup(due.agent, { runId, nodeId: context.node.id, tokenHash }),
  )
  if (!taken) return null
  const { agent, wakeup, decision, agentState } = taken
  if (decision.kind === 'skip')
    await releaseSkipped(context, workspaceId, agent.slug, wakeup, decision.because)
  if (decision.kind !== 'run') return null
  return { workspaceId, runId, token, agent, wakeup, agentState }
}

/** Releases the task of a skipped wakeup, so that it does not stay idle with this agent. */
async function releaseSkipped(
  { kernel }: ExecutorContext,
  workspaceId: number,
  agent: string,
  { taskUuid: uuid, generation }: Wakeup,
  reason: string,
): Promise<void> {
  if (uuid === null || generation === null) return
  const held = {
    uuid,
    taskId: 0,
    generation,
    session: sessionOf(agent),
    attempt: 0,
    leaseMs: 0,
    purpose: 'work' as const,
    ...{ timers: null, continuation: null },
  }
  const released = { kind: 'release', reason, waitsForAgent: reason === 'AGENT_PAUSED' } as const
  await applyOutcome(kernel, workspaceId, agent, held, released, NOTHING)
}

const NOTHING = { result: null, summary: null }

/** Executes a dispatched run to its end. */
export async function run(
  context: ExecutorContext,
  dispatched: Dispatched,
  active: ActiveRun,
): Promise<void> {
  const { workspaceId, agent, wakeup, runId } = dispatched
  let held: Held | null = null
  let prepared: Prepared
  try {
    held = await context.storeRetry.whileUnavailable(() =>
      claimForRun(context.kernel, workspaceId, agent, wakeup),
    )
    if (held) active.setClaim(held)
    prepared = await context.storeRetry.whileUnavailable(() => prepare(context, { ...dispatched, held }))
    const { credential, requests } = prepared
    active.traceAs(prepared.trace)
    active.writeRequestsTo(requests)
    await context.storeRetry.whileUnavailable(() => mustNotBeOverBudget(context, dispatched, held, active))
    await context.storeRetry.whileUnavailable(() => mustNotBeParked(context, workspaceId, credential))
    const { choice, failureClass } = prepared
    const holds = held
    if (holds)
      await context.storeRetry.whileUnavailable(() =>
        announceModel(context, workspaceId, agent.slug, holds, choice, failureClass),
      )
  } catch (error) {
    const unfit = preparationError(error)
    if (unfit.code === 'adapter_error')
      context.log.error({ err: error, runId }, 'a run could not be prepared')
    const answer = { ...failed(unfit.code, unfit.message), retryAt: unfit.retryAt }
    return settle(context, dispatched, held, null, answer, active.stopped)
  }
  let done: Performed | null
  try {
    done = await perform(context, dispatched, held, prepared, active)
  } catch (error) {
    // Whatever the error is, a run that is recorded must end on record.
    context.log.error({ err: error, runId }, 'a run failed inside Baton')
    const why = error instanceof Error ? error.message : String(error)
    done = { parts: null, answer: failed('spawn_failed', why) }
  }
  // The program has ended. Its requests are removed before the end of the run is recorded.
  await active.close()
  if (await movedToOtherNode(context, active)) await leave(done?.parts ?? null)
  else if (done) await settle(context, dispatched, held, done.parts, done.answer, active.stopped)
  context.secrets.delete(runId)
  context.working.delete(runId)
}

/** Whether the run was left, or another node took this one for lost and has adopted it. */
export async function movedToOtherNode(
  { kernel, node, storeRetry }: ExecutorContext,
  { isLeft, isAccepted, workspaceId, runId }: ActiveRun,
): Promise<boolean> {
  if (isLeft || !isAccepted) return isLeft
  const run = await storeRetry.whileUnavailable(() => kernel.store.runs.find(workspaceId, runId))
  return run?.nodeId !== node.id
}

/** Another node continues the run: its remaining report is written, and nothing is ended. */
export async function leave(parts: Parts | null): Promise<void> {
  parts?.report.event({ type: 'lifecycle', level: 'info', message: 'left to another node' })
  await parts?.report.write()
  await parts?.output.pause()
}

/** A budget may have been used up since the task was offered: then nothing is spawned. */
async function mustNotBeOverBudget(
  { kernel }: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  held: Held | null,
  active: ActiveRun,
): Promise<void> {
  const covers = { agent: agent.slug, adapterType: agent.adapterType, taskId: held?.taskId ?? null }
  const budget = await kernel.store.budgets.blocking(workspaceId, covers)
  if (!budget) return
  const reason = whyStopped(budget, budget.why)
  active.stop(overBudget(budget, reason))
  throw new CannotPrepare('budget_blocked', reason)
}

/** Another run may have found this credential rate limited already. */
async function mustNotBeParked(
  { kernel }: ExecutorContext,
  workspaceId: number,
  credential: string,
): Promise<void> {
  const until = await kernel.store.runtime.parkedUntil(workspaceId, credential)
  if (!until) return
  const retryAt = new Date(until).toISOString()
  throw new CannotPrepare('rate_limited', `This account is rate limited until ${retryAt}.`, retryAt)
}

const failed = (errorCode: AdapterInvokeResult['errorCode'], errorMessage: string): AdapterInvokeResult => ({
  outcome: 'failed',
  exitCode: null,
  errorCode: errorCode ?? null,
  errorMessage,
})

interface Performed {
  parts: Parts | null
  answer: AdapterInvokeResult
}

/** Null: another node took this one for lost and has ended the run. */
async function perform(
  context: ExecutorContext,
  dispatched: Dispatched,
  held: Held | null,
  prepared: Prepared,
  active: ActiveRun,
): Promise<Performed | null> {
  const { workspaceId, runId, agent } = dispatched
  const { kernel, log, live } = context
  const { adapter, input, secrets } = prepared
  const ids = { workspaceId: String(workspaceId), agentId: agent.uuid, runId }
  const handle = await context.logs.begin(ids)
  const warn = (what: string) => (error: unknown) => log.warn({ err: error, runId }, what)
  const start = {
    workspaceId,
    runId,
    agent: agent.slug,
    task: taskOf(held),
    log: handle,
    model: prepared.choice.model,
    sessionIdBefore: prepared.sessionIdBefore,
    promptedComments: prepared.promptedComments,
    told: toldOf(input, await secrets.current()),
    folder: prepared.folder,
  }
  const hasBegun = await context.storeRetry.whileUnavailable(() =>
    kernel.step({ workspaceId }, beginRun(start)),
  )
  if (!hasBegun) return null
  const who = { workspaceId, runId, agent: agent.slug }
  const output = new RunOutput({
    store: context.logs,
    handle,
    secrets,
    live,
    run: who,
    warn: warn('a log could not be written'),
    timers: context.timers,
    excerptBytes: context.excerptBytes,
  })
  const report = new RunReport(
    kernel.store,
    { ...who, task: taskOf(held) },
    billingOfRun(context, dispatched, prepared, active),
    warn('a report could not be written'),
    context.timers,
  )
  report.event({
    type: 'lifecycle',
    level: 'info',
    message: 'running',
    payload: { adapter: adapter.type, cwd: input.cwd, timeoutSec: input.timeoutSec },
  })
  const watch = watching(watchSettingsOf(agent.runtimeConfig), context.timers.now(), {
    stallMs: held?.stallMs ?? null,
  })
  const hooks = active.hooks(output, report, secrets, watch)
  context.secrets.set(runId, secrets)
  const { folder, upstream } = prepared
  context.working.set(runId, { workspaceId, runId, agent, held, folder, secrets, upstream })
  const close = context.callbacks.open(runId, workspaceId, () => active.leave())
  try {
    const answer = active.added.withIds(await invoke(context, prepared, hooks, active))
    return { parts: { prepared, output, report }, answer }
  } finally {
    close()
  }
}

/** The adapter's result, or one in its place when the adapter fails or does not return. Leaves no process in the worktree. */
export async function invoke(
  context: ExecutorContext,
  prepared: Prepared,
  hooks: Parameters<Prepared['adapter']['invoke']>[1],
  active: ActiveRun,
  resumed: BeforeResume | null = null,
): Promise<AdapterInvokeResult> {
  const answer = await answerOf(context, prepared, hooks, active, resumed)
  const { input, ownFolder } = prepared
  if (ownFolder !== null && !active.isLeft)
    await endAll(context.processes, input.runId, ownFolder, LEFTOVER_GRACE_MS).catch((error) =>
      context.log.error({ err: error, runId: input.runId }, 'a process in a worktree could not be ended'),
    )
  return answer
}

async function answerOf(
  { timers, processes }: ExecutorContext,
  { adapter, input, graceMs, ownFolder }: Prepared,
  hooks: Parameters<Prepared['adapter']['invoke']>[1],
  active: ActiveRun,
  resumed: BeforeResume | null,
): Promise<AdapterInvokeResult> {
  active.timesOutIn(input.timeoutSec * 1000)
  let cancelAbandon = () => {}
  const abandoned = new Promise<AdapterInvokeResult>((resolve) => {
    const startGracePeriod = () => {
      cancelAbandon = timers.after(graceMs + ABANDON_AFTER_MS, () =>
        resolve(abandon(processes, input.runId, ownFolder)),
      )
    }
    active.signal.addEventListener('abort', startGracePeriod, { once: true })
    if (active.signal.aborted) startGracePeriod()
  })
  // Adapters enforce the timeout themselves; this is for those that do not.
  const tooLate = () =>
    active.stop({
      code: 'timeout',
      reason: `The run took longer than ${input.timeoutSec} s.`,
      byPerson: false,
    })
  let cancelLate = () => {}
  const work = async () => {
    const context = { input, hooks, graceMs }
    const failure = resumed ? null : await runBefore(context, active.signal)
    if (failure) return failure
    cancelLate = timers.after(input.timeoutSec * 1000 + graceMs + ABANDON_AFTER_MS, tooLate)
    const answer = resumed
      ? await adapter.resume!(input, hooks, active.signal, resumed)
      : await adapter.invoke(input, hooks, active.signal)
    cancelLate()
    await runAfter(context, answer, active.signal.aborted)
    return answer
  }
  try {
    if (active.signal.aborted) return { outcome: 'cancelled', exitCode: null, errorCode: 'cancelled' }
    return await Promise.race([work(), abandoned])
  } catch (error) {
    return failed('adapter_error', error instanceof Error ? error.message : String(error))
  } finally {
    cancelAbandon()
    cancelLate()
  }
}

async function abandon(
  processes: Processes,
  runId: string,
  ownFolder: string | null,
): Promise<AdapterInvokeResult> {
  await endAll(processes, runId, ownFolder, 0).catch(() => undefined)
  return failed('adapter_error', 'The adapter did not stop when the run was stopped.')
}

/** Processes that a run left behind carry its id or work in its worktree. */
const endAll = (processes: Processes, runId: string, folder: string | null, graceMs: number) =>
  processes.end({ pid: 0, startTime: null, bootId: null, runId, folder }, graceMs)
