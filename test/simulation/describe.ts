import { isOnRecord, type Request } from '../../src/kernel/batch/requests.ts'
import type { Reply } from '../support/replies.ts'

type NameOf = (taskId: number) => string

/** `a2 submit t3 g4`: a request in a few letters, for the trace. */
export function nameOf({ request, from }: { request: Request; from: string }, called: NameOf): string {
  if (request.on === 'new') return `${from} creates ${request.tasks.length}`
  if (request.on === 'next') return `${from} claims next (${request.session})`
  if (request.on === 'many') return `${from} does ${request.items.length} things`
  if (isOnRecord(request)) return `${from} ${request.command.kind} ${request.key}`
  if (request.on === 'taskThenNext')
    return `${nameOf({ request: { ...request, ...request.item, on: 'task' }, from }, called)}, then claims next`
  const { command } = request
  const task = called(request.taskId)
  if ('fence' in command)
    return `${from} ${command.kind} ${task} g${command.fence.generation} (${command.fence.session})`
  if (command.kind === 'claim') return `${from} claim ${task} (${command.session})`
  if (command.kind === 'countUpstream') {
    const counts = command.edges.map((one) => `${called(one.dependsOn)} v${one.version} ${one.outcome}`)
    return `${from} count ${task} of ${counts.join(', ')}`
  }
  if (command.kind === 'verdict') return `${from} verdict ${task} ${command.verdict}`
  if (command.kind === 'promote') return `${from} promote ${task} g${command.generation}`
  return `${from} ${command.kind} ${task}`
}

export function outcomeOf(reply: Reply, called: NameOf): string {
  if (!reply.ok) return reply.code as string
  const { claims, claim } = reply as { claims?: { claim: Grant; record: { id: number } }[]; claim?: Grant }
  if (claims)
    return `${reply.reason} ${claims.map((one) => `${called(one.record.id)} g${one.claim.generation}`).join(' ')}`
  return claim ? `${reply.reason} g${claim.generation}` : String(reply.reason)
}

/** What a claimer learns of its claim. */
export interface Grant {
  taskId: string
  generation: number
  session: string
  leaseExpiresAt: string
  ttlMs: number
}
