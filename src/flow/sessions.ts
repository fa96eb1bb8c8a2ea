import type { z } from 'zod'
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
import { namedProject } from './projects.ts'
import { beatView, commandSession, nameFor, sessionView } from './session-commands.ts'
import { instant } from './views.ts'

/** A session is whoever holds claims under one name. A worker is one that says how much it can hold, and beats. */

async function theSession(kernel: ServerKernel, caller: Caller, nameOrId: string): Promise<SessionRecord> {
  const session = await kernel.store.sessionMemory.find(caller.workspaceId, nameOrId)
  if (!session) throw new Refused('NOT_FOUND', `There is no session "${nameOrId}" in this workspace.`)
  return session
}

export async function openSession(
  kernel: ServerKernel,
  caller: Caller,
  body: z.output<typeof SessionBody> | undefined,
): Promise<{ session: AnswerOf<typeof SessionView>; isNew: boolean }> {
  const opening: SessionOpening = {
    agent: body?.agent ?? null,
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

/** Session memory (Coditect 3.5): what it did, holds and finished, and how its project stands. */
export async function showSession(
  kernel: ServerKernel,
  caller: Caller,
  nameOrId: string,
): Promise<AnswerOf<typeof SessionMemoryView>> {
  const session = await theSession(kernel, caller, nameOrId)
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

/** A beat renews all that the session holds, and says what it has lost since it was last seen. */
export async function beat(
  kernel: ServerKernel,
  caller: Caller,
  nameOrId: string,
): Promise<AnswerOf<typeof SessionHeartbeatAnswer>> {
  const { name } = await theSession(kernel, caller, nameOrId)
  const { record, settled, lost } = await commandSession(kernel, caller, name, { kind: 'beat' })
  return {
    ...beatView(settled, lost),
    session: record.name,
    state: record.state,
    expiresAt: instant(record.dueAt),
  }
}

/** What it holds goes back to the queue, and it is over. */
export async function closeSession(kernel: ServerKernel, caller: Caller, nameOrId: string): Promise<void> {
  const { name } = await theSession(kernel, caller, nameOrId)
  await commandSession(kernel, caller, name, { kind: 'end', reason: 'closed' })
}

/** Sessions go by their name; whoever has only the id finds it by that. */
export async function sessionName(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  nameOrId: string,
): Promise<string> {
  return (await kernel.store.sessionMemory.find(workspaceId, nameOrId))?.name ?? nameOrId
}
