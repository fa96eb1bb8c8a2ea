import { type Column, selectList } from '../../../postgres/statements/columns.ts'
import type { AgentHealth, AgentRecord } from '../../task/record.ts'

/** Agents as rows: the configured row, and beside it the narrow health row that heartbeats change. */

type Fields<T> = Record<string, [keyof T, Column['type']]>

const AGENT_FIELDS = {
  slug: ['slug', 'text'],
  agent_id: ['uuid', 'uuid'],
  name: ['name', 'text'],
  model: ['model', 'text'],
  adapter_type: ['adapterType', 'text'],
  adapter_config: ['adapterConfig', 'json'],
  runtime_config: ['runtimeConfig', 'json'],
  capabilities: ['capabilities', 'texts'],
  task_types: ['taskTypes', 'texts'],
  max_concurrent_tasks: ['maxConcurrentTasks', 'int'],
  heartbeat_ms: ['heartbeatMs', 'bigint'],
  stale_ms: ['staleMs', 'bigint'],
  coordinator_enabled: ['coordinatorEnabled', 'boolean'],
  batch_size: ['batchSize', 'int'],
  state: ['state', 'text'],
  state_reason: ['stateReason', 'text'],
  leaving: ['leaving', 'boolean'],
  stops_runs: ['stopsRuns', 'boolean'],
  registered: ['registered', 'boolean'],
  kind: ['kind', 'text'],
  template: ['template', 'text'],
  mission_id: ['missionId', 'bigint'],
  mission: ['mission', 'uuid'],
  version: ['version', 'int'],
  created_at: ['createdAt', 'instant'],
  updated_at: ['updatedAt', 'instant'],
} as const satisfies Fields<AgentRecord>

const HEALTH_FIELDS = {
  last_seen_at: ['lastSeenAt', 'instant'],
  has_heartbeat: ['hasHeartbeat', 'boolean'],
  sent_at: ['sentAt', 'instant'],
  status: ['status', 'text'],
  session: ['session', 'text'],
  current_task: ['currentTask', 'text'],
  progress_percent: ['progressPercent', 'double precision'],
  step: ['step', 'text'],
  memory_mb: ['memoryMb', 'double precision'],
  cpu_percent: ['cpuPercent', 'double precision'],
  metadata: ['metadata', 'json'],
  due_at: ['dueAt', 'instant'],
} as const satisfies Fields<AgentHealth>

const columnsOf = (fields: Fields<never>): Column[] =>
  Object.entries(fields).map(([name, [, type]]) => ({ name, type }))
export const AGENT_COLUMNS = columnsOf(AGENT_FIELDS as Fields<never>)
export const HEALTH_COLUMNS = columnsOf(HEALTH_FIELDS as Fields<never>)

export const agentColumns = (alias: string) => selectList(AGENT_COLUMNS, alias)
export const healthColumns = (alias: string) => selectList(HEALTH_COLUMNS, alias)
export const AGENT_WIDTH = AGENT_COLUMNS.length

const read = <T>(fields: Fields<T>, row: readonly unknown[]): T =>
  Object.fromEntries(Object.values(fields).map(([field], i) => [field, row[i]])) as T

/** `health` is null when there is no health row, that is, before the first heartbeat. */
export function readAgent(row: readonly unknown[], health: readonly unknown[] | null): AgentRecord {
  const record = read<AgentRecord>(AGENT_FIELDS, row)
  record.health = health && read<AgentHealth>(HEALTH_FIELDS, health)
  return record
}

const valuesOf = <T>(fields: Fields<T>, records: readonly T[]) =>
  Object.values(fields).map(([field, type]) =>
    records.map((record) =>
      type === 'json' && record[field] !== null ? JSON.stringify(record[field]) : record[field],
    ),
  )

export const agentValues = (agents: readonly AgentRecord[]) => valuesOf<AgentRecord>(AGENT_FIELDS, agents)
export const healthValues = (agents: readonly AgentRecord[]) => [
  agents.map(({ slug }) => slug),
  ...valuesOf<AgentHealth>(
    HEALTH_FIELDS,
    agents.map((agent) => agent.health!),
  ),
]

// Whether an assignment wakes the agent `a`, which Baton runs, as kinds/run/rules/policy.ts says.
export const IS_WOKEN = `coalesce(a.runtime_config -> 'heartbeat' ->> 'enabled', 'true') = 'true'
   and coalesce(a.runtime_config -> 'heartbeat' ->> 'wakeOnAssignment', 'true') = 'true'`

// Whether the agent `a` gets only tasks that are reserved for it, as kinds/run/rules/policy.ts says.
export const RESERVED_ONLY = `(a.adapter_type = 'command' or a.kind = 'contractor'
   or coalesce(a.runtime_config ->> 'reservedOnly', 'false') = 'true')`
