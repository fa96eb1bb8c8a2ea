import { bootId, startTimeOf } from '../adapters/child/identity.ts'
import { endTree, processesWithMarkers } from '../adapters/child/tree.ts'
import type { AdapterInvokeResult } from '../adapters/protocol.ts'
import { isUuid } from '../core/ids.ts'
import type { TaskRecord } from '../core/records.ts'
import { endingOf, type Stop, taskOutcomeOf } from '../core/runs/ending.ts'
import { RUN_ERRORS } from '../core/runs/outcomes.ts'
import type { LogStoreType } from '../logs/protocol.ts'
import type { Run } from '../store/server-store.ts'
import type { ExecutorContext } from './context.ts'
import { applyOutcome, type Held } from './holding.ts'
import { readLostLog } from './lost-log.ts'
import { asUsage } from './settle.ts'

/**
 * What nodes left behind when they were killed (Paperclip 12.4): their processes are ended, whole trees of them, before
 * anything else may happen to their tasks; then their runs end on record, with all that their logs tell.
 * Only runs of nodes that are surely gone are touched: of this machine, when their process is no more; of others, when they
 * have been silent for long.
 */

const ORPHAN_GRACE_MS = 2_000

/**
 * Runs of this very node that are on record but not going on: something went wrong inside, and they are over. `missingSince`
 * is kept from one look to the next. Once is not enough: a run may just begin, or have ended since its row was read.
 */
export async function recoverForgotten(
  context: ExecutorContext,
  isGoingOn: (runId: string) => boolean,
  { missingSince, afterMs }: { missingSince: Map<string, number>; afterMs: number },
): Promise<void> {
  const own = await context.kernel.store.runs.ofNodes([context.node.id])
  const missing = own.filter(({ id }) => !isGoingOn(id))
  for (const id of missingSince.keys()) if (!missing.some((run) => run.id === id)) missingSince.delete(id)
  for (const run of missing) {
    const since = missingSince.get(run.id) ?? performance.now()
    missingSince.set(run.id, since)
    if (performance.now() - since < afterMs) continue
    await endOrphans(context, run)
    await recover(context, run)
    context.log.warn({ runId: run.id }, 'a run that was forgotten here was ended')
  }
}

/** All that an earlier life of this machine left, before anybody can claim anything. */
export async function recoverAtStart(context: ExecutorContext, host: string): Promise<void> {
  await endLeftOvers(context)
  await recoverRuns(context, host)
}

/**
 * Ends what is left on this machine of runs that are over: another node may have ended them on record while nobody was here
 * to end their processes.
 */
async function endLeftOvers({ kernel, log }: ExecutorContext): Promise<void> {
  const marked = [...processesWithMarkers().keys()].filter(isUuid)
  const over = marked.length === 0 ? [] : await kernel.store.runs.finishedAmong(marked)
  await Promise.all(
    over.map(({ id: runId }) =>
      endTree({ pid: 0, startTime: null, bootId: null, runId }, ORPHAN_GRACE_MS).catch((error) =>
        log.error({ err: error, runId }, 'a process of a run that is over could not be ended'),
      ),
    ),
  )
}

export async function recoverRuns(context: ExecutorContext, host: string): Promise<number> {
  const { kernel, log } = context
  const nodes = await kernel.store.cluster.nodesWithRuns()
  const gone = nodes.filter((node) => {
    if (node.nodeId === context.node.id) return false
    if (node.host !== host) return node.isSilentForLong
    // A node that is there but cannot reach the database looks after its runs itself.
    const isSameLife = node.bootId === bootId() && startTimeOf(node.pid) === node.pidStarted
    return bootId() === null ? node.isSilentForLong : !isSameLife
  })
  if (gone.length === 0) return 0
  const isHere = new Map(gone.map(({ nodeId, host: at }) => [nodeId, at === host]))
  const runs = await kernel.store.runs.ofNodes([...isHere.keys()])
  await Promise.all(runs.map((run) => (isHere.get(run.nodeId) ? endOrphans(context, run) : undefined)))
  for (const run of runs)
    await recover(context, run).catch((error) =>
      log.error({ err: error, runId: run.id }, 'a lost run could not be recovered'),
    )
  if (runs.length > 0) log.warn({ runs: runs.length }, 'runs of nodes that are gone were ended')
  return runs.length
}

const endOrphans = (context: ExecutorContext, { id, pid, pidStarted, bootId: boot }: Run) =>
  endTree({ pid: pid ?? 0, startTime: pidStarted, bootId: boot, runId: id }, ORPHAN_GRACE_MS).catch((error) =>
    context.log.error({ err: error, runId: id }, 'a process of a lost run could not be ended'),
  )

async function recover(context: ExecutorContext, run: Run): Promise<void> {
  const { kernel } = context
  const told = await whatTheLogTells(context, run)
  const task = run.innerTaskId === null ? null : await taskOf(context, run)
  // Its work was taken before the node went: then the run did what it should.
  const isDone = task !== null && task.generation === run.generation && task.resultHash !== null
  const stop = whyLost(run)
  if (task && !isDone)
    await releaseLost(
      context,
      run,
      { taskId: task.uuid, innerId: task.id, generation: run.generation!, session: run.session! },
      stop,
    )
  const sessionId = told.sessionId ?? run.sessionIdAfter
  const ending = isDone ? DONE : endingOf(STOPPED, stop)
  await kernel.store.runs.finish({
    ...{ workspaceId: run.workspaceId, runId: run.id, agent: run.agent, adapterType: run.adapterType },
    ...ending,
    ...{ exitCode: null, signal: null, summary: null, result: undefined, provider: null },
    usage: isBehind(told, run) ? null : asUsage(told.usage ?? null),
    usageBasis: told.usageBasis ?? 'partial',
    costUsd: told.costUsd == null ? null : String(told.costUsd),
    model: told.model ?? null,
    sessionId,
    remember:
      sessionId === null
        ? null
        : { taskKey: run.taskId ?? '', state: { ...told.state, sessionId, ...told.runtimeStatePatch } },
    folder: run.folder,
    excerpts: told.excerpts,
    log: told.log,
  })
  for (const claim of await kernel.store.runs.claimsWithout(run.workspaceId, run.agent))
    await releaseLost(context, run, claim)
}

const DONE = { status: 'succeeded', errorCode: null, errorMessage: null } as const
const STOPPED = { outcome: 'cancelled' } as const
const LOST: Stop = {
  code: 'control_plane_restart',
  reason: `${RUN_ERRORS.control_plane_restart.title}.`,
  byPerson: false,
}

/** Somebody may have wanted it stopped, and its node could not see to it any more. */
const whyLost = ({ cancelReason }: Run): Stop =>
  cancelReason === null ? LOST : { code: 'cancelled', reason: cancelReason, byPerson: true }

/** The log may lack the last words, though they were counted already. What a run used never becomes less. */
const isBehind = ({ usage, usageBasis }: Partial<AdapterInvokeResult>, run: Run) =>
  usage != null &&
  usageBasis === 'partial' &&
  usage.inputTokens + usage.outputTokens < (run.inputTokens ?? 0) + (run.outputTokens ?? 0)

/** No attempt is spent on what the agent is not to blame for. */
const releaseLost = (
  { kernel }: ExecutorContext,
  { workspaceId, agent }: Run,
  claim: Pick<Held, 'taskId' | 'innerId' | 'generation' | 'session'>,
  stop: Stop = LOST,
) =>
  applyOutcome(
    kernel,
    workspaceId,
    agent,
    { ...claim, attempt: 0, leaseMs: 0 },
    taskOutcomeOf(endingOf(STOPPED, stop), STOPPED, stop),
    { result: null, summary: null },
  )

async function taskOf({ kernel }: ExecutorContext, run: Run): Promise<TaskRecord | null> {
  const [found] = await kernel.store.tasksById(run.workspaceId, [run.innerTaskId!])
  return found?.record ?? null
}

/** The log has all that was flushed: from it, its adapter reads what the run used and which session it was. */
async function whatTheLogTells({ kernel, registry, logStores, log }: ExecutorContext, run: Run) {
  const silence = { stdout: null as string | null, stderr: null as string | null }
  const nothing = { excerpts: silence, log: null, state: {} as Record<string, unknown> }
  const none: typeof nothing & Partial<AdapterInvokeResult> = nothing
  const store = logStores.get(run.logStore as LogStoreType)
  if (!store || run.logRef === null) return none
  const handle = { store: store.type, logRef: run.logRef }
  try {
    const [session] = await kernel.store.runtime.taskSessions(run.workspaceId, run.agent, {
      adapterType: run.adapterType,
      taskKey: run.taskId ?? '',
    })
    const state = session?.sessionParams ?? {}
    const { read, excerpts } = await readLostLog(store, handle, registry.get(run.adapterType), state)
    const summary = await store.finalize(handle)
    return { ...read, state, excerpts, log: summary }
  } catch (error) {
    log.warn({ err: error, runId: run.id }, 'the log of a lost run could not be read')
    return none
  }
}
