import type { AgentRecord } from '../../agent/record.ts'
import type { EventWithOrigin } from '../../events.ts'
import type { ReplyAsStored } from '../../replies.ts'
import type { TaskRecord } from '../../task/record.ts'
import { NO_USAGE, type SeenUsage, type UsageAsk, type UsageChanges } from '../../usage/rules/step.ts'
import type { RunRecord, RuntimeState, TaskSession, WakeupRecord } from '../record.ts'
import type { CallbackMessage } from '../shapes/callbacks.ts'
import type { AgentCall, Told } from '../shapes/told.ts'
import { RUNTIME_CHANGES } from '../states.ts'

/**
 * What a change of runs and wakeups asks for, sees and writes. A store locks what is asked for (agents, their
 * runtime states, wakeups, runs), reads its clock after the locks, lets a rule decide, and writes the changes with their
 * events. It never locks tasks: what a rule needs of them is only read, and claims, starts and results are earlier commits.
 */

export interface RunsAsk {
  /** Kept, and their runtime states locked: all changes about one agent happen one after the other. */
  agents: readonly string[]
  /** Runs to change, each with its wakeup. */
  runs: readonly string[]
  wakeups: {
    /** What is queued, running and recently requested for these agents about these tasks; 0: about none. */
    about: readonly { agent: string; taskId: number }[]
    /** The first due wakeup of each of these agents, with its task. */
    firstDueOf: readonly string[]
  }
  /** Idempotency keys under which a wakeup may be known. */
  keys: readonly { agent: string; key: string }[]
  /** Idempotency keys of requests. */
  replies: readonly string[]
  /** Which adapter sessions these agents have. */
  sessionsOf: readonly string[]
  /** Runs whose task is asked for what its other runs used; the task that a run was meant for, if it has not begun. */
  othersOf: readonly { runId: string; taskId: number | null }[]
  /** How many runs of these agents are live. */
  liveRunsOf: readonly string[]
  /** What is booked of a source, and the budgets that cover it. */
  usage: UsageAsk | null
  /** Leader terms, under which the coordinator acts: they last until this is written. */
  terms: readonly number[]
}

export const NOTHING_ASKED: RunsAsk = {
  agents: [],
  runs: [],
  wakeups: { about: [], firstDueOf: [] },
  keys: [],
  replies: [],
  sessionsOf: [],
  othersOf: [],
  liveRunsOf: [],
  usage: null,
  terms: [],
}

/** What a rule sees of the task of a wakeup. */
type TaskGlimpse = Pick<TaskRecord, 'state' | 'generation' | 'dueAt' | 'claimState' | 'agent' | 'session'>

export interface FirstDue {
  wakeup: WakeupRecord
  /** Null: it has none. */
  task: TaskGlimpse | null
  /** The claim of its task was made by the coordinator, and nobody has taken it up. */
  isOffered: boolean
  /** The claim of its task has a live run. */
  isWorkedOn: boolean
  /** How many runs of its agent are live. */
  live: number
}

export interface AboutTask {
  /** The queued wakeup. */
  waiting: WakeupRecord | null
  /** The wakeup of a live run; about no task: of any. */
  running: WakeupRecord | null
  /** How often the agent was woken within the last hour, as far as the rate cap counts it. */
  recently: number
}

export type SessionKey = Pick<TaskSession, 'agent' | 'adapterType' | 'taskKey'>

export interface RunsView {
  /** The store's clock, read after the locks. */
  now: number
  agents: ReadonlyMap<string, AgentRecord>
  runtime: ReadonlyMap<string, RuntimeState>
  runs: ReadonlyMap<string, RunRecord>
  /** The wakeups of these runs. */
  wakeups: ReadonlyMap<string, WakeupRecord>
  about: ReadonlyMap<string, AboutTask>
  firstDue: ReadonlyMap<string, FirstDue>
  /** By `keyedName`. */
  keyed: ReadonlyMap<string, WakeupRecord>
  /** Those of `RunsAsk.replies` under which an answer is stored. */
  replies: ReadonlyMap<string, { bodyHash: string; reply: ReplyAsStored }>
  sessions: readonly SessionKey[]
  /** What all other runs of its task used, by run. Nobody else changes it until this is written. */
  others: ReadonlyMap<string, UsedByRuns>
  /** By agent. Nobody else begins or ends runs of theirs until this is written. */
  liveRuns: ReadonlyMap<string, number>
  /** Agents that were asked about under whose budget, or that of the workspace, nothing begins. */
  stoppedAgents: ReadonlySet<string>
  /** Null: it was not asked for. */
  usage: SeenUsage | null
  /** Those of `RunsAsk.terms` that are current. */
  terms: ReadonlySet<number>
}

export interface UsedByRuns {
  tokens: number
  costUsd: string | null
}

export const aboutName = (agent: string, taskId: number) => `${agent}/${taskId}`
export const keyedName = (agent: string, key: string) => `${agent}/${key}`

/** Some fields of a stored record. */
export interface FieldsOf<T> {
  id: string
  set: Partial<T>
}

export interface RunsChanges {
  newWakeups: readonly WakeupRecord[]
  wakeups: readonly FieldsOf<WakeupRecord>[]
  newRuns: readonly RunRecord[]
  runs: readonly FieldsOf<RunRecord>[]
  /** By agent. */
  runtime: readonly FieldsOf<RuntimeState>[]
  /** Replaces what is stored under the same key; the time of creation stays. */
  sessions: readonly TaskSession[]
  /** The sessions of an agent, or the one under this key. */
  deletedSessions: readonly { agent: string; taskKey: string | null }[]
  /** A credential stays parked until the latest of these times. */
  parked: readonly { credential: string; until: number }[]
  /** What runs are told as they begin. It is read alone, and deleted with their log. */
  told: readonly { runId: string; told: Told }[]
  /** How the agents of runs were called, kept with what they were told. */
  calls: readonly { runId: string; call: AgentCall }[]
  /** Runs of which what they were told is deleted. */
  deletedTold: readonly string[]
  /** What is added to the timelines of runs. One process writes and numbers that of a run; the same number again adds nothing. */
  timelines: readonly { runId: string; firstSeq: number; events: readonly NewRunEvent[] }[]
  /** Messages of agents that answer later, numbered by run; and up to which they are no longer needed. */
  messages: readonly { runId: string; number: number; message: CallbackMessage }[]
  readMessages: readonly { runId: string; upTo: number }[]
  /** What a task cost: added to the totals of its mission, if it has one. */
  spent: readonly {
    taskId: number
    tokens: number
    usd: string | null
    /** Runs that have ended, and by how much the number of those without a known cost changes. */
    runs: number
    unknownRuns: number
    notionalUsd: string
  }[]
  /** Rows of the ledger, and what they change in budgets. */
  usage: UsageChanges
  /** Answers, for repeats under the same idempotency keys. */
  newReplies: readonly { key: string; bodyHash: string; reply: ReplyAsStored }[]
  events: readonly EventWithOrigin[]
}

export const NOTHING_CHANGED: RunsChanges = {
  newWakeups: [],
  wakeups: [],
  newRuns: [],
  runs: [],
  runtime: [],
  sessions: [],
  deletedSessions: [],
  parked: [],
  told: [],
  calls: [],
  deletedTold: [],
  timelines: [],
  messages: [],
  readMessages: [],
  spent: [],
  usage: NO_USAGE,
  newReplies: [],
  events: [],
}

export interface ProcessIdentity {
  pid: number
  startTime: string | null
  bootId: string | null
}

export interface NewRunEvent {
  type: 'lifecycle' | 'status' | 'usage' | 'error' | 'structured'
  stream?: 'system' | 'stdout' | 'stderr' | undefined
  level?: 'info' | 'warn' | 'error' | undefined
  color?: string | undefined
  message?: string | undefined
  payload?: unknown
}

/** What to ask for, and the rule that decides. */
export interface RunsStep<T> {
  on: 'runs'
  reads: RunsAsk
  decide: (view: RunsView) => { answer: T; changes: RunsChanges }
}

export const unchanged = <T>(answer: T) => ({ answer, changes: NOTHING_CHANGED })

/** A change of what an agent keeps between runs. Throws when it is not one of this event's fields: a rule is wrong. */
export function changedRuntime(
  change: keyof typeof RUNTIME_CHANGES,
  agent: string,
  set: Partial<RuntimeState>,
): FieldsOf<RuntimeState> {
  const own = RUNTIME_CHANGES[change] as readonly string[]
  const foreign = Object.keys(set).find((field) => !own.includes(field))
  if (foreign !== undefined) throw new Error(`${change} does not change ${foreign}`)
  return { id: agent, set }
}
