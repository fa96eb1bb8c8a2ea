import type { TaskState } from '../../../pure/states.ts'
import type { EventType } from '../../events.ts'
import type { Attention, Continuation } from './groups.ts'
import { resultDigestOf } from './standing-result.ts'
import type { InboxKind, WaitKind } from './waiting.ts'

/** Events that say what waits for people. They are written with what makes an item wait, and with what ends that. */

/** What is known of an item where it begins to wait. */
interface NewItem {
  id: string
  kind: InboxKind
  agent: string | null
  reason: string | null
  since: number
  /** The generation of a task; for a plan, a mission or an agent, its version. */
  generation: number | null
  digest: string | null
}

type ItemEvent = readonly [EventType, Record<string, unknown>]

const added = (item: NewItem): ItemEvent => ['inbox_added', { item }]
export const closed = (id: string, because: string): ItemEvent => ['inbox_closed', { id, because }]

/** What differs between the items of one thing before and after a change. */
export function itemsChanged(
  before: readonly NewItem[],
  after: readonly NewItem[],
  because: string,
): ItemEvent[] {
  const isAmong = (items: readonly NewItem[], { id, kind }: NewItem) =>
    items.some((one) => one.id === id && one.kind === kind)
  return [
    ...before.filter((item) => !isAmong(after, item)).map(({ id }) => closed(id, because)),
    ...after.filter((item) => !isAmong(before, item)).map(added),
  ]
}

interface WaitingTask {
  readonly uuid: string
  readonly generation: number
  readonly state: TaskState
  readonly agent: string | null
  readonly resultHash: string | null
  readonly attention: Attention | null
  readonly continuation: Continuation | null
  readonly resultCommit: string | null
}

/** An alert is about its task whatever the generation: the task waits until somebody takes it. */
export const taskItemId = ({
  uuid,
  generation,
  attention,
}: Pick<WaitingTask, 'uuid' | 'generation' | 'attention'>) =>
  attention?.alert !== undefined ? `alert:${uuid}` : `task:${uuid}:${generation}`

/** Whether a task is an item of the inbox. A task that failed is one only as a dead letter, a queued one only as an alert. */
export const isItem = ({
  state,
  attention,
  continuation,
}: Pick<WaitingTask, 'state' | 'attention' | 'continuation'>) =>
  state === 'awaiting_human' ||
  (state === 'budget_exceeded' && !continuation?.overBudget?.asks) ||
  attention?.isDeadLetter === true ||
  attention?.alert !== undefined

/** A task moved: `before` is the item that it was, `waits` what it waits for now. */
export function taskItemsChanged(
  before: Pick<WaitingTask, 'uuid' | 'generation' | 'attention'> | null,
  after: WaitingTask,
  waits: { waitsKind: WaitKind | null; waitsSince: number | null; waitsBecause: string | null },
  because: string,
): ItemEvent[] {
  const events = before ? [closed(taskItemId(before), because)] : []
  const { waitsKind: kind, waitsSince, waitsBecause: reason } = waits
  if (kind === null) return events
  const { agent, generation } = after
  const digest = resultDigestOf(after)
  const item = { id: taskItemId(after), kind, agent, reason, since: waitsSince!, generation, digest }
  return [...events, added(item)]
}
