import { roundRobin } from '../kernel/store/round-robin.ts'
import type { NodeWithRuns, RunStore } from '../kernel/store/run-store.ts'
import type { AnyStep } from '../kernel/store/store.ts'
import { isBeingPlanned } from '../kinds/mission/rules/outcome.ts'
import type { RunRecord } from '../kinds/run/record.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { isTerminal } from '../pure/states.ts'
import {
  assignmentIn,
  contractorsToSettle,
  dueAgents,
  isListed,
  similarTo,
  workspaceToAssignIn,
} from './assignment.ts'
import { budgetsDue, orphanReservations, tasksToResume } from './budgets.ts'
import { findComment, listComments, unreadComments } from './comments.ts'
import { byId, costliest, missionsToSettle, planTasks, skippedIn, tasksFor } from './missions.ts'
import * as reports from './reports.ts'
import { findRoutine, routinesDue, underWay } from './routines.ts'
import { seeRuns, writeRuns } from './run-changes.ts'
import * as reads from './run-reads.ts'
import { MemoryStore } from './store.ts'
import { usageOfTask } from './used.ts'
import { copyOf, heldTasks, type Workspace } from './workspace.ts'

/** Tasks that serve others, in the memory store. */

const verificationsOf = ({ tasks }: Workspace, taskId: number): TaskRecord[] =>
  [...tasks.values()].filter(({ serves }) => serves?.taskId === taskId).sort((a, b) => b.id - a.id)

/** As in Postgres (upkeep/verifications.ts). */
const busySince = (workspace: Workspace, slugs: readonly string[], before: number): string[] => {
  const held = heldTasks(workspace).filter(({ acquiredAt }) => acquiredAt !== null && acquiredAt < before)
  return slugs.filter((slug) => held.some(({ agent }) => agent === slug))
}

/** As in Postgres (upkeep/verifications.ts). */
const orphanTasks = (workspace: Workspace) =>
  [...workspace.tasks.values()]
    .filter((task) => !isTerminal(task.state) && isOrphan(workspace, task))
    .map(({ id, uuid }) => ({ workspaceId: workspace.id, id, uuid }))

function isOrphan(workspace: Workspace, { purpose, serves, missionId }: TaskRecord): boolean {
  if (purpose === 'planning') return !isBeingPlanned(byId(workspace, missionId!)!)
  const judged = serves && workspace.tasks.get(serves.taskId)
  return (
    purpose === 'verification' && !(judged?.state === 'verifying' && judged.generation === serves!.generation)
  )
}

const newestPlanning = ({ tasks }: Workspace, id: number): number | null =>
  [...tasks.values()].filter(({ missionId, purpose }) => missionId === id && purpose === 'planning').at(-1)
    ?.id ?? null

/** A node, as it registered itself. */
export type KnownNode = Omit<NodeWithRuns, 'isSilentForLong' | 'isStopped'> & {
  lastSeenAt: number
  stopped: boolean
}

/** After this silence, a node is considered dead. */
const GIVEN_UP_AFTER_MS = 30_000
const ENOUGH_WAITING = 1_000
/** The number of a mission or a routine must not be that of a task. */
const BEYOND_TASKS = 1_000_000

/** The memory store with runs and wakeups, by the same rules as in Postgres. */
export class MemoryRunStore extends MemoryStore implements RunStore {
  readonly #nodes = new Map<string, KnownNode>()
  #lastNumber = BEYOND_TASKS

  override transact<T>(workspaceId: number, step: AnyStep<T>): Promise<T> {
    if (step.on === 'batch') return super.transact(workspaceId, step)
    const { reads, decide } = step
    const decideHere = (workspace: Workspace) => {
      const terms = this.leaderLease.lasting(reads.terms)
      const { answer, changes } = decide({ ...seeRuns(workspace, reads, this.now()), terms })
      const { events } = changes
      return { answer, events, tasksWaiting: false, write: () => writeRuns(workspace, changes) }
    }
    return this.changed(workspaceId, decideHere, reads.terms)
  }

  /** Something may always be due by time: what it is, is found at no cost here. */
  async nextDue() {
    let wakeupAt: number | null = null
    let areClaimsWaiting = false
    for (const { wakeups } of this.those(undefined))
      for (const { dueAt, generation } of wakeups.open.values()) {
        wakeupAt = Math.min(wakeupAt ?? dueAt, dueAt)
        areClaimsWaiting ||= generation !== null
      }
    return { upkeepAt: this.now(), isLogAhead: true, wakeupAt, areClaimsWaiting }
  }

  readonly wakeups: RunStore['wakeups'] = {
    due: async (nodeName, limit) => reads.dueWakeups(this.those(undefined), nodeName, limit, this.now()),
    waitingClaims: async (nodeName) =>
      this.those(undefined).flatMap((one) => reads.waitingClaims(one, nodeName, this.now())),
    workWithout: async (only, limit = ENOUGH_WAITING) =>
      roundRobin(this.those(only ?? undefined).flatMap(reads.workWithoutWakeup), limit),
    dueTimers: async (limit, only) => reads.dueTimers(this.those(only), limit, this.now()),
  }

  readonly budgets: RunStore['budgets'] = {
    due: async (limit, only) =>
      roundRobin(
        this.those(only).flatMap((one) => budgetsDue(one, this.now())),
        limit,
      ),
    toResume: async (limit, only) =>
      roundRobin(
        this.those(only).flatMap((one) => tasksToResume(one, this.now())),
        limit,
      ),
    blocking: async (workspaceId, { agent, adapterType, taskId }) =>
      reads.blockedBy(this.inside(workspaceId), { agent, adapterType, taskId }, this.now()),
    lastReport: async (workspaceId, runId) =>
      this.inside(workspaceId).usageSources.get(`${runId}/0`)?.number ?? 0,
    orphans: async (limit, only) =>
      this.those(only)
        .flatMap((one) => orphanReservations(one, this.now()))
        .slice(0, limit),
  }

  readonly modelTiers: RunStore['modelTiers'] = {
    list: async (workspaceId) => [...this.inside(workspaceId).plain.modelTier.values()],
  }

  readonly prices: RunStore['prices'] = {
    list: async (workspaceId) => [...this.inside(workspaceId).plain.price.values()],
  }

  readonly projects: RunStore['projects'] = {
    tokensPerLine: async (workspaceId, id) => {
      const projects = [...this.inside(workspaceId).plain.project.values()]
      return projects.find(({ projectId }) => projectId === id)?.tokensPerLine ?? null
    },
  }

  readonly comments: RunStore['comments'] = {
    list: async (workspaceId, ...asked) => listComments(this.inside(workspaceId), ...asked),
    find: async (workspaceId, ...asked) => findComment(this.inside(workspaceId), ...asked),
    unread: async (workspaceId, ...asked) => unreadComments(this.inside(workspaceId), ...asked),
  }

  readonly reports: RunStore['reports'] = {
    newest: async (workspaceId, ...asked) => reports.newestReport(this.inside(workspaceId), ...asked),
    settling: async (workspaceId, ends) => reports.settlingTasks(this.inside(workspaceId), ends, this.now()),
    reported: async (workspaceId, ...asked) => reports.reportedEnds(this.inside(workspaceId), ...asked),
    materialOfTasks: async (workspaceId, ids) => reports.materialOfTasks(this.inside(workspaceId), ids),
    materialOfMission: async (workspaceId, ...asked) =>
      reports.materialOfMission(this.inside(workspaceId), ...asked),
    acceptedAnswer: async (workspaceId, id) => reports.acceptedAnswer(this.inside(workspaceId), id),
    // Nothing here is older than the process.
  }

  readonly routines: RunStore['routines'] = {
    freshId: async () => ++this.#lastNumber,
    due: async (limit, only) =>
      roundRobin(
        this.those(only).flatMap((one) => routinesDue(one, this.now())),
        limit,
      ),
    find: async (workspaceId, id) => findRoutine(this.inside(workspaceId), id),
    underWay: async (workspaceId, id) => underWay(this.inside(workspaceId), id),
  }

  readonly missions: RunStore['missions'] = {
    freshId: async () => ++this.#lastNumber,
    planTasks: async (workspaceId, missionId) => planTasks(this.inside(workspaceId), missionId),
    costliest: async (workspaceId, missionId, limit) => costliest(this.inside(workspaceId), missionId, limit),
    toSettle: async (limit, only) =>
      roundRobin(
        this.those(only).flatMap((one) => missionsToSettle(one, this.now())),
        limit,
      ),
    tasksFor: async (workspaceId, missionId, chore, limit) =>
      tasksFor(this.inside(workspaceId), missionId, chore).slice(0, limit),
    newestPlanning: async (workspaceId, missionId) => newestPlanning(this.inside(workspaceId), missionId),
    skipped: async (workspaceId, missionId) => skippedIn(this.inside(workspaceId), missionId),
    find: async (workspaceId, missionId) => byId(this.inside(workspaceId), missionId) ?? null,
    plan: async (workspaceId, missionId, version) => {
      const workspace = this.inside(workspaceId)
      const plans = workspace.missionPlans.get(byId(workspace, missionId)?.uuid ?? '') ?? []
      return plans.find((plan) => plan.version === version) ?? null
    },
  }

  readonly verifications: RunStore['verifications'] = {
    of: async (workspaceId, taskId) =>
      verificationsOf(this.inside(workspaceId), taskId).map((task) => ({ ...task })),
    busySince: async (workspaceId, slugs, before) => busySince(this.inside(workspaceId), slugs, before),
    orphans: async (limit, only) => this.those(only).flatMap(orphanTasks).slice(0, limit),
  }

  readonly runs: RunStore['runs'] = {
    find: async (workspaceId, runId) => {
      const run = this.inside(workspaceId).runs.get(runId)
      return run ? reads.shownRun(workspaceId, run) : null
    },
    toCheck: async (nodeId) =>
      this.those(undefined).flatMap((one) => reads.runsToCheck(one, nodeId, this.now())),
    ofNodes: async (nodeIds) => this.#live(({ nodeId }) => nodeIds.includes(nodeId)),
    finishedAmong: async (runIds) =>
      this.those(undefined).flatMap(({ runs }) =>
        runIds.flatMap((id) => (runs.get(id)?.finishedAt == null ? [] : [{ id }])),
      ),
    messages: async (workspaceId, runId, after) => {
      const { runs, messages } = this.inside(workspaceId)
      const found = (messages.get(runId) ?? []).filter(({ number }) => number > after)
      return { nodeId: runs.get(runId)?.nodeId ?? null, messages: found.map(copyOf) }
    },
    lastEventSeq: async (workspaceId, runId) => this.inside(workspaceId).runEvents.get(runId)?.length ?? 0,
    claimsWithout: async (workspaceId, agent) => reads.claimsWithoutRun(this.inside(workspaceId), agent),
    claimsLeft: async () =>
      this.those(undefined).flatMap((workspace) =>
        [...workspace.agents.keys()].flatMap((agent) =>
          reads.claimsWithoutRun(workspace, agent).map((claim) => ({
            ...claim,
            workspaceId: workspace.id,
            agent,
          })),
        ),
      ),
    madeIn: async (workspaceId, taskId, generation) => {
      const ofIt = [...this.inside(workspaceId).runs.values()].findLast(
        (run) => run.taskId === taskId && run.generation === generation && run.folder !== null,
      )
      return ofIt ? { agent: ofIt.agent, folder: ofIt.folder, node: null } : null
    },
    workOf: async (workspaceId, taskId) =>
      [...this.inside(workspaceId).runs.values()]
        .filter((run) => run.taskId === taskId && run.folder !== null)
        .map(({ id, agent, status, nodeId, folder, finishedAt, generation }) => ({
          ...{ id, agent, status, nodeId, folder: structuredClone(folder), finishedAt },
          ...{ generation: generation!, node: null },
        }))
        .reverse(),
    timeoutsBefore: async (workspaceId, { taskId, generation }) => {
      const timedOut = [...this.inside(workspaceId).runs.values()].filter(
        (run) => run.taskId === taskId && run.generation! < generation && run.errorCode === 'timeout',
      )
      return new Set(timedOut.map((run) => run.generation)).size
    },
    usageOfTask: async (workspaceId, taskId) => usageOfTask(this.inside(workspaceId), taskId),
    invocation: async (workspaceId, runId) => this.inside(workspaceId).invocations.get(runId) ?? null,
    oldLogs: async (olderThanMs, limit) =>
      this.those(undefined)
        .flatMap(({ id: workspaceId, runs }) =>
          [...runs.values()].flatMap(({ id: runId, logStore, logRef, logGoneAt, finishedAt }) => {
            const isOld = finishedAt !== null && finishedAt < this.now() - olderThanMs
            return isOld && logRef !== null && logGoneAt === null
              ? [{ workspaceId, runId, logStore: logStore!, logRef }]
              : []
          }),
        )
        .slice(0, limit),
  }

  readonly runtime: RunStore['runtime'] = {
    state: async (workspaceId, agent) => {
      const state = this.inside(workspaceId).runtime.get(agent)
      return state ? copyOf(state) : null
    },
    taskSessions: async (workspaceId, agent, only = null) =>
      [...this.inside(workspaceId).taskSessions.values()]
        .filter(
          (session) =>
            session.agent === agent &&
            (only === null || (session.adapterType === only.adapterType && session.taskKey === only.taskKey)),
        )
        .sort((a, b) => b.updatedAt - a.updatedAt)
        .map(copyOf),
    parkedUntil: async (workspaceId, credential) => {
      const until = this.inside(workspaceId).parked.get(credential) ?? 0
      return until > this.now() ? until : null
    },
  }

  readonly agents: RunStore['agents'] = {
    list: async (workspaceId, { slugs, withEnded }, limit) =>
      [...this.inside(workspaceId).agents.values()]
        .filter((agent) => (withEnded || isListed(agent)) && (!slugs || slugs.includes(agent.slug)))
        .slice(0, limit)
        .map((record) => ({ record: copyOf(record) })),
    due: async (limit, only) =>
      roundRobin(
        this.those(only).flatMap((one) => dueAgents(one, this.now())),
        limit,
      ),
    contractorsToSettle: async (limit, only) =>
      roundRobin(this.those(only).flatMap(contractorsToSettle), limit),
  }

  readonly assignment: RunStore['assignment'] = {
    workspaces: async (only) => this.those(only).flatMap(workspaceToAssignIn),
    read: async (workspaceId) => assignmentIn(this.inside(workspaceId), this.now()),
    similarTo: async (workspaceId, taskId, limit) => similarTo(this.inside(workspaceId), taskId, limit),
  }

  readonly cluster = {
    nodesWithRuns: async () => {
      const busy = new Set(this.#live(() => true).map(({ nodeId }) => nodeId))
      return [...busy].map((nodeId): NodeWithRuns => {
        const node = this.#nodes.get(nodeId)
        const unknown = { pid: 0, host: '', bootId: null, pidStarted: null }
        if (!node) return { nodeId, ...unknown, isSilentForLong: true, isStopped: false }
        const { lastSeenAt, stopped, ...known } = node
        const isSilentForLong = stopped || lastSeenAt < this.now() - GIVEN_UP_AFTER_MS
        return { ...known, isSilentForLong, isStopped: stopped }
      })
    },
    /** A new node, a heartbeat of a known one, or its last word. */
    nodeIsSeen: (node: Omit<KnownNode, 'lastSeenAt' | 'stopped'>, stopped = false) => {
      this.#nodes.set(node.nodeId, { ...node, stopped, lastSeenAt: this.now() })
    },
  }

  readonly workspaces: RunStore['workspaces'] = {
    read: async (workspaceId) => ({ uuid: String(workspaceId), name: String(workspaceId) }),
  }

  #live = (isWanted: (run: RunRecord) => boolean) =>
    this.those(undefined).flatMap(({ id, runs }) =>
      [...runs.open.values()].filter(isWanted).map((run) => reads.shownRun(id, run)),
    )
}
