import type { AgentRecord } from '../../agent/record.ts'
import { workspaceEvent } from '../../events.ts'
import { type RunRecord, type RuntimeState, shownWakeup, type Wakeup, type WakeupRecord } from '../record.ts'
import { movedRun, movedWakeup, NEW } from '../states.ts'
import { statusChange } from './agent-status.ts'
import { type DispatchDecision, decideDispatch, type TaskHold } from './dispatch.ts'
import {
  changedRuntime,
  type FirstDue,
  NOTHING_ASKED,
  NOTHING_CHANGED,
  type RunsChanges,
  type RunsStep,
  unchanged,
} from './step.ts'
import { PRIORITY_OF, type SkipReason } from './wakeups.ts'

/** From a queued wakeup to a run. */

export interface Taken {
  decision: DispatchDecision
  /** With the claim that its agent holds by now, if any. */
  wakeup: Wakeup
  agent: AgentRecord
  /** What the agent keeps between its runs with this adapter. */
  agentState: Record<string, unknown>
}

/** The run that is to begin. */
export interface RunIdentity {
  runId: string
  nodeId: string
  tokenHash: string
}

/**
 * Turns the first due wakeup of an agent into a run, before anything is started. The wakeup is selected under the lock,
 * since an earlier read may have seen another. Null: none is left.
 */
export const takeWakeup = (slug: string, run: RunIdentity): RunsStep<Taken | null> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, agents: [slug], wakeups: { about: [], firstDueOf: [slug] } },
  decide({ now, agents, runtime, firstDue, stoppedAgents }) {
    const agent = agents.get(slug)
    const due = firstDue.get(slug)
    if (!agent || !due) return unchanged(null)
    const kept = runtime.get(slug)
    const standing = standingOf(due, now)
    const wakeup = { ...due.wakeup, generation: standing === 'held' ? due.task!.generation : null }
    const decision = decideDispatch({
      ...{ now, agent, active: due.live, standing, isStopped: stoppedAgents.has(slug) },
      lastStartedAt: kept?.lastStartedAt ?? null,
      isAskedFor: due.wakeup.priority === PRIORITY_OF.on_demand,
    })
    const agentState = stateFor(agent, kept)
    const answer = { decision, wakeup: shownWakeup(wakeup), agent, agentState: agentState ?? {} }
    const whose = { agent, agentState, live: due.live }
    return { answer, changes: changesOf(decision, wakeup, whose, run, now) }
  },
})

/** Whether there is still something to do for the task of the wakeup. */
function standingOf({ wakeup, task, isOffered, isWorkedOn }: FirstDue, now: number): TaskHold {
  if (wakeup.taskId === 0) return 'none'
  if (!task) return 'gone'
  const isOwn =
    task.claimState === 'active' &&
    task.agent === wakeup.agent &&
    // A managed agent holds all its claims under this session.
    task.session === `agent:${wakeup.agent}`
  // A claim that was neither offered nor named by the wakeup was made by another run, which is about to begin.
  const isForThisRun = isOffered || wakeup.generation === task.generation
  const isWaiting = (task.state === 'assigned' && isForThisRun) || task.state === 'continuing'
  if (isOwn && isWaiting && !isWorkedOn) return 'held'
  const isDue = task.dueAt !== null && task.dueAt <= now
  const isFree = task.state === 'queued' || (task.state === 'awaiting_retry' && isDue)
  return wakeup.generation === null && isFree ? 'free' : 'gone'
}

/** Null: what is kept is of another adapter, and means nothing to this one. */
const stateFor = (agent: AgentRecord, kept: RuntimeState | undefined) =>
  kept?.adapterType === agent.adapterType ? (kept.state as Record<string, unknown>) : null

interface Whose {
  agent: AgentRecord
  agentState: Record<string, unknown> | null
  /** Its live runs before this one. */
  live: number
}

function changesOf(
  decision: DispatchDecision,
  wakeup: WakeupRecord,
  whose: Whose,
  run: RunIdentity,
  now: number,
): RunsChanges {
  if (decision.kind === 'skip') return skipped(wakeup, decision.because, now)
  if (decision.kind === 'later')
    return { ...NOTHING_CHANGED, wakeups: [{ id: wakeup.id, set: { dueAt: decision.at } }] }
  return decision.kind === 'run' ? begun(wakeup, whose, run, now) : NOTHING_CHANGED
}

function skipped(wakeup: WakeupRecord, because: SkipReason, now: number): RunsChanges {
  const { id, agent, source, reason, taskUuid, status } = wakeup
  const set = {
    status: movedWakeup('wakeup_skipped', status, 'skipped'),
    skipReason: because,
    finishedAt: now,
  }
  const payload = { agent, wakeupId: id, source, reason, taskId: taskUuid, because }
  return {
    ...NOTHING_CHANGED,
    wakeups: [{ id, set }],
    events: [workspaceEvent('wakeup_skipped', payload, { actor: 'system', now })],
  }
}

function begun(
  wakeup: WakeupRecord,
  { agent, agentState, live }: Whose,
  identity: RunIdentity,
  now: number,
): RunsChanges {
  const { runId } = identity
  const { source, reason, taskUuid } = wakeup
  const payload = { runId, agent: agent.slug, taskId: taskUuid, source, reason }
  const status = movedWakeup('run_queued', wakeup.status, 'claimed')
  return {
    ...NOTHING_CHANGED,
    newRuns: [newRun(wakeup, agent, identity, now)],
    wakeups: [{ id: wakeup.id, set: { status, claimedAt: now, runId } }],
    runtime: [
      changedRuntime('run_queued', agent.slug, {
        ...{ lastStartedAt: now, adapterType: agent.adapterType },
        ...(agentState === null && { state: {} }),
      }),
    ],
    events: [
      workspaceEvent('run_queued', payload, { actor: `agent:${agent.slug}`, now }),
      ...statusChange(agent, { before: live, after: live + 1 }, now),
    ],
  }
}

const newRun = (
  { id, source, triggerDetail, reason, depth }: WakeupRecord,
  agent: AgentRecord,
  { runId, nodeId, tokenHash }: RunIdentity,
  now: number,
): RunRecord => ({
  ...{ id: runId, agent: agent.slug, agentId: agent.uuid, adapterType: agent.adapterType },
  ...{ wakeupId: id, source, triggerDetail, reason, depth, nodeId, tokenHash },
  status: movedRun('run_queued', NEW, 'queued'),
  ...{ errorCode: null, errorMessage: null, cancelReason: null, exitCode: null, signal: null },
  ...{ taskUuid: null, taskId: null, generation: null, attempt: null, session: null },
  ...{ bootId: null, pid: null, pidStarted: null, provider: null, model: null },
  ...{ inputTokens: null, cachedInputTokens: null, outputTokens: null, costUsd: null, usageBasis: null },
  costBasis: null,
  cachedOutputTokens: null,
  ...{ bookedTokens: 0, bookedUsd: null, isBooked: false },
  ...{ promptedTaskComment: null, toldMissionComment: null, awaiting: null, answerDueAt: null },
  ...{ sessionIdBefore: null, sessionIdAfter: null, statusMessage: null, statusColor: null },
  ...{ summary: null, result: null, folder: null, stdoutExcerpt: null, stderrExcerpt: null },
  ...{ logStore: null, logRef: null, logBytes: null, logSha256: null },
  ...{ logCompressed: false, logTruncated: false, logGoneAt: null },
  ...{ createdAt: now, startedAt: null, finishedAt: null },
})
