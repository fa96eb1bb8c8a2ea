import type pg from 'pg'
import type { Purpose } from '../../../core/records.ts'
import type { Review } from '../../../core/reviews.ts'
import type { TaskState } from '../../../core/states.ts'
import type { WaitKind } from '../../../core/waiting.ts'
import { LAST_SEQ } from '../kernel/log-head.ts'
import { scopedQuery } from '../kernel/scoped-query.ts'

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
  review: Review
  tags: string[]
  costUsd: string | null
  tokens: number | null
  runId: string | null
  commentCount: number
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

const SQL_OF: Record<keyof CardRow, string> = {
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
  generation: 't.generation',
  version: 't.version',
  attempt: 't.attempt',
  maxRetries: 't.max_retries',
  step: 'd.progress_step',
  percent: 'd.progress_percent',
  reason: 'coalesce(d.waits_because, d.error)',
  waitsKind: 'd.waits_kind',
  resultDigest: 't.result_hash',
  dueAt: 'ms(t.due_at)',
  waitsFor: `case when t.blocked then array(${OPEN_UPSTREAM} order by x.depends_on limit ${MOST_NAMED}) end`,
  openDeps: `case when t.blocked then (select count(*) from (${OPEN_UPSTREAM} limit ${MOST_COUNTED}) n) end`,
  missionId:
    'case when t.mission_id is not null then (select m.uuid from missions m where m.workspace_id = $1 and m.mission_id = t.mission_id) end',
  review: 't.review',
  tags: 'd.tags',
  costUsd: 'r.cost',
  tokens: 'r.tokens',
  runId: 'r.last',
  commentCount: 'd.comment_count',
  createdAt: 'ms(t.created_at)',
  updatedAt: 'ms(t.updated_at)',
  completedAt: 'ms(t.completed_at)',
}
const FIELDS = Object.keys(SQL_OF) as (keyof CardRow)[]

/** A card as an array, in the order of the fields: their names would be most of the text. */
const CARD = `json_build_array(${Object.values(SQL_OF).join(', ')})`
const RUNS = `(select trim_scale(sum(x.cost_usd))::text as cost, (array_agg(x.run_id order by x.run_id desc))[1] as last,
    sum(coalesce(x.input_tokens, 0) + coalesce(x.cached_input_tokens, 0) + coalesce(x.output_tokens, 0)) as tokens
  from runs x where x.workspace_id = $1 and x.task_id = t.id)`

/** The cards of tasks whose ids are selected; `order` may name fields of t. */
export const cardsOf = (ids: string, order: string) =>
  `select json_agg(${CARD} order by ${order}) from tasks t
     join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id
     cross join lateral ${RUNS} r
    where t.workspace_id = $1 and t.id = any (${ids})`

// Generated once as code: a board has thousands of them.
const readCard = new Function(
  'row',
  `return { ${FIELDS.map((field, i) => `${field}: row[${i}]`).join(', ')} }`,
) as (row: unknown[]) => CardRow

export const readCards = (rows: unknown[][] | null): CardRow[] => (rows ?? []).map(readCard)

/** The cards of these tasks, as of one event; unknown tasks are left out. */
export async function cardsOfTasks(
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
): Promise<{ cards: CardRow[]; seq: number }> {
  const [row] = await scopedQuery<{ seq: number; cards: unknown[][] | null }>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      name: 'cards_of_tasks',
      text: `select ${LAST_SEQ} as seq,
        (${cardsOf('$2::bigint[]', 't.id')}) as cards`,
      values: [workspaceId, taskIds],
    },
  )
  return { cards: readCards(row!.cards), seq: row!.seq }
}
