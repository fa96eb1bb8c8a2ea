import type { EventType } from '../../../src/kinds/events.ts'
import { dropsProgress, isHeld, isTerminal, type TaskState } from '../../../src/pure/states.ts'
import { type Card, type LiveEvent, payloadField } from './card.ts'

/** How events change a card. Values in events are those after the event: only comments are added up. */

const stamped = (card: Card, event: LiveEvent): Card => ({
  ...card,
  version: event.version ?? card.version,
  updatedAt: Date.parse(event.at),
})

/** Any change of state. */
export function moved(card: Card, event: LiveEvent): Card {
  const to = event.to as TaskState
  const at = Date.parse(event.at)
  const isFirst = card.state !== to || event.type === 'task_assigned'
  return {
    ...stamped(card, event),
    state: to,
    stateSince: isFirst ? at : card.stateSince,
    generation: event.generation ?? card.generation,
    attempt:
      payloadField(event, 'attemptsSpent', 'number') ??
      payloadField(event, 'attempt', 'number') ??
      card.attempt,
    holder: holderAfter(card, event, to, at),
    ...anewAfter(card, event, to),
    dueAt: to === 'awaiting_retry' ? (payloadField(event, 'retryAt', 'number') ?? null) : null,
    completedAt: isTerminal(to) ? at : null,
    // A task that waits for others is pending or paused; its card is read again then.
    ...(to !== 'pending' && to !== 'paused' && { waitsFor: [], openDeps: 0 }),
    ...(dropsProgress(card.state, to) && { percent: null, step: null }),
    priority: (event.type === 'task_hung' && payloadField(event, 'priority', 'number')) || card.priority,
    ...waitsAfter(card, event, to),
  }
}

type Anew = Pick<Card, 'lastAgent' | 'percent' | 'step' | 'summary' | 'workMs' | 'notTaken'>

/** What is no longer so: a claim begins without progress, and only what has ended came to something. */
function anewAfter(card: Card, event: LiveEvent, to: TaskState): Anew {
  const isClaimed = event.type === 'task_assigned'
  const hasEnded = isTerminal(to)
  return {
    lastAgent: (isClaimed && payloadField(event, 'agent', 'string')) || card.lastAgent,
    percent: isClaimed ? null : card.percent,
    step: isClaimed ? null : card.step,
    summary: hasEnded ? card.summary : null,
    workMs: hasEnded ? card.workMs : null,
    notTaken: to === 'queued' ? card.notTaken : null,
  }
}

function holderAfter(card: Card, event: LiveEvent, to: TaskState, at: number): Card['holder'] {
  if (!isHeld(to)) return null
  const agent = payloadField(event, 'agent', 'string') ?? card.holder?.agent
  if (agent === undefined) return null
  const leaseMs = payloadField(event, 'leaseMs', 'number')
  const leaseExpiresAt = leaseMs === undefined ? (card.holder?.leaseExpiresAt ?? at) : at + leaseMs
  return { agent, leaseExpiresAt }
}

const MAY_WAIT: readonly TaskState[] = ['awaiting_human', 'budget_exceeded', 'failed']
type Waits = Pick<Card, 'reason' | 'awaits'>

/** Why it waits, or failed. For a task that waits for a person, `inbox_added` came right before the move. */
function waitsAfter(card: Card, event: LiveEvent, to: TaskState): Waits {
  const { type, payload } = event
  const stillWaits = MAY_WAIT.includes(to) && card.state === to
  if (type === 'task_failed' || type === 'task_retrying') {
    const awaits = to === 'failed' ? waitsBy(event) : null
    const reason = typeof payload.error === 'string' ? payload.error : card.reason
    return { awaits, reason: awaits === null ? reason : becauseOf(event) }
  }
  if (to === 'awaiting_human' || to === 'budget_exceeded')
    return { awaits: stillWaits ? card.awaits : waitsBy(event), reason: becauseOf(event) }
  if (type === 'task_human_rejected' || type === 'task_verification_failed') {
    const said = payload.comment ?? payload.verdict
    return { awaits: null, reason: typeof said === 'string' ? said : null }
  }
  return { awaits: null, reason: to === 'completed' ? null : card.reason }
}

const becauseOf = ({ payload: { error, reason } }: LiveEvent) => {
  const because = error ?? reason
  return typeof because === 'string' ? because : null
}

function waitsBy({ to, payload: { question, reason } }: LiveEvent): Card['awaits'] {
  if (to === 'budget_exceeded') return 'budget'
  if (to === 'awaiting_human') return typeof question === 'string' ? 'question' : 'result'
  return reason === 'attempts' || reason === 'generations' ? 'person' : null
}

/** A result, or a question: `item` has its digest, which an approval is bound to. An alert changes no state: its item says all. */
export function waitingForPerson(card: Card, { payload: { item } }: LiveEvent): Card {
  const { digest, kind, reason } = (item ?? {}) as { digest?: unknown; kind?: unknown; reason?: unknown }
  if (kind === 'alert')
    return { ...card, awaits: 'agent', reason: typeof reason === 'string' ? reason : card.reason }
  return typeof digest === 'string' ? { ...card, resultDigest: digest } : card
}

export const progressed = (card: Card, event: LiveEvent): Card => ({
  ...stamped(card, event),
  percent: payloadField(event, 'percent', 'number') ?? card.percent,
  step: payloadField(event, 'step', 'string') ?? card.step,
})

export function renewed(card: Card, event: LiveEvent): Card {
  const leaseExpiresAt = payloadField(event, 'leaseExpiresAt', 'number')
  const holder = card.holder && leaseExpiresAt ? { ...card.holder, leaseExpiresAt } : card.holder
  return { ...stamped(card, event), holder }
}

/** Notes raise no version, but some are written with a change that does. */
export const noted = (card: Card, { version }: LiveEvent): Card =>
  version === null || version === card.version ? card : { ...card, version }

export const commented = (card: Card, event: LiveEvent): Card => ({
  ...noted(card, event),
  commentCount: card.commentCount + 1,
})

/** A new run lacks nothing so far. */
export const ranBy = (card: Card, { runId }: LiveEvent): Card =>
  runId === null || runId === card.runId ? card : { ...card, runId, workNote: null }

/** All runs of the task together, and the last of them. */
export function spent(card: Card, event: LiveEvent): Card {
  const tokensUsed = payloadField(event, 'taskTokens', 'number') ?? card.tokensUsed
  const cost = event.payload.taskCostUsd
  const costUsd = typeof cost === 'string' || cost === null ? cost : card.costUsd
  const isSimulated = card.isSimulated || event.payload.isSimulated === true
  return tokensUsed === card.tokensUsed && costUsd === card.costUsd && isSimulated === card.isSimulated
    ? card
    : { ...card, tokensUsed, costUsd, isSimulated }
}

/**
 * Whether an event changes what it does not contain, so that the card must be read: what it waits for, whom it is reserved for, whether
 * anybody takes it, the reason below another reason, what the work of a run lacks, what an ended task came to.
 */
export function mustBeRead(card: Card, { type, to }: LiveEvent): boolean {
  if (ALWAYS_READ.has(type)) return true
  // Only a later attempt can lack earlier work.
  if (type === 'run_started' && card.generation > 1) return true
  if (to === null) return false
  // Whether somebody takes it follows from agents; its attempts and its result from claims.
  if (to === 'queued' || (isTerminal(to as TaskState) && card.generation > 0)) return true
  if (to === 'pending' || (to === 'paused' && card.state === 'pending')) return true
  // A task that had begun may have been reserved for its last agent while it was queued, and no event says so.
  if (card.generation > 0 && card.state === 'queued' && card.agent !== null) return true
  return (card.awaits !== null || card.state === 'failed') && !MAY_WAIT.includes(to as TaskState)
}

const ALWAYS_READ = new Set<EventType>(['task_divided', 'task_result_promoted', 'run_finished'])
/** After these another may take it, or nobody: queued cards are read again. */
export const CHANGES_WHO_MAY_TAKE: ReadonlySet<EventType> = new Set([
  ...(['agent_registered', 'agent_updated', 'agent_paused', 'agent_resumed', 'agent_leaving'] as const),
  ...(['agent_terminated', 'agent_removed', 'agent_stale', 'agent_recovered', 'agent_faulted'] as const),
  ...(['worker_registered', 'worker_draining', 'worker_lost'] as const),
])
