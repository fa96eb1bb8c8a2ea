import type { z } from 'zod'
import * as api from '../core/api/sessions.ts'
import type { SessionOpening } from '../core/commands.ts'
import { Refused } from '../core/errors.ts'
import type { SessionRecord } from '../core/records.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type {
  SessionBody,
  SessionHeartbeatAnswer,
  SessionMemoryView,
  SessionView,
} from '../core/shapes/sessions.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { actsOf } from './acts.ts'
import { namedProject } from './projects.ts'
import { agentOfSession, commandSession, heartbeatView, nameFor, sessionView } from './session-commands.ts'
import { instant } from './views.ts'

/** A session holds claims under one name. A worker is a session that declares a capacity and sends heartbeats. */

async function requireSession(
  kernel: ServerKernel,
  caller: Caller,
  nameOrId: string,
): Promise<SessionRecord> {
  const session = await kernel.store.sessionMemory.find(caller.workspaceId, nameOrId)
  if (!session) throw new Refused('NOT_FOUND', `There is no session "${nameOrId}" in this workspace.`)
  return session
}

async function openSession(
  kernel: ServerKernel,
  caller: Caller,
  body: z.output<typeof SessionBody> | undefined,
): Promise<{ session: AnswerOf<typeof SessionView>; isNew: boolean }> {
  const opening: SessionOpening = {
    agent: await agentOfSession(kernel, caller, body?.agent),
    userId: body?.userId ?? null,
    project: body?.project ?? null,
    capacity: null,
    capabilities: [],
    silenceMs: body?.ttlSeconds === undefined ? null : body.ttlSeconds * 1000,
  }
  await namedProject(kernel, caller, body?.project)
  const name = body?.session ?? nameFor(caller, 's')
  const { record, isNew } = await commandSession(kernel, caller, name, { kind: 'open', opening })
  return { session: sessionView(record), isNew }
}

/** Session memory (Coditect 3.5): its task log, active claims, completed tasks, and the progress of its project. */
async function showSession(
  kernel: ServerKernel,
  caller: Caller,
  nameOrId: string,
): Promise<AnswerOf<typeof SessionMemoryView>> {
  const session = await requireSession(kernel, caller, nameOrId)
  const memory = await kernel.store.sessionMemory.read(caller.workspaceId, session)
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
}

/** A heartbeat renews every claim of the session, and reports the claims it lost since its last heartbeat. */
async function heartbeatOfSession(
  kernel: ServerKernel,
  caller: Caller,
  nameOrId: string,
): Promise<AnswerOf<typeof SessionHeartbeatAnswer>> {
  const { name } = await requireSession(kernel, caller, nameOrId)
  const { record, settled, lost } = await commandSession(kernel, caller, name, { kind: 'heartbeat' })
  return {
    ...heartbeatView(settled, lost),
    session: record.name,
    state: record.state,
    expiresAt: instant(record.dueAt),
  }
}

/** Its claims go back to the queue, and the session ends. */
async function closeSession(kernel: ServerKernel, caller: Caller, nameOrId: string): Promise<void> {
  const { name } = await requireSession(kernel, caller, nameOrId)
  await commandSession(kernel, caller, name, { kind: 'end', reason: 'closed' })
}

/** Sessions are addressed by name; an id is resolved to the name. */
export async function sessionName(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  nameOrId: string,
): Promise<string> {
  return (await kernel.store.sessionMemory.find(workspaceId, nameOrId))?.name ?? nameOrId
}

export const sessionActs = actsOf(api)({
  openSession: async ({ kernel }, { body, caller }) => {
    const { session, isNew } = await openSession(kernel, caller, body)
    return { status: isNew ? 201 : 200, answer: session }
  },
  readSession: ({ kernel }, { params, caller }) => showSession(kernel, caller, params.id),
  sendSessionHeartbeat: ({ kernel }, { params, caller }) => heartbeatOfSession(kernel, caller, params.id),
  endSession: ({ kernel }, { params, caller }) => closeSession(kernel, caller, params.id),
})
