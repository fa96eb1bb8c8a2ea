import type { NewComment } from '../../comment/record.ts'
import type { NewReport } from '../../report/rules/report.ts'
import type { NewTask, OnTask } from '../../task/command.ts'
import type { Actor } from '../../task/record.ts'
import type { PlanVersion } from '../record.ts'
import type { MissionConfig } from '../shapes/missions.ts'

/** A plan and its tasks: they are created if it is approved. */
export interface ProposedPlan {
  plan: Omit<PlanVersion, 'version' | 'proposedBy' | 'at'>
  tasks: readonly NewTask[]
}

/** The task that makes a plan. */
export interface PlanningTask extends NewTask {
  /** Of the agent that is named for it; null: nobody is, or it is not known. */
  plannerModel?: string | null | undefined
}

/** What the caller saw when it decided about a plan. */
interface SeenPlan {
  planVersion?: number | undefined
  digest?: string | undefined
}

/** What is said with a command: a comment of the mission. */
interface WithComment {
  said?: NewComment | undefined
}

export type MissionCommand =
  | {
      kind: 'create'
      id: number
      goal: string
      title: string
      description: string | null
      tags: readonly string[]
      priority: number
      projectId: number
      project: string | null
      config: MissionConfig
      startAt: number | null
      /** It begins when that mission has ended; whether it had when the caller looked. */
      after?: { id: number; uuid: string; hasEnded: boolean } | null | undefined
      /** Null: its plan is made by an agent. */
      proposed: ProposedPlan | null
      /** The task that makes the plan; null when a plan is given. */
      planning: PlanningTask | null
      /** Who approved the plan when it was saved as a routine. */
      approvedBy?: Actor | null | undefined
    }
  /** Its time has come: with the tasks of its plan, or the one that makes it. */
  | { kind: 'start'; tasks: readonly NewTask[]; planning: PlanningTask | null }
  /** A plan by its planner, or by a person. */
  | {
      kind: 'propose'
      proposed: ProposedPlan
      /** The newest version that the sender has seen. */
      seenVersion?: number | undefined
      /** The planner; without it, the sender. */
      proposedBy?: Actor | undefined
      /** The model that the planner used; null: it is not known. */
      plannerModel?: string | null | undefined
      /** The task that made the plan ends with it. */
      changes?: readonly OnTask[] | undefined
    }
  /** The planner gave up, its plans were not valid, or a plan that was valid when it was given cannot start. */
  | { kind: 'planFailed'; reason: string }
  | ({
      kind: 'approve'
      tasks: readonly NewTask[]
      changes: readonly OnTask[]
      comment: string | null
    } & SeenPlan &
      WithComment)
  | ({
      kind: 'reject'
      outcome: 'fail' | 'replan'
      planning: PlanningTask | null
      /** Of a mission that runs: the plan that it follows, as the caller read it. */
      followed?: PlanVersion | null | undefined
      comment: string | null
    } & SeenPlan &
      WithComment)
  /** A person decides about the outcome of a mission whose work is done: it ends, or what is missing is planned. */
  | ({ kind: 'accept' } & WithComment)
  | ({ kind: 'decline'; missing: string; planning: PlanningTask | null } & WithComment)
  | { kind: 'pause'; reason: string | null }
  | { kind: 'resume' }
  | { kind: 'cancel'; reason: string | null }
  /** Its failed tasks are to be done again. */
  | ({ kind: 'retry'; reason: string | null } & WithComment)
  /** Somebody has seen that it ended. */
  | { kind: 'seen' }
  | { kind: 'comment'; comment: NewComment }
  /** Reports on it and on its tasks; `seen` is how many there were when their versions were read. */
  | { kind: 'report'; seen: number; reports: readonly NewReport[] }
  /** All that was asked for at this time is under way. */
  | { kind: 'retried'; retryAt: number }
  /** Settings of a mission that has not ended; a larger budget opens the gate that a smaller one closed. */
  | { kind: 'update'; ifVersion: number | null; patch: MissionPatch }
  /** Its totals have changed: whether its budget is spent. */
  | { kind: 'checkBudget' }
  /** Its totals have grown: an event says so, with the tasks that cost most. */
  | { kind: 'snapshot'; byTask: readonly CostOfTask[] }
  /** Time passed, or its tasks ended: whatever follows from its counts happens now. */
  | { kind: 'settle' }

export interface CostOfTask {
  taskId: string
  tokens: number
  costUsd: string | null
}

interface MissionPatch {
  title?: string | undefined
  description?: string | null | undefined
  tags?: readonly string[] | undefined
  /** Null: none any more. */
  budget?: MissionConfig['budget'] | null
  maxParallel?: number | null | undefined
}
