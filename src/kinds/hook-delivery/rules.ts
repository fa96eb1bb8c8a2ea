import { type Refusal, refuse } from '../../pure/errors.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { TaskWork } from '../kind.ts'
import type { RoutineCommand } from '../routine/rules/command.ts'
import type { NewTask } from '../task/command.ts'
import type { TaskRecord } from '../task/record.ts'
import type { DoneKind, HookDeliveryRecord, Verdict } from './record.ts'

/** What a delivery to a hook does: once, in the transaction that notes it. */

/** What it makes. An agent is woken before: the wakeup knows the delivery by its own idempotency key. */
type Makes =
  | { kind: 'task'; task: NewTask }
  | { kind: 'mission'; routineId: string; command: Extract<RoutineCommand, { kind: 'run' }> }
  | { kind: 'wakeup'; id: string }

export interface DeliverCommand {
  kind: 'deliver'
  hookId: string
  hookName: string
  sentAs: string | null
  event: string | null
  bytes: number
  verdict: Verdict
  reason: string | null
  makes: Makes | null
}

/** It came again: senders repeat what was not answered. */
interface RepeatCommand {
  kind: 'repeat'
}

export type HookDeliveryCommand = DeliverCommand | RepeatCommand

interface HookDeliveryDecision {
  refusal: Refusal | null
  record: HookDeliveryRecord | null
  events: EventDraft[]
  creates?: TaskWork
  also?: { on: 'routine'; key: string; uuid: string; command: RoutineCommand } | null
  withTasks?: (created: readonly TaskRecord[]) => HookDeliveryRecord
}

const makesOf = (command: HookDeliveryCommand) => (command.kind === 'deliver' ? command.makes : null)

export function tasksOf(command: HookDeliveryCommand): TaskWork | null {
  const makes = makesOf(command)
  return makes?.kind === 'task' ? { tasks: [makes.task], changes: [] } : null
}

export function routineOf(command: HookDeliveryCommand) {
  const makes = makesOf(command)
  if (makes?.kind !== 'mission') return null
  const { routineId, command: run } = makes
  return { on: 'routine' as const, key: routineId, uuid: routineId, command: run }
}

const madeId = (makes: Makes | null): string | null => {
  if (makes === null || makes.kind === 'task') return null
  return makes.kind === 'mission' ? makes.command.mission.uuid : makes.id
}

const EVENT_OF = {
  done: 'hook_delivered',
  ignored: 'hook_ignored',
  failed: 'hook_failed',
  refused: 'hook_refused',
} as const satisfies Record<Verdict, string>

export function decideHookDelivery(
  before: HookDeliveryRecord | null,
  { key, uuid }: { key: string; uuid: string },
  command: HookDeliveryCommand,
  { now, origin }: { now: number; origin: Origin },
): HookDeliveryDecision {
  // It did what it does the first time. Another request may have been faster.
  if (before) return { refusal: null, record: { ...before, repeats: before.repeats + 1 }, events: [] }
  if (command.kind === 'repeat')
    return { refusal: refuse('NOT_FOUND', 'There is no such delivery.'), record: null, events: [] }
  const { hookId, hookName, sentAs, event, bytes, verdict, reason, makes } = command
  const record: HookDeliveryRecord = {
    ...{ key, hookId, deliveryId: uuid, sentAs, event, bytes, verdict, reason, repeats: 0, receivedAt: now },
    address: origin.address ?? null,
    made: makes?.kind ?? null,
    madeId: madeId(makes),
  }
  const made: DoneKind | null = makes?.kind ?? null
  const payload = { hookId, name: hookName, delivery: uuid, made, reason }
  const decision: HookDeliveryDecision = {
    ...{ refusal: null, record, also: routineOf(command) },
    events: [workspaceEvent(EVENT_OF[verdict], payload, { ...origin, now })],
  }
  const tasks = tasksOf(command)
  if (!tasks) return decision
  return {
    ...decision,
    creates: tasks,
    withTasks: ([task]) => ({ ...record, madeId: task!.uuid }),
  }
}
