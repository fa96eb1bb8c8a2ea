import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { ServerStore } from '../door/server-store.ts'
import type { Caller } from '../kernel/kernel.ts'
import { findRunByToken } from '../kinds/run/postgres/run-reads.ts'
import { Refused } from '../pure/errors.ts'
import type { Right } from '../pure/rights.ts'

/** Agents that Baton runs authenticate with a run token. It allows access to the run's own task, and ends with the run. */

export const isRunToken = (key: string) => key.startsWith('brun_')

const RIGHTS: ReadonlySet<Right> = new Set(['read', 'work'])

/** Not cached: the run behind a token may have just ended. */
export async function callerOfRun({ readers }: ServerStore, token: string): Promise<Caller | null> {
  const run = await findRunByToken(readers, createHash('sha256').update(token).digest())
  if (!run) return null
  const { workspaceId, agent } = run
  return { workspaceId, actor: `agent:${agent}`, rights: RIGHTS, outside: { agent, rights: RIGHTS }, run }
}

const WAKING = /\/agents\/:id\/(wakeup|heartbeat\/invoke)$/
const HOLDER = /\/tasks\/:id\/(start|renew|release|progress|continue|children|submit|fail|ask|logs)$/

/** A run may change its own task under its own claim, comment and report on it, change its agent's health, and wake other agents. */
export function mustBeOfItsRun(request: FastifyRequest): void {
  const { run } = request.caller ?? {}
  if (!run || request.method === 'GET' || request.method === 'HEAD') return
  const url = request.routeOptions.url ?? ''
  const { id } = (request.params ?? {}) as { id?: string }
  const { generation, next } = (request.body ?? {}) as { generation?: number; next?: unknown }
  const isAllowed =
    // Its executor claims for it: a run has one task.
    (HOLDER.test(url) && id === run.taskUuid && generation === run.generation && next === undefined) ||
    (url.endsWith('/agents/:id/heartbeat') && (id === run.agent || id === run.agentId)) ||
    (url.endsWith('/runs/:id/callback') && id === run.runId) ||
    (/\/tasks\/:id\/(comments|report)$/.test(url) && id === run.taskUuid) ||
    // Of its own mission: kinds/comment/acts.ts looks which that is.
    /\/missions\/:id\/(comments|report)$/.test(url) ||
    WAKING.test(url)
  if (!isAllowed)
    throw new Refused('FORBIDDEN', 'A run token allows changes only to the task of the run, under its claim.')
}
