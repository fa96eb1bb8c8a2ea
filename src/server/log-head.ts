import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServerKernel } from '../door/server-kernel.ts'

/**
 * How far the log was when an answer was read, so that a client can continue with the events after it. Learned before anything is
 * read for the answer: an event up to it is never missing there, a later one may be in it already.
 */
const SEQ_HEADER = 'baton-seq'

/** What shows nothing of a workspace: health and metrics. */
const OF_NO_WORKSPACE: readonly unknown[] = [undefined, 'nothing', 'metrics']

/** Whether the answers of a route show what is, and change nothing. */
export const isRead = (method: string, needs: string | undefined) =>
  needs === 'read' || (method === 'GET' && !OF_NO_WORKSPACE.includes(needs))

const isReading = ({ method, caller, routeOptions }: FastifyRequest) =>
  Boolean(caller) && isRead(method, routeOptions.config.needs)

export function installLogHead(app: FastifyInstance, kernel: ServerKernel): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (!isReading(request)) return done()
    const sent = sendHead(kernel, request, reply)
    if (sent) sent.then(() => done(), done)
    else done()
  })
  // Answers that one statement reads know exactly what they contain.
  app.addHook('preSerialization', (request, reply, payload, done) => {
    if (isReading(request)) setExactSeq(reply, payload)
    done(null, payload)
  })
}

/** A promise only when the database must be asked. */
export function sendHead(
  kernel: ServerKernel,
  { caller }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | null {
  const head = kernel.store.heads.of(caller.workspaceId)
  if (head instanceof Promise) return head.then((seq) => void reply.header(SEQ_HEADER, seq))
  reply.header(SEQ_HEADER, head)
  return null
}

export function setExactSeq(reply: FastifyReply, answer: unknown): void {
  const { seq } = (answer ?? {}) as { seq?: unknown }
  if (typeof seq === 'number') reply.header(SEQ_HEADER, seq)
}
