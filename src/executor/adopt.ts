import type { AgentRecord } from '../kinds/agent/record.ts'
import type { Awaiting, Run, Wakeup } from '../kinds/run/record.ts'
import { adoptRun } from '../kinds/run/rules/callbacks.ts'
import { watchSettingsOf } from '../kinds/run/rules/policy.ts'
import type { TriggerDetail, WakeupSource } from '../kinds/run/rules/wakeups.ts'
import { watching } from '../kinds/run/rules/watchdog.ts'
import { stallMsOf } from '../kinds/task/rules/timers.ts'
import { type LogStoreType, LogUnavailable, type RunLogHandle } from '../logs/protocol.ts'
import type { ActiveRun } from './active-run.ts'
import { billingOfRun } from './bills.ts'
import type { ExecutorContext } from './context.ts'
import type { Dispatched } from './dispatched.ts'
import { type Held, sessionOf, taskOf } from './holding.ts'
import { type LoggedBefore, newExcerpts, RunOutput } from './output.ts'
import { type Prepared, prepare } from './prepare.ts'
import { RunReport } from './report.ts'
import { invoke, leave, movedToOtherNode } from './run.ts'
import { settle } from './settle.ts'

/**
 * Runs whose agent has accepted its work and answers by callbacks (202). When their node is lost or stops, another one waits for
 * the answer: until the deadline in the row of the run, with the claim it has.
 */

export interface Adopted {
  run: Run
  dispatched: Dispatched
  held: Held | null
  prepared: Prepared
  log: { handle: RunLogHandle; before: LoggedBefore }
  awaiting: Awaiting
}

/** However late it is, messages that have arrived are read. */
const AT_LEAST_MS = 1_000

/** `elsewhere`: it has ended, or another node has it. `impossible`: this node cannot wait for it. */
export async function adopt(
  context: ExecutorContext,
  run: Run,
): Promise<Adopted | 'elsewhere' | 'impossible'> {
  const { workspaceId, id: runId } = run
  const { kernel, registry, node } = context
  const [found] = await kernel.store.agents.list(workspaceId, { slugs: [run.agent], withEnded: true }, 1)
  const agent = found?.record
  if (agent?.adapterType !== run.adapterType || agent.uuid !== run.agentId) return 'impossible'
  if (!registry.get(run.adapterType)?.resume) return 'impossible'
  // Its agent has the work already, and what it kept.
  const dispatched = { workspaceId, runId, token: '', agent, wakeup: wakeupOf(run), agentState: {} }
  const held = await heldBy(context, run)
  const prepared = await prepare(context, { ...dispatched, held }).catch((error) => {
    context.log.warn({ err: error, runId }, 'a run of a lost node cannot be taken over')
    return null
  })
  if (!prepared) return 'impossible'
  const log = await logOf(context, run, agent)
  const { timeoutSec } = prepared.input
  const adoption = { from: run.nodeId, to: node.id, log: log.handle, withinMs: timeoutSec * 1000 }
  const adopted = await kernel.step({ workspaceId }, adoptRun(runId, adoption))
  if (!adopted) return 'elsewhere'
  const { leftMs, awaiting } = adopted
  const input = { ...prepared.input, timeoutSec: Math.max(leftMs, AT_LEAST_MS) / 1000 }
  return { run, dispatched, held, prepared: { ...prepared, input }, log, awaiting }
}

/** Waits for the answer of an adopted run, and ends it. */
export async function resume(context: ExecutorContext, adopted: Adopted, active: ActiveRun): Promise<void> {
  const { run, dispatched, held, prepared, log, awaiting } = adopted
  const { workspaceId, runId, agent } = dispatched
  const { kernel, live, timers } = context
  const warn = (what: string) => (error: unknown) => context.log.warn({ err: error, runId }, what)
  const who = { workspaceId, runId, agent: agent.slug }
  const reported = { usage: usageOf(run), sessionId: run.sessionIdAfter }
  const output = new RunOutput({
    ...{ store: context.logStores.get(log.handle.store)!, handle: log.handle, before: log.before },
    ...{ secrets: prepared.secrets, live, run: who, timers, warn: warn('a log could not be written') },
  })
  const lastSeq = await kernel.store.runs.lastEventSeq(workspaceId, runId)
  const report = new RunReport(
    kernel.store,
    { ...who, task: taskOf(held) },
    billingOfRun(context, dispatched, prepared, active),
    warn('a report could not be written'),
    timers,
    { lastSeq, booking: await kernel.store.budgets.lastReport(workspaceId, runId), ...reported },
  )
  report.event({ type: 'lifecycle', level: 'info', message: 'taken over', payload: { from: run.nodeId } })
  await output.systemLine('baton: another node waits for the agent from here on.')
  active.traceAs(prepared.trace)
  active.takeOver(held)
  const watch = watching(watchSettingsOf(agent.runtimeConfig), timers.now(), {
    stallMs: held?.stallMs ?? null,
  })
  const hooks = active.hooks(output, report, prepared.secrets, watch)
  const close = context.callbacks.open(runId, workspaceId, () => active.leave())
  const parts = { prepared, output, report }
  try {
    const answer = await invoke(context, prepared, hooks, active, { state: awaiting.state, ...reported })
    await active.close()
    if (await movedToOtherNode(context, active)) return await leave(parts)
    await settle(context, dispatched, held, parts, answer, active.stopped)
  } finally {
    close()
  }
}

async function heldBy({ kernel }: ExecutorContext, run: Run): Promise<Held | null> {
  if (run.taskId === null) return null
  const [found] = await kernel.store.tasksById(run.workspaceId, [run.taskId])
  const generation = run.generation!
  const stallMs = stallMsOf(found?.record.timers ?? null, await kernel.limits(run.workspaceId))
  return {
    stallMs,
    ...{ uuid: run.taskUuid!, taskId: run.taskId, generation },
    ...{
      purpose: found?.record.purpose ?? 'work',
      timers: found?.record.timers ?? null,
      continuation: found?.record.continuation ?? null,
    },
    ...{ session: run.session ?? sessionOf(run.agent), attempt: run.attempt ?? 0 },
    ...{ leaseMs: found?.record.leaseMs ?? 0, missionId: found?.record.missionId ?? null },
  }
}

/** The log where it is, or a new one on this node. */
async function logOf(
  { logs, logStores, excerptBytes }: ExecutorContext,
  run: Run,
  agent: AgentRecord,
): Promise<Adopted['log']> {
  const excerpts = newExcerpts(excerptBytes)
  const store = logStores.get(run.logStore as LogStoreType)
  try {
    if (!store || run.logRef === null) throw new LogUnavailable('The run has no log here.')
    const handle = { store: store.type, logRef: run.logRef }
    const { nextOffset } = await store.read(handle, { offset: Number.MAX_SAFE_INTEGER, limitBytes: 1 })
    for (const stream of ['stdout', 'stderr'] as const)
      for await (const text of store.stream(handle, stream)) excerpts[stream].take(text)
    const before = { bytes: nextOffset ?? 0, isFinal: nextOffset === null, isLost: false, excerpts }
    return { handle, before }
  } catch (error) {
    if (!(error instanceof LogUnavailable)) throw error
    const ids = { workspaceId: String(run.workspaceId), agentId: agent.uuid, runId: run.id }
    const before = { bytes: 0, isFinal: false, isLost: true, excerpts }
    return { handle: await logs.begin(ids), before }
  }
}

const usageOf = ({ inputTokens, outputTokens, cachedInputTokens }: Run) =>
  inputTokens === null || outputTokens === null
    ? null
    : { inputTokens, outputTokens, ...(cachedInputTokens !== null && { cachedInputTokens }) }

/** What is known of the wakeup of a run; its prompt was sent long ago. */
const wakeupOf = (run: Run): Wakeup => ({
  ...{ id: run.wakeupId ?? run.id, agent: run.agent, source: run.source as WakeupSource },
  ...{ triggerDetail: run.triggerDetail as TriggerDetail | null, reason: run.reason, payload: null },
  ...{ status: 'claimed', skipReason: null, coalescedCount: 0, intoId: null, requestedBy: 'system' },
  ...{ taskUuid: run.taskUuid, generation: run.generation, depth: 0, runId: run.id, error: null },
  ...{ requestedAt: run.createdAt, dueAt: run.createdAt, claimedAt: run.createdAt, finishedAt: null },
})
