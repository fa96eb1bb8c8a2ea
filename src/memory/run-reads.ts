import { roundRobin } from '../kernel/store/round-robin.ts'
import type {
  DueTimer,
  DueWakeup,
  RunToCheck,
  WaitingClaim,
  WorkWithoutWakeup,
} from '../kernel/store/run-store.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { scopeKeysOf } from '../kinds/budget/record.ts'
import { turned } from '../kinds/budget/rules/period.ts'
import { whyBlocked } from '../kinds/budget/rules/room.ts'
import { type Run, type RunRecord, SHOWN_RUN_FIELDS, type WakeupRecord } from '../kinds/run/record.ts'
import { policyOf } from '../kinds/run/rules/policy.ts'
import { isNotStarted, isQueued } from '../kinds/run/states.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { RENEW_FROM } from '../kinds/task/rules/retry.ts'
import { only } from '../pure/fields.ts'
import type { ClaimEnd } from '../pure/states.ts'
import { inOrder, liveRuns } from './run-changes.ts'
import { heldTasks, type Workspace } from './workspace.ts'

/** What drives runs, read from maps: the same questions as in store/postgres/runs, with the same answers. */

const isKept = ({ state }: AgentRecord) => state === 'paused' || state === 'terminated'

const mayRunOn = ({ runtimeConfig }: AgentRecord, nodeName: string) => {
  const { node } = (runtimeConfig ?? {}) as { node?: string }
  return (node ?? nodeName) === nodeName
}

const queuedWith = (workspace: Workspace) =>
  [...workspace.wakeups.open.values()].flatMap((wakeup) => {
    const agent = workspace.agents.get(wakeup.agent)
    return isQueued(wakeup.status) && agent ? [{ wakeup, agent }] : []
  })

/** Per agent as many as it has free slots; the first of the workspace first. */
function dueIn(workspace: Workspace, nodeName: string, now: number): WakeupRecord[] {
  const taken = new Map<string, number>()
  return queuedWith(workspace)
    .filter(({ wakeup, agent }) => {
      const parkedUntil = workspace.runtime.get(agent.slug)?.parkedUntil ?? 0
      return wakeup.dueAt <= now && mayRunOn(agent, nodeName) && (isKept(agent) || parkedUntil <= now)
    })
    .sort((a, b) => inOrder(a.wakeup, b.wakeup))
    .filter(({ agent }) => {
      const place = (taken.get(agent.slug) ?? 0) + 1
      taken.set(agent.slug, place)
      if (isKept(agent) || agent.maxConcurrentTasks === null) return true
      return place <= agent.maxConcurrentTasks - liveRuns(workspace, agent.slug).length
    })
    .map(({ wakeup }) => wakeup)
}

/** The workspace with the fewest runs comes next, and among those the one whose last run began longest ago. */
export function dueWakeups(
  workspaces: readonly Workspace[],
  nodeName: string,
  limit: number,
  now: number,
): DueWakeup[] {
  const due = workspaces.flatMap((workspace) => {
    const due = dueIn(workspace, nodeName, now)
    if (due.length === 0) return []
    const active = workspace.runs.open.size
    const lastBegan = [...workspace.runs.values()].at(-1)?.createdAt ?? Number.NEGATIVE_INFINITY
    return due.map((wakeup, place) => ({
      ...{ workspaceId: workspace.id, wakeup, load: active + place, lastBegan },
    }))
  })
  return due
    .sort((a, b) => a.load - b.load || a.lastBegan - b.lastBegan || inOrder(a.wakeup, b.wakeup))
    .slice(0, limit)
    .map(({ workspaceId, wakeup: { id, agent } }) => ({ workspaceId, id, agent }))
}

export const waitingClaims = (workspace: Workspace, nodeName: string, now: number): WaitingClaim[] =>
  queuedWith(workspace).flatMap(({ wakeup, agent }) => {
    const task = workspace.tasks.get(wakeup.taskId)
    const isWaiting =
      task?.state === 'continuing' && task.generation === wakeup.generation && task.agent === agent.slug
    if (!isWaiting || !mayRunOn(agent, nodeName)) return []
    if (task.leaseExpiresAt! > now + task.leaseMs * (1 - RENEW_FROM)) return []
    const { uuid, generation, session } = task
    return [{ workspaceId: workspace.id, agent: agent.slug, uuid, session: session!, generation }]
  })

/** What managed agents hold under their own session. */
const heldByManaged = (workspace: Workspace): { task: TaskRecord; agent: AgentRecord }[] =>
  heldTasks(workspace).flatMap((task) => {
    const agent = workspace.agents.get(task.agent!)
    const isOwn = agent && agent.adapterType !== 'external' && task.session === `agent:${agent.slug}`
    return isOwn ? [{ task, agent }] : []
  })

const isOffered = ({ holder }: TaskRecord) => holder?.isOffered === true

export const workWithoutWakeup = (workspace: Workspace): WorkWithoutWakeup[] =>
  heldByManaged(workspace)
    .filter(({ task }) => (task.state === 'assigned' && isOffered(task)) || task.state === 'continuing')
    .filter(
      ({ task, agent }) =>
        !queuedWith(workspace).some(
          ({ wakeup }) =>
            wakeup.agent === agent.slug && wakeup.taskId === task.id && wakeup.generation === task.generation,
        ) && !liveRuns(workspace, agent.slug).some(({ taskId }) => taskId === task.id || taskId === null),
    )
    .map(({ task, agent }) => ({
      ...{ workspaceId: workspace.id, agent: agent.slug, taskId: task.id, uuid: task.uuid },
      ...{ generation: task.generation, state: task.state },
      depth: [...workspace.runs.values()]
        .filter((run) => run.taskId === task.id && run.generation === task.generation)
        .reduce((most, { depth }) => Math.max(most, depth), 0),
    }))

export function dueTimers(workspaces: readonly Workspace[], limit: number, now: number): DueTimer[] {
  const due = workspaces.flatMap((workspace) =>
    [...workspace.agents.values()].flatMap((agent): DueTimer[] => {
      const { enabled, intervalSec } = policyOf(agent.runtimeConfig)
      if (!enabled || intervalSec === null || isKept(agent) || agent.leaving) return []
      if (agent.adapterType === 'external') return []
      const next = workspace.runtime.get(agent.slug)?.nextTimerAt ?? null
      const isDue = next !== null && next <= now
      // Further away than the interval: that was another interval.
      if (next !== null && !isDue && next <= now + intervalSec * 1001) return []
      return [{ workspaceId: workspace.id, agent: agent.slug, at: isDue ? next : null }]
    }),
  )
  return roundRobin(due, limit)
}

/** Ends of a claim that its own run brought about. */
const ENDED_BY_RUN: readonly (ClaimEnd | null)[] = [
  'COMPLETED',
  'SUBMITTED',
  'NEEDS_HUMAN',
  'CONTINUES_LATER',
]

export function runsToCheck(workspace: Workspace, nodeId: string, now: number): RunToCheck[] {
  const own = [...workspace.runs.open.values()].filter((run) => run.nodeId === nodeId)
  return own
    .map((run) => {
      const claim = workspace.claims
        .get(run.taskId ?? 0)
        ?.find(({ generation }) => generation === run.generation)
      const task = workspace.tasks.get(run.taskId ?? 0)
      const { timers = null, holder = null } = task?.generation === run.generation ? task : {}
      const isHeld = claim?.state === 'active' || ENDED_BY_RUN.includes(claim?.endReason ?? null)
      return {
        workspaceId: workspace.id,
        runId: run.id,
        cancelReason: run.cancelReason,
        agentState: workspace.agents.get(run.agent)?.state ?? null,
        stopsRuns: workspace.agents.get(run.agent)?.stopsRuns ?? false,
        hasClaim: run.taskId === null || isHeld,
        claimEnd: claim?.endReason ?? null,
        suspectedAt: timers?.suspectedAt ?? null,
        toldAt: holder?.messages?.at(-1)?.at ?? null,
        blockedBy: blockedBy(workspace, run, now),
      }
    })
    .filter(
      ({ cancelReason, agentState, stopsRuns, hasClaim, suspectedAt, toldAt, blockedBy }) =>
        blockedBy !== null ||
        suspectedAt !== null ||
        toldAt !== null ||
        cancelReason !== null ||
        agentState === null ||
        stopsRuns ||
        !hasClaim,
    )
}

/** A budget that covers the run, but not that of its mission, under which nothing goes on. */
export function blockedBy(
  workspace: Workspace,
  { agent, taskId, adapterType }: Pick<RunRecord, 'agent' | 'taskId' | 'adapterType'>,
  now: number,
) {
  const task = workspace.tasks.get(taskId ?? 0)
  const keys = scopeKeysOf({ agent, taskId, missionId: null, projectId: task?.projectId ?? 0 })
  for (const stored of workspace.plain.budget.values()) {
    if (!keys.includes(stored.scopeKey) || (adapterType === 'simulated' && stored.scope !== 'task')) continue
    const budget = turned(stored, workspace.limits.timeZone, now)
    const why = whyBlocked(budget)
    if (why) return { ...budget, why }
  }
  return null
}

export const claimsWithoutRun = (workspace: Workspace, slug: string) =>
  heldByManaged(workspace)
    .filter(({ task, agent }) => {
      if (agent.slug !== slug) return false
      if (task.state !== 'running' && (task.state !== 'assigned' || isOffered(task))) return false
      return !liveRuns(workspace, slug).some(
        (run) => isNotStarted(run.status) || (run.taskId === task.id && run.generation === task.generation),
      )
    })
    .map(({ task: { uuid, id: taskId, generation, session } }) => ({
      ...{ uuid, taskId, generation, session: session! },
    }))

export const shownRun = (workspaceId: number, record: RunRecord): Run => ({
  workspaceId,
  ...only(SHOWN_RUN_FIELDS, record),
})
