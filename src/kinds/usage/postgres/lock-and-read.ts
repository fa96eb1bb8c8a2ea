import { costOf } from '../../../postgres/statements/spent.ts'
import { statement } from '../../../postgres/statements/statements.ts'
import { budgetRows, reservationRows } from '../../budget/postgres/rows.ts'
import type { BudgetRecord } from '../../budget/record.ts'
import type { Reservation } from '../record.ts'
import type { SeenUsage, UsageAsk } from '../rules/step.ts'
import { sourceRows } from './rows.ts'

/**
 * What a booking locks and reads, in the order of the locks: the counters of the mission, the source, the reservation, the budgets.
 * Batches lock counters before reservations, and reservations before budgets, too.
 */

type Rows = readonly (readonly unknown[])[]
type Ask = (of: ReturnType<typeof statement>, values: readonly unknown[]) => () => Rows

// The task t of a claim; no row: there is none. $2 task.
const OF_TASK = 'from tasks t where t.workspace_id = $1 and t.id = $2::bigint'

// $1 workspace, $2 task.
const lockMissionCounters = statement(
  'lock_counters_of_usage',
  `select from mission_counters c where c.workspace_id = $1 and c.mission_id = (select t.mission_id ${OF_TASK}) for no key update`,
)
// $1 workspace, $2 task.
const readTask = statement(
  'task_of_usage',
  `select t.mission_id, t.project_id, t.purpose, (select d.task_type from task_details d
     where d.workspace_id = $1 and d.task_id = t.id) ${OF_TASK}`,
)
// A claim that was really made is a source from its first report on: two first reports book one after the other. $1 workspace, $2 task,
// $3 its id outside, $4 generation, $5 session.
const addSource = statement(
  'add_usage_source',
  `insert into usage_sources (workspace_id, source_id, generation, agent, session, task_id, mission_id, project_id, task_type, operation, started_at, updated_at)
   select $1, $3, c.generation, c.agent, c.session, t.id, t.mission_id, t.project_id,
          (select d.task_type from task_details d where d.workspace_id = $1 and d.task_id = t.id), t.purpose, clock_timestamp(), clock_timestamp()
     from tasks t cross join lateral (
       select t.generation, t.agent, t.session where t.generation = $4::int and t.session is not null
       union all
       select a.generation, a.agent, a.session from attempts a where a.workspace_id = $1 and a.task_id = t.id and a.generation = $4::int
       limit 1) c
    where t.workspace_id = $1 and t.id = $2::bigint and t.uuid = $3 and $4::int > 0 and c.session = $5
   on conflict do nothing`,
)
// $1 workspace, $2 source, $3 generation.
const lockSource = statement(
  'lock_usage_source',
  `select ${sourceRows.select('s')} from usage_sources s where s.workspace_id = $1 and s.source_id = $2 and s.generation = $3::int
    for no key update`,
)
// $1 workspace, $2 who holds it, $3 generation.
const lockReservation = statement(
  'lock_reservation',
  `select ${reservationRows.select('r')} from budget_reservations r where r.workspace_id = $1 and r.holder_id = $2
      and r.generation = $3::int for no key update`,
)
// Whether the agent spends simulated money.
const SIMULATED = `exists (select from agents a where a.workspace_id = $1 and a.slug = $3 and a.adapter_type = 'simulated')`
// $1 workspace, $2 agent.
const readAgent = statement(
  'agent_of_usage',
  `select a.adapter_type = 'simulated' from agents a where a.workspace_id = $1 and a.slug = $2`,
)
// All budgets that cover it; of simulated money only those of its own mission and task. $1 workspace, $2 task, $3 agent, $4 whether it
// is simulated.
const lockBudgets = statement(
  'lock_budgets_of_usage',
  `select ${budgetRows.select('b')} from budgets b where b.workspace_id = $1 and b.scope_key = any(
     (case when ${SIMULATED} then '{}'::text[] else array['workspace', 'agent:' || $3::text] end)
     || coalesce((select array_remove(array[case when t.project_id > 0 and not ${SIMULATED} then 'project:' || t.project_id end,
          'mission:' || t.mission_id, 'task:' || t.id], null) ${OF_TASK}), '{}'))
   order by b.budget_id for no key update`,
)
// What all other runs and claims of a task have used. $1 workspace, $2 task, $3 source, $4 generation.
const readOthers = statement(
  'usage_of_others',
  `select coalesce(sum(s.input_tokens + s.cached_input_tokens + s.output_tokens), 0)::bigint, trim_scale(sum(${costOf('s')}))::text
     from usage_sources s where s.workspace_id = $1 and s.task_id = $2::bigint
      and not (s.source_id = $3 and s.generation = $4::int)`,
)
// $1 workspace.
const readZone = statement('zone_of_usage', 'select l.time_zone from limits l where l.workspace_id = $1')

/** Adds the statements; the result reads their answers. */
export function askForUsage(ask: Ask, workspaceId: number, usage: UsageAsk): () => SeenUsage {
  const { sourceId, generation, claim, agent, session } = usage
  const taskId = claim?.taskId ?? null
  if (taskId !== null) ask(lockMissionCounters, [workspaceId, taskId])
  if (claim && generation > 0) ask(addSource, [workspaceId, taskId, claim.taskUuid, generation, session])
  const source = ask(lockSource, [workspaceId, sourceId, generation])
  const holder = claim ? [claim.taskUuid, claim.generation] : [sourceId, generation]
  const reservation = ask(lockReservation, [workspaceId, ...holder])
  const budgets = ask(lockBudgets, [workspaceId, taskId, agent])
  const simulated = ask(readAgent, [workspaceId, agent])
  const task = taskId === null ? () => [] : ask(readTask, [workspaceId, taskId])
  const others = taskId === null ? () => [] : ask(readOthers, [workspaceId, taskId, sourceId, generation])
  const zone = ask(readZone, [workspaceId])
  return () => {
    const [ofTask] = task()
    const [missionId = null, projectId = 0, operation = 'work', taskType = null] = (ofTask ?? []) as never[]
    const [row] = source()
    const [reserved] = reservation()
    return {
      source: row ? sourceRows.read(row) : null,
      to: {
        agent,
        session,
        taskId,
        missionId,
        projectId,
        taskType,
        operation,
        isSimulated: simulated()[0]?.[0] === true,
      },
      budgets: budgets().map((one) => budgetRows.read(one) as BudgetRecord),
      others: {
        tokens: (others()[0]?.[0] as number | undefined) ?? 0,
        costUsd: (others()[0]?.[1] as string | null) ?? null,
      },
      reservation: reserved ? (reservationRows.read(reserved) as Reservation) : null,
      timeZone: (zone()[0]?.[0] as string | undefined) ?? 'UTC',
    }
  }
}
