import type { RunKernel } from '../door/server-kernel.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import type { Wakeup } from '../kinds/run/record.ts'
import type { TaskOutcome } from '../kinds/run/rules/ending.ts'
import { fittedLeaseMs } from '../kinds/run/rules/lease.ts'
import { isReservedOnly } from '../kinds/run/rules/policy.ts'
import type { SpentByRun } from '../kinds/run/rules/spent.ts'
import { continueAfter } from '../kinds/task/acts/children.ts'
import { claimNext, claimTask, renewTask } from '../kinds/task/acts/claims.ts'
import { failTask, submitResult } from '../kinds/task/acts/results.ts'
import { command } from '../kinds/task/acts/tasks.ts'
import type { Fence } from '../kinds/task/command.ts'
import type { Purpose, TaskRecord } from '../kinds/task/record.ts'
import type { Continuation, TaskTimers } from '../kinds/task/rules/groups.ts'
import { stallMsOf } from '../kinds/task/rules/timers.ts'
import { type ErrorCode, Refused } from '../pure/errors.ts'
import { isTerminal } from '../pure/states.ts'
import type { ExecutorContext } from './context.ts'

/** The claim a run holds: made like any other claim, on behalf of its agent. */

export interface Held {
  /** Its task's id in the API. */
  uuid: string
  taskId: number
  generation: number
  session: string
  attempt: number
  leaseMs: number
  purpose: Purpose
  /** As it was when the claim was made. */
  timers: TaskTimers | null
  continuation: Continuation | null
  /** The stall timeout of the task; null when there is none. */
  stallMs?: number | null
  missionId?: number | null
}

/** As stored in the row of the run. */
export const taskOf = (held: Held | null) =>
  held && {
    id: held.taskId,
    uuid: held.uuid,
    generation: held.generation,
    attempt: held.attempt,
    session: held.session,
    missionId: held.missionId,
  }

/** A managed agent holds all its claims under one session; the generation tells the runs apart. */
export const sessionOf = (slug: string) => `agent:${slug}`

export const asAgent = (workspaceId: number, slug: string): Caller => ({
  workspaceId,
  actor: `agent:${slug}`,
  rights: new Set(),
})

/**
 * The task of the run: the claim that woke it, the task of the wakeup, or else the next task in the queue. Null: the run has
 * no task. A claim that was lost or is denied throws like any claim.
 */
export async function claimForRun(
  kernel: RunKernel,
  workspaceId: number,
  agent: AgentRecord,
  wakeup: Wakeup,
): Promise<Held | null> {
  const caller = asAgent(workspaceId, agent.slug)
  const session = sessionOf(agent.slug)
  // By id, not slug: claiming must not register again an agent that was deleted meanwhile.
  const found = await claimOf(kernel, caller, agent, session, wakeup)
  if (!found) return null
  const fence = { session, generation: found.generation }
  const reply = await command(kernel, caller, found.uuid, { kind: 'start', fence, isRun: true })
  const { id, attempt, missionId, purpose, timers, continuation } = reply.record
  const leaseMs = await fitLease(kernel, caller, found.uuid, fence, reply.record)
  const { uuid, generation } = found
  const stallMs = stallMsOf(timers, await kernel.limits(workspaceId))
  const claim = { taskId: id, uuid, generation, session, attempt, leaseMs }
  return { ...claim, missionId, purpose, timers, continuation, stallMs }
}

/** Baton itself renews the claims of runs, and finds out by other means when their node is gone. */
async function fitLease(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  fence: Fence,
  { leaseMs, timers }: TaskRecord,
): Promise<number> {
  const { maxLeaseSeconds } = await kernel.limits(caller.workspaceId)
  const fitted = fittedLeaseMs(leaseMs, timers?.estimateMs, maxLeaseSeconds * 1000)
  if (fitted > leaseMs) await command(kernel, caller, uuid, { kind: 'renew', fence, leaseMs: fitted })
  return fitted
}

/** A lease that lasts this long, as far as the workspace allows: its agent works on while no node renews it. */
export async function lengthenLease(
  kernel: RunKernel,
  workspaceId: number,
  held: Held,
  forMs: number,
): Promise<Held> {
  const { maxLeaseSeconds } = await kernel.limits(workspaceId)
  const leaseMs = fittedLeaseMs(held.leaseMs, forMs, maxLeaseSeconds * 1000)
  if (leaseMs <= held.leaseMs) return held
  const fence = { session: held.session, generation: held.generation }
  const caller = asAgent(workspaceId, held.session.slice('agent:'.length))
  await command(kernel, caller, held.uuid, { kind: 'renew', fence, leaseMs })
  return { ...held, leaseMs }
}

async function claimOf(
  kernel: RunKernel,
  caller: Caller,
  agent: AgentRecord,
  session: string,
  { taskUuid: uuid, generation }: Wakeup,
): Promise<{ uuid: string; generation: number } | null> {
  if (uuid !== null && generation !== null) return { uuid, generation }
  if (uuid !== null) {
    const { claim } = await claimTask(kernel, caller, uuid, { agent: agent.uuid, session })
    return { uuid, generation: claim.generation }
  }
  const never = new AbortController().signal
  const wanted = { session, limit: 1, waitMs: 0, isReservedOnly: isReservedOnly(agent) }
  const { claims } = await claimNext(kernel, caller, { agent: agent.uuid, ...wanted }, { gone: never })
  const [first] = claims
  return first ? { uuid: first.task.id, generation: first.generation } : null
}

/**
 * An agent that wants to continue still holds its task while it waits for a free slot. Its lease must not expire before its
 * run starts, or the attempt would be lost through no fault of the agent.
 */
export async function renewWaitingClaims({
  kernel,
  node,
}: Pick<ExecutorContext, 'kernel' | 'node'>): Promise<void> {
  const waiting = await kernel.store.wakeups.waitingClaims(node.name)
  await Promise.all(
    waiting.map(({ workspaceId, agent, uuid, session, generation }) =>
      renewTask(kernel, asAgent(workspaceId, agent), uuid, { session, generation }).catch((error) => {
        // Revoked meanwhile, or started by another node.
        if (!(error instanceof Refused)) throw error
      }),
    ),
  )
}

/** How a claim ends that the program of a run ended with its token. */
const ENDED_BY_ITSELF: readonly (string | null)[] = [
  'COMPLETED',
  'SUBMITTED',
  'NEEDS_HUMAN',
  'CONTINUES_LATER',
]

/**
 * Whether the agent itself, with the token of its run, has submitted its result or asked a person. The final output of its
 * program then repeats that, and is not lost work.
 */
async function isSettled(
  kernel: RunKernel,
  workspaceId: number,
  { taskId, generation }: Held,
): Promise<boolean> {
  const [found] = await kernel.store.tasksById(workspaceId, [taskId])
  if (found?.record.generation !== generation) {
    // What it continued after, or was answered, came at once, and the next generation has begun.
    const claims = await kernel.store.claims(workspaceId, taskId)
    const own = claims.find((claim) => claim.generation === generation)
    return ENDED_BY_ITSELF.includes(own?.endReason ?? null)
  }
  const { resultHash, state, continuation } = found.record
  return (
    resultHash !== null || state === 'awaiting_human' || continuation?.goesOn?.generation === generation + 1
  )
}

/** Whether the task has ended, so that nobody continues in its folder. */
export async function hasEnded(
  { kernel }: Pick<ExecutorContext, 'kernel'>,
  workspaceId: number,
  held: Held,
): Promise<boolean> {
  const [record] = await kernel.store.recordsById(workspaceId, [held.taskId])
  return record === undefined || isTerminal(record.state)
}

const NOT_AFTER: readonly ErrorCode[] = ['VALIDATION_FAILED', 'WRONG_STATE', 'DEPENDENCY_CYCLE']

/** The run wants to continue as it may not: that is a failure of its agent. Null: it was refused for another reason. */
function whyNotContinued(step: TaskOutcome, { code, message }: Refused): string | null {
  if (code === 'CONTINUATION_LIMIT')
    return 'The task reached its limit of continuations and the agent still wants more.'
  const isRefusedAfter = step.kind === 'continue' && step.after !== undefined && NOT_AFTER.includes(code)
  return isRefusedAfter ? `The agent cannot continue after the tasks that it named: ${message}` : null
}

/** Applies the outcome of the run to its task. Returns the code of the refusal, if it was refused. */
export async function applyOutcome(
  kernel: RunKernel,
  workspaceId: number,
  agent: string,
  held: Held,
  step: TaskOutcome,
  work: { result: unknown; summary: string | null; commit?: string | null; spent?: SpentByRun },
): Promise<string | null> {
  const caller = asAgent(workspaceId, agent)
  const { session, generation } = held
  const fence = { session, generation }
  try {
    switch (step.kind) {
      case 'submit':
        if (await isSettled(kernel, workspaceId, held)) return 'TASK_ALREADY_COMPLETED'
        await submitResult(
          kernel,
          caller,
          held.uuid,
          { ...fence, result: work.result, summary: work.summary ?? undefined },
          work,
        )
        break
      case 'continue':
        if (step.after) await continueAfter(kernel, caller, held.uuid, fence, step.after, work.spent)
        else await command(kernel, caller, held.uuid, { kind: 'continue', fence, spent: work.spent })
        break
      case 'ask': {
        const { question, options } = step
        await command(kernel, caller, held.uuid, { kind: 'ask', fence, question, options })
        break
      }
      case 'release': {
        const { reason, waitsForAgent } = step
        await command(kernel, caller, held.uuid, { kind: 'release', fence, reason, waitsForAgent })
        break
      }
      case 'fail': {
        const retryAt = step.retryAt === undefined ? undefined : new Date(step.retryAt).toISOString()
        const { failureClass, error, spendsNoAttempt, tookTooLong, budget } = step
        const failure = { ...fence, failureClass, error: error.slice(0, 2_000), retryAt }
        const submitted = { ...work, summary: work.summary ?? undefined }
        const failedRun = {
          spent: work.spent,
          spendsNoAttempt,
          tookTooLong,
          budget,
          work: step.withResult && submitted,
        }
        await failTask(kernel, caller, held.uuid, failure, failedRun)
        break
      }
      case 'none':
    }
    return null
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const message = whyNotContinued(step, error)
    if (message === null) return error.code
    return applyOutcome(
      kernel,
      workspaceId,
      agent,
      held,
      { kind: 'fail', failureClass: 'quality', error: message, retryAt: undefined },
      work,
    )
  }
}
