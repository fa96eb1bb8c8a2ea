import type { RunRecord, RuntimeState, TaskSession, WakeupRecord } from '../kinds/run/record.ts'
import {
  type AboutTask,
  aboutName,
  type FirstDue,
  keyedName,
  type RunsAsk,
  type RunsChanges,
  type RunsView,
  type UsedByRuns,
} from '../kinds/run/rules/step.ts'
import { isLive, isQueued, wokeItsAgent } from '../kinds/run/states.ts'
import { seeUsage, stoppedAgents, writeUsage } from './budgets.ts'
import { spend } from './missions.ts'
import { usedForTask } from './used.ts'
import { copyOf, type Workspace } from './workspace.ts'

/** What a step on runs sees and writes in memory. The lock of the workspace covers all others. */

const HOUR_MS = 3_600_000

export const liveRuns = ({ runs }: Workspace, of: string): RunRecord[] =>
  [...runs.open.values()].filter(({ agent }) => agent === of)

/** By priority, then by arrival: wakeups are kept in the order of their arrival. */
export const inOrder = (a: WakeupRecord, b: WakeupRecord) =>
  b.priority - a.priority || a.requestedAt - b.requestedAt

export function seeRuns(workspace: Workspace, ask: RunsAsk, now: number): Omit<RunsView, 'terms'> {
  const { agents, runs, wakeups } = workspace
  const asked = ask.agents.filter((slug) => agents.has(slug))
  for (const slug of asked)
    if (!workspace.runtime.has(slug))
      workspace.runtime.set(slug, newRuntime(slug, agents.get(slug)!.adapterType, now))
  const found = ask.runs.flatMap((id) => runs.get(id) ?? [])
  return {
    now,
    agents: new Map(asked.map((slug) => [slug, copyOf(agents.get(slug)!)])),
    runtime: new Map(asked.map((slug) => [slug, copyOf(workspace.runtime.get(slug)!)])),
    runs: new Map(found.map((run) => [run.id, copyOf(run)])),
    wakeups: new Map(
      found.flatMap(({ wakeupId }) => {
        const wakeup = wakeupId === null ? undefined : wakeups.get(wakeupId)
        return wakeup ? [[wakeup.id, copyOf(wakeup)]] : []
      }),
    ),
    about: new Map(
      ask.wakeups.about.map(({ agent, taskId }) => [
        aboutName(agent, taskId),
        aboutTask(workspace, agent, taskId, now),
      ]),
    ),
    firstDue: new Map(
      ask.wakeups.firstDueOf.flatMap((agent) => {
        const due = firstDue(workspace, agent, now)
        return due ? [[agent, due]] : []
      }),
    ),
    keyed: new Map(
      ask.keys.flatMap(({ agent, key }) => {
        const known = [...wakeups.values()].find((one) => one.agent === agent && one.idempotencyKey === key)
        return known ? [[keyedName(agent, key), copyOf(known)]] : []
      }),
    ),
    replies: new Map(
      ask.replies.flatMap((key) => {
        const stored = workspace.storedReplies.get(key)
        return stored ? [[key, stored]] : []
      }),
    ),
    sessions: [...workspace.taskSessions.values()].filter(({ agent }) => ask.sessionsOf.includes(agent)),
    others: new Map(ask.othersOf.map(({ runId, taskId }) => [runId, usedByOthers(workspace, runId, taskId)])),
    liveRuns: new Map(ask.liveRunsOf.map((agent) => [agent, liveRuns(workspace, agent).length])),
    stoppedAgents: stoppedAgents(workspace, now),
    usage: ask.usage && seeUsage(workspace, ask.usage, now),
  }
}

/** What all other runs and claims of its task used. */
function usedByOthers(workspace: Workspace, runId: string, meantFor: number | null): UsedByRuns {
  const taskId = workspace.runs.get(runId)?.taskId ?? meantFor
  return usedForTask(workspace, taskId, ({ sourceId }) => sourceId !== runId)
}

const newRuntime = (agent: string, adapterType: string, now: number): RuntimeState => ({
  ...{ agent, adapterType, sessionId: null, state: {} },
  ...{ lastRunId: null, lastRunStatus: null, lastError: null, runs: 0 },
  ...{
    totalInputTokens: 0,
    totalOutputTokens: 0,
    totalCachedInputTokens: 0,
    totalCostUsd: '0',
    unknownRuns: 0,
  },
  ...{ lastStartedAt: null, nextTimerAt: null, parkedUntil: null, updatedAt: now },
})

function aboutTask(workspace: Workspace, agent: string, taskId: number, now: number): AboutTask {
  const own = [...workspace.wakeups.values()].filter((one) => one.agent === agent)
  const about = own.filter((one) => one.taskId === taskId)
  const waiting = about.find(({ status }) => isQueued(status))
  const running = liveRuns(workspace, agent)
    .map((run) => ({ run, wakeup: run.wakeupId === null ? undefined : workspace.wakeups.get(run.wakeupId) }))
    .find(({ run, wakeup }) => wakeup && (taskId === 0 || (run.taskId ?? wakeup.taskId) === taskId))?.wakeup
  const counts = ({ source, isContinuation }: WakeupRecord) =>
    taskId === 0 ? source === 'automation' : !isContinuation
  return {
    waiting: waiting ? copyOf(waiting) : null,
    running: running ? copyOf(running) : null,
    recently: about.filter(
      (one) => counts(one) && wokeItsAgent(one.status) && one.requestedAt > now - HOUR_MS,
    ).length,
  }
}

function firstDue(workspace: Workspace, agent: string, now: number): FirstDue | null {
  const [first] = [...workspace.wakeups.open.values()]
    .filter((one) => one.agent === agent && isQueued(one.status) && one.dueAt <= now)
    .sort(inOrder)
  if (!first) return null
  const task = workspace.tasks.get(first.taskId)
  const live = liveRuns(workspace, agent)
  return {
    wakeup: copyOf(first),
    task: task ? copyOf(task) : null,
    isOffered: task?.holder?.isOffered === true,
    isWorkedOn: live.some((run) => run.taskId === task?.id && run.generation === task.generation),
    live: live.length,
  }
}

/** Two rows that a unique index of the database would not let be. */
class Conflict extends Error {
  override name = 'Conflict'
}

export function writeRuns(workspace: Workspace, changes: RunsChanges): void {
  const { wakeups, runs, runtime, taskSessions, parked } = workspace
  const changed = {
    wakeups: changes.wakeups.map(({ id, set }) => ({ ...wakeups.get(id)!, ...set })),
    runs: changes.runs.map(({ id, set }) => ({ ...runs.get(id)!, ...set })),
  }
  refuseDoubles(workspace, [...changes.newWakeups, ...changed.wakeups], [...changes.newRuns, ...changed.runs])
  for (const wakeup of [...changes.newWakeups, ...changed.wakeups]) wakeups.set(wakeup.id, wakeup)
  for (const run of [...changes.newRuns, ...changed.runs]) runs.set(run.id, run)
  for (const { id, set } of changes.runtime) runtime.set(id, { ...runtime.get(id)!, ...set })
  for (const { agent, taskKey } of changes.deletedSessions)
    for (const [key, session] of taskSessions)
      if (session.agent === agent && (taskKey === null || session.taskKey === taskKey))
        taskSessions.delete(key)
  for (const session of changes.sessions) {
    const key = sessionKey(session)
    const createdAt = taskSessions.get(key)?.createdAt ?? session.createdAt
    taskSessions.set(key, { ...session, createdAt })
  }
  for (const { credential, until } of changes.parked)
    parked.set(credential, Math.max(until, parked.get(credential) ?? 0))
  for (const { runId, told } of changes.told) workspace.invocations.set(runId, { told, call: null })
  for (const { runId, call } of changes.calls) {
    const kept = workspace.invocations.get(runId)
    if (kept) workspace.invocations.set(runId, { ...kept, call })
  }
  for (const runId of changes.deletedTold) workspace.invocations.delete(runId)
  for (const { runId, firstSeq, events } of changes.timelines) {
    const known = workspace.runEvents.get(runId) ?? []
    workspace.runEvents.set(runId, [...known.slice(0, firstSeq - 1), ...events])
  }
  for (const { runId, ...message } of changes.messages)
    workspace.messages.set(runId, [...(workspace.messages.get(runId) ?? []), message])
  for (const { runId, upTo } of changes.readMessages)
    workspace.messages.set(
      runId,
      (workspace.messages.get(runId) ?? []).filter(({ number }) => number > upTo),
    )
  for (const one of changes.spent) spend(workspace, one)
  writeUsage(workspace, changes.usage)
  for (const { key, ...stored } of changes.newReplies) workspace.storedReplies.set(key, stored)
}

const sessionKey = ({ agent, adapterType, taskKey }: TaskSession) =>
  JSON.stringify([agent, adapterType, taskKey])

/** Of equal wakeups one is queued, a key names one, and a claim has one live run: nothing is written otherwise. */
function refuseDoubles(
  workspace: Workspace,
  wakeups: readonly WakeupRecord[],
  runs: readonly RunRecord[],
): void {
  /** All other rows after the change. */
  function* others<T extends { id: string }>(rows: ReadonlyMap<string, T>, now: readonly T[], one: T) {
    for (const row of rows.values()) if (!now.some(({ id }) => id === row.id)) yield row
    for (const row of now) if (row.id !== one.id) yield row
  }
  const clashes = <T extends { id: string }>(
    rows: ReadonlyMap<string, T>,
    now: readonly T[],
    one: T,
    isSame: (row: T) => boolean,
  ) => {
    for (const row of others(rows, now, one)) if (isSame(row)) return true
    return false
  }
  for (const wakeup of wakeups) {
    const isSame = (row: WakeupRecord) =>
      row.agent === wakeup.agent &&
      ((isQueued(row.status) && isQueued(wakeup.status) && row.taskId === wakeup.taskId) ||
        (row.idempotencyKey !== null && row.idempotencyKey === wakeup.idempotencyKey))
    if (clashes(workspace.wakeups, wakeups, wakeup, isSame))
      throw new Conflict(`wakeup ${wakeup.id} is there already`)
  }
  for (const run of runs) {
    const isSame = (row: RunRecord) =>
      isLive(row.status) &&
      isLive(run.status) &&
      run.taskId !== null &&
      row.taskId === run.taskId &&
      row.generation === run.generation
    if (clashes(workspace.runs.open, runs, run, isSame))
      throw new Conflict(`the claim of run ${run.id} has another`)
  }
}
