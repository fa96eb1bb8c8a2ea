import type { z } from 'zod'
import { actingAs, mustUse } from '../../../door/named-agents.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { NextWanted } from '../../../kernel/batch/requests.ts'
import { unanswered, type Waiter } from '../../../kernel/commit-waiters.ts'
import {
  type CachedClaimant,
  type Caller,
  granted,
  type Kernel,
  type KnownAgent,
  type KnownClaimant,
} from '../../../kernel/kernel.ts'
import { ERRORS, type Refusal, Refused, refuse } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { ClaimGrant, Granted, RenewGranted, SettledClaim, TaskReply } from '../../replies.ts'
import { DEFAULT_LEASE_SECONDS, type Limits } from '../../workspace/limits.ts'
import type { Fence, OnTask, TaskCommand } from '../command.ts'
import type { ClaimMetadata, ClaimRequest } from '../rules/claim-request.ts'
import type * as shapes from '../shapes/claims.ts'
import { deliverClaims } from './deliver-claims.ts'
import { briefView, command, taskIdOf } from './tasks.ts'

/** A lease inside the workspace's limits, in milliseconds. */
export async function leaseMsOf(
  kernel: Kernel,
  caller: Caller,
  seconds: number | undefined,
): Promise<number> {
  const known = kernel.limits(caller.workspaceId)
  return leaseWithin(known instanceof Promise ? await known : known, seconds)
}

function leaseWithin({ minLeaseSeconds, maxLeaseSeconds }: Limits, seconds: number | undefined): number {
  const lease = seconds ?? Math.min(Math.max(DEFAULT_LEASE_SECONDS, minLeaseSeconds), maxLeaseSeconds)
  if (lease < minLeaseSeconds || lease > maxLeaseSeconds) {
    const message = `must be ${minLeaseSeconds} to ${maxLeaseSeconds} in this workspace`
    throw Refused.field('LEASE_OUT_OF_RANGE', 'leaseSeconds', message)
  }
  return lease * 1000
}

/** The claiming agent and session, both registered on first use, with a lease inside the limits. */
interface Claimant {
  who: ClaimRequest & { taskTypes?: readonly string[] | undefined }
  /**
   * The registration of the session, a promise unless it is cached. Awaited with the claim, not before it: so both are in
   * one transaction, in this order.
   */
  registered: unknown
}

/** `known` is what one read has found (`kernel.claimant`); null when everything is cached. */
async function claimant(
  kernel: Kernel,
  caller: Caller,
  body: z.output<typeof shapes.ClaimBody>,
  known: KnownClaimant | null,
): Promise<Claimant> {
  const { session, leaseSeconds, metadata } = body
  const leaseMs = known
    ? leaseWithin(known.limits, leaseSeconds)
    : await leaseMsOf(kernel, caller, leaseSeconds)
  const named = known?.agent ?? (await kernel.agentOf(caller, body.agent))
  const { slug: agent, capabilities: ofAgent } = named
  mustUse(caller, session, known?.session ?? null)
  const asked = kernel.sessionIsKnown(caller, session, agent)
  // A key that is bound to an agent may be refused the session: then it must not get the claim either.
  const registered = caller.outside?.agent == null ? asked : await asked
  if (!(registered instanceof Promise)) mustUse(caller, session, registered)
  // A session that is registered now has no capabilities.
  const { capabilities: ofSession = [] } = known ? (known.session ?? {}) : await registered
  const capabilities = together(ofAgent, ofSession)
  const lease = { leaseMs, fitsEstimate: leaseSeconds === undefined, metadata: short(metadata) }
  return { who: { agent, session, ...lease, capabilities, taskTypes: listed(named) }, registered }
}

/** The same, synchronously: each promise here would cost every claim. */
function cachedClaimant(
  caller: Caller,
  { limits, agent, session: registered }: CachedClaimant,
  { session, leaseSeconds, metadata }: Omit<z.output<typeof shapes.ClaimBody>, 'agent'>,
): Claimant {
  const leaseMs = leaseWithin(limits, leaseSeconds)
  mustUse(caller, session, registered)
  const { slug, capabilities } = agent
  const able = together(capabilities, registered.capabilities)
  const lease = { leaseMs, fitsEstimate: leaseSeconds === undefined, metadata: short(metadata) }
  return { who: { agent: slug, session, ...lease, capabilities: able, taskTypes: listed(agent) }, registered }
}

const LONGEST_METADATA = 4_096

/** It is stored with the task, and read whenever that is. */
function short(metadata: ClaimMetadata | undefined): ClaimMetadata | undefined {
  if (metadata !== undefined && JSON.stringify(metadata).length > LONGEST_METADATA)
    throw Refused.field('VALIDATION_FAILED', 'metadata', 'is longer than 4,096 characters as JSON')
  return metadata
}

/** Most agents have no list: they are asked nothing more. */
const listed = ({ taskTypes }: KnownAgent) =>
  taskTypes !== undefined && taskTypes.length > 0 ? taskTypes : undefined

const together = (some: readonly string[], others: readonly string[]) =>
  others.length === 0 ? some : [...some, ...others]

/** The reply to a claim, when the registration that was asked for just before it is done too. */
const after = async <T>(registered: unknown, claim: Promise<T>): Promise<T> =>
  registered instanceof Promise ? (await Promise.all([claim, registered]))[0] : claim

const noSuchTask = (uuid: string) => refuse('NOT_FOUND', `There is no task ${uuid} in this workspace.`)

export async function claimTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: z.output<typeof shapes.ClaimBody>,
): Promise<AnswerOf<typeof shapes.ClaimAnswer>> {
  const taskId = taskIdOf(uuid)
  const { session } = body
  const agent = await actingAs(kernel, caller, body.agent)
  const found = kernel.claimant(caller, { agent, session, tasks: [uuid] })
  const known = found && (await found)
  // A claim of an unknown task must not register a new agent or session.
  if (known && !known.namesATask) throw Refused.because(noSuchTask(uuid))
  const { who, registered } = await claimant(kernel, caller, { ...body, agent }, known)
  const command: TaskCommand & { kind: 'claim' } = { kind: 'claim', ...who }
  const reply = granted(await after(registered, kernel.run(caller, { on: 'task', taskId, uuid, command })))
  const [claim] = await withCheckpoints(kernel, caller, [reply.claim])
  return { reason: reply.reason, claim: claim! }
}

type Claim = AnswerOf<typeof shapes.ClaimView>

/** Adds the checkpoints of earlier holders. A first claim has none and needs no read. */
async function withCheckpoints(
  kernel: Kernel,
  caller: Caller,
  claims: readonly ClaimGrant[],
): Promise<Claim[]> {
  const later = claims.filter(({ generation }) => generation > 1).map(({ taskId }) => taskIdOf(taskId))
  const found = later.length === 0 ? [] : await kernel.store.tasksById(caller.workspaceId, later)
  const left = new Map(found.map(({ record, details }) => [record.uuid, details.checkpoint]))
  return claims.map((claim) => ({ ...claim, checkpointData: left.get(claim.taskId) ?? null }))
}

export async function claimBatch(
  kernel: ServerKernel,
  caller: Caller,
  body: z.output<typeof shapes.ClaimBatchBody>,
): Promise<AnswerOf<typeof shapes.ClaimBatchAnswer>> {
  const { taskIds, ...said } = body
  const { session } = said
  const agent = await actingAs(kernel, caller, said.agent)
  const claim = { ...said, agent }
  const known = await kernel.claimant(caller, { agent, session, tasks: taskIds })
  if (known && !known.namesATask)
    return { results: taskIds.map((uuid) => ({ taskId: uuid, ...refused(noSuchTask(uuid)) })) }
  const { who, registered } = await claimant(kernel, caller, claim, known)
  const claims = runMany(kernel, caller, taskIds, (uuid) => onTask(uuid, { kind: 'claim', ...who }))
  const replies = await after(registered, claims)
  const taken = replies.flatMap((reply) => (reply.ok ? [reply.claim] : []))
  const shown = await withCheckpoints(kernel, caller, taken)
  return {
    results: replies.map((reply, i) => ({
      taskId: taskIds[i]!,
      ...outcome(reply, ({ reason }) => ({ reason, claim: shown.shift()! })),
    })),
  }
}

/** As a caller asks, and whether the agent gets only what is reserved for it. */
type AskForNext = Omit<z.output<typeof shapes.NextBody>, 'project'> &
  Pick<NextWanted['pick'], 'isReservedOnly'>

/** What the caller asks of the queue, and the registration of its session, as in `Claimant`. */
type Asked = { wanted: NextWanted } & Pick<Claimant, 'registered'>

/** Synchronous where everything is cached, as it is for all but the first request in a while. */
export function nextWanted(
  kernel: Kernel,
  caller: Caller,
  body: Omit<AskForNext, 'waitMs'>,
  projectId: number | undefined,
): Asked | Promise<Asked> {
  const agent = actingAs(kernel, caller, body.agent)
  if (agent instanceof Promise) return nextWantedUncached(kernel, caller, body, agent, projectId)
  const cached = kernel.cachedClaimant(caller, body)
  if (cached) return askedBy(cachedClaimant(caller, cached, body), body, projectId)
  return nextWantedUncached(kernel, caller, body, agent, projectId)
}

async function nextWantedUncached(
  kernel: Kernel,
  caller: Caller,
  body: Omit<AskForNext, 'waitMs'>,
  asAgent: string | Promise<string>,
  projectId: number | undefined,
): Promise<Asked> {
  const agent = await asAgent
  const found = kernel.claimant(caller, { agent, session: body.session, tasks: [] })
  return askedBy(await claimant(kernel, caller, { ...body, agent }, found && (await found)), body, projectId)
}

function askedBy(
  { who, registered }: Claimant,
  { limit, capabilities = [], tracks, purposes, isReservedOnly }: Omit<AskForNext, 'waitMs'>,
  projectId: number | undefined,
): Asked {
  const { agent, capabilities: _all, taskTypes, ...lease } = who
  const all = together(who.capabilities, capabilities)
  const able = all.length === 0 ? all : [...new Set(all)].sort()
  const pick = {
    ...{ agent, capabilities: able, projectId, tracks, purposes, isReservedOnly },
    taskTypes,
  }
  return { wanted: { pick, limit, ...lease }, registered }
}

/** Claims the next tasks in the queue for this agent. Waits up to `waitMs` for the first one. */
export async function claimNext(
  kernel: Kernel,
  caller: Caller,
  body: AskForNext,
  waiter: Waiter,
  projectId?: number,
): Promise<AnswerOf<typeof shapes.NextAnswer>> {
  const { waitMs, ...claim } = body
  const until = performance.now() + waitMs
  const { gone } = waiter
  const { wanted, registered } = await nextWanted(kernel, caller, claim, projectId)
  for (;;) {
    const left = until - performance.now()
    // Subscribe before the query: work committed between the query and the wait must not be missed.
    const arrival = left > 0 ? kernel.arrivals.next(caller.workspaceId, left, gone) : null
    const reply = granted(await after(registered, kernel.run(caller, { on: 'next', ...wanted })))
    const claims = await deliverClaims(kernel, caller, reply.claims, gone)
    if (claims.length > 0) return { claims }
    if (reply.shouldRetry && !gone.aborted) continue
    if (!arrival || gone.aborted || kernel.arrivals.isClosed) return unanswered(waiter, { claims: [] })
    await arrival
    if (!gone.aborted) await waiter.confirm?.()
    if (gone.aborted) return unanswered(waiter, { claims: [] })
  }
}

export async function renewTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: { session: string; generation: number; leaseSeconds?: number | undefined },
): Promise<AnswerOf<typeof shapes.RenewAnswer>> {
  const { leaseSeconds, ...fence } = body
  const leaseMs = leaseSeconds === undefined ? undefined : await leaseMsOf(kernel, caller, leaseSeconds)
  return renewalIn(await command(kernel, caller, uuid, { kind: 'renew', fence, leaseMs }))
}

/** The rule already returns the fields of the answer (rules/holder.ts). */
function renewalIn({ ok: _ok, ...renewal }: RenewGranted): AnswerOf<typeof shapes.RenewAnswer> {
  return renewal
}

/** The claims that a heartbeat renewed, out of those it settled. */
export const renewalsIn = (settled: readonly SettledClaim[]) =>
  settled.flatMap(({ taskId, generation, reply }) =>
    reply.ok && 'ttlMs' in reply ? [{ taskId, generation, ...renewalIn(reply) }] : [],
  )

export async function startTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  fence: Fence,
): Promise<AnswerOf<typeof shapes.StartAnswer>> {
  const reply = await command(kernel, caller, uuid, { kind: 'start', fence })
  return { reason: reply.reason, task: briefView(reply.record) }
}

export async function continueTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  fence: Fence,
): Promise<AnswerOf<typeof shapes.ContinueAnswer>> {
  const reply = await command(kernel, caller, uuid, { kind: 'continue', fence })
  const { reason, resumeAfterMs, record } = reply
  return { reason, resumeAfterMs, task: briefView(record) }
}

export async function releaseTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  fence: Fence,
  reason: string,
): Promise<AnswerOf<typeof shapes.ReleaseAnswer>> {
  const reply = await command(kernel, caller, uuid, { kind: 'release', fence, reason })
  return { reason: reply.reason, task: briefView(reply.record) }
}

export async function reportProgress(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: z.output<typeof shapes.ProgressBody>,
  ifVersion: number | null,
): Promise<AnswerOf<typeof shapes.NotedAnswer>> {
  const { percent, step, checkpointData: checkpoint, estimatedCompletionAt, ...fence } = body
  const doneBy = estimatedCompletionAt === undefined ? undefined : Date.parse(estimatedCompletionAt)
  const said = { percent, step, checkpoint, doneBy, ifVersion }
  const reply = await command(kernel, caller, uuid, { kind: 'progress', fence, ...said })
  return { reason: reply.reason, task: briefView(reply.record) }
}

export async function renewBatch(
  kernel: ServerKernel,
  caller: Caller,
  { renewals }: z.output<typeof shapes.RenewBatchBody>,
): Promise<AnswerOf<typeof shapes.RenewBatchAnswer>> {
  const limits = await kernel.limits(caller.workspaceId)
  const replies = await runMany(kernel, caller, renewals, ({ taskId, session, generation, leaseSeconds }) => {
    const leaseMs = leaseSeconds === undefined ? undefined : leaseWithin(limits, leaseSeconds)
    return onTask(taskId, { kind: 'renew', fence: { session, generation }, leaseMs })
  })
  return {
    results: replies.map((reply, i) => ({ taskId: renewals[i]!.taskId, ...outcome(reply, renewalIn) })),
  }
}

export const onTask = <C extends TaskCommand>(uuid: string, command: C): OnTask<C> => ({
  taskId: taskIdOf(uuid),
  uuid,
  command,
})

/** Items are independent: one that is refused, even before it reaches the store, does not undo the others. */
export async function runMany<T, C extends TaskCommand>(
  kernel: Kernel,
  caller: Caller,
  wanted: readonly T[],
  itemOf: (one: T) => OnTask<C>,
): Promise<TaskReply<C['kind']>[]> {
  const items = wanted.map((one) => {
    try {
      return itemOf(one)
    } catch (error) {
      if (error instanceof Refused) return error.refusal
      throw error
    }
  })
  const isItem = (item: OnTask<C> | Refusal): item is OnTask<C> => 'command' in item
  const { replies } = granted(await kernel.run(caller, { on: 'many', items: items.filter(isItem) }))
  let next = 0
  return items.map((item) => (isItem(item) ? replies[next++]! : item))
}

/** One item of a batch answer: the same as the single request answers; a refusal has its code as the reason. */
export const outcome = <G extends Granted, V extends { reason: string }>(
  reply: G | Refusal,
  view: (granted: G) => V,
) => (reply.ok ? view(reply) : refused(reply))

function refused({ ok: _ok, code, detail, ...extra }: Refusal): AnswerOf<typeof shapes.RefusedAct> {
  return { reason: code, status: ERRORS[code].status, detail, ...extra }
}
