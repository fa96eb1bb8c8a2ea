import type { Circumstances, Reply, TaskCommand } from '../commands.ts'
import { refuse } from '../errors.ts'
import type { TaskDraft, TaskRecord } from '../records.ts'
import { isHeld } from '../states.ts'
import { expireLease, leaseRanOut, whatRanOut } from './fence.ts'

type Claim = Extract<TaskCommand, { kind: 'claim' }>

export function claim(draft: TaskDraft, command: Claim, around: Circumstances): Reply {
  const { record } = draft
  if (leaseRanOut(record, around.now)) expireLease(draft, around)
  const denial = whyNotClaimable(record, command, around)
  if (denial) return denial
  // Limits may have been lowered since the task was queued.
  const exhausted = whatRanOut(record, around)
  if (exhausted) {
    draft.move('task_failed', 'system', { attempt: record.attempt, reason: exhausted })
    return refuse('NOT_READY', `The task has used up its ${exhausted} and is in the dead letter now.`, {
      taskState: record.state,
    })
  }
  const previousState = record.claimState
  record.generation += 1
  record.attempt += 1
  record.dueAt = null
  record.claimState = 'active'
  record.session = command.session
  record.agent = command.agent
  record.leaseMs = command.leaseMs
  record.leaseExpiresAt = around.now + command.leaseMs
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
    leaseMs: command.leaseMs,
    attempt: record.attempt,
    previousState,
  })
  return { ok: true, reason: 'GRANTED', claim: claimView(record, around.now) }
}

function whyNotClaimable(record: TaskRecord, command: Claim, around: Circumstances) {
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
  if (record.dueAt !== null && record.dueAt > around.now)
    return refuse('NOT_READY', 'The task waits for its next attempt.', {
      taskState: state,
      dueAt: new Date(record.dueAt).toISOString(),
    })
  if (record.onlyAgent !== null && record.onlyAgent !== command.agent)
    return refuse('WRONG_AGENT', `Only ${record.onlyAgent} may take this task.`)
  const missing = record.capabilities?.find((capability) => !command.capabilities.includes(capability))
  if (missing !== undefined)
    return refuse('MISSING_CAPABILITY', `${command.agent} lacks "${missing}".`, { missing })
  if (around.roomForClaims <= 0)
    return refuse(
      'LIMIT_REACHED',
      `This workspace has ${around.limits.maxConcurrentClaims} active claims already.`,
      {
        limit: 'maxConcurrentClaims',
      },
    )
  return null
}

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
