import type { Circumstances, Reply, TaskCommand, Worker } from '../commands.ts'
import { type ErrorCode, type Refusal, refuse } from '../errors.ts'
import type { TaskDraft, TaskRecord } from '../records.ts'
import { isHeld } from '../states.ts'
import { expireLease, fail, leaseRanOut, whatRanOut } from './fence.ts'
import { giveUp, nobodyWantedIt } from './time.ts'

type Claim = Extract<TaskCommand, { kind: 'claim' }>

export function claim(draft: TaskDraft, command: Claim, around: Circumstances): Reply {
  const { record } = draft
  const lapsed = leaseRanOut(record, around.now) ? record.session : null
  if (lapsed !== null) expireLease(draft, around)
  if (nobodyWantedIt(record, around.now)) giveUp(draft)
  const denial = whyNotClaimable(record, command, around, lapsed)
  if (denial) return denial
  // Limits may have been lowered since the task was queued.
  const exhausted = whatRanOut(record, around)
  if (exhausted) {
    fail(draft, 'system', { attempt: record.attempt }, exhausted)
    return refuse('NOT_READY', `The task has used up its ${exhausted} and is in the dead letter now.`, {
      taskState: record.state,
    })
  }
  const previousState = record.claimState
  const leaseMs = Math.max(command.leaseMs, record.minLeaseMs)
  record.generation += 1
  record.attempt += 1
  record.dueAt = null
  record.claimState = 'active'
  record.session = command.session
  record.agent = command.agent
  record.leaseMs = leaseMs
  record.leaseExpiresAt = around.now + leaseMs
  draft.effects.claims.push({
    kind: 'opened',
    taskId: record.id,
    generation: record.generation,
    session: command.session,
    agent: command.agent,
    leaseExpiresAt: record.leaseExpiresAt,
    at: around.now,
  })
  draft.move('task_assigned', `agent:${command.agent}`, {
    agent: command.agent,
    session: command.session,
    leaseMs,
    attempt: record.attempt,
    previousState,
  })
  return { ok: true, reason: 'GRANTED', claim: claimView(record, around.now) }
}

/** `lapsed` is whose claim on this task has just been found to be over: what it took up is free. */
function whyNotClaimable(record: TaskRecord, command: Claim, around: Circumstances, lapsed: string | null) {
  const { state } = record
  if (state === 'completed')
    return refuse('DENIED_COMPLETED', 'The task is completed; reset it to work on it again.')
  if (isHeld(state)) {
    return refuse(
      'DENIED_ACTIVE_CLAIM',
      `${record.agent} holds this task at generation ${record.generation}.`,
      {
        currentHolder: record.agent,
        currentGeneration: record.generation,
        ttlMs: record.leaseExpiresAt! - around.now,
      },
    )
  }
  if (state !== 'queued' && state !== 'awaiting_retry')
    return refuse('NOT_READY', `The task is ${state}.`, { taskState: state })
  if (state === 'awaiting_retry' && record.dueAt! > around.now)
    return refuse('NOT_READY', 'The task waits for its next attempt.', {
      taskState: state,
      dueAt: new Date(record.dueAt!).toISOString(),
    })
  if (record.onlyAgent !== null && record.onlyAgent !== command.agent)
    return refuse('WRONG_AGENT', `Only ${record.onlyAgent} may take this task.`)
  const missing = record.capabilities.find((capability) => !command.capabilities.includes(capability))
  if (missing !== undefined)
    return refuse('MISSING_CAPABILITY', `${command.agent} lacks "${missing}".`, { missing })
  const unfit = around.worker && whyNotBy(around.worker, lapsed === command.session ? 1 : 0)
  if (unfit) return unfit
  const agents = around.trackIsFull?.(record, command.agent) ?? null
  if (agents !== null)
    return refuse(
      'TRACK_FULL',
      `Track ${record.line} has its ${agents} agent${agents === 1 ? '' : 's'} already.`,
      {
        track: record.line,
        maxAgents: agents,
      },
    )
  if (around.roomForClaims + (lapsed === null ? 0 : 1) <= 0)
    return refuse(
      'LIMIT_REACHED',
      `This workspace has ${around.limits.maxConcurrentClaims} active claims already.`,
      {
        limit: 'maxConcurrentClaims',
      },
    )
  return null
}

/** Why this worker may not have another task, whichever it is. */
function whyNotBy(
  { record: { name, state, capacity }, held: counted }: Worker,
  free: number,
): Refusal | null {
  const held = counted - free
  if (state === 'draining') return refuse('WORKER_DRAINING', `${name} is draining and takes no new work.`)
  if (state !== 'active') return refuse('WORKER_GONE', `${name} is ${state}; it must register again.`)
  if (held >= capacity!)
    return refuse('NO_CAPACITY', `${name} holds ${held} of the ${capacity} tasks it can.`, { capacity, held })
  return null
}

/** Refusals that are about who asks, not about which task: whatever else waits would be refused as well. */
export const REFUSED_WHATEVER_IT_IS: ReadonlySet<ErrorCode> = new Set([
  'LIMIT_REACHED',
  'NO_CAPACITY',
  'WORKER_DRAINING',
  'WORKER_GONE',
])

function claimView(record: TaskRecord, now: number) {
  return {
    taskId: record.uuid,
    generation: record.generation,
    session: record.session!,
    agent: record.agent!,
    state: record.claimState!,
    attempt: record.attempt,
    leaseExpiresAt: new Date(record.leaseExpiresAt!).toISOString(),
    ttlMs: record.leaseExpiresAt! - now,
  }
}
