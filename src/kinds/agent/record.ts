import {
  bigint,
  boolean,
  double,
  instant,
  int,
  json,
  orNull,
  type RecordOf,
  text,
  texts,
  uuid,
} from '../../pure/fields.ts'
import type { AgentState } from '../../pure/states.ts'

const PROFILE = {
  name: text(),
  model: orNull(text()),
  /** 'external': it claims its work itself. Any other is run by Baton. */
  adapterType: text(),
  adapterConfig: json(),
  runtimeConfig: json(),
  /** Sorted. */
  capabilities: texts(),
  /** The types of work it takes, sorted; none: any. */
  taskTypes: texts(),
  /** How many tasks it may hold at once; null: any number. */
  maxConcurrentTasks: orNull(int()),
  /** The heartbeat interval, and the silence after which it is declared lost. */
  heartbeatMs: bigint(),
  staleMs: bigint(),
  /** The coordinator assigns work to it, and revokes it when the agent goes silent. */
  coordinatorEnabled: boolean(),
  /** How many tasks of one kind the coordinator may assign to it at a time. */
  batchSize: int(),
}

/** The settings of an agent. */
export interface AgentProfile extends RecordOf<typeof PROFILE> {}

export const AGENT_KINDS = ['roster', 'contractor'] as const

const ORIGIN = {
  /** A contractor is made for a mission; all others are the roster. */
  kind: text<(typeof AGENT_KINDS)[number]>(),
  /** The slug of the agent that a contractor was made from. */
  template: orNull(text()),
  /** The mission of a contractor, by number and by outside id. */
  missionId: orNull(bigint()),
  mission: orNull(uuid()),
}

/** How an agent came to be. It never changes. */
export interface AgentOrigin extends Readonly<RecordOf<typeof ORIGIN>> {}

export const AGENT_FIELDS = {
  slug: text(),
  uuid: uuid('agent_id'),
  ...PROFILE,
  state: text<Exclude<AgentState, 'running'>>(),
  /** Why it is in that state. */
  stateReason: orNull(text()),
  /** It finishes what it holds and is then terminated. */
  leaving: boolean(),
  /** Paused or terminated at once: runs in progress are stopped instead of finished. */
  stopsRuns: boolean(),
  /** Registered explicitly; others became known by claiming. */
  registered: boolean(),
  /** When its present settings were last tested; null: never. */
  testedAt: orNull(instant()),
  /** The checks that failed then. */
  failedChecks: texts(),
  ...ORIGIN,
  version: int(),
  createdAt: instant(),
  updatedAt: instant(),
}

export interface AgentRecord extends RecordOf<typeof AGENT_FIELDS> {
  /** Null before its registration or first heartbeat. */
  health: AgentHealth | null
}

export const HEALTH_FIELDS = {
  lastSeenAt: instant(),
  /** False when it only registered. Only agents that heartbeat can be declared lost. */
  hasHeartbeat: boolean(),
  /** The sender's own time of the last heartbeat. */
  sentAt: orNull(instant()),
  status: text<'healthy' | 'degraded'>(),
  /** The session it works under. */
  session: orNull(text()),
  currentTask: orNull(text()),
  progressPercent: orNull(double()),
  step: orNull(text()),
  memoryMb: orNull(double()),
  cpuPercent: orNull(double()),
  metadata: json(),
  /** When its silence is checked. A heartbeat leaves it unchanged; the check moves it on. */
  dueAt: orNull(instant()),
}

/** An agent's last heartbeat. */
export interface AgentHealth extends RecordOf<typeof HEALTH_FIELDS> {}

/** An agent, how much it holds, and the database time of that read. */
export interface AgentSeen {
  record: AgentRecord
  holds: number
  /** Its active runs. */
  runs: number
  now: number
}
