import { hash, randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { Refused } from '../core/errors.ts'
import type { SessionBody } from '../core/shapes/administration.ts'
import {
  endSession,
  findSession,
  heldBy,
  rememberSession,
  type Session,
  touchSession,
} from '../store/postgres/names.ts'
import { outcome, runMany, withoutOk } from './claims.ts'
import type { Caller, Kernel } from './kernel.ts'
import { instant } from './views.ts'

/** A session is whoever holds claims under one name. */

const sessionView = ({ id, session, agent, userId, startedAt, lastSeenAt, endedAt }: Session) => ({
  id,
  session,
  agent,
  userId,
  startedAt: instant(startedAt),
  lastSeenAt: instant(lastSeenAt),
  endedAt: instant(endedAt),
})

async function theSession(kernel: Kernel, caller: Caller, nameOrId: string): Promise<Session> {
  const session = await findSession(kernel.store.writers, caller.workspaceId, nameOrId)
  if (!session) throw new Refused('NOT_FOUND', `There is no session "${nameOrId}" in this workspace.`)
  return session
}

export async function openSession(
  kernel: Kernel,
  caller: Caller,
  body: z.output<typeof SessionBody> | undefined,
) {
  // Under an idempotency key the name follows from the key: asked twice, it is the same session.
  const made = caller.idempotency ? hash('sha256', caller.idempotency.key).slice(0, 32) : randomUUID()
  const given = { ...body, session: body?.session ?? `s-${made}` }
  const { session, isNew } = await rememberSession(
    kernel.store.writers,
    caller.workspaceId,
    given,
    caller.actor,
  )
  return { session: sessionView(session), isNew }
}

export async function showSession(kernel: Kernel, caller: Caller, nameOrId: string) {
  const session = await theSession(kernel, caller, nameOrId)
  const held = await heldBy(kernel.store.writers, caller.workspaceId, session.session)
  const activeClaims = held.map(({ uuid, key, generation, agent, leaseExpiresAt }) => ({
    taskId: uuid,
    key,
    generation,
    agent,
    leaseExpiresAt: instant(leaseExpiresAt),
  }))
  return { ...sessionView(session), activeClaims }
}

/** A beat renews all that the session holds, and says what it has lost since it last knew. */
export async function beat(kernel: Kernel, caller: Caller, nameOrId: string) {
  const { writers } = kernel.store
  const session = await theSession(kernel, caller, nameOrId)
  await touchSession(writers, caller.workspaceId, session.session)
  const held = await heldBy(writers, caller.workspaceId, session.session)
  const replies = await runMany(
    kernel,
    { ...caller, idempotency: undefined },
    held,
    ({ taskId, uuid, generation }) => ({
      taskId,
      uuid,
      command: { kind: 'renew', fence: { session: session.session, generation } },
    }),
  )
  const results = replies.map((reply, i) => ({
    taskId: held[i]!.uuid,
    generation: held[i]!.generation,
    ...outcome(reply, withoutOk),
  }))
  return {
    session: session.session,
    renewed: results.filter(({ reason }) => reason === 'RENEWED'),
    lost: results.filter(({ reason }) => reason !== 'RENEWED'),
  }
}

/** What it holds goes back to the queue, and it is over. */
export async function closeSession(kernel: Kernel, caller: Caller, nameOrId: string): Promise<void> {
  const { writers } = kernel.store
  const { session } = await theSession(kernel, caller, nameOrId)
  const held = await heldBy(writers, caller.workspaceId, session)
  await runMany(kernel, { ...caller, idempotency: undefined }, held, ({ taskId, uuid, generation }) => ({
    taskId,
    uuid,
    command: { kind: 'release', fence: { session, generation }, reason: 'SESSION_ENDED' },
  }))
  await endSession(writers, caller.workspaceId, session, caller.actor)
  kernel.sessionEnded(caller, session)
}
