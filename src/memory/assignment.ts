import type { Assignable, ContractorToSettle } from '../kernel/store/run-store.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { awaitsItsMission } from '../kinds/agent/rules/contractor.ts'
import { isEnd } from '../kinds/mission/states.ts'
import { isReservedOnly, policyOf } from '../kinds/run/rules/policy.ts'
import { heldTasks, type Workspace } from './workspace.ts'

/** What the coordinator reads to assign work. */

const takesAssignments = ({ coordinatorEnabled, state }: AgentRecord) =>
  coordinatorEnabled && state === 'idle'

const waitingIn = ({ tasks }: Workspace) => [...tasks.values()].filter(({ rank }) => rank !== null)

export const workspaceToAssignIn = (workspace: Workspace) =>
  [...workspace.agents.values()].some(takesAssignments)
    ? [{ workspaceId: workspace.id, isWorkWaiting: waitingIn(workspace).length > 0 }]
    : []

export function assignmentIn(workspace: Workspace, now: number) {
  const waiting = waitingIn(workspace)
  const held = (slug: string) => heldTasks(workspace).filter(({ agent }) => agent === slug).length
  const mayTake = (agent: AgentRecord) => {
    const { slug, health, staleMs, adapterType } = agent
    if (!takesAssignments(agent) || agent.leaving || !health) return false
    if (agent.maxConcurrentTasks !== null && held(slug) >= agent.maxConcurrentTasks) return false
    if (adapterType === 'external') return health.hasHeartbeat && health.lastSeenAt + staleMs > now
    const { enabled, wakeOnAssignment } = policyOf(agent.runtimeConfig)
    return enabled && wakeOnAssignment && (workspace.runtime.get(slug)?.parkedUntil ?? 0) <= now
  }
  const agents = [...workspace.agents.values()].filter(mayTake).map(
    ({ slug, capabilities, maxConcurrentTasks, batchSize, health, adapterType, ...agent }): Assignable => ({
      ...{ slug, capabilities, capacity: maxConcurrentTasks, batchSize, held: held(slug) },
      taskTypes: agent.taskTypes.length > 0 ? agent.taskTypes : undefined,
      session: adapterType === 'external' ? health!.session : null,
      isDegraded: health!.status === 'degraded',
      takes: adapterType === 'external' ? 'work' : 'all',
      isReservedOnly: isReservedOnly({ ...agent, adapterType }),
    }),
  )
  const reserved = new Map<string, number>()
  const isRun = (slug: string) => (workspace.agents.get(slug)?.adapterType ?? 'external') !== 'external'
  for (const { onlyAgent, purpose } of waiting)
    if (onlyAgent !== null && (purpose === 'work' || isRun(onlyAgent)))
      reserved.set(onlyAgent, (reserved.get(onlyAgent) ?? 0) + 1)
  const kinds = waiting
    .filter(({ onlyAgent }) => onlyAgent === null)
    .map(({ capabilities, purpose }) => ({ capabilities, isWork: purpose === 'work', waiting: 1 }))
  return { agents, waiting: { kinds, reserved } }
}

/** Waiting tasks of the same project, track, type and capabilities; in queue order. */
export function similarTo(workspace: Workspace, taskId: number, limit: number) {
  const like = workspace.tasks.get(taskId)!
  const typeOf = (id: number) => workspace.details.get(id)!.taskType
  return waitingIn(workspace)
    .filter(
      (task) =>
        task.onlyAgent === null &&
        task.projectId === like.projectId &&
        task.trackQueue === like.trackQueue &&
        task.missionId === like.missionId &&
        task.purpose === like.purpose &&
        task.capabilities.join('\n') === like.capabilities.join('\n') &&
        typeOf(task.id) === typeOf(taskId),
    )
    .sort((a, b) => a.rank! - b.rank! || a.id - b.id)
    .slice(0, limit)
    .map(({ id, uuid }) => ({ id, uuid }))
}

/** Agents to check for missed heartbeats, and those that leave and hold nothing. */
export const dueAgents = (workspace: Workspace, now: number) =>
  [...workspace.agents.values()]
    .filter(({ slug, leaving, health }) => {
      const isSilent = health?.dueAt != null && health.dueAt <= now
      return isSilent || (leaving && !heldTasks(workspace).some(({ agent }) => agent === slug))
    })
    .map(({ slug }) => ({ workspaceId: workspace.id, slug }))

/** As in Postgres (upkeep/contractors.ts). */
export function contractorsToSettle(workspace: Workspace): ContractorToSettle[] {
  const isBusy = (slug: string) =>
    heldTasks(workspace).some(({ agent }) => agent === slug) ||
    [...workspace.runs.open.values()].some(({ agent }) => agent === slug)
  return [...workspace.agents.values()].flatMap((agent) => {
    const { slug, missionId, mission, state } = agent
    if (missionId === null) return []
    const hasEnded = isEnd(workspace.missions.get(mission!)!.phase)
    const isDue = hasEnded ? state !== 'terminated' && !isBusy(slug) : awaitsItsMission(agent)
    return isDue ? [{ workspaceId: workspace.id, slug, missionId }] : []
  })
}

/** Contractors that have ended stay readable, and are no part of the roster. */
export const isListed = ({ kind, state }: AgentRecord) => kind === 'roster' || state !== 'terminated'
