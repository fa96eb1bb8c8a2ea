import { type Column, selectList } from '../../../postgres/statements/columns.ts'
import { type TaskState, taskStates } from '../../../pure/states.ts'
import { storedDollars } from '../../run/rules/dollars.ts'
import type { MissionCounts, MissionRecord, PlanVersion } from '../record.ts'
import { openFor } from '../rules/gate.ts'
import { storedConfig } from '../rules/stored-config.ts'
import { stateOf } from '../states.ts'

/** Missions as rows: the row of the mission, its counters, and its newest plan. */

type Stored = Omit<MissionRecord, 'plan' | 'approved' | 'counts' | 'project' | 'after'>

const FIELDS = {
  mission_id: ['id', 'bigint'],
  uuid: ['uuid', 'uuid'],
  goal: ['goal', 'text'],
  title: ['title', 'text'],
  description: ['description', 'text'],
  tags: ['tags', 'texts'],
  priority: ['priority', 'smallint'],
  config: ['config', 'json'],
  project_id: ['projectId', 'int'],
  phase: ['phase', 'text'],
  closed_by: ['closedBy', 'texts'],
  closed_ms: ['closedMs', 'bigint'],
  closed_at: ['closedAt', 'instant'],
  start_at: ['startAt', 'instant'],
  created_by: ['createdBy', 'text'],
  version: ['version', 'int'],
  created_at: ['createdAt', 'instant'],
  updated_at: ['updatedAt', 'instant'],
  started_at: ['startedAt', 'instant'],
  completed_at: ['completedAt', 'instant'],
  due_at: ['dueAt', 'instant'],
  error: ['error', 'text'],
  snapshot: ['snapshot', 'json'],
  retry_at: ['retryAt', 'instant'],
  after_mission: ['afterId', 'bigint'],
  contractors: ['contractors', 'texts'],
  rejected_versions: ['rejected', 'ints'],
  report_count: ['reportCount', 'int'],
} as const satisfies Record<string, [keyof Stored, Column['type']]>

const OWN: Column[] = Object.entries(FIELDS).map(([name, [, type]]) => ({ name, type }))

/** What follows from the others is written, too: queries and indexes need it, and the database checks it. */
export const MISSION_COLUMNS: Column[] = [
  ...OWN,
  { name: 'state', type: 'text' },
  { name: 'open_for', type: 'text' },
  { name: 'max_parallel', type: 'int' },
  { name: 'plan_version', type: 'int' },
  { name: 'approved_version', type: 'int' },
]

const COUNTERS = [...taskStates, 'failed_optional', 'children', 'tokens', 'runs', 'unknown_runs']

/** Of missions m, mission_counters c and mission_plans p (the newest) and a (the approved one). */
export const missionColumns = `${selectList(OWN, 'm')}, ${COUNTERS.map((name) => `c.${name}`).join(', ')}, c.usd::text,
  p.version, p.digest, p.task_count, p.strategy, p.estimated_tokens, p.estimated_usd::text, p.proposed_by, ms(p.proposed_at),
  m.approved_version, (select a.digest from mission_plans a
    where a.workspace_id = m.workspace_id and a.mission_id = m.mission_id and a.version = m.approved_version),
  (select j.slug from projects j where j.workspace_id = m.workspace_id and j.project_id = m.project_id),
  (select b.uuid from missions b where b.workspace_id = m.workspace_id and b.mission_id = m.after_mission)`

/** Of mission_counters c, as `knownCost`. */
export const KNOWN_COST = `case when c.usd = 0 and case when c.runs > 0 then c.unknown_runs > 0 else c.tokens > 0 end
    then null else trim_scale(c.usd)::text end`

export const MISSIONS = `missions m
  join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
  left join mission_plans p on p.workspace_id = m.workspace_id and p.mission_id = m.mission_id and p.version = m.plan_version`

export function readMission(row: readonly unknown[]): MissionRecord {
  const own = Object.fromEntries(
    Object.values(FIELDS).map(([field], i) => [field, row[i]]),
  ) as unknown as Stored
  const counted = row.slice(OWN.length)
  const byState: Partial<Record<TaskState, number>> = {}
  taskStates.forEach((state, i) => {
    if (counted[i] !== 0) byState[state] = counted[i] as number
  })
  const [failedOptional, children, tokens, runs, unknownRuns, usd, ...rest] = counted.slice(taskStates.length)
  const spent = { tokens, runs, unknownRuns, usd: storedDollars(usd as string) }
  const counts = { byState, failedOptional, children, ...spent } as MissionCounts
  const [
    version,
    digest,
    taskCount,
    strategy,
    estimatedTokens,
    estimatedUsd,
    proposedBy,
    at,
    approved,
    approvedDigest,
    project,
    after,
  ] = rest
  const plan = {
    version,
    digest,
    taskCount,
    strategy,
    estimatedTokens,
    proposedBy,
    at,
    body: null,
  } as PlanVersion
  return {
    ...own,
    config: storedConfig(own.config),
    counts,
    plan: version === null ? null : { ...plan, estimatedUsd: storedDollars(estimatedUsd as string | null) },
    approved: approved === null ? null : { version: approved as number, digest: approvedDigest as string },
    project: project as string | null,
    after: after as string | null,
  }
}

/** The values of the columns of missions, one list per column. */
export const missionValues = (missions: readonly MissionRecord[]): unknown[][] => [
  ...Object.values(FIELDS).map(([field, type]) =>
    missions.map((mission) => (type === 'json' ? JSON.stringify(mission[field]) : mission[field])),
  ),
  missions.map(stateOf),
  missions.map(openFor),
  missions.map(({ config }) => config.maxParallel ?? null),
  missions.map(({ plan }) => plan?.version ?? null),
  missions.map(({ approved }) => approved?.version ?? null),
]
