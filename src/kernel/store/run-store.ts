import type { AgentRecord } from '../../kinds/agent/record.ts'
import type { AssignableTask, Candidate } from '../../kinds/agent/rules/assignment.ts'
import type { Blocked } from '../../kinds/budget/rules/room.ts'
import type { BlockingBudget } from '../../kinds/budget/rules/words.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { MissionRecord, PlanVersion } from '../../kinds/mission/record.ts'
import type { CostOfTask } from '../../kinds/mission/rules/command.ts'
import type { SkippedTask } from '../../kinds/mission/rules/retry.ts'
import type { ModelTierRecord } from '../../kinds/model-tier/record.ts'
import type { PriceRecord } from '../../kinds/price/record.ts'
import type { MissionMaterial, TaskMaterial } from '../../kinds/report/rules/material.ts'
import type { ReportAdded } from '../../kinds/report/rules/report.ts'
import type { RoutineRecord } from '../../kinds/routine/record.ts'
import type { Run, RuntimeState, RunWork, TaskSession } from '../../kinds/run/record.ts'
import type { SpentOnTask } from '../../kinds/run/rules/budget.ts'
import type { CallbackMessage } from '../../kinds/run/shapes/callbacks.ts'
import type { KeptInvocation } from '../../kinds/run/shapes/told.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import type { TaskState } from '../../pure/states.ts'
import type { CommentReads } from './comment-reads.ts'
import type { Followed } from './log-followers.ts'
import type { AnyStep, NextUpkeep, Store } from './store.ts'

/**
 * A store that holds runs: Postgres, and memory for tests and the simulation. Everything here only reads; every change goes
 * through `transact`.
 */
export interface RunStore extends Store<KindName>, Followed {
  /** A step on runs locks agents, their runtime states, wakeups and runs, in this order, and never tasks. */
  transact<T>(workspaceId: number, step: AnyStep<T>): Promise<T>
  readonly wakeups: WakeupReads
  readonly runs: RunReads
  readonly runtime: RuntimeReads
  readonly agents: {
    /** Contractors that have ended are left out, unless they are asked for. */
    list(
      workspaceId: number,
      filter: { slugs?: readonly string[] | undefined; withEnded?: boolean | undefined },
      limit: number,
    ): Promise<{ record: AgentRecord }[]>
    /** Contractors that are to be terminated with their mission, and those whose mission is open again. */
    contractorsToSettle(limit: number, only?: number): Promise<ContractorToSettle[]>
    /** Agents to check for missed heartbeats, and those that leave and hold nothing. */
    due(limit: number, only?: number): Promise<{ workspaceId: number; slug: string }[]>
  }
  readonly assignment: {
    /** Workspaces with agents that take assignments, and whether tasks are waiting there. */
    workspaces(only?: number): Promise<{ workspaceId: number; isWorkWaiting: boolean }[]>
    read(workspaceId: number): Promise<{ agents: Assignable[]; waiting: AssignableTask }>
    similarTo(workspaceId: number, taskId: number, limit: number): Promise<{ id: number; uuid: string }[]>
  }
  readonly missions: MissionReads
  readonly routines: RoutineReads
  readonly verifications: {
    /** The tasks that judged, or judge, results of a task; newest first. */
    of(workspaceId: number, taskId: number): Promise<TaskRecord[]>
    /** Those of these agents that hold a task which they took before this moment. */
    busySince(workspaceId: number, slugs: readonly string[], before: number): Promise<string[]>
    /** Open tasks that serve nothing: what they judge has moved on, or their mission is not being planned. */
    orphans(limit: number, only?: number): Promise<{ workspaceId: number; id: number; uuid: string }[]>
  }
  readonly budgets: BudgetReads
  /** The models that the workspace has named for tasks by their size. */
  readonly modelTiers: { list(workspaceId: number): Promise<ModelTierRecord[]> }
  /** What the workspace has set, by model. */
  readonly prices: { list(workspaceId: number): Promise<PriceRecord[]> }
  readonly projects: {
    /** How many tokens a changed line may take in it; null: as usual. */
    tokensPerLine(workspaceId: number, projectId: number): Promise<number | null>
  }
  readonly comments: CommentReads
  readonly reports: ReportReads
  readonly cluster: { nodesWithRuns(): Promise<NodeWithRuns[]> }
  readonly workspaces: { read(workspaceId: number): Promise<{ uuid: string; name: string }> }
  nextDue(): Promise<NextDue>
}

/**
 * When something is due, in all workspaces: what a node without work asks instead of running all its steps. Times are of the
 * monotonic clock of this process, a little early rather than late.
 */
export interface NextDue extends NextUpkeep {
  /** When the first queued wakeup is due; null: none is queued. */
  wakeupAt: number | null
  /** Whether a claim waits for the wakeup that continues it. */
  areClaimsWaiting: boolean
}

export interface ContractorToSettle {
  workspaceId: number
  slug: string
  missionId: number
}

/** What a report is about: a mission, or one of its tasks. */
export interface ReportSubject {
  missionId: number
  taskId: number | null
}

export interface StoredReport extends ReportSubject, Omit<ReportAdded, 'task' | 'missionId'> {
  id: number
  /** The outside ids of both. */
  mission: string
  task: string | null
}

/** The end of a task, or without a task of its mission, as the log has it. */
export interface EndInLog {
  seq: number
  missionId: number
  taskId: number | null
  type: string
  actor: string
  at: number
}

/** How many reports there are on a task by its number, or (0) on the mission, and the last end that one of them reports. */
export interface Reported {
  subject: number
  version: number
  endedSeq: number | null
}

interface ReportReads {
  /** Which of these ended tasks have a run that is not over: its cost is not known yet. After half a minute nobody waits for that. */
  settling(workspaceId: number, ends: readonly { taskId: number; at: number }[]): Promise<number[]>
  /** Of those that have reports. */
  reported(workspaceId: number, missionId: number, subjects: readonly number[]): Promise<Reported[]>
  materialOfTasks(workspaceId: number, taskIds: readonly number[]): Promise<TaskMaterial[]>
  materialOfMission(
    workspaceId: number,
    missionId: number,
    limit: number,
  ): Promise<Omit<MissionMaterial, 'mission'>>
  /** The accepted answer of a task. */
  acceptedAnswer(workspaceId: number, taskId: number): Promise<{ data: unknown } | null>
  /** The newest version, or this one. */
  newest(workspaceId: number, subject: ReportSubject, version?: number): Promise<StoredReport | null>
}

/** What a mission has to do: the mission itself, or for its tasks. */
export type TaskChore = 'hold' | 'cancel' | 'release' | 'retry'
type MissionChore = 'start' | 'settle' | 'budget' | 'snapshot' | 'planFailed' | TaskChore

export interface MissionToSettle {
  workspaceId: number
  missionId: number
  uuid: string
  chore: MissionChore
}

/** A task of the plan of a mission. */
export interface StoredPlanTask {
  id: number
  uuid: string
  tempId: string
  sequenceNumber: number
  state: TaskState
  generation: number
}

/** What upkeep and the flow of plans read of missions. */
interface MissionReads {
  /** An unused number for a new mission. */
  freshId(workspaceId: number): Promise<number>
  /** The tasks whose runs cost most. */
  costliest(workspaceId: number, missionId: number, limit: number): Promise<CostOfTask[]>
  toSettle(limit: number, only?: number): Promise<MissionToSettle[]>
  tasksFor(
    workspaceId: number,
    missionId: number,
    chore: TaskChore,
    limit: number,
  ): Promise<{ id: number; uuid: string }[]>
  /** Its skipped tasks, with what they depend on. */
  skipped(workspaceId: number, missionId: number): Promise<SkippedTask[]>
  find(workspaceId: number, missionId: number): Promise<MissionRecord | null>
  /** The newest task that plans, or planned, it. */
  newestPlanning(workspaceId: number, missionId: number): Promise<number | null>
  /** One version of its plan, with the plan itself. */
  plan(workspaceId: number, missionId: number, version: number): Promise<PlanVersion | null>
  /** Its tasks that come from its plan, in the order of the plan. */
  planTasks(workspaceId: number, missionId: number): Promise<StoredPlanTask[]>
}

/** What upkeep reads of budgets. */
interface BudgetReads {
  /** Those whose period is over, and those to be compared with the ledger. */
  due(limit: number, only?: number): Promise<{ workspaceId: number; budgetId: string }[]>
  /** Tasks that a budget stopped, or kept from beginning, which has room again or is gone. */
  toResume(limit: number, only?: number): Promise<{ workspaceId: number; id: number; uuid: string }[]>
  /** A budget, but not of its mission, under which no run of this agent at this task begins. */
  blocking(
    workspaceId: number,
    of: { agent: string; adapterType: string; taskId: number | null },
  ): Promise<(BlockingBudget & { why: Blocked }) | null>
  /** The number of the last report of a run that is booked; 0: none is. */
  lastReport(workspaceId: number, runId: string): Promise<number>
  /** Reservations of claims and runs that are over. */
  orphans(
    limit: number,
    only?: number,
  ): Promise<{ workspaceId: number; holderId: string; generation: number }[]>
}

export interface RoutineDue {
  workspaceId: number
  uuid: string
  /** Its time has come, or the mission before has ended; or that one is to be cancelled for the next. */
  chore: 'elapse' | 'replace'
}

/** What upkeep reads of routines. */
interface RoutineReads {
  /** An unused number for a new routine. */
  freshId(workspaceId: number): Promise<number>
  due(limit: number, only?: number): Promise<RoutineDue[]>
  /** With its plan. */
  find(workspaceId: number, routineId: number): Promise<RoutineRecord | null>
  /** Its missions that have not ended, and are not being cancelled. */
  underWay(workspaceId: number, routineId: number): Promise<string[]>
}

export interface DueWakeup {
  workspaceId: number
  id: string
  agent: string
}

export interface WaitingClaim {
  workspaceId: number
  agent: string
  uuid: string
  session: string
  generation: number
}

export interface DueTimer {
  workspaceId: number
  agent: string
  /** The due time that has passed; null: it only has to be set. */
  at: number | null
}

export interface WorkWithoutWakeup {
  workspaceId: number
  agent: string
  taskId: number
  uuid: string
  generation: number
  state: string
  depth: number
}

interface WakeupReads {
  /**
   * What a node could run now: due wakeups, per agent as many as it has free slots; and wakeups of agents that may not run,
   * so that they are skipped without further waiting. Workspaces share fairly.
   */
  due(nodeName: string, limit: number): Promise<DueWakeup[]>
  /** Claims to continue whose wakeup is still queued and whose lease is due for renewal. */
  waitingClaims(nodeName: string): Promise<WaitingClaim[]>
  /** Work that is assigned to agents that Baton runs, or is to be continued by them, without a wakeup or a run for it. */
  workWithout(workspaceId: number | null, limit?: number): Promise<WorkWithoutWakeup[]>
  /** Agents whose timer is due, not set yet, or further away than their current interval. */
  dueTimers(limit: number, only?: number): Promise<DueTimer[]>
}

/**
 * Why a run of this node should stop, if it should: it was cancelled, its agent may not work, or its claim has ended. A
 * claim that its own program ended by submitting is no loss: the program may still write some output. Or since when it is
 * suspected to hang.
 */
export interface RunToCheck {
  workspaceId: number
  runId: string
  cancelReason: string | null
  agentState: string | null
  /** Its agent was paused or terminated at once. */
  stopsRuns: boolean
  hasClaim: boolean
  claimEnd: string | null
  suspectedAt: number | null
  /** A budget that covers it, but not that of its mission, under which nothing goes on. */
  blockedBy: (BlockingBudget & { why: Blocked }) | null
  /** When a person last said something to its agent. */
  toldAt: number | null
}

/** A claim of an agent that Baton runs, which no run works on. */
export interface LostClaim {
  workspaceId: number
  agent: string
  uuid: string
  taskId: number
  generation: number
  session: string
}

export interface RunMessage {
  number: number
  message: CallbackMessage
}

interface RunReads {
  find(workspaceId: number, runId: string): Promise<Run | null>
  toCheck(nodeId: string): Promise<RunToCheck[]>
  /** Runs that these nodes left behind. */
  ofNodes(nodeIds: readonly string[]): Promise<Run[]>
  /** The finished ones among these runs. */
  finishedAmong(runIds: readonly string[]): Promise<{ id: string }[]>
  /** The messages of an agent that answers later, and which node has its run now; null: there is no such run. */
  messages(
    workspaceId: number,
    runId: string,
    after: number,
  ): Promise<{ nodeId: string | null; messages: RunMessage[] }>
  /** The number of the last event in the timeline of a run; 0: there is none. */
  lastEventSeq(workspaceId: number, runId: string): Promise<number>
  /** Claims of an agent that Baton runs which have no run: their node died before it could record what it had claimed. */
  claimsWithout(
    workspaceId: number,
    agent: string,
  ): Promise<{ uuid: string; taskId: number; generation: number; session: string }[]>
  /** The same of all agents: also a claim that was not released when its run was recovered. */
  claimsLeft(): Promise<LostClaim[]>
  /** Where a result was made: of the newest run of this generation. */
  madeIn(
    workspaceId: number,
    taskId: number,
    generation: number,
  ): Promise<{ agent: string; folder: unknown; node: string | null } | null>
  /** The runs of a task that had a folder, newest first. */
  workOf(workspaceId: number, taskId: number): Promise<RunWork[]>
  /** How many attempts at a task, before this generation, timed out. */
  timeoutsBefore(workspaceId: number, held: { taskId: number; generation: number }): Promise<number>
  /** The total usage of all runs of a task; null where none is known. */
  usageOfTask(workspaceId: number, taskId: number): Promise<SpentOnTask>
  /** What a run was told, until its log is deleted. */
  invocation(workspaceId: number, runId: string): Promise<KeptInvocation | null>
  /** Logs of runs that ended at least this long ago. */
  oldLogs(
    olderThanMs: number,
    limit: number,
  ): Promise<{ workspaceId: number; runId: string; logStore: string; logRef: string }[]>
}

interface RuntimeReads {
  state(workspaceId: number, agent: string): Promise<RuntimeState | null>
  /** Last used first. */
  taskSessions(
    workspaceId: number,
    agent: string,
    only?: { adapterType: string; taskKey: string } | null,
  ): Promise<TaskSession[]>
  /** Until when this credential is parked, if it is. */
  parkedUntil(workspaceId: number, credential: string): Promise<number | null>
}

/** An agent that work can be assigned to, and its session. */
export interface Assignable extends Candidate {
  /** The types of work it takes, if it lists some. */
  taskTypes?: readonly string[] | undefined
  session: string | null
  batchSize: number
}

export interface NodeWithRuns {
  nodeId: string
  pid: number
  host: string
  bootId: string | null
  pidStarted: string | null
  isSilentForLong: boolean
  /** It has shut down cleanly: all its runs have ended, or are left to other nodes. */
  isStopped: boolean
}
