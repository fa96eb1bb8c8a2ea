import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { actsOf } from '../../../door/door.ts'
import type { Caller, Kernel } from '../../../kernel/kernel.ts'
import { once } from '../../../kernel/once.ts'
import { Refused } from '../../../pure/errors.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf, ListAnswer } from '../../../pure/shapes.ts'
import { namedProject } from '../../project/acts.ts'
import { runMany } from '../../task/acts/claims.ts'
import { sessionName, withHeld } from '../acts.ts'
import * as api from '../api/workers.ts'
import type { DrainAnswer, SessionView, WorkerBody, WorkerHeartbeatAnswer } from '../shapes.ts'
import { agentOfSession, commandSession, heartbeatView, sessionView } from './commands.ts'

/** Workers (ADE 4): sessions with a declared capacity. They lose their claims when their heartbeats stop. */

export async function registerWorker(
  kernel: Kernel,
  caller: Caller,
  body: z.output<typeof WorkerBody>,
): Promise<{ worker: AnswerOf<typeof SessionView>; isNew: boolean }> {
  const name = body.worker ?? `w-${randomUUID()}`
  const agent = await agentOfSession(kernel, caller, body.agent)
  const { record, isNew } = await commandSession(kernel, caller, name, {
    kind: 'open',
    opening: {
      agent,
      userId: body.userId ?? null,
      project: body.project ?? null,
      capacity: body.capacity,
      capabilities: [...new Set(body.capabilities)].sort(),
      silenceMs: body.heartbeatSeconds * 1000,
    },
  })
  return { worker: sessionView(record), isNew }
}

async function requireWorker(kernel: Kernel, caller: Caller, name: string) {
  const record = await kernel.store.session(caller.workspaceId, name)
  if (!record || record.capacity === null)
    throw new Refused('NOT_FOUND', `There is no worker "${name}" in this workspace.`)
  return record
}

const showWorker = async (kernel: Kernel, caller: Caller, name: string) =>
  sessionView(await requireWorker(kernel, caller, name))

const MOST_WORKERS = 1_000

export async function listWorkers(
  kernel: Kernel,
  { workspaceId }: Caller,
): Promise<ListAnswer<AnswerOf<typeof SessionView>>> {
  const workers = await kernel.store.sessions(workspaceId, { workersOnly: true, limit: MOST_WORKERS })
  return { items: workers.map(sessionView), nextCursor: null }
}

/** Renews the worker and all its claims; the answer lists the claims lost since the last heartbeat. */
export async function heartbeatWorker(
  kernel: Kernel,
  caller: Caller,
  name: string,
): Promise<AnswerOf<typeof WorkerHeartbeatAnswer>> {
  await requireWorker(kernel, caller, name)
  const { record, settled, lost } = await commandSession(kernel, caller, name, { kind: 'heartbeat' })
  return {
    ...heartbeatView(settled, lost),
    worker: record.name,
    state: record.state,
    expiresAt: instant(record.dueAt),
  }
}

/** The worker gets no new work and finishes what it holds. */
export async function drainWorker(
  kernel: Kernel,
  caller: Caller,
  name: string,
): Promise<AnswerOf<typeof DrainAnswer>> {
  await requireWorker(kernel, caller, name)
  const { record, holds } = await commandSession(kernel, caller, name, { kind: 'drain' })
  return { ...sessionView(record), holds }
}

/** Ends the worker; its claims go back to the queue without spending an attempt. */
export async function unregisterWorker(kernel: Kernel, caller: Caller, name: string, reason: string) {
  await requireWorker(kernel, caller, name)
  await commandSession(kernel, caller, name, { kind: 'end', reason })
}

const STALLED_AT_ONCE = 1_000

/**
 * ADE's requeue of stalled work, on demand: claims without any activity for this long are revoked.
 * The local clock only selects candidates; the store's clock decides.
 */
export async function requeueStalled(kernel: Kernel, caller: Caller, silentMs: number): Promise<number> {
  const command = { kind: 'stall', silentMs } as const
  let requeued = 0
  for (;;) {
    const before = Date.now() - silentMs
    const quiet = await kernel.store.heldUntouchedSince(caller.workspaceId, before, STALLED_AT_ONCE)
    const alone = { ...caller, waits: true } as const
    const replies = await runMany(kernel, alone, quiet, ({ taskId, uuid }) => ({ taskId, uuid, command }))
    const moved = replies.filter((reply) => reply.ok && reply.reason === 'MOVED').length
    requeued += moved
    if (quiet.length < STALLED_AT_ONCE || moved === 0) return requeued
  }
}

export const workerActs = actsOf(api)({
  registerWorker: async ({ kernel }, { body, caller }) => {
    await namedProject(kernel, caller, body.project)
    const { worker, isNew } = await registerWorker(kernel, caller, body)
    return { status: isNew ? 201 : 200, answer: worker }
  },
  listWorkers: async ({ kernel }, { caller }) => {
    const { items, nextCursor } = await listWorkers(kernel, caller)
    const view = await withHeld(
      kernel,
      caller,
      items.map(({ session }) => session),
    )
    return { items: items.map(view), nextCursor }
  },
  readWorker: async ({ kernel }, { params, caller }) =>
    showWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  sendWorkerHeartbeat: async ({ kernel }, { params, caller }) =>
    heartbeatWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  drainWorker: async ({ kernel }, { params, caller }) =>
    drainWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  unregisterWorker: async ({ kernel }, { params, query: { reason = 'unregistered' }, caller }) =>
    unregisterWorker(kernel, caller, await sessionName(kernel, caller, params.id), reason),
  requeueStalled: ({ kernel }, { body, caller }) =>
    once(kernel, caller, async (alone) => ({ requeued: await requeueStalled(kernel, alone, body.silentMs) })),
})
