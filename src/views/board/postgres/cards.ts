import type pg from 'pg'
import { WITHOUT_RESULT } from '../../../kinds/run/rules/unreadable.ts'
import { hasReported, mayClaim, SHOWN_AGENT, workersFor } from '../../../kinds/task/postgres/of-others.ts'
import { RESULT_DIGEST } from '../../../kinds/task/postgres/result-pages.ts'
import type { Purpose } from '../../../kinds/task/record.ts'
import type { VerifiedBy } from '../../../kinds/task/rules/reviews.ts'
import type { WaitKind } from '../../../kinds/task/rules/waiting.ts'
import { LAST_SEQ } from '../../../postgres/statements/log-head.ts'
import { BY_KEYS, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import { costOf, HAS_TOLD } from '../../../postgres/statements/spent.ts'
import type { AgentState, TaskState } from '../../../pure/states.ts'
import { MOST_NAMED_AGENTS, SUMMARY_CHARS } from '../shapes.ts'

/** What the work of a run lacks (kinds/run/shapes/folder.ts). */
export interface LackingWork {
  isNotSaved: boolean
  isMissing: boolean
  leftOut: number
  /** The summary of a run without a result, some of whose output could not be read. */
  unread: string | null
}

/** Nobody who is there can take it. */
interface NotTaken {
  requiredCapabilities: string[]
  agents: { slug: string; state: AgentState; stateReason: string | null; leaving: boolean }[]
  agentCount: number
}

/** A task as a board shows it: narrow, with names instead of ids. */
export interface CardRow {
  id: string
  number: number | null
  key: string | null
  title: string
  taskType: string
  purpose: Purpose
  state: TaskState
  stateSince: number
  priority: number
  project: string | null
  agent: string | null
  holder: string | null
  leaseExpiresAt: number | null
  lastAgent: string | null
  generation: number
  version: number
  attempt: number
  maxRetries: number
  step: string | null
  percent: number | null
  reason: string | null
  waitsKind: WaitKind | null
  resultDigest: string | null
  dueAt: number | null
  waitsFor: string[] | null
  openDeps: number | null
  missionId: string | null
  verification: VerifiedBy
  tags: string[]
  costUsd: string | null
  isSimulated: boolean
  tokens: number | null
  runId: string | null
  work: LackingWork | null
  commentCount: number
  summary: string | null
  workMs: number | null
  notTaken: NotTaken | null
  createdAt: number
  updatedAt: number
  completedAt: number | null
}

/** How many of the tasks that one waits for are named. */
const MOST_NAMED = 5
const MOST_COUNTED = 1_000
const OPEN_UPSTREAM = `select u.uuid from task_dependencies x cross join lateral (
    select k.uuid, k.completed_at from tasks k where k.workspace_id = $1 and k.id = x.depends_on offset 0) u
  where x.workspace_id = $1 and x.task_id = t.id and u.completed_at is null`
const isHeld = `t.claim_state = 'active'`
// What was cancelled while it waited waits for nothing, but keeps its mark.
const isWaiting = 't.blocked and t.completed_at is null'

/** What is read separately, since most cards have none: the last run, what was used, what an ended task came to, why nobody takes a queued one. */
type OfRuns = 'runId' | 'work'
type OfUsage = 'costUsd' | 'isSimulated' | 'tokens'
type OfEnds = 'summary' | 'workMs'

const SQL_OF: Record<Exclude<keyof CardRow, OfRuns | OfUsage | OfEnds | 'notTaken'>, string> = {
  id: 't.uuid',
  number: `(d.plan ->> 'sequenceNumber')::int`,
  key: 't.key',
  title: 'd.title',
  taskType: 'd.task_type',
  purpose: 't.purpose',
  state: 't.state',
  stateSince: 'ms(coalesce(t.state_since, t.updated_at))',
  priority: 't.priority',
  project:
    'case when t.project_id > 0 then (select p.slug from projects p where p.workspace_id = $1 and p.project_id = t.project_id) end',
  agent: 't.only_agent',
  holder: `case when ${isHeld} then t.agent end`,
  leaseExpiresAt: `case when ${isHeld} then ms(t.lease_expires_at) end`,
  lastAgent: 't.agent',
  generation: 't.generation',
  version: 't.version',
  attempt: 't.attempt',
  maxRetries: 't.max_retries',
  percent: `case when ${hasReported('t')} then d.progress_percent end`,
  step: `case when ${hasReported('t')} then d.progress_step end`,
  reason: 'coalesce(d.waits_because, d.error)',
  waitsKind: 'd.waits_kind',
  resultDigest: RESULT_DIGEST,
  dueAt: 'ms(t.due_at)',
  waitsFor: `case when ${isWaiting} then array(${OPEN_UPSTREAM} order by x.depends_on limit ${MOST_NAMED}) end`,
  openDeps: `case when ${isWaiting} then (select count(*) from (${OPEN_UPSTREAM} limit ${MOST_COUNTED}) n) end`,
  missionId:
    'case when t.mission_id is not null then (select m.uuid from missions m where m.workspace_id = $1 and m.mission_id = t.mission_id) end',
  verification: 't.review',
  tags: 'd.tags',
  commentCount: 'd.comment_count',
  createdAt: 'ms(t.created_at)',
  updatedAt: 'ms(t.updated_at)',
  completedAt: 'ms(t.completed_at)',
}
const FIELDS = Object.keys(SQL_OF) as (keyof typeof SQL_OF)[]

const inColumns = (fields: readonly string[]) =>
  `json_build_array(${fields.map((field) => `json_agg(c."${field}")`).join(', ')})`

/**
 * Field by field: of each a list of its values, in one order. Card by card, the type of every single value would be looked up
 * again, which takes longer than everything else.
 */
export interface StoredCards {
  cards: Columns
  runs: Columns
  used: Columns
  ends: Columns
  untaken: ({ ids: string[] } & NotTaken)[] | null
}
export const NO_CARDS: Record<keyof StoredCards, string> = {
  ...{
    cards: 'null::json',
    runs: 'null::json',
    used: 'null::json',
    ends: 'null::json',
    untaken: 'null::json',
  },
}
/** The expressions as columns of a query. */
export const valuesOf = (expressions: Record<keyof StoredCards, string>) =>
  Object.entries(expressions)
    .map(([name, expression]) => `${expression} as ${name}`)
    .join(', ')

type Columns = readonly (readonly unknown[] | null)[] | null

/**
 * What the work of the last run lacks. Its folder is first searched as text, in the form that JSON.stringify writes: most lack
 * nothing, and parsing thousands of them would take as long as the rest of a board.
 */
const HAS = (text: string) => `strpos(f.written, '${text}') > 0`
const IS_UNREAD = `starts_with(f.summary, '${WITHOUT_RESULT}')`
const LACKING = `(select json_build_object('isNotSaved', f.folder ->> 'notSaved' is not null,
       'isMissing', f.folder ->> 'missing' is not null,
       'leftOut', coalesce((f.folder -> 'saved' ->> 'leftOutCount')::int, 0),
       'unread', case when ${IS_UNREAD} then f.summary end)
     from (select l.folder, l.folder::text as written, l.summary from runs l
            where l.workspace_id = $1 and l.run_id = r."runId" offset 0) f
    where ${HAS('"leftOutCount":')} and not ${HAS('"leftOutCount":0')} or ${HAS('"notSaved":"')} or ${HAS('"missing":"')} or ${IS_UNREAD})`

/** Of ended tasks: the attempts of each together, and the summary of the result that was accepted. */
const endsOf = (ids: string) => `(select ${inColumns(['id', 'summary', 'workMs'])} from (
     select t.uuid as id, w.summary, w."workMs" from tasks t cross join lateral (
       select sum(ms(a.ended_at) - ms(a.acquired_at)) as "workMs",
              max(left(a.summary, ${SUMMARY_CHARS})) filter (where a.epoch = t.epoch and a.accepted) as summary
         from attempts a where a.workspace_id = $1 and a.task_id = t.id) w
      where t.workspace_id = $1 and t.id = any (${ids}) and t.completed_at is not null) c)`

/** How many different wishes of queued tasks are looked at: most boards have a few. */
const MOST_WISHES = 100
const WISH = { agent: 'g.agent', capabilities: 'g.capabilities', type: 'g.type' }

/** Queued tasks that ask for the same are answered together: whether somebody who is there may take them, and if not, who could. */
const untakenOf = (
  ids: string,
) => `(select json_agg(json_build_object('ids', g.ids, 'requiredCapabilities', g.capabilities,
       'agents', e.agents, 'agentCount', e.count)) from (
     select t.only_agent as agent, t.capabilities, case when t.purpose = 'work' then d.task_type end as type, json_agg(t.uuid) as ids
       from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id
      where t.workspace_id = $1 and t.id = any (${ids}) and t.state = 'queued' group by 1, 2, 3 limit ${MOST_WISHES}) g
   cross join lateral (
     select coalesce(json_agg(${SHOWN_AGENT}) filter (where f.place <= ${MOST_NAMED_AGENTS}), '[]') as agents, count(*)::int as count from (
       select a.slug, a.state, a.state_reason, a.leaving, row_number() over (order by a.slug) as place
         from agents a where ${mayClaim(WISH)}) f) e
   where not exists (select from agents a where ${mayClaim(WISH)} and a.state = 'idle' and not a.leaving)
     and not exists (select from sessions s where ${workersFor(WISH)}))`

/** The cards of the tasks with these ids, and what is read beside them. */
export const selectCards = (ids: string): Record<keyof StoredCards, string> => ({
  cards: `(select ${inColumns(FIELDS)} from (
     select ${FIELDS.map((field) => `${SQL_OF[field]} as "${field}"`).join(', ')} from tasks t
       join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id
      where t.workspace_id = $1 and t.id = any (${ids}) order by t.id) c)`,
  runs: `(select ${inColumns(['id', 'runId', 'work'])} from (
     select r.*, ${LACKING} as work from (
       select x.task_uuid as id,
              (array_agg(x.run_id order by x.run_id desc))[1] as "runId"
         from runs x where x.workspace_id = $1 and x.task_id = any (${ids}) group by x.task_id, x.task_uuid) r) c)`,
  used: `(select ${inColumns(['id', 'costUsd', 'isSimulated', 'tokens'])} from (
     select t.uuid as id, u.usd as "costUsd", u.is_simulated as "isSimulated", u.tokens from (
       select s.task_id, trim_scale(sum(${costOf('s')}))::text as usd, bool_or(s.is_simulated) as is_simulated, sum(s.input_tokens + s.cached_input_tokens + s.output_tokens) as tokens
         from usage_sources s where s.workspace_id = $1 and s.task_id = any (${ids}) and ${HAS_TOLD('s')} group by s.task_id) u
       cross join lateral (select k.uuid from tasks k where k.workspace_id = $1 and k.id = u.task_id offset 0) t) c)`,
  ends: endsOf(ids),
  untaken: untakenOf(ids),
})

type Runs = Pick<CardRow, OfRuns>
type Ends = Pick<CardRow, OfEnds>
const NO_RUNS: Runs = { runId: null, work: null }
type Used = Pick<CardRow, OfUsage>
const NOTHING_USED: Used = { costUsd: null, isSimulated: false, tokens: null }
const NO_END: Ends = { summary: null, workMs: null }

// Generated once as code: a board has thousands of them.
const readCard = new Function(
  'columns',
  'n',
  'runs',
  'used',
  'end',
  'notTaken',
  `return { ${FIELDS.map((field, i) => `${field}: columns[${i}][n]`).join(', ')}, costUsd: used.costUsd, isSimulated: used.isSimulated, tokens: used.tokens, runId: runs.runId, work: runs.work,
    summary: end.summary, workMs: end.workMs, notTaken }`,
) as (columns: Columns, n: number, runs: Runs, used: Used, end: Ends, notTaken: NotTaken | null) => CardRow

function runsIn(columns: Columns): Map<unknown, Runs> {
  const [tasks, last, lacking] = columns as [string[] | null, string[], (LackingWork | null)[]]
  return new Map(tasks?.map((id, n) => [id, { runId: last[n]!, work: lacking[n] ?? null }]))
}

function usedIn(columns: Columns): Map<unknown, Used> {
  const [tasks, costs, simulated, tokens] = columns as [
    string[] | null,
    (string | null)[],
    boolean[],
    number[],
  ]
  return new Map(
    tasks?.map((id, n) => [id, { costUsd: costs[n]!, isSimulated: simulated[n]!, tokens: tokens[n]! }]),
  )
}

function endsIn(columns: Columns): Map<unknown, Ends> {
  const [tasks, summaries, works] = columns as [string[] | null, (string | null)[], (number | null)[]]
  return new Map(tasks?.map((id, n) => [id, { summary: summaries[n]!, workMs: works[n]! }]))
}

/** In the order of their creation. */
export function readCards({ cards, runs, used, ends, untaken }: StoredCards): CardRow[] {
  const [uuids] = cards ?? []
  if (!uuids) return []
  const [runsOf, usedOf, endsOf] = [runsIn(runs), usedIn(used), endsIn(ends)]
  const notTaken = new Map<unknown, NotTaken>()
  for (const { ids, ...wish } of untaken ?? []) for (const id of ids) notTaken.set(id, wish)
  return uuids.map((id, n) =>
    readCard(
      cards,
      n,
      runsOf.get(id) ?? NO_RUNS,
      usedOf.get(id) ?? NOTHING_USED,
      endsOf.get(id) ?? NO_END,
      notTaken.get(id) ?? null,
    ),
  )
}

const OF_TASKS = selectCards('$2::bigint[]')

/** The cards of these tasks, as of one event; unknown tasks are left out. */
export async function cardsOfTasks(
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
): Promise<{ cards: CardRow[]; seq: number }> {
  const [, rows] = await scopedQueries<{ seq: number } & StoredCards>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    [
      BY_KEYS,
      {
        name: 'cards_of_tasks',
        text: `select ${LAST_SEQ} as seq, ${valuesOf(OF_TASKS)}`,
        values: [workspaceId, taskIds],
      },
    ],
  )
  const [row] = rows!
  return { cards: readCards(row!), seq: row!.seq }
}
