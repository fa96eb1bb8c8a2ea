import type pg from 'pg'
import { statement } from '../../../postgres/statements/statements.ts'
import { taskStates } from '../../../pure/states.ts'
import type { CounterRows } from '../../task/postgres/counters.ts'
import { inScope } from '../../task/postgres/due.ts'

/** The counters of missions, compared with the tasks they count. */

/** How many missions, and about how many of their tasks, are looked at in one pass: it costs the same however many there are. */
const MISSIONS_AT_A_TIME = 100
const TASKS_AT_A_TIME = 20_000

const COUNTED = [...taskStates, 'failed_optional', 'children']
const COUNTED_BY: Record<string, string> = {
  failed_optional: `state = 'failed' and optional`,
  children: `watch ->> 'childDepth' is not null`,
}
const counted = (name: string) => COUNTED_BY[name] ?? `state = '${name}'`
const COUNTS = COUNTED.map((name) => `count(*) filter (where ${counted(name)})::int as ${name}`).join(', ')
const TASKS = (
  mission: string,
) => `select ${COUNTS} from tasks t where t.workspace_id = ${mission}.workspace_id
  and t.mission_id = ${mission}.mission_id and t.purpose = 'work'`

// Missions that have not ended, after one of them, as many as their tasks allow, at least one; and whether their counters differ
// from their tasks. Both are written in one transaction and read in one statement here, so a difference is never transient.
// $1 workspace and $2 mission after which to begin, $3 missions, $4 tasks.
const COMPARE = `
  select w.workspace_id as "workspaceId", w.mission_id as "missionId", w.uuid,
         row(${COUNTED.map((name) => `w.${name}`).join(', ')}) is distinct from row(${COUNTED.map((name) => `n.${name}`).join(', ')}) as "isWrong"
    from (select m.uuid, c.*, sum(${taskStates.map((name) => `c.${name}`).join(' + ')}) over (order by m.workspace_id, m.mission_id) as total
            from (select workspace_id, mission_id, uuid from missions
                   where completed_at is null and (workspace_id, mission_id) > ($1, $2)
                   order by workspace_id, mission_id limit $3) m
            join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id) w
    cross join lateral (${TASKS('w')}) n
   where w.total - (${taskStates.map((name) => `w.${name}`).join(' + ')}) < $4
   order by w.workspace_id, w.mission_id`

export interface ComparedMission extends pg.QueryResultRow {
  workspaceId: number
  missionId: number
  uuid: string
  isWrong: boolean
}

/** The lock of the counters is one that every change of its tasks needs. $2 is the mission. */
export const missionCounterRows: CounterRows = {
  names: COUNTED,
  lock: statement(
    'lock_mission_counters',
    `select ${COUNTED.join(', ')} from mission_counters where workspace_id = $1 and mission_id = $2 for no key update`,
  ),
  count: statement(
    'count_tasks_of_mission',
    `select n.* from (select $1::int as workspace_id, $2::bigint as mission_id) w cross join lateral (${TASKS('w')}) n`,
  ),
  set: statement(
    'set_mission_counters',
    `update mission_counters set ${COUNTED.map((name, i) => `${name} = $${i + 3}`).join(', ')}
      where workspace_id = $1 and mission_id = $2`,
  ),
}

/** Looks at the missions that have not ended, in turn. The position is kept in this process: another one begins from the start. */
export class MissionCounters {
  readonly #readers: pg.Pool
  #after: [workspaceId: number, missionId: number] = [0, 0]

  constructor(readers: pg.Pool) {
    this.#readers = readers
  }

  /** The next missions, of which some may be wrong. */
  async drifted(only?: number): Promise<ComparedMission[]> {
    const after = only === undefined ? this.#after : [0, 0]
    const limits = [MISSIONS_AT_A_TIME, TASKS_AT_A_TIME]
    const found = await inScope<ComparedMission>(this.#readers, only, COMPARE, [...after, ...limits])
    const last = found.at(-1)
    if (only === undefined) this.#after = last ? [last.workspaceId, last.missionId] : [0, 0]
    return found.filter(({ isWrong }) => isWrong)
  }
}
