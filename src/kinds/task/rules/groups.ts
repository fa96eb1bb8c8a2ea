import type { ClaimMetadata } from './claim-request.ts'

/**
 * What few tasks have, in groups by what it is for. A group is null when nothing in it is set. All of them are stored in one
 * column, `watch`, with the same names (kernel/store/watch-column.ts).
 */
export interface TaskGroups {
  timers: TaskTimers | null
  continuation: Continuation | null
  modelUse: ModelUse | null
  agentChoice: AgentChoice | null
  holder: HolderNotes | null
  attention: Attention | null
  children: Children | null
  /** The commit of the work that was submitted with its present result. */
  resultCommit: string | null
}

/** How long it may take, and how far it is. Times that are missing are those of the workspace. */
export interface TaskTimers {
  /** How long the task is expected to take, as estimated by its creator. */
  readonly estimateMs?: number | undefined
  /** Assigned by the coordinator, it must be started within this time. */
  readonly assignMs?: number | undefined
  /** The longest silence of a holder. */
  readonly stallMs?: number | undefined
  readonly verifyMs?: number | undefined
  /** How far it may exceed `doneBy` before it is suspected to hang, and how long without progress from then on. */
  readonly hangGraceMs?: number | undefined
  readonly hangAbortMs?: number | undefined
  /** The wait before its second attempt; each further one is twice as long. */
  readonly retryBaseMs?: number | undefined
  /** How long one attempt may take, from its start. */
  readonly attemptMs?: number | undefined
  /** How many of its attempts took too long: the next one gets more time. */
  readonly timeouts?: number | undefined
  /** When the present attempt must be over. */
  readonly attemptEndsAt?: number | undefined
  /** When it will be done, according to its holder or its estimate. */
  readonly doneBy?: number | undefined
  /** The last report of progress; being alive is not progress. */
  readonly progressAt?: number | undefined
  /** When it was first suspected to hang. */
  readonly suspectedAt?: number | undefined
  /**
   * The time for all attempts together. Its clock runs from the first time the task is queued, and stops while a person has it
   * (paused, in review, over its budget) and while the gate of its mission is closed.
   */
  readonly deadlineMs?: number | undefined
  /** While that clock runs: when the time is over, unless the gate of its mission closes until then. */
  readonly deadlineAt?: number | undefined
  /** How long that gate had been closed in all when `deadlineAt` was set. */
  readonly closedMs?: number | undefined
  /** While that clock is stopped: the rest of the time. */
  readonly deadlineLeftMs?: number | undefined
  /** How much is left of the time for its verdict; missing before it was first looked at. */
  readonly verdictLeftMs?: number | undefined
  /** That time is over: who should judge is waited for only while it is busy. */
  readonly isVerdictLate?: true | undefined
  /** How much was left of the time it waited for when the gate of its mission was closed. */
  readonly clockMs?: number | undefined
  /** Its expiry, moved because the gate of its mission was closed. */
  readonly expiresAt?: number | undefined
}

/** A budget that stopped a task. */
interface StoppingBudget {
  readonly budgetId: string
  /** The budget is an item of the inbox itself: then its tasks are none. */
  readonly asks?: boolean | undefined
  /** False: it was never begun under it. Then it waits until the budget is another one than it was. */
  readonly hadBegun: boolean
  /** The version of that budget, and when its period began. */
  readonly seen?: string | undefined
}

/** How it continues what was begun, and after what. */
export interface Continuation {
  /** This generation continues the attempt before it: after a question, a pause or a budget stop. */
  readonly goesOn?: { readonly generation: number } | undefined
  /** It continues when these tasks have ended, whatever else it once depended on. */
  readonly goesOnAfter?: readonly number[] | undefined
  /** Already continued: its earlier dependencies no longer block it. */
  readonly wentOnAfter?: true | undefined
  /** Each attempt starts over: from the base, in a new session. */
  readonly isFresh?: boolean | undefined
  /** This generation and later ones take over no work, and no session, of earlier ones. */
  readonly freshFrom?: number | undefined
  /** It is paused because its mission is closed, and continues with it. */
  readonly pausedByMission?: boolean | undefined
  /** Since when. */
  readonly pausedAt?: number | undefined
  /** The budget that stopped it, or has too little left for it to begin: when that has room again, it continues. */
  readonly overBudget?: StoppingBudget | undefined
}

interface ModelUse {
  /** How many times the next attempt was to use another model. */
  readonly modelSwitches?: number | undefined
  /** The fallback that was used last. */
  readonly usedModel?: string | undefined
}

/** Which agent is to have it next, while any may. */
export interface AgentChoice {
  /** The agent that its plan prefers: each time it is queued, it is reserved for that one for a while. */
  readonly prefers?: string | undefined
  /** Until then it is reserved for the agent that knows it, and for nobody after. */
  readonly preferredUntil?: number | undefined
  /** After work that was not good enough, another agent goes first: not this one. */
  readonly otherAgentOnRetry?: boolean | undefined
  readonly avoidedAgent?: string | undefined
}

/** A comment that is for the present holder, too. */
interface HolderMessage {
  readonly commentId: string
  readonly text: string
  readonly at: number
}

/** What is known of the holder of its newest claim. */
export interface HolderNotes {
  /** The claim was made by the coordinator, and its agent has neither started nor claimed it itself. */
  readonly isOffered?: boolean | undefined
  /** The holder is a run of this Baton, whose node hears what the agent does: renewals of the node say nothing of that. */
  readonly isRun?: true | undefined
  /** What it said about itself. */
  readonly claimMetadata?: ClaimMetadata | undefined
  /** What people said to it while it works, the last ones; oldest first. */
  readonly messages?: readonly HolderMessage[] | undefined
  /** How its program exited, if the attempt failed. */
  readonly exitCode?: number | undefined
}

/** A question of a holder that is not answered yet. */
export interface OpenQuestion {
  readonly question: string
  /** Empty: any answer is possible. */
  readonly options: readonly string[]
  /** The agent. */
  readonly askedBy: string
  readonly askedAt: number
}

/** What people are to look at, or have asked for. */
export interface Attention {
  /** It waits for the answer of a person. */
  readonly asks?: OpenQuestion | undefined
  /** A person asked for another verdict on the result of this generation: by this agent, or by any. */
  readonly judging?:
    | { readonly generation: number; readonly round: number; readonly agent: string | null }
    | undefined
  /** It failed because its attempts or generations ran out, and nobody has decided about that. */
  readonly isDeadLetter?: true | undefined
  /** It is queued and nobody takes it: why, as people were told. */
  readonly alert?: string | undefined
}

/** Its place among the tasks that agents add. */
interface Children {
  /** An agent added it: 1, or more if an agent added the task of that agent. */
  readonly childDepth?: number | undefined
  /** An agent added it below a task of no mission: the first one, which counts all that are below it. */
  readonly childRoot?: ChildRoot | undefined
  /** How many tasks agents added below it. */
  readonly childCount?: number | undefined
}

export interface ChildRoot {
  readonly id: number
  readonly uuid: string
}

/** The group with the members of another. */
export const withMore = <G extends object>(group: G | null, more: G | null): G | null =>
  more === null ? group : { ...group, ...more }

/** The group without these members: the same object if it has none of them, null if nothing else is in it. */
export function without<G extends object>(group: G | null, ...names: (keyof G)[]): G | null {
  if (group === null || !names.some((name) => name in group)) return group
  const rest = { ...group }
  for (const name of names) delete rest[name]
  return Object.keys(rest).length === 0 ? null : rest
}
