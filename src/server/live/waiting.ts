import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Waiter } from '../../kernel/commit-waiters.ts'
import type { KeyRing } from '../key-ring.ts'

/** Runs a request that may wait: aborted when the client disconnects, refused when its key ends in the meantime. */
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

/** Fires when the client disconnects, so that no more work is claimed for it. */
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
