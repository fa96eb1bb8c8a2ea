import type pg from 'pg'
import type { StoredReply } from '../../../kernel/batch/requests.ts'
import type { MissionPhase } from '../../../kinds/mission/states.ts'
import type { Purpose } from '../../../kinds/task/record.ts'
import { INBOX_KINDS, type InboxKind } from '../../../kinds/task/rules/waiting.ts'
import { BY_KEYS, inside, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import type { AgentState, TaskState } from '../../../pure/states.ts'
import { MOST_BLOCKING_ITEMS, OLDEST_ITEMS, ONE_ITEM } from './statements.ts'

/** What waits for people. */

/** The position of an item in the list. */
export interface InboxPlace {
  since: number
  kind: InboxKind
  num: number
  ref: string
  /** Only in a list by how much they block. */
  blocks?: number | undefined
}

export interface InboxRow extends Required<InboxPlace> {
  title: string
  taskId: string | null
  missionId: string | null
  runId: string | null
  agent: string | null
  taskState: TaskState | null
  missionPhase: MissionPhase | null
  generation: number | null
  digest: string | null
  reason: string | null
  preview: string | null
  dueAt: number | null
  adapterType: string | null
  onlyAgent: string | null
  /** Of the agent it is reserved for; null: there is none, or it is not there. */
  onlyAgentState: AgentState | null
  purpose: Purpose | null
  /** How its result is verified, by which agent if one is named, and the state of that agent. */
  verification: 'command' | 'agent' | 'human' | 'auto' | null
  judge: string | null
  judgeState: AgentState | null
  capabilities: string[] | null
}

export interface InboxFilter {
  kinds: readonly InboxKind[]
  missionId: number | null
  sort: 'oldest' | 'blocks'
  after: InboxPlace | null
}

interface Inbox {
  items: InboxRow[]
  counts: Record<InboxKind, number>
  seq: number
}

// Named: to plan one takes as long as to run it.
const ask = async <T>(
  pool: pg.Pool,
  workspaceId: number,
  statement: { name: string; text: string },
  values: unknown[],
): Promise<T> => {
  const query = { ...statement, values: [workspaceId, ...values] }
  const answers = await scopedQueries(pool, 'baton.workspace_id', String(workspaceId), [BY_KEYS, query])
  return answers[1]![0] as T
}

export async function readInbox(
  pool: pg.Pool,
  workspaceId: number,
  { kinds, missionId, sort, after }: InboxFilter,
  limit: number,
): Promise<Inbox> {
  const statement = sort === 'oldest' ? OLDEST_ITEMS : MOST_BLOCKING_ITEMS
  const place = after ? [after.since, after.kind, after.num, after.ref] : [null, null, null, null]
  const found = await ask<{ items: InboxRow[]; counts: { kind: InboxKind; count: number }[]; seq: number }>(
    pool,
    workspaceId,
    statement,
    [missionId, kinds, limit, ...place, sort === 'blocks' ? (after?.blocks ?? null) : null],
  )
  const counts = Object.fromEntries(INBOX_KINDS.map((kind) => [kind, 0])) as Inbox['counts']
  for (const { kind, count } of found.counts) counts[kind] = count
  return { items: found.items, counts, seq: found.seq }
}

/** One of them by what it is about; null when it no longer waits. */
export async function readInboxItem(
  pool: pg.Pool,
  workspaceId: number,
  { kind, num, ref }: { kind: InboxKind | 'task'; num: number; ref: string },
): Promise<InboxRow | null> {
  const { items } = await ask<{ items: InboxRow[] }>(pool, workspaceId, ONE_ITEM, [kind, num, ref])
  return items[0] ?? null
}

/** The reply that is stored under an idempotency key. */
export async function storedReplyUnder(
  pool: pg.Pool,
  workspaceId: number,
  key: string,
): Promise<StoredReply | undefined> {
  const text =
    'select body_hash as "bodyHash", reply from idempotency_keys where workspace_id = $1 and key = $2'
  return (await inside<StoredReply & pg.QueryResultRow>(pool, workspaceId, text, [key]))[0]
}
