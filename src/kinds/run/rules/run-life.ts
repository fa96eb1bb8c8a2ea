import { type EventWithOrigin, workspaceEvent } from '../../events.ts'
import {
  NO_USAGE,
  type Recorded,
  record,
  reserveForRun,
  type UsageAsk,
  type UsageChanges,
} from '../../usage/rules/step.ts'
import { withTime } from '../../usage/rules/time.ts'
import type { RunEnd, RunRecord, RunStart, RuntimeState, TaskSession, WakeupRecord } from '../record.ts'
import { isOver, isPending, movedRun, movedWakeup, WAKEUP_END_OF } from '../states.ts'
import { statusChange } from './agent-status.ts'
import { tokensIn } from './budget.ts'
import { endOfCallbacks } from './callbacks.ts'
import { addDollars, storedDollars } from './dollars.ts'
import {
  changedRuntime,
  type FieldsOf,
  NOTHING_ASKED,
  NOTHING_CHANGED,
  type RunsChanges,
  type RunsStep,
  type RunsView,
  type UsedByRuns,
  unchanged,
} from './step.ts'

/** A run from its start to its end. */

/** From here on its program may be running. False: the run has already ended. */
export const beginRun = (start: RunStart): RunsStep<boolean> => ({
  on: 'runs',
  reads: {
    ...NOTHING_ASKED,
    ...{ agents: [start.agent], runs: [start.runId] },
    usage: start.task ? null : usageAskOf({ ...start, task: null }),
  },
  decide({ now, runs, usage }) {
    const run = runs.get(start.runId)
    // Only its node begins a run: if it has begun, that was an earlier attempt whose answer was lost.
    if (run?.status !== 'queued') return unchanged(run?.status === 'running')
    const { runId, agent, task, log } = start
    const set = {
      status: movedRun('run_started', run.status, 'running'),
      startedAt: now,
      ...ofTask(task),
      logStore: log?.store ?? null,
      logRef: log?.logRef ?? null,
      model: start.model ?? null,
      sessionIdBefore: start.sessionIdBefore,
      promptedTaskComment: start.promptedComments?.task ?? null,
      toldMissionComment: start.promptedComments?.mission ?? null,
      folder: start.folder ?? null,
    }
    const { attempt = null, generation = null, uuid: taskId = null } = task ?? {}
    const payload = { runId, agent, taskId, attempt, generation }
    const events = [inMission(task, workspaceEvent('run_started', payload, { actor: `agent:${agent}`, now }))]
    const told = start.told ? [{ runId, told: start.told }] : []
    const source = { sourceId: runId, generation: 0 }
    const reserved = usage ? reserveForRun(usage, source, start.model ?? null, now) : NO_USAGE
    return {
      answer: true,
      changes: { ...NOTHING_CHANGED, runs: [{ id: runId, set }], told, usage: reserved, events },
    }
  },
})

/** In the log of the mission that its task belongs to. */
const inMission = (task: RunEnd['task'], event: EventWithOrigin): EventWithOrigin =>
  task?.missionId == null ? event : { ...event, missionId: task.missionId }

type FieldsOfTask = Pick<RunRecord, 'taskId' | 'taskUuid' | 'generation' | 'attempt' | 'session'>

const ofTask = (task: RunStart['task']): FieldsOfTask => ({
  taskId: task?.id ?? null,
  taskUuid: task?.uuid ?? null,
  generation: task?.generation ?? null,
  attempt: task?.attempt ?? null,
  session: task?.session ?? null,
})

/** Ends a run, once: its figures are added to the totals in the same transaction. False: it had already ended. */
export const finishRun = (end: RunEnd): RunsStep<boolean> => ({
  on: 'runs',
  reads: {
    ...NOTHING_ASKED,
    agents: [end.agent],
    runs: [end.runId],
    othersOf: [{ runId: end.runId, taskId: end.task?.id ?? null }],
    liveRunsOf: [end.agent],
    usage: usageAskOf(end),
  },
  decide(view) {
    const { now, runs, wakeups, agents, runtime } = view
    const before = runs.get(end.runId)
    if (!before || isOver(before.status)) return unchanged(false)
    const { set: noMore, readMessages } = endOfCallbacks(before)
    const ended = { ...before, ...endOf(before, end, now), ...noMore }
    const recorded = bookedAtEnd(view, ended, end)
    const { booked, spent } = spentBy(ended, recorded?.booked ?? null)
    const set = { ...endOf(before, end, now), ...noMore, ...booked }
    const run = { ...before, ...set }
    const kept = runtime.get(end.agent)
    const wakeup = before.wakeupId === null ? undefined : wakeups.get(before.wakeupId)
    const totals = kept && totalsAfter(kept, run, end, now)
    const changes = {
      ...NOTHING_CHANGED,
      runs: [{ id: run.id, set }],
      runtime: totals ? [changedRuntime('run_finished', end.agent, totals)] : [],
      // An agent that was removed meanwhile keeps no session.
      sessions: end.taskSession && agents.has(end.agent) ? [sessionAfter(end, now)] : [],
      wakeups: wakeup && isPending(wakeup.status) ? [endOfWakeup(wakeup, end, now)] : [],
      readMessages,
      spent,
      usage: ended.taskId === null ? withoutReservation(view, recorded) : (recorded?.changes ?? NO_USAGE),
      events: [...eventsOf(view, run, end, totals?.runs), ...(recorded?.events ?? [])],
    }
    return { answer: true, changes }
  },
})

/** A run without a task holds its reservation itself: it ends with the run. */
function withoutReservation({ usage }: RunsView, recorded: Recorded | null): UsageChanges {
  const changes = recorded?.changes ?? NO_USAGE
  const held = usage?.reservation
  return held ? { ...changes, released: [{ sourceId: held.holderId, generation: held.generation }] } : changes
}

function endOf(run: RunRecord, end: RunEnd, now: number): Partial<RunRecord> {
  const { usage, log, excerpts, task } = end
  return {
    status: movedRun('run_finished', run.status, end.status),
    // What it was doing last is no longer true.
    ...{ statusMessage: null, statusColor: null },
    errorCode: end.errorCode,
    errorMessage: end.errorMessage,
    exitCode: end.exitCode,
    signal: end.signal,
    ...(usage && {
      inputTokens: usage.inputTokens,
      cachedInputTokens: usage.cachedInputTokens,
      outputTokens: usage.outputTokens,
      cachedOutputTokens: usage.cachedOutputTokens ?? null,
      usageBasis: end.usageBasis ?? run.usageBasis,
    }),
    costUsd: storedDollars(end.costUsd),
    costBasis: end.costBasis,
    provider: end.provider,
    model: end.model ?? run.model,
    sessionIdAfter: end.sessionId ?? run.sessionIdAfter,
    summary: end.summary,
    result: end.result ?? null,
    folder: end.folder ?? run.folder,
    stdoutExcerpt: excerpts.stdout,
    stderrExcerpt: excerpts.stderr,
    logBytes: log?.bytes ?? null,
    logSha256: log?.sha256 ?? null,
    logCompressed: log?.compressed ?? false,
    logTruncated: log?.truncated ?? false,
    tokenHash: null,
    finishedAt: now,
    // It may have ended before it began.
    ...(run.taskId === null && ofTask(task ?? null)),
  }
}

const totalsAfter = (kept: RuntimeState, run: RunRecord, end: RunEnd, now: number) => ({
  runs: kept.runs + 1,
  lastRunId: run.id,
  lastRunStatus: end.status,
  lastError: end.errorMessage,
  sessionId: end.sessionId ?? kept.sessionId,
  // A run that began before its agent got another adapter has nothing for that one.
  ...(end.agentState !== null && kept.adapterType === end.adapterType && { state: end.agentState }),
  totalInputTokens: kept.totalInputTokens + (run.inputTokens ?? 0),
  totalCachedInputTokens: kept.totalCachedInputTokens + (run.cachedInputTokens ?? 0),
  totalOutputTokens: kept.totalOutputTokens + (run.outputTokens ?? 0),
  totalCostUsd: addDollars(kept.totalCostUsd, end.costUsd),
  unknownRuns: kept.unknownRuns + Number(run.startedAt !== null && end.costUsd === null),
  updatedAt: now,
})

/** In the ledger, whose last report this is. */
function bookedAtEnd(view: RunsView, run: RunRecord, end: Pick<RunEnd, 'models' | 'time'>): Recorded | null {
  const { usage, now } = view
  if (!usage) return null
  // What comes after its usage was booked for the result is no work of its agent.
  const time = run.isBooked ? null : (end.time ?? null)
  const working = { time, startedAt: run.startedAt, now, isFinal: true }
  const models = withTime(end.models ?? usage.source?.booked ?? {}, usage.source, working)
  const report = { number: null, isWhole: true, isFinal: true, models }
  return record(usage, { sourceId: run.id, generation: 0 }, report, now)
}

/** What the totals of its mission do not have yet. A run that did not begin cost nothing. */
function spentBy(
  run: RunRecord,
  booked: Recorded['booked'],
): { booked: Partial<RunRecord>; spent: RunsChanges['spent'] } {
  const { taskId, costUsd, bookedUsd, isBooked, startedAt } = run
  if (taskId === null) return { booked: {}, spent: [] }
  const { tokens = 0, usd = '0', notionalUsd = '0' } = booked ?? {}
  const isKnown = costUsd !== null
  const runs = startedAt !== null && !isBooked ? 1 : 0
  const wasUnknown = isBooked && bookedUsd === null
  const unknownRuns = runs === 1 ? Number(!isKnown) : -Number(wasUnknown && isKnown)
  if (!booked && runs === 0 && unknownRuns === 0) return { booked: {}, spent: [] }
  const fields = { ...(startedAt !== null && { isBooked: true }), ...(isKnown && { bookedUsd: costUsd }) }
  return { booked: fields, spent: [{ taskId, tokens, usd, notionalUsd, runs, unknownRuns }] }
}

/**
 * Books what a run has used before its result is submitted: the result may end the mission, and what the mission cost must then be
 * known. `finishRun` books only the rest.
 */
export const bookUsage = (end: UsedByRun): RunsStep<boolean> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, agents: [end.agent], runs: [end.runId], usage: usageAskOf(end) },
  decide(view) {
    const run = view.runs.get(end.runId)
    if (!run || isOver(run.status)) return unchanged(false)
    const recorded = bookedAtEnd(view, run, end)
    const { booked, spent } = spentBy(
      { ...run, costUsd: storedDollars(end.costUsd) },
      recorded?.booked ?? null,
    )
    if (spent.length === 0 && !recorded?.booked) return unchanged(false)
    const changes = {
      ...NOTHING_CHANGED,
      runs: [{ id: run.id, set: booked }],
      spent,
      usage: recorded?.changes ?? NO_USAGE,
      events: recorded?.events ?? [],
    }
    return { answer: true, changes }
  },
})

/** Of a run without a task nothing is claimed. */
export const usageAskOf = ({ runId, agent, task }: Pick<RunEnd, 'runId' | 'agent' | 'task'>): UsageAsk => ({
  ...{ sourceId: runId, generation: 0, agent, session: task?.session ?? null },
  claim: task ? { taskId: task.id, taskUuid: task.uuid, generation: task.generation } : null,
})

type UsedByRun = Pick<RunEnd, 'runId' | 'agent' | 'task' | 'models' | 'costUsd' | 'time'>

const sessionAfter = (end: RunEnd, now: number): TaskSession => ({
  agent: end.agent,
  adapterType: end.adapterType,
  taskKey: end.taskSession!.taskKey,
  sessionParams: end.taskSession!.state,
  sessionDisplayId: end.sessionId,
  lastRunId: end.runId,
  lastError: end.errorMessage,
  createdAt: now,
  updatedAt: now,
})

const endOfWakeup = ({ id, status }: WakeupRecord, end: RunEnd, now: number): FieldsOf<WakeupRecord> => ({
  id,
  set: {
    status: movedWakeup('run_finished', status, WAKEUP_END_OF[end.status]),
    error: end.errorMessage,
    finishedAt: now,
  },
})

function eventsOf(
  { now, others, agents, liveRuns }: RunsView,
  run: RunRecord,
  end: RunEnd,
  runs: number | undefined,
) {
  const { runId, agent, status } = end
  const finished = {
    ...{ runId, agent, taskId: run.taskUuid, status, errorCode: end.errorCode },
    ...{ exitCode: end.exitCode, inputTokens: run.inputTokens, outputTokens: run.outputTokens },
    ...{ cachedInputTokens: run.cachedInputTokens, costUsd: end.costUsd },
    logTruncated: end.log?.truncated ?? false,
    durationMs: run.startedAt === null ? null : now - run.startedAt,
    ...{ model: run.model, provider: end.provider },
    ...(run.taskId !== null && spentOnTask(run, others.get(runId))),
  }
  const event = workspaceEvent('run_finished', finished, { actor: `agent:${agent}`, now })
  const live = liveRuns.get(agent) ?? 1
  const said = [
    inMission(end.task, event),
    ...statusChange(agents.get(agent), { before: live, after: live - 1 }, now),
  ]
  if (runs === undefined) return said
  const state = { agent, runs, lastRunId: runId, lastRunStatus: status }
  return [...said, workspaceEvent('runtime_state_updated', state, { actor: 'system', now })]
}

/** All runs and claims of its task together, for the events of one of them. */
export function spentOnTask(
  run: Pick<RunRecord, 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'costUsd'>,
  others: UsedByRuns = { tokens: 0, costUsd: null },
) {
  const { costUsd } = others
  return {
    taskTokens: others.tokens + tokensIn(run),
    taskCostUsd: costUsd === null ? run.costUsd : addDollars(costUsd, run.costUsd),
  }
}

/** Requests a cancellation; its node sees the event and stops the run. False: it has ended. */
export const requestCancel = (
  runId: string,
  { reason, actor }: { reason: string; actor: string },
): RunsStep<boolean> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, runs: [runId] },
  decide({ now, runs }) {
    const run = runs.get(runId)
    if (!run || isOver(run.status)) return unchanged(false)
    const payload = { runId, agent: run.agent, taskId: run.taskUuid, reason }
    return {
      answer: true,
      changes: {
        ...NOTHING_CHANGED,
        // The first reason stays.
        runs: run.cancelReason === null ? [{ id: runId, set: { cancelReason: reason } }] : [],
        events: [workspaceEvent('run_cancel_requested', payload, { actor, now })],
      },
    }
  },
})
