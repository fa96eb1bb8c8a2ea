import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Waiter } from '../../kernel/commit-waiters.ts'
import type { KeyRing } from '../key-ring.ts'

/** A request that may wait: it is given up when its client is gone, and refused when its key ends meanwhile. */
export async function whileAdmitted<T>(
  keys: KeyRing,
  request: FastifyRequest,
  reply: FastifyReply,
  waitMs: number,
  act: (waiter: Waiter) => Promise<T>,
): Promise<T> {
  if (waitMs === 0) return act({ gone: goneSignal(reply) })
  const opening = keys.open(request)
  onceGone(reply, () => opening.end())
  try {
    return await act({ gone: opening.over, confirm: opening.confirm })
  } finally {
    opening.close()
  }
}

/** Fires when the client is gone, so that nobody claims work for it any more. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  onceGone(reply, () => gone.abort())
  return gone.signal
}

function onceGone(reply: FastifyReply, leave: () => void): void {
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leave()
  })
}
