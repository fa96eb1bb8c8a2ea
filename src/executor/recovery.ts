import { z } from 'zod'
import type { AdapterInvokeResult, AgentRunAdapter } from '../adapters/protocol.ts'
import type { LostClaim } from '../kernel/store/run-store.ts'
import type { BilledCost } from '../kinds/run/prices/billed.ts'
import type { Run, RunEnd } from '../kinds/run/record.ts'
import { agentStateIn } from '../kinds/run/rules/agent-state.ts'
import { isAwaited } from '../kinds/run/rules/callbacks.ts'
import { endingOf, type Stop, taskOutcomeOf } from '../kinds/run/rules/ending.ts'
import { RUN_ERRORS } from '../kinds/run/rules/outcomes.ts'
import { finishRun } from '../kinds/run/rules/run-life.ts'
import type { TokenUsage } from '../kinds/run/rules/usage.ts'
import { runFolderOf } from '../kinds/run/shapes/folder.ts'
import { isStarted } from '../kinds/run/states.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { ledgerOf } from '../kinds/usage/rules/priced.ts'
import type { LogStoreType } from '../logs/protocol.ts'
import { isUuid } from '../pure/ids.ts'
import { configOf } from './adapter-config.ts'
import { billingOf } from './billing.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf } from './environment.ts'
import { applyOutcome, type Held } from './holding.ts'
import { knownSecrets } from './known-secrets.ts'
import { readLostLog } from './lost-log.ts'
import { priceOfRun, pricesNow, type RunToPrice } from './price.ts'
import { asUsage } from './settle.ts'
import { keepWork } from './work/keep-work.ts'

const Recorded = z.object({ worktree: z.object({ root: z.string() }).nullable() })

/** The worktree that only runs of this run's claim work in, from the row of the run. Null: its folder may have other users. */
function ownFolderOf({ taskId, folder }: Pick<Run, 'taskId' | 'folder'>): string | null {
  const recorded = Recorded.safeParse(folder)
  return taskId !== null && recorded.success ? (recorded.data.worktree?.root ?? null) : null
}

/**
 * Cleans up after killed nodes (Paperclip 12.4): first their processes are ended, whole trees of them, before anything else
 * may happen to their tasks; then their runs are ended on record, with all facts their logs hold.
 * Only runs of nodes that are certainly lost are touched: on this machine, when their process has ended; on others, when
 * they have sent no heartbeat for long.
 */

const ORPHAN_GRACE_MS = 2_000

/**
 * Ends runs of this very node that are recorded but not in progress, because of an internal error. `missingSince` is kept
 * between checks. One check is not enough: a run may just be starting, or may have ended since its row was read.
 */
export async function recoverForgotten(
  context: ExecutorContext,
  isInProgress: (runId: string) => boolean,
  { missingSince, afterMs }: { missingSince: Map<string, number>; afterMs: number },
): Promise<void> {
  const own = await context.kernel.store.runs.ofNodes([context.node.id])
  const missing = own.filter(({ id }) => !isInProgress(id))
  for (const id of missingSince.keys()) if (!missing.some((run) => run.id === id)) missingSince.delete(id)
  for (const run of missing) {
    const since = missingSince.get(run.id) ?? context.timers.now()
    missingSince.set(run.id, since)
    if (context.timers.now() - since < afterMs) continue
    await endOrphans(context, run)
    await recover(context, run, true)
    context.log.warn({ runId: run.id }, 'a forgotten run of this node was ended')
  }
}

/**
 * Releases what agents have claimed and no run works on. `missingSince` is kept between checks. Recovering a run releases
 * such claims at once, but it may be killed before that, or find another run of the agent that may be about to claim.
 */
export async function releaseClaimsLeft(
  context: ExecutorContext,
  { missingSince, afterMs }: { missingSince: Map<string, number>; afterMs: number },
): Promise<void> {
  const left = await context.kernel.store.runs.claimsLeft()
  const nameOf = ({ workspaceId, taskId, generation }: LostClaim) => `${workspaceId}/${taskId}/${generation}`
  const names = new Set(left.map(nameOf))
  for (const name of missingSince.keys()) if (!names.has(name)) missingSince.delete(name)
  for (const claim of left) {
    const since = missingSince.get(nameOf(claim)) ?? context.timers.now()
    missingSince.set(nameOf(claim), since)
    if (context.timers.now() - since < afterMs) continue
    await releaseLost(context, claim, claim)
    context.log.warn({ taskId: claim.uuid }, 'a claim without a run was released')
  }
}

/** Cleans up what earlier processes left on this machine, before any agent can claim a task. */
export async function recoverAtStart(context: ExecutorContext, host: string): Promise<void> {
  await endLeftovers(context)
  await recoverRuns(context, host)
}

/**
 * Ends leftover processes of finished runs on this machine: another node may have ended the runs on record while no node
 * here could end their processes.
 */
async function endLeftovers({ kernel, processes, log }: ExecutorContext): Promise<void> {
  const marked = processes.marked().filter(isUuid)
  const finished = marked.length === 0 ? [] : await kernel.store.runs.finishedAmong(marked)
  await Promise.all(
    finished.map(({ id: runId }) =>
      processes
        .end({ pid: 0, startTime: null, bootId: null, runId }, ORPHAN_GRACE_MS)
        .catch((error) => log.error({ err: error, runId }, 'a process of a finished run could not be ended')),
    ),
  )
}

/** Goes on with a run whose agent answers later; false: it cannot. */
type Adopt = (run: Run) => Promise<boolean>

/** Without `adopt`, runs that another node can go on with are left as they are. */
export async function recoverRuns(
  context: ExecutorContext,
  host: string,
  adopt: Adopt = async () => true,
): Promise<number> {
  const { kernel, processes, log } = context
  const bootId = processes.bootId()
  const nodes = await kernel.store.cluster.nodesWithRuns()
  const lost = nodes.filter((node) => {
    if (node.nodeId === context.node.id) return false
    if (node.host !== host || node.isStopped) return node.isSilentForLong
    // A node that is alive but cannot reach the database takes care of its runs itself.
    const isAlive = node.bootId === bootId && processes.startTimeOf(node.pid) === node.pidStarted
    return bootId === null ? node.isSilentForLong : !isAlive
  })
  if (lost.length === 0) return 0
  const isHere = new Map(lost.map(({ nodeId, host: at }) => [nodeId, at === host]))
  const left = await kernel.store.runs.ofNodes([...isHere.keys()])
  const runs: Run[] = []
  for (const run of left) if (!(await isAdopted(context, run, adopt))) runs.push(run)
  await Promise.all(runs.map((run) => (isHere.get(run.nodeId) ? endOrphans(context, run) : undefined)))
  for (const run of runs)
    await recover(context, run, isHere.get(run.nodeId) === true).catch((error) =>
      log.error({ err: error, runId: run.id }, 'a lost run could not be recovered'),
    )
  if (runs.length > 0) log.warn({ runs: runs.length }, 'runs of lost nodes were ended')
  return runs.length
}

/** How long after its deadline a run is left to nodes that can wait for its agent. */
const LEFT_TO_OTHERS_MS = 60_000

/** Whether the run continues: its agent has accepted the work, and this node, or another one, waits for the answer. */
async function isAdopted({ registry, log }: ExecutorContext, run: Run, adopt: Adopt): Promise<boolean> {
  if (!isStarted(run.status) || !isAwaited(run)) return false
  const isForOthers = run.answerDueAt !== null && run.answerDueAt + LEFT_TO_OTHERS_MS > Date.now()
  if (!registry.get(run.adapterType)?.resume) return isForOthers
  return adopt(run).catch((error) => {
    log.error({ err: error, runId: run.id }, 'a run of a lost node could not be taken over')
    // The next round tries again.
    return true
  })
}

function endOrphans({ processes, log }: ExecutorContext, run: Run): Promise<void> {
  const root = { pid: run.pid ?? 0, startTime: run.pidStarted, bootId: run.bootId, runId: run.id }
  return processes
    .end({ ...root, folder: ownFolderOf(run) }, ORPHAN_GRACE_MS)
    .catch((error) => log.error({ err: error, runId: run.id }, 'a process of a lost run could not be ended'))
}

async function recover(context: ExecutorContext, run: Run, wasHere: boolean): Promise<void> {
  const { kernel } = context
  const logged = await readLog(context, run, wasHere)
  const task = run.taskId === null ? null : await taskOf(context, run)
  // Its result was accepted before the node was lost: the run succeeded.
  const isDone = task !== null && task.generation === run.generation && task.resultHash !== null
  const stop = whyLost(run)
  // Before the task is released: the next attempt begins with it.
  const folder = await folderOf(context, run, task)
  if (task && !isDone)
    await releaseLost(
      context,
      run,
      { taskId: task.id, uuid: task.uuid, generation: run.generation!, session: run.session! },
      stop,
    )
  const sessionId = logged.sessionId ?? run.sessionIdAfter
  const model = logged.model ?? run.model
  const usage = isBehind(logged, run) ? null : (logged.usage ?? null)
  const ending = isDone ? DONE : endingOf(STOPPED, stop)
  const used = { costUsd: logged.costUsd ?? null, usage: usage ?? reportedBy(run) }
  const billed = await billedOf(context, run, used, model)
  const end: RunEnd = {
    ...{ workspaceId: run.workspaceId, runId: run.id, agent: run.agent, adapterType: run.adapterType },
    ...ending,
    task: task && claimedBy(run, task),
    ...{ exitCode: null, signal: null, summary: null, result: undefined, provider: null },
    usage: asUsage(usage),
    usageBasis: logged.usageBasis ?? 'partial',
    costUsd: billed.costUsd,
    costBasis: billed.basis,
    models: usage === null ? null : ledgerOf(billed),
    model,
    sessionId,
    taskSession:
      sessionId === null
        ? null
        : {
            taskKey: run.taskUuid ?? '',
            state: { ...logged.state, sessionId, ...logged.runtimeStatePatch, ...placeOf(run) },
          },
    agentState: agentStateIn(logged.agentState),
    folder,
    excerpts: logged.excerpts,
    log: logged.log,
  }
  await kernel.step(run, finishRun(end))
  for (const claim of await kernel.store.runs.claimsWithout(run.workspaceId, run.agent))
    await releaseLost(context, run, claim)
}

/** By the login and the settings that its agent has now: those of the run are gone. */
async function billedOf(
  context: ExecutorContext,
  { workspaceId, agent, adapterType }: Run,
  used: RunToPrice['used'],
  model: string | null,
): Promise<BilledCost> {
  const { kernel, registry, own } = context
  const adapter = registry.get(adapterType)
  const [config, prices] = await Promise.all([
    settingsNow(context, { workspaceId, agent, adapterType }),
    pricesNow(kernel, workspaceId),
  ])
  const billing =
    adapter && config ? await billingOf({ adapter, env: environmentOf(adapter, own, config), config }) : 'api'
  return priceOfRun({ agent, adapter, used, model, billing, prices })
}

/** Null: its agent is another one now. */
async function settingsNow(
  { kernel }: ExecutorContext,
  { workspaceId, agent, adapterType }: Pick<Run, 'workspaceId' | 'agent' | 'adapterType'>,
): Promise<Record<string, unknown> | null> {
  const [found] = await kernel.store.agents.list(workspaceId, { slugs: [agent], withEnded: true }, 1)
  return found?.record.adapterType === adapterType ? configOf(found.record) : null
}

/** An adapter that reads what the program of a run has left on this machine, beside the log. */
async function readingThere(context: ExecutorContext, run: Run, adapter: AgentRunAdapter) {
  const cwd = runFolderOf(run.folder)?.path
  if (cwd === undefined || !adapter.readLineStream) return adapter
  const config = await settingsNow(context, run)
  if (!config) return adapter
  const at = { cwd, env: environmentOf(adapter, context.own, config) }
  const readLineStream: AgentRunAdapter['readLineStream'] = (lines, state) =>
    adapter.readLineStream!(lines, state, at)
  return { readLineStream }
}

/** Where and for which generation the session was used. */
function placeOf({ folder, generation }: Run) {
  const cwd = runFolderOf(folder)?.path
  return { ...(cwd !== undefined && { cwd }), ...(generation !== null && { generation }) }
}

/** The folder of a lost run, with what its processes left there as a commit. Another machine may have it. */
async function folderOf(context: ExecutorContext, run: Run, task: TaskRecord | null): Promise<unknown> {
  const folder = runFolderOf(run.folder)
  if (!folder?.worktree || !task || !(await context.folders.isThere(folder.worktree))) return run.folder
  const [found] = await context.kernel.store.agents.list(
    run.workspaceId,
    { slugs: [run.agent], withEnded: true },
    1,
  )
  const agent = found?.record ?? { slug: run.agent, name: run.agent }
  const secrets = await knownSecrets(context, found?.record ?? null)
  const held = { taskId: task.id, uuid: task.uuid, generation: run.generation!, purpose: task.purpose }
  const { workspaceId, id: runId } = run
  const kept = await keepWork(context, {
    ...{ workspaceId, runId, agent, held, folder, secrets, isRunning: false },
  })
  return { ...folder, ...kept }
}

const claimedBy = ({ generation, attempt, session }: Run, { id, uuid, missionId }: TaskRecord) => ({
  ...{ id, uuid, missionId, generation: generation!, attempt: attempt ?? 0, session: session! },
})

const DONE = { status: 'succeeded', errorCode: null, errorMessage: null } as const
const STOPPED = { outcome: 'cancelled' } as const
const LOST: Stop = {
  code: 'control_plane_restart',
  reason: `${RUN_ERRORS.control_plane_restart.title}.`,
  byPerson: false,
}

/** A person may have cancelled the run when its node could no longer stop it. */
const whyLost = ({ cancelReason }: Run): Stop =>
  cancelReason === null ? LOST : { code: 'cancelled', reason: cancelReason, byPerson: true }

/**
 * The log may lack the last output, whose usage is already recorded, or tell less of each answer than the program's files did. The
 * usage of a run never decreases.
 */
const isBehind = ({ usage, usageBasis }: Partial<AdapterInvokeResult>, run: Run) =>
  usage != null &&
  usageBasis === 'partial' &&
  (usage.inputTokens < (run.inputTokens ?? 0) ||
    (usage.cachedInputTokens ?? 0) < (run.cachedInputTokens ?? 0) ||
    usage.outputTokens < (run.outputTokens ?? 0))

const reportedBy = ({ inputTokens, cachedInputTokens, outputTokens }: Run): TokenUsage | null =>
  inputTokens === null
    ? null
    : { inputTokens, cachedInputTokens: cachedInputTokens ?? 0, outputTokens: outputTokens ?? 0 }

/** A lost node is not the agent's fault and spends no attempt. */
const releaseLost = (
  { kernel }: ExecutorContext,
  { workspaceId, agent }: Pick<Run, 'workspaceId' | 'agent'>,
  claim: Pick<Held, 'taskId' | 'uuid' | 'generation' | 'session'>,
  stop: Stop = LOST,
) =>
  applyOutcome(
    kernel,
    workspaceId,
    agent,
    { ...claim, attempt: 0, leaseMs: 0, purpose: 'work', timers: null, continuation: null },
    taskOutcomeOf(endingOf(STOPPED, stop), STOPPED, stop),
    { result: null, summary: null },
  )

async function taskOf({ kernel }: ExecutorContext, run: Run): Promise<TaskRecord | null> {
  const [found] = await kernel.store.tasksById(run.workspaceId, [run.taskId!])
  return found?.record ?? null
}

/**
 * The log has all output that was flushed. From it, and from the files of the program if they are here, the adapter reads the usage and
 * the session of the run.
 */
async function readLog(context: ExecutorContext, run: Run, wasHere: boolean) {
  const { kernel, registry, logStores, log, excerptBytes } = context
  const noExcerpts = { stdout: null as string | null, stderr: null as string | null }
  const nothing = { excerpts: noExcerpts, log: null, state: {} as Record<string, unknown> }
  const none: typeof nothing & Partial<AdapterInvokeResult> = nothing
  const store = logStores.get(run.logStore as LogStoreType)
  if (!store || run.logRef === null) return none
  const handle = { store: store.type, logRef: run.logRef }
  try {
    const [session] = await kernel.store.runtime.taskSessions(run.workspaceId, run.agent, {
      adapterType: run.adapterType,
      taskKey: run.taskUuid ?? '',
    })
    const state = session?.sessionParams ?? {}
    const adapter = registry.get(run.adapterType)
    const reading = adapter && wasHere ? await readingThere(context, run, adapter) : adapter
    const { read, excerpts } = await readLostLog(store, handle, reading, state, excerptBytes)
    const summary = await store.finalize(handle)
    return { ...read, state, excerpts, log: summary }
  } catch (error) {
    log.warn({ err: error, runId: run.id }, 'the log of a lost run could not be read')
    return none
  }
}
