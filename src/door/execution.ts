import type { LiveOutput } from '../kernel/live-output.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import type { RunsAs } from '../kinds/agent/rules/allowed-on-node.ts'
import type { FieldProblem } from '../kinds/agent/rules/problems.ts'
import type { MissionWork } from '../kinds/mission/record.ts'
import type { MissionChangesView } from '../kinds/mission/shapes/changes.ts'
import type { Run, RunWork } from '../kinds/run/record.ts'
import type { Delivery } from '../kinds/run/rules/callbacks.ts'
import type { CallbackMessage } from '../kinds/run/shapes/callbacks.ts'
import type { ChangesView } from '../kinds/run/shapes/changes.ts'
import type { DiscardAnswer } from '../kinds/task/shapes/discard.ts'
import type { AnswerOf } from '../pure/shapes.ts'

/** The executor as the API sees it. */

/** What a run and the others of its generation did to a repository. */
export type Changes = Omit<AnswerOf<typeof ChangesView>, 'runId' | 'taskId' | 'generation'>

export interface ChangesAsked {
  /** One of the files, with its diff. */
  path: string | null
  /** The diff of all files instead. */
  isWhole: boolean
  since: Changes['since']
  /** The commit that was submitted, where the run has not recorded one yet. */
  submitted: string | null
}

export type MissionChanges = Pick<AnswerOf<typeof MissionChangesView>, 'repositories' | 'elsewhere'>

export interface MissionChangesAsked {
  /** Only this one, by its name in the answer. */
  repository: string | null
  path: string | null
}

/** What is to be removed of a task. */
export interface WorkToDiscard {
  taskUuid: string
  /** The present one: there is no later work. */
  lastGeneration: number
  /** Null: all of them. */
  generation: number | null
  /** The runs of the task that had folders, newest first. */
  runs: readonly RunWork[]
  /** The commit of its accepted result. */
  accepted: string | null
}

/** What was found to be removable. */
export interface RemovableWork {
  /** Ascending. */
  generations: number[]
  branches: number
  folders: number
}

export type DiscardedWork = Omit<AnswerOf<typeof DiscardAnswer>, 'taskId'>

export interface LogRange {
  offset: number
  limitBytes: number
}

export interface LogPage {
  content: string
  /** Where the content begins: at the first whole character from the offset that was asked for. */
  offset: number
  /** The size of the log now. */
  bytes: number
  nextOffset: number | null
  spans: { offset: number; bytes: number; stream: string; ts: string }[]
}

export interface Check {
  name: string
  ok: boolean
  detail: string
  hint?: string
  isUnknown?: boolean
  /** Of a check that failed: what is wrong with which field of the agent. */
  problems?: FieldProblem[]
}

/** The program of an agent on this node, as it is without any settings. */
export interface FoundCli {
  adapterType: string
  command: string
  isFound: boolean
  version: string | null
  login: 'in' | 'out' | 'unknown' | null
  hint: string | null
}

/** An agent, or settings that belong to none yet. */
export type ProbedAgent = Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'model'> & {
  slug: string | null
  runtimeConfig?: unknown
}

interface AdapterInfo {
  type: string
  capabilities: Record<string, boolean>
  configSchema?: Record<string, unknown> | undefined
  /** Whether agents of the workspace may use this adapter on this node. */
  allowed: boolean
  /** As whom it starts programs on this node; null: it starts none. */
  runsAs: RunsAs | null
}

export interface Execution {
  readonly live: LiveOutput
  adapters(workspaceId: number): AdapterInfo[]
  /** Whether this node has the adapter, and so knows which of its settings are secret. */
  knows(adapterType: string): boolean
  /** Whether its settings have a model, so that it can be run with one. */
  hasModelSetting(adapterType: string): boolean
  /** Why its settings cannot have this model, one message each. */
  faultsOfModel(adapterType: string, model: string): string[]
  /** Faults in the settings of an agent, one message each. */
  faultsOf(
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>,
  ): { field: string; message: string }[]
  /** The settings with a whole path where their folder is written with `~`; its fault, if that is no folder here. */
  withWholeFolder(
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig'>,
  ): { ok: true; adapterConfig: AgentRecord['adapterConfig'] } | { ok: false; field: string; message: string }
  /** Why the policy of this node does not allow the agent, one message each, without the subject. */
  objectionsTo(
    workspaceId: number,
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig'>,
  ): Promise<{ field: string; message: string }[]>
  /** Whether the agent could run on this node. */
  probe(workspaceId: number, agent: ProbedAgent): Promise<Check[]>
  /** The programs of these adapters, those that have one. */
  clis(adapterTypes: readonly string[]): Promise<FoundCli[]>
  /** The account that an agent uses: those with the same one share rate limits. Null: this node does not have its adapter. */
  accountOf(agent: AgentRecord): string | null
  /** The prompt of a run, with sensitive values removed. */
  preview(workspaceId: number, agent: AgentRecord): Promise<{ prompt: string; sensitive: string[] }>
  /** Null: the log was deleted, or cannot be read on this node. */
  readLog(run: Run, range: LogRange): Promise<LogPage | null>
  /** The commit of what an agent has done, for a result that it submits itself; null: it works in no worktree. */
  commitForResult(run: { workspaceId: number; runId: string }): Promise<string | null>
  /** What was done in the folder of a run, as it is stored. Refused where the repository is not. */
  changesOf(folder: unknown, asked: ChangesAsked): Promise<Changes>
  /** What the accepted work of a mission changes, of the repositories on this node. */
  missionChanges(works: readonly MissionWork[], asked: MissionChangesAsked): Promise<MissionChanges>
  /** Removes folders and branches; `record` is called when all of it is known to be removable, and may still refuse. */
  discard(work: WorkToDiscard, record: (found: RemovableWork) => Promise<void>): Promise<DiscardedWork>
  /** What an agent sends with the token of its run, without the secrets it was given; whatever node has the run. */
  redact<T>(run: { workspaceId: number; runId: string; agent: string }, token: string, said: T): Promise<T>
  /** Delivers a message of an agent that answers asynchronously. */
  deliver(workspaceId: number, runId: string, message: CallbackMessage): Promise<Delivery>
}
