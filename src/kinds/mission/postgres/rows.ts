import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import { bigint } from '../../../pure/fields.ts'
import { type TaskState, taskStates } from '../../../pure/states.ts'
import { COUNT_FIELDS, MISSION_FIELDS, type MissionRecord, PLAN_FIELDS, type PlanVersion } from '../record.ts'
import { openFor } from '../rules/gate.ts'
import { stateOf } from '../states.ts'

/** Missions as rows: the row of the mission, its counters, and its newest plan. */

/** What follows from the others is written, too: queries and indexes need it, and the database checks it. */
export const missionRows = plainRows('missions', MISSION_FIELDS, {
  derived: {
    state: ['text', stateOf],
    open_for: ['text', openFor],
    max_parallel: ['int', ({ config }: MissionRecord) => config.maxParallel ?? null],
    plan_version: ['int', ({ plan }: MissionRecord) => plan?.version ?? null],
    approved_version: ['int', ({ approved }: MissionRecord) => approved?.version ?? null],
  },
})
const countRows = plainRows('mission_counters', COUNT_FIELDS)
const planRows = plainRows('mission_plans', PLAN_FIELDS)

export const newPlans = plainRows(
  'mission_plans',
  { missionId: bigint(), ...PLAN_FIELDS },
  {
    derived: { body: ['json', ({ body }: PlanVersion & { missionId: number }) => body] },
  },
)

/** Of mission_plans p, without the plan itself. */
export const planColumns = planRows.select('p')

/** With its plan, if the row has it after the columns. */
export const readPlan = (row: readonly unknown[]): PlanVersion => ({
  ...planRows.read(row),
  body: (row[planRows.width] ?? null) as string | null,
})

/** Of missions m, mission_counters c and mission_plans p (the newest) and a (the approved one). */
export const missionColumns = `${missionRows.select('m')}, ${taskStates.map((name) => `c.${name}`).join(', ')},
  ${countRows.select('c')}, ${planColumns},
  m.approved_version, (select a.digest from mission_plans a
    where a.workspace_id = m.workspace_id and a.mission_id = m.mission_id and a.version = m.approved_version),
  (select j.slug from projects j where j.workspace_id = m.workspace_id and j.project_id = m.project_id),
  (select b.uuid from missions b where b.workspace_id = m.workspace_id and b.mission_id = m.after_mission)`

/** Of mission_counters c, as `knownCost`. */
export const KNOWN_COST = `case when c.usd + c.notional_usd = 0 and case when c.runs > 0 then c.unknown_runs > 0 else c.tokens > 0 end
    then null else trim_scale(c.usd + c.notional_usd)::text end`

export const MISSIONS = `missions m
  join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
  left join mission_plans p on p.workspace_id = m.workspace_id and p.mission_id = m.mission_id and p.version = m.plan_version`

export function readMission(row: readonly unknown[]): MissionRecord {
  const left = [...row]
  const own = missionRows.read(left.splice(0, missionRows.width))
  const byState: Partial<Record<TaskState, number>> = {}
  for (const [i, count] of left.splice(0, taskStates.length).entries())
    if (count !== 0) byState[taskStates[i]!] = count as number
  const counts = countRows.read(left.splice(0, countRows.width))
  const plan = readPlan(left.splice(0, planRows.width))
  type Text = string | null
  const [approved, digest, project, after] = left as [number | null, Text, Text, Text]
  return {
    ...own,
    counts: { byState, ...counts },
    plan: plan.version === null ? null : plan,
    approved: approved === null ? null : { version: approved, digest: digest! },
    ...{ project, after },
  }
}
