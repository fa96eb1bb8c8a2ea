import type { Caller, Kernel } from '../../../kernel/kernel.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { ClaimGrant, NextGranted } from '../../replies.ts'
import type { TaskDetails } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import type * as shapes from '../shapes/claims.ts'
import { taskView } from './views.ts'

type GrantedTask = NextGranted['claims'][number]

/** The claims with their tasks, or none when the caller has left: then they are released. */
export function deliverClaims(
  kernel: Kernel,
  caller: Caller,
  claims: readonly GrantedTask[],
  gone: AbortSignal,
): HandedOver | Promise<HandedOver> {
  if (claims.length === 0) return []
  // Most stores hand out the details with the claim: then there is nothing to wait for.
  const isWhole = claims.every(({ details }) => details !== undefined)
  return isWhole && !gone.aborted
    ? claims.map(({ claim, record, details }) => withTask(claim, record, details!))
    : handOverLater(kernel, caller, claims, gone)
}

type HandedOver = AnswerOf<typeof shapes.NextAnswer>['claims']

async function handOverLater(
  kernel: Kernel,
  caller: Caller,
  claims: readonly GrantedTask[],
  gone: AbortSignal,
): Promise<HandedOver> {
  const shown = gone.aborted ? [] : await withTasks(kernel, caller, claims)
  if (!gone.aborted) return shown
  await releaseUndelivered(kernel, caller, claims)
  return []
}

/** The client disconnected while its claims were granted: without a release they would stay idle until the leases expire. */
async function releaseUndelivered(
  kernel: Kernel,
  caller: Caller,
  claims: readonly GrantedTask[],
): Promise<void> {
  await Promise.all(
    claims.map(({ claim: { session, generation }, record: { id, uuid } }) => {
      const release = { kind: 'release', fence: { session, generation }, reason: 'CLIENT_GONE' } as const
      return kernel.run(
        { ...caller, idempotency: undefined },
        { on: 'task', taskId: id, uuid, command: release },
      )
    }),
  )
}

async function withTasks(kernel: Kernel, caller: Caller, claims: readonly GrantedTask[]) {
  // Stores that do not hand out the details, and repeated answers.
  const bare = claims.filter(({ details }) => details === undefined)
  const read =
    bare.length === 0
      ? []
      : await kernel.details.ask(
          caller.workspaceId,
          bare.map(({ record }) => record),
        )
  return claims.map(({ claim, record, details }) => withTask(claim, record, details ?? read.shift()!))
}

function withTask(claim: ClaimGrant, record: TaskRecord, details: TaskDetails) {
  const task = taskView({ record, details })
  const { taskId, generation, session, agent, state, attempt, leaseExpiresAt, ttlMs } = claim
  const { checkpointData } = task
  return { taskId, generation, session, agent, state, attempt, leaseExpiresAt, ttlMs, checkpointData, task }
}
