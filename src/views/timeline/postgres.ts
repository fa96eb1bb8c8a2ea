import type pg from 'pg'
import { LAST_SEQ } from '../../postgres/statements/log-head.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import type { TaskState } from '../../pure/states.ts'
import type { StateChange } from './segments.ts'

/** What the tasks of a mission did when. */

export interface TimelineRead {
  seq: number
  /** Its work tasks, in the order of their creation. */
  tasks: { number: number; id: string }[]
  /** Also of tasks that serve others; task by task, in the order of time. */
  changes: StateChange[]
  /** The runs of each claim, oldest first; those of a verification belong to the claim whose result it judges. */
  runs: { task: number; generation: number; isVerification: boolean; id: string }[]
}

// $1 workspace, $2 mission. Arrays of fields: their names would be most of the text.
const TASKS = `select json_agg(json_build_array(t.id, t.uuid) order by t.id) from tasks t
  where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'work'`
const CHANGES = `select json_agg(json_build_array(e.task_id, e.generation, e.to_state, ms(e.at)) order by e.task_id, e.seq) from events e
  where e.workspace_id = $1 and e.mission_id = $2 and e.task_id is not null and e.to_state is not null`
const RUNS = `select json_agg(json_build_array(coalesce((t.serves ->> 'taskId')::bigint, t.id),
      coalesce((t.serves ->> 'generation')::int, r.generation), t.serves is not null, r.run_id) order by r.run_id)
  from tasks t cross join lateral (
    select x.run_id, x.generation from runs x where x.workspace_id = $1 and x.task_id = t.id offset 0) r
 where t.workspace_id = $1 and t.mission_id = $2 and t.purpose in ('work', 'verification')`
const TIMELINE = `select ${LAST_SEQ} as seq, (${TASKS}) as tasks,
  (${CHANGES}) as changes, (${RUNS}) as runs`

type Arrays<T> = T[] | null

/** As of one event: one statement sees one moment. */
export async function timelineOf(
  pool: pg.Pool,
  workspaceId: number,
  missionId: number,
): Promise<TimelineRead> {
  const [row] = await inside<{
    seq: number
    tasks: Arrays<[number, string]>
    changes: Arrays<[number, number | null, TaskState, number]>
    runs: Arrays<[number, number, boolean, string]>
  }>(pool, workspaceId, TIMELINE, [missionId])
  const { seq, tasks, changes, runs } = row!
  return {
    seq,
    tasks: (tasks ?? []).map(([number, id]) => ({ number, id })),
    changes: (changes ?? []).map(([task, generation, state, at]) => ({
      task,
      generation: generation ?? 0,
      state,
      at,
    })),
    runs: (runs ?? []).map(([task, generation, isVerification, id]) => ({
      task,
      generation,
      isVerification,
      id,
    })),
  }
}
