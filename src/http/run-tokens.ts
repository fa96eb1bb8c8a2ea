import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Refused } from '../core/errors.ts'
import type { Right } from '../core/shapes/administration.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerStore } from '../store/server-store.ts'

/** Agents that Baton runs come with a token of their run. It opens what the run is about, and dies with it. */

export const isRunToken = (key: string) => key.startsWith('brun_')

const RIGHTS: ReadonlySet<Right> = new Set(['read', 'work'])

/** Looked up each time: a token that was good a moment ago may be of a run that is over. */
export async function callerOfRun({ runs }: ServerStore, token: string): Promise<Caller | null> {
  const run = await runs.findByToken(createHash('sha256').update(token).digest())
  return run && { workspaceId: run.workspaceId, actor: `agent:${run.agent}`, rights: RIGHTS, run }
}

const WAKING = /\/agents\/:id\/(wakeup|heartbeat\/invoke)$/
const HOLDER = /\/tasks\/:id\/(start|renew|release|progress|continue|submit|fail|logs)$/

/** What a run may change: its own task under its own claim, its agent's health, and others may be woken by it. */
export function mustBeOfItsRun(request: FastifyRequest): void {
  const { run } = request.caller ?? {}
  if (!run || request.method === 'GET' || request.method === 'HEAD') return
  const url = request.routeOptions.url ?? ''
  const { id } = (request.params ?? {}) as { id?: string }
  const { generation } = (request.body ?? {}) as { generation?: number }
  const isAllowed =
    (HOLDER.test(url) && id === run.taskId && generation === run.generation) ||
    (url.endsWith('/agents/:id/heartbeat') && (id === run.agent || id === run.agentId)) ||
    (url.endsWith('/runs/:id/callback') && id === run.runId) ||
    WAKING.test(url)
  if (!isAllowed)
    throw new Refused(
      'FORBIDDEN',
      'The token of a run opens only what the run is about: its task, under its claim.',
    )
}
