import { OUTCOME_EVENTS } from '../../../kinds/task/rules/outcomes.ts'
import { LAST_SEQ, seqAt } from '../../../postgres/statements/log-head.ts'
import { OF_THE_WORKSPACE } from '../../logs/postgres.ts'

/** A part of the past of a workspace, and which of its tasks are meant. */
export interface Asked {
  /** Milliseconds since 1970; null: a day before its end. */
  from: number | null
  /** Null: now. */
  to: number | null
  /** It held the task last. */
  agent?: string | undefined
  taskType?: string | undefined
  missionId?: number | undefined
}

/** How many tasks, events or runs are looked through, the newest ones. */
export const MOST_LOOKED_AT = 10_000

/** The values of the statements here: $1 is the workspace. */
export const valuesOf = ({ from, to, agent, taskType, missionId }: Asked) => [
  from,
  to,
  agent ?? null,
  taskType ?? null,
  missionId ?? null,
]

const instant = (value: string) => `to_timestamp(${value}::float8 / 1000)`

/** A table of one row, `began` and `ended`. */
export const PERIOD = `period as materialized (
  select coalesce(${instant('$2')}, coalesce(${instant('$3')}, now()) - interval '1 day') as began,
         coalesce(${instant('$3')}, now()) as ended)`
export const BEGAN = '(select p.began from period p)'
export const ENDED = '(select p.ended from period p)'

/** Transactions commit in another order than they began: a minute more on both sides, and times are compared as well. */
export const NUMBERS = `numbers as materialized (
  select ${seqAt(`${BEGAN} - interval '1 minute'`)} as first, ${seqAt(`${ENDED} + interval '1 minute'`)} as last)`

/** Must match the condition of the index events_of_outcomes word for word, or the index is not used. */
const OF_OUTCOMES = `type in (${OUTCOME_EVENTS.map((type) => `'${type}'`).join(', ')})`

/** The numbers of the newest events of these types within the period, at most so many, and before `before` if it is given. */
export function newestOf(types: readonly string[], most: number, before = 'null'): string {
  const indexed = [
    [OF_OUTCOMES, types.filter((type) => (OUTCOME_EVENTS as readonly string[]).includes(type))],
    [OF_THE_WORKSPACE, types.filter((type) => !(OUTCOME_EVENTS as readonly string[]).includes(type))],
  ] as const
  const parts = indexed
    .filter(([, names]) => names.length > 0)
    .map(
      ([
        condition,
        names,
      ]) => `select f.seq from unnest(array['${names.join("', '")}']) as wanted (type) cross join lateral (
        select seq from events where workspace_id = $1 and type = wanted.type and ${condition}
           and seq >= (select n.first from numbers n) and seq < least((select n.last from numbers n), ${before}::bigint)
         order by seq desc limit ${most}) f`,
    )
  return `select o.seq from (${parts.join(' union all ')}) o order by o.seq desc limit ${most}`
}

/** The newest events of these types about work within the period, at most so many, and how their tasks are by now. */
export const eventsOf = (types: readonly string[], most: number) => `
  select e.seq, e.at, e.type, e.task_id, e.generation, e.from_state, e.payload, t.state, t.agent, t.generation as newest
    from (select array(${newestOf(types, most)}) as seqs) l
    cross join lateral (select * from events x where x.workspace_id = $1 and x.seq = any(l.seqs)) e
    cross join lateral (select x.state, x.purpose, x.agent, x.generation from tasks x where x.workspace_id = $1 and x.id = e.task_id offset 0) t
   where e.at >= ${BEGAN} and e.at < ${ENDED} and t.purpose = 'work'`

/**
 * Work that ended within the period and is not archived, the newest of it: by the index of the board. What needs more than that
 * index is looked for among these.
 */
export const finishedTasks = ({ missionId }: Asked, most = MOST_LOOKED_AT) => `finished as materialized (
  select t.id, t.uuid, t.key, t.state, t.agent, t.generation, t.attempt as attempts, t.awaited, t.mission_id, t.created_at, t.acquired_at, t.completed_at
    from tasks t where t.workspace_id = $1 and t.purpose = 'work' and t.completed_at is not null and t.archived_at is null
     and t.completed_at >= ${BEGAN} and t.completed_at < ${ENDED}
     ${missionId === undefined ? '' : 'and t.mission_id = $6::bigint'}
   order by t.completed_at desc, t.id desc limit ${most})`

/**
 * How often it was tried: claims that failed or whose result was not the last one, and the last claim. Handing a task back is no
 * attempt, nor is continuing later. The task itself counts only since a person retried it.
 */
const ATTEMPTS = `case when f.generation > 1 then greatest(f.attempts, 1 + (select count(*) from attempts c
    where c.workspace_id = $1 and c.task_id = f.id and c.generation < f.generation and c.promoted_in = 0
      and (c.state in ('error', 'expired') or c.end_reason in ('COMPLETED', 'SUBMITTED', 'DEADLINE')))) else f.attempts end::int`

/** Those that are meant, with their titles, types and attempts. */
export const ASKED_TASKS = `asked as materialized (
  select f.id, f.uuid, f.key, f.state, f.agent, f.awaited, f.mission_id, f.created_at, f.acquired_at, f.completed_at,
         d.title, d.task_type, ${ATTEMPTS} as attempt
    from finished f cross join lateral (
      select x.title, x.task_type from task_details x where x.workspace_id = $1 and x.task_id = f.id offset 0) d
   where ($4::text is null or f.agent = $4) and ($5::text is null or d.task_type = $5) and ($6::bigint is null or f.mission_id = $6))`

/**
 * The first id of runs that a node made at this time. Ids of runs begin with that time, by the clock of the node: those of a period follow
 * each other in the index, and an hour more on both sides makes up for clocks that differ.
 */
export const uuidAt = (at: string) =>
  `(lpad(to_hex(greatest(ms(${at}), 0)), 12, '0') || repeat('0', 20))::uuid`

/** The outside id of a mission. */
export const missionOf = (number: string) =>
  `(select m.uuid from missions m where m.workspace_id = $1 and m.mission_id = ${number})`

/** Who held the claim of an event e of a task t: the claim may have ended, or be the newest one. */
export const HOLDER_THEN = `coalesce((select a.agent from attempts a where a.workspace_id = $1 and a.task_id = e.task_id
    and a.generation = e.generation and a.promoted_in = 0), case when t.generation = e.generation then t.agent end)`

/** What every answer says about itself. */
export const ABOUT = `${LAST_SEQ} as seq,
  ms(${BEGAN}) as began, ms(${ENDED}) as ended`

export interface About {
  seq: number
  began: number
  ended: number
}
