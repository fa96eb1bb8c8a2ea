import { randomUUID } from 'node:crypto'
import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { namedProject } from '../project/acts.ts'
import type { SessionOpening } from '../task/command.ts'
import type { SessionRecord } from '../task/record.ts'
import { agentOfSession, commandSession, heartbeatView, sessionView } from './acts/commands.ts'
import * as api from './api/sessions.ts'
import { heldBy, listSessions } from './postgres/list.ts'
import { findSession, readSessionMemory } from './postgres/memory.ts'
import type { ListedSession, SessionView } from './shapes.ts'

/** A session holds claims under one name. A worker is a session that declares a capacity and sends heartbeats. */

async function requireSession(
  kernel: ServerKernel,
  caller: Caller,
  nameOrId: string,
): Promise<SessionRecord> {
  const session = await findSession(kernel.store.readers, caller.workspaceId, nameOrId)
  if (!session) throw new Refused('NOT_FOUND', `There is no session "${nameOrId}" in this workspace.`)
  return session
}

/** Sessions are addressed by name; an id is resolved to the name. */
export async function sessionName(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  nameOrId: string,
): Promise<string> {
  return (await findSession(kernel.store.readers, workspaceId, nameOrId))?.name ?? nameOrId
}

/** Sessions as lists show them, with what they hold. */
export async function withHeld(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  names: readonly string[],
): Promise<(session: AnswerOf<typeof SessionView>) => AnswerOf<typeof ListedSession>> {
  const held = await heldBy(kernel.store.readers, workspaceId, names)
  return (session) => {
    const rows = held.get(session.session) ?? []
    const holding = rows.map(({ session: _its, holds: _all, leaseExpiresAt, ...task }) => ({
      ...task,
      leaseExpiresAt: instant(leaseExpiresAt),
    }))
    return { ...session, holds: rows[0]?.holds ?? 0, holding }
  }
}

export const sessionActs = actsOf(api)({
  openSession: async ({ kernel }, { body, caller }) => {
    const opening: SessionOpening = {
      agent: await agentOfSession(kernel, caller, body.agent),
      userId: body.userId ?? null,
      project: body.project ?? null,
      capacity: null,
      capabilities: [],
      silenceMs: body.ttlSeconds === undefined ? null : body.ttlSeconds * 1000,
    }
    await namedProject(kernel, caller, body.project)
    const name = body.session ?? `s-${randomUUID()}`
    const { record, isNew } = await commandSession(kernel, caller, name, { kind: 'open', opening })
    return { status: isNew ? 201 : 200, answer: sessionView(record) }
  },
  listSessions: async ({ kernel }, { query: { state, project: slug }, caller, page }) => {
    const { readers } = kernel.store
    const projectId = await namedProject(kernel, caller, slug)
    const project = slug === undefined || projectId === undefined ? undefined : { slug, projectId }
    const search = { before: page.after, state, project }
    const sessions = await listSessions(readers, caller.workspaceId, search, page.rows)
    const view = await withHeld(
      kernel,
      caller,
      sessions.map(({ name }) => name),
    )
    return page.of(
      sessions,
      (session) => view(sessionView(session)),
      ({ startedAt, name }): [number, string] => [startedAt, name],
    )
  },
  /** Session memory (Coditect 3.5): its task log, active claims, completed tasks, and the progress of its project. */
  readSession: async ({ kernel }, { params, caller }) => {
    const session = await requireSession(kernel, caller, params.id)
    const memory = await readSessionMemory(kernel.store.readers, caller.workspaceId, session)
    return {
      ...sessionView(session),
      lastActivity: instant(memory.lastActivity),
      taskLog: memory.taskLog.map((entry) => ({ ...entry, timestamp: instant(entry.timestamp) })),
      taskLogIsWhole: memory.taskLogIsWhole,
      activeClaims: memory.activeClaims.map((claim) => ({
        ...claim,
        leaseExpiresAt: instant(claim.expiresAt),
        expiresAt: instant(claim.expiresAt),
      })),
      completedTasks: memory.completedTasks,
      trackAssignments: memory.trackAssignments,
      trackProgress: memory.trackProgress,
    }
  },
  /** Renews every claim of the session, and reports the claims it lost since its last heartbeat. */
  sendSessionHeartbeat: async ({ kernel }, { params, caller }) => {
    const { name } = await requireSession(kernel, caller, params.id)
    const { record, settled, lost } = await commandSession(kernel, caller, name, { kind: 'heartbeat' })
    return {
      ...heartbeatView(settled, lost),
      session: record.name,
      state: record.state,
      expiresAt: instant(record.dueAt),
    }
  },
  /** Its claims go back to the queue. */
  endSession: async ({ kernel }, { params, caller }) => {
    const { name } = await requireSession(kernel, caller, params.id)
    await commandSession(kernel, caller, name, { kind: 'end', reason: 'closed' })
  },
})
