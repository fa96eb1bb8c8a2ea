import type { Request } from '../../src/core/batch.ts'
import type { Reply } from '../../src/core/commands.ts'

/** `a2 submit t3 g4`: a request in a few letters, for the trace. */
export function nameOf({ request, from }: { request: Request; from: string }): string {
  if (request.on === 'new') return `${from} creates ${request.tasks.length}`
  if (request.on === 'next') return `${from} claims next (${request.session})`
  if (request.on === 'many') return `${from} does ${request.items.length} things`
  const { command, taskId } = request
  if ('fence' in command)
    return `${from} ${command.kind} t${taskId} g${command.fence.generation} (${command.fence.session})`
  if (command.kind === 'claim') return `${from} claim t${taskId} (${command.session})`
  if (command.kind === 'unblock') return `${from} unblock t${taskId} ${command.readiness}`
  if (command.kind === 'verdict') return `${from} verdict t${taskId} ${command.verdict}`
  return `${from} ${command.kind} t${taskId}`
}

export function outcomeOf(reply: Reply): string {
  if (!reply.ok) return reply.code as string
  const { claims, claim } = reply as { claims?: { claim: Grant; record: { id: number } }[]; claim?: Grant }
  if (claims)
    return `${reply.reason} ${claims.map((one) => `t${one.record.id} g${one.claim.generation}`).join(' ')}`
  return claim ? `${reply.reason} g${claim.generation}` : String(reply.reason)
}

/** What a claimer is told of its claim. */
export interface Grant {
  taskId: string
  generation: number
  session: string
  leaseExpiresAt: string
  ttlMs: number
}
